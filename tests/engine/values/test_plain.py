"""Subclasses cross as their base, and none of their methods runs."""

from __future__ import annotations

import datetime as dt
from collections import Counter, OrderedDict, namedtuple
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from tests.engine.test_wire import same
from viva.engine.values import codec, frames, plain
from viva.engine.values.codec import CODEC_OF
from viva.engine.values.librarycodecs import codec_that_was_added
from viva.engine.wire import Reference, decode, encode

Point = namedtuple("Point", "x y")


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
