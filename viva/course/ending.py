"""What became of a submission in a batch."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from viva.record import Note
from viva.submission.submission import Submission
from viva.verdict import Verdict


class Status(StrEnum):
    """What became of a submission in a batch."""

    DONE = "done"
    UNCHANGED = "unchanged"
    """Done before, and nothing has changed since."""
    EXPLAINED = "explained"
    """It cannot be graded because of what was handed in; the reason says what that is."""
    FAILED = "failed"
    """It needs the grader."""


@dataclass(frozen=True)
class Ending:
    """What became of one submission, why, and what else is worth knowing about it."""

    submission: Submission
    status: Status
    reason: str = ""
    notes: tuple[str, ...] = ()
    log: str = ""
    verdicts: tuple[Verdict, ...] = ()
    repairs: dict[str, list[Note]] = field(default_factory=dict)
    """By notebook. The record is not kept: a command holds the endings of a whole term."""
