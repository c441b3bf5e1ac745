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
from collections import Counter, OrderedDict, defaultdict, deque
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from msgpack import ExtType, Packer, packb

from viva.engine import wire
from viva.engine.values import plain
from viva.engine.values.codec import BYTES, CODEC_OF, DIMENSIONS, TWINS
from viva.engine.values.plain import AGAIN, INT_BITS, LIKE, NUMBER_OF
from viva.engine.wire import BIG_INT, LEVELS, MESSAGE, Reference, decode, encode, is_plain
from viva.verdict import WireError

SETTINGS = settings(suppress_health_check=list(HealthCheck), max_examples=150)


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


def test_a_default_dict_is_one_there_if_a_class_of_pythons_makes_what_it_lacks_else_a_dict():
    class Mine(list):
        pass

    for maker in (lambda: 0, Mine, Counter, None):
        assert same(decode(encode(defaultdict(maker, a=[1]))), {"a": [1]})
    for maker in (int, list, dict):
        received = decode(encode({"d": defaultdict(maker, a=1)}))["d"]
        assert type(received) is defaultdict and received == {"a": 1} and received["b"] == maker()
    with pytest.raises(WireError):
        decode(encode(defaultdict(list)).replace(b"list", b"exec"))


def test_what_stands_in_a_value_twice_is_one_on_the_other_side():
    row, array = [0, 0], np.ones(2)
    value = decode(encode([row, [0, 0], (row, {"a": row}), array, array]))
    assert value[0] is value[2][0] is value[2][1]["a"] and value[0] is not value[1] and value[3] is value[4]


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
        WireError, match=rf"a value of type {type(value).__name__}.* cannot be sent between .* \(in a list in a dict\)"
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
def test_every_flip_of_a_byte_and_every_cut_is_a_value_or_a_wire_error():
    flip_and_cut(encode(SAMPLE))


def flip_and_cut(data: bytes) -> None:
    """Whatever byte is another one, and wherever the message ends."""
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


@pytest.mark.filterwarnings("ignore")
def test_memory_is_in_proportion_to_the_message():
    messages = [*BAD.values(), encode(SAMPLE), message((np.ndarray, 3), "|S60000000", b"", 0)]
    messages.append(message((list, 2), *[(np.ndarray, 3), "<f8", b"", 0] * 2))
    messages.append(message(*[(list, 1000)] * 59, *range(1000)))
    take_little_memory(messages)


def take_little_memory(messages: list[bytes]) -> None:
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
    """Marks that promise all that is left, sixty deep and side by side, beside an honest message of as many lists."""
    size = 100_000
    row = [(cls, size - 2 * i) for i in range(1, LEVELS)] + list(range(size))

    def seconds(data):
        started = time.process_time()
        with contextlib.suppress(WireError):
            decode(data)
        return time.process_time() - started

    honest = seconds(encode([[] for _ in range(size)]))
    for data in (message(*row), message((list, size), *[(list, 0)] * size)):
        assert seconds(data) < 10 * honest


def test_a_small_array_crosses_in_tens_of_microseconds():
    array = np.ones((3, 4))
    assert min(timeit.repeat(lambda: decode(encode(array)), number=50, repeat=40)) / 50 < 100e-6
