"""The lines of a student's own code that a traceback names, as far as they really stand in a cell at that number.

A traceback comes from the student's process, and tests may be in it: only what the student wrote is ever told.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

FRAME = re.compile(
    r"""
    ^\s* File[ ]"<ipython-input-[^"]*>",[ ]line[ ](\d{1,5}),[ ]in[ ](\S+)\n
    (.*)$                                                                         # the line's text
    """,
    re.MULTILINE | re.VERBOSE,
)


@dataclass(frozen=True)
class Frame:
    """One line of a student's own code that was running: the cell's id, line number, function and text."""

    cell: str
    line: int
    function: str
    code: str


def own_frames(traceback: str, own: Mapping[str, str]) -> list[Frame]:
    """The frames of a traceback, the outermost first, whose line stands in one of the ``own`` cells, by id."""
    frames = []
    for number, function, code in FRAME.findall(traceback):
        for cell, source in own.items():
            lines, line = source.splitlines(), int(number)
            if 0 < line <= len(lines) and code.strip() and lines[line - 1].strip() == code.strip():
                frames.append(Frame(cell, line, function, code.strip()))
                break
    return frames
