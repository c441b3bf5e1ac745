"""Plain values to bytes and back. Nothing else can be expressed.

Theory of operation. Two processes speak through this module, and one of them may be hostile: every
byte that ``decode`` reads may have been made up. A value is taken apart into *parts*, those into
theirs, until only atoms are left (None, bool, int, float, str, bytes), and all of it is written as
one flat row, in which a *mark* (the number of a codec, how many parts) stands before the parts:

    {"a": [1, 2.5]}   ->   (dict, 2)  "a"  (list, 2)  1  2.5

msgpack packs the row; a mark is an extension of four bytes, and an int beyond 64 bits one of as
many as it needs. A list that stands in a value twice is written once, and then as the number that it has
among what can be changed and was built before: so it is one on the other side too. msgpack's own
containers never nest: a message that declares 2**31 entries is refused before anything is allocated for
them, an extension inside an extension cannot be said, and levels and items are counted in one place.
values/plain.py lists the codecs, by which the values of a type are taken apart and built again;
values/frames.py is that of pandas. What is not plain crosses as a Reference, if the caller has one for it.
"""

from __future__ import annotations

import datetime as dt
import itertools
import struct
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
from msgpack import ExtType, Packer, Unpacker

from viva.engine.values.codec import BYTES as MESSAGE
from viva.engine.values.codec import CODEC_OF, Codec, Like, Reference, name_of
from viva.engine.values.plain import (
    AGAIN,
    ATOMS,
    CHANGEABLE,
    CODECS,
    HOLDERS,
    INT_BITS,
    LIBRARY,
    LIKE,
    NUMBER_OF,
    PANDAS,
    codec_of,
)
from viva.verdict import VivaError, WireError

# --- the flat row of a message: atoms, and marks (codec, count) before the parts of what is none


LEVELS = 60
ITEMS = 2_000_000  # parts of a value, and theirs
BIG_INT = 127  # the extension that is not a mark
COUNT = struct.Struct(">I")
ATOM_TYPES = frozenset(ATOMS)


def mark(codec: Codec, count: int) -> ExtType:
    """The mark before the ``count`` parts of a value."""
    return ExtType(NUMBER_OF[codec], COUNT.pack(count))


def row_of(data: bytes) -> list:
    """The atoms and the marks (codec, count) of a message."""
    if not 0 < len(data) <= MESSAGE:
        raise WireError(f"a message of {len(data)} bytes; the limit is 1 to {MESSAGE}")
    unpacker = Unpacker(
        max_buffer_size=len(data), max_array_len=0, max_map_len=0, ext_hook=_extension, unicode_errors="surrogatepass"
    )
    unpacker.feed(data)
    count = unpacker.read_array_header()
    if count > min(ITEMS, len(data)):
        raise WireError(f"a message of {len(data)} bytes declares {count} items")
    row = list(itertools.islice(unpacker, count))
    if len(row) != count or unpacker.tell() != len(data):
        raise WireError("a message is cut short, or continues after its end")
    if not set(map(type, row)) <= ATOM_TYPES | {tuple}:  # an empty list or map, or msgpack's Timestamp
        raise WireError("a message holds an unknown element")
    return row


def _extension(code: int, data: bytes) -> int | tuple[Codec, int]:
    if code == BIG_INT and len(data) <= INT_BITS // 8 + 1:
        return int.from_bytes(data, "little", signed=True)
    if 0 <= code < len(CODECS):
        return CODECS[code], *COUNT.unpack(data)
    raise WireError(f"a message holds the unknown mark {code}")


# --- writing


SIZED = frozenset((str, bytes))
LIKED_ATOMS = frozenset((str, float))
"""The atoms of which there can be several that are equal, so that each can be known by its id()."""
Likes = dict[int, tuple[int | Reference, object, int]]
"""By id() of a value that stands for one of another class: the number of its Like, or the reference to what it stands
for; the value itself, which keeps the id; and its bytes, roughly."""


class Writer:
    """Lays out the row of one message; ``trail`` are the types around the value at hand."""

    def __init__(self, refer: Callable | None, liken: Callable | None = None, likes: Likes | None = None):
        self.refer, self.liken, self.likes, self.room = refer, liken, likes, MESSAGE
        self.inside = False
        """Whether this is in what is said about a reference."""
        self.row: list = []
        self.trail: list = []
        self.known: dict[int, tuple[int, int, object]] | None = {}
        """The number, items and value of what can be changed, by id(). None where nobody asks, as in a frame."""
        self.items = 0
        """The number of items that were put; what is put twice counts twice."""

    def put(self, value) -> None:
        if self.likes and id(value) in self.likes:
            known, *_ = self.likes[id(value)]
            if type(known) is Reference:
                return self.put_about(known)
            self.put_like(known)
        if type(value) in ATOM_TYPES:
            return self.put_atom(value)
        codec: Any = CODEC_OF.get(type(value))  # a Codec, an atom's type or None
        if (
            codec is None
            and (codec := codec_of(value))
            and self.liken
            and (like := self.liken(value, self.inside)) is not None
        ):
            if type(like) is Reference:
                return self.put_about(like)
            self.put_like(like)
        if codec in ATOM_TYPES:  # isinstance may be a student's: this runs in the candidate too
            return self.put_atom(ATOMS[codec](value))
        if self.known and id(value) in self.known:
            return self.put_again(*self.known[id(value)][:2])
        before = self.items
        parts = codec.split(value) if codec else None
        if codec is None or parts is None:
            return self.put_reference(value)
        if codec in HOLDERS:
            self.put_parts(codec, parts, type(value))
        else:
            copies, refer, likes, self.known = self.known, self.refer, self.likes, None
            if codec in COSTLY:
                self.likes = None  # a cell of a frame is plain
            if codec is LIBRARY:
                self.refer = None  # its parts are plain
            self.put_parts(codec, parts, type(value))
            self.known, self.refer, self.likes = copies, refer, likes
        if self.known is not None and codec in CHANGEABLE:
            self.known[id(value)] = len(self.known), self.items - before, value
        return None

    def put_like(self, number) -> None:
        """What stands before a value that is of another class in the candidate."""
        self.row += mark(LIKE, 2), number
        self.count(2)

    def put_again(self, number: int, items: int) -> None:
        self.row += mark(AGAIN, 1), number
        self.count(items)

    def count(self, items: int) -> None:
        self.items += items
        if self.items >= ITEMS:
            raise WireError(f"a value has more than {ITEMS} items{self.where()}")

    def put_atom(self, value) -> None:
        if type(value) in SIZED:
            self.charge(len(value))
        self.row.append(value)

    def put_parts(self, codec: Codec, parts: list, cls: type) -> None:
        if len(self.trail) >= LEVELS:
            raise WireError(f"a value is nested deeper than {LEVELS} levels, or contains itself{self.where()}")
        self.count(len(parts))
        self.row.append(mark(codec, len(parts)))
        types = set(map(type, parts))
        if types <= ATOM_TYPES and not (self.likes and not types.isdisjoint(LIKED_ATOMS)):
            if not types.isdisjoint(SIZED):
                self.charge(sum([len(part) for part in parts if type(part) in SIZED]))
            self.row.extend(parts)
        else:
            self.trail.append(cls)
            for part in parts:
                self.put(part)
            self.trail.pop()

    def put_reference(self, value) -> None:
        reference = self.refer(value) if self.refer else None
        if type(reference) is not Reference:
            raise WireError(f"a value of type {_kind_of(value)} cannot be sent between the two processes{self.where()}")
        self.put_about(reference)

    def put_about(self, reference: Reference) -> None:
        """A reference; what is said about it is plain."""
        before = self.refer, self.likes, self.known, self.inside
        self.refer, self.likes, self.known, self.inside = None, None, None, True
        self.put_parts(CODEC_OF[Reference], [reference.id, reference.about], Reference)
        self.refer, self.likes, self.known, self.inside = before

    def charge(self, size: int) -> None:
        self.room -= size
        if self.room < 0:
            raise WireError(f"a value is larger than {MESSAGE} bytes{self.where()}")

    def where(self) -> str:
        around = [name_of(cls) for cls in self.trail[:-4:-1]]
        return f" (in a {' in a '.join(around)})" if around else ""

    def message(self) -> bytes:
        if len(self.row) > ITEMS:
            raise WireError(f"a value has more than {ITEMS} items")
        packer = Packer(strict_types=True, unicode_errors="surrogatepass", default=self.big_int, buf_size=1024)
        data = packer.pack(self.row)
        if len(data) > MESSAGE:
            raise WireError(f"a value is larger than {MESSAGE} bytes")
        return data

    def big_int(self, value) -> ExtType:
        """The function that msgpack calls for an int beyond 64 bits."""
        if type(value) is not int:  # its metaclass says that it equals an atom's type
            raise WireError(f"a value of type {name_of(type(value))} cannot be sent between the two processes")
        if value.bit_length() > INT_BITS:
            raise WireError(f"an int of {value.bit_length()} bits cannot be sent; the limit is {INT_BITS}")
        data = value.to_bytes(value.bit_length() // 8 + 1, "little", signed=True)
        self.charge(len(data))
        return ExtType(BIG_INT, data)


# --- reading


FRAMES = 50_000  # objects of pandas and of added libraries in one message: one can cost a tenth of a millisecond
COSTLY = (PANDAS, LIBRARY)
SIMPLE = frozenset(CODEC_OF[cls] for cls in (list, tuple, dict))
"""The codecs whose values are built for a reader that wants nothing but atoms."""


class Reader:
    """Builds the value of one row; ``owed`` counts the parts that marks promised and that are to come.

    What is owed never exceeds what is left of the row, so all work is in proportion to the row.
    """

    def __init__(self, row: list, resolve: Callable | None, simple: bool = False):
        self.simple = simple
        self.row, self.resolve, self.like, self.at, self.owed = row, resolve, resolve, 0, 1
        self.known: list[tuple[object, int]] | None = []
        """The changeable values in the order in which they were built, each with its number of items."""
        self.items = 0
        """The number of items of the value; what it holds twice counts twice, as a reader meets it twice."""

    def value(self):
        if not self.simple and sum(type(item) is tuple and item[0] in COSTLY for item in self.row) > FRAMES:
            raise WireError(f"a message holds more than {FRAMES} objects of pandas, or of other libraries")
        value = self.take(0)
        if self.at != len(self.row):
            raise WireError("a message continues after its value")
        return value

    def take(self, level: int):
        item = self.row[self.at]
        self.at += 1
        self.owed -= 1
        self.items += 1
        if type(item) is not tuple:
            return item
        codec, count = item
        self.owed += count
        if level >= LEVELS:
            raise WireError(f"a message is nested deeper than {LEVELS} levels")
        if self.owed > len(self.row) - self.at:
            raise WireError("a message declares more items than it contains")
        before, copies = self.items, self.known
        if codec not in HOLDERS:
            self.known = None
        parts = self.row[self.at : self.at + count]
        types = set(map(type, parts))
        if tuple in types:
            parts = self.take_marked(codec, count, level + (codec is not LIKE))
            types = codec.parts and set(map(type, parts))
        else:
            self.at += count
            self.owed -= count
            self.items += count
        self.known = copies
        left_out = self.simple and codec not in SIMPLE and codec is not AGAIN
        if codec.parts is not None and not left_out and not types <= codec.parts:
            raise WireError("a message holds a value with impossible parts")
        if codec is AGAIN:
            return self.again(*parts)
        value = None if left_out else self.build(codec, parts)
        if codec is LIKE and copies and copies[-1][0] is parts[1]:
            copies[-1] = value, copies[-1][1]
        if copies is not None and codec in CHANGEABLE:
            copies.append((value, self.items - before))
        return value

    def again(self, number: int):
        if self.known is None or not 0 <= number < len(self.known):
            raise WireError("the message between the processes is not valid (it repeats an item that is not in it)")
        value, items = self.known[number]
        self.items += items
        if self.items > ITEMS:
            raise WireError(f"a message repeats items, and holds more than {ITEMS} with the repetitions")
        return value

    def take_marked(self, codec: Codec, count: int, level: int) -> list:
        resolve = self.resolve
        if codec in (CODEC_OF[Reference], LIBRARY):
            self.resolve = None  # what is said about a reference is plain, and so are the parts of a library's value
        parts = [self.take(level) for _ in range(count)]
        self.resolve = resolve
        return parts

    def build(self, codec: Codec, parts: list):
        value = codec.build(parts)
        if type(value) is Like:
            return self.like(value) if self.like else value.value
        if type(value) is Reference:
            if self.resolve is None:
                raise WireError(
                    "the message between the processes is not valid (a reference in place of a plain value)"
                )
            return self.resolve(value)
        return value


# --- messages


__all__ = ["Like", "Reference", "WireError", "decode", "encode", "is_plain"]


def _kind_of(value) -> str:
    """The name of a value's type, and what of it cannot be sent although others of the type can."""
    cls = type(value)
    if cls is np.ndarray:
        return f"ndarray with the dtype {str(value.dtype)[:100]}"
    zone = value.tzinfo if cls in (dt.datetime, dt.time) else None
    return f"{name_of(cls)} with a time zone of the class {name_of(type(zone))}" if zone is not None else name_of(cls)


def encode(value, refer: Callable | None = None, liken: Callable | None = None, likes: Likes | None = None) -> bytes:
    """The message that carries ``value``; ``refer(object)`` gives a Reference for what is not plain, or None.

    Of what is of a subclass of a plain type ``liken(object, inside)`` gives one, or the number of a Like, or None where
    it crosses as its base alone; ``inside`` of what is said about a reference it gives no other. ``likes`` are the
    values that stand for others of the reader's.

    Raises WireError for what has no reference, for a cycle, and for what exceeds a cap.
    """
    writer = Writer(refer, liken, likes)
    try:
        writer.put(value)
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        # A library could not take apart what it has made itself, such as a date at the end of what it counts.
        raise WireError(
            f"a value cannot be sent between the two processes ({type(error).__name__}: {str(error)[:200]})"
        ) from error
    return writer.message()


NAMES = 10_000
"""The items of a message in which texts are made one with the names in code."""


def decode(data: bytes, resolve: Callable | None = None, simple: bool = False, interned: bool = False):
    """The value that a message carries; ``resolve(reference)`` gives what takes the place of a Reference or a Like.

    A ``simple`` value has atoms, lists, tuples and dictionaries. Anything else in the message is None there, and no
    time is spent on it. In a message that is ``interned`` a text that could be a name is the one that stands in code,
    as where a function compares its argument by ``is`` with a text.

    Raises WireError for any bytes that carry no value, and for a reference without ``resolve``.
    The arrays of the value are new and writable.
    """
    try:
        row = row_of(data)
        if interned and len(row) <= NAMES:
            row = [sys.intern(item) if type(item) is str and item.isidentifier() else item for item in row]
        return Reader(row, resolve, simple).value()
    except VivaError:
        raise
    except (Exception, MemoryError) as error:
        raise WireError(f"a message is malformed ({type(error).__name__}: {str(error)[:200]})") from error


def is_plain(value) -> bool:
    """Whether ``value`` would cross without a reference."""
    try:
        Writer(None).put(value)
    except WireError:
        return False
    return True
