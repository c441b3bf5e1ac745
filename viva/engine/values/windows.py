"""Arrays that look into the memory of another: ``a[::2]``, ``a.T``, where a copy may have been asked for."""

from __future__ import annotations

import numpy as np
from numpy.lib.array_utils import byte_bounds

BASES = 8
"""So many steps lead from an array to what its memory belongs to; NumPy makes one or two."""


def memory_of(array: np.ndarray) -> int:
    """What an array and all that look into it have in common: id() of what the memory belongs to."""
    owner = array
    for _ in range(BASES):
        if (base := getattr(owner, "base", None)) is None:
            break
        owner = base
    return id(owner)


def window_of(value: np.ndarray, array: np.ndarray) -> tuple | None:
    """Where an array looks into another: how far behind its begin, and the strides; None where it does not."""
    if not np.may_share_memory(value, array) or array.dtype != value.dtype or not array.flags.c_contiguous:
        return None
    (begin, end), (first, last) = byte_bounds(value), byte_bounds(array)
    return (_address(value) - first, value.strides) if first <= begin and end <= last else None


def window(array: object, offset: object, strides: object, value: object) -> np.ndarray | None:
    """What looks into ``array`` that way and shows ``value``; None when nothing does. It stays within the array."""
    if not (type(array) is type(value) is np.ndarray and array.dtype == value.dtype and array.flags.c_contiguous):
        return None
    if not offset and (strides, value.shape) == (array.strides, array.shape):
        return array if array.tobytes() == value.tobytes() else None
    try:
        found = np.ndarray(value.shape, value.dtype, array, offset, strides)
    except (TypeError, ValueError, OverflowError):
        return None
    return found if found.tobytes() == value.tobytes() else None


def _address(array: np.ndarray) -> int:
    return array.__array_interface__["data"][0]
