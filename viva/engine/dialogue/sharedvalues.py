"""Lists, arrays and other changeable values that test code and student code both hold.

Theory of operation. In one process a test may change the list that a function returned, and a function may
change what it returned before, or keep what it was given: each sees what the other does. Here each side has
a copy. So both keep what crossed, the last MOST of it, under the candidate's numbers; whoever has changed
something in place tells it with the next message, and the other changes its copy. What must not reach the student's
process is not told: how the examiner changed an array that a call has computed, because tests subtract the expected
numbers from it in place; and what hidden lines did to an array, or to what a name of the student's means. Another list
that hidden lines got by a call or handed to one, and changed, is told: it shows whether a method makes a copy, and
holds no array.
"""

from __future__ import annotations

import marshal
from collections.abc import Callable, Iterator

import numpy as np

from viva.engine import wire

MOST = 64
BYTES = 65_536
"""What is larger is not kept beyond the call that it was passed to."""
FIXED = frozenset({int, float, bool, complex, str, bytes, type(None), range, slice})
MARSHALLED = frozenset({list, dict, set, tuple, bytearray})
CONTAINERS = (*MARSHALLED, np.ndarray)
CHANGEABLE = (list, dict, set, bytearray, np.ndarray)
State = bytes | tuple
"""What a value is like: other bytes when it is another, of an array beside its dtype and shape."""


class Shared:
    """What one side keeps."""

    def __init__(self, refer: Callable | None = None) -> None:
        """``refer`` names what is in a value and is not plain, as for wire.encode."""
        self.refer = refer
        self.kept: dict[int, tuple[object, State]] = {}
        """By number: the value, and what it was like when last told of."""
        self.silent: dict[int, State | None] = {}
        """Numbers of which no change is told; where hidden lines made one, what the other side was last like."""
        self.numbers: dict[int, int] = {}
        """By id() of a kept value: its number."""
        self.next = 0

    def number(self, value: object) -> int | None:
        """The number under which a value is kept from now on; None when it cannot change or cannot cross."""
        if (known := self.numbers.get(id(value))) is not None:
            return known
        if (state := self._state(value)) is None:
            return None
        self.next += 1
        self._keep(self.next, value, state)
        return self.next

    def keep(self, number: int, value: object, computed: bool = False) -> None:
        """Keep a value under the other side's number; with ``computed`` no change of an array in it is told."""
        self._forget(number)
        if (state := self._state(value)) is not None:
            self._keep(number, value, state)
            if computed and any(map(_is_array, _parts(value))):
                self.silent[number] = None

    def get(self, number: int) -> object:
        return self.kept[number][0] if number in self.kept else None

    def changed(self, named: set[int] | None = None) -> dict[int, object]:
        """The values that are not what they were when last told of; they are taken for told from now on.

        While hidden lines run, ``named`` says what falls silent: see hide.
        """
        found = self._different() if named is None else self.hide(named)
        for number, state in found.items():
            self.kept[number] = self.kept[number][0], state
        return {number: self.kept[number][0] for number in found}

    def hide(self, named: set[int]) -> dict[int, State]:
        """Take what has changed for the work of hidden lines: arrays, and what is ``named``, fall silent.

        What is named has other numbers too: a call that was handed it, a part of it or something with it got a copy.
        The rest is still to be told: by number, what it is like now.
        """
        values = [self.kept[number][0] for number in named & self.kept.keys()]
        meant = {id(part) for value in values for part in _parts(value) if isinstance(part, CHANGEABLE)}
        loud = {}
        for number, state in self._different().items():
            value, before = self.kept[number]
            if number in named or any(id(part) in meant or _is_array(part) for part in _parts(value)):
                self.kept[number], self.silent[number] = (value, state), before
            else:
                loud[number] = state
        return loud

    def _different(self) -> dict[int, State]:
        """By number, what the values are like that are not what they were; without those that are silent."""
        now = {number: self._state(value) for number, (value, _) in self.kept.items() if number not in self.silent}
        return {number: state for number, state in now.items() if state is not None and state != self.kept[number][1]}

    def is_silent(self, value: object) -> bool:
        """Whether no change of a value is told."""
        return self.numbers.get(id(value)) in self.silent

    def take(self, number: int, value: object) -> None:
        """Change what is kept under a number to what the other side says it is.

        What hidden lines made of it stays until the other side has something new.
        """
        if (known := self.silent.get(number)) is not None:
            if (state := self._state(value)) == known:
                return
            self.silent[number] = state
        update(self.get(number), value)
        self.told(number)

    def told(self, number: int) -> None:
        """Take what is kept under a number, as it is now, for what the other side knows."""
        if number in self.kept:
            value = self.get(number)
            self.kept[number] = value, self._state(value) or b""

    def trim(self) -> None:
        """Forget what is too large, and the oldest of what is too much."""
        for number in [number for number, (_, state) in self.kept.items() if _size(state) > BYTES]:
            self._forget(number)
        while len(self.kept) > MOST:
            self._forget(next(iter(self.kept)))

    def _keep(self, number: int, value: object, state: State) -> None:
        self.kept[number] = value, state
        self.numbers[id(value)] = number

    def _forget(self, number: int) -> None:
        if number in self.kept:
            value, _ = self.kept.pop(number)
            self.silent.pop(number, None)
            if self.numbers.get(id(value)) == number:
                del self.numbers[id(value)]

    def _state(self, value: object) -> State | None:
        """What differs when the value does; None when it cannot change or cannot cross."""
        cls = type(value)
        if cls is np.ndarray and not value.dtype.hasobject:
            return value.dtype, value.shape, value.tobytes()
        if cls in FIXED:
            return None
        if cls in MARSHALLED:
            try:
                return marshal.dumps(value, 2)  # ten times as fast as the wire
            except ValueError:
                pass
        if issubclass(cls, CONTAINERS) or cls.__module__.partition(".")[0] in ("collections", "pandas"):
            try:
                return wire.encode(value, self.refer)
            except Exception:
                return None
        return None


def _size(state: State) -> int:
    return len(state if isinstance(state, bytes) else state[-1])


def _parts(value: object) -> Iterator[object]:
    """A value, and all that is in it."""
    yield value
    if isinstance(value, list | tuple | dict):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _parts(item)


def _is_array(value: object) -> bool:
    return not isinstance(value, (*MARSHALLED, int, float, complex, str, bytes, type(None)))


def update(mine: object, theirs: object) -> None:
    """Change ``mine`` in place so that it equals ``theirs``, as far as its type allows."""
    if type(mine) is not type(theirs) or type(mine).__module__ == "viva.engine.dialogue.standin":
        return
    if isinstance(mine, np.ndarray):
        if mine.shape == theirs.shape and mine.dtype == theirs.dtype and mine.flags.writeable:
            mine[...] = theirs
    elif isinstance(mine, list):
        if len(mine) == len(theirs):
            for place, (old, new) in enumerate(zip(mine, theirs, strict=True)):
                if isinstance(old, CHANGEABLE) and type(old) is type(new):
                    update(old, new)
                else:
                    mine[place] = new
        else:
            mine[:] = theirs
    elif isinstance(mine, tuple):
        for old, new in zip(mine, theirs, strict=False):
            update(old, new)
    elif isinstance(mine, dict):
        for key in [key for key in mine if key not in theirs]:
            del mine[key]
        for key, new in theirs.items():
            if isinstance(mine.get(key), CHANGEABLE) and type(mine[key]) is type(new):
                update(mine[key], new)
            else:
                mine[key] = new
    elif isinstance(mine, set | bytearray):
        mine.clear()
        mine.update(theirs) if isinstance(mine, set) else mine.extend(theirs)
    elif type(mine).__module__.startswith("pandas"):
        mine._update_inplace(theirs)
