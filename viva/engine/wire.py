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

from collections.abc import Callable

from viva.engine.values.codec import Reference
from viva.engine.values.reader import Reader
from viva.engine.values.row import row_of
from viva.engine.values.writer import Writer
from viva.verdict import VivaError, WireError

__all__ = ["Reference", "WireError", "decode", "encode", "is_plain"]


def encode(value, refer: Callable | None = None, liken: Callable | None = None) -> bytes:
    """The message that carries ``value``; ``refer(object)`` gives a Reference for what is not plain, or None.

    ``liken(object)`` gives one for what is of a subclass of a plain type, or None where it crosses as its base.

    Raises WireError for what has no reference, for a cycle, and for what exceeds a cap.
    """
    writer = Writer(refer, liken)
    try:
        writer.put(value)
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        # A library could not take apart what it has made itself, such as a date at the end of what it counts.
        raise WireError(f"a value cannot cross ({type(error).__name__}: {str(error)[:200]})") from error
    return writer.message()


def decode(data: bytes, resolve: Callable | None = None):
    """The value that a message carries; ``resolve(reference)`` gives what takes the place of a Reference.

    Raises WireError for any bytes that carry no value, and for a reference without ``resolve``.
    The arrays of the value are new and writable.
    """
    try:
        return Reader(row_of(data), resolve).value()
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
