"""Lays out a value as the row of a message."""

from __future__ import annotations

from collections.abc import Callable

from msgpack import ExtType, Packer

from viva.engine.values.classes import name_of
from viva.engine.values.codec import CODEC_OF, Codec, Reference
from viva.engine.values.plain import AGAIN, ATOMS, CHANGEABLE, HOLDERS, INT_BITS, codec_of
from viva.engine.values.row import ATOM_TYPES, BIG_INT, ITEMS, LEVELS, MESSAGE, mark
from viva.verdict import WireError

SIZED = frozenset((str, bytes))


class Writer:
    """Lays out the row of one message; ``trail`` are the types around the value at hand."""

    def __init__(self, refer: Callable | None, liken: Callable | None = None):
        self.refer, self.liken, self.row, self.trail, self.room = refer, liken, [], [], MESSAGE
        self.known: dict[int, tuple[int, int, object]] | None = {}
        """By id() of what can be changed: its number, its items, and itself. None where nobody asks, as in a frame."""
        self.items = 0
        """So many have been put, counting what is put twice twice."""

    def put(self, value) -> None:
        if type(value) in ATOM_TYPES:
            return self.put_atom(value)
        codec = CODEC_OF.get(type(value))
        if codec is None and (codec := codec_of(value)) and self.liken and (reference := self.liken(value)):
            return self.put_about(reference)
        if codec in ATOM_TYPES:
            return self.put_atom(ATOMS[codec](value))
        if self.known and id(value) in self.known:
            return self.put_again(*self.known[id(value)][:2])
        before = self.items
        parts = codec.split(value) if codec else None
        if parts is None:
            return self.put_reference(value)
        if codec in HOLDERS:
            self.put_parts(codec, parts, type(value))
        else:
            known, self.known = self.known, None
            self.put_parts(codec, parts, type(value))
            self.known = known
        if self.known is not None and codec in CHANGEABLE:
            self.known[id(value)] = len(self.known), self.items - before, value
        return None

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
            raise WireError(f"a value is nested deeper than {LEVELS} levels, or holds itself{self.where()}")
        self.count(len(parts))
        self.row.append(mark(codec, len(parts)))
        found = set(map(type, parts))
        if found <= ATOM_TYPES:
            if not found.isdisjoint(SIZED):
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
            raise WireError(f"a value of type {name_of(type(value))} cannot cross{self.where()}")
        self.put_about(reference)

    def put_about(self, reference: Reference) -> None:
        """A reference; what is said about it is plain."""
        before = self.refer, self.liken, self.known
        self.refer = self.liken = self.known = None
        self.put_parts(CODEC_OF[Reference], [reference.id, reference.about], Reference)
        self.refer, self.liken, self.known = before

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
        """What msgpack asks for when an int is beyond 64 bits."""
        if type(value) is not int:  # its metaclass says that it equals an atom's type
            raise WireError(f"a value of type {name_of(type(value))} cannot cross")
        if value.bit_length() > INT_BITS:
            raise WireError(f"an int of {value.bit_length()} bits cannot cross; the most is {INT_BITS}")
        data = value.to_bytes(value.bit_length() // 8 + 1, "little", signed=True)
        self.charge(len(data))
        return ExtType(BIG_INT, data)
