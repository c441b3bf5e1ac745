"""Watches a notebook run in a candidate: what its functions are called with, and whether a mutant is equivalent.

Theory of operation. The source of this module and of ``calls`` is sent into a candidate, where it runs beside the
notebook; the two need NumPy and nothing else of Viva. While the solution and the tests run, it notes the arguments of
every call of the solution's functions, and keeps what the cell in question found and left behind. Then the mutant's
cell runs in its place. The two are equivalent when all that later cells use is the same: data by value, functions by
their results and by what they do to their arguments, on the noted calls and on many random ones. Calls that the
solution itself cannot answer, or only with rounding errors, do not count.
"""

from __future__ import annotations

import contextlib
import copy
import io
import json
import resource
import time
import types
from typing import Any, TypeGuard

import numpy as np

# Random calls of a function, like those that were noted of it.
#
# Random arguments have the structure of the noted ones; two sizes that were always equal stay equal, and a size that
# was always one stays one. As ``witness``, this runs in a candidate, and needs NumPy and nothing of Viva.

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


TRIALS = 400
ENOUGH = 40
"""Random calls that must have counted; with fewer nothing is proven."""
NOTED = 150
"""The most calls of a function that are noted."""
SECONDS = 10.0
"""Seconds for which a function is tried; when enough random calls have counted, it is not tried longer."""
DATA = (bool, int, float, complex, str, bytes, list, tuple, dict, set, np.ndarray, np.generic, type(None))


class Watch:
    """What is known about one run of a notebook."""

    def __init__(self, namespace: dict) -> None:
        self.namespace = namespace
        self.calls: dict[str, list] = {}
        self.results: dict[str, str] = {}
        self.noting = True
        self.found: dict = {}
        self.left: dict = {}
        self.bound: list = []
        self.state = np.random.get_state()

    def note(self, names: list) -> None:
        """From now on note the calls of these functions."""
        for name in names:
            function = self.namespace.get(name)
            if isinstance(function, types.FunctionType):
                self.namespace[name] = self._noting(name, function)

    def _noting(self, name: str, function):
        calls = self.calls.setdefault(name, [])

        def noting(*args, **kwargs):
            if self.noting and len(calls) < NOTED:
                with contextlib.suppress(Exception):
                    calls.append(copy.deepcopy((args, kwargs)))
            result = function(*args, **kwargs)
            if self.noting:
                self.results.setdefault(name, literal(result))
            return result

        vars(noting)["__wrapped__"] = function
        return noting

    def before(self) -> None:
        """Keep what the cell in question finds."""
        self.found = copies(self.namespace)
        self.state = np.random.get_state()

    def after(self, names: list) -> None:
        """Keep what the solution of that cell left; its functions get a namespace of their own."""
        frozen = copies(self.namespace)
        for name in names:
            function = frozen.get(name)
            if isinstance(function, types.FunctionType):
                code, closure = function.__code__, function.__closure__
                frozen[name] = types.FunctionType(code, frozen, name, function.__defaults__, closure)
                frozen[name].__kwdefaults__ = function.__kwdefaults__
        self.left, self.bound = frozen, names

    def restore(self) -> None:
        """Put back what the cell found, for the mutant."""
        self.noting = False
        for name in [name for name in self.namespace if name not in self.found and mine(name)]:
            del self.namespace[name]
        self.namespace.update({name: value for name, value in copies(self.found).items() if mine(name)})
        np.random.set_state(self.state)

    def difference(self, names: list) -> str:
        """Where the mutant's cell left something else than the solution's; empty when it is equivalent."""
        for name in names:
            if name in self.left and name not in self.namespace:
                return f"{name} is missing"
            old, new = self.left.get(name), self.namespace.get(name)
            if isinstance(old, types.FunctionType):
                if name in self.bound and (difference := unlike(old, new, self.calls.get(name, []))):
                    return f"{name}: {difference}"
            elif isinstance(old, DATA) and not same(old, new) and not same_numbers(old, new):
                return f"{name} has another value"
        return ""

    def report(self) -> str:
        whole = [name for name, value in self.namespace.items() if type(value) is int and mine(name)]
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
        return json.dumps({"results": self.results, "megabytes": memory, "integers": sorted(whole)})


def copies(namespace: dict) -> dict:
    """The names with copies of their data; modules, functions and objects are not copied."""
    new: dict = {}
    memo: dict = {}
    for name, value in namespace.items():
        new[name] = value
        if isinstance(value, DATA) and mine(name):
            with contextlib.suppress(Exception):
                new[name] = copy.deepcopy(value, memo)
    return new


def mine(name: str) -> bool:
    """Whether a name is the notebook's, not IPython's."""
    return not name.startswith("_") and name not in ("In", "Out", "exit", "quit", "get_ipython")


def literal(value: object) -> str:
    """Python source of a value, empty when there is none, or a long one."""
    if isinstance(value, np.ndarray):
        text = f"np.array({value.tolist()!r})" if np.all(np.isfinite(value)) else ""
    elif isinstance(value, tuple):
        parts = [literal(part) for part in value]
        text = f"({', '.join(parts)},)" if all(parts) else ""
    elif isinstance(value, np.generic):
        text = repr(value.item())
    else:
        text = repr(value) if isinstance(value, bool | int | float | str | list) else ""
    return text if len(text) < 3000 else ""


def same(old: object, new: object) -> bool:
    """Whether two values are of one type and shape, and equal but for rounding."""
    if isinstance(old, list | tuple):
        return (
            type(old) is type(new)
            and len(old) == len(new)
            and all(same(one, other) for one, other in zip(old, new, strict=True))
        )
    if isinstance(old, dict):
        return type(new) is dict and old.keys() == new.keys() and all(same(old[key], new[key]) for key in old)
    if isinstance(old, int | float | complex | np.ndarray | np.generic) and not isinstance(old, bool):
        if not isinstance(new, int | float | complex | np.ndarray | np.generic):
            return False
        one, other = np.asarray(old), np.asarray(new)
        if one.shape != other.shape or one.dtype.kind not in "fciub" or one.dtype.kind != other.dtype.kind:
            return one.shape == other.shape and one.dtype == other.dtype and bool(np.all(one == other))
        finite = np.abs(one[np.isfinite(one)]) if one.dtype.kind in "fc" else np.abs(one)
        tolerance = 1e-9 * max(1.0, float(finite.max(initial=0.0)))
        return bool(np.allclose(one, other, rtol=1e-6, atol=tolerance, equal_nan=True))
    if isinstance(old, DATA):
        return type(old) is type(new) and old == new
    return True


def same_numbers(old: object, new: object) -> bool:
    """Whether one is an array and the other a list of the same numbers in the same shape; most tasks take both."""
    if {type(old), type(new)} != {list, np.ndarray}:
        return False
    with contextlib.suppress(ValueError, TypeError):
        return same(np.asarray(old), np.asarray(new))
    return False


def unlike(old, new, calls: list) -> str:
    """How two functions differ; empty when enough calls have shown no difference."""
    if not callable(new):
        return "is not a function"
    random, families, noted = np.random.RandomState(20), kinships(calls), list(calls)
    counted, start = 0, time.monotonic()
    for trial in range(len(calls) + TRIALS if calls else 0):
        if counted >= ENOUGH and time.monotonic() - start > SECONDS:
            break
        known = bool(noted) and trial % 2 == 0  # by turns, so that a slow function is tried with both
        arguments = noted.pop(0) if known else invented(calls, families, random)
        expected = outcome(old, arguments)
        if expected is None or not finite(expected[0]) or not steady(old, arguments, expected[0], random):
            continue
        counted += not known
        given = outcome(new, arguments)
        if given is None:
            return "raises an error"
        if not same(expected[0], given[0]):
            return "another result"
        if not same(expected[1], given[1]):
            return "arguments are changed differently"
    return "" if counted >= ENOUGH else "too few calls could be tried"


def outcome(function, arguments):
    """The result of a call, and its arguments afterwards; None when it raised."""
    args, kwargs = copy.deepcopy(arguments)
    np.random.seed(1)
    try:
        with np.errstate(all="ignore"), contextlib.redirect_stdout(io.StringIO()):
            return function(*args, **kwargs), [args, kwargs]
    except Exception:
        return None


def steady(function, arguments: tuple, result: object, random) -> bool:
    """Whether a result is more than rounding: arguments that differ in the last digits give the same."""
    args, kwargs = arguments
    near = outcome(
        function, ([shaken(value, random) for value in args], {k: shaken(kwargs[k], random) for k in kwargs})
    )
    return near is not None and same(result, near[0])


def shaken(value: Any, random) -> object:
    if isinstance(value, np.ndarray) and value.dtype.kind == "f":
        return value * (1 + 1e-13 * random.normal(size=value.shape)).astype(value.dtype)
    if numbers(value) and isinstance(value[0], float):
        return [part * (1 + 1e-13 * random.normal()) for part in value]
    if isinstance(value, dict):
        return {key: shaken(part, random) for key, part in value.items()}
    return type(value)(shaken(part, random) for part in value) if type(value) in (list, tuple) else value


def finite(value: object) -> bool:
    if isinstance(value, list | tuple | dict):
        return all(finite(part) for part in (value.values() if isinstance(value, dict) else value))
    return not isinstance(value, float | np.ndarray | np.floating) or bool(np.all(np.isfinite(value)))
