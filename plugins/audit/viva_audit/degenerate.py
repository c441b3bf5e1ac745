"""Degenerate answers: functions that are right on every visible input and return nothing of use elsewhere.

The source of this module runs in a candidate, at the end of an answer cell; it needs NumPy and nothing of Viva. A
function is wrapped: on an input that visible lines give to it, it answers as the solution does, and on any other input
with one of ``FORMS``. ``RAISE`` in place of a form shows which checks reach such an input.
"""

from __future__ import annotations

import copy
import functools
import hashlib
import itertools
import types

import numpy as np

RAISE = "an exception"
FORMS = ("()", "{}", "[]", "an empty array", "NaN", "a masked array", "None", "its argument, emptied")
"""What a degenerate function returns, as sentences name it. The unchanged argument is not among them: a check that
looks at something else than the result, as that arguments stay, may pass then. It is the mutant "returned input"."""
ONLY_RIGHT = "only right: "
"""Before a form: the function raises where the form is not the right result."""
MOST_INPUTS = 5000
"""With more visible inputs of one function a cell would become too long."""

LEVELS = 300
"""Of objects that are nested deeper only the types count."""


class Reached(Exception):  # noqa: N818
    """An input that no visible line gives to the function."""


def fingerprint(*parts: object) -> str:
    """A short text that is the same for equal data: arrays by shape and content, and numbers whatever their type.

    An object that holds itself, as a node whose child knows its parent, is told there by how many levels above it is.
    """
    return _digest(parts, [], {}).hex()


def _digest(value, above: list, known: dict) -> bytes:
    """``above`` are the numbers of the objects that hold it, ``known`` those that were read before, by number: many
    ways may lead to one object."""
    if id(value) in above:
        return f"above {len(above) - above.index(id(value))}".encode()
    if id(value) in known:
        return known[id(value)][1]
    text, parts = _told(value)
    digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8)
    if parts and len(above) < LEVELS:
        above.append(id(value))
        for part in parts:
            digest.update(_digest(part, above, known))
        above.pop()
        known[id(value)] = value, digest.digest()  # while it lives, no other has its number
    return digest.digest()


def _told(value) -> tuple:
    """The text of a value, and what it holds."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, bool | int | float | complex):
        return f"number {complex(value)!r}" if abs(value) < 2**53 else f"number {value!r}", ()
    if isinstance(value, np.ndarray):
        if value.dtype.kind not in "biufc":
            return f"array {value.shape} ", [value.tolist()]
        return f"array {value.shape} {hashlib.blake2b(value.astype(complex).tobytes(), digest_size=8).hexdigest()}", ()
    if isinstance(value, dict):
        return f"table {len(value)} ", [*itertools.chain(*value.items())]
    if isinstance(value, set | frozenset):
        return f"row {len(value)} ", sorted(value, key=repr)
    if isinstance(value, list | tuple):
        return f"row {len(value)} ", value
    if callable(value):
        return "function", ()
    if type(value).__module__ == "__main__" and hasattr(value, "__dict__"):
        return type(value).__qualname__, [vars(value)]
    return str(value.to_csv()) if hasattr(value, "to_csv") else repr(value), ()


def functions_of(namespace: dict, names: list) -> list:
    """Where the functions and methods of a cell stand: their full name, their owner's ``vars`` and their name there."""
    sites: list = []
    for name in names:
        value = namespace.get(name)
        if isinstance(value, types.FunctionType):
            sites.append((name, None, name))
        elif isinstance(value, type) and value.__module__ == "__main__":
            sites += [
                (f"{name}.{method}", value, method)
                for method, function in vars(value).items()
                if isinstance(function, types.FunctionType) and not method.startswith("__")
            ]
    return sites


def record(namespace: dict, names: list, inputs: dict) -> None:
    """From now on keep the fingerprints of what these functions are called with in ``inputs``, by full name."""
    for full, owner, name in functions_of(namespace, names):
        function = vars(owner)[name] if owner else namespace[name]
        _put(namespace, owner, name, _recording(function, inputs.setdefault(full, set())))


def _recording(function, inputs: set):
    @functools.wraps(function)
    def recording(*args, **kwargs):
        if len(inputs) <= MOST_INPUTS:
            inputs.add(fingerprint(args, kwargs))
        return function(*args, **kwargs)

    return recording


def degrade(namespace: dict, inputs: dict, form: str) -> None:
    """Make degenerate functions of those in ``inputs``, which maps their full names to the inputs that are excepted."""
    names = list(dict.fromkeys(full.partition(".")[0] for full in inputs))
    for full, owner, name in functions_of(namespace, names):
        if full in inputs:
            function = vars(owner)[name] if owner else namespace[name]
            _put(namespace, owner, name, _degenerate(function, set(inputs[full]), form, method=owner is not None))


def _put(namespace: dict, owner: type | None, name: str, function) -> None:
    if owner:
        setattr(owner, name, function)
    else:
        namespace[name] = function


def _degenerate(function, inputs: set, form: str, method: bool):
    @functools.wraps(function)
    def degenerate(*args, **kwargs):
        if inputs and fingerprint(args, kwargs) in inputs:
            return function(*args, **kwargs)
        if form == RAISE:
            raise Reached
        values = args[1:] if method else args
        values = values or tuple(kwargs.values())
        if form.startswith(ONLY_RIGHT):
            right = function(*copy.deepcopy(args), **copy.deepcopy(kwargs))
            result = _value(form.removeprefix(ONLY_RIGHT), values, right)
            if fingerprint(result) != fingerprint(right):
                raise Reached
            return result
        right = None
        if form == "a masked array":
            try:
                right = function(*copy.deepcopy(args), **copy.deepcopy(kwargs))
            except Exception:
                right = 0.0
        return _value(form, values, right)

    return degenerate


def _value(form: str, values: tuple, right: object) -> object:
    if form == "a masked array":
        shape = np.shape(right) if isinstance(right, np.ndarray | np.generic | int | float) else (1,)
        return np.ma.masked_all(shape)
    if form.startswith("its argument"):
        if not values:
            raise Reached
        return _emptied(values[0]) if form.endswith("emptied") else values[0]
    plain = {"()": (), "{}": {}, "[]": [], "an empty array": np.zeros(0), "NaN": float("nan"), "None": None}
    return plain[form]


def _emptied(value):
    """The same object: an array of zeros, a list or a dictionary without items."""
    if isinstance(value, np.ndarray):
        value[...] = 0
    elif isinstance(value, list | dict | set):
        value.clear()
    return value
