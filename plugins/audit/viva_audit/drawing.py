"""Random calls of a function, like those that were noted of it.

Random arguments have the structure of the noted ones; two sizes that were always equal stay equal, and a size that was
always one stays one. The source of this module runs in a candidate, and needs NumPy and nothing of Viva.
"""

from __future__ import annotations

import copy
import fractions
import inspect
from collections.abc import Iterator
from typing import Any, TypeGuard

import numpy as np

from viva_audit.patterntexts import matching, nearly, pattern_in

SCALES = (1.0, 1.0, 0.3, 3.0, 30.0)
EXTRA = "an extra column"
NOTED, RANDOM, EDGE = "noted", "random", "edge"
"""How the arguments of a call were chosen."""


LARGEST = 1000
"""A larger constant may be the size of something."""


class Constants:
    """The numbers, texts and patterns in a solution's code, from which inputs are made."""

    def __init__(self, values: list) -> None:
        plain = [value for value in values if type(value) in (int, float) and abs(value) <= LARGEST]
        self.numbers = sorted(set(plain))
        self.patterns = sorted(set(filter(None, map(pattern_in, values))))
        texts = {value for value in values if type(value) is str and len(value) < 80}
        self.texts = sorted(texts - set(self.patterns))

    def near(self, value: Any, random) -> Any:
        """A constant in place of a value of its type, or one beside it; or the value, perhaps as another type."""
        if type(value) in (int, float):
            if self.numbers and random.rand() < 0.7:
                number = self.numbers[random.randint(len(self.numbers))]
                return type(value)(number + random.randint(-1, 2))
            return (float(value) if type(value) is int else int(value)) if abs(value) < LARGEST else value
        if isinstance(value, str):
            if self.patterns and random.rand() < 0.9:
                text = matching(self.patterns[random.randint(len(self.patterns))], random)
                return text if random.rand() < 0.2 else nearly(text, random)
            known = self.texts[random.randint(len(self.texts))] if self.texts else ""
            return (known, f"{value}{known}", f"{known}{value}", nearly(value, random))[random.randint(4)]
        if numbers(value) and self.numbers and isinstance(value[0], int | float):
            place, number = random.randint(len(value)), self.numbers[random.randint(len(self.numbers))]
            return [*value[:place], type(value[0])(number + random.randint(-1, 2)), *value[place + 1 :]]
        if type(value) is list and value and all(isinstance(part, str) for part in value):
            return [self.near(part, random) for part in value]
        return value


NONE = Constants([])


def kinships(calls: list) -> list:
    """For each call the calls of its form, and the sizes in each of them."""
    families: dict[tuple, tuple[list, list]] = {}
    forms = [form(call) for call in calls]
    for call, its in zip(calls, forms, strict=True):
        kin, shapes = families.setdefault(its, ([], []))
        kin.append(call)
        shapes.append(sizes(call))
    return [families[its] for its in forms]


def invented(calls: list, families: list, random, constants: Constants = NONE) -> tuple:
    """Random arguments like those of the noted calls; some of them are ``constants`` of the solution, or near them."""
    index = random.randint(len(calls))
    template, (kin, shapes) = calls[index], families[index]
    lengths = dict(zip(zip(*shapes, strict=True), sizes(template), strict=True)) if shapes[0] else {}
    if random.rand() < 0.6:
        lengths = {symbol: 1 if set(symbol) == {1} else random.randint(1, 8) for symbol in lengths}
    fresh = iter([lengths[symbol] for symbol in zip(*shapes, strict=True)])
    scale = SCALES[random.randint(len(SCALES))]
    level = 1000.0 * random.randint(-1, 2) if random.rand() < 0.15 else 0.0
    args, kwargs = template
    relative = kin[random.randint(len(kin))]
    drawn_args = tuple(
        drawn(value, other, fresh, random, scale, level) for value, other in zip(args, relative[0], strict=True)
    )
    drawn_kwargs = {
        name: drawn(kwargs[name], relative[1][name], fresh, random, scale, level) for name in sorted(kwargs)
    }
    if constants is NONE or random.rand() < (0.1 if constants.patterns else 0.6):
        return drawn_args, drawn_kwargs
    new = [turned(constants.near(value, random), random) for value in (*drawn_args, *drawn_kwargs.values())]
    return tuple(new[: len(drawn_args)]), dict(zip(drawn_kwargs, new[len(drawn_args) :], strict=True))


def turned(value: Any, random) -> Any:
    """A tree with other branches in each other's place: lists, tuples, tables and None in another order; or as it is.

    An object of the notebook has its attributes exchanged.
    """
    if random.rand() < 0.5 or numbers(value):
        return value
    if type(value).__module__ == "__main__" and hasattr(value, "__dict__"):
        other = copy.copy(value)
        vars(other).update(_exchanged(vars(value), random, type(value)))
        return other
    if isinstance(value, dict):
        return _exchanged(value, random) if not plain(value) else reordered(value, random)
    if type(value) in (list, tuple):
        return emptied(type(value)(_exchanged(dict(enumerate(value)), random).values()), random)
    return value


def plain(table: dict) -> bool:
    """Whether a dictionary holds numbers or texts alone, as what is counted for each name."""
    return len(table) > 1 and all(type(part) in (int, float, str) for part in table.values())


def reordered(table: dict, random) -> dict:
    """A dictionary in another order, and sometimes with one value twice, so that what ranks it has a tie."""
    keys = list(table)
    first, second = (keys[random.randint(len(keys))] for _ in range(2))
    tied = table | {first: table[second]} if random.rand() < 0.5 else table
    return {keys[place]: tied[keys[place]] for place in random.permutation(len(keys))}


def emptied(tree: Any, random) -> Any:
    """A tree of lists or of tuples in which one branch may be empty."""
    inner = [place for place, part in enumerate(tree) if type(part) is type(tree)]
    if not inner or random.rand() < 0.7:
        return tree
    place = inner[random.randint(len(inner))]
    return type(tree)([*tree[:place], type(tree)(), *tree[place + 1 :]])


def _exchanged(members: dict, random, kind: type = dict) -> dict:
    inner = {key: turned(part, random) for key, part in members.items()}
    branches = [key for key, part in inner.items() if isinstance(part, list | tuple | dict | type(None) | kind)]
    order = random.permutation(len(branches)) if len(branches) > 1 else []
    return inner | {key: inner[branches[place]] for key, place in zip(branches, order, strict=False)}


def with_defaults(function: Any, calls: list) -> list:
    """Noted calls with one argument more: for each flag or number that no call hands over, another than its default."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return []
    more = []
    for place, parameter in enumerate(parameters):
        default, name = parameter.default, parameter.name
        handed = any(name in kwargs or len(args) > place for args, kwargs in calls)
        if type(default) in (bool, int, float) and not handed:
            other = not default if type(default) is bool else 2 * default + 1
            more += [(args, kwargs | {name: other}) for args, kwargs in calls[:FEW]]
    return more


FEW = 5
"""The most noted calls to which an argument is added that none hands over."""


def by_turns(calls: list, random, trials: int, constants: Constants = NONE) -> Iterator[tuple[tuple, str]]:
    """The noted ``calls`` and ``trials`` random ones by turns, so that a slow function is tried with both.

    Yields arguments, and how they were chosen: ``NOTED``, ``RANDOM``, or ``EDGE`` for an argument at an edge.
    """
    families, noted = kinships(calls), list(calls)
    for trial in range(len(calls) + trials):
        if noted and trial % 2 == 0:
            yield noted.pop(0), NOTED
        elif trial % 8 == 1:
            yield at_an_edge(invented(calls, families, random, constants), random), EDGE
        else:
            yield invented(calls, families, random, constants), RANDOM


def at_an_edge(call: tuple, random) -> tuple:
    """The arguments of a call, one of them with a value that guards refuse: zero, negative, empty, not a number."""
    args, kwargs = call
    edges: list = [(index, edge) for index, value in enumerate(args) for edge in _edges(value)]
    edges += [(name, edge) for name in sorted(kwargs) for edge in _edges(kwargs[name])]
    if not edges:
        return call
    key, edge = edges[random.randint(len(edges))]
    if isinstance(key, str):
        return args, kwargs | {key: edge}
    return (*args[:key], edge, *args[key + 1 :]), kwargs


def _edges(value: Any) -> list:
    if isinstance(value, bool):
        return []
    if isinstance(value, int):
        return [0, -1, -value, value + 1, 10 * value + 1]
    if isinstance(value, float):
        return [0.0, -1.0, -value, 10 * value + 1, float("nan")]
    if isinstance(value, str):
        return ["", "?", value + "?"]
    if isinstance(value, list | tuple):
        return [type(value)(), value[:-1], type(value)([*value, *value[:1]])]
    if isinstance(value, dict):
        return [{}]
    if isinstance(value, np.ndarray) and value.ndim:
        edges = [value[:0], value[:-1], value[None]]
        return [*edges, 0 * value, -value] if value.dtype.kind in "if" else edges
    return []


def values(call: tuple) -> list:
    return [*call[0], *(call[1][name] for name in sorted(call[1]))]


def leaves(value: object) -> list:
    """The arrays, lists of numbers and single values that a value is made of."""
    return [leaf for _, part in parts(value) for leaf in leaves(part)] if parts(value) else [value]


def parts(value: object) -> list:
    """The keys and values of a dictionary, or the places and items of a list or tuple, in a fixed order."""
    if isinstance(value, dict):
        return sorted(value.items(), key=lambda item: str(item[0]))
    if not isinstance(value, list | tuple) or type(value) not in (list, tuple) or numbers(value):
        return []
    return list(enumerate(value))


def numbers(value: object) -> TypeGuard[list]:
    """Whether a value is a list of numbers."""
    return isinstance(value, list) and bool(value) and all(isinstance(part, int | float | np.number) for part in value)


def form(call: tuple) -> tuple:
    return (len(call[0]), *sorted(call[1]), *map(structure, values(call)))


def structure(value: object) -> tuple:
    dimensions = 1 if numbers(value) else getattr(value, "ndim", 0)
    return (type(value).__name__, dimensions, *((key, structure(part)) for key, part in parts(value)))


def sizes(call: tuple) -> list:
    lengths = []
    for value in (leaf for argument in values(call) for leaf in leaves(argument)):
        if isinstance(value, np.ndarray):
            lengths += value.shape
        elif numbers(value):
            lengths.append(len(value))
    return lengths


def drawn(value: Any, other: Any, fresh, random, scale: float, level: float) -> object:
    """A random value like the noted ``value``; ``other`` is what another call had in its place."""
    if isinstance(value, np.ndarray):
        shape = tuple(next(fresh) for _ in value.shape)
        return array(shape, value.dtype, random, scale, level)
    if numbers(value):
        return list(array((next(fresh),), np.asarray(value).dtype, random, scale, level))
    if inner := parts(value):
        new = {key: drawn(part, other[key], fresh, random, scale, level) for key, part in inner}
        return {key: new[key] for key in value} if isinstance(value, dict) else type(value)(new.values())
    if isinstance(value, float | np.floating):
        return type(value)(value if random.rand() < 0.5 else value * (0.5 + random.rand()))
    if type(value) is int and type(other) is int and random.rand() < 0.5:
        low, high = sorted((value, other))
        return int(random.randint(min(low, 1), high + 6))
    if isinstance(value, fractions.Fraction):
        return value + fractions.Fraction(int(random.randint(0, 4)), int(random.randint(1, 4)))
    if isinstance(value, str) and isinstance(other, str):
        return text(other, random)
    if frame_like(value):
        return table(value, random)
    return other if type(other) is type(value) else value


def can_be_drawn(value: object) -> bool:
    """Whether a random value differs from the noted one."""
    kinds = (np.ndarray, float, np.floating, int, fractions.Fraction, str)
    return isinstance(value, kinds) or numbers(value) or frame_like(value)


def text(value: str, random) -> str:
    """The same text, or its words in another order, some of them twice or not at all; of a single word the letters."""
    if random.rand() < 0.5 or len(value) < 2:
        return value
    pieces = value.split(" ") if " " in value else list(value)
    chosen = [pieces[index] for index in random.randint(0, len(pieces), size=random.randint(1, len(pieces) + 2))]
    return (" " if " " in value else "").join(chosen)


def frame_like(value: Any) -> bool:
    """Whether a value is a data frame or a series of pandas."""
    return of_library(value, "pandas") and hasattr(value, "iloc") and hasattr(value, "index")


def of_library(value: Any, library: str) -> bool:
    """Whether the class of a value is a library's."""
    return type(value).__module__.partition(".")[0] == library


def table(value: Any, random) -> Any:
    """Some rows of a data frame or a series, with other numbers, and sometimes with one column more."""
    if not len(value):
        return value
    rows = random.randint(0, len(value), size=random.randint(2, len(value) + 4))
    plain = type(value.index).__name__ == "RangeIndex"
    new = value.iloc[rows].copy() if not plain else value.iloc[rows].reset_index(drop=True)
    if value.ndim == 1:
        return _other_numbers(new, random)
    for column in range(new.shape[1]):
        series = new.iloc[:, column]
        if series.dtype.kind in "fi" and new.columns.is_unique:
            new[new.columns[column]] = _other_numbers(series, random)
    if random.rand() < 0.3 and EXTRA not in new.columns and new.columns.nlevels == 1:
        new.insert(random.randint(0, new.shape[1] + 1), EXTRA, random.normal(size=len(new)))
    return new


def _other_numbers(series: Any, random) -> Any:
    if series.dtype.kind == "f":
        return series + (abs(series).mean() + 0.1) * random.normal(size=len(series))
    if series.dtype.kind == "i" and random.rand() < 0.5:
        return series + random.randint(0, 3, size=len(series))
    return series


def array(shape: tuple, dtype, random, scale: float, level: float):
    if dtype.kind == "b":
        return random.rand(*shape) < 0.5
    if dtype.kind in "iu":
        return random.randint(0, 5, size=shape).astype(dtype)
    if dtype.kind == "f":
        if random.rand() < 0.05:
            return np.zeros(shape, dtype)
        return (scale * random.normal(size=shape) + level).astype(dtype)
    return np.zeros(shape, dtype)


def shaken(value: Any, random) -> object:
    """A value whose numbers differ in the last digits."""
    if isinstance(value, np.ndarray) and value.dtype.kind == "f":
        return value * (1 + 1e-13 * random.normal(size=value.shape)).astype(value.dtype)
    if numbers(value) and isinstance(value[0], float):
        return [part * (1 + 1e-13 * random.normal()) for part in value]
    if isinstance(value, dict):
        return {key: shaken(part, random) for key, part in value.items()}
    return type(value)(shaken(part, random) for part in value) if type(value) in (list, tuple) else value


def finite(value: object) -> bool:
    """Whether the numbers in a value are finite."""
    if isinstance(value, list | tuple | dict):
        return all(finite(part) for part in (value.values() if isinstance(value, dict) else value))
    return not isinstance(value, float | np.ndarray | np.floating) or _all_finite(np.asarray(value))


def _all_finite(numbers: np.ndarray) -> bool:
    return numbers.dtype.kind not in "fc" or bool(np.all(np.isfinite(numbers)))
