"""The arguments of an operation, which come back changed.

Theory of operation. Each side has copies of its own. Both go through the arguments in the same order, so both give what
can be changed in them the same numbers. When the operation is over the candidate sends all of it as it is now, if
any is not as the examiner saw it last: in one message, in which a list that stands in two places is one list still. The
examiner changes its own in place. What a function of the test is handed meanwhile gets the next numbers: a student's
array that is handed over and changed three times is one array on both sides. The examiner saw it last when it was
handed over: an entry that is put back afterwards is told like any other change.
"""

from __future__ import annotations

from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable, Container, Iterable
from operator import is_
from typing import Any

import numpy as np

from viva.engine import wire
from viva.engine.values.codec import module_of
from viva.engine.values.librarycodecs import codec_that_was_added
from viva.verdict import WireError

MOST, BYTES = 128, 1_000_000
"""The most lists and arrays that are known again when a test's functions are handed them, and the bytes of each."""
ATOMS = frozenset({int, float, bool, complex, str, bytes, type(None)})
CHANGEABLE = (list, dict, set, deque, bytearray, np.ndarray)
ITEMS: dict[type, Callable[..., Iterable]] = {
    list: list.__iter__,
    deque: deque.__iter__,
    tuple: tuple.__iter__,
    OrderedDict: OrderedDict.values,
    dict: dict.values,
}
"""Functions that give the items of containers, also of those of a class of the test's own."""


def _items_of(value: object) -> Callable | None:
    return next((items for base, items in ITEMS.items() if issubclass(type(value), base)), None)


def _is_changeable(value: object) -> bool:
    cls = type(value)  # isinstance would ask a proxy
    if issubclass(cls, CHANGEABLE) or (hasattr(cls, "_update_inplace") and module_of(cls).startswith("pandas")):
        return True
    codec = codec_that_was_added(cls)
    return bool(codec and codec.fill and not (codec.shared and codec.shared(value)))


def parts_of(values: Iterable[object], without: Container[int] = ()) -> list:
    """The changeable parts of some values, each once, without those that have one of the ids ``without``."""
    parts, ahead, seen = [], [value for value in values if type(value) not in ATOMS][::-1], set()
    while ahead:
        part = ahead.pop()
        if id(part) in seen or id(part) in without:
            continue
        seen.add(id(part))
        if _is_changeable(part):
            parts.append(part)
        if items := _items_of(part):
            ahead += [item for item in items(part) if type(item) not in ATOMS][::-1]
    return parts


class Handed:
    """The candidate's side of one operation: what of the arguments can be changed, and what it was like."""

    def __init__(self, args: Iterable[object], refer: Callable, uncopied: Container[int]) -> None:
        """``uncopied`` are the ids of objects that are not copies."""
        self.refer, self.uncopied = refer, uncopied
        self.parts = parts_of(args, uncopied)
        self.places = {id(part): index for index, part in enumerate(self.parts)}
        self.most = len(self.parts) + MOST
        self.seen: dict[tuple[int, ...], int] = {}
        """The hash of the state that the examiner saw last, by the numbers of the parts that crossed together."""
        self._note([*range(len(self.parts))])

    def _note(self, places: list[int]) -> None:
        if places:
            self.seen[*places,] = hash(self._state(places))

    def _state(self, places: Iterable[int]) -> bytes:
        try:
            parts = [self.parts[index] for index in places]
            return wire.encode([[*part] if type(part) is deque else part for part in parts], self.refer)
        except WireError:
            return b""

    def hand_over(self, args: Iterable[object]) -> list[int | None]:
        """The numbers of what can be changed in the arguments of a function of the other side's."""
        numbers = []
        for part in parts_of(args, self.uncopied):
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
        """The changes to tell beside the ``value`` of the operation."""
        news: dict[str, Any] = {}
        if any(state != hash(self._state(places)) for places, state in self.seen.items()):
            parts = [[*part] if type(part) is deque else part for part in self.parts]  # the examiner's is a list
            news["changed"] = wire.encode(parts, self.refer)
        if (index := self.places.get(id(value))) is not None:
            news["same"] = index
        return news


def places_in(before: list, parts: list) -> list[int | None]:
    """Which part of those ``before`` each of the ``parts`` is, if it is one of them."""
    places = {id(part): place for place, part in enumerate(before)}
    return [places.get(id(part)) for part in parts]


def take(parts: list, received: object) -> None:
    """Change the parts of the arguments in place so that they are what the other side's have become.

    Raises WireError for what cannot be that.
    """
    if type(received) is not list or len(received) != len(parts):
        raise WireError("invalid changed arguments")
    counterparts = {id(part): local for part, local in zip(received, parts, strict=True) if _fits(local, part)}
    for part in received:
        if id(part) in counterparts:
            fill(counterparts[id(part)], part, counterparts)


def taken(args: Iterable[object], kwargs: dict, numbers: object, handed: list) -> tuple[list, dict]:
    """The arguments of a callback, with what is known already in place of its copies; the rest is known from now on."""
    args = [*args]
    parts = parts_of([*args, *kwargs.values()])
    counterparts = {}
    for part, number in zip(parts, numbers if type(numbers) is list else (), strict=False):
        if type(number) is int and number == len(handed):
            handed.append(part)
        elif type(number) is int and 0 <= number < len(handed) and _fits(handed[number], part):
            counterparts[id(part)] = handed[number]
    for part in parts:
        if id(part) in counterparts:
            fill(counterparts[id(part)], part, counterparts)
    return [_own(value, counterparts) for value in args], {
        name: _own(value, counterparts) for name, value in kwargs.items()
    }


def _fits(local: Any, received: Any) -> bool:
    """Whether one can be changed in place to the other."""
    return is_like(local, received) and (not issubclass(type(local), np.ndarray) or local.flags.writeable)


def is_like(local: Any, received: Any) -> bool:
    """Whether ``received`` can be a copy of what ``local`` was or has become."""
    if type(local) is np.ndarray or type(received) is np.ndarray:
        arrays = isinstance(local, np.ndarray) and isinstance(received, np.ndarray)
        return arrays and local.shape == received.shape and local.dtype == received.dtype
    # One of a class of the test's own crosses as its base, and a defaultdict may have been a dict here.
    return issubclass(type(local), dict if type(received) is defaultdict else type(received))


def fill(local: Any, received: Any, counterparts: dict[int, object]) -> None:
    """Give ``local`` the contents of ``received``; ``counterparts`` has by id() what the parts of that are here."""
    cls = type(received)
    if local is received:
        return
    if issubclass(cls, list):
        list.__setitem__(local, slice(None), [_own(part, counterparts) for part in received])
    elif issubclass(cls, dict):
        items = [(key, _own(part, counterparts)) for key, part in received.items()]
        base = OrderedDict if issubclass(type(local), OrderedDict) else dict  # a Counter would count
        base.clear(local)
        for key, part in items:
            base.__setitem__(local, key, part)
    elif issubclass(cls, set):
        set.clear(local)
        set.update(local, received)
    elif issubclass(cls, np.ndarray):
        local[...] = received
    elif issubclass(cls, bytearray):
        local[:] = received
    elif (codec := codec_that_was_added(cls)) and codec.fill:
        codec.fill(local, received)
    else:
        local._update_inplace(received)


def _own(value: Any, counterparts: dict[int, object]) -> object:
    """A value of the other side's with its ``counterparts`` in place of its parts."""
    if id(value) in counterparts:
        return counterparts[id(value)]
    items = _items_of(value)
    if items is None or ATOMS.issuperset(map(type, items(value))):
        return value
    if issubclass(type(value), tuple):
        parts = [_own(part, counterparts) for part in value]
        return value if all(map(is_, value, parts)) else tuple.__new__(type(value), parts)
    counterparts[id(value)] = value
    if issubclass(type(value), dict):
        for key, part in [*value.items()]:
            dict.__setitem__(value, key, _own(part, counterparts))
    else:
        for index, part in enumerate([*value]):
            value[index] = _own(part, counterparts)
    return value
