"""The arguments of an operation, which come back changed.

Theory of operation. Each side has copies of its own. Both go through the arguments in the same order, so both give what
can be changed in them the same numbers. When the operation is over the candidate sends all of it as it is now, if
any is not as the examiner saw it last: in one message, in which a list that stands in two places is one list still. The
examiner changes its own in place. What a function of the test is handed meanwhile gets the next numbers: a student's
array that is handed over and changed three times is one array on both sides. The examiner saw it last when it was
handed over: an entry that is put back afterwards is told like any other change.
"""

from __future__ import annotations

import operator
from collections import OrderedDict
from collections.abc import Callable, Container, Iterable
from typing import Any

import numpy as np

from viva.engine import wire
from viva.engine.values.codec import module_of
from viva.engine.values.librarycodecs import codec_that_was_added
from viva.verdict import WireError

MOST, BYTES = 128, 1_000_000
"""The most lists and arrays that are known again when a test's functions are handed them, and the bytes of each."""
ATOMS = frozenset({int, float, bool, complex, str, bytes, type(None)})
CHANGEABLE = (list, dict, set, bytearray, np.ndarray)
ITEMS: dict[type, Callable[..., Iterable]] = {
    list: list.__iter__,
    tuple: tuple.__iter__,
    OrderedDict: OrderedDict.values,
    dict: dict.values,
}
"""How to go through what may be of a class of the test's own."""


def _items_of(value: object) -> Callable | None:
    return next((items for base, items in ITEMS.items() if issubclass(type(value), base)), None)


def _is_changeable(value: object) -> bool:
    cls = type(value)  # isinstance would ask a proxy
    if issubclass(cls, CHANGEABLE) or (hasattr(cls, "_update_inplace") and module_of(cls).startswith("pandas")):
        return True
    return bool((codec := codec_that_was_added(cls)) and codec.fill)


def parts_of(values: Iterable[object], without: Container[int] = ()) -> list:
    """What can be changed in some values, each thing once; not what has one of the ids ``without``."""
    found, ahead, seen = [], [value for value in values if type(value) not in ATOMS][::-1], set()
    while ahead:
        part = ahead.pop()
        if id(part) in seen or id(part) in without:
            continue
        seen.add(id(part))
        if _is_changeable(part):
            found.append(part)
        if items := _items_of(part):
            ahead += [item for item in items(part) if type(item) not in ATOMS][::-1]
    return found


class Handed:
    """The candidate's side of one operation: what of the arguments can be changed, and what it was like."""

    def __init__(self, args: Iterable[object], refer: Callable, kept: Container[int]) -> None:
        """``kept`` are the ids of objects that are not copies."""
        self.refer, self.kept = refer, kept
        self.parts = parts_of(args, kept)
        self.places = {id(part): place for place, part in enumerate(self.parts)}
        self.most = len(self.parts) + MOST
        self.seen: dict[tuple[int, ...], int] = {}
        """By the numbers of parts that crossed together, the hash of what the examiner saw of them last."""
        self._note([*range(len(self.parts))])

    def _note(self, places: list[int]) -> None:
        if places:
            self.seen[*places,] = hash(self._state(places))

    def _state(self, places: Iterable[int]) -> bytes:
        try:
            return wire.encode([self.parts[place] for place in places], self.refer)
        except WireError:
            return b""

    def hand_over(self, args: Iterable[object]) -> list[int | None]:
        """The numbers of what can be changed in the arguments of a function of the other side's."""
        numbers = []
        for part in parts_of(args, self.kept):
            if id(part) not in self.places and len(self.parts) < self.most:
                self.parts.append(part)
                if 0 < len(self._state([len(self.parts) - 1])) <= BYTES:
                    self.places[id(part)] = len(self.parts) - 1
                else:
                    self.parts.pop()
            numbers.append(self.places.get(id(part)))
        self._note([number for number in numbers if number is not None])
        return numbers

    def news(self, value: object) -> dict:
        """What is to be told beside the ``value`` that came of it."""
        told: dict[str, Any] = {}
        if any(state != hash(self._state(places)) for places, state in self.seen.items()):
            told["changed"] = wire.encode(self.parts, self.refer)
        if (place := self.places.get(id(value))) is not None:
            told["same"] = place
        return told


def take(mine: list, theirs: object) -> None:
    """Change the parts of the arguments in place so that they are what the other side's have become.

    Raises WireError for what cannot be that.
    """
    if type(theirs) is not list or len(theirs) != len(mine):
        raise WireError("invalid changed arguments")
    known = {id(part): own for part, own in zip(theirs, mine, strict=True) if _fits(own, part)}
    for part in theirs:
        if id(part) in known:
            _fill(known[id(part)], part, known)


def taken(args: Iterable[object], kwargs: dict, numbers: object, mine: list) -> tuple[list, dict]:
    """The arguments of a callback, with what is known already in place of its copies; the rest is known from now on."""
    args = [*args]
    parts = parts_of([*args, *kwargs.values()])
    known = {}
    for part, number in zip(parts, numbers if type(numbers) is list else (), strict=False):
        if type(number) is int and number == len(mine):
            mine.append(part)
        elif type(number) is int and 0 <= number < len(mine) and _fits(mine[number], part):
            known[id(part)] = mine[number]
    for part in parts:
        if id(part) in known:
            _fill(known[id(part)], part, known)
    return [_own(value, known) for value in args], {name: _own(value, known) for name, value in kwargs.items()}


def _fits(mine: Any, theirs: Any) -> bool:
    """Whether one can be changed in place to the other."""
    return is_like(mine, theirs) and (not issubclass(type(mine), np.ndarray) or mine.flags.writeable)


def is_like(mine: Any, theirs: Any) -> bool:
    """Whether ``theirs`` can be a copy of what ``mine`` was or has become."""
    if type(mine) is np.ndarray or type(theirs) is np.ndarray:
        arrays = isinstance(mine, np.ndarray) and isinstance(theirs, np.ndarray)
        return arrays and mine.shape == theirs.shape and mine.dtype == theirs.dtype
    return issubclass(type(mine), type(theirs))  # one of a class of the test's own crosses as its base


def _fill(mine: Any, theirs: Any, known: dict[int, object]) -> None:
    """Give ``mine`` the contents of ``theirs``; ``known`` says by id() what the parts of that are here."""
    cls = type(theirs)
    if mine is theirs:
        return
    if issubclass(cls, list):
        list.__setitem__(mine, slice(None), [_own(part, known) for part in theirs])
    elif issubclass(cls, dict):
        items = [(key, _own(part, known)) for key, part in theirs.items()]
        base = OrderedDict if issubclass(type(mine), OrderedDict) else dict  # a Counter would count
        base.clear(mine)
        for key, part in items:
            base.__setitem__(mine, key, part)
    elif issubclass(cls, set):
        set.clear(mine)
        set.update(mine, theirs)
    elif issubclass(cls, np.ndarray):
        mine[...] = theirs
    elif issubclass(cls, bytearray):
        mine[:] = theirs
    elif (codec := codec_that_was_added(cls)) and codec.fill:
        codec.fill(mine, theirs)
    else:
        mine._update_inplace(theirs)


def _own(value: Any, known: dict[int, object]) -> object:
    """A value of the other side's with what is ``known`` in place of its parts."""
    if id(value) in known:
        return known[id(value)]
    items = _items_of(value)
    if items is None or ATOMS.issuperset(map(type, items(value))):
        return value
    if issubclass(type(value), tuple):
        parts = [_own(part, known) for part in value]
        return value if all(map(operator.is_, value, parts)) else tuple.__new__(type(value), parts)
    known[id(value)] = value
    if issubclass(type(value), dict):
        for key, part in [*value.items()]:
            dict.__setitem__(value, key, _own(part, known))
    else:
        for place, part in enumerate([*value]):
            value[place] = _own(part, known)
    return value
