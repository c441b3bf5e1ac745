"""What stands in a pandas object by itself: a cell of an object column, a label, a name."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from fractions import Fraction
from types import NoneType
from typing import NoReturn

import numpy as np
import pandas as pd

from viva.engine.values import arrays
from viva.engine.values.codec import CODEC_OF
from viva.verdict import WireError

DATES = (dt.date, dt.datetime, dt.time, dt.timedelta, pd.Timestamp, pd.Timedelta, type(pd.NaT))
PYTHON = (NoneType, bool, int, float, complex, str, bytes, Decimal, Fraction, type(pd.NA))
CELLS = frozenset((*PYTHON, *DATES, *arrays.SCALARS, np.str_, np.bytes_))
"""What an object column may hold, and a label or a name be."""
HELD = frozenset((list, tuple, set, frozenset, dict, np.ndarray))
"""What an object column may hold of these as well, as the words of each text."""


class ForeignError(Exception):
    """Some part of an object cannot cross."""


def malformed() -> NoReturn:
    """Refuse what was made up."""
    raise WireError("a message holds a malformed pandas object")


def want(value, *types: type):
    """The value, when it is of one of these types."""
    return value if type(value) in types else malformed()


def numbers(array, letters: str, dimensions: int = 1) -> np.ndarray:
    """The array, when its dtype is of one of these kinds."""
    fits = type(array) is np.ndarray and array.dtype.kind in letters and array.ndim == dimensions
    return array if fits else malformed()


def crossing(cells: list) -> list:
    """The cells, when all can cross."""
    for cell in cells:
        codec = CODEC_OF.get(type(cell))
        if type(cell) not in CELLS or (codec and codec.split(cell) is None):
            raise ForeignError
    return cells


def in_column(cells: list, levels: int = 20) -> list:
    """The cells of an object column, when all can cross."""
    if HELD.isdisjoint(map(type, cells)):
        return crossing(cells)
    if not levels:
        raise ForeignError
    crossing([cell for cell in cells if type(cell) not in HELD])
    for cell in cells:
        if type(cell) is np.ndarray:
            if arrays.split_array(cell) is None:
                raise ForeignError
        elif type(cell) in HELD:
            in_column([*cell, *cell.values()] if type(cell) is dict else [*cell], levels - 1)
    return cells


def object_column(cells) -> np.ndarray:
    """A column of cells that may have been made up."""
    try:
        in_column(want(cells, list))  # and what is in lists there: a pandas array would equal anything
    except ForeignError:
        malformed()
    array = np.empty(len(cells), object)
    if HELD.isdisjoint(map(type, cells)):
        array[:] = cells
    else:
        for place, cell in enumerate(cells):  # all at once NumPy would take lists for rows
            array[place] = cell
    return array


def split_label(label):
    """A label, when it can cross."""
    return tuple(crossing(list(label))) if type(label) is tuple else crossing([label])[0]


def checked_label(label):
    """A label that may have been made up."""
    return label if set(map(type, label if type(label) is tuple else (label,))) <= CELLS else malformed()
