"""The candidate's objects that cannot cross by value: they stay there, and the examiner gets their numbers."""

from __future__ import annotations

import importlib
import re
import types
from pathlib import PosixPath, PurePosixPath
from typing import TYPE_CHECKING

import numpy as np

from viva.engine import wire
from viva.engine.dialogue import exceptions
from viva.engine.dialogue.callback import Callback, function_of
from viva.engine.dialogue.operations import contents_of, held_by, lineage_of, origin
from viva.engine.values.classes import has_methods, mro_of, name_of, namespace_of, own_namespaces
from viva.engine.values.plain import base_of, mixed_in

if TYPE_CHECKING:
    from viva.engine.candidate import Candidate

PATHS = (PurePosixPath, PosixPath)
LIKENED = 10_000
"""So many objects may be named until what has a base value crosses as that alone."""


class Objects:
    """What stays in the candidate, and what stands in it for the examiner's functions."""

    def __init__(self, candidate: Candidate) -> None:
        self.candidate = candidate
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

    def refer(self, value: object) -> wire.Reference:
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
        if is_class and issubclass(value, BaseException):
            about["lineage"] = exceptions.lineage(value, self.number)
        elif issubclass(cls, BaseException):
            about["exception"] = exceptions.told(value, self.number)
        elif (contents := contents_of(value)) is not None and wire.is_plain(contents):
            about["contents"] = contents
        elif type(value) is np.ma.MaskedArray and not np.ma.is_masked(value) and wire.is_plain(value.data):
            about["unmasked"] = value.data
        elif type(value) is np.poly1d and wire.is_plain(value.coeffs):
            about["coefficients"] = value.coeffs
        elif type(value) in PATHS:
            about["path"] = str(value)
        elif type(value) is re.Pattern:
            about["pattern"] = value.pattern, value.flags
        elif (base := mixed_in(value)) is not None or ((base := held_by(value)) is not None and wire.is_plain(base)):
            about["base"] = base
        return wire.Reference(self.number(value), about)

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
            reference.about["missing"] = type(base) is dict and hasattr(type(value), "__missing__")
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
            callback = Callback(self.candidate, reference.id, reference.about["name"])
            rows = reference.about["parameters"]
            self.callbacks[reference.id] = callback if rows is None else function_of(callback, rows)
            self.callback_numbers[id(self.callbacks[reference.id])] = reference.id
        return self.callbacks[reference.id]

    def rename(self, row: tuple) -> tuple:
        """A namedtuple of the other side as one of the notebook's own class, which may have methods."""
        name, fields = type(row).__name__, type(row)._fields
        for cls in list(self.candidate.shell.user_ns.values()):
            if issubclass(type(cls), type) and (cls.__name__, getattr(cls, "_fields", None)) == (name, fields):
                return tuple.__new__(cls, row) if issubclass(cls, tuple) else row
        return row
