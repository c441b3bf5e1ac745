"""Random calls of a function, like those that were noted of it.

Random arguments have the structure of the noted ones; two sizes that were always equal stay equal, and a size that was
always one stays one. The source of this module runs in a candidate, and needs NumPy and nothing of Viva.
"""

from __future__ import annotations

import datetime
import fractions
import inspect
import types
from collections.abc import Callable, Iterator
from typing import Any, TypeGuard

import numpy as np

from viva_audit.patterntexts import matching, nearly, pattern_in
from viva_audit.structures import Pool, holds, reshaped

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
                number = self.numbers[random.randint(len(self.numbers))] + random.randint(-1, 2)
                return number if random.rand() < 0.3 else type(value)(number)
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
            return [self.near(part, random) if random.rand() < 0.4 else part for part in value]
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
    if random.rand() < 0.5:  # a form that is rare counts as much as one that is usual
        forms = list({id(family): place for place, family in enumerate(families)}.values())
        index = forms[random.randint(len(forms))]
    (kin, shapes), template = families[index], calls[index]
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
    new = [*drawn_args, *drawn_kwargs.values()]
    if constants is not NONE and random.rand() > (0.1 if constants.patterns else 0.6):
        new = [constants.near(value, random) for value in new]
    if any(map(holds, new)) and random.rand() < 0.8:
        new = reshaped(new, random, constants.numbers, constants.texts)
    return tuple(new[: len(drawn_args)]), dict(zip(drawn_kwargs, new[len(drawn_args) :], strict=True))


def with_defaults(function: Any, calls: list) -> list:
    """Noted calls with other arguments: another value than the default of each flag, number or text that no call hands
    over, names of a function's own where it takes any, and one value fewer or more where it takes any number."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return []
    more = []
    for place, parameter in enumerate(parameters):
        default, name = parameter.default, parameter.name
        handed = any(name in kwargs or len(args) > place for args, kwargs in calls)
        if type(default) in (bool, int, float, str) and not handed:
            more += [(args, kwargs | {name: _other(default)}) for args, kwargs in calls[:FEW]]
            if name == "axis":  # arrays with more axes than those of the tests are meant, too
                more += [((np.stack([args[0], -args[0]]), *args[1:]), kwargs) for args, kwargs in calls[:FEW]
                         if args and isinstance(args[0], np.ndarray) and args[0].dtype.kind in "if"]  # fmt: skip
        elif parameter.kind == parameter.VAR_KEYWORD:
            more += [(args, kwargs | {"b": "x", "a": 2}) for args, kwargs in calls[:FEW]]
        elif parameter.kind == parameter.VAR_POSITIONAL:
            taken = [(args, kwargs) for args, kwargs in calls[:FEW] if len(args) > place]
            more += [(other, kwargs) for args, kwargs in taken for other in (args[:-1], (*args, args[-1]))]
    return more


def _other(default: Any) -> Any:
    if isinstance(default, bool):
        return not default
    return f"{default}x" if isinstance(default, str) else default + 1 if default < 0 else 2 * default + 1


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
        return numbers_like(value, other, next(fresh), random, scale, level)
    if inner := parts(value):
        new = {key: drawn(part, other[key], fresh, random, scale, level) for key, part in inner}
        return {key: new[key] for key in value} if isinstance(value, dict) else type(value)(new.values())
    if isinstance(value, set | frozenset):
        return some_of(value, other, random)
    if type(value) is bool:
        return not value if random.rand() < 0.3 else value
    if isinstance(value, float | np.floating):
        return type(value)(value if random.rand() < 0.5 else value * (0.5 + random.rand()))
    if type(value) is int and type(other) is int and random.rand() < 0.5:
        low, high = sorted((value, other))
        return int(random.randint(min(low, 1), high + 6))
    if isinstance(value, datetime.date):
        day = value + datetime.timedelta(days=int(random.randint(-500, 500)))
        return day.replace(month=5, day=1) if random.rand() < 0.3 else day  # two may be of one day of the year
    if isinstance(value, types.FunctionType) and random.rand() < 0.5:
        return of_shifted(value)
    if isinstance(value, fractions.Fraction):
        return value + fractions.Fraction(int(random.randint(0, 4)), int(random.randint(1, 4)))
    if isinstance(value, str) and isinstance(other, str):
        return text(other, random)
    if frame_like(value):
        return table(value, random)
    return other if type(other) is type(value) else value


def numbers_like(value: list, other: object, count: int, random, scale: float, level: float) -> list:
    """A list of numbers of the noted kind: new ones, or some of those that two calls had in this place."""
    if random.rand() < 0.3:
        known = [*value, *(other if numbers(other) else ())]
        return [known[index] for index in random.randint(0, len(known), size=count)]
    new = array((count,), np.asarray(value).dtype, random, scale, level)
    return list(new) if any(isinstance(part, np.generic) for part in value) else new.tolist()


def some_of(value: set | frozenset, other: object, random) -> set | frozenset:
    """Some of what stands in two sets, and perhaps numbers and texts beside them."""
    known = sorted({*value, *(other if isinstance(other, set | frozenset) else ())}, key=repr)
    pool = Pool(known)
    chosen = [part for part in known if random.rand() < 0.6]
    return type(value)([*chosen, *(pool.like(part, random) for part in known if random.rand() < 0.3)])


def of_shifted(function: Callable) -> Callable:
    """Another function of the same kind: this one, of numbers that are shifted and scaled before."""

    def shifted(value: Any) -> Any:
        if type(value) is int:
            return value + 1
        floats = isinstance(value, float) or (isinstance(value, np.ndarray) and value.dtype.kind == "f")
        return 0.7 * value + 0.3 if floats else value

    return lambda *args, **kwargs: function(*map(shifted, args), **kwargs)


def can_be_drawn(value: object) -> bool:
    """Whether a random value differs from the noted one."""
    kinds = (np.ndarray, float, np.floating, int, fractions.Fraction, str, datetime.date, set, frozenset)
    return isinstance(value, kinds) or numbers(value) or frame_like(value)


def text(value: str, random) -> str:
    """The same text, or its lines in another order, some of them twice or not at all; of a line the words, of a word
    the letters."""
    if len(value) == 1 and value.isalpha() and random.rand() < 0.2:
        return chr(ord(value) + random.randint(-1, 2))
    if random.rand() < 0.5 or len(value) < 2:
        return value
    between = next((mark for mark in ("\n", " ") if mark in value), "")
    pieces = value.split(between) if between else list(value)
    kept = random.randint(2) if between == "\n" else 0  # the first line may say what stands in the others
    chosen = [pieces[index] for index in random.randint(0, len(pieces), size=random.randint(1, len(pieces) + 2))]
    return between.join([*pieces[:kept], *chosen])


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
