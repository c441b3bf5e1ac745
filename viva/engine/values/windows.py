"""Arrays that look into the memory of another: ``a[::2]``, ``a.T``, where a copy may have been asked for."""

from __future__ import annotations

import numpy as np


def window_of(value: object, places: dict) -> tuple | None:
    """Into which of the arrays at ``places`` an array looks: the place, how far behind its begin, and the strides."""
    if type(value) is not np.ndarray or value.dtype.hasobject or value.base is None:
        return None
    for place, array in places.items():
        alike = type(array) is np.ndarray and array is not value and array.dtype == value.dtype
        if alike and _owner(array) is _owner(value) and array.flags.c_contiguous:
            return place, _address(value) - _address(array), value.strides
    return None


def window(array: object, offset: object, strides: object, value: object) -> np.ndarray | None:
    """What looks into ``array`` that way and shows ``value``; None when nothing does. It stays within the array."""
    if not (type(array) is type(value) is np.ndarray and array.dtype == value.dtype and array.flags.c_contiguous):
        return None
    try:
        found = np.ndarray(value.shape, value.dtype, array, offset, strides)
    except (TypeError, ValueError, OverflowError):
        return None
    return found if found.tobytes() == value.tobytes() else None


def _owner(array: np.ndarray) -> np.ndarray:
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array


def _address(array: np.ndarray) -> int:
    return array.__array_interface__["data"][0]
