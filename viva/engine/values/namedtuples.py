"""Namedtuples: rows whose fields have names. Their classes are made up here, from names that were checked."""

from __future__ import annotations

import functools
import keyword
import unicodedata
from collections import namedtuple

from viva.engine.values.classes import bases_of, mro_of, name_of, namespace_of
from viva.verdict import WireError

FIELDS = 255  # of a namedtuple, and letters of each of their names


def _proper(names: tuple) -> bool:
    """Whether a namedtuple may have fields of these names."""
    if len(names) > FIELDS or any(type(name) is not str or len(name) > FIELDS for name in names):
        return False
    plain = all(unicodedata.is_normalized("NFKC", name) for name in names)  # Python's parser would change others
    return plain and not any(name[:1] == "_" or not name.isidentifier() or keyword.iskeyword(name) for name in names)


def fields_of(value) -> tuple | None:
    """The field names of a namedtuple, or of a value of a subclass of one."""
    for cls in mro_of(type(value)):
        names = namespace_of(cls).get("_fields") if bases_of(cls) == (tuple,) else None
        if type(names) is tuple and len(names) == tuple.__len__(value) and _proper(names):
            return names
    return None


def split_named(value) -> list:
    name, names = name_of(type(value)), fields_of(value)
    return [name if _proper((name,)) else "Row", names, *tuple.__iter__(value)]


def build_named(parts: list) -> tuple:
    name, names, *values = parts
    if type(names) is not tuple or not _proper((name, *names)) or len(names) != len(values):
        raise WireError("a message holds a malformed namedtuple")
    return _named_class(name, names)._make(values)


@functools.lru_cache(256)
def _named_class(name: str, names: tuple) -> type:
    return namedtuple(name, names, module=__name__)
