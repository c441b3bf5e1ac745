"""Whether a test looks at which values are one object, observed while it examines the solution.

Theory of operation. Values cross as copies, so in two processes no two of them are one. Where a test would notice if
they were, it has to run where they are. The solution tells that, though it is right: in the rehearsal each value that
crosses is kept as it was, and the names that a test uses say what it looks at. A test notices

- if it changes one value, by whatever means, and then looks at another, or is given another, that was equal to it (an
  array: of which it is a part). An answer may give one object in the place of the two;
- if it is given a value, has the student's code do something that changes what that value was taken from, and then
  looks at the value: an answer may have given its own object, which changes;
- if it asks whether two values are one, or share their memory.

Within one message nothing is lost: a list that stands in it twice is one list on both sides.
"""

from __future__ import annotations

import functools
import itertools
import operator
import unittest
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from operator import is_
from typing import Any

import numpy as np

from viva.engine import wire
from viva.engine.dialogue.arguments import ATOMS, parts_of
from viva.engine.dialogue.proxies import PROXIES, about, handed_number, identical, number_of, stood_for
from viva.engine.values.librarycodecs import codec_that_was_added
from viva.verdict import WireError

MOST, BYTES, CHANGES = 128, 1_000_000, 32
"""The most values that are watched in a cell, the bytes of an array, or of a frame, that is, and the most changes that
are known: the latest."""
NEAR = 50
"""The most items of a test's own list in which values are looked for when it looks at the list."""
IDENTITY, LOOKS_AGAIN = "identity", "looks_again"
"""The kinds of the notes on such a cell."""
COMPARING: tuple[tuple[Any, str, int], ...] = (
    *((operator, name, 0) for name in ("is_", "is_not")),
    *((unittest.TestCase, name, 1) for name in ("assertIs", "assertIsNot")),
)
"""The functions that ask whether two values are one: where they stand, their names, and which argument is the first of
the two."""
SHARING = ("shares_memory", "may_share_memory")
"""The functions of NumPy that ask whether two arrays share memory."""
MEMORY = frozenset("base _base flags ctypes __array_interface__ data_ptr storage untyped_storage".split())
"""The attributes that show where the memory of an array or a tensor is."""

NUMBERS = "biufcmM"
"""The kinds of arrays of which one may be a part of another, as far as their numbers tell."""

Key = tuple[Any, ...]


@dataclass(eq=False)
class Copy:
    """A value that crossed, or a part of one, and what it was like when it was last known to be unchanged."""

    value: Any
    message: int
    """The number of the message with which it crossed."""
    given: bool
    """Whether the student's code gave it; else the test has handed it over."""
    was: Any
    source: Key | None = None
    """The object that gave it without being told anything, if one did."""
    others: frozenset[int] = frozenset()
    """The ids of those arguments of the call of which the candidate says whether it is one."""
    live: bool = False
    """Whether the same question was answered by other contents since."""
    held: bool = False
    """Whether it is one object on both sides (``values/sharing``), and not a copy."""


@dataclass(eq=False)
class Change:
    """What a value was like before the test changed it."""

    copy: Copy
    was: Any
    content: Key


class Observer:
    """Observes the tests of one cell. It does nothing but in a rehearsal."""

    def __init__(self, held: Callable[[bool], Iterable] = lambda own: ()) -> None:
        """``held`` gives what is one object on both sides: the test's ``own``, or the student's."""
        self.watching, self.held = False, held
        self.begin()

    def begin(self) -> None:
        """Begin with another cell."""
        self.why = ""
        """The kind of the note on the cell, if its tests have looked at which values are one."""
        self.copies: dict[int, Copy] = {}
        self.changes: deque[Change] = deque(maxlen=CHANGES)
        self.answers: dict[Key, list[Copy]] = {}
        """What was answered last, by question."""
        self.methods: dict[int, Key] = {}
        """The object and the name of a method, by number of its proxy."""
        self.acted: dict[Key, int] = {}
        """The last message before which an object was told to do something, by object."""
        self.numbers = itertools.count(1)
        self.number = 0

    # --- what crosses

    def asking(self) -> None:
        """The test is about to ask: what it has changed until now is its own doing."""
        self._note_changes([*self.copies.values()])

    def _note_changes(self, copies: Iterable[Copy]) -> None:
        for copy in copies:
            if copy.was is not None and not _is_as_it_was(copy.value, copy.was):
                self.changes.append(Change(copy, copy.was, _content(copy.value, copy.was)))
                self._keep(copy)

    def handed(self, parts: list, own: int) -> None:
        """These values have crossed, and student code may have changed them: the test's ``own``, and behind them those
        that its functions were handed. One that the student's code gave before was changed as the copy that it is."""
        self._note_changes(
            copy for part in parts[:own] if (copy := self.copies.get(id(part))) is not None and copy.given
        )
        self.number = next(self.numbers)
        self._watch(parts[:own], given=False)
        self._watch(parts[own:], given=True)
        self._watch_held()

    def given(self, value: Any, operation: str, args: tuple, kwargs: dict, drawn: bool) -> None:
        """The student's code gave a ``value``; ``drawn`` says that it has drawn random numbers for it."""
        self.number = next(self.numbers)
        owner, question = self._question(operation, args, kwargs)
        if type(value) in PROXIES:
            if operation == "getattr" and about(value)["callable"]:
                self.methods[number_of(value)] = question
            return
        if value is None and owner and operation not in ("getattr", "next"):
            self.acted[owner] = self.number
        silent = owner if operation == "getattr" or (operation == "call" and len(args) == 1 and not kwargs) else None
        copies = self._watch(parts_of([value]), given=True, source=silent)
        self._watch_held()
        if not drawn and operation != "next":  # an iterator that gives one object anew tells so
            for before, now in zip(self.answers.get(question, ()), copies, strict=False):
                alike = type(before.value) is type(now.value) and before is not now
                before.live |= alike and _content(before.value, before.was) != _content(now.value, now.was)
        if copies and copies[0].value is value:
            copies[0].others = frozenset(map(id, parts_of([*args, *kwargs.values()])))
        self.answers.pop(question, None)
        self.answers[question] = copies
        if len(self.answers) > MOST:
            del self.answers[next(iter(self.answers))]
        if any(map(self._may_be_what_changed, copies)):
            self.why = LOOKS_AGAIN

    def named(self, name: str, value: Any) -> None:
        """A name of the notebook means a plain ``value``."""
        if id(value) not in self.copies:
            self.given(value, "tell", (name,), {}, drawn=False)

    def _watch(self, parts: Iterable[Any], given: bool, source: Key | None = None) -> list[Copy]:
        found = []
        for part in itertools.islice(parts, MOST):
            copy = self.copies.get(id(part)) or Copy(part, self.number, given, None, source)
            if self._keep(copy):
                found.append(copy)
        while len(self.copies) > MOST:
            del self.copies[next(iter(self.copies))]
        return found

    def _watch_held(self) -> None:
        for given in (False, True):
            for copy in self._watch(self.held(not given), given):
                copy.held = True

    def _keep(self, copy: Copy) -> bool:
        """Keep a value as it is now. One that is too large is not watched."""
        copy.was = _state(copy.value)
        if copy.was is None:
            self.copies.pop(id(copy.value), None)
        else:
            self.copies[id(copy.value)] = copy
        return copy.was is not None

    def _question(self, operation: str, args: tuple, kwargs: dict) -> tuple[Key | None, Key]:
        """The object that is asked, if it is one of the student's, and what tells this question from others."""
        owner: Key | None = None
        first: Any = args[0] if args else None
        rest = args[1:]
        if type(first) in PROXIES:
            owner = (number_of(first),)
            if operation == "call" and (method := self.methods.get(number_of(first))):
                owner, operation = (method[1],), f"call {method[2]}"
        key = owner[0] if owner else first if isinstance(first, str) else None
        return owner, (operation, key, *(rest if operation == "getattr" else (_encoded([rest, kwargs]),)))

    # --- what the test looks at

    def seen(self, value: Any) -> Any:
        """The same ``value``, at which the test looks now."""
        if self.copies and not self.why and type(value) not in ATOMS:
            looked = [copy for part in _within(value) if (copy := self.copies.get(id(part))) is not None]
            if looked:
                self.asking()
                if any(map(self._is_live, looked)) or any(map(self._may_be_what_changed, looked)):
                    self.why = LOOKS_AGAIN
        return value

    def _is_live(self, copy: Copy) -> bool:
        """Whether it may have changed since it was given, if the answer gave its own."""
        return copy.live or (copy.source is not None and self.acted.get(copy.source, 0) > copy.message)

    def _may_be_what_changed(self, copy: Copy) -> bool:
        """Whether an answer could have given one object in the place of this and of what the test has changed."""
        content: Key = _content(copy.value, copy.was) if self.changes else ()
        for change in self.changes:
            changed = change.copy
            if copy.held and changed.held:
                continue
            if copy is not changed and copy.message != changed.message and (copy.given or changed.given):
                arrays = type(copy.value) is np.ndarray is type(changed.value)
                if (content == change.content and content[-1] is not None) or (arrays and _overlaps(copy, change)):
                    return True
        return False

    def compared(self, *values: Any, memory: bool = False) -> None:
        """The test asks whether these ``values`` are one, or share ``memory``; none of them lives in the candidate.

        It knows that of its own and of those in one message, and of a result and the arguments of its call whether they
        are one.
        """
        if self.watching:
            copies = [self._copy_of(value) for value in values]
            messages = {copy.message if copy else 0 for copy in copies}
            told = not memory and any(copy and id(value) in copy.others for copy in copies for value in values)
            if any(copy and copy.given for copy in copies) and (len(messages) > 1 or len(values) == 1) and not told:
                self.why = IDENTITY

    def in_memory(self, value: Any) -> Any:
        """The same ``value``, of which the test asks where its memory is."""
        if type(value) not in PROXIES and hasattr(value, "dtype"):
            self.compared(value, memory=True)
        return value

    def _copy_of(self, value: Any) -> Copy | None:
        return next((copy for part in _bases(value) if (copy := self.copies.get(id(part)))), None)

    def is_one(self, left: Any, right: Any) -> bool:
        """``is`` as test code sees it."""
        if type(left) not in PROXIES and type(right) not in PROXIES:
            self.compared(left, right)
        return identical(left, right)

    def id_of(self, value: Any) -> int:
        """``id`` as test code sees it: that of an object of the candidate's is below zero."""
        value = stood_for(value)
        if type(value) in PROXIES:
            return -1 - handed_number(value)
        self.compared(value)
        return id(value)

    def install(self) -> None:
        """Have functions that compare identities do so for what proxies stand for, in this process for good."""
        for place, name, first in COMPARING:
            setattr(place, name, self._comparing(getattr(place, name), first))
        for name in SHARING:
            setattr(np, name, self._sharing(getattr(np, name)))

    def _comparing(self, function: Callable, first: int) -> Callable:
        @functools.wraps(function)
        def compare(*args: Any, **kwargs: Any) -> Any:
            pair = args[first : first + 2]
            if len(pair) == 2 and self.is_one(*pair):
                args = (*args[:first], pair[0], pair[0], *args[first + 2 :])
            return function(*args, **kwargs)

        return compare

    def _sharing(self, function: Callable) -> Callable:
        @functools.wraps(function)
        def share(*args: Any, **kwargs: Any) -> Any:
            self.compared(*args[:2], memory=True)
            return function(*args, **kwargs)

        return share


def _bases(value: Any) -> Iterator[Any]:
    """A value, and the arrays of which it is a view."""
    yield value
    while type(value) is np.ndarray and value.base is not None:
        value = value.base
        yield value


def _within(value: Any) -> Iterator[Any]:
    """A value, and what stands in it, as far as it is small."""
    todo = [value]
    for place, part in enumerate(todo):
        if place == NEAR:
            break
        yield from _bases(part)
        if issubclass(type(part), (list, tuple, deque)) and len(part) <= NEAR:
            todo += [item for item in part if type(item) not in ATOMS]
        elif issubclass(type(part), dict) and len(part) <= NEAR:
            todo += [item for item in dict.values(part) if type(item) not in ATOMS]


# --- what a value is like: of a container which objects are in it, of anything else its bytes


def _state(value: Any) -> Any:
    """What a value is like, as far as it is watched; None for what is too large."""
    cls = type(value)
    if (array := _array_of(value)) is not None:
        return None if array.nbytes > BYTES else tuple(array.flat) if array.dtype.hasobject else array.tobytes()
    if issubclass(cls, list | deque):
        return tuple(value) if len(value) <= BYTES // 8 else None
    if issubclass(cls, dict):
        return (*dict.items(value),) if len(value) <= BYTES // 16 else None
    if issubclass(cls, set):
        return frozenset(map(id, value)), (*value,)
    return _encoded(value)


def _is_as_it_was(value: Any, was: Any) -> bool:
    cls = type(value)
    if cls is list or issubclass(cls, list | deque):
        return len(value) == len(was) and all(map(is_, value, was))
    if issubclass(cls, dict):
        return len(value) == len(was) and all(
            old is key and before is item for (old, before), (key, item) in zip(was, dict.items(value), strict=True)
        )
    if issubclass(cls, set):
        return frozenset(map(id, value)) == was[0]
    if cls is np.ndarray and value.dtype.hasobject:
        return all(map(is_, value.flat, was))
    return _state(value) == was


def _content(value: Any, was: Any) -> Key:
    """What tells one content from another, of a value as it was; of one that is not watched its last part is None."""
    cls = type(value)
    if was is None:
        return cls, None
    if issubclass(cls, list | deque):
        return list, _encoded(list(was))
    if issubclass(cls, dict):
        return dict, _encoded(dict(was))
    if issubclass(cls, set):
        return set, frozenset(map(_encoded, was[1]))
    if (array := _array_of(value)) is not None:
        return np.ndarray, array.shape, array.dtype.str, was if isinstance(was, bytes) else _encoded(list(was))
    return cls, was


def _array_of(value: Any) -> np.ndarray | None:
    """A value as an array, if it is one or has the memory of one."""
    if type(value) is np.ndarray:
        return value
    codec = codec_that_was_added(type(value))
    return codec.array(value) if codec and codec.array else None


def _overlaps(copy: Copy, change: Change) -> bool:
    """Whether one array may be a view of the other, as far as their numbers tell."""
    values, changed = copy.value, change.copy.value
    if values.dtype != changed.dtype or values.dtype.kind not in NUMBERS or not (copy.was and change.was):
        return False
    first, second = (np.frombuffer(was, values.dtype) for was in (copy.was, change.was))
    small, large = sorted((first, second), key=len)
    return bool((large == small[0]).any() and np.isin(small, large).all())


def _encoded(value: Any) -> bytes | None:
    """The bytes of a value; None for one that is too large, or cannot cross."""
    try:
        data = wire.encode(value, lambda part: wire.Reference(id(part) % 2**31, {}))
    except WireError:
        return None
    return data if len(data) <= BYTES else None
