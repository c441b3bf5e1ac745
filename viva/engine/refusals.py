"""What the sandbox refused to a student's code, so that a check was lost: other processes, and the network.

The answer may be right, and pass where it was written. So the reason of the check says what was refused, and a human
looks at it. The message is the student's process's own, which may say what it likes; it gives no points.
"""

from __future__ import annotations

import re
from collections import defaultdict

from nbformat import NotebookNode

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
        """,
        re.VERBOSE,
    ),
}
"""By what was refused, the messages of the exceptions to which that leads."""
DOUBTS = {"network": "refused_network", "process": "refused_process"}
LONGEST = 200


def refusals(outcome: Outcome, notebook: NotebookNode) -> list[Note]:
    """A doubt for each kind of thing that was refused; the checks that were lost by it say so in their reason.

    A check is lost by it that ended in such an exception, or for want of a name below a cell that did.
    """
    of_cells: dict[str, int] = {}
    for place, (items, _) in sorted(outcome.outputs.items()):
        for item in items:
            if item["output_type"] == "error" and (what := _refused(item["evalue"])):
                of_cells.setdefault(what, place)
    names = [cell.metadata.get("nbgrader", {}).get("grade_id") for cell in notebook.cells]
    concerned: dict[str, dict[str, None]] = defaultdict(dict)
    for cell, results in outcome.checks.items():
        place = names.index(cell) if cell in names else -1
        for result in results:
            if what := _of(result):
                result.cause = note(what, result.reason[:LONGEST])
            elif result.verdict is Verdict.ERROR and result.exception == "NameError":
                what = next((kind for kind, first in of_cells.items() if first < place), "")
            if what:
                concerned[what][cell] = None
    return [Note(DOUBTS[what], tests=tuple(tests), doubt=True) for what, tests in concerned.items()]


def _of(result: CheckResult) -> str:
    """What was refused so that a check ended in an exception; empty where that is not why."""
    if result.verdict is not Verdict.ERROR or result.raised_by != "student" or result.cause:
        return ""
    return _refused(result.message)


def _refused(message: str) -> str:
    return next((what for what, pattern in MESSAGES.items() if pattern.search(message)), "")
