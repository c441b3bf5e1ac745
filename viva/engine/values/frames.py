"""pandas objects as parts: frames, series, indexes, and the contents of their columns.

The first part is the name of a row of TABLE, which says how such an object is taken apart and put
together; an index, and a column that is not a NumPy array, is a nested list of the same form. Columns
of NumPy's types, strings, categories, nullable numbers, periods and intervals cross, sparse ones as dense ones, and
object columns that hold only scalars, or lists and the like of them. Anything else (objects of a student's class, time
zones, columns of Arrow) makes an object of the whole that cannot cross. The attributes
and flags of a frame stay behind, and the calendar step of an index of more than STEPS dates.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from types import NoneType
from typing import Any, NoReturn

import numpy as np
import pandas as pd
from pandas.tseries.frequencies import to_offset

from viva.engine.values.codec import CODEC_OF, SCALARS, check_keys, split_array
from viva.verdict import WireError

# --- what stands in a pandas object by itself: a cell of an object column, a label, a name


DATES = (dt.date, dt.datetime, dt.time, dt.timedelta, pd.Timestamp, pd.Timedelta, pd.Period, pd.Interval, type(pd.NaT))
PYTHON = (NoneType, bool, int, float, complex, str, bytes, Decimal, Fraction, type(pd.NA))
CELLS = frozenset((*PYTHON, *DATES, *SCALARS, np.str_, np.bytes_))
"""The types of the values of an object column, of labels and of names."""
HELD = frozenset((list, tuple, set, frozenset, dict, np.ndarray))
"""More types of the values of an object column, as lists with the words of a text."""


class ForeignError(Exception):
    """Some part of an object cannot cross."""


def malformed() -> NoReturn:
    """Refuse what was made up."""
    raise WireError("a message has a pandas object that is not valid")


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
            if split_array(cell) is None:
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
    return np.fromiter(cells, object, len(cells))  # which takes no list for a row


def split_label(label):
    """A label, when it can cross."""
    return tuple(crossing(list(label))) if type(label) is tuple else crossing([label])[0]


def checked_label(label):
    """A label that may have been made up."""
    return label if set(map(type, label if type(label) is tuple else (label,))) <= CELLS else malformed()


# --- pandas objects


RANGE = 64 * 2**20  # the longest RangeIndex
LEVEL = 100_000  # the most categories, or labels in a level
UNSORTED = 10_000  # of those, when pandas must hash them to see that none comes twice: its hash can be attacked
STEPS = 10_000  # the longest index with a calendar step, such as weeks; pandas checks these one by one
FREQUENCY = re.compile(r"-?\d{0,9}[A-Za-z]{1,10}(?:-[A-Z]{3})?")
NUMERIC = "biufcmM"
MASKED = {
    "b": pd.arrays.BooleanArray,
    "i": pd.arrays.IntegerArray,
    "u": pd.arrays.IntegerArray,
    "f": pd.arrays.FloatingArray,
}
DATED = (pd.DatetimeIndex, pd.TimedeltaIndex)
INDEXES = (pd.Index, *DATED, pd.CategoricalIndex, pd.PeriodIndex, pd.IntervalIndex)


def take_apart(value) -> list | None:
    """The parts of a pandas object; None when it cannot cross."""
    try:
        return _split(value)
    except ForeignError:
        return None


def put_together(parts: list):
    """The pandas object of these parts; raises anything when they are malformed."""
    value = _build(parts)
    return value if type(value) is not np.ndarray else malformed()  # an object column alone


def _build(parts: list):
    _, build = TABLE[want(parts, list)[0]]
    return build(*parts[1:])


def _split(value) -> list:
    name = next(TYPES[base] for base in type.__dict__["__mro__"].__get__(type(value)) if base in TYPES)
    split, _ = TABLE[name]
    return [name, *split(value)]


# --- columns


def _split_cells(array) -> np.ndarray | list:
    """The cells of a column or an index: a NumPy array, or the parts of another kind of array."""
    if type(array) is pd.arrays.NumpyExtensionArray or isinstance(array.dtype, np.dtype):
        cells = array.to_numpy()
        return cells if cells.dtype.kind in NUMERIC else ["objects", in_column(cells.tolist())]
    if type(array) is pd.arrays.SparseArray:
        return _split_cells(pd.Series(np.asarray(array)).array)
    if type(array) not in COLUMNS:
        raise ForeignError
    return _split(array)


def _build_cells(parts):
    if type(parts) is list:
        array = _build(parts)
        return array if type(array) in COLUMNS or type(array) is np.ndarray else malformed()
    return numbers(parts, NUMERIC)


def _split_strings(array) -> list:
    dtype, cells = array.dtype, array.to_numpy(object, na_value=None).tolist()
    if not set(map(type, cells)) <= {str, NoneType}:
        raise ForeignError
    return [dtype.storage, dtype.na_value is pd.NA, cells]


def _strings(storage, nullable, cells):
    if storage not in ("python", "pyarrow") or not set(map(type, want(cells, list))) <= {str, NoneType}:
        malformed()
    return pd.array(cells, dtype=pd.StringDtype(storage, na_value=pd.NA if nullable is True else np.nan))


def _masked(data, mask):
    return MASKED[numbers(data, "biuf").dtype.kind](data, numbers(mask, "b"))


def _split_categories(array) -> list:
    return [array.codes, _split_level(array.categories), array.ordered]


def _categories(codes, categories, ordered):
    dtype = pd.CategoricalDtype(_level(categories), want(ordered, bool))
    return pd.Categorical.from_codes(numbers(codes, "i"), dtype=dtype)


def _split_periods(array) -> list:
    return [array.asi8, str(array.dtype).removeprefix("period[").removesuffix("]")]


def _periods(ordinals, name):
    return pd.arrays.PeriodArray(numbers(ordinals, "i"), dtype=_length_of_period(name))


def _length_of_period(name) -> pd.PeriodDtype:
    """The length of the periods, such as a month, of a name that may have been made up."""
    return pd.PeriodDtype(name) if FREQUENCY.fullmatch(want(name, str)) else malformed()


def _split_intervals(array) -> list:
    return [_split_cells(array.left.array), _split_cells(array.right.array), array.closed]


def _intervals(left, right, closed):
    ends = [numbers(end, NUMERIC) for end in (left, right)]
    return pd.arrays.IntervalArray.from_arrays(*ends, closed=want(closed, str))


def _split_period(value) -> list:
    return [value.ordinal, value.freqstr]


def _period(ordinal, name):
    return pd.Period(ordinal=want(ordinal, int), freq=_length_of_period(name).freq)


def _split_interval(value) -> list:
    return [*crossing([value.left, value.right]), value.closed]


def _interval(left, right, closed):
    ends = (int, float, pd.Timestamp, pd.Timedelta, *SCALARS)
    return pd.Interval(want(left, *ends), want(right, *ends), want(closed, str))


def _split_stamp(value) -> list:
    if dt.datetime.tzinfo.__get__(value) is not None:
        raise ForeignError
    return [pd.Timestamp.to_datetime64(value)]


# --- indexes, series and frames


def _split_index(index) -> list:
    if type(index) not in INDEXES:
        raise ForeignError
    step = index.freq if type(index) in DATED else None
    name = step.freqstr if step is not None and _is_step(step.freqstr, len(index)) else None
    return [split_label(index.name), name if name and to_offset(name) == step else None, _split_cells(index.array)]


def _is_step(name: str, length: int) -> bool:
    even = (pd.offsets.Tick, pd.offsets.Day)
    return bool(FREQUENCY.fullmatch(name)) and (length <= STEPS or isinstance(to_offset(name), even))


def _index(name, step, cells):
    cells = _build_cells(cells)
    if cells.dtype == object:
        check_keys(list(cells))
    index = pd.Index(cells, dtype=cells.dtype, name=checked_label(name))
    if step is not None:
        if not _is_step(step, len(index)) or type(index) not in DATED:
            malformed()
        index.freq = step
    return index


def _split_range(index) -> list:
    return [index.start, index.stop, index.step, split_label(index.name)]


def _range(start, stop, step, name):
    steps = range(*(want(number, int) for number in (start, stop, step)))
    return pd.RangeIndex(steps, name=checked_label(name)) if len(steps) <= RANGE else malformed()


def _is_level(index) -> bool:
    """Whether the labels are few enough for a level, or categories."""
    if isinstance(index, pd.MultiIndex) or len(index) > LEVEL:
        return False
    if len(index) <= UNSORTED or isinstance(index, pd.RangeIndex) or isinstance(index.dtype, pd.StringDtype):
        return True
    labels = index.to_numpy()
    ascending = labels.dtype.kind in NUMERIC and bool((labels[1:] > labels[:-1]).all())
    return ascending and index.is_monotonic_increasing  # pandas remembers that, and does not hash


def _split_level(index) -> list:
    if not _is_level(index):
        raise ForeignError
    return _split(index)


def _level(parts):
    index = _any_index(parts)
    return index if _is_level(index) else malformed()


def _split_multi(index) -> list:
    levels = [_split_level(level) for level in index.levels]
    return [[split_label(name) for name in index.names], levels, [np.asarray(codes) for codes in index.codes]]


def _multi(names, levels, codes):
    levels = [_level(level) for level in want(levels, list)]
    codes = [numbers(code, "i") for code in want(codes, list)]
    return pd.MultiIndex(levels, codes, names=[checked_label(name) for name in want(names, list)])


def _any_index(parts):
    index = _build(parts)
    return index if isinstance(index, pd.Index) else malformed()


def _base(cls: Any, value):
    """A frame or series without its subclass."""
    manager = object.__getattribute__(value, "_mgr")
    return value if type(value) is cls else cls._from_mgr(manager, manager.axes)


def _split_series(value) -> list:
    series = _base(pd.Series, value)
    name = object.__getattribute__(value, "_name")
    return [split_label(name), _split(series.index), _split_cells(series.array)]


def _series(name, index, cells):
    cells = _build_cells(cells)
    return pd.Series(cells, index=_any_index(index), dtype=cells.dtype, name=checked_label(name))


def _split_frame(value) -> list:
    frame = _base(pd.DataFrame, value)
    types = set(frame.dtypes)
    if len(types) == 1 and getattr(types.pop(), "kind", "O") in NUMERIC and isinstance(frame.dtypes.iloc[0], np.dtype):
        cells = frame.to_numpy()
    else:
        cells = [_split_cells(frame.iloc[:, column].array) for column in range(frame.shape[1])]
    return [_split(frame.columns), _split(frame.index), cells]


def _frame(columns, index, cells):
    columns, index = _any_index(columns), _any_index(index)
    if type(cells) is not list:
        return pd.DataFrame(numbers(cells, NUMERIC, 2), index=index, columns=columns)
    arrays = enumerate(map(_build_cells, cells))
    frame = pd.DataFrame({column: pd.Series(array, index=index, dtype=array.dtype) for column, array in arrays}, index)
    frame.columns = columns
    return frame


TABLE: dict[str, tuple[Any, Callable]] = {
    "frame": (_split_frame, _frame),
    "series": (_split_series, _series),
    "index": (_split_index, _index),
    "range": (_split_range, _range),
    "multi": (_split_multi, _multi),
    "objects": (None, object_column),
    "strings": (_split_strings, _strings),
    "masked": (lambda array: [array._data, array._mask], _masked),
    "categories": (_split_categories, _categories),
    "stamp": (_split_stamp, lambda utc: pd.Timestamp(want(utc, np.datetime64))),
    "delta": (
        lambda value: [pd.Timedelta.to_timedelta64(value)],
        lambda step: pd.Timedelta(want(step, np.timedelta64)),
    ),
    "periods": (_split_periods, _periods),
    "intervals": (_split_intervals, _intervals),
    "period": (_split_period, _period),
    "interval": (_split_interval, _interval),
    "NaT": (lambda value: [], lambda: pd.NaT),
    "NA": (lambda value: [], lambda: pd.NA),
}
COLUMNS = {
    type(pd.array(["a"], dtype="str")): "strings",
    type(pd.array(["a"], dtype="string")): "strings",
    **dict.fromkeys(MASKED.values(), "masked"),
    pd.Categorical: "categories",
    pd.arrays.PeriodArray: "periods",
    pd.arrays.IntervalArray: "intervals",
}
TYPES = {
    pd.DataFrame: "frame",
    pd.Series: "series",
    pd.Index: "index",
    pd.RangeIndex: "range",
    pd.MultiIndex: "multi",
    **COLUMNS,
    pd.Timestamp: "stamp",
    pd.Timedelta: "delta",
    pd.Period: "period",
    pd.Interval: "interval",
    type(pd.NaT): "NaT",
    type(pd.NA): "NA",
}
