"""What is in a value, and how one is changed in place, with all that is in it, to what another is like."""

from __future__ import annotations

import operator
from collections import OrderedDict, UserDict, UserList, deque
from collections.abc import Iterator

import numpy as np

from viva.engine.values.classes import module_of

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


def parts_of(value: object) -> Iterator[object]:
    """A value, and all that is in it."""
    yield value
    if isinstance(value, list | tuple | dict):
        for item in value.values() if isinstance(value, dict) else value:
            yield from parts_of(item)


def holds_arrays(value: object) -> bool:
    """Whether an array is in a value, or is it; anything counts that is neither a container nor a number or text."""
    ahead = [value]
    while ahead:
        part = ahead.pop()
        if is_array(part):
            return True
        if isinstance(part, list | tuple | dict):
            items = part.values() if isinstance(part, dict) else part
            classes = set(map(type, items)) - ATOMS
            ahead += [item for item in items if type(item) in classes] if classes else []
    return False


def is_array(value: object) -> bool:
    return not isinstance(value, (*MARSHALLED, int, float, complex, str, bytes, type(None)))


def holds_rows(value: object) -> bool:
    """Whether a namedtuple is in a value, or is it."""
    return any(map(is_row, walk(value)))


def is_row(value: object) -> bool:
    return issubclass(type(value), tuple) and hasattr(type(value), "_fields")


def is_stand_in(value: object) -> bool:
    return type(value).__module__ == "viva.engine.dialogue.standin"


def walk(value: object) -> list:
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


def stand_ins_in(value: object) -> Iterator[object]:
    """The stand-ins in a value, which is one of Python's own containers or an array."""
    for part in walk(value):
        for base, items in [*WALKED.items(), (set, set.__iter__)]:
            if issubclass(type(part), base):
                yield from filter(is_stand_in, items(part))
                break


def changeable(parts: list) -> list:
    """Of what a walk has found, what can be changed in place; the first, which is the whole, counts anyhow."""
    return [part for place, part in enumerate(parts) if not place or issubclass(type(part), CHANGEABLE)]


def places_of(before: list | None, now: list | None) -> list[int | None] | None:
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
    mine = mine.data if isinstance(mine, UserDict | UserList) else mine
    if not issubclass(type(mine), type(theirs)) or is_stand_in(mine):
        return
    walked = walk(theirs)
    old, new = changeable(walk(mine)), changeable(walked)
    if type(places) is not list or len(places) != len(new):
        places = range(len(new))
    known, left = {id(theirs): mine}, set(range(1, len(old)))
    for part, place in zip(new[1:], places[1:], strict=True):
        if type(place) is int and place in left and _fits(old[place], part):
            left.remove(place)
            known[id(part)] = old[place]
    for part in reversed(walked):  # what is in it is what it will be
        known[id(part)] = _fill(known.get(id(part), part), part, known)


def replaced(value: object, known: dict[int, object]) -> object:
    """A value with others in the place of some of its parts: ``known`` says by id() which."""
    for part in reversed(walk(value)):
        if id(part) not in known:
            known[id(part)] = _fill(part, part, known)
    return known[id(value)]


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
    elif module_of(type(mine)).startswith("pandas"):
        mine._update_inplace(theirs)
    return mine
