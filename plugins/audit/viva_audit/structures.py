"""Other shapes of what functions are called with: longer lists, deeper trees, tables with other keys, equal numbers.

What a test hands over has one shape, and a mistake may show in another one alone. A list gets more or fewer items of
its kind. A tree gets itself in the place of one of its branches, as often as needed for a branch of a branch. Texts,
numbers and keys come from all arguments of the call, so that they meet. A solution that cannot take the other shape
raises an error, and its call does not count. The source of this module runs in a candidate, and needs NumPy and nothing
of Viva.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable
from typing import Any

DEEPEST = 8
"""How deep a place is looked for; the objects of a notebook may go round in a circle."""
MORE = 4
"""The most items that a list gets beside those it has."""


class Pool:
    """The texts and the numbers of a call, keys included, and some from elsewhere."""

    def __init__(self, values: list, numbers: Iterable[float] = (), texts: Iterable[str] = ()) -> None:
        self.texts, self.numbers = list(texts), list(numbers)
        for value in values:
            self._add(value, 0)

    def _add(self, value: Any, depth: int) -> None:
        if isinstance(value, str):
            self.texts.append(value)
        elif type(value) in (int, float):
            self.numbers.append(value)
        elif depth < DEEPEST and type(value) in (list, tuple, dict):
            for key, part in members(value).items():
                if isinstance(value, dict):
                    self._add(key, depth + 1)
                self._add(part, depth + 1)

    def like(self, value: Any, random) -> Any:
        """Another value of the kind of a text or a number; anything else as it is."""
        if isinstance(value, str) and self.texts:
            return self._text(value, random)
        if type(value) in (int, float):
            known = self.numbers[random.randint(len(self.numbers))] if self.numbers else value
            return type(value)(known if random.rand() < 0.5 else known + random.randint(-3, 4))
        return copy.deepcopy(value)

    def known(self, random) -> str:
        return self.texts[random.randint(len(self.texts))]

    def _text(self, value: str, random) -> str:
        """A text of the call, the beginning of one and the end of another, or letters that are in none of them."""
        known, other = self.known(random), self.known(random)
        way = random.rand()
        if way < 0.7:
            return known
        if way < 0.85 and len(known) > 1:
            place = random.randint(1, len(known))
            return known[:place] + other[place:]
        return "".join(chr(ord(letter) + 1) if letter.isalpha() else letter for letter in known)


def reshaped(values: list, random, numbers: Iterable[float] = (), texts: Iterable[str] = ()) -> list:
    """The arguments of a call in another shape, or as they are; with some ``numbers`` and ``texts`` in them."""
    pool = Pool(values, numbers, texts)
    return [_reshaped(value, pool, random) for value in values]


def _reshaped(value: Any, pool: Pool, random) -> Any:
    if type(value) in (int, float, str):
        return pool.like(value, random) if random.rand() < 0.2 else value
    if not holds(value):
        return value
    for _ in range(random.randint(4)):
        value = WAYS[random.randint(len(WAYS))](value, pool, random)
    return value


def holds(value: Any) -> bool:
    """Whether a value holds others: a list, a tuple, a dictionary, an object of the notebook."""
    return type(value) in (list, tuple, dict) or of_notebook(value)


def of_notebook(value: Any) -> bool:
    return type(value).__module__ == "__main__" and hasattr(value, "__dict__") and not isinstance(value, type)


def members(value: Any) -> dict:
    """By place, key or attribute, what a value holds."""
    if type(value) in (list, tuple):
        return dict(enumerate(value))
    if type(value) is dict:
        return value
    return vars(value) if of_notebook(value) else {}


def with_members(value: Any, new: dict) -> Any:
    """A value of the same kind that holds something else."""
    if type(value) in (list, tuple):
        return type(value)(new.values())
    if type(value) is dict:
        return dict(new)
    other = copy.copy(value)
    vars(other).update(new)
    return other


# --- other places


def turned(value: Any, pool: Pool, random, depth: int = 0) -> Any:
    """A tree with other branches in each other's place: lists, tuples, tables and None in another order."""
    if depth > DEEPEST or (depth and random.rand() < 0.5) or numbers_alone(value) or not holds(value):
        return value
    if type(value) is dict and plain(value):
        return _reordered(value, random)
    inner = {key: turned(part, pool, random, depth + 1) for key, part in members(value).items()}
    branches = [
        key
        for key, part in inner.items()
        if isinstance(part, list | tuple | dict | None) or (of_notebook(value) and type(part) is type(value))
    ]
    order = random.permutation(len(branches)) if len(branches) > 1 else []
    new = with_members(value, inner | {key: inner[branches[at]] for key, at in zip(branches, order, strict=False)})
    return _emptied(new, random) if type(value) in (list, tuple) else new


def numbers_alone(value: Any) -> bool:
    return type(value) in (list, tuple) and bool(value) and all(type(part) in (int, float) for part in value)


def plain(table: dict) -> bool:
    """Whether a dictionary holds numbers or texts alone, as what is counted for each name."""
    return len(table) > 1 and all(type(part) in (int, float, str) for part in table.values())


def _reordered(table: dict, random) -> dict:
    """A dictionary in another order, and sometimes with one value twice, so that what ranks it has a tie."""
    keys = list(table)
    first, second = (keys[random.randint(len(keys))] for _ in range(2))
    tied = table | {first: table[second]} if random.rand() < 0.5 else table
    return {keys[place]: tied[keys[place]] for place in random.permutation(len(keys))}


def _emptied(tree: Any, random) -> Any:
    """A tree of lists or of tuples in which one branch may be empty."""
    inner = [place for place, part in enumerate(tree) if type(part) is type(tree)]
    if not inner or random.rand() < 0.7:
        return tree
    place = inner[random.randint(len(inner))]
    return type(tree)([*tree[:place], type(tree)(), *tree[place + 1 :]])


# --- more and fewer


def stretched(value: Any, pool: Pool, random, depth: int = 0) -> Any:
    """A list with more or fewer items of its kind, some of them others; or what holds lists, with these stretched."""
    if depth > DEEPEST or not holds(value):
        return value
    deeper = [key for key, part in members(value).items() if holds(part)]
    if type(value) is list and value and len({type(part) for part in value}) == 1 and random.rand() < 0.7:
        count = len(value) if random.rand() < 0.3 else random.randint(0, len(value) + MORE)
        return [_another(value[random.randint(len(value))], pool, random) for _ in range(count)]
    new = {key: stretched(members(value)[key], pool, random, depth + 1) for key in deeper}
    return with_members(value, members(value) | new)


def _another(part: Any, pool: Pool, random) -> Any:
    """An item like this one: the same, or with other texts and numbers in the same places."""
    if type(part) in (list, tuple):
        return type(part)(_another(inner, pool, random) for inner in part)
    return pool.like(part, random) if random.rand() < 0.6 else copy.deepcopy(part)


# --- deeper


def grown(value: Any, pool: Pool, random) -> Any:
    """A tree with itself in the place of branches, once or several times."""
    tree = value
    for _ in range(random.randint(1, 5)):
        tree = _grafted(tree, copy.deepcopy(value), random)
    return tree


def _grafted(tree: Any, branch: Any, random, depth: int = 0) -> Any:
    """A tree with a branch in the place of one of its own, of None or of nothing in a list."""
    inner = members(tree)
    places = [key for key, part in inner.items() if part is None or holds(part)]
    if not places or depth > DEEPEST:
        return tree
    place = places[random.randint(len(places))]
    part = inner[place]
    if part == [] and type(branch) is not list:
        new = [branch]
    elif part is not None and (type(part) is not type(branch) or random.rand() < 0.6):
        new = _grafted(part, branch, random, depth + 1)
    else:
        new = branch
    return with_members(tree, inner | {place: new})


# --- other keys


def rekeyed(value: Any, pool: Pool, random) -> Any:
    """A dictionary with one key more, one less or another one, from what else stands in the call.

    A table of arrays, as the parameters of a block, has the keys that the program knows: these stay.
    """
    if type(value) is not dict or not value or _has_names(value):
        return with_members(value, {key: _reshaped(part, pool, random) for key, part in members(value).items()})
    keys = list(value)
    key = keys[random.randint(len(keys))]
    if type(value[key]) is dict and random.rand() < 0.5:
        return value | {key: rekeyed(value[key], pool, random)}
    other, way = pool.like(key, random), random.randint(3)
    if way == 0:
        return value | {other: copy.deepcopy(value[key])}
    without = {name: part for name, part in value.items() if name != key}
    return without if way == 1 else without | {other: value[key]}


def _has_names(table: dict) -> bool:
    return any(hasattr(part, "shape") for part in table.values())


# --- the same shape with other things in it


def refilled(value: Any, pool: Pool, random, depth: int = 0) -> Any:
    """The same lists and tables with texts and numbers from all of the call in each other's place; a table within
    another one, as the neighbours of a place and their distances, with other keys."""
    if type(value) in (list, tuple):
        return type(value)(refilled(part, pool, random, depth + 1) for part in value)
    if type(value) is dict and depth and (plain(value) or len(value) < 2) and pool.texts and pool.numbers:
        return {pool.known(random): pool.like(pool.numbers[0], random) for _ in range(random.randint(4))}
    if type(value) is dict:
        more = not _has_names(value) and random.rand() < 0.5
        new = value | {pool.like(key, random): value[key] for key in list(value)[:more]}
        pool = Pool(list(new), pool.numbers, pool.texts)
        return {key: refilled(part, pool, random, depth + 1) for key, part in new.items()}
    if isinstance(value, str):
        return pool.known(random)
    return pool.like(value, random)


WAYS: tuple[Callable[[Any, Pool, Any], Any], ...] = (turned, stretched, grown, rekeyed, refilled)
