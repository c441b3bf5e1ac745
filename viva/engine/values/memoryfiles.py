"""Files in memory, ``io.StringIO`` and ``io.BytesIO``: their text, the place in it, and whether they are closed.

A test that hands one to a function sees what the function wrote to it, and how far it read.
"""

from __future__ import annotations

import io
from typing import Any

from viva.verdict import WireError

FILES = (io.StringIO, io.BytesIO)


def split(value: Any) -> list | None:
    """The parts of a file in memory; None for a text with carriage returns, which its reader may translate."""
    cls: Any = io.StringIO if issubclass(type(value), io.StringIO) else io.BytesIO
    if cls.closed.__get__(value):
        return ["" if cls is io.StringIO else b"", 0, True]
    content = cls.getvalue(value)
    if cls is io.StringIO and "\r" in content:
        return None
    return [content, cls.tell(value), False]


def build(parts: list) -> Any:
    """Raises WireError for parts that are none of a file's."""
    if len(parts) != 3 or type(parts[0]) not in (str, bytes) or type(parts[1]) is not int or parts[1] < 0:
        raise WireError("a message holds a damaged file")
    content, place, closed = parts
    if place > len(content):  # whoever writes behind the end fills the gap
        raise WireError("a message holds a file with a place behind its end")
    made: Any = io.StringIO(content) if type(content) is str else io.BytesIO(content)
    made.seek(place)
    if closed:
        made.close()
    return made


def fill(local: Any, received: Any) -> None:
    """Give a file the content, the place and the state of another of its kind."""
    if received.closed:
        local.close()
    elif not local.closed:
        local.seek(0)
        local.truncate()
        local.write(received.getvalue())
        local.seek(received.tell())
