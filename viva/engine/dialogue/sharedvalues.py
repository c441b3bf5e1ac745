"""Lists, arrays and other changeable values that test code and student code both hold.

Theory of operation. In one process a test may change the list that a function returned, and a function may
change what it returned before, or keep what it was given: each sees what the other does. Here each side has
a copy. So both keep what crossed, the last MOST of it, under the candidate's numbers; whoever has changed
something in place tells it with the next message, and the other changes its copy. With it goes which of its parts are
those of before: after ``rows[0] = rows[0] + [1]`` who holds the row sees nothing, after ``rows[0].append(1)`` they do.
What must not reach the student's process is not told: how the examiner changed an array that a call has computed, where
the solution's computes one too, because tests subtract the expected numbers from it in place; and what hidden lines did
to an array, or to what a name of the student's means. Another list that hidden lines got by a call or handed to one,
and changed, is told: it shows whether a method makes a copy, and holds no array.
"""

from __future__ import annotations

import marshal
import operator
from collections import OrderedDict, deque
from collections.abc import Callable, Iterator

import numpy as np

from viva.engine import wire

MOST, BYTES, ALL = 128, 131_072, 524_288
"""So many values are kept, of so many bytes each and together. What is larger is not kept beyond the call that it was
passed to."""
OF_SOLUTION = 64, 65_536, 262_144
"""Half as much for the solution: a right answer may have wider numbers than it, and arrays where it has none."""
ATOMS = frozenset({int, float, bool, complex, str, bytes, type(None)})
FIXED = ATOMS | {range, slice}
MARSHALLED = frozenset({list, dict, set, tuple, bytearray})
CONTAINERS = (*MARSHALLED, np.ndarray)
CHANGEABLE = (list, dict, set, bytearray, deque, np.ndarray)
WALKED = {
    list: list.__iter__,
    tuple: tuple.__iter__,
    OrderedDict: OrderedDict.values,  # it has an order that dict does not know
    dict: dict.values,
    deque: deque.__iter__,
}
"""How to go through what may be of a student's class, whose own methods are not asked."""
WALKABLE = (*CHANGEABLE, tuple)
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
        self.parts: dict[int, list | None] = {}
        """By number: what in a kept value can be changed, as it was when last told of; not of what is too large."""
        self.sizes: dict[int, int] = {}
        """By number, in bytes."""
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
            if computed:
                self.silent[number] = None

    def get(self, number: int) -> object:
        return self.kept[number][0] if number in self.kept else None

    def changed(self, named: set[int] | None = None) -> dict[int, tuple[object, list | None]]:
        """The values that are not what they were when last told of; they are taken for told from now on.

        Beside each, for what in it can be changed, in order: which one it was before, or None; see update.
        While hidden lines run, ``named`` says what falls silent: see hide.
        """
        found = self._different() if named is None else self.hide(named)
        told = {}
        for number, state in found.items():
            value, before = self.kept[number][0], self.parts[number]
            self._keep(number, value, state)
            told[number] = value, _places(before, self.parts[number])
        return told

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
        self.sizes[number] = room = len(state if isinstance(state, bytes) else state[-1])
        self.parts[number] = _changeable(_walk(value)) if room <= BYTES else None

    def _forget(self, number: int) -> None:
        if number in self.kept:
            value, _ = self.kept.pop(number)
            self.silent.pop(number, None)
            del self.parts[number], self.sizes[number]
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


def _parts(value: object) -> Iterator[object]:
    """A value, and all that is in it."""
    yield value
    if isinstance(value, list | tuple | dict):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _parts(item)


def holds_arrays(value: object) -> bool:
    """Whether an array is in a value, or is it; anything counts that is neither a container nor a number or text."""
    ahead = [value]
    while ahead:
        part = ahead.pop()
        if _is_array(part):
            return True
        if isinstance(part, list | tuple | dict):
            items = part.values() if isinstance(part, dict) else part
            classes = set(map(type, items)) - ATOMS
            ahead += [item for item in items if type(item) in classes] if classes else []
    return False


def _is_array(value: object) -> bool:
    return not isinstance(value, (*MARSHALLED, int, float, complex, str, bytes, type(None)))


def _walk(value: object) -> list:
    """A value and what may hold something changeable in it or is it, each before what is in it."""
    if type(value) is np.ndarray:
        return [value]
    found, ahead = [], [value]
    while ahead:
        part = ahead.pop()
        found.append(part)
        for base, items in WALKED.items():
            if issubclass(type(part), base):
                classes = {cls for cls in set(map(type, items(part))) if issubclass(cls, WALKABLE)}
                if classes:  # a long list of numbers is looked through in C
                    ahead += [item for item in items(part) if type(item) in classes]
                break
    return found


def _changeable(parts: list) -> list:
    """Of what a walk has found, what can be changed in place; the first, which is the whole, counts anyhow."""
    return [part for place, part in enumerate(parts) if not place or issubclass(type(part), CHANGEABLE)]


def _places(before: list | None, now: list | None) -> list[int | None] | None:
    """Of each part that there is now, the place that it had before."""
    if before is None or now is None:
        return None
    places = {id(part): place for place, part in reversed([*enumerate(before)])}
    return [places.get(id(part)) for part in now]


def update(mine: object, theirs: object, places: object = None) -> None:
    """Change ``mine`` in place so that it equals ``theirs``, as far as its type allows.

    ``places`` say of what can be changed in ``theirs``, in order, which part of ``mine`` it is; each part is one thing
    at most. Without them the first is the first.
    """
    if not issubclass(type(mine), type(theirs)) or type(mine).__module__ == "viva.engine.dialogue.standin":
        return
    walked = _walk(theirs)
    old, new = _changeable(_walk(mine)), _changeable(walked)
    if type(places) is not list or len(places) != len(new):
        places = range(len(new))
    known, left = {id(theirs): mine}, set(range(1, len(old)))
    for part, place in zip(new[1:], places[1:], strict=True):
        if type(place) is int and place in left and _fits(old[place], part):
            left.remove(place)
            known[id(part)] = old[place]
    for part in reversed(walked):  # what is in it is what it will be
        known[id(part)] = _fill(known.get(id(part), part), part, known)


def _fits(mine: object, theirs: object) -> bool:
    """Whether one can be changed in place to the other."""
    if isinstance(mine, np.ndarray):
        alike = type(mine) is type(theirs) and mine.shape == theirs.shape and mine.dtype == theirs.dtype
        return alike and mine.flags.writeable
    return issubclass(type(mine), type(theirs))  # a defaultdict may cross as a dict


def _fill(mine: object, theirs: object, known: dict[int, object]) -> object:
    """What ``mine`` is when it has become ``theirs``; ``known`` says by id() what the parts of that are here."""
    if isinstance(mine, list):
        list.__setitem__(mine, slice(None), [known.get(id(part), part) for part in theirs])
    elif isinstance(mine, dict):
        items = [(key, known.get(id(part), part)) for key, part in theirs.items()]
        cls = OrderedDict if isinstance(mine, OrderedDict) else dict  # a Counter would count what it is updated with
        cls.clear(mine)
        for key, part in items:
            cls.__setitem__(mine, key, part)
    elif isinstance(mine, tuple):
        parts = [known.get(id(part), part) for part in theirs]
        return mine if all(map(operator.is_, mine, parts)) else tuple.__new__(type(mine), parts)
    elif isinstance(mine, deque):
        parts = [known.get(id(part), part) for part in theirs]
        deque.clear(mine)
        deque.extend(mine, parts)
    elif mine is theirs:
        pass
    elif isinstance(mine, np.ndarray):
        if _fits(mine, theirs):
            mine[...] = theirs
    elif isinstance(mine, set):
        set.clear(mine)
        set.update(mine, theirs)
    elif isinstance(mine, bytearray):
        mine[:] = theirs
    elif type(mine).__module__.startswith("pandas"):
        mine._update_inplace(theirs)
    return mine
