"""Builds a value from the row of a message, which a hostile process may have made up."""

from __future__ import annotations

from collections.abc import Callable

from viva.engine.values.codec import CODEC_OF, Codec, Reference
from viva.engine.values.namedtuples import build_named
from viva.engine.values.plain import AGAIN, CHANGEABLE, HOLDERS
from viva.engine.values.row import ITEMS, LEVELS
from viva.verdict import WireError

SHAPES = 100  # different namedtuples in one message: to make one costs a tenth of a millisecond


class Reader:
    """Builds the value of one row; ``owed`` counts the parts that marks promised and that are to come.

    What is owed never exceeds what is left of the row, so all work is in proportion to the row.
    """

    def __init__(self, row: list, resolve: Callable | None):
        self.row, self.resolve, self.at, self.owed, self.shapes = row, resolve, 0, 1, set()
        self.known: list[tuple[object, int]] | None = []
        """What can be changed, in the order in which it was built, and of how many items it is."""
        self.items = 0
        """So many has the value, counting what it holds twice twice: whoever goes through it meets them all."""

    def value(self):
        value = self.take(0)
        if self.at != len(self.row):
            raise WireError("a message goes on after its value")
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
            raise WireError("a message promises more items than it holds")
        before, known = self.items, self.known
        if codec not in HOLDERS:
            self.known = None
        parts = self.row[self.at : self.at + count]
        found = set(map(type, parts))
        if tuple in found:
            parts = self.take_marked(codec, count, level + 1)
            found = codec.parts and set(map(type, parts))
        else:
            self.at += count
            self.owed -= count
            self.items += count
        self.known = known
        if codec.parts is not None and not found <= codec.parts:
            raise WireError("a message holds a value of parts that it cannot have")
        if codec is AGAIN:
            return self.again(*parts)
        value = self.build(codec, parts)
        if known is not None and codec in CHANGEABLE:
            known.append((value, self.items - before))
        return value

    def again(self, number: int):
        if self.known is None or not 0 <= number < len(self.known):
            raise WireError("a message repeats what it does not hold")
        value, items = self.known[number]
        self.items += items
        if self.items > ITEMS:
            raise WireError(f"a message holds more than {ITEMS} items, as it repeats some")
        return value

    def take_marked(self, codec: Codec, count: int, level: int) -> list:
        resolve = self.resolve
        if codec is CODEC_OF[Reference]:
            self.resolve = None  # what is said about a reference is plain
        parts = [self.take(level) for _ in range(count)]
        self.resolve = resolve
        return parts

    def build(self, codec: Codec, parts: list):
        value = codec.build(parts)
        if codec.build is build_named:
            self.shapes.add(type(value))
            if len(self.shapes) > SHAPES:
                raise WireError(f"a message holds more than {SHAPES} different namedtuples")
            return value
        if type(value) is Reference:
            if self.resolve is None:
                raise WireError("a message holds a reference where only plain values can be")
            return self.resolve(value)
        return value
