"""What a candidate can be asked to do with one of its objects."""

from __future__ import annotations

import builtins
import operator
import sys
import types
from array import array
from collections import ChainMap, UserDict, UserList, UserString
from collections.abc import ItemsView, KeysView, ValuesView
from typing import Any

import numpy as np

from viva.engine.values.codec import module_of, name_of, qualname_of


def _asked_by_test(function: Any) -> types.FunctionType:
    """The same, as code of the notebook: to who warns of a caller (``stacklevel=2``) it stands in a test's place."""
    space = {"__name__": "__main__", "__builtins__": builtins}
    return types.FunctionType(function.__code__, space, closure=function.__closure__)


def _forward(function):
    return _asked_by_test(lambda *args: function(*args))


OPERATIONS = {
    "call": _asked_by_test(lambda function, /, *args, **kwargs: function(*args, **kwargs)),
    **{f.__name__: _forward(f) for f in (getattr, setattr, delattr, len, iter, next, repr, str, bool, hash, type)},
    **{f.__name__: _forward(f) for f in (int, float, complex, abs, round, reversed, format, divmod)},
    **{f.__name__: _forward(f) for f in (isinstance, issubclass)},
    **{
        name: _forward(getattr(operator, name))
        for name in (
            "getitem setitem delitem contains index eq ne lt le gt ge neg pos invert "
            "add sub mul truediv floordiv mod pow matmul and_ or_ xor lshift rshift "
            "iadd isub imul itruediv ifloordiv imod ipow imatmul iand ior ixor ilshift irshift"
        ).split()
    },
}


def origin(value: Any) -> str:
    """``module:qualname`` of a library's module, function, class or operator, or a class of Python's; else nothing."""
    cls = type(value)  # ``isinstance`` would ask the object, which may be of a student's class
    if issubclass(cls, types.ModuleType):
        return f"{value.__name__}:"
    if issubclass(cls, type):
        label = name_of(value)
        if vars(builtins).get(label) is value:
            return f"builtins:{label}"
    if cls is types.WrapperDescriptorType:
        owner = origin(value.__objclass__)
        return f"{owner}.{value.__name__}" if owner and vars(value.__objclass__).get(value.__name__) is value else ""
    try:
        module, name = value.__module__, getattr(value, "__qualname__", None) or getattr(value, "__name__", None)
    except Exception:  # a dict whose ``__getattr__`` is ``__getitem__`` says KeyError
        return ""
    if isinstance(module, str) and isinstance(name, str) and module not in ("__main__", "builtins"):
        found = sys.modules.get(module)
        for part in name.split("."):
            found = getattr(found, part, None)
        if found is value:
            return f"{module}:{name}"
    return ""


def contents_of(value) -> tuple | list | None:
    """What is in an array of objects, or a view of a dict; None for anything else."""
    if type(value) is np.ndarray and not value.dtype.names:
        return value.shape, value.ravel().tolist()
    if type(value) not in VIEWS:
        return None
    try:
        return list(value)
    except Exception:  # what a student's own mapping says when it is gone through
        return None


def held_by(value) -> list | dict | str | None:
    """What a container of Python's library holds that is not a plain type, as a list or dict of its own would.

    Of one that a student derives from it too, without their methods.
    """
    cls = type(value)
    try:
        if cls in (array, memoryview):
            return value.tolist()
        if cls in (types.MappingProxyType, ChainMap):
            return dict(value)
        for base, plain in ((UserDict, dict), (UserList, list), (UserString, str)):
            if base in type.mro(cls) and type(data := object.__getattribute__(value, "data")) is plain:
                return data
    except Exception:  # what is in it may be of a student's class
        pass
    return None


VIEWS: tuple[type, ...] = (type({}.keys()), type({}.values()), type({}.items()), KeysView, ValuesView, ItemsView)
"""Those of dicts, and of a UserDict and other mappings of the student's."""


def lineage_of(cls: type) -> list[tuple[str, str]]:
    """The classes that a class is one of, as module and name."""
    return [(module_of(base), qualname_of(base)) for base in type.mro(cls)][:20]
