"""What the sandbox refused to a student's code, so that a check was lost: other processes, and the network.

The answer may be right, and pass where it was written. So the reason of the check says what was refused, and a grader
looks at it. The message is the student's process's own, which may say what it likes; it gives no points.
"""

from __future__ import annotations

import re

from viva import wording
from viva.engine.dialogue.proxies import UNCOPIED
from viva.engine.explaining.place import Place, Question
from viva.engine.outcome import Outcome
from viva.record import CheckResult, Note, note
from viva.verdict import Verdict

MESSAGES = {
    "network": re.compile(
        r"name\ resolution | NameResolutionError | <urlopen\ error | Network\ is\ unreachable", re.VERBOSE
    ),
    "process": re.compile(
        r"""
        ^\s* \[Errno\ (?: 1\]\ Operation\ not\ permitted | 13\]\ Permission\ denied )
        (?: :\ '/ (?: dev/shm\b | psm_ | sem\. | mp- ) [^']* ' )? \s*$  # where locks and shared arrays have their files
        | ^\s* \[Errno\ 1\]\ Operation\ not\ permitted:\ ' [^']* / [^']* ' \s*$  # posix_spawn names the program (3.13)
        """,
        re.VERBOSE,
    ),
    "size": re.compile(r"larger than \d{9} bytes"),
    "crossing": re.compile(
        r"cannot pass between processes|\(\.\.\.\) handed\b"  # to a function of the test's
        r"|cannot be sent between the two processes"  # by the test, as an array that it made of what the answer gave
    ),
}
"""The messages of the exceptions that a refusal leads to, by kind of refusal."""
DOUBTS = dict(zip(MESSAGES, ("refused_network", "refused_process", "refused_size", "refused_crossing"), strict=True))
LONGEST = 200
"""Characters of a reason that are repeated."""


class Refused:
    """A doubt for each kind of thing that was refused; the checks that were lost by it say so in their reason.

    A check is lost by it that ended in such an exception, or for want of a name below a cell that did.
    """

    def __init__(self, sandboxed: bool) -> None:
        self.sandboxed = sandboxed
        self.above: dict[str, None] = {}
        """The kinds of refusal that stopped a cell above."""
        self.concerned: dict[str, dict[str, None]] = {}
        """The test cells that were lost by a refusal, by its kind."""

    def pass_cell(self, place: Place) -> None:
        kinds = (_refused(error["evalue"], self.sandboxed) for error in place.errors)
        self.above |= dict.fromkeys(filter(None, kinds))

    def explain(self, question: Question) -> None:
        result = question.result
        if kind := _of(result, self.sandboxed):
            reason = wording.sentence(result.cause) if result.cause else result.reason
            result.cause = note(kind, reason[:LONGEST])
        elif result.verdict is Verdict.ERROR and result.exception == "NameError":
            kind = next(iter(self.above), "")
            result.cause = note(kind, result.reason[:LONGEST]) if kind and not result.cause else result.cause
        if kind:
            self.concerned.setdefault(kind, {})[question.cell.id] = None

    def doubts(self) -> list[Note]:
        return [Note(DOUBTS[kind], tests=(*tests,), doubt=True) for kind, tests in self.concerned.items()]


def _of(result: CheckResult, sandboxed: bool) -> str:
    """The kind of refusal that ended a check in an exception; empty for another cause."""
    if result.cause:
        return _refused(result.cause.names[0], sandboxed) if result.cause.kind in ("lied", "not_plain") else ""
    if result.verdict is Verdict.ERROR and result.message.strip() == UNCOPIED:
        return "crossing"
    of_student = result.verdict is Verdict.ERROR and result.raised_by == "student"
    return _refused(result.message, sandboxed) if of_student else ""


def _refused(message: str, sandboxed: bool) -> str:
    kinds = MESSAGES if sandboxed else ("size", "crossing")
    return next((kind for kind in kinds if MESSAGES[kind].search(message)), "")


CONNECTION = re.compile(
    r"cannot open (?:the connection to|URL) \W?(?:https?|ftp)://|[Cc]ould not resolve host|Network is unreachable"
    r"|name resolution|Name or service not known|Failed to connect to",
)
"""What programs in other languages say that want the network where there is none."""


def refused_connections(outcome: Outcome, sandboxed: bool) -> list[Note]:
    """A doubt about the tests that a notebook in another language lost, where it wanted the network."""
    texts = [result.reason for results in outcome.checks.values() for result in results]
    texts += [str(item.get("evalue", item.get("text", ""))) for items, _ in outcome.outputs.values() for item in items]
    lost = [cell for cell, results in outcome.checks.items() if any(one.earned < one.points for one in results)]
    wanted = sandboxed and any(CONNECTION.search(text) for text in texts)
    return [Note(DOUBTS["network"], tests=tuple(lost), doubt=True)] if wanted and lost else []
