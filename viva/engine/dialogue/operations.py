"""What a candidate can be asked to do with one of its objects."""

from __future__ import annotations

import builtins
import contextlib
import copy
import inspect
import operator
import sys
import types
from array import array
from collections import ChainMap, UserDict, UserList, UserString
from collections.abc import ItemsView, KeysView, ValuesView
from typing import TYPE_CHECKING

import numpy as np

from viva.engine import wire
from viva.engine.dialogue import exceptions
from viva.engine.dialogue.exceptions import safe
from viva.engine.values.classes import module_of, name_of, qualname_of

if TYPE_CHECKING:
    from viva.engine.candidate import Candidate


UNASKED = 65_536
"""So many bytes may be told of a name that was not asked for."""


def _tell(candidate: Candidate, name: str, others: str) -> bytes:
    """What a name means, and as far as they are bound and small what ``others`` do: a message with a row for each.

    What an array may look into comes before it.
    """
    space = candidate.shell.user_ns
    if name not in space:
        raise NameError(f"name '{name}' is not defined")
    told = {name: space[name]}
    for other in others.split():
        with contextlib.suppress(Exception):
            if _room(value := space[other], UNASKED) >= 0:
                told[other] = value
    rows = []
    for one in sorted(told, key=lambda one: -told[one].nbytes if type(told[one]) is np.ndarray else 0):
        try:
            rows.append(_row(candidate, one, told[one]))
        except Exception as error:
            if one == name:
                rows.append((name, f"{type(error).__name__}: {safe(str, error)}"[:500], None, []))
    return wire.encode(rows)


def _row(candidate: Candidate, name: str, value: object) -> tuple[str, bytes, int | None, list[tuple]]:
    message = wire.encode(value, candidate.objects.refer, candidate.objects.liken)
    candidate.named[name] = value
    candidate.witness.note_answer(value)
    windows = candidate.shared.windows(value)
    return name, message, candidate.shared.number(value), windows


def _room(value: object, room: int) -> int:
    """How much of ``room`` bytes would be left beside a value, roughly; negative when there is not enough."""
    if isinstance(value, np.ndarray):
        return room - value.nbytes
    if isinstance(value, str | bytes | bytearray):
        return room - len(value)
    if isinstance(value, list | tuple | set | frozenset | dict):
        room -= 100
        for item in value.values() if isinstance(value, dict) else value:
            if (room := _room(item, room)) < 0:
                break
        return room
    return -1 if module_of(type(value)).startswith("pandas") else room - 10


def _names(candidate: Candidate) -> list[str]:
    shell = candidate.shell
    return [name for name in shell.user_ns if name not in shell.user_ns_hidden and name[0] != "_"]


def _signature(value) -> tuple:
    """What an inspect.Signature can be made of: a row for each parameter, and the annotation of the result."""
    signature = inspect.signature(value)
    rows = [
        (one.name, int(one.kind), _written(one.default), _written(one.annotation))
        for one in signature.parameters.values()
    ]
    return rows, _written(signature.return_annotation)


def _written(value) -> tuple[str, object]:
    """A default or an annotation: by value, as the place of a library's class, or as text."""
    if value is inspect.Parameter.empty:
        return "empty", None
    if wire.is_plain(value):
        return "plain", value
    return ("class", origin(value)) if isinstance(value, type) and origin(value) else ("text", safe(repr, value)[:200])


def _leave(candidate: Candidate, manager, error: dict | None) -> bool:
    if error is None:
        return bool(manager.__exit__(None, None, None))
    again = exceptions.again(error, candidate.objects.kept)
    return bool(manager.__exit__(type(again), again, again.__traceback__))


def _asked_by_test(function: types.FunctionType) -> types.FunctionType:
    """The same, as code of the notebook: to who warns of a caller (``stacklevel=2``) it stands in a test's place."""
    space = {"__name__": "__main__", "__builtins__": builtins}
    return types.FunctionType(function.__code__, space, closure=function.__closure__)


def _forward(function):
    return _asked_by_test(lambda candidate, *args: function(*args))


OPERATIONS = {
    "tell": _tell,
    "names": _names,
    "call": _asked_by_test(lambda candidate, function, /, *args, **kwargs: function(*args, **kwargs)),
    "enter": _asked_by_test(lambda candidate, manager: manager.__enter__()),
    "leave": _leave,
    **{name: _forward(f) for name, f in (("signature", _signature), ("type", type))},
    "itself": lambda candidate, value: value,
    "document": lambda candidate, value: value.__doc__,
    **{name: _forward(f) for name, f in (("copy", copy.copy), ("deepcopy", copy.deepcopy), ("hash", hash))},
    **{f.__name__: _forward(f) for f in (getattr, setattr, delattr, len, iter, next, repr, str, bool, dir)},
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


def origin(value: object) -> str:
    """``module:qualname`` of a library's module, function, class or operator, or a class of Python's; else nothing."""
    cls = type(value)  # ``isinstance`` would ask the object, which may be of a student's class
    if issubclass(cls, types.ModuleType):
        return f"{value.__name__}:"
    if issubclass(cls, type) and vars(builtins).get(name_of(value)) is value:
        return f"builtins:{value.__name__}"
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
    """What is in an array of objects or of records, or a view of a dict; None for anything else."""
    if type(value) in RECORDS and value.dtype.names:
        columns = [np.asarray(value[name]) for name in value.dtype.names]
        columns = [column.ravel().tolist() if column.dtype.hasobject else column for column in columns]
        return [*value.dtype.names], value.shape, columns
    if type(value) is np.ndarray:
        return value.shape, value.ravel().tolist()
    if type(value) not in VIEWS:
        return None
    try:
        return list(value)
    except Exception:  # what a student's own mapping says when it is gone through
        return None


def held_by(value) -> list | dict | str | None:
    """What a container of Python's library holds that is no plain type, as a list or dict of its own would.

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


RECORDS = (np.ndarray, np.recarray, np.void, np.record)
VIEWS = (type({}.keys()), type({}.values()), type({}.items()), KeysView, ValuesView, ItemsView)
"""Those of dicts, and of a UserDict and other mappings of the student's."""


def lineage_of(cls: type) -> list[tuple[str, str]]:
    """The classes that a class is one of, as module and name."""
    return [(module_of(base), qualname_of(base)) for base in type.mro(cls)][:20]
