"""The result of one check: a verdict, the reason, and where it comes from."""

from __future__ import annotations

import os
import re
import traceback

import msgspec
from msgspec import Struct, field

import viva
from viva.engine.credit import Result
from viva.engine.dialogue.exceptions import safe
from viva.engine.dialogue.namespace import UnknownMagicError
from viva.record import Note, note
from viva.verdict import CandidateDied, CandidateFault, CandidateOdd, CandidateStopped, Verdict

CHARACTERS = 20_000
"""The most characters of each text of a report: student code could make one of any length."""
RUNNING = re.compile(r", line \d+, in (\w+)$", re.MULTILINE)
"""A function in a traceback."""


class CheckReport(Struct):
    """The result of one check; crosses to the grading process as a dictionary."""

    title: str
    verdict: Verdict
    reason: str = ""
    exception: str = ""
    """What the class of the exception is called that ended the check; nothing where the test's own assertion did."""
    cause: Note | None = None
    """In place of a reason."""
    traceback: str = ""
    printed: str = ""
    result: Result = None
    """What the last expression of the check came to, for partial credit."""
    seconds: float = 0.0
    raised_by: str = ""
    """Whose exception ended the check: the ``student``'s code, the ``test``'s lines, or the ``grader``."""
    asked: str = ""
    """The name that was asked when the candidate did not answer."""
    running: list[str] = field(default_factory=list)
    """The functions that were running there, as far as it says."""
    died: bool = False
    """Whether the candidate's process ended, or had to be ended."""
    before: bool = False
    """Whether it is of what stands before the checks of its cell."""

    def crossing(self) -> dict:
        """The report as the wire carries it, no text of it too long."""
        known = msgspec.to_builtins(self)
        return known | {name: value[:CHARACTERS] for name, value in known.items() if isinstance(value, str)}

    @classmethod
    def crossed(cls, known: object) -> CheckReport:
        """What ``crossing`` gave on the other side. Raises msgspec.ValidationError."""
        return msgspec.convert(known, cls)


def failed(error: BaseException, title: str) -> CheckReport:
    """The report about a check that an exception has ended."""
    try:
        return _described(error, title)
    except BaseException:  # out of memory, say, as what it holds is so large: nobody's fault but the answer's
        return CheckReport(title, Verdict.ERROR, type(error).__name__, type(error).__name__, raised_by="test")


def _described(error: BaseException, title: str) -> CheckReport:
    trace = safe(_traceback, error)
    student = getattr(error, "viva_traceback", "")
    whose = "student" if hasattr(error, "viva_traceback") else "test"
    if found := _cause(error):
        verdict, cause = found
        return CheckReport(title, verdict, cause=cause, traceback=trace, raised_by="grader")
    asserted = isinstance(error, AssertionError) or type(error).__name__ == "Failed"  # pytest's
    if asserted and whose == "test":
        return CheckReport(title, Verdict.FAILED, safe(str, error), traceback=trace, raised_by=whose)
    name = str(getattr(error, "viva_name", type(error).__name__))
    # What a student calls a class, or asserts, is to be read as theirs.
    name = name if name.isidentifier() else repr(name)
    verdict = Verdict.FAILED if asserted else Verdict.ERROR
    reason = f"{name}: {safe(str, error)[:CHARACTERS]}"
    return CheckReport(title, verdict, reason, name, traceback=student or trace, raised_by=whose)


def _cause(error: BaseException) -> tuple[Verdict, Note] | None:
    """What the grader has to say of an exception of its own."""
    match error:
        case CandidateDied():
            return Verdict.KILLED, Note("ended")
        case CandidateStopped():
            return Verdict.TIMEOUT, Note("out_of_time")
        case CandidateOdd():
            return Verdict.FAILED, note("not_plain", error.path, error.what)
        case CandidateFault():
            return Verdict.FAILED, note("lied", safe(str, error))
        case UnknownMagicError():
            return Verdict.UNGRADED, note("unknown_magic", safe(str, error))
    return None


def _traceback(error: BaseException) -> str:
    package = os.path.dirname(viva.__file__)
    frames, ours = [], False
    for frame in traceback.extract_tb(error.__traceback__):
        # What a library does for the grader is the grader's; a cell's file has no folder.
        ours = frame.filename.startswith(package) or (ours and os.path.isabs(frame.filename))
        frames += [] if ours else [frame]
    lines = "".join(traceback.format_list(frames[-10:])).splitlines()
    # Of a student's SyntaxError Python would believe where it is and what stands there.
    told = hasattr(error, "viva_traceback")
    last = (
        f"{type(error).__name__}: {safe(str, error)[:CHARACTERS]}"
        if told
        else "".join(traceback.format_exception_only(error)).rstrip()
    )
    return "\n".join([*lines, last])[:8000]


def running(traceback: object) -> list[str]:
    """The functions in the traceback of an interrupt; it comes from a stranger."""
    return RUNNING.findall(traceback)[:100] if isinstance(traceback, str) else []
