"""The vocabulary of results, and the exception tree.

VivaError                 what a user can fix; its text is a sentence for them
├── CourseError           a course folder, an assignment, a student or a gradebook
│   └── ClusterError      the machines that should grade are not there, or not fit for it
├── BlueprintError        an instructor notebook that cannot be graded
├── SubmissionError       what a student submitted cannot be read as a notebook; the text says why
├── AnswerError           a known answer that cannot be read or does not fit its assignment
├── LeakError             a page for a student holds what students may not read
├── WireError             a message from another process is malformed, too large or holds what cannot cross
└── SandboxError             the sandbox could not be raised; the fault is the machine's or ours

CandidateFault            (a BaseException, so that no `except Exception` in a test swallows it)
├── CandidateDied         the candidate's process ended in the middle of a question
├── CandidateLied         an answer is malformed, or not of the kind that the solution gave
│   └── CandidateOdd      it is an object where the solution gave plain data
└── CandidateStopped      the candidate was interrupted because its time was over
"""

from enum import StrEnum
from typing import Any


class Verdict(StrEnum):
    """The result of a check. Only PASSED earns all points, and PARTLY some; UNGRADED never costs any."""

    PASSED = "passed"
    PARTLY = "partly right"
    """The last value of its test gave a part of the points (viva/engine/credit.py)."""
    FAILED = "failed"
    """A wrong answer."""
    ERROR = "error"
    """The student's code raised."""
    TIMEOUT = "timeout"
    KILLED = "killed"
    """The student's process ended: memory, crash, exit."""
    MISSING = "missing"
    """The cell is not in the submission."""
    UNGRADED = "ungraded"
    """The grader's own fault."""


NOT_DONE = "not done yet"
"""The words in place of the verdict of an answer that is not done (``viva.engine.explaining``); the verdict stays."""


class VivaError(Exception):
    """Something the user can fix: what happened, where, and what to do next."""


class CourseError(VivaError):
    """A course folder, an assignment, a student or a gradebook is not as it should be."""


class ClusterError(CourseError):
    """The machines that should grade cannot be reached, are of no use, or have gone."""


class BlueprintError(VivaError):
    """An instructor notebook cannot be graded before it is corrected."""


class SubmissionError(VivaError):
    """A submitted file cannot be read as a notebook; ``note`` says so too, where students may read it."""

    def __init__(self, text: str, note: Any = None) -> None:
        super().__init__(text)
        self.note = note


class AnswerError(VivaError):
    """A known answer cannot be read, or does not fit the assignment it was written for."""


class LeakError(VivaError):
    """A page for a student holds what students may not read."""


class WireError(VivaError):
    """A message from another process is malformed, too large or holds what cannot cross."""


class SandboxError(VivaError):
    """The sandbox could not be raised; the fault is the machine's or ours, never the student's."""


class CandidateFault(BaseException):
    """The candidate did not answer as it should; never the grader's fault."""


class CandidateDied(CandidateFault):
    """The candidate's process ended in the middle of a question."""


class CandidateLied(CandidateFault):
    """An answer is malformed, or not of the kind that the instructor's solution gave."""


class CandidateOdd(CandidateLied):
    """The value at ``path`` should be plain data, as the solution gave it, but is something else (``description``)."""

    def __init__(self, path: str, description: str) -> None:
        super().__init__(f"{path} should be plain data, but is {description}")
        self.path, self.what = path, description


class CandidateStopped(CandidateFault):
    """The candidate was interrupted because its time was over."""
