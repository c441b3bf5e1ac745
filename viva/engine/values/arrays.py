"""NumPy arrays and scalars as parts: the name of their dtype, their bytes, their shape.

Arrays of bool, integers, floats, complex numbers, fixed-width str and bytes, datetime64 and
timedelta64 are plain; arrays of objects and of records, and masked arrays, are not. Any other subclass
is read through ``numpy.ndarray``. What arrives is checked before anything is allocated for it, and copied.
"""

from __future__ import annotations

import functools
import math
import re
import sys
from typing import Any

import numpy as np

from viva.verdict import WireError

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
    data = array.tobytes()
    return [dtype.str, _blank(data) if dtype.char in "gG" else data, *shape]


def split_scalar(value) -> list:
    """The parts of a NumPy number or date."""
    dtype, data = np.generic.dtype.__get__(value), np.generic.tobytes(value)
    return [dtype.str, _blank(data) if dtype.char in "gG" else data]


def build_array(parts: list) -> np.ndarray:
    """A new array, writable and in C order; WireError when the parts do not fit each other."""
    name, data, *shape = parts
    dtype = _dtype(name)
    _check_shape(shape, len(data))
    if math.prod(shape) * dtype.itemsize != len(data):
        raise WireError(f"a message holds {len(data)} bytes for an array of another size")
    if dtype.char in "?UgG" and data:
        _check_bits(dtype, data)
    return np.ndarray(shape, dtype, data).copy()


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
