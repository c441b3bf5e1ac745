"""Frames, series and indexes of pandas cross unchanged, and no bytes that claim to be some do harm."""

from __future__ import annotations

import contextlib
import datetime as dt
import time
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.engine.test_wire import SETTINGS, TEXT, cap, flip_and_cut, survives, take_little_memory
from viva.engine import wire
from viva.engine.values import frames
from viva.engine.values.codec import TWINS
from viva.engine.values.plain import NUMBER_OF, PANDAS
from viva.engine.wire import Reference, decode, encode, is_plain
from viva.verdict import WireError

FRAME = pd.DataFrame({"n": [1, 2], "s": ["x", None], "c": pd.Categorical(["u", "v"])})


def test_parts_of_a_frame_are_no_part_of_another_value():
    column = np.arange(3)
    one, other, again = decode(encode([pd.Series(column), pd.Series(column, index=column), column]))
    again[:] = 7
    one.iloc[0] = 5
    assert list(other) == list(other.index) == [0, 1, 2]


STAMPS = pd.to_datetime(["2020-01-01", "2021-06-01"])
FRAMES = {
    "empty": pd.DataFrame(),
    "only an index": pd.DataFrame(index=["a", "b"]),
    "one block": pd.DataFrame(np.arange(6.0).reshape(2, 3), columns=list("abc"), index=["x", "y"]),
    "mixed": pd.DataFrame({"i": [1, 2], "s": ["x", None], "f": np.float32([1, np.nan]), "b": [True, False]}),
    "dates": pd.DataFrame({"d": STAMPS, "n": [1, 2]}),
    "only dates": pd.DataFrame({"d": STAMPS, "e": STAMPS}),
    "steps": pd.DataFrame({"t": pd.to_timedelta([1, 2], unit="s")}),
    "categories": pd.DataFrame(
        {"c": pd.Categorical(["u", None], ["v", "u"], ordered=True), "n": pd.Categorical([1, 2])}
    ),
    "nullable": pd.DataFrame({"i": pd.array([1, None]), "b": pd.array([True, None]), "f": pd.array([0.5, None])}),
    "strings": pd.DataFrame({"s": pd.array(["a", None], dtype="string"), "o": np.array(["a", "b"], object)}),
    "objects": pd.DataFrame({"o": np.array([1, "a", None, np.nan, dt.date(2020, 1, 1), Decimal(1)], object)}),
    "twice the same name": pd.DataFrame([[1, "a"], [2, "b"]], columns=["x", "x"], index=[0, 0]),
    "levels": pd.DataFrame({"a": range(4)}, pd.MultiIndex.from_product([["x", "y"], [1, 2]], names=["p", None])),
    "columns of levels": pd.DataFrame({("a", 1): [1], ("b", 2): ["x"]}),
    "any columns": pd.DataFrame({1: [1], "b": [2]}),
    "described": pd.DataFrame({"a": [1, 2], "b": ["x", "y"]}).describe(include="all"),
    "lists": pd.DataFrame({"l": [["a"], []], "t": [(1, "a"), {"x": {2}}], "v": [np.arange(2), frozenset({None})]}),
    "crossed": pd.crosstab(pd.Series([1, 2], name="r"), pd.Series(["a", "b"], name="c")),
}
DAILY = pd.date_range("2020", periods=3, freq="D")
SERIES = {
    "numbers": pd.Series([1, 2], name="n"),
    "empty": pd.Series([], dtype=float),
    "scalars": pd.Series([pd.Timestamp("2020"), pd.NaT, pd.NA, pd.Timedelta(3), np.int8(1)], dtype=object),
    "daily": pd.Series(range(3), index=DAILY),
    "weekly": pd.Series(range(3), index=pd.date_range("2020", periods=3, freq="W-SUN")),
    "counted": pd.Series(list("aab")).value_counts(),
    "grouped": pd.Series([1, 2, 2]).groupby(["a", "a", "b"]).mean(),
    "complex": pd.Series([1 + 2j]),
    "half": pd.Series(np.float16([1, 2])),
}
INDEXES = [
    pd.Index([1, 2], name=("a", 1)),
    pd.Index(["a", None]),
    pd.Index(["a", None], dtype="string"),
    pd.Index([1, None], dtype="Int64"),
    pd.Index([]),
    pd.Index([True]),
    pd.Index([1, "a"]),
    pd.Index(np.float32([1, 2])),
    pd.RangeIndex(1, 9, 2, name="r"),
    pd.MultiIndex.from_tuples([(1, "a"), (2, "b")]),
    pd.CategoricalIndex(["a", "b"]),
    pd.timedelta_range("1D", periods=3),
    DAILY,
]


@pytest.mark.parametrize(
    "value", [*FRAMES.values(), *SERIES.values(), *INDEXES], ids=[*FRAMES, *SERIES, *map(str, INDEXES)]
)
def test_a_frame_a_series_and_an_index_cross_unchanged(value):
    crossed = decode(encode({"a": [value]}))["a"][0]
    if isinstance(value, pd.Index):
        pd.testing.assert_index_equal(crossed, value, exact=True)
    else:
        (pd.testing.assert_frame_equal if value.ndim == 2 else pd.testing.assert_series_equal)(crossed, value)


def test_pandas_scalars_cross_unchanged():
    stamps = [
        pd.Timestamp("1500"),
        pd.Timestamp("2020-01-01 01:02:03.123456789"),
        pd.Timedelta("1ns"),
    ]
    for stamp in stamps:
        crossed = decode(encode(stamp))
        assert (type(crossed), crossed, crossed.unit) == (type(stamp), stamp, stamp.unit)
    missing = decode(encode([pd.NaT, pd.NA]))
    assert missing[0] is pd.NaT and missing[1] is pd.NA


PERIODS = {
    "months": pd.Series([1, 2], index=pd.period_range("2020", periods=2, freq="M", name="month")),
    "weeks": pd.Series(pd.period_range("2020", periods=2, freq="W-SUN")),
    "quarters of years": pd.Series([pd.Period("2020", "Q-JAN"), pd.NaT]),
    "months and letters": pd.Series(1, pd.MultiIndex.from_product([pd.period_range("2020", "2021", freq="M"), ["a"]])),
    "intervals": pd.Series(pd.interval_range(0, 3)),
    "days": pd.Series(1, pd.interval_range(pd.Timestamp("2020"), periods=2, freq="D", closed="left")),
    "bins": pd.cut(pd.Series([1, 9]), [0, 5, 10]),
    "counts of bins": pd.cut(pd.Series([1, 9]), [0, 5, 10]).value_counts(),
    "objects": pd.Series([pd.Period("2020", "Y"), None, pd.Interval(0, 1.5, "both")], dtype=object),
}


@pytest.mark.parametrize("value", PERIODS.values(), ids=PERIODS)
def test_periods_and_intervals_cross_as_what_they_are(value):
    pd.testing.assert_series_equal(decode(encode(value)), value)


@pytest.mark.parametrize("value", [pd.Period("2020-02", "M"), pd.Interval(pd.Timestamp("2020"), pd.Timestamp("2021"))])
def test_a_period_and_an_interval_by_themselves_cross(value):
    crossed = decode(encode([value]))[0]
    assert type(crossed) is type(value) and crossed == value


@SETTINGS
@given(st.dictionaries(TEXT, st.lists(st.floats(), min_size=3, max_size=3), min_size=1, max_size=4))
def test_any_frame_of_numbers_crosses_unchanged(columns):
    names = pd.Index(list(columns), dtype=object)  # with pyarrow pandas has no text of half a character
    frame = pd.DataFrame(np.array(list(columns.values())).T, columns=names)
    pd.testing.assert_frame_equal(decode(encode(frame)), frame)


ENDLESS: list = []
ENDLESS.append(ENDLESS)
NOT_FRAMES = {
    "time zones": pd.Series(STAMPS.tz_localize("UTC")),
    "objects": pd.Series([object()]),
    "lists of objects": pd.DataFrame({"a": [[1], [{"b": (object(),)}]]}),
    "arrays of objects": pd.DataFrame({"a": [np.array([object()])]}),
    "lists without end": pd.Series([ENDLESS]),
    "index of objects": pd.Series([1], index=pd.Index([object()])),
    "dates of a zone": pd.Series([dt.datetime(2020, 1, 1, tzinfo=dt.UTC)], dtype=object),
}


@pytest.mark.parametrize("value", NOT_FRAMES.values(), ids=NOT_FRAMES)
def test_a_frame_of_what_cannot_cross_is_one_reference(value):
    seen = []
    message = encode([value], lambda found: seen.append(found) or Reference(7, {}))
    assert len(seen) == 1 and seen[0] is value
    assert decode(message, lambda reference: reference.id) == [7]


def test_too_many_frames_are_refused(monkeypatch):
    frames = [pd.Series([number]) for number in range(30)]
    cap(monkeypatch, "FRAMES", 100)
    assert len(wire.decode(wire.encode(frames))) == 30
    cap(monkeypatch, "FRAMES", 20)
    with pytest.raises(WireError, match="more than 20 objects of pandas"):
        wire.decode(wire.encode(frames))


def index(name, *cells) -> list:
    return ["index", name, None, *cells]


BAD_FRAMES = {
    "no tag": [],
    "a number": [1],
    "an object column alone": ["objects", ["a", 1]],
    "an unknown tag": ["eval", "1"],
    "a frame of nothing": ["frame"],
    "a frame too narrow": ["frame", ["range", 0, 3, 1, None], ["range", 0, 2, 1, None], np.zeros((2, 2))],
    "a column of no dimension": ["frame", ["range", 0, 1, 1, None], ["range", 0, 10**9, 1, None], [np.zeros(())]],
    "a column of one": ["frame", ["range", 0, 1, 1, None], ["range", 0, 10**7, 1, None], [np.zeros(1)]],
    "a long range": ["range", 0, 10**12, 1, None],
    "a range of words": ["range", "0", 1, 1, None],
    "a foreign column": ["series", None, ["range", 0, 1, 1, None], len],
    "a foreign cell": ["series", None, ["range", 0, 1, 1, None], ["objects", [len]]],
    "a foreign label": index(len, np.zeros(2)),
    "a foreign index": ["series", None, len, np.zeros(1)],
    "a frame as an index": [
        "series",
        None,
        ["frame", index(None, np.zeros(0)), index(None, np.zeros(0)), []],
        np.zeros(0),
    ],
    "codes out of bounds": ["categories", np.array([5], np.int8), index(None, np.zeros(1)), False],
    "categories twice": ["categories", np.array([0], np.int8), index(None, np.zeros(2)), False],
    "codes of a level out of bounds": ["multi", [None], [index(None, np.zeros(1))], [np.array([5], np.int8)]],
    "a step of code": ["index", None, "print()", np.zeros(1, "M8[ns]")],
    "a step that does not fit": ["index", None, "D", np.array([0, 1, 5], "M8[D]").astype("M8[ns]")],
    "a mask of another length": ["masked", np.zeros(2), np.zeros(1, bool)],
    "periods of no length": ["series", None, ["range", 0, 1, 1, None], ["periods", np.zeros(1, int), "print()"]],
    "periods of fractions": ["series", None, ["range", 0, 1, 1, None], ["periods", np.zeros(1), "M"]],
    "a period of words": ["period", "2020", "M"],
    "intervals that end before they begin": ["intervals", np.ones(1), np.zeros(1), "left"],
    "intervals of two lengths": ["intervals", np.ones(1), np.ones(2), "left"],
    "an interval of words": ["interval", "a", "b", "left"],
    "an interval that is closed nowhere else": ["interval", 0, 1, "up"],
    "strings of numbers": ["strings", "python", False, [1]],
    "a stamp of words": ["stamp", "now"],
    "a list as a label": index([1], np.zeros(2)),
    "a list of what equals anything": ["series", None, ["range", 0, 1, 1, None], ["objects", [[pd.array([0])]]]],
    "an array of what equals anything": [
        *("series", None, ["range", 0, 1, 1, None]),
        ["objects", [{"a": [np.zeros(1), pd.array([0])]}]],
    ],
    "a list in an index": index(None, ["objects", [[1]]]),
    "keys of one hash": index(None, ["objects", [k * (2**61 - 1) for k in range(1, TWINS + 3)]]),
}


@pytest.mark.parametrize("parts", BAD_FRAMES.values(), ids=BAD_FRAMES)
def test_a_made_up_frame_is_refused(parts):
    with pytest.raises(WireError):
        decode(pandas_message(parts), lambda reference: len)


def labels_of_one_hash(count: int) -> np.ndarray:
    """Ints that pandas hashes to zero: (key >> 33) ^ key ^ (key << 11) in 32 bits."""
    high = np.arange(count, dtype=np.uint64)
    low = (high ^ high << np.uint64(11) ^ high << np.uint64(22)) & np.uint64(2**32 - 1)
    return np.roll((high << np.uint64(33) | low).view(np.int64), 1)


@pytest.mark.parametrize("name", ["categories", "multi"])
def test_labels_made_to_share_a_hash_are_refused_soon(name):
    labels = labels_of_one_hash(90_000)
    for cells, fits in (
        (labels, False),
        (np.sort(labels), True),
        (np.sort([*labels, 0]), False),
        (labels[:5000], True),
    ):
        parts = ["index", None, None, cells]
        codes = np.zeros(1, np.int8)
        parts = [name, codes, parts, False] if name == "categories" else [name, [None], [parts], [codes]]
        started = time.process_time()
        with contextlib.nullcontext() if fits else pytest.raises(WireError):
            decode(pandas_message(parts))
        assert time.process_time() - started < 1


def test_a_long_calendar_step_stays_behind():
    weeks = pd.date_range("1700", periods=frames.STEPS + 1, freq="W-SUN", unit="s")
    assert decode(encode(weeks)).freq is None and decode(encode(weeks[1:])).freq == weeks.freq
    days = pd.date_range("1900", periods=frames.STEPS + 1, freq="D")
    assert decode(encode(days)).freq == days.freq
    with pytest.raises(WireError):
        decode(pandas_message(["index", None, "W-SUN", weeks.to_numpy()]))


def test_many_sorted_labels_cross():
    names = [f"n{place:06}" for place in range(frames.UNSORTED + 1)]
    for labels in (range(len(names)), names, pd.date_range("1900", periods=len(names))):
        value = pd.Series(pd.Categorical(labels))
        pd.testing.assert_series_equal(decode(encode(value)), value)
    assert not is_plain(pd.Series(pd.Categorical(labels_of_one_hash(20_000), labels_of_one_hash(20_000))))


def pandas_message(parts) -> bytes:
    """A message that says of any parts that they are a pandas object."""
    data = bytearray(encode(parts, lambda found: Reference(1, {})))
    place = 3 if data[0] == 0xDC else 5 if data[0] == 0xDD else 1
    data[place + 1 + 2 * (data[place] == 0xC7)] = NUMBER_OF[PANDAS]
    return bytes(data)


SIMPLE = ["index", None, None, np.arange(2)]
TABLES = st.recursive(
    st.one_of(
        st.sampled_from([None, True, 0, 1, 2, -1, "a", "D", "W-SUN", "python", "ns", 1.5, b"a"]),
        st.sampled_from(
            [SIMPLE, ["range", 0, 2, 1, "r"], ["objects", ["a", 1]], ["strings", "python", False, ["a", None]]]
        ),
        st.sampled_from([np.zeros(2), np.arange(2), np.zeros(2, bool), np.zeros((2, 2)), np.int8([0, 1])]),
        st.sampled_from([np.arange(2).astype("M8[D]"), np.zeros(2, "M8[ns]"), np.zeros(2, "m8[s]"), np.zeros(2, "U1")]),
        st.sampled_from([np.datetime64(0, "ns"), np.timedelta64(1, "s"), dt.timedelta(), Decimal(1)]),
    ),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.builds(lambda name, rest: [name, *rest], st.sampled_from(list(frames.TABLE)), st.lists(inner, max_size=4))
    ),
    max_leaves=8,
)


@pytest.mark.filterwarnings("ignore")
@settings(SETTINGS, max_examples=600)
@given(st.sampled_from(list(frames.TABLE)), st.lists(TABLES, max_size=4))
@pytest.mark.slow
def test_random_parts_of_a_frame_are_a_value_or_a_wire_error(name, rest):
    survives(pandas_message([name, *rest]))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("sample", [FRAME, SERIES["scalars"]], ids=["frame", "series"])
def test_every_flip_of_a_byte_and_every_cut_is_a_value_or_a_wire_error(sample):
    flip_and_cut(encode(sample))


@pytest.mark.filterwarnings("ignore")
def test_memory_is_in_proportion_to_the_message():
    made_up = [*BAD_FRAMES.values(), ["range", 0, frames.RANGE, 1, None]]
    take_little_memory([*map(encode, FRAMES.values()), *map(pandas_message, made_up)])
