"""What happened to a notebook, put into its outputs, where formgrader shows it."""

from __future__ import annotations

import itertools
from collections.abc import Iterable

from nbformat import NotebookNode

from viva import wording
from viva.cleaning.output import output
from viva.engine.outcome import Outcome
from viva.record import CheckResult, Note
from viva.verdict import Verdict

OURS = f"{Verdict.__module__}."
"""So begins the last line of a traceback that ends in an exception of ours."""


def show(notebook: NotebookNode, outcome: Outcome, repairs: Iterable[Note] = ()) -> None:
    """Put what happened into the notebook's outputs, where formgrader shows it, and why a human should look."""
    for index, cell in enumerate(notebook.cells):
        if cell.cell_type != "code":
            continue
        outputs, count = outcome.outputs.get(index, ([], None))
        cell.execution_count = count if isinstance(count, int) else None
        cell.outputs = [output(**item) for item in outputs]
        name = cell.metadata.get("nbgrader", {}).get("grade_id")
        results = outcome.checks.get(name, [])
        lost = any(result.earned < result.points for result in results)
        for sentence in wording.sentences(note for note in repairs if lost and name in note.tests):
            cell.outputs.append(output("stream", name="stdout", text=f"{sentence}\n"))
        if len(results) > 1 or any(result.verdict is Verdict.PARTLY for result in results):
            lines = [f"{result.earned:g} of {result.points:g}: {result.title} ({result.word})" for result in results]
            cell.outputs.append(output("stream", name="stdout", text="\n".join(lines) + "\n"))
        for result in results:
            if result.printed:
                cell.outputs.append(output("stream", name="stdout", text=result.printed))
            if result.verdict not in (Verdict.PASSED, Verdict.PARTLY):
                why = wording.reason(result)
                cell.outputs.append(output("error", ename=_name(result), evalue=why, traceback=_trace(result, why)))


def _trace(result: CheckResult, why: str) -> list[str]:
    """The lines of a traceback; what an exception of our own is called and says tells nobody anything."""
    lines = result.traceback.splitlines()
    if result.raised_by == "grader":
        lines = [*itertools.takewhile(lambda line: not line.startswith(OURS), lines), why]
    return lines or [why]


def _name(result: CheckResult) -> str:
    if result.verdict is Verdict.ERROR and result.exception.isidentifier():
        return result.exception
    return "AssertionError" if result.verdict is Verdict.FAILED else str(result.verdict)
