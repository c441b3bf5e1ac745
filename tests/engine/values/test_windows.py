"""Arrays that look into the memory of another."""

from __future__ import annotations

import numpy as np
import pytest

from viva.engine.values.windows import window, window_of

WAYS = {
    "every other": lambda a: a[::2],
    "backwards": lambda a: a[::-1],
    "turned": lambda a: a.T,
    "a column": lambda a: a[:, 1],
    "in another shape": lambda a: a.reshape(-1)[3:],
    "moving": lambda a: np.lib.stride_tricks.sliding_window_view(a.reshape(-1), 4),
    "repeated": lambda a: np.broadcast_to(a[0], (2, *a[0].shape)),
}


@pytest.mark.parametrize("way", WAYS)
def test_what_looks_into_an_array_does_so_in_its_copy(way):
    array = np.arange(12.0).reshape(4, 3)
    offset, strides = window_of(WAYS[way](array), array)
    copy = array.copy()
    seen = window(copy, offset, strides, WAYS[way](array).copy())
    copy[:] = -1
    assert (seen == -1).all()


@pytest.mark.parametrize(
    "way", [lambda a: a[::2].copy(), lambda a: a.view(np.int64), lambda a: a.base, lambda a: a[:0]]
)
def test_what_does_not_is_left_alone(way):
    array = np.arange(6.0)[1:5]
    assert window_of(way(array), array) is None


def test_what_looks_at_the_whole_is_the_array_itself():
    array = np.arange(4.0)
    copy = array.copy()
    assert window(copy, *window_of(array[:], array), array.copy()) is copy
    assert window(copy, 0, copy.strides, array + 1) is None


@pytest.mark.parametrize(
    ("offset", "strides"),
    [(-8, (8,)), (8, (8,)), (0, (16,)), (2**70, (8,)), (0, (2**70,)), ("x", (8,)), (0, (8, 8)), (0, (0,))],
)
def test_no_lie_looks_beyond_an_array(offset, strides):
    assert window(np.arange(4.0), offset, strides, np.array([0.0, 1.0, 2.0, 3.0])) is None
