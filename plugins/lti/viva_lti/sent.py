"""The scores that were sent: ``lti/<assignment>.jsonl`` in the course, a line before and after each.

The file is only added to. A command that was killed leaves a line that says what it was about to send, or half a line,
which counts as none: nothing is sent before its line is on the disk.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path

import msgspec

from viva.course.course import Course
from viva_lti.scores import Score


class Sending(msgspec.Struct, frozen=True):
    """A score that was sent (``done``), or was about to be."""

    column: str
    user: str
    points: Decimal
    maximum: Decimal
    comment: str = ""
    done: bool = False
    student: str = ""
    """The student's id in the course: `viva roster --forget` finds the line by it."""

    def is_of(self, score: Score) -> bool:
        return (self.points, self.maximum, self.comment) == (score.points, score.maximum, score.comment)


class Sent:
    """What was sent of one assignment; each way has a ``folder`` of its own."""

    def __init__(self, course: Course, folder: str, assignment: str) -> None:
        self.assignment = assignment
        self.path: Path = course.root / folder / f"{assignment}.jsonl"

    def read(self, column: str) -> dict[str, list[Sending]]:
        """By user, what may have arrived in a column: the last that did, and all that was begun after it."""
        sendings: dict[str, list[Sending]] = {}
        for sending in self._all():
            if sending.column == column:
                sendings[sending.user] = [sending] if sending.done else [*sendings.get(sending.user, []), sending]
        return sendings

    def columns(self) -> list[str]:
        """The columns that scores were sent into, the last one last."""
        return list(dict.fromkeys(reversed([sending.column for sending in self._all()])))[::-1]

    def _all(self) -> Iterator[Sending]:
        for line in self.path.read_bytes().splitlines() if self.path.exists() else ():
            with contextlib.suppress(msgspec.DecodeError):  # half a line
                yield msgspec.json.decode(line, type=Sending)

    def note(self, column: str, score: Score, done: bool) -> None:
        """Add a line, and wait until the disk has it. Raises OSError."""
        sending = Sending(column, score.user, score.points, score.maximum, score.comment, done, score.student)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a+b") as file:
            file.seek(0, os.SEEK_END)
            if file.tell() and (file.seek(-1, os.SEEK_END), file.read(1))[1] != b"\n":
                file.write(b"\n")
            file.write(msgspec.json.encode(sending) + b"\n")
            file.flush()
            os.fsync(file.fileno())
