"""Random calls of a function, like those that were noted of it.

Random arguments have the structure of the noted ones; two sizes that were always equal stay equal, and a size that was
always one stays one. As ``witness``, this runs in a candidate, and needs NumPy and nothing of Viva.
"""

from typing import Any, TypeGuard

import numpy as np

SCALES = (1.0, 1.0, 0.3, 3.0, 30.0)


def kinships(calls: list) -> list:
    """For each call the calls of its form, and the sizes in each of them."""
    families: dict[tuple, tuple[list, list]] = {}
    forms = [form(call) for call in calls]
    for call, its in zip(calls, forms, strict=True):
        kin, shapes = families.setdefault(its, ([], []))
        kin.append(call)
        shapes.append(sizes(call))
    return [families[its] for its in forms]


def invented(calls: list, families: list, random) -> tuple:
    """Random arguments like those of the noted calls."""
    place = random.randint(len(calls))
    template, (kin, shapes) = calls[place], families[place]
    known = dict(zip(zip(*shapes, strict=True), sizes(template), strict=True)) if shapes[0] else {}
    if random.rand() < 0.6:
        known = {symbol: 1 if set(symbol) == {1} else random.randint(1, 8) for symbol in known}
    fresh = iter([known[symbol] for symbol in zip(*shapes, strict=True)])
    scale = SCALES[random.randint(len(SCALES))]
    level = 1000.0 * random.randint(-1, 2) if random.rand() < 0.15 else 0.0
    args, kwargs = template
    others = kin[random.randint(len(kin))]
    args = tuple(drawn(value, other, fresh, random, scale, level) for value, other in zip(args, others[0], strict=True))
    return args, {name: drawn(kwargs[name], others[1][name], fresh, random, scale, level) for name in sorted(kwargs)}


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
    found = []
    for value in (leaf for argument in values(call) for leaf in leaves(argument)):
        if isinstance(value, np.ndarray):
            found += value.shape
        elif numbers(value):
            found.append(len(value))
    return found


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
    return other if type(other) is type(value) else value


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
