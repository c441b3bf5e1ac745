"""What the tests of all codecs do: learn a library's, send a value, and write messages as a hostile process may."""

from __future__ import annotations

from typing import Any

import pytest

from viva import doors
from viva.engine.values.librarycodecs import LIBRARY, add
from viva.engine.wire import Writer, decode, encode
from viva.verdict import WireError


def learn(library: str) -> None:
    """The codecs of a library that is installed; otherwise the tests of the module are skipped."""
    pytest.importorskip(library, exc_type=ImportError)
    for codec in doors.CODECS.load(library):
        add(library, codec)


def crossed(value: Any) -> Any:
    """A value as it arrives on the other side, where all of it can cross."""
    return decode(encode(value))


def message(*parts: Any) -> bytes:
    """A message that holds a library's value of these parts."""
    writer = Writer(None)
    writer.put_parts(LIBRARY, list(parts), object)
    return writer.message()


def refused(*parts: Any) -> bool:
    """Whether such a message is refused, as all that nothing could have written must be."""
    try:
        decode(message(*parts))
    except WireError:
        return True
    return False
