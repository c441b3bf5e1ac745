"""The rehearsal of a notebook that is not in Python: the solution and its tests in their kernel, cell by cell.

It shows which test cells the solution does not pass, which cells raise, how long it takes, and where the last value of
a test cell is partial credit. There are no expected types: tests and answers share a process.
"""

from __future__ import annotations

from pathlib import Path

from viva import wording
from viva.engine.blueprint import Blueprint, Purpose
from viva.engine.credit import kind_of
from viva.engine.dialogue.expected import CREDIT
from viva.engine.examination import Examination, examine
from viva.engine.grading import Grader
from viva.engine.outcome import raised_in
from viva.engine.ownership import Plan
from viva.engine.session import Died
from viva.engine.timebudget import TimeBudget, allowance
from viva.record import Note, note
from viva.verdict import BlueprintError, SandboxError, Verdict

ENDED = (
    "{path}: the instructor's own notebook cannot be run: its cell '{cell}': {why}. Change the cell, or allow it more "
    "time with c.Execute.timeout or more memory with c.Examine.memory in nbgrader_config.py"
)


def rehearse_in_kernel(path: Path, blueprint: Blueprint, grader: Grader, data: Path | None) -> Examination:
    """The examination of the notebook at ``path``, whose kernel runs it. Raises BlueprintError."""
    examination = Examination(blueprint, Plan(frozenset(), {}), {})
    failing: dict[str, Note] = {}
    broken: set[str] = set()
    kinds: dict[str, str] = {}
    try:
        with grader.kernels(blueprint).session(data, None, TimeBudget()) as session:
            for cell in blueprint.cells:
                if not cell.code:
                    continue
                seconds = cell.seconds or grader.seconds
                if cell.purpose != Purpose.TESTS:
                    try:
                        reply = session.candidate(seconds, do="run", source=cell.source)
                    except Died as death:
                        raise BlueprintError(ENDED.format(path=path, cell=cell.id, why=death)) from death
                    if raised_in(reply):
                        broken.add(cell.id)
                    continue
                reports = examine(session, cell, examination, allowance(seconds, session.time_budget))
                for report in reports:
                    if report.died:
                        why = wording.sentence(report.cause) if report.cause else report.verdict
                        raise BlueprintError(ENDED.format(path=path, cell=cell.id, why=why))
                lost = [report for report in reports if report.verdict is not Verdict.PASSED]
                if lost:
                    said = wording.sentence(lost[0].cause) if lost[0].cause else lost[0].reason
                    failing[cell.id] = note("told", " ".join(said.split())[:200] or "it fails")
                elif len(cell.checks) == 1 and (credit := kind_of(reports[0].result, cell.checks[0].points)):
                    kinds[CREDIT + cell.id] = credit
            seconds = session.time_budget.spent
    except SandboxError as error:
        raise BlueprintError(f"{path} cannot be run: {error}") from error
    return Examination(blueprint, examination.plan, kinds, failing=failing, broken=frozenset(broken), seconds=seconds)
