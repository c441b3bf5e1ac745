"""A codec: how the values of a type are taken apart for the wire and built again; the table of all of them.

``plain`` fills the table, and ``frames`` adds to it once pandas is loaded.
"""

from __future__ import annotations

import datetime as dt
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from types import FunctionType, MethodDescriptorType, NoneType, WrapperDescriptorType
from typing import Any

from viva.verdict import WireError

# What a class is, whatever its metaclass says.

METHODS = (FunctionType, property, staticmethod, classmethod, MethodDescriptorType, WrapperDescriptorType)
GENERATED = frozenset(
    "__new__ __repr__ __replace__ __getnewargs__ _make _replace _asdict __annotate__ __annotate_func__".split()
)
"""The methods that every namedtuple has, and every class with annotations."""

mro_of, bases_of, namespace_of = (type.__dict__[name].__get__ for name in ("__mro__", "__bases__", "__dict__"))


def name_of(cls: type) -> str:
    """The name of a class."""
    return str.__str__(type.__dict__["__name__"].__get__(cls))


def module_of(cls: type) -> str:
    """The name of the module of a class; empty where a student has put something else in its place."""
    module = type.__dict__["__module__"].__get__(cls)
    return module if type(module) is str else ""


def qualname_of(cls: type) -> str:
    """The name of a class with those of the classes around it."""
    return str.__str__(type.__dict__["__qualname__"].__get__(cls))


def own_namespaces(cls: type) -> list:
    """What a class has that is not the library's, from itself and from those it derives from."""
    return [own for base in mro_of(cls) if (own := namespace_of(base)).get("__module__") == "__main__"]


def has_methods(cls: type) -> bool:
    """Whether a class that is not the library's can do more than the plain type that it derives from."""
    return any(
        isinstance(value, METHODS) and name not in GENERATED
        for namespace in own_namespaces(cls)
        for name, value in namespace.items()
    )


ZONES = (NoneType, dt.timezone)


@dataclass(frozen=True)
class Reference:
    """Stands in a message for what cannot cross by value; ``about`` is plain, with str keys."""

    id: int
    about: dict


class Again:
    """Stands in a message for something changeable that it holds already, as the second row of ``[[0]] * 2``."""


@dataclass(frozen=True, eq=False)
class Codec:
    """How values of some types cross: ``split`` gives the parts of one (None: it cannot), ``build`` the value again.

    ``parts`` are the types that these may have when they arrive; None is any.
    """

    types: tuple
    split: Callable
    build: Callable
    parts: frozenset | None = None


CODEC_OF: dict[Any, Codec] = {}
"""By type, and by ``namedtuple`` for its classes. A type that is not there may be plain all the same, if it derives
from one that is (``plain.codec_of``)."""


# --- keys of a dict or a set that were made up to share a hash


TWINS = 64  # keys of one dict or set that share a hash, and comparisons for each item in them


def check_keys(keys: list) -> None:
    """Refuse keys that were made up to share a hash: to tell them apart can cost quadratic time."""
    if len(set(map(hash, keys))) == len(keys):
        return
    for twins in _twins(keys):
        sizes, costs = zip(*map(_effort, twins), strict=True)
        if len(twins) * sum(costs) > TWINS * sum(sizes):
            raise WireError(f"a message holds more than {TWINS} keys of one hash, or sets of such keys")


def _twins(keys) -> list[list]:
    """The keys by their hash."""
    groups = defaultdict(list)
    for key in keys:
        groups[hash(key)].append(key)
    return list(groups.values())


def _effort(key) -> tuple[int, int]:
    """How many items a key holds, and how many comparisons it may take to tell it from a twin.

    A frozenset seeks each of its items in the other one, among all that share its hash, and so on:
    two megabytes of such sets, eight levels deep, kept a core busy for 80 seconds.
    """
    if type(key) is frozenset:
        groups = [(len(twins), _effort(twin)) for twins in _twins(key) for twin in twins]
        return 1 + sum(size for _, (size, _) in groups), 1 + sum(count * cost for count, (_, cost) in groups)
    if isinstance(key, tuple):
        efforts = [*map(_effort, key)]
        return 1 + sum(size for size, _ in efforts), 1 + sum(cost for _, cost in efforts)
    return 1, 1
