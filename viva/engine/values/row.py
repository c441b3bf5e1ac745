"""The flat row of a message: atoms, and marks (codec, count) before the parts of what is none; how large it may be."""

from __future__ import annotations

import itertools
import struct

from msgpack import ExtType, Unpacker

from viva.engine.values.arrays import BYTES as MESSAGE
from viva.engine.values.codec import Codec
from viva.engine.values.plain import ATOMS, CODECS, INT_BITS, NUMBER_OF
from viva.verdict import WireError

LEVELS = 60
ITEMS = 2_000_000  # parts of a value, and theirs
BIG_INT = 127  # the extension that is no mark
COUNT = struct.Struct(">I")
ATOM_TYPES = frozenset(ATOMS)


def mark(codec: Codec, count: int) -> ExtType:
    """What stands before the ``count`` parts of a value."""
    return ExtType(NUMBER_OF[codec], COUNT.pack(count))


def row_of(data: bytes) -> list:
    """The atoms and the marks (codec, count) of a message."""
    if not 0 < len(data) <= MESSAGE:
        raise WireError(f"a message of {len(data)} bytes; between 1 and {MESSAGE} can be")
    unpacker = Unpacker(
        max_buffer_size=len(data), max_array_len=0, max_map_len=0, ext_hook=_extension, unicode_errors="surrogatepass"
    )
    unpacker.feed(data)
    count = unpacker.read_array_header()
    if count > min(ITEMS, len(data)):
        raise WireError(f"a message of {len(data)} bytes declares {count} items")
    row = list(itertools.islice(unpacker, count))
    if len(row) != count or unpacker.tell() != len(data):
        raise WireError("a message is cut short, or goes on after its end")
    if not set(map(type, row)) <= ATOM_TYPES | {tuple}:  # an empty list or map, or msgpack's Timestamp
        raise WireError("a message holds what is neither an atom nor a mark")
    return row


def _extension(code: int, data: bytes) -> int | tuple[Codec, int]:
    if code == BIG_INT and len(data) <= INT_BITS // 8 + 1:
        return int.from_bytes(data, "little", signed=True)
    if 0 <= code < len(CODECS):
        return CODECS[code], *COUNT.unpack(data)
    raise WireError(f"a message holds the unknown mark {code}")
