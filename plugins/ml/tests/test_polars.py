"""Frames and series of polars cross with the types of their columns, though polars is imported after the fork."""

from __future__ import annotations

import datetime as dt

import numpy as np
import pytest

from plugins.ml.tests.crossing import crossed, learn, refused
from tests.oral import Exam
from viva.engine.grading import Grader
from viva.engine.wire import is_plain
from viva.sandbox.confinement import Sandbox

learn("polars")

import polars as pl  # noqa: E402
from polars.testing import assert_frame_equal, assert_series_equal  # noqa: E402

FRAME = pl.DataFrame(
    {
        "count": [1, None, 3],
        "share": [0.5, float("nan"), None],
        "seen": [True, None, False],
        "word": ["a", None, "b"],
        "raw": [b"a", None, b""],
        "kind": pl.Series(["x", "y", None], dtype=pl.Categorical),
        "day": [dt.date(2024, 2, 29), None, dt.date(1, 1, 1)],
        "at": pl.Series([1, None, -1]).cast(pl.Datetime("ns")),
        "lasts": pl.Series([1, None, 2]).cast(pl.Duration("ms")),
        "time": [dt.time(1, 2, 3), None, dt.time(23)],
        "words": [["a"], [], None],
        "grid": [[[1], [2]], [], None],
        "nothing": [None, None, None],
        "small": pl.Series([1, 2, None], dtype=pl.Int8),
    }
)


def test_a_frame_and_its_columns_cross_as_they_are():
    assert_frame_equal(crossed([FRAME])[0], FRAME)
    for series in FRAME.get_columns():
        assert_series_equal(crossed(series), series)
        assert_series_equal(crossed(series[:0]), series[:0])
    assert_frame_equal(crossed(pl.DataFrame()), pl.DataFrame())


def test_columns_that_do_not_cross_leave_the_frame_where_it_is():
    for column in ([{"a": 1}], [object()], pl.Series([1]).cast(pl.Datetime("us", "UTC"))):
        assert not is_plain(pl.DataFrame({"a": column}))
    assert not is_plain(FRAME.lazy()) and not is_plain(pl.col("count"))


ONES = np.ones(2, "i8")


@pytest.mark.parametrize(
    "parts",
    [
        ("a", "Int64", np.ones(2, "f8"), None),
        ("a", "Int64", ONES, np.ones(3, bool)),
        ("a", "Int64", ONES, ONES),
        ("a", "Int64", [1, 2], None),
        ("a", "Int64", np.ones((2, 2), "i8"), None),
        ("a", "Int64", np.ones(2, ">i8"), None),
        ("a", "Object", ["x"], None),
        ("a", "Struct({'a': Int64})", [{"a": 1}], None),
        ("a", "List(" * 9 + "Int64" + ")" * 9, [], None),
        ("a", "List(" * 100_000, [], None),
        ("a", "List(Object)", [[1]], None),
        ("a", "String", [1], None),
        ("a", "Time", np.array([-1]), None),
        ("a", "Time", np.array([2**62]), None),
        ("a", "Datetime(time_unit='us', time_zone='UTC')", ONES, None),
        (1, "Int64", ONES, None),
        ("a", 1, ONES, None),
        ("a", "Int64", ONES),
    ],
    ids=str,
)
def test_parts_that_polars_does_not_write_are_refused(parts):
    assert refused("polars:Series", *parts)
    assert refused("polars:DataFrame", list(parts))


def test_columns_of_one_name_or_of_two_lengths_make_no_frame():
    one, two = ["a", "Int64", ONES, None], ["b", "Int64", np.ones(3, "i8"), None]
    assert refused("polars:DataFrame", one, one) and refused("polars:DataFrame", one, two)


NOTEBOOK = """
--- given
import polars as pl
--- answer
def doubled(frame):
    return frame.with_columns(pl.col("a") * 2)
--- wrong
def doubled(frame):
    return frame
--- test
assert doubled(pl.DataFrame({"a": [1, 2]})).equals(pl.DataFrame({"a": [2, 4]}))
"""


@pytest.mark.slow
def test_a_library_that_cannot_be_forked_has_codecs_all_the_same(tmp_path):
    grader = Grader(60.0, (Sandbox.for_candidate(), Sandbox.for_examiner()), libraries=("polars",))
    try:
        Exam(NOTEBOOK, grader, tmp_path).prove()
    finally:
        grader.close()
