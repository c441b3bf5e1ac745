"""Equality of two values: numbers but for rounding, tables by value, instances by their attributes.

What cannot be compared is never called the same: Unproven says why. The source of this module runs in a candidate; it
needs NumPy and nothing of Viva.
"""

from __future__ import annotations

import contextlib
import types
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from viva_audit.drawing import of_library

NUMBERS = (int, float, complex, np.ndarray, np.generic)
MOST_ITEMS = 200
"""The most items of an iterator that are looked at."""
DEEPEST = 30


class Unproven(Exception):  # noqa: N818
    """Two values cannot be compared; the message is the reason."""


class Items:
    """What an iterator gives."""

    def __init__(self, iterator: Any) -> None:
        self.items = []
        for item in iterator:
            self.items.append(item)
            if len(self.items) == MOST_ITEMS:
                break


def settled(value: Any) -> Any:
    """A value with Items in the place of iterators; they raise what the iterators raise."""
    if is_iterator(value):
        return Items(value)
    if type(value) in (list, tuple) and any(is_iterator(part) for part in value):
        return type(value)(settled(part) for part in value)
    return value


def is_iterator(value: Any) -> bool:
    return hasattr(type(value), "__next__") and not hasattr(value, "read")


def is_alive(value: Any) -> bool:
    """Whether a result is or holds something that changes when it is used, such as a function with a counter."""
    if isinstance(value, list | tuple):
        return any(map(is_alive, value))
    return is_function(value) or (type(value).__module__ == "__main__" and not isinstance(value, type))


def is_function(value: Any) -> bool:
    return isinstance(value, types.FunctionType | types.MethodType) or type(value).__module__ == "functools"


def same(old: Any, new: Any, functions: Callable | None = None, depth: int = 0) -> bool:
    """Whether two values are of one type and shape, and equal but for rounding.

    ``functions`` compares two functions. Raises Unproven for what cannot be compared.
    """
    if depth > DEEPEST:
        raise Unproven("it is nested too deeply")

    def parts(one: Any, two: Any) -> bool:
        return same(one, two, functions, depth + 1)

    if isinstance(old, bool | np.bool_):
        return isinstance(new, bool | np.bool_) and bool(old == new)
    if isinstance(old, NUMBERS):
        return isinstance(new, NUMBERS) and not isinstance(new, bool) and _same_numbers(old, new, parts)
    if isinstance(old, str | bytes | types.NoneType | range):
        return type(old) is type(new) and old == new
    if isinstance(old, list | tuple):
        if not _of_one_type(old, new) or len(old) != len(new):
            return False
        return _all_same(parts, zip(old, new, strict=True))
    if isinstance(old, dict):
        if not _of_one_type(old, new) or old.keys() != new.keys():
            return False
        return _all_same(parts, ((old[key], new[key]) for key in old))
    if isinstance(old, set | frozenset):
        return type(old) is type(new) and old == new
    if isinstance(old, Items) or is_iterator(old):
        if not (isinstance(new, Items) or is_iterator(new)):
            return False
        old, new = (side if isinstance(side, Items) else Items(side) for side in (old, new))
        return parts(old.items, new.items)
    if isinstance(old, types.ModuleType):
        return isinstance(new, types.ModuleType) and old.__name__ == new.__name__
    if isinstance(old, type):
        if not isinstance(new, type) or old.__qualname__ != new.__qualname__:
            return False
        if old is not new and old.__module__ != "__main__":
            raise Unproven(f"the class {old.__qualname__} cannot be compared")
        return True  # a class of the notebook is compared under its name
    if is_function(old) or (callable(old) and type(old).__module__ != "__main__"):
        return _same_function(old, new, functions)
    if isinstance(old, BaseException):
        return type(old) is type(new) and parts(old.args, new.args)
    return _same_object(old, new, parts)


def _all_same(parts: Callable, pairs: Iterable[tuple[Any, Any]]) -> bool:
    """Whether all pairs are the same; a difference counts more than what cannot be compared."""
    reason = None
    for one, two in pairs:
        try:
            if not parts(one, two):
                return False
        except Unproven as unproven:
            reason = reason or unproven
    if reason:
        raise reason
    return True


def _of_one_type(old: Any, new: Any) -> bool:
    """Classes of the notebook are made anew by the mutant's cell: their names count."""
    if type(old).__module__ == "__main__":
        return type(new).__module__ == "__main__" and type(old).__qualname__ == type(new).__qualname__
    return type(old) is type(new)


def _same_numbers(old: Any, new: Any, parts: Callable) -> bool:
    if isinstance(old, np.ma.MaskedArray) or isinstance(new, np.ma.MaskedArray):
        if type(old) is not type(new) or not np.array_equal(np.ma.getmaskarray(old), np.ma.getmaskarray(new)):
            return False
        old, new = np.ma.filled(old, 0), np.ma.filled(new, 0)
    one, two = np.asarray(old), np.asarray(new)
    if one.shape != two.shape:
        return False
    if one.dtype.kind == "O" and two.dtype.kind == "O":
        return _all_same(parts, zip(one.ravel(), two.ravel(), strict=True))
    if one.dtype.kind not in "fciu" or one.dtype.kind != two.dtype.kind:
        return one.dtype == two.dtype and bool(np.all(one == two))
    finite = np.abs(one[np.isfinite(one)]) if one.dtype.kind in "fc" else np.abs(one)
    tolerance = 1e-9 * max(1.0, float(finite.max(initial=0.0)))
    return bool(np.allclose(one, two, rtol=1e-6, atol=tolerance, equal_nan=True))


def _same_function(old: Any, new: Any, functions: Callable | None) -> bool:
    if not callable(new):
        return False
    if old is new or same_code(old, new):
        return True
    if functions and is_function(old):
        return functions(old, new)
    raise Unproven(f"the function {getattr(old, '__name__', type(old).__name__)} cannot be compared")


def same_code(old: Any, new: Any) -> bool:
    """Whether two functions have the same code, defaults and outer values; what they call may differ."""
    if not (isinstance(old, types.FunctionType) and isinstance(new, types.FunctionType)):
        return False
    try:
        cells = [[cell.cell_contents for cell in function.__closure__ or ()] for function in (old, new)]
        return (
            _same_text(old.__code__, new.__code__)
            and same(old.__defaults__, new.__defaults__)
            and same(old.__kwdefaults__, new.__kwdefaults__)
            and same(cells[0], cells[1])
        )
    except (Unproven, ValueError):
        return False


def _same_text(old: types.CodeType, new: types.CodeType) -> bool:
    names = ("co_code", "co_names", "co_varnames", "co_freevars", "co_cellvars", "co_argcount", "co_flags")
    if any(getattr(old, name) != getattr(new, name) for name in names) or len(old.co_consts) != len(new.co_consts):
        return False
    return all(
        _same_text(one, two) if isinstance(one, types.CodeType) and isinstance(two, types.CodeType)
        else repr(one) == repr(two)
        for one, two in zip(old.co_consts, new.co_consts, strict=True)
    )  # fmt: skip


def _same_object(old: Any, new: Any, parts: Callable) -> bool:
    """Tables by value, objects of the notebook by attributes, others by their own comparison, or by their state."""
    if not _of_one_type(old, new):
        return False
    if of_library(old, "pandas"):
        return _same_table(old, new)
    if of_library(old, "polars"):
        return bool(old.equals(new))
    if isinstance(old, np.random.Generator):
        return repr(old.bit_generator.state) == repr(new.bit_generator.state)
    if isinstance(old, np.random.RandomState):
        return repr(old.get_state()) == repr(new.get_state())
    if of_library(old, "__main__"):
        return parts(attributes(old), attributes(new))
    kind = type(old).__name__
    if type(old).__eq__ is not object.__eq__:
        try:
            return bool(old == new)
        except Exception as error:
            raise Unproven(f"two values of type {kind} cannot be compared") from error
    if old is new:
        raise Unproven(f"a value of type {kind} cannot be compared")
    state, other = getattr(old, "__dict__", None), getattr(new, "__dict__", None)
    if not state or not other or not parts(state, other):
        raise Unproven(f"two values of type {kind} cannot be compared")
    return True


def _same_table(old: Any, new: Any) -> bool:
    """By index, columns, types and values; numbers but for rounding."""
    import pandas.testing as testing  # only where the notebook has pandas

    compare = {"DataFrame": testing.assert_frame_equal, "Series": testing.assert_series_equal}.get(type(old).__name__)
    if compare is None:
        return bool(old.equals(new)) if hasattr(old, "equals") else repr(old) == repr(new)
    try:
        compare(old, new, rtol=1e-6, atol=1e-9)
    except AssertionError:
        return False
    except Exception as error:
        raise Unproven("the tables cannot be compared") from error
    return True


def attributes(value: Any) -> dict:
    """The public attributes of an object, and what its properties give."""
    found = {name: part for name, part in getattr(value, "__dict__", {}).items() if not name.startswith("_")}
    for kind in type(value).__mro__:
        for name in getattr(kind, "__slots__", ()):
            if not name.startswith("_") and hasattr(value, name):
                found[name] = getattr(value, name)
        for name, part in vars(kind).items():
            if isinstance(part, property) and not name.startswith("_"):
                with contextlib.suppress(Exception):
                    found[name] = getattr(value, name)
    return found


def same_numbers(old: object, new: object) -> bool:
    """Whether one is an array and the other a list of the same numbers in the same shape; most tasks take both."""
    if {type(old), type(new)} != {list, np.ndarray}:
        return False
    with contextlib.suppress(ValueError, TypeError):
        return same(np.asarray(old), np.asarray(new))
    return False
