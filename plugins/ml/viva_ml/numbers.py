"""Arrays of numbers, from which a library's values are built: NumPy's own types, and bfloat16.

The parts are a NumPy array, which crosses by a codec of Viva's core with its limits, and the name of its type.
"""

from __future__ import annotations

import ml_dtypes
import numpy as np

TYPES = frozenset(
    "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 complex64 complex128".split()
)
BFLOAT16 = "bfloat16"
"""A type that NumPy does not have by itself: it crosses as the integers of its bits."""


def split(array: np.ndarray) -> list | None:
    """The parts of an array; None for one of another type."""
    name = array.dtype.name
    if name == BFLOAT16:
        return [array.view(np.uint16), name]
    return [array, name] if name in TYPES else None


def build(parts: list) -> np.ndarray:
    """The array again. Raises ValueError for parts that do not fit each other."""
    array, name = parts
    if name == BFLOAT16 and array.dtype == np.uint16:
        return array.view(ml_dtypes.bfloat16)
    if name not in TYPES or array.dtype.name != name:
        raise ValueError(f"an array of {array.dtype.name} arrived with another type")
    return array
