"""A codec: how the values of a type are taken apart for the wire and built again; NumPy's, and the table of all.

``plain`` fills the table, and ``frames`` adds to it once pandas is loaded.
"""

from __future__ import annotations

import contextlib
import functools
import math
import re
import sys
from collections import defaultdict, namedtuple
from collections.abc import Callable
from dataclasses import dataclass
from types import FunctionType, MethodDescriptorType, WrapperDescriptorType
from typing import Any

import numpy as np

from viva.verdict import WireError

# What a class is, whatever its metaclass says.

FIELD = type(vars(namedtuple("Named", "field"))["field"])
METHODS = (FunctionType, property, staticmethod, classmethod, MethodDescriptorType, WrapperDescriptorType, FIELD)
GENERATED = frozenset(
    "__new__ __repr__ __replace__ __getnewargs__ _make _replace _asdict __annotate__ __annotate_func__".split()
)
"""The methods that every namedtuple has, and every class with annotations."""

mro_of, bases_of, namespace_of, flags_of = (
    type.__dict__[name].__get__ for name in ("__mro__", "__bases__", "__dict__", "__flags__")
)
WRITTEN_IN_PYTHON = 1 << 9
"""Py_TPFLAGS_HEAPTYPE: such a class adds nothing to how its base lies in memory but a dictionary and slots, and may
say of itself what it likes."""


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


def place_of(cls: type) -> tuple[str, str]:
    """The module of a class and its name there; ``__main__`` for a class that only says it is a library's."""
    module, name = module_of(cls), qualname_of(cls)
    located: Any = sys.modules.get(module)
    with contextlib.suppress(Exception):  # what a module says to a name that it does not have
        for part in name.split(".") if module != "__main__" else ():  # a name of the tests is not looked up
            located = getattr(located, part, None)
    return module if located is cls or not flags_of(cls) & WRITTEN_IN_PYTHON else "__main__", name


NAMELESS = frozenset({"builtins", "collections", "numpy"})
"""Modules whose classes are their plain value, or are made again of it."""


def own_namespaces(cls: type) -> list:
    """The namespaces of a class that are not the library's: its own, and those of its bases."""
    return [namespace for base in mro_of(cls) if (namespace := namespace_of(base)).get("__module__") == "__main__"]


def has_methods(cls: type) -> bool:
    """Whether a class can do more than the plain type that it derives from: one that is not the library's by a method,
    a library's dict by giving its items as attributes too, as ``scipy.optimize.OptimizeResult`` does."""
    return any(
        isinstance(value, METHODS) and name not in GENERATED
        for namespace in own_namespaces(cls)
        for name, value in namespace.items()
    ) or (dict in mro_of(cls) and any("__getattr__" in namespace_of(base) for base in mro_of(cls)))


def has_names(cls: type) -> bool:
    """Whether a class may give parts of its plain value a name: one that is not the library's, or of a library that
    has its own, as what ``time.gmtime`` and ``urllib.parse.urlparse`` give."""
    return bool(own_namespaces(cls)) or module_of(cls).partition(".")[0] not in NAMELESS


@dataclass(frozen=True)
class Reference:
    """Stands in a message for what cannot cross by value; ``about`` is plain, with str keys."""

    id: int
    about: dict


@dataclass(frozen=True)
class Like:
    """Stands in a message for a ``value`` of a plain type that is a namedtuple or a defaultdict, say, in the candidate.

    ``number`` names an object of that class there: a value that is given back is of this class again.
    """

    number: int
    value: object


class Again:
    """Stands in a message for something changeable that it holds already, as the second row of ``[[0]] * 2``."""


@dataclass(frozen=True, eq=False)
class Codec:
    """How values of some types cross: ``split`` gives the parts of one (None: it cannot), ``build`` the value again.

    ``parts`` are the types that these may have when they arrive; None is any. ``fill`` gives a value the contents of
    another, where values can be changed in place. ``size`` says how many entries a value has, where it can be empty.
    ``shared`` says whether a value is shared now instead of copied (``values/sharing``): student code may ask an
    argument to record its gradient. ``array`` gives the NumPy array that has the memory of a value, or None.
    """

    types: tuple
    split: Callable
    build: Callable
    parts: frozenset | None = None
    fill: Callable[[Any, Any], object] | None = None
    size: Callable[[Any], int] | None = None
    shared: Callable[[Any], bool] | None = None
    array: Callable[[Any], Any] | None = None


CODEC_OF: dict[Any, Codec] = {}
"""By type. A type that is not there may be plain all the same, if it derives
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


# --- NumPy arrays and scalars as parts: the name of their dtype, their bytes, their shape

# Arrays of bool, integers, floats, complex numbers, fixed-width str and bytes, datetime64 and timedelta64 are plain;
# arrays of objects and of records, and masked arrays, are not. Any other subclass is read through ``numpy.ndarray``.
# What arrives is checked before anything is allocated for it, and copied.


BYTES = 128 * 2**20  # of an array, and of a message
DIMENSIONS = 32
EMPTY = 2_000_000  # the product of the other lengths of an array that holds nothing
DTYPE = re.compile(
    r"""
    [<>|] (?: [biufcSU] \d{1,9}
          | [mM]8 (?: \[ (?:[1-9]\d{0,8})? [A-Za-zμ]{1,7} \] )? )    # dates, with their unit as in [25s]
    """,
    re.VERBOSE,
)
ORDER = re.compile(r"[a-z]*")
"""The axes of an array by how they lie in memory, before the name of its type; none in C order. NumPy adds in the order
of the memory: a sum over a transposed array is another in its last bits."""
AXES = "abcdefghijklmnopqrstuvwxyz"
NUMBERS = "?bhilqBHILQefdgFDGmM"
SCALARS = tuple({np.dtype(char).type for char in NUMBERS})
X87 = np.finfo(np.longdouble).nmant == 63  # ten bytes, and padding up to the item size


def split_array(value) -> list | None:
    """The parts of an array; None when its type cannot cross."""
    array = value if type(value) is np.ndarray else np.ndarray.view(value, np.ndarray)
    dtype, shape = array.dtype, array.shape
    if dtype.char not in NUMBERS + "SU" or (dtype.char in "gG" and not dtype.isnative):
        return None
    if array.nbytes > BYTES:  # before tobytes: a broadcast array can claim any size
        raise WireError(f"an array of shape {shape} is larger than {BYTES} bytes")
    _check_shape(shape, array.nbytes)
    order = _order(array)
    data = array.transpose([AXES.index(axis) for axis in order]).tobytes() if order else array.tobytes()
    return [order + dtype.str, _blank(data) if dtype.char in "gG" else data, *shape]


def _order(array: np.ndarray) -> str:
    """The letters of an array's axes, the one with the largest steps first; none for an array in C order."""
    if array.flags.c_contiguous or not array.size or array.ndim > len(AXES):
        return ""
    steps = [-abs(step) if length > 1 else 0 for step, length in zip(array.strides, array.shape, strict=True)]
    axes = sorted(range(array.ndim), key=steps.__getitem__)
    return "" if axes == sorted(axes) else "".join(AXES[axis] for axis in axes)


def split_scalar(value) -> list:
    """The parts of a NumPy number or date."""
    dtype, data = np.generic.dtype.__get__(value), np.generic.tobytes(value)
    return [dtype.str, _blank(data) if dtype.char in "gG" else data]


def build_array(parts: list) -> np.ndarray:
    """A new array, writable and without gaps; WireError when the parts do not fit each other."""
    name, data, *shape = parts
    order = ORDER.match(name)[0]  # type: ignore[index]  # it matches nothing, too
    dtype = _dtype(name[len(order) :])
    _check_shape(shape, len(data))
    if math.prod(shape) * dtype.itemsize != len(data):
        raise WireError(f"a message holds {len(data)} bytes for an array of another size")
    if dtype.char in "?UgG" and data:
        _check_bits(dtype, data)
    if not order:
        return np.ndarray(shape, dtype, data).copy()
    if sorted(order) != [*AXES[: len(shape)]]:
        raise WireError("a message holds an array with an axis order that is not valid")
    axes = [AXES.index(axis) for axis in order]
    stored = np.ndarray([shape[axis] for axis in axes], dtype, data)
    return stored.transpose(np.argsort(axes)).copy(order="K")


def build_scalar(parts: list) -> Any:
    """A scalar of the same dtype."""
    name, data = parts
    return build_array([name, data])[()]


def _check_shape(shape, size: int) -> None:
    if len(shape) > DIMENSIONS:
        raise WireError(f"an array of {len(shape)} dimensions cannot be sent; the limit is {DIMENSIONS}")
    if not size and math.prod(length or 1 for length in shape) > EMPTY:
        raise WireError("an empty array has dimensions too large to be sent")


@functools.lru_cache(256)
def _dtype(name: str) -> np.dtype:
    dtype = np.dtype(name) if DTYPE.fullmatch(name) else None
    if dtype is None or dtype.char not in NUMBERS + "SU" or (dtype.char in "gG" and not dtype.isnative):
        raise WireError("a message holds an array of a type that cannot be sent")
    return dtype


def _check_bits(dtype: np.dtype, data: bytes) -> None:
    """Refuse items that no computation gives: NumPy would not fail on them, but act strangely later."""
    wrong: Any
    if dtype.char == "?":
        wrong = data.translate(None, b"\0\1")
    elif dtype.char == "U":
        wrong = np.frombuffer(data, dtype.str[0] + "u4").max() > sys.maxunicode
    else:
        words = np.frombuffer(data, np.uint16).reshape(-1, np.longdouble().itemsize // 2)
        wrong = X87 and ((words[:, 3] >> 15 == 0) != (words[:, 4] & 0x7FFF == 0)).any()
    if wrong:
        raise WireError(f"a message holds bytes that are not valid {dtype.name}")


def _blank(data: bytes) -> bytes:
    """A long double without what memory happened to hold in its padding."""
    items = np.frombuffer(data, np.uint8).reshape(-1, np.longdouble().itemsize).copy()
    items[:, 10 if X87 else items.shape[1] :] = 0
    return items.tobytes()
