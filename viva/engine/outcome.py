"""The outcome of checks and notebooks: reports, results and outputs, cleaned of what a stranger may not say."""

from __future__ import annotations

import json
import os
import re
import traceback
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec
from msgspec import Struct

import viva
from viva.engine.credit import Result
from viva.engine.dialogue.exceptions import safe
from viva.engine.dialogue.namespace import UnknownMagicError
from viva.record import CheckResult, Fault, Note, note
from viva.verdict import CandidateDied, CandidateFault, CandidateOdd, CandidateStopped, Verdict

# --- a check: a verdict, the reason, and where it comes from

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
    """The class name of the exception that ended the check; empty for the test's own assertion."""
    cause: Note | None = None
    """The grader's own explanation, in place of a reason."""
    traceback: str = ""
    printed: str = ""
    result: Result = None
    """The value of the last expression of the check, for partial credit."""
    seconds: float = 0.0
    raised_by: str = ""
    """Whose exception ended the check: the ``student``'s code, the ``test``'s lines, or the ``grader``."""
    asked: str = ""
    """The name that was asked when the candidate did not answer."""
    running: list[str] = msgspec.field(default_factory=list)
    """The functions that were running there, as far as it says."""
    died: bool = False
    """Whether the candidate's process ended, or had to be ended."""
    before: bool = False
    """Whether it is of what stands before the checks of its cell."""
    effects: list[str] = msgspec.field(default_factory=list)
    """The names whose calls changed what the test handed over, where the solution's do not."""
    called: int = 0
    """How often the student's code called functions of the test."""
    reduced: bool = False
    """Whether a value of a class had come as that of its base."""
    copied: bool = False
    """Whether something that can be changed had come by value where the solution gave an object."""

    def crossing(self) -> dict:
        """The report as the wire carries it, no text of it too long."""
        fields = msgspec.to_builtins(self)
        return fields | {name: value[:CHARACTERS] for name, value in fields.items() if isinstance(value, str)}

    @classmethod
    def crossed(cls, fields: object) -> CheckReport:
        """The report from the ``fields`` that ``crossing`` gave on the other side. Raises msgspec.ValidationError."""
        return msgspec.convert(fields, cls)


def failed(error: BaseException, title: str) -> CheckReport:
    """The report about a check that an exception has ended."""
    try:
        return _described(error, title)
    except BaseException:  # out of memory, say, as what it holds is so large: nobody's fault but the answer's
        return CheckReport(title, Verdict.ERROR, type(error).__name__, type(error).__name__, raised_by="test")


def _described(error: BaseException, title: str) -> CheckReport:
    trace = safe(_traceback, error)
    student = getattr(error, "viva_traceback", "")
    raised_by = "student" if hasattr(error, "viva_traceback") else "test"
    if caused := _cause(error):
        verdict, cause = caused
        return CheckReport(title, verdict, cause=cause, traceback=trace, raised_by="grader")
    asserted = isinstance(error, AssertionError) or type(error).__name__ == "Failed"  # pytest's
    if asserted and raised_by == "test":
        return CheckReport(title, Verdict.FAILED, safe(str, error), traceback=trace, raised_by=raised_by)
    name = str(getattr(error, "viva_name", type(error).__name__))
    # What a student calls a class, or asserts, is to be read as theirs.
    name = name if name.isidentifier() else repr(name)
    verdict = Verdict.FAILED if asserted else Verdict.ERROR
    reason = f"{name}: {safe(str, error)[:CHARACTERS]}"
    return CheckReport(title, verdict, reason, name, traceback=student or trace, raised_by=raised_by)


def _cause(error: BaseException) -> tuple[Verdict, Note] | None:
    """The verdict and the note for an exception of the grader's own."""
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
    remote = hasattr(error, "viva_traceback")
    last = (
        f"{type(error).__name__}: {safe(str, error)[:CHARACTERS]}"
        if remote
        else "".join(traceback.format_exception_only(error)).rstrip()
    )
    return "\n".join([*lines, last])[:8000]


def running(traceback: object) -> list[str]:
    """The functions in the traceback of an interrupt; it comes from a stranger."""
    return RUNNING.findall(traceback)[:100] if isinstance(traceback, str) else []


# --- a notebook: results of its checks, outputs of its cells

ITEMS, ALL_CHARACTERS = 2000, 20_000_000
"""The most outputs that are kept of a cell, and the most characters in those of a notebook."""
MOST_COUNT = 10**6
SURROGATE = re.compile("[\ud800-\udfff]")
"""Half a character, which no file can hold."""


@dataclass
class Outcome:
    """The outcome of a notebook: results by grade cell, outputs by index of the cell, the grader's faults."""

    checks: dict[str, list[CheckResult]] = field(default_factory=dict)
    outputs: dict[int, tuple[list[dict], int | None]] = field(default_factory=dict)
    faults: list[Fault] = field(default_factory=list)
    sandboxed: bool = True
    seconds: float = 0.0
    """What it took by the clock of ``viva.engine.timebudget``."""
    integrity: list[Note] = field(default_factory=list)
    """Facts about what the notebook did to its process; they cost nothing."""
    causes: list[Note] = field(default_factory=list)
    """The cells that did not run to their end, in order, whether that cost a check or not."""
    doubts: list[Note] = field(default_factory=list)
    """Doubts for a grader to look at where points were lost."""
    room: int = ALL_CHARACTERS
    """The rest of the room for its outputs."""

    def keep(self, index: int, reply: dict) -> None:
        """Keep the outputs of a cell, unless it has been run before."""
        if index not in self.outputs:
            outputs = outputs_of(reply, self.room)
            self.room -= len(json.dumps(outputs))
            self.outputs[index] = outputs, count_of(reply)

    def earned(self, cell: str) -> float | None:
        """The points of a grade cell; None when the grader could not grade it."""
        results = self.checks.get(cell, [])
        if any(result.verdict is Verdict.UNGRADED for result in results):
            return None
        return sum(result.earned for result in results)


def whole(text: str) -> str:
    """A text without halves of characters."""
    return SURROGATE.sub("\N{REPLACEMENT CHARACTER}", text)


def outputs_of(reply: dict, room: int = ALL_CHARACTERS) -> list[dict]:
    """The outputs of a cell, as far as a notebook can hold them: the reply comes from a stranger."""
    outputs = reply.get("outputs")
    valid: list[dict] = []
    for item in map(_output, outputs[:ITEMS] if isinstance(outputs, list) else []):
        text = json.dumps(item, ensure_ascii=False)
        if (room := room - len(text)) < 0:
            return [*valid, {"output_type": "stream", "name": "stdout", "text": "[more output was cut here]\n"}]
        if item:
            valid.append(json.loads(whole(text)))
    return valid


def raised_in(reply: dict) -> dict | None:
    """The exception that ended a cell, or that it shows as an error: a magic that runs the cell shows what that raises,
    and goes on. To nbgrader both are failures."""
    raised, outputs = reply.get("raised"), reply.get("outputs")
    if isinstance(raised, dict):
        return raised
    for item in map(_output, outputs if isinstance(outputs, list) else ()):
        if item.get("output_type") == "error":
            lines = "\n".join(item["traceback"])
            return {"name": item["ename"], "message": item["evalue"], "traceback": lines, "attributes": {}}
    return None


def count_of(reply: dict) -> int | None:
    """The number of a cell, as the notebook shows it."""
    count = reply.get("count")
    return count if type(count) is int and 0 <= count <= MOST_COUNT else None


def _output(item: Any) -> dict:
    """An output with what belongs to its type and nothing else; empty when it is none."""
    output_type = item.get("output_type") if type(item) is dict else None
    # An array, compared with a text, is neither true nor false.
    match output_type if type(output_type) is str else None, item:
        case "stream", {"name": str(name), "text": str(text)} if name in ("stdout", "stderr"):
            return {"output_type": "stream", "name": name, "text": text}
        case "error", {"ename": str(name), "evalue": str(value), "traceback": list(lines)}:
            if all(isinstance(line, str) for line in lines):
                return {"output_type": "error", "ename": name, "evalue": value, "traceback": lines}
        case "display_data" | "execute_result", {"data": dict(data), "metadata": dict(about)}:
            if all(isinstance(text, str) for text in (*data, *data.values())):
                result = {"execution_count": count_of({"count": item.get("execution_count")})}
                shown = {"output_type": output_type, "data": data, "metadata": about if _is_json(about) else {}}
                return shown | (result if output_type == "execute_result" else {})
    return {}


def _is_json(value: object) -> bool:
    """Whether JSON can say it, and says the same again."""
    try:
        return json.loads(json.dumps(value, allow_nan=False)) == value
    except (TypeError, ValueError, RecursionError):
        return False


# --- the lines of a student's own code that a traceback names

# A traceback comes from the student's process, and tests may be in it: only what the student wrote, and what really
# stands in a cell at that number, is ever told.

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


def own_frames(traceback: str, sources: Mapping[str, str]) -> list[Frame]:
    """The frames of a traceback, the outermost first, whose line stands in one of the ``sources``, by cell id."""
    frames = []
    for number, function, code in FRAME.findall(traceback):
        for cell, source in sources.items():
            lines, line = source.splitlines(), int(number)
            if 0 < line <= len(lines) and code.strip() and lines[line - 1].strip() == code.strip():
                frames.append(Frame(cell, line, function, code.strip()))
                break
    return frames
