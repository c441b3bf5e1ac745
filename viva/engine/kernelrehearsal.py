"""The rehearsal of a notebook that is not in Python: the solution and its tests in their kernel, cell by cell.

It shows which test cells the solution does not pass, which cells raise, how long it takes, and where the last value of
a test cell is partial credit. There are no expected types. Where a package brings a second kernel for the tests
(``kerneldialogue``), the solution is examined in two as well: a test that it passes in one only is a single-process
cell.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from viva import wording
from viva.engine import plaincode
from viva.engine.blueprint import Blueprint, Cell
from viva.engine.credit import kind_of
from viva.engine.dialogue.expected import CREDIT
from viva.engine.examination import Examination, examine, prepare
from viva.engine.grading import Grader
from viva.engine.kerneldialogue import KernelDialogue
from viva.engine.outcome import raised_in
from viva.engine.ownership import Plan
from viva.engine.session import Died
from viva.engine.timebudget import TimeBudget, allowance
from viva.notebook.cell import ANSWERS, Purpose
from viva.record import Note, note
from viva.verdict import BlueprintError, SandboxError, Verdict

ENDED = (
    "{path}: the instructor's own notebook cannot be run: its cell '{cell}': {why}. Change the cell, or allow it more "
    "time with c.Execute.timeout or more memory with c.Examine.memory in nbgrader_config.py"
)


class _Ended(Exception):  # noqa: N818
    """A cell ended its kernel."""

    def __init__(self, cell: str, why: str) -> None:
        super().__init__(why)
        self.cell = cell


class _Rehearsal:
    """One run of the solution and its tests: in one kernel, or as an ``examination`` says."""

    def __init__(
        self, blueprint: Blueprint, grader: Grader, data: Path | None, known: Examination | None = None
    ) -> None:
        self.blueprint, self.grader, self.data = blueprint, grader, data
        self.examination = known or Examination(blueprint, Plan(frozenset(), {}), {})
        self.kernels = grader.kernels(blueprint, known.inside if known else None)
        self.failing: dict[str, Note] = {}
        self.broken: set[str] = set()
        self.kinds: dict[str, str] = {}
        self.changed: dict[str, frozenset[str]] = {}
        """The names that a cell gives other values, where the session can say that."""
        self.single: dict[str, Note] = {}
        """The single-process cells by their text."""
        self.seconds = 0.0

    def run(self) -> None:
        """Go through the notebook. Raises _Ended and SandboxError."""
        before, ran = None, False
        with self.kernels.session(self.data, None, TimeBudget()) as session:
            told = session if isinstance(session, KernelDialogue) and not self.kernels.apart else None
            for cell in self.blueprint.cells:
                if not cell.code:
                    continue
                seconds = cell.seconds or self.grader.seconds
                if cell.purpose != Purpose.TESTS:
                    ran = True
                    try:
                        reply = session.candidate(seconds, do="run", source=cell.source)
                    except Died as death:
                        raise _Ended(cell.id, str(death)) from death
                    if raised_in(reply):
                        self.broken.add(cell.id)
                    if told:
                        self.changed[cell.id] = frozenset(told.changed())
                    continue
                if told and (why := told.why_single(cell.source)):
                    self.single[cell.id] = why
                prepare(session, self.examination.cells_before(cell.id, before), self.examination, seconds, ran)
                before, ran = cell.id, cell.id in self.examination.inside
                reports = examine(session, cell, self.examination, allowance(seconds, session.time_budget))
                self._note(cell, reports)
                if told:
                    told.changed()  # what a test changes is not the student's
            self.seconds = session.time_budget.spent
            self.kinds |= session.kinds if isinstance(session, KernelDialogue) else {}

    def _note(self, cell: Cell, reports: list) -> None:
        for report in reports:
            if report.died:
                raise _Ended(cell.id, wording.sentence(report.cause) if report.cause else str(report.verdict))
        lost = [report for report in reports if report.verdict is not Verdict.PASSED]
        if lost:
            said = wording.sentence(lost[0].cause) if lost[0].cause else lost[0].reason
            self.failing[cell.id] = note("told", " ".join(said.split())[:200] or "it fails")
        elif len(cell.checks) == 1 and (credit := kind_of(reports[0].result, cell.checks[0].points)):
            self.kinds[CREDIT + cell.id] = credit


def rehearse_in_kernel(path: Path, blueprint: Blueprint, grader: Grader, data: Path | None) -> Examination:
    """The examination of the notebook at ``path``, whose kernel runs it. Raises BlueprintError."""
    alone = _Rehearsal(blueprint, grader, data)
    try:
        alone.run()
        found = replace(
            alone.examination,
            kinds=alone.kinds,
            failing=alone.failing,
            broken=frozenset(alone.broken),
            seconds=alone.seconds,
        )
        return _apart(found, alone) if alone.kernels.dialogue else found
    except _Ended as ended:
        raise BlueprintError(ENDED.format(path=path, cell=ended.cell, why=ended)) from ended
    except SandboxError as error:
        raise BlueprintError(f"{path} cannot be run: {error}") from error


def _apart(found: Examination, alone: _Rehearsal) -> Examination:
    """Find out which grade cells are single-process cells, as the solution passes them in one kernel only."""
    tests = [cell.id for cell in found.blueprint.cells if cell.purpose == Purpose.TESTS]
    declared = {cell.id: Note("declared") for cell in found.blueprint.cells if cell.inside}
    found = replace(found, plan=_plan(found.blueprint, alone.changed), single_process={**declared, **alone.single})
    while not found.inside.issuperset(tests):
        two = _Rehearsal(found.blueprint, alone.grader, alone.data, found)
        try:
            two.run()
        except _Ended as ended:
            two.failing[ended.cell] = note("told", str(ended))
        lost = {cell: why.names[0] for cell, why in two.failing.items() if cell not in found.failing}
        apart = [cell for cell in tests if cell not in found.inside]
        single = {cell: note("not_in_two", lost[cell]) for cell in apart if cell in lost}
        if not single and not lost and two.broken <= found.broken:
            return replace(found, kinds=two.kinds, seconds=max(found.seconds, two.seconds))
        single = single or {cell: Note("needed_below") for cell in apart}
        found = replace(found, single_process={**found.single_process, **single})
    return found


def _plan(blueprint: Blueprint, changed: dict[str, frozenset[str]]) -> Plan:
    """The cells that the examiner runs, and the names that are the student's: those that an answer gives values, or a
    cell that uses such a name."""
    students: set[str] = set()
    given, owned = set(), {}
    for cell in blueprint.cells:
        if not cell.code or cell.purpose == Purpose.TESTS:
            continue
        names = changed.get(cell.id, frozenset())
        if cell.purpose in ANSWERS or plaincode.used(cell.source, blueprint.language) & students:
            owned[cell.id] = names
            students |= names
        else:
            given.add(cell.id)
            students -= names
    return Plan(frozenset(given), owned)
