"""Plain values: for each type that may cross there is a codec, which takes values apart and builds them again.

``split`` gives the parts of a value: atoms, or values that are taken apart in turn. It reads through
methods of the plain type only, so that no method of a subclass runs; a subclass crosses as the value
of its base (beside a name for the object, where a student's has methods), so a namedtuple as a tuple. A
defaultdict is one there, too, if a class of Python's makes what it lacks, as ``int`` or ``list``; else a dict.
Members of an Enum and masked arrays are not plain: their base value would say something else.
``build`` gives the value again, from parts that a hostile process may have made up: it raises
(anything; viva/engine/wire.py makes a WireError of it) or it returns a value of its types, in time and
memory that the message has paid for. It never evaluates or imports by a name in the message.
"""

from __future__ import annotations

import datetime as dt
import functools
import itertools
import sys
from collections import Counter, OrderedDict, defaultdict
from collections.abc import Callable
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from types import EllipsisType, NoneType
from typing import Any

import numpy as np

from viva.engine.values.codec import (
    CODEC_OF,
    SCALARS,
    Again,
    Codec,
    Like,
    Reference,
    build_array,
    build_scalar,
    check_keys,
    module_of,
    mro_of,
    split_array,
    split_scalar,
)
from viva.engine.values.librarycodecs import LATE, LIBRARY, learn_late
from viva.verdict import WireError

# --- all types


INT_BITS = 20_000  # of an int, and digits of a Decimal

ATOMS: dict[type, Any] = {
    NoneType: None,
    bool: None,
    int: int.__int__,
    float: float.__float__,
    str: str.__str__,
    bytes: bytes.__bytes__,
}
"""The types that msgpack knows, each with the function that makes it of a value of a subclass."""


def codec_of(value) -> Codec | type | None:
    """The codec of ``value`` (of an atom its plain type), also of a subclass; None when it is not plain."""
    codec = CODEC_OF.get(type(value))
    if codec:
        return codec
    if type(value) is defaultdict and _maker_of(value):
        return DEFAULTING
    if "pandas" in sys.modules:
        learn_pandas()
    mro = mro_of(type(value))
    if LATE and any(learn_late(module_of(base).partition(".")[0]) for base in mro):
        return codec_of(value)
    if Enum in mro or np.ma.MaskedArray in mro:
        return None
    return next((CODEC_OF.get(base, base) for base in mro if base in CODEC_OF or base in ATOMS), None)


def base_of(value):
    """The value of its plain type that something of a subclass is; the thing itself where it cannot cross, as an
    array of objects."""
    codec = codec_of(value)
    if codec in ATOMS:
        return ATOMS[codec](value)
    parts = codec.split(value)
    return value if parts is None else codec.build(parts)


def mixed_in(value):
    """The plain value that a member of an IntEnum, a StrEnum or the like is as well; None for anything else."""
    mro = mro_of(type(value))
    base = next((base for base in mro if base in ATOMS), None)
    return ATOMS[base](value) if base and Enum in mro else None


@functools.cache
def learn_pandas():
    """The module that knows pandas objects; loaded late, because pandas is slow to load."""
    from viva.engine.values import frames

    CODEC_OF.update(dict.fromkeys(frames.TYPES, PANDAS))
    return frames


def _attributes(cls: type, *names: str) -> Callable:
    getters = [getattr(cls, name).__get__ for name in names]
    return lambda value: [get(value) for get in getters]


# --- containers


def _reference(parts: list) -> Reference:
    number, description = parts
    if type(number) is not int or type(description) is not dict or not set(map(type, description)) <= {str}:
        raise WireError("a message holds a malformed reference")
    return Reference(number, description)


def _like(parts: list) -> Like:
    number, value = parts
    if type(number) is not int:
        raise WireError("a message holds a malformed class")
    return Like(number, value)


def _dict(parts: list, cls: type = dict) -> dict:
    keys, value = parts[::2], cls()
    check_keys(keys)
    dict.update(value, zip(keys, parts[1::2], strict=True))
    if len(value) != len(keys):
        raise WireError("a message holds a dict that has a key twice")
    return value


def _set(parts: list, cls: Callable = set) -> set | frozenset:
    check_keys(parts)
    value = cls(parts)
    if len(value) != len(parts):
        raise WireError("a message holds a set that has an item twice")
    return value


def _ordered(parts: list) -> OrderedDict:
    return OrderedDict(_dict(parts))


def _split_dict(value) -> list:
    return list(itertools.chain.from_iterable(dict.items(value)))


MAKERS = {cls.__name__: cls for cls in (bool, int, float, complex, str, bytes, tuple, list, dict, set)}
"""The classes of which a defaultdict of the other process makes what it lacks, by name."""


def _maker_of(value: defaultdict) -> str:
    """The name of what makes a missing value, if both processes have it."""
    slots: Any = defaultdict
    maker = slots.default_factory.__get__(value)
    return next((name for name, cls in MAKERS.items() if cls is maker), "")


def _defaulting(parts: list) -> defaultdict:
    name, *items = parts
    value: defaultdict = defaultdict(MAKERS[name])
    dict.update(value, _dict(items))
    return value


def _split_ordered(value) -> list:
    return [part for key in OrderedDict.__iter__(value) for part in (key, dict.__getitem__(value, key))]


# --- numbers and dates


def _split_decimal(value) -> list:
    text = Decimal.__str__(value)
    if len(text) > INT_BITS:
        raise WireError(f"a Decimal of more than {INT_BITS} digits cannot be sent")
    return [text]


def _decimal(parts: list) -> Decimal:
    (text,) = parts
    if len(text) > INT_BITS:
        raise WireError("a message holds a Decimal of too many digits")
    return Decimal(text)


def _split_fraction(value) -> list | None:
    slots: Any = Fraction  # whose fields a subclass cannot hide, and which typeshed does not know
    parts = [slots._numerator.__get__(value), slots._denominator.__get__(value)]
    return parts if set(map(type, parts)) == {int} else None


def _types(*types: type) -> frozenset:
    return frozenset(types)


def _clock(cls: type, *names: str) -> Codec:
    """The codec of what shows a time; one with a time zone cannot cross."""
    attributes, zone = _attributes(cls, *names, "fold"), _attributes(cls, "tzinfo")
    return Codec(
        (cls,),
        lambda value: attributes(value) if zone(value) == [None] else None,
        lambda parts: cls(*parts[:-1], fold=parts[-1]),
        _types(int),
    )


# --- the table; a codec's place in it is its number on the wire


PANDAS = Codec((), lambda value: learn_pandas().take_apart(value), lambda parts: learn_pandas().put_together(parts))
DEFAULTING = Codec((), lambda value: [_maker_of(value), *_split_dict(value)], _defaulting)
CODECS = (
    Codec((Reference,), lambda value: None, _reference),
    Codec((list,), list.copy, list),
    Codec((tuple,), lambda value: [*tuple.__iter__(value)], tuple),
    Codec((dict,), _split_dict, _dict),
    Codec((set,), lambda value: [*set.__iter__(value)], _set),
    Codec((frozenset,), lambda value: [*frozenset.__iter__(value)], lambda parts: _set(parts, frozenset)),
    Codec((OrderedDict,), _split_ordered, _ordered),
    Codec((Counter,), _split_dict, lambda parts: _dict(parts, Counter)),
    Codec((slice,), _attributes(slice, "start", "stop", "step"), lambda parts: slice(*parts)),
    Codec((range,), _attributes(range, "start", "stop", "step"), lambda parts: range(*parts), _types(int)),
    Codec((EllipsisType,), lambda value: [], lambda parts: ..., _types()),
    Codec((complex,), _attributes(complex, "real", "imag"), lambda parts: complex(*parts), _types(float)),
    Codec((bytearray,), lambda value: [bytes(bytearray.copy(value))], lambda parts: bytearray(*parts), _types(bytes)),
    Codec((Decimal,), _split_decimal, _decimal, _types(str)),
    Codec((Fraction,), _split_fraction, lambda parts: Fraction(*parts), _types(int)),
    Codec((dt.date,), _attributes(dt.date, "year", "month", "day"), lambda parts: dt.date(*parts), _types(int)),
    _clock(dt.datetime, "year", "month", "day", "hour", "minute", "second", "microsecond"),
    _clock(dt.time, "hour", "minute", "second", "microsecond"),
    Codec(
        (dt.timedelta,),
        _attributes(dt.timedelta, "days", "seconds", "microseconds"),
        lambda parts: dt.timedelta(*parts),
        _types(int),
    ),
    Codec((np.ndarray,), split_array, build_array, _types(str, bytes, int)),
    Codec(SCALARS, split_scalar, build_scalar, _types(str, bytes)),
    Codec((np.str_,), lambda value: [str.__str__(value)], lambda parts: np.str_(*parts), _types(str)),
    Codec((np.bytes_,), lambda value: [bytes.__bytes__(value)], lambda parts: np.bytes_(*parts), _types(bytes)),
    PANDAS,
    Codec((Again,), lambda value: None, lambda parts: Again, _types(int)),
    Codec((Like,), lambda value: None, _like),
    LIBRARY,
    DEFAULTING,
)
NUMBER_OF = {codec: number for number, codec in enumerate(CODECS)}
CODEC_OF |= {cls: codec for codec in CODECS for cls in codec.types}
AGAIN, LIKE = CODEC_OF[Again], CODEC_OF[Like]
HOLDERS = frozenset(
    CODEC_OF[cls] for cls in (list, dict, set, OrderedDict, Counter, bytearray, np.ndarray, tuple, Like)
) | {DEFAULTING}
"""Values in which the same thing may stand twice."""
CHANGEABLE = (HOLDERS - {CODEC_OF[tuple], LIKE}) | {PANDAS}
"""Values of which a test sees that two are one."""
