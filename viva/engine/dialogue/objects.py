"""The candidate's objects that cannot cross by value: they stay there, and the examiner gets their numbers.

And what stands in the candidate for a function of the examiner's: to call it asks the other side, in the middle of an
answer to it.
"""

from __future__ import annotations

import builtins
import contextlib
import importlib
import inspect
import numbers
import operator
import re
import sys
import types
from array import array
from collections import ChainMap, UserDict, UserList, UserString, defaultdict, deque
from collections.abc import Callable, ItemsView, KeysView, ValuesView
from pathlib import PosixPath, PurePosixPath
from typing import Any

import numpy as np

from viva.engine import wire
from viva.engine.dialogue import exceptions
from viva.engine.dialogue.arguments import fill
from viva.engine.values.codec import has_methods, has_names, mro_of, name_of, namespace_of, own_namespaces, place_of
from viva.engine.values.plain import base_of, mixed_in
from viva.engine.values.sharing import SHARED, Shared
from viva.verdict import WireError

# --- what can be done with an object, and how it is described


def _asked_by_test(function: Any) -> types.FunctionType:
    """The same, as code of the notebook: to who warns of a caller (``stacklevel=2``) it stands in a test's place."""
    space = {"__name__": "__main__", "__builtins__": builtins}
    return types.FunctionType(function.__code__, space, closure=function.__closure__)


def _forward(function):
    return _asked_by_test(lambda *args: function(*args))


OPERATIONS = {
    "call": _asked_by_test(lambda function, /, *args, **kwargs: function(*args, **kwargs)),
    **{f.__name__: _forward(f) for f in (getattr, setattr, delattr, dir, len, iter, next, repr, str, bool, hash, type)},
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
        located = sys.modules.get(module)
        for part in name.split("."):
            located = getattr(located, part, None)
        if located is value:
            return f"{module}:{name}"
    return ""


def contents_of(value) -> tuple | list | None:
    """The contents of an array of objects, or of a view of a dict; None for anything else."""
    if type(value) is np.ndarray and not value.dtype.names:
        return value.shape, value.ravel().tolist()
    if type(value) not in VIEWS:
        return None
    try:
        return list(value)
    except Exception:  # what a student's own mapping says when it is gone through
        return None


def held_by(value) -> list | dict | str | bytes | None:
    """The contents of a container of Python's library that is not a plain type, as a list or dict.

    Of one that a student derives from it too, without their methods.
    """
    cls = type(value)
    try:
        if cls is memoryview and value.format == "B":
            return value.tobytes()
        if cls in (array, memoryview, deque):
            return list(value) if cls is deque else value.tolist()
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


CONTAINERS = (list, tuple, dict, set, frozenset, np.ndarray)
LIKENED = 10_000
"""Objects that may be named; after these, what has a base value crosses as that alone."""
CALL, GIVEN, MISSING = "_viva_call", "_viva_given", "_viva_missing"
_MISSING = object()
PATHS = (PurePosixPath, PosixPath)
ITERATOR = "<iterator>"
"""What the function that gives the next value of an iterator is called."""
FLAGS = {"i": re.IGNORECASE, "m": re.MULTILINE, "s": re.DOTALL, "x": re.VERBOSE}


class Callback:
    """A function of the other side that was passed to the student's code."""

    __slots__ = ("__name__", "_call", "_number")

    def __init__(self, call: Callable, number: int, name: str) -> None:
        self._call, self._number, self.__name__ = call, number, name

    def __call__(self, /, *args, **kwargs):
        return self._call(self._number, self.__name__, args, kwargs)


class Steps:
    """An iterator of the other side's that was passed to the student's code."""

    __slots__ = ("_next",)

    def __init__(self, step: Callback) -> None:
        self._next = step

    def __iter__(self):
        return self

    def __next__(self):
        for value in self._next():  # of which there is one, or none at the end
            return value
        raise StopIteration


def _given(*values: object) -> list[object]:
    return [value for value in values if value is not _MISSING]


def function_of(callback: Callback, rows: list[tuple[int, bool]], doc: str | None) -> types.FunctionType:
    """A function that calls, for students who look whether it is one, how many parameters it takes, and its ``doc``.

    Its code has as many positional parameters as that of the other side, and takes any name, as theirs stay hidden.
    """
    names = [f"_{number}" for number, (kind, _) in enumerate(rows) if kind < inspect.Parameter.VAR_POSITIONAL]
    more = ["*_more"] if any(kind == inspect.Parameter.VAR_POSITIONAL for kind, _ in rows) else []
    taken = ", ".join([*(f"{name}={MISSING}" for name in names), *more, "**_named"])
    handed = ", ".join([f"*{GIVEN}({''.join(f'{name}, ' for name in names)})", *more, "**_named"])
    space: dict[str, Any] = {CALL: callback, GIVEN: _given, MISSING: _MISSING, "__name__": "__main__"}
    exec(compile(f"def function({taken}): return {CALL}({handed})", __file__, "exec"), space)
    function = space["function"]
    function.__name__ = function.__qualname__ = callback.__name__
    function.__doc__ = doc
    function.__signature__ = inspect.Signature(
        [
            inspect.Parameter(
                f"_{number}", inspect._ParameterKind(kind), default=... if default else inspect.Parameter.empty
            )
            for number, (kind, default) in enumerate(rows)
        ]
    )
    return function


class Objects:
    """The objects that stay in the candidate, and the callbacks that stand in it for the examiner's functions."""

    def __init__(self, call: Callable) -> None:
        """``call(number, name, args, kwargs)`` calls a function of the examiner's."""
        self.call = call
        self.kept: list[object] = []
        self.numbers: dict[int, int] = {}
        """The index of an object in ``kept``, by id(); the list keeps it alive."""
        self.callbacks: dict[int, object] = {}
        """The callbacks for the functions of the other side, by number."""
        self.callback_numbers: dict[int, int] = {}
        """The number of a callback, by its id()."""
        self.kinds: list[tuple] = []
        """What an object that crosses as its plain type has beside its contents: its class, default and fields."""
        self.kind_numbers: dict[tuple, int] = {}
        self.shared = Shared(self)
        self.by_name = False
        """Whether an object is asked for: then also what only has a name beside its plain value crosses by it."""

    examining = False

    def offer(self, value: Any) -> tuple[int, dict]:
        return self.number(value), self._about(value)

    def reach(self, number: int, about: dict, path: Any = None) -> Callback:
        """A function that calls one that the examiner offered."""
        return Callback(self.call, number, "f")

    def number(self, value: object) -> int:
        """The place of an object in the table; the same object has the same one."""
        if id(value) not in self.numbers:
            self.numbers[id(value)] = len(self.kept)
            self.kept.append(value)
        return self.numbers[id(value)]

    def refer(self, value: Any) -> wire.Reference:
        if (number := self.callback_numbers.get(id(value))) is not None:
            return wire.Reference(number, {"of": "examiner"})
        if (reference := self.shared.refer(value)) is not None:
            return reference
        return wire.Reference(self.number(value), self._about(value))

    def _about(self, value: Any) -> dict:
        cls = type(value)  # an object may say by ``__class__`` that it is of another one
        is_class = issubclass(cls, type)
        description = {
            "of": "candidate",
            "type": name_of(cls),
            "mro": [place_of(base) for base in type.mro(cls)][:20],
            "class": is_class,
            "callable": callable(value),
            "iterator": any("__next__" in namespace_of(base) for base in mro_of(cls)),
            "name": name_of(value) if is_class else value.__name__ if cls is types.FunctionType else "",
            "origin": origin(value),
        }
        if cls is not types.FunctionType:
            description |= self._told_beside(value, is_class)
        return description

    def _told_beside(self, value: Any, is_class: bool) -> dict:
        """The description of an object beside its class: its contents, or a value that may be taken in its place."""
        if is_class:
            return {"lineage": exceptions.lineage(value, self.number)} if issubclass(value, BaseException) else {}
        if issubclass(type(value), BaseException):
            return {"exception": exceptions.told(value, self.number)}
        for name, read in (("contents", contents_of), ("plain", _plain_form), ("base", mixed_in), ("base", held_by)):
            if (plain := read(value)) is not None and wire.is_plain(plain):
                return {name: plain}
        return {}

    def liken(self, value: object, inside: bool) -> wire.Reference | int | None:
        """A reference to an object of a class that derives from a plain type and can do more, with its base value.

        Of one without methods it is the number of a Like: given back, the plain value is of the class again."""
        cls = type(value)
        methods, named = has_methods(cls), self.by_name and has_names(cls)
        if inside or not (methods or named) or len(self.kept) >= LIKENED:
            return self._kind_number(value)
        plain = wire.is_plain(base := base_of(value))
        if not (methods or plain):
            return self._kind_number(value)
        reference = self.refer(value)
        if plain:
            reference.about["base"] = base
        return reference

    def _kind_number(self, value: Any) -> int | None:
        """The number of what ``value`` has beside its contents; None for what has no contents."""
        if len(self.kinds) >= LIKENED or set(mro_of(type(value))).isdisjoint(CONTAINERS):
            return None
        cls, default, fields = kind = kind_of(value)
        key = cls, id(default), id(fields) if fields else 0
        if key not in self.kind_numbers:
            self.kind_numbers[key] = len(self.kinds)
            self.kinds.append(kind)  # which keeps the ids
        return self.kind_numbers[key]

    def _of_class(self, like: wire.Like) -> object:
        """The value of a Like as one of its class; as it is where that cannot be made."""
        with contextlib.suppress(Exception):  # what a student's class has to say
            if like.number >= 0:
                return remade(like.value, *self.kinds[like.number])
            known = self.kept[-1 - like.number]
            # A text or a number cannot have changed, so it is what it was, a path say.
            return known if type(like.value) in (str, float) else remade(like.value, *kind_of(known))
        return like.value

    def resolve(self, reference: wire.Reference | wire.Like) -> object:
        if isinstance(reference, wire.Like):
            return self._of_class(reference)
        if reference.about["of"] == "candidate":
            return self.kept[reference.id]
        if reference.about["of"] == SHARED:
            return self.shared.resolve(reference)
        if reference.about["of"] == "library":
            value = importlib.import_module(reference.about["module"])
            for part in reference.about["qualname"].split("."):
                value = getattr(value, part)
            return value
        if reference.id not in self.callbacks:
            callback = Callback(self.call, reference.id, reference.about["name"])
            rows = reference.about.get("parameters")
            made = Steps(callback) if callback.__name__ == ITERATOR else callback
            self.callbacks[reference.id] = made if rows is None else function_of(callback, rows, reference.about["doc"])
            self.callback_numbers[id(self.callbacks[reference.id])] = reference.id
        return self.callbacks[reference.id]


def kind_of(value: Any) -> tuple[type, Any, dict]:
    """What a container has beside its contents: its class, the default of a defaultdict or the length of a deque, and
    its fields."""
    cls = type(value)
    default = value.default_factory if defaultdict in mro_of(cls) else value.maxlen if cls is deque else None
    try:
        return cls, default, object.__getattribute__(value, "__dict__")
    except AttributeError:
        return cls, default, {}


def remade(value: Any, cls: Any, default: Any, fields: dict) -> object:
    """A plain ``value`` as one of a class; see ``kind_of``.

    Its contents are a copy, as those of a list that is given back. Its fields are those of the object that there was:
    what student code writes to them stays. Raises anything where the class cannot be made so.
    """
    bases = mro_of(cls)
    if type(value) is cls:
        return value
    if np.ndarray in bases:
        made: Any = value.view(cls)
    elif tuple in bases or frozenset in bases:
        made = (tuple if tuple in bases else frozenset).__new__(cls, value)
    elif cls is deque:
        made = deque(value, default)
    else:
        made = cls.__new__(cls)
        fill(made, value, {})
    if defaultdict in bases:
        made.default_factory = default
    if fields:
        object.__setattr__(made, "__dict__", fields)
    return made


def _plain_form(value: Any) -> np.ndarray | str | float | None:
    """A value that may stand in the place of an object: the array of a masked one of which nothing is masked, or of a
    polynomial's coefficients, the text of a path, or of a pattern, or what a number of a library's, as SymPy's, is."""
    cls = type(value)
    if issubclass(cls, numbers.Real) and not own_namespaces(cls):
        return int(value) if issubclass(cls, numbers.Integral) else float(value)
    if cls is np.ma.MaskedArray and not np.ma.is_masked(value):
        return value.data
    if cls is np.poly1d:
        return value.coeffs
    if cls is re.Pattern and type(value.pattern) is str:
        flags = "".join(letter for letter, flag in FLAGS.items() if value.flags & flag)
        return f"(?{flags}){value.pattern}" if flags else value.pattern
    return str(value) if cls in PATHS else None


# --- what tests ask about the code of an answer


PLAIN, PLACE, TEXT = "plain", "place", "text"
"""How a default or an annotation is told: by itself, by where it stands in a library, or by its text."""
CHARACTERS = 1000
"""The most characters of a text that is told in the place of a default or an annotation."""


def told_source(value: Any) -> tuple[str, int]:
    """The source of a function or class, and its line. Raises OSError and TypeError, as ``inspect`` does."""
    lines, line = inspect.getsourcelines(value)
    return "".join(lines), line


def told_signature(value: Any, whole: bool) -> bytes:
    """The message with the parameters of what can be called, and what it gives; ``whole`` as getfullargspec has it.

    Raises TypeError and ValueError, as ``inspect`` does.
    """
    if whole:
        value = value.__init__ if inspect.isclass(value) else getattr(value, "__func__", value)
    signature = inspect.signature(value, follow_wrapped=not whole)
    rows = [
        (parameter.name, int(parameter.kind), _told(parameter.default), _told(parameter.annotation))
        for parameter in signature.parameters.values()
    ]
    return wire.encode((rows, _told(signature.return_annotation)))


def _told(value: Any) -> tuple | None:
    if value is inspect.Parameter.empty:
        return None
    try:
        return PLAIN, wire.decode(wire.encode(value)), ""  # without a student's class that derives from a plain type
    except WireError:
        return PLACE if origin(value) else TEXT, origin(value), inspect.formatannotation(value)[:CHARACTERS]
