"""Plain values cross unchanged, nothing else crosses, and no bytes whatever do harm."""

from __future__ import annotations

import contextlib
import datetime as dt
import enum
import itertools
import random
import struct
import time
import timeit
import tracemalloc
from collections import Counter, OrderedDict, defaultdict, deque, namedtuple
from decimal import Decimal
from fractions import Fraction
from typing import NamedTuple

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from msgpack import ExtType, Packer, packb

from viva.engine import wire
from viva.engine.values import codec, frames, plain
from viva.engine.values.codec import BYTES, CODEC_OF, DIMENSIONS, TWINS
from viva.engine.values.librarycodecs import codec_that_was_added
from viva.engine.values.plain import AGAIN, INT_BITS, LIKE, NUMBER_OF, PANDAS
from viva.engine.wire import BIG_INT, LEVELS, MESSAGE, Reference, decode, encode, is_plain
from viva.verdict import WireError

SETTINGS = settings(suppress_health_check=list(HealthCheck), max_examples=150)
Point = namedtuple("Point", "x y")


class Pair(NamedTuple):
    left: int
    right: int = 0


# --- equality that also sees types, dtypes, order and NaN


def same(one, two) -> bool:
    if type(one) is not type(two):
        twins = isinstance(one, np.generic) and isinstance(two, np.generic)  # longlong is another int64
        if not twins:
            return False
    if isinstance(one, float | complex | np.number | np.ndarray) and not isinstance(one, np.ndarray | np.generic):
        return struct.pack("dd", one.real, one.imag) == struct.pack("dd", two.real, two.imag)
    if isinstance(one, np.ndarray | np.generic):
        return one.dtype == two.dtype and one.shape == two.shape and _items(one) == _items(two)
    if isinstance(one, OrderedDict | dict):
        pairs = zip(one.items(), two.items(), strict=True)
        return len(one) == len(two) and all(same(a, c) and same(b, d) for (a, b), (c, d) in pairs)
    if isinstance(one, list | tuple):
        return len(one) == len(two) and all(map(same, one, two))
    if isinstance(one, set | frozenset):
        left = list(two)
        for item in one:
            place = next((place for place, other in enumerate(left) if same(item, other)), None)
            if place is None:
                return False
            del left[place]
        return not left
    if isinstance(one, slice):
        return same([one.start, one.stop, one.step], [two.start, two.stop, two.step])
    if isinstance(one, dt.datetime | dt.time):
        return one == two and one.fold == two.fold
    if isinstance(one, Decimal):
        return one.as_tuple() == two.as_tuple()
    return one == two


def _items(array) -> list:
    """What is in an array; long doubles as text, because their padding is not theirs."""
    if array.dtype.char in "gG":
        return [np.format_float_scientific(part) for x in np.ravel(array) for part in (x.real, x.imag)]
    return [array.tobytes()]


# --- values

DTYPES = [np.dtype(char) for char in "?bhilqBHILQefdFD"]
DTYPES += [np.dtype(name) for name in (">f8", ">i4", "S3", "U4", ">U2", "M8[D]", "M8[ns]", "M8[25s]", "m8[s]")]
TEXT = st.text(st.characters(), max_size=8) | st.sampled_from(["\ud800", "a\0b", "é\udfff", "\0"])
ATOMS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**70), 2**70),
    st.sampled_from([2**63, 2**64, -(2**63) - 1]),
    st.builds(lambda sign: sign * (2**INT_BITS - 1), st.sampled_from([1, -1])),  # hypothesis cannot print it
    st.floats(),
    TEXT,
    st.binary(max_size=8),
)
SCALARS = st.one_of(
    ATOMS,
    st.complex_numbers(),
    st.dates(),
    st.datetimes(),
    st.just(dt.datetime(2020, 10, 25, 2, fold=1)),
    st.times(),
    st.timedeltas(),
    st.decimals(),
    st.fractions(),
    st.builds(range, st.integers(), st.integers(), st.integers(min_value=1)),
    st.just(...),
    st.sampled_from(DTYPES).flatmap(lambda dtype: hnp.from_dtype(dtype).map(lambda x: np.array(x, dtype)[()])),
    st.builds(lambda x: np.longdouble(x) / 3, st.floats(allow_nan=False, allow_infinity=False)),
    TEXT.map(np.str_),
    st.binary(max_size=4).map(np.bytes_),
)
ARRAYS = st.sampled_from(DTYPES).flatmap(
    lambda dtype: hnp.arrays(dtype, hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=4))
)
KEYS = st.recursive(
    SCALARS.filter(lambda x: not (isinstance(x, Decimal) and x.is_snan())),
    lambda inner: st.lists(inner, max_size=3).map(tuple) | st.frozensets(inner, max_size=3),
    max_leaves=4,
)
VALUES = st.recursive(
    SCALARS | ARRAYS | st.binary(max_size=8).map(bytearray) | st.frozensets(KEYS, max_size=4),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.lists(inner, max_size=4).map(tuple),
        st.dictionaries(KEYS, inner, max_size=4),
        st.dictionaries(KEYS, inner, max_size=4).map(OrderedDict),
        st.dictionaries(KEYS, st.integers(), max_size=4).map(Counter),
        st.sets(KEYS, max_size=4),
        st.builds(slice, inner, inner, inner),
    ),
    max_leaves=12,
)
SAMPLE = {
    "a": [1, -2.5, True, None, "text", b"bytes", 2**80, 3j],
    (1, 2): frozenset({1}),
    "array": np.arange(6.0).reshape(2, 3),
    "scalars": [np.float32(1), np.datetime64("2020-01-01"), np.str_("s"), np.bool_(True), np.longdouble(1)],
    "more": (range(3), slice(1), ..., Counter("ab"), bytearray(b"x")),
    "dates": [dt.datetime(2020, 1, 1), dt.timedelta(1), Decimal("1.5"), Fraction(1, 3)],
}
FRAME = pd.DataFrame({"n": [1, 2], "s": ["x", None], "c": pd.Categorical(["u", "v"])})


@SETTINGS
@given(VALUES)
def test_a_plain_value_crosses_unchanged(value):
    assert is_plain(value)
    assert same(decode(encode(value)), value)


@SETTINGS
@given(ARRAYS, st.sampled_from("CF"), st.booleans())
def test_an_array_arrives_writable_and_in_the_order_of_its_memory(array, order, strided):
    array = np.asarray(array, order=order)
    array = array[::-1] if strided and array.ndim else array
    crossed = decode(encode(array))
    assert same(crossed, array)
    assert crossed.flags.writeable and crossed.flags.owndata
    steps = [
        [abs(step) for step, length in zip(one.strides, array.shape, strict=True) if length > 1]
        for one in (crossed, array)
    ]
    assert not array.size or np.argsort(steps[0]).tolist() == np.argsort(steps[1]).tolist()


def test_the_sum_of_a_transposed_array_is_the_same_to_the_last_bit():
    array = np.random.default_rng(0).normal(size=(40, 50, 60)) * 1e90
    for axes in ((2, 1, 0), (1, 0, 2), (0, 2, 1), (2, 0, 1)):
        turned = array.transpose(axes)
        crossed = decode(encode(turned))
        assert crossed.strides == turned.strides and crossed.sum() == turned.sum()
        assert np.array_equal(crossed.sum(axis=0), turned.sum(axis=0))


@pytest.mark.parametrize("char", "?bhilqBHILQefdgFDG")
def test_numpy_scalars_stay_scalars_of_their_dtype(char):
    scalar = np.array(1, char)[()]
    crossed = decode(encode([scalar, {scalar: scalar}]))
    assert [type(crossed[0]), *map(type, crossed[1])] == [np.dtype(scalar.dtype.str).type] * 2
    assert type(decode(encode(np.array(1, char)))) is np.ndarray


def test_long_doubles_keep_their_digits_and_leak_no_padding():
    third = np.array([1, 2], np.longdouble) / 3
    crossed = decode(encode([third, third[0], third.astype(np.clongdouble)]))
    assert (crossed[0] == third).all() and crossed[1] == third[0] and (crossed[2] == third).all()
    if np.finfo(np.longdouble).nmant == 63:
        dirty = third.copy()
        dirty.view(np.uint8).reshape(2, 16)[:, 10:] = 0xAB
        assert encode(dirty) == encode(third)
        assert encode(dirty[0]) == encode(third[0])


@pytest.mark.parametrize(
    "value",
    [
        np.datetime64("NaT"),
        np.datetime64("2020-01-01T01:02", "m"),
        np.timedelta64(5),
        np.timedelta64("NaT", "25s"),
        np.array(["2020-01-01", "NaT"], "M8[ns]"),
        np.array([1, 2], "m8[25s]"),
        np.str_("a\0"),
        np.array(["a", "é"]),
        np.array([], "S3"),
        np.array(2.5),
        [range(5, 0, -2), slice(None, 3), slice(np.int64(1), (2,), "x"), Decimal("-0.10"), Fraction(2**70, 3)],
        [Decimal("NaN"), Decimal("sNaN12"), Decimal("-Infinity"), Decimal("1E+9999")],
        [OrderedDict(b=1, a=2), Counter(a=-1)],
        [dt.date.min, dt.time.max, dt.timedelta.min, dt.datetime(2020, 10, 25, 2, 30, fold=1)],
    ],
    ids=str,
)
def test_dates_numbers_and_containers_cross_unchanged(value):
    assert same(decode(encode(value)), value)


def test_a_default_dict_crosses_as_a_dict():
    assert same(decode(encode(defaultdict(lambda: 0, a=[1]))), {"a": [1]})
    assert same(decode(encode({"d": defaultdict(list)})), {"d": {}})


def test_what_stands_in_a_value_twice_is_one_on_the_other_side():
    row, array = [0, 0], np.ones(2)
    value = decode(encode([row, [0, 0], (row, {"a": row}), array, array]))
    assert value[0] is value[2][0] is value[2][1]["a"] and value[0] is not value[1] and value[3] is value[4]


def test_parts_of_a_frame_are_no_part_of_another_value():
    column = np.arange(3)
    one, other, again = decode(encode([pd.Series(column), pd.Series(column, index=column), column]))
    again[:] = 7
    one.iloc[0] = 5
    assert list(other) == list(other.index) == [0, 1, 2]


@pytest.mark.parametrize("number", [-1, 1, 2**60, None, True])
def test_nothing_is_repeated_that_a_message_does_not_hold(number):
    marks = [ExtType(NUMBER_OF[codec], count.to_bytes(4, "big")) for codec, count in ((CODEC_OF[list], 2), (AGAIN, 1))]
    with pytest.raises(WireError):
        decode(packb([*marks[:1], 0, marks[1], number]))


@pytest.mark.parametrize("parts", [[], [1], ["x", 2], [True, 2], [1, 2, 3]])
def test_a_class_without_a_number_and_a_value_is_refused(parts):
    with pytest.raises(WireError):
        decode(packb([ExtType(NUMBER_OF[LIKE], len(parts).to_bytes(4, "big")), *parts]))


def test_classes_in_one_another_are_taken_for_the_value_or_refused():
    mark = ExtType(NUMBER_OF[LIKE], bytes([0, 0, 0, 2]))
    assert decode(packb([*[mark, 7] * 5, "x"])) == "x"
    with pytest.raises(WireError):
        decode(packb([*[mark, 7] * 100_000, "x"]))


def test_a_message_that_unfolds_without_end_is_refused():
    pair, again = (ExtType(NUMBER_OF[codec], bytes([0, 0, 0, n])) for codec, n in ((CODEC_OF[list], 2), (AGAIN, 1)))
    row = [pair, 0, 0]
    for number in range(40):
        row = [pair, *row, again, number]
    with pytest.raises(WireError, match="items"):
        decode(packb(row))


# --- pandas

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


# --- subclasses cross as their base, and none of their methods runs


def lying(*bases: type) -> type:
    """A subclass of ``bases`` all of whose methods fail the test."""

    def ran(*_, **__):
        pytest.fail("a method of the subclass ran")

    kept = {
        "__new__",
        "__init__",
        "__init_subclass__",
        "__class__",
        "__del__",
        "__dict__",
        "__getattribute__",
        "__doc__",
    }
    kept |= {"__array_finalize__", "__subclasshook__", "__setattr__", "__class_getitem__"}
    names = {name for base in bases for name in dir(base)} - kept
    body = {name: ran for name in names if name not in ("_fields", "__slots__", "__weakref__")}
    return type("Lying", bases, {**body, "__getattr__": ran, "__array__": ran, "__array_ufunc__": ran})


LIES = [
    (int, (7,), 7),
    (int, (2**90,), 2**90),
    (float, (1.5,), 1.5),
    (complex, (1j,), 1j),
    (str, ("text",), "text"),
    (bytes, (b"ab",), b"ab"),
    (bytearray, (b"ab",), bytearray(b"ab")),
    (tuple, ((1, 2),), (1, 2)),
    (frozenset, ((1, 2),), frozenset({1, 2})),
    (list, ([1, [2]],), [1, [2]]),
    (dict, ({"a": 1},), {"a": 1}),
    (set, ({1, 2},), {1, 2}),
    (dt.date, (2020, 1, 2), dt.date(2020, 1, 2)),
    (dt.datetime, (2020, 1, 2, 3), dt.datetime(2020, 1, 2, 3)),
    (dt.time, (1, 2), dt.time(1, 2)),
    (dt.timedelta, (1, 2), dt.timedelta(1, 2)),
    (Decimal, ("1.50",), Decimal("1.50")),
    (np.float64, (1.5,), np.float64(1.5)),
    (np.int32, (3,), np.int32(3)),
    (np.str_, ("a",), np.str_("a")),
    (np.bytes_, (b"a",), np.bytes_(b"a")),
]


@pytest.mark.parametrize(
    ("base", "arguments", "expected"), LIES, ids=lambda x: x.__name__ if isinstance(x, type) else ""
)
def test_no_method_of_a_subclass_runs(base, arguments, expected):
    value = lying(base)(*arguments)
    assert same(decode(encode([value])), [expected])


def test_each_plain_type_that_a_student_can_derive_from_is_tried_with_one_that_lies():
    own = {np.ndarray, OrderedDict, Counter, Fraction, *frames.TYPES, *codec.SCALARS}  # tried below, or of one codec
    added = {cls for cls in CODEC_OF if codec_that_was_added(cls)}  # by plug-ins that other tests have loaded
    left = set(CODEC_OF) - own - added - {base for base, _, _ in LIES} - {Reference, plain.Again, codec.Like}
    for cls in left:
        with pytest.raises(TypeError, match="not an acceptable base type"):
            type("Lying", (cls,), {})


def test_no_method_of_a_subclass_of_an_array_runs():
    value = np.arange(4.0).reshape(2, 2).view(lying(np.ndarray))
    assert same(decode(encode(value)), np.arange(4.0).reshape(2, 2))
    assert same(decode(encode(np.array([[1, 2]]).view(np.matrix))), np.array([[1, 2]]))


def test_no_method_of_a_subclass_of_an_ordered_dict_or_counter_runs():
    for base in (OrderedDict, Counter):
        value = type("Quiet", (base,), {})()
        value["a"] = 1
        ran = lambda *_: pytest.fail("a method of the subclass ran")  # noqa: E731
        for name in ("__iter__", "items", "keys", "__getitem__", "__len__", "copy", "__reduce__", "__eq__"):
            setattr(type(value), name, ran)
        assert same(decode(encode(value)), base(a=1))


def test_no_method_of_a_subclass_of_a_fraction_or_frame_runs():
    class Half(Fraction):
        numerator = denominator = property(lambda self: pytest.fail("ran"))

    class Frame(pd.DataFrame):
        pass

    frame = Frame(np.eye(2))
    for name in ("_constructor", "shape", "columns", "index", "dtypes", "iloc"):
        setattr(Frame, name, Half.numerator)
    Frame.__getattribute__ = lambda self, name: pytest.fail("ran")
    assert same(decode(encode(Half(1, 2))), Fraction(1, 2))
    pd.testing.assert_frame_equal(decode(encode(frame)), pd.DataFrame(np.eye(2)))


def test_a_namedtuple_crosses_as_a_tuple():
    class Lying(Point):
        def __iter__(self):
            pytest.fail("ran")

        x = y = property(__iter__)
        __len__ = __getitem__ = __iter__

    assert same(decode(encode([Point(1, 2), Lying(1, 2)])), [(1, 2), (1, 2)])


# --- what is not plain


class Colour(enum.IntEnum):
    RED = 1


FOREIGN = {
    "function": len,
    "class": int,
    "object": object(),
    "enum": Colour.RED,
    "object array": np.array([1, None], object),
    "record": np.zeros(2, "i4,f4"),
    "array of variable strings": np.array(["a"], np.dtypes.StringDType()),
    "record scalar": np.zeros(2, "i4,f4")[0],
    "masked array": np.ma.masked_array([1, 2], [True, False]),
    "generator": iter([]),
    "datetime of a time zone": dt.datetime(2020, 1, 1, tzinfo=dt.UTC),
    "time of a time zone": dt.time(1, tzinfo=dt.UTC),
    "deque": deque([1]),
    "memoryview": memoryview(b"a"),
    "reference": Reference(1, {}),
    "exception": ValueError("a"),
}


@pytest.mark.parametrize("value", FOREIGN.values(), ids=FOREIGN)
def test_what_is_not_plain_crosses_as_a_reference(value):
    assert not is_plain(value) and not is_plain([{"a": value}])
    about = {"name": "f", "more": [1, {"x": 2}]}
    message = encode({"a": [1, value]}, lambda found: Reference(5, about) if found is value else None)
    assert decode(message, lambda reference: (reference.id, reference.about)) == {"a": [1, (5, about)]}
    with pytest.raises(WireError, match="reference"):
        decode(message)
    with pytest.raises(
        WireError, match=rf"a value of type {type(value).__name__} cannot be sent between .* \(in a list in a dict\)"
    ):
        encode({"a": [1, value]}, lambda found: None)


def test_an_array_of_a_liar_among_atoms_is_refused():
    class Meta(type):
        def __hash__(cls):
            return hash(int)

        def __eq__(cls, other):
            return other is int or other is cls

    class Liar(metaclass=Meta):
        pass

    with pytest.raises(WireError, match="Liar"):
        encode([1, Liar()])


def test_what_is_said_about_a_reference_is_plain():
    with pytest.raises(WireError, match="cannot be sent between the two processes"):
        encode(len, lambda found: Reference(1, {"f": len}))
    inner = ExtType(NUMBER_OF[CODEC_OF[Reference]], struct.pack(">I", 2))
    nested = packb([inner, 1, mark(dict, 2), "a", inner, 2, ExtType(NUMBER_OF[CODEC_OF[dict]], bytes(4))])
    with pytest.raises(WireError):
        decode(nested, lambda reference: None)
    for number, about in (("1", {}), (1, {2: 3}), (1, []), (True, {})):
        with pytest.raises(WireError):
            decode(encode(len, lambda found, pair=(number, about): Reference(*pair)), lambda reference: None)


def test_what_resolve_raises_comes_as_a_wire_error():
    message = encode(len, lambda found: Reference(1, {}))
    with pytest.raises(WireError, match="KeyError"):
        decode(message, lambda reference: {}[reference.id])


# --- caps


def nest(levels: int) -> list:
    value = []
    for _ in range(levels - 1):
        value = [value]
    return value


def test_sixty_levels_cross_and_not_one_more():
    assert same(decode(encode(nest(LEVELS))), nest(LEVELS))
    with pytest.raises(WireError, match="deeper"):
        encode(nest(LEVELS + 1))
    with pytest.raises(WireError, match="deeper"):
        decode(packb([mark(list, 1)] * LEVELS + [ExtType(NUMBER_OF[CODEC_OF[list]], bytes(4))]))


def test_a_cycle_is_refused():
    cycle, table = [1, 2], {}
    cycle.append(cycle)
    table["a"] = [table]
    for value in (cycle, table):
        with pytest.raises(WireError, match="a value is nested deeper than"):
            encode(value, lambda found: Reference(1, {}))
        assert not is_plain(value)


def cap(monkeypatch, name, value):
    monkeypatch.setattr(wire, name, value)


def test_a_value_that_unfolds_without_end_is_refused_soon(monkeypatch):
    cap(monkeypatch, "ITEMS", 20_000)
    value = [0]
    for _ in range(50):
        value = [value, value]
    with pytest.raises(WireError, match="items"):
        encode(value)


def test_too_many_items_are_refused(monkeypatch):
    cap(monkeypatch, "ITEMS", 100)
    assert decode(encode([0] * 99)) == [0] * 99
    for value in ([0] * 100, [[0] * 60, [0] * 60], [[0] * 90, *range(20)]):
        with pytest.raises(WireError, match="items"):
            encode(value)
    with pytest.raises(WireError, match="declares"):
        decode(packb([0] * 101))


def test_too_many_bytes_are_refused(monkeypatch):
    half = "x" * (MESSAGE // 2)
    for value in ([half] * 3, [half, half, half, []], np.zeros(BYTES + 1, np.uint8), [bytes(BYTES), ""], half * 2):
        with pytest.raises(WireError, match="larger"):
            encode(value)
    with pytest.raises(WireError, match="bytes"):
        decode(bytes(MESSAGE + 1))
    with pytest.raises(WireError, match="larger"):
        encode(np.broadcast_to(np.float64(1), (10**6, 10**6)))
    cap(monkeypatch, "MESSAGE", 10**5)
    with pytest.raises(WireError, match="larger"):
        encode([2**INT_BITS - 1] * 100)


def test_too_many_frames_are_refused(monkeypatch):
    frames = [pd.Series([number]) for number in range(30)]
    cap(monkeypatch, "FRAMES", 100)
    assert len(wire.decode(wire.encode(frames))) == 30
    cap(monkeypatch, "FRAMES", 20)
    with pytest.raises(WireError, match="more than 20 objects of pandas"):
        wire.decode(wire.encode(frames))


def test_of_a_simple_value_nothing_is_built_that_nobody_uses(monkeypatch):
    listed = [1, "a"]
    whole = {"text": "a", "parts": (listed, {"b": 2.5}, listed), "frame": pd.DataFrame({"a": [1]})}
    whole |= {"odd": [np.arange(3), {1}, dt.datetime(2020, 1, 1), 2**70, b"c"], "last": [listed]}
    message, parts = wire.encode(whole), ([1, "a"], {"b": 2.5}, [1, "a"])
    monkeypatch.setattr(plain, "learn_pandas", lambda: pytest.fail("a frame was built"))
    found = wire.decode(message, simple=True)
    odd = [None, None, None, 2**70, b"c"]
    assert found == {"text": "a", "parts": parts, "frame": None, "odd": odd, "last": [listed]}
    assert found["parts"][0] is found["last"][0]
    with pytest.raises(WireError):
        wire.decode(message[:-1], simple=True)


def test_ints_and_decimals_are_capped():
    for value in (2**INT_BITS, -(2**INT_BITS), Decimal("1" * (INT_BITS + 1))):
        with pytest.raises(WireError, match=r"an? (int|Decimal) of .* cannot be sent"):
            encode([value])
    with pytest.raises(WireError):
        decode(packb([ExtType(BIG_INT, bytes(INT_BITS // 8 + 2))]))


def test_dimensions_are_capped():
    assert decode(encode(np.zeros((1,) * DIMENSIONS))).ndim == DIMENSIONS
    with pytest.raises(WireError, match="dimensions"):
        encode(np.zeros((1,) * (DIMENSIONS + 1)))
    with pytest.raises(WireError, match="dimensions"):
        encode(np.zeros((0, 2**40)))


# --- messages that nobody wrote with encode


def message(*row) -> bytes:
    """A message of atoms and of marks (type, count)."""
    marks = [mark(*x) if type(x) is tuple else x for x in row]
    return Packer(unicode_errors="surrogatepass").pack(marks)


def mark(cls: type, count: int) -> ExtType:
    return ExtType(NUMBER_OF[CODEC_OF[cls]], struct.pack(">I", count))


BAD = {
    "nothing": b"",
    "no row": b"\xc0",
    "an empty row": b"\x90",
    "a row of 2**32 - 1": b"\xdd\xff\xff\xff\xff",
    "a map of 2**31": b"\x91\xdf\x80\0\0\0",
    "an array of 2**31": b"\x91\xdd\x80\0\0\0",
    "arrays in arrays": b"\x91" * 5000,
    "an array in the row": packb([[]]),
    "a map in the row": packb([{}]),
    "a time stamp": b"\x91\xd6\xff\0\0\0\0",
    "an unknown mark": packb([ExtType(100, bytes(4))]),
    "a mark below zero": b"\x91\xd6\xfe\0\0\0\0",
    "a mark of three bytes": packb([ExtType(1, bytes(3))]),
    "half a value": message((list, 2), 1),
    "two values": message(1, 2),
    "more than it says": encode(1) + b"\0",
    "more items than the row": message((list, 2**32 - 1), 1),
    "promises that overlap": message((list, 3), (list, 3), 1, 2, 3),
    "bad text": b"\x91\xa1\xff",
    "half a pair": message((dict, 1), "a"),
    "a key twice": message((dict, 4), "a", 1, "a", 2),
    "an item twice": message((set, 2), 1, 1.0),
    "a list as a key": message((dict, 2), (list, 0), 1),
    "an array in a set": message((set, 1), (np.ndarray, 2), "<i8", bytes(8)),
    "a date of text": message((dt.date, 3), "a", 1, 1),
    "a date too far": message((dt.date, 3), 10**6, 1, 1),
    "a step of nothing": message((range, 3), 1, 2, 0),
    "a range of truth": message((range, 3), True, 2, 1),
    "a third over nothing": message((Fraction, 2), 1, 0),
    "a decimal of words": message((Decimal, 1), "one"),
    "a decimal of many digits": message((Decimal, 1), "1" * 30_000),
    "a long step": message((dt.timedelta, 3), 10**12, 0, 0),
    "a time without a fold": message((dt.time, 0)),
    "a time of two folds": message((dt.time, 5), 1, 1, 1, 1, 2),
    "an array of objects": message((np.ndarray, 3), "|O", bytes(8), 1),
    "an array of records": message((np.ndarray, 3), "|V8", bytes(8), 1),
    "an array whose axis comes twice": message((np.ndarray, 4), "aa<f8", bytes(8), 1, 1),
    "an array of axes that it lacks": message((np.ndarray, 3), "ba<f8", bytes(8), 1),
    "a scalar with axes": message((np.float64, 2), "a<f8", bytes(8)),
    "an array of code": message((np.ndarray, 3), "O,f8", bytes(8), 1),
    "an array of an unknown unit": message((np.ndarray, 3), "<M8[xyz]", bytes(8), 1),
    "an array of no seconds, by which NumPy divides": message((np.ndarray, 3), "<m8[0s]", bytes(8), 1),
    "an array of too few bytes": message((np.ndarray, 3), "<f8", bytes(8), 2),
    "an array of too many bytes": message((np.ndarray, 3), "<f8", bytes(16), 1),
    "an array of a negative length": message((np.ndarray, 4), "<f8", bytes(16), -1, -2),
    "an array that overflows": message((np.ndarray, 4), "<f8", bytes(8), 2**62, 2**62),
    "an array of nothing, huge": message((np.ndarray, 4), "<f8", b"", 0, 2**62),
    "an array of no width": message((np.ndarray, 3), "<U0", b"", 2**40),
    "an array of many dimensions": message((np.ndarray, 42), "<f8", bytes(8), *[1] * 40),
    "an array of words": message((np.ndarray, 3), "<f8", bytes(8), "1"),
    "an array of numbers": message((np.ndarray, 3), 1, 2, 3),
    "truth of two": message((np.ndarray, 3), "|b1", b"\2", 1),
    "truth of two, scalar": message((np.bool_, 2), "|b1", b"\2"),
    "letters beyond the last": message((np.ndarray, 3), "<U1", b"\xff\xff\xff\x7f", 1),
    "a scalar of three parts": message((np.float64, 3), "<f8", bytes(8), bytes(8)),
    "a wide type": message((np.ndarray, 3), "<U999999999", b"", 0),
    "no parts": message((np.ndarray, 0)),
}
if np.finfo(np.longdouble).nmant == 63:
    BAD["a long double that is no number"] = message((np.longdouble, 2), "<f16", b"\0" * 8 + b"\xff\x3f" + bytes(6))


@pytest.mark.parametrize("data", BAD.values(), ids=BAD)
def test_a_made_up_message_is_refused(data):
    started = time.process_time()
    with pytest.raises(WireError):
        decode(data, lambda reference: None)
    assert time.process_time() - started < 1


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


def test_keys_made_to_share_a_hash_are_refused():
    keys = [k * (2**61 - 1) for k in range(1, TWINS + 2)]
    assert len({hash(key) for key in keys}) == 1
    for value in (dict.fromkeys(keys), set(keys), frozenset(keys), OrderedDict.fromkeys(keys), Counter(keys)):
        with pytest.raises(WireError, match="hash"):
            decode(encode(value))
    assert decode(encode(set(keys[:-1]))) == set(keys[:-1])


def twins(width: int, depth: int, last: int) -> list:
    """The row of a frozenset of frozensets of ... ints of one hash; ``last`` is the last of these ints."""
    if depth == 0:
        return [ExtType(BIG_INT, (last * (2**61 - 1)).to_bytes(10, "little"))]
    shared = [part for place in range(1, width) for part in twins(width, depth - 1, place)]
    return [(frozenset, width), *shared, *twins(width, depth - 1, last + width)]


@pytest.mark.parametrize(("width", "depth"), [(64, 2), (24, 3), (4, 6), (2, 12)])
def test_sets_of_sets_made_to_share_a_hash_are_refused(width, depth):
    """To compare two of them takes (width ** 2 / 2) ** depth steps."""
    row = [(set, 2), *twins(width, depth, 1), *twins(width, depth, 2)]
    data = Packer().pack([mark(*x) if type(x) is tuple else x for x in row])
    with pytest.raises(WireError, match="sets of such keys"):
        decode(data)


def test_sets_of_neighbours_cross():
    """-1 and -2 share a hash, and so do all tuples and frozensets of them."""
    grid = set(itertools.product([-2, -1, 0, 1], repeat=3))
    pairs = {frozenset(pair) for pair in itertools.combinations(sorted(grid)[:20], 2)}
    value = [grid, pairs, {frozenset(grid)}, dict.fromkeys(itertools.product([-1, -2], repeat=6))]
    assert decode(encode(value)) == value


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


def test_memory_that_runs_out_is_a_wire_error(monkeypatch):
    def full(*_, **__):
        raise MemoryError

    monkeypatch.setattr(wire, "Unpacker", full)
    with pytest.raises(WireError, match="MemoryError"):
        decode(encode(1))


def test_an_interrupt_passes_through():
    def stop(reference):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        decode(encode(len, lambda found: Reference(1, {})), stop)


def survives(data: bytes) -> None:
    """Decode; what comes is plain, in little time, or a WireError."""
    started = time.process_time()
    with contextlib.suppress(WireError):
        decode(data, lambda reference: reference)
    assert time.process_time() - started < 2
    try:
        value = decode(data)
    except WireError:
        return
    assert is_plain(value)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("sample", [SAMPLE, FRAME, list(SERIES.values())[2]], ids=["values", "frame", "series"])
def test_every_flip_of_a_byte_and_every_cut_is_a_value_or_a_wire_error(sample):
    data = encode(sample)
    for place in range(len(data)):
        survives(data[:place])
        for mask in (0x01, 0x80, 0xFF, random.Random(place).randrange(1, 256)):
            survives(data[:place] + bytes([data[place] ^ mask]) + data[place + 1 :])


@pytest.mark.filterwarnings("ignore")
@settings(SETTINGS, max_examples=500)
@given(st.binary(max_size=60))
def test_random_bytes_are_a_value_or_a_wire_error(data):
    survives(data)
    survives(b"\x93" + data)


ROWS = st.lists(
    st.one_of(
        ATOMS,
        st.builds(
            lambda code, count: ExtType(code, struct.pack(">I", count)),
            st.sampled_from(list(NUMBER_OF.values())),
            st.integers(0, 5),
        ),
        st.sampled_from(["<f8", "|b1", "<M8[ns]", bytes(8), "frame", "index", "objects", "strings", "stamp", 0, 1, 2]),
    ),
    min_size=1,
    max_size=12,
)


@pytest.mark.filterwarnings("ignore")
@settings(SETTINGS, max_examples=500)
@given(ROWS)
def test_random_rows_are_a_value_or_a_wire_error(row):
    row = [x if type(x) is not int else x % 2**63 for x in row]
    survives(Packer(unicode_errors="surrogatepass").pack(row))


@pytest.mark.filterwarnings("ignore")
@SETTINGS
@given(VALUES, st.data())
def test_mutated_messages_are_a_value_or_a_wire_error(value, data):
    message = bytearray(encode(value))
    for _ in range(data.draw(st.integers(1, 3))):
        place = data.draw(st.integers(0, len(message) - 1))
        message[place : place + data.draw(st.integers(0, 2))] = data.draw(st.binary(max_size=2))
    survives(bytes(message))


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
def test_memory_is_in_proportion_to_the_message():
    messages = [*BAD.values(), encode(SAMPLE), *map(encode, FRAMES.values()), *map(pandas_message, BAD_FRAMES.values())]
    messages.append(pandas_message(["range", 0, frames.RANGE, 1, None]))
    messages.append(message((np.ndarray, 3), "|S60000000", b"", 0))
    messages.append(message((list, 2), *[(np.ndarray, 3), "<f8", b"", 0] * 2))
    messages.append(message(*[(list, 1000)] * 59, *range(1000)))
    for data in messages:
        survives(data)  # what is loaded at first use
        tracemalloc.start()
        try:
            survives(data)
            assert tracemalloc.get_traced_memory()[1] < 300_000 + 200 * len(data)
        finally:
            tracemalloc.stop()


@pytest.mark.slow
@pytest.mark.parametrize("cls", [list, tuple, dict, frozenset])
def test_work_is_in_proportion_to_the_message(cls):
    """Marks that promise all that is left, sixty deep and side by side."""
    size = 100_000
    row = [(cls, size - 2 * i) for i in range(1, LEVELS)] + list(range(size))
    started = time.process_time()
    for data in (message(*row), message((list, size), *[(list, 0)] * size)):
        with contextlib.suppress(WireError):
            decode(data)
    assert time.process_time() - started < 2


def test_a_small_array_crosses_in_tens_of_microseconds():
    array = np.ones((3, 4))
    assert min(timeit.repeat(lambda: decode(encode(array)), number=50, repeat=40)) / 50 < 100e-6
