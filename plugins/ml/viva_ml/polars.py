"""polars: data frames and series of numbers, texts, dates, categories, and lists of these.

A series crosses as its name, its type, its values and which of them are there. Columns of structs, of objects or with a
time zone do not cross, and lazy frames and expressions stay where they are.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
from polars.exceptions import PanicException

from viva.engine.values.codec import Codec

NUMBERS = {
    str(kind): kind
    for kind in (
        *(pl.Boolean, pl.Int8, pl.Int16, pl.Int32, pl.Int64, pl.UInt8, pl.UInt16, pl.UInt32, pl.UInt64),
        *(pl.Float32, pl.Float64),
    )
}
TIMES = {
    str(kind): kind
    for kind in (
        pl.Date(),
        pl.Time(),
        *(maker(unit) for maker in (pl.Datetime, pl.Duration) for unit in ("ms", "us", "ns")),
    )
}
"""Types of dates and times; they cross as the integers that polars keeps."""
TEXTS = {str(kind): kind for kind in (pl.String, pl.Binary, pl.Null)}
CATEGORICAL = str(pl.Categorical())
PLAIN = NUMBERS | TEXTS
LEVELS = 8
"""How deep lists may be nested."""


def kind_of(name: str) -> Any:
    """The type of a list's items, of some levels, by name. Raises KeyError for one that does not cross."""
    level = 0
    while level < LEVELS and name.startswith("List("):
        name, level = name[5:-1], level + 1
    kind: Any = PLAIN[name]
    for _ in range(level):
        kind = pl.List(kind)
    return kind


def split_series(series: pl.Series) -> list | None:
    """The parts of a series: name, type, values, and for numbers which of them are there (None: all)."""
    kind = str(series.dtype)
    if kind in NUMBERS or kind in TIMES:
        numbers = series.to_physical()
        there = series.is_not_null().to_numpy() if series.null_count() else None
        return [series.name, kind, np.array(numbers.fill_null(False if kind == "Boolean" else 0).to_numpy()), there]
    if kind == CATEGORICAL:
        return [series.name, kind, series.cast(pl.String).to_list(), None]
    try:
        kind_of(kind)
    except KeyError:
        return None
    return [series.name, kind, series.to_list(), None]


def _built(build: Callable) -> Callable:
    def built(parts: list) -> Any:
        try:
            return build(parts)
        except PanicException as error:  # no Exception: it would look like the grader's own fault
            raise ValueError("polars cannot make a column from it") from error

    return built


def build_series(parts: list) -> pl.Series:
    """A new series. Raises an Exception for parts that do not fit each other."""
    name, kind, values, there = parts
    if type(name) is not str or type(kind) is not str:
        raise ValueError("the name or the type of a series is not a text")
    if kind in NUMBERS or kind in TIMES:
        series = _numbers(name, kind, values)
        if there is not None:
            if type(there) is not np.ndarray or there.dtype != bool or there.shape != values.shape:
                raise ValueError("a series has more or fewer values than rows")
            series = series.set(~pl.Series(there), None)
    elif type(values) is not list or there is not None:
        raise ValueError("the values of a series are not a list")
    elif kind == CATEGORICAL:
        series = pl.Series(name, values, pl.String).cast(pl.Categorical)
    else:
        series = pl.Series(name, values, kind_of(kind))
    if str(series.dtype) != kind or len(series) != len(values):
        raise ValueError(f"a series of {kind[:100]} arrived as one of {series.dtype}")
    return series


def _numbers(name: str, kind: str, values: object) -> pl.Series:
    wanted = NUMBERS.get(kind) or (pl.Int32 if kind == "Date" else pl.Int64)
    if type(values) is not np.ndarray or values.ndim != 1 or not values.dtype.isnative:
        raise ValueError("the values of a series are not an array of one dimension")
    series = pl.Series(name, values)
    if series.dtype != wanted:
        raise ValueError(f"the values of a series are of type {series.dtype}, not {wanted}")
    if kind == "Time" and len(values) and not (values.min() >= 0 and values.max() < 86_400 * 10**9):
        raise ValueError("a time is not between 0:00 and 24:00")
    return series if kind in NUMBERS else series.cast(TIMES[kind])


def split_frame(frame: pl.DataFrame) -> list | None:
    """The parts of a frame are those of its columns, one list each."""
    columns = [split_series(series) for series in frame.get_columns()]
    return None if None in columns else columns


def build_frame(parts: list) -> pl.DataFrame:
    """A new frame. Raises an Exception for columns of two names or lengths."""
    columns = [build_series(part) for part in parts]
    if len({series.name for series in columns}) != len(columns) or len({*map(len, columns)}) > 1:
        raise ValueError("the columns of a frame have different lengths")
    return pl.DataFrame(columns)


CODECS = (
    Codec((pl.Series,), split_series, _built(build_series)),
    Codec((pl.DataFrame,), split_frame, _built(build_frame), frozenset((list,))),
)
