"""Sparse columns of pandas as parts. They cross dense: nothing long is made of a message of few bytes."""

from __future__ import annotations

import numpy as np
import pandas as pd

from viva.engine.values.scalars import ForeignError, malformed, numbers

NUMBERS = "biufc"


def take_apart(array) -> list:
    if array.dtype.subtype.kind not in NUMBERS:
        raise ForeignError
    return [np.asarray(array), np.asarray(array.fill_value).item()]


def put_together(cells, fill):
    if type(fill) not in (bool, int, float, complex):
        malformed()
    return pd.arrays.SparseArray(numbers(cells, NUMBERS), fill_value=fill)
