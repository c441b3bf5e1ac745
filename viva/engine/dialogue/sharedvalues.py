"""Lists, arrays and other changeable values that test code and student code both hold.

Theory of operation. In one process a test may change the list that a function returned, and a function may
change what it returned before, or keep what it was given: each sees what the other does. Here each side has
a copy. So both keep what crossed, the last MOST of it, under the candidate's numbers; whoever has changed
something in place tells it with the next message, and the other changes its copy. With it goes which of its parts are
those of before: after ``rows[0] = rows[0] + [1]`` who holds the row sees nothing, after ``rows[0].append(1)`` they do.
What must not reach the student's process is not told: how the examiner changed an array that a call has computed, where
the solution's computes one too, because tests subtract the expected numbers from it in place; and what hidden lines did
to an array, or to what a name of the student's means. Another list that hidden lines got by a call or handed to one,
and changed, is told: it shows whether a method makes a copy, and holds no array. So is an array where the check writes
into items only numbers of its text. An array that looks into the memory of one that is kept does so on both sides.
"""

from __future__ import annotations

import itertools
import marshal
from collections import UserDict, UserList
from collections.abc import Callable

import numpy as np

from viva.engine import wire
from viva.engine.dialogue.parts import (
    CHANGEABLE,
    CONTAINERS,
    FIXED,
    MARSHALLED,
    changeable,
    is_array,
    parts_of,
    places_of,
    replaced,
    update,
    walk,
)
from viva.engine.values.classes import module_of
from viva.engine.values.windows import memory_of, window, window_of
from viva.verdict import WireError

MOST, BYTES, ALL = 128, 131_072, 524_288
"""So many values are kept, of so many bytes each and together. What is larger is not kept beyond the call that it was
passed to."""
OF_SOLUTION = 64, 65_536, 262_144
"""Half as much for the solution: a right answer may have wider numbers than it, and arrays where it has none."""
HOLDING = frozenset({list, tuple, dict, set, np.ndarray})
"""What may be around the arrays of which is told into what they look: whatever else crosses is not the same here."""
NARROW = 4
"""So many bytes a number of an array counts at least: a right answer may have float64, of eight, where the solution's
are of one, and twice as much is kept of it."""
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
        self.marked: set[int] = set()
        """Numbers of what hidden lines of this check got by a call, or handed to one, to see whether it is a copy."""
        self.numbers: dict[int, int] = {}
        """By id() of a kept value: its number."""
        self.parts: dict[int, list | None] = {}
        """By number: what in a kept value can be changed, as it was when last told of; not of what is too large."""
        self.memories: dict[int, set[int]] = {}
        """By number, what the memory of the arrays in a kept value belongs to."""
        self.sizes: dict[int, int] = {}
        """By number, in bytes."""
        self.next = 0
        self.taking = False
        """Whether a value is half of what it will be: to place a key in it the other side may be asked."""

    def number(self, value: object) -> int | None:
        """The number under which a value is kept from now on; None when it cannot change or cannot cross."""
        if (known := self.numbers.get(id(value))) is not None:
            return known
        if (state := self._state(value)) is None:
            return None
        self.next += 1
        self._keep(self.next, value, state)
        return self.next

    def handed(self, places: dict) -> dict[object, int]:
        """The numbers of what a function of the other side is handed: of what is kept, as long as there is room."""
        numbers = {}
        for place, value in places.items():
            room = len(self.kept) < MOST and getattr(value, "nbytes", 0) <= BYTES
            if number := self.number(value) if room else self.numbers.get(id(value)):
                numbers[place] = number
        return numbers

    def taken(self, number: int, value: object) -> object:
        """What is kept under the other side's number, as the value that it is now; no change of it is told back."""
        mine = self.get(number)
        if type(mine) is type(value):
            self.take(number, value)
            return mine
        self.keep(number, value)
        if number in self.kept:
            self.silent[number] = None
        return value

    def keep(self, number: int, value: object, computed: bool = False) -> None:
        """Keep a value under the other side's number; with ``computed`` no change of an array in it is told."""
        marked = number in self.marked
        self._forget(number)
        if (state := self._state(value)) is not None:
            self._keep(number, value, state)
            self.marked |= {number} if marked else set()
            if computed:
                self.silent[number] = None

    def get(self, number: int) -> object:
        return self.kept[number][0] if number in self.kept else None

    def windows(self, value: object) -> list[tuple]:
        """The arrays in a value that look into what is kept, or into another in the value.

        A row for each: its place in the value, the number of what it looks into (0: the value itself) and the place
        there, how far behind the begin of that, and the strides.
        """
        walked = walk(value) if type(value) in HOLDING else ()
        arrays = [(place, part) for place, part in enumerate(walked) if _is_memory(part)][:MOST]
        if all(array.base is None for _, array in arrays) or not {*map(type, walked)} <= HOLDING:
            return []  # what has a memory of its own looks nowhere
        wanted = {memory_of(array) for _, array in arrays}
        kept = (
            (number, place, part)
            for number in reversed(self.kept)
            if not wanted.isdisjoint(self.memories[number])
            for place, part in enumerate(self.parts[number] or [self.get(number)])
            if _is_memory(part)
        )
        before = list(itertools.islice(kept, 2 * MOST))
        found = []
        for place, array in sorted(arrays, key=lambda one: (-one[1].nbytes, not one[1].flags.c_contiguous)):
            for number, at, part in before if array.base is not None else ():
                if part is not value and (seen := window_of(array, part)):
                    found.append((place, number, at, *seen))
                    break
            before.append((0, place, array))
        return found

    def linked(self, value: object, windows: object, bases: dict[int, object], computed: bool = False) -> object:
        """A value with those arrays as windows here, too; ``bases`` are what else the numbers stand for.

        Where tests may subtract expected numbers from a ``computed`` value, what was handed over falls silent with it,
        and into anything else it does not look.
        """
        walked, known = walk(value), {}
        for row in windows or ():
            match row:
                case (int(place), int(number), int(at), offset, strides) if 0 <= place < len(walked):
                    pass
                case _:
                    raise WireError("windows that are none")
            base = bases.get(number, None if computed else self.get(number))
            arrays = dict(enumerate(changeable(walk(base)) if number else walked))
            array, part = arrays.get(at), walked[place]
            if (seen := window(known.get(id(array), array), offset, strides, part)) is not None:
                known[id(part)] = seen
                if computed and number:
                    self.keep(number, base, computed)
        return replaced(value, known) if known else value

    def changed(self, named: set[int] | None = None) -> dict[int, tuple[object, list | None]]:
        """The values that are not what they were when last told of; they are taken for told from now on.

        Beside each, for what in it can be changed, in order: which one it was before, or None; see update.
        While hidden lines run, ``named`` says what falls silent: see hide.
        """
        if self.taking:
            return {}
        found = self._different() if named is None else self.hide(named)
        told = {}
        for number, state in found.items():
            value, before = self.kept[number][0], self.parts[number]
            self._keep(number, value, state)
            told[number] = value, places_of(before, self.parts[number])
        return told

    def hide(self, named: set[int]) -> dict[int, State]:
        """Take what has changed for the work of hidden lines: arrays, unless they are marked, and what is ``named``
        fall silent.

        What is named has other numbers too: a call that was handed it, a part of it or something with it got a copy.
        The rest is still to be told: by number, what it is like now.
        """
        values = [self.kept[number][0] for number in named & self.kept.keys()]
        meant = {id(part) for value in values for part in parts_of(value) if isinstance(part, CHANGEABLE)}
        loud = {}
        for number, state in self._different().items():
            value, before = self.kept[number]
            silent = number in named or (number not in self.marked and any(map(is_array, parts_of(value))))
            if silent or any(id(part) in meant for part in parts_of(value)):
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

    def take(self, number: int, value: object, places: object = None) -> None:
        """Change what is kept under a number to what the other side says it is; for ``places`` see update.

        What hidden lines made of it stays until the other side has something new.
        """
        if (known := self.silent.get(number)) is not None:
            if (state := self._state(value)) == known:
                return
            self.silent[number] = state
        update(self.get(number), value, places)
        self.told(number)

    def told(self, number: int) -> None:
        """Take what is kept under a number, as it is now, for what the other side knows."""
        if number in self.kept:
            value = self.get(number)
            self._keep(number, value, self._state(value) or b"")

    def trim(self, most: int = MOST, size: int = BYTES, together: int = ALL) -> None:
        """Forget what is too large, and what changed least lately of what is too much."""
        for number in [number for number, room in self.sizes.items() if room > size]:
            self._forget(number)
        while len(self.kept) > most or sum(self.sizes.values()) > together:
            self._forget(next(iter(self.kept)))

    def _keep(self, number: int, value: object, state: State) -> None:
        self.kept.pop(number, None)
        self.kept[number] = value, state
        self.numbers[id(value)] = number
        self.sizes[number] = room = _size(value, state)
        self.parts[number] = parts = changeable(walk(value)) if room <= BYTES else None
        self.memories[number] = {memory_of(part) for part in parts or [value] if _is_memory(part)}

    def _forget(self, number: int) -> None:
        if number in self.kept:
            value, _ = self.kept.pop(number)
            self.silent.pop(number, None)
            self.marked.discard(number)
            del self.parts[number], self.sizes[number], self.memories[number]
            if self.numbers.get(id(value)) == number:
                del self.numbers[id(value)]

    def _state(self, value: object) -> State | None:
        """What differs when the value does; None when it cannot change or cannot cross."""
        cls = type(value)
        if cls is np.ndarray and not value.dtype.hasobject and not value.dtype.names:
            return value.dtype, value.shape, value.tobytes()
        if cls in FIXED or (cls is np.ndarray and value.dtype.names):
            return None
        if cls in MARSHALLED:
            try:
                return marshal.dumps(value, 2)  # ten times as fast as the wire
            except ValueError:
                pass
        library = module_of(cls).partition(".")[0]
        frame = library == "pandas" and hasattr(cls, "_update_inplace")  # an Index or a Timestamp never changes
        if library == "collections" or frame or issubclass(cls, (*CONTAINERS, UserDict, UserList)):
            try:
                return wire.encode(value, self.refer)
            except Exception:
                return None
        return None


def _size(value: object, state: State) -> int:
    """How large a value counts."""
    return len(state) if isinstance(state, bytes) else max(len(state[-1]), NARROW * value.size)


def _is_memory(part: object) -> bool:
    return type(part) is np.ndarray and not part.dtype.hasobject
