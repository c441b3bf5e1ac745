"""What happened to a notebook, put into its outputs, where formgrader shows it."""

from __future__ import annotations

from nbformat import NotebookNode

from viva import wording
from viva.cleaning.output import output
from viva.engine.outcome import Outcome
from viva.verdict import Verdict


def show(notebook: NotebookNode, outcome: Outcome) -> None:
    """Put what happened into the notebook's outputs, where formgrader shows it."""
    for index, cell in enumerate(notebook.cells):
        if cell.cell_type != "code":
            continue
        outputs, count = outcome.outputs.get(index, ([], None))
        cell.execution_count = count if isinstance(count, int) else None
        cell.outputs = [output(**item) for item in outputs]
        results = outcome.checks.get(cell.metadata.get("nbgrader", {}).get("grade_id"), [])
        if len(results) > 1:
            lines = [f"{result.earned:g} of {result.points:g}: {result.title} ({result.word})" for result in results]
            cell.outputs.append(output("stream", name="stdout", text="\n".join(lines) + "\n"))
        for result in results:
            if result.printed:
                cell.outputs.append(output("stream", name="stdout", text=result.printed))
            if result.verdict is not Verdict.PASSED:
                why = wording.reason(result)
                trace = [*result.traceback.splitlines(), *([] if result.traceback else [why])]
                cell.outputs.append(output("error", ename=_name(result), evalue=why, traceback=trace))


def _name(result) -> str:
    if result.verdict is Verdict.ERROR and result.exception.isidentifier():
        return result.exception
    return "AssertionError" if result.verdict is Verdict.FAILED else str(result.verdict)
