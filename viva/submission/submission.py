"""A submission: the folder of one student for one assignment."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from viva.record import Note
from viva.verdict import Verdict


@dataclass(frozen=True)
class Submission:
    """What one student submitted for one assignment."""

    assignment: str
    student: str
    folder: Path
    zones: tuple[str, ...] = ()
    """The course's time zones, by name, which say what an abbreviation in its timestamp.txt means."""


# The results of a submission in a batch.


class Status(StrEnum):
    """The result of a submission in a batch."""

    DONE = "done"
    UNCHANGED = "unchanged"
    """Done before, and nothing has changed since."""
    REFUSED = "refused"
    """It cannot be graded because of what was submitted; the reason says what that is."""
    FAILED = "failed"
    """It needs the grader."""


@dataclass(frozen=True)
class Ending:
    """The result of one submission, its reason, and remarks about it."""

    submission: Submission
    status: Status
    reason: str = ""
    notes: tuple[str, ...] = ()
    log: str = ""
    verdicts: tuple[Verdict, ...] = ()
    repairs: dict[str, list[Note]] = field(default_factory=dict)
    """By notebook. The record is not kept: a command holds the endings of a whole term."""
