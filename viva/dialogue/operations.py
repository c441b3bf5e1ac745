"""What a candidate can be asked to do with one of its objects."""

from __future__ import annotations

import builtins
import copy
import inspect
import operator
import sys
import types
from typing import TYPE_CHECKING

from viva import wire
from viva.dialogue import raised
from viva.dialogue.raised import safe

if TYPE_CHECKING:
    from viva.candidate import Candidate


def _lookup(candidate: Candidate, name: str):
    try:
        return candidate.shell.user_ns[name]
    except KeyError:
        raise NameError(f"name '{name}' is not defined") from None


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
    again = raised.again(error, candidate.objects)
    return bool(manager.__exit__(type(again), again, again.__traceback__))


def _forward(function):
    return lambda candidate, *args: function(*args)


OPERATIONS = {
    "name": _lookup,
    "names": _names,
    "call": lambda candidate, function, /, *args, **kwargs: function(*args, **kwargs),
    "enter": lambda candidate, manager: manager.__enter__(),
    "leave": _leave,
    **{name: _forward(f) for name, f in (("signature", _signature), ("document", inspect.getdoc), ("type", type))},
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
    """``module:qualname`` of a library's module, function or class, or a class of Python's; else an empty string."""
    if isinstance(value, types.ModuleType):
        return f"{value.__name__}:"
    if isinstance(value, type) and vars(builtins).get(type.__dict__["__name__"].__get__(value)) is value:
        return f"builtins:{value.__name__}"
    module, name = getattr(value, "__module__", None), getattr(value, "__qualname__", getattr(value, "__name__", None))
    if isinstance(module, str) and isinstance(name, str) and module not in ("__main__", "builtins"):
        found = sys.modules.get(module)
        for part in name.split("."):
            found = getattr(found, part, None)
        if found is value:
            return f"{module}:{name}"
    return ""
