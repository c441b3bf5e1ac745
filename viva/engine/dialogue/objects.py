"""The candidate's objects that cannot cross by value: they stay there, and the examiner gets their numbers.

And what stands in the candidate for a function of the examiner's: to call it asks the other side, in the middle of an
answer to it.
"""

from __future__ import annotations

import importlib
import inspect
import re
import types
from collections.abc import Callable
from pathlib import PosixPath, PurePosixPath
from typing import Any

import numpy as np

from viva.engine import wire
from viva.engine.dialogue import exceptions
from viva.engine.dialogue.operations import contents_of, held_by, lineage_of, origin
from viva.engine.values.codec import has_methods, mro_of, name_of, namespace_of, own_namespaces
from viva.engine.values.plain import base_of, mixed_in

LIKENED = 10_000
"""So many objects may be named until what has a base value crosses as that alone."""
CALL = "_viva_call"
PATHS = (PurePosixPath, PosixPath)
FLAGS = {"i": re.IGNORECASE, "m": re.MULTILINE, "s": re.DOTALL, "x": re.VERBOSE}


class Callback:
    """A function of the other side that was passed to the student's code."""

    __slots__ = ("__name__", "_call", "_number")

    def __init__(self, call: Callable, number: int, name: str) -> None:
        self._call, self._number, self.__name__ = call, number, name

    def __call__(self, /, *args, **kwargs):
        return self._call(self._number, self.__name__, args, kwargs)


def function_of(callback: Callback, rows: list[tuple[int, bool]]) -> types.FunctionType:
    """A function that calls, for students who look whether it is one and how many parameters it takes."""
    space: dict[str, Any] = {CALL: callback, "__name__": "__main__"}
    exec(compile(f"def function(*args, **kwargs): return {CALL}(*args, **kwargs)", __file__, "exec"), space)
    function = space["function"]
    function.__name__ = function.__qualname__ = callback.__name__
    function.__signature__ = inspect.Signature(
        [
            inspect.Parameter(
                f"_{place}", inspect._ParameterKind(kind), default=... if default else inspect.Parameter.empty
            )
            for place, (kind, default) in enumerate(rows)
        ]
    )
    return function


class Objects:
    """What stays in the candidate, and what stands in it for the examiner's functions."""

    def __init__(self, call: Callable) -> None:
        """``call(number, name, args, kwargs)`` calls a function of the examiner's."""
        self.call = call
        self.kept: list[object] = []
        self.numbers: dict[int, int] = {}
        """By id(), the place of an object in ``kept``, which keeps it alive."""
        self.callbacks: dict[int, object] = {}
        """By number, what stands here for a function of the other side."""
        self.callback_numbers: dict[int, int] = {}
        """By id() of that, its number."""
        self.by_name = False
        """Whether an object is asked for: then also what only has a name beside its plain value crosses by it."""

    def number(self, value: object) -> int:
        """The place of an object in the table; the same object has the same one."""
        if id(value) not in self.numbers:
            self.numbers[id(value)] = len(self.kept)
            self.kept.append(value)
        return self.numbers[id(value)]

    def refer(self, value: Any) -> wire.Reference:
        if (number := self.callback_numbers.get(id(value))) is not None:
            return wire.Reference(number, {"of": "examiner"})
        cls = type(value)  # an object may say by ``__class__`` that it is of another one
        is_class = issubclass(cls, type)
        about = {
            "of": "candidate",
            "type": name_of(cls),
            "mro": lineage_of(cls),
            "class": is_class,
            "callable": callable(value),
            "iterator": any("__next__" in namespace_of(base) for base in mro_of(cls)),
            "name": name_of(value) if is_class else value.__name__ if cls is types.FunctionType else "",
            "origin": origin(value),
        }
        if cls is not types.FunctionType:
            about |= self._told_beside(value, is_class)
        return wire.Reference(self.number(value), about)

    def _told_beside(self, value: Any, is_class: bool) -> dict:
        """What describes an object beside its class: what it holds, or what may be taken in its place."""
        if is_class:
            return {"lineage": exceptions.lineage(value, self.number)} if issubclass(value, BaseException) else {}
        if issubclass(type(value), BaseException):
            return {"exception": exceptions.told(value, self.number)}
        for name, found in (("contents", contents_of), ("plain", _plain_form), ("base", mixed_in), ("base", held_by)):
            if (plain := found(value)) is not None and wire.is_plain(plain):
                return {name: plain}
        return {}

    def liken(self, value: object) -> wire.Reference | None:
        """What names something of a student's class that derives from a plain type, beside its base value."""
        methods = has_methods(type(value))
        if not (methods or (self.by_name and own_namespaces(type(value)))) or len(self.kept) >= LIKENED:
            return None
        plain = wire.is_plain(base := base_of(value))
        if not (methods or plain):
            return None
        reference = self.refer(value)
        if plain:
            reference.about["base"] = base
        return reference

    def resolve(self, reference: wire.Reference) -> object:
        if reference.about["of"] == "candidate":
            return self.kept[reference.id]
        if reference.about["of"] == "library":
            value = importlib.import_module(reference.about["module"])
            for part in reference.about["qualname"].split("."):
                value = getattr(value, part)
            return value
        if reference.id not in self.callbacks:
            callback = Callback(self.call, reference.id, reference.about["name"])
            rows = reference.about["parameters"]
            self.callbacks[reference.id] = callback if rows is None else function_of(callback, rows)
            self.callback_numbers[id(self.callbacks[reference.id])] = reference.id
        return self.callbacks[reference.id]


def _plain_form(value: Any) -> np.ndarray | str | None:
    """What may stand in the place of an object: the array of a masked one of which nothing is masked, or of a
    polynomial's coefficients, the text of a path, or of a pattern."""
    cls = type(value)
    if cls is np.ma.MaskedArray and not np.ma.is_masked(value):
        return value.data
    if cls is np.poly1d:
        return value.coeffs
    if cls is re.Pattern and type(value.pattern) is str:
        flags = "".join(letter for letter, flag in FLAGS.items() if value.flags & flag)
        return f"(?{flags}){value.pattern}" if flags else value.pattern
    return str(value) if cls in PATHS else None
