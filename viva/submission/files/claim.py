"""The time that a submission claims, where something else is known of it: ``timestamp.claimed`` beside timestamp.txt.

Who collects writes it, and takes away what a student called so; an archive may still bring one of a student's own. It
is told as a fact, and no time depends on it.
"""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import msgspec

from viva.record import Note, note
from viva.submission.files.contents import read_file
from viva.verdict import SubmissionError

NAME = "timestamp.claimed"


class Claim(msgspec.Struct, frozen=True, omit_defaults=True):
    """When a submission says that it was submitted, when it was not there or not complete yet, and what counts."""

    claimed: datetime
    absent: datetime
    """A moment at which it was not there yet, or not complete: a watcher looked, or else the file system says so."""
    counted: datetime | None = None
    """From when it counts; None where the claimed time does, and a grader decides."""

    def write(self, folder: Path) -> None:
        (folder / NAME).write_bytes(msgspec.json.encode(self) + b"\n")

    def note(self) -> Note:
        if self.counted is None:
            return note("dated_before", _shown(self.claimed), _shown(self.absent))
        return note("dated_back", _shown(self.claimed), _shown(self.absent), _shown(self.counted))


def facts(folder: Path) -> list[Note]:
    """Notes for a grader about the time of a submission."""
    try:
        return [msgspec.json.decode(read_file(folder / NAME), type=Claim).note()]
    except (SubmissionError, msgspec.DecodeError, UnicodeDecodeError, ValueError, OverflowError):
        return []  # there is none


def _shown(when: datetime) -> str:
    when = when.replace(tzinfo=when.tzinfo or UTC).astimezone(UTC)
    return f"{when:%Y-%m-%d %H:%M:%S} UTC"
