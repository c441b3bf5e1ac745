"""One submission -> verdicts, by a candidate and an examiner.

The grading process drives both: it hands the student's cells to the candidate, one after the other,
and at each grade cell lets the examiner ask. It trusts the examiner and believes the candidate
nothing but its own cells' outputs. When the candidate dies, a new pair of processes runs the earlier
cells again, leaves the deadly one out, and goes on.
"""

from __future__ import annotations

import contextlib
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from nbformat import NotebookNode

from viva import taint
from viva.blueprint import Cell
from viva.claims import Claims
from viva.dialogue import integrity
from viva.examination import Examination, allowance, examine, examine_inside, keep_helpers, prepare
from viva.libraries import COMMON
from viva.outcome import CheckResult, Outcome, score
from viva.parent import Parent
from viva.session import TIMEOUT, Died, ExaminerFault, Session
from viva.verdict import Verdict, WallError
from viva.wall import Wall

Found = TypeVar("Found")

MOST_DEATHS = 3
"""So many times a submission is taken up again after its process ended."""

OWN_CELLS = 20
"""So many times the limit of a cell may those take together that are not the assignment's."""
NOT_RUN = {"outputs": [{"output_type": "stream", "name": "stderr", "text": "This cell was not run: time was over.\n"}]}
REFUSED = "the wall around the grader's processes refuses to the instructor's own solution what this test needs"
OWN_PAIR = -1
UNDEFINED = re.compile(r"NameError: name '(\w+)' is not defined")


class Grader:
    """Two warm parents, and the grading of submissions by their children."""

    def __init__(
        self,
        seconds: float = 30.0,
        walls: tuple[Wall, Wall] | None = None,
        libraries: tuple[str, ...] = COMMON,
        hidden: tuple[str, ...] = (),
        environment: dict[str, str] | None = None,
    ) -> None:
        """``walls`` stand around candidate and examiner.

        ``libraries`` are loaded before the first submission comes, and for the examiners ``hidden`` too;
        others when they are imported. The variables of ``environment`` are set for all.
        """
        self.seconds, self.walls = seconds, walls
        self.libraries, self.hidden, self.environment = libraries, hidden, environment
        self.walled = walls is not None
        self.claims = Claims()
        self._start()

    def _start(self) -> None:
        candidate_wall, examiner_wall = self.walls or (None, None)
        slot, known = self.claims.pair(OWN_PAIR), self.environment
        self.candidates = Parent("candidate", candidate_wall, slot, self.libraries, known)
        more = [name for name in self.hidden if name not in self.libraries]
        self.examiners = Parent("examiner", examiner_wall, slot + 1, (*self.libraries, *more), known)

    def __deepcopy__(self, memo: dict) -> Grader:
        return self  # a handle on processes

    def close(self) -> None:
        self._stop()
        self.claims.close()

    def _stop(self) -> None:
        self.candidates.close()
        self.examiners.close()

    def restart(self) -> None:
        """Replace the warm parents by new ones."""
        self._stop()
        self._start()

    def twice(self, work: Callable[[], Found]) -> Found:
        """What ``work`` returns; with new warm parents where the first attempt met a fault of the grader."""
        try:
            return work()
        except (ExaminerFault, WallError):
            self.restart()
            return work()

    def share(self, number: int) -> Grader:
        """A grader for another process, with the same warm parents; new ones if those have died.

        No two processes that live at the same time have the same ``number``.
        """
        try:
            return self._share(number)
        except WallError:
            self.restart()
            return self._share(number)

    def _share(self, number: int) -> Grader:
        slot = self.claims.pair(number)
        other = object.__new__(Grader)
        other.seconds, other.walls, other.walled, other.claims = self.seconds, self.walls, self.walled, Claims()
        other.libraries, other.hidden, other.environment = self.libraries, self.hidden, self.environment
        other.candidates, other.examiners = self.candidates.channel(slot), self.examiners.channel(slot + 1)
        return other

    def learn(self, examination: Examination) -> None:
        """Have the test code compiled once, where all examiners inherit it; without a warm parent each compiles it."""
        with contextlib.suppress(WallError):
            self._learn(examination)

    def _learn(self, examination: Examination) -> None:
        for cell in examination.blueprint.cells:
            if cell.id in examination.plan.given:
                self.examiners.learn(cell.source, cell.id)
            if cell.kind == "tests" and cell.id not in examination.inside:
                for source, title in ((cell.prelude, cell.id), *((check.source, check.title) for check in cell.checks)):
                    self.examiners.learn(source, title)

    def grade(
        self, notebook: NotebookNode, examination: Examination, data: Path | None = None, files: Path | None = None
    ) -> Outcome:
        """Grade a notebook whose nbgrader cells are the instructor's but for the answers.

        ``data`` holds the assignment's files, ``files`` those and the ones that were handed in beside the notebook.

        A fault of the grader is tried again once; then the grade cells that have no result are ungraded. A candidate
        that met a SIGKILL is tried again once too: the kernel sends it where the machine runs out of memory.
        """
        for attempt in (1, 2):
            run = _Run(self, notebook, examination, data, files)
            try:
                run.finish(last=attempt == 2)
                break
            except _Shot:
                continue
            except (ExaminerFault, WallError) as error:
                if attempt == 2:
                    run.give_up(str(error))
                else:
                    self.restart()
        return run.outcome


class _Shot(Exception):  # noqa: N818
    """The candidate met a SIGKILL, which may have been the machine's."""


class _Run:
    """One pass over a submission, through as many sessions as it needs."""

    def __init__(
        self, grader: Grader, notebook: NotebookNode, examination: Examination, data: Path | None, files: Path | None
    ) -> None:
        self.grader, self.examination, self.data, self.files = grader, examination, data, files
        self.cells = [(index, cell) for index, cell in enumerate(notebook.cells) if cell.cell_type == "code"]
        self.blueprint = {cell.id: cell for cell in examination.blueprint.cells}
        self.outcome = Outcome(walled=grader.walled)
        self.deadly: set[int] = set()
        self.lost: dict[str, Died] = {}
        """By name: the death of the cell that would have bound it."""
        self.finished: set[int] = set()
        self.spent: dict[str, float] = {}

    def finish(self, *, last: bool) -> None:
        """Go through the notebook. Raises _Shot, unless this is the ``last`` attempt."""
        for _ in range(MOST_DEATHS + 1):
            with Session(self.grader.candidates, self.grader.examiners, self.data, self.files) as session:
                session.examiner(10, do="prepare", kinds=self.examination.kinds, recording=False)
                death = self._go_through(session)
                if death is None:
                    self._look_back(session)
                    break
                if not last and death.verdict is Verdict.KILLED and session.was_shot():
                    raise _Shot
        self._mark_rest(Verdict.KILLED, "the cells before ended the code's process too often")

    def give_up(self, fault: str) -> None:
        self.outcome.faults.append(fault)
        self._mark_rest(Verdict.UNGRADED, f"the grader failed, not you: {fault.splitlines()[-1]}")

    def _go_through(self, session: Session) -> Died | None:
        """Run all cells; the death of the candidate if the end was not reached."""
        before, left = None, OWN_CELLS * self.grader.seconds
        for index, cell in self.cells:
            if index in self.deadly:
                continue
            name = cell.metadata.get("nbgrader", {}).get("grade_id", "")
            try:
                if _is_test(cell) and name in self.blueprint:
                    prepare(session, self.examination.cells_before(name, before), self.examination, self._seconds(cell))
                    before = name
                    self._examine(session, index, self.blueprint[name])
                else:
                    start, limit = time.monotonic(), self._seconds(cell)
                    if own := self._known(cell) is None:
                        limit = min(limit, left)
                    reply = session.candidate(limit, do="run", source=cell.source) if limit > 0 else NOT_RUN
                    left -= (time.monotonic() - start) * own
                    self.outcome.keep(index, reply)
            except Died as death:
                self._bury(index, death)
                return death
        return None

    def _look_back(self, session: Session) -> None:
        """Note what the notebook did to its process; whatever comes of that question, no verdict changes."""
        reply = None
        with contextlib.suppress(Died):
            reply = session.candidate(integrity.ANSWER_SECONDS, do="facts")
        reasons = [result.reason for results in self.outcome.checks.values() for result in results]
        self.outcome.integrity = integrity.facts(reply, reasons, self.grader.walled)

    def _examine(self, session: Session, index: int, cell: Cell) -> None:
        results = self.outcome.checks.setdefault(cell.id, [])
        again = index in self.finished
        skip = 0 if again else len(results)
        limit, start = cell.seconds or self.grader.seconds, time.monotonic()
        seconds = allowance(limit, self.spent.get(cell.id, 0.0))
        if cell.id in self.examination.inside:
            reports = examine_inside(session, cell, seconds, skip)
            keep_helpers(session, cell, self.examination)
        else:
            reports = examine(session, cell, seconds, skip)
        self.spent[cell.id] = self.spent.get(cell.id, 0.0) + time.monotonic() - start
        if not again:
            results.extend(self._explained(cell, result) for result in score(cell, reports, skip))
        if len(results) == len(cell.checks):
            self.finished.add(index)
        if self.grader.candidates not in session.pids:  # it did not even heed the interrupt
            for result in results:
                if result.verdict is Verdict.KILLED:
                    result.verdict, result.reason = Verdict.TIMEOUT, TIMEOUT.format(limit)
            raise Died(Verdict.TIMEOUT, "")
        if reports and reports[-1]["verdict"] == Verdict.KILLED and not again:
            raise Died(Verdict.KILLED, "")

    def _explained(self, cell: Cell, result: CheckResult) -> CheckResult:
        """A name that is missing because its cell ended the process is no error of the check; what the wall refuses
        to the solution too is nobody's mistake."""
        if cell.id in self.examination.refused and result.verdict not in (Verdict.PASSED, Verdict.UNGRADED):
            result.verdict, result.earned, result.reason = Verdict.UNGRADED, 0.0, REFUSED
            return result
        match = UNDEFINED.match(result.reason)
        if result.verdict is Verdict.ERROR and match and (death := self.lost.get(match[1])):
            result.verdict, result.reason = death.verdict, f"in the cell that defines {match[1]}, {death.reason}"
        return result

    def _bury(self, index: int, death: Died) -> None:
        """Remember that the candidate died at a cell."""
        cell = dict(self.cells)[index]
        name = cell.metadata.get("nbgrader", {}).get("grade_id", "")
        if name in self.outcome.checks:
            if index in self.finished:
                self.deadly.add(index)
            return
        self.deadly.add(index)
        names = taint.names_of(cell.source)
        bound = (names.bound if names else set()) | self.examination.plan.owned.get(name or cell.get("id"), set())
        self.lost |= dict.fromkeys(bound, death)
        text = f"{death.verdict}: {death.reason}"
        error = {"output_type": "error", "ename": str(death.verdict), "evalue": death.reason, "traceback": [text]}
        self.outcome.outputs[index] = ([error], None)

    def _mark_rest(self, verdict: Verdict, reason: str) -> None:
        present = {cell.metadata.get("nbgrader", {}).get("grade_id") for _, cell in self.cells}
        for cell in self.examination.blueprint.cells:
            if cell.kind != "tests":
                continue
            results = self.outcome.checks.setdefault(cell.id, [])
            missing = cell.id not in present
            for check in cell.checks[len(results) :]:
                why = (Verdict.MISSING, "the cell is not in the submission") if missing else (verdict, reason)
                results.append(CheckResult(check.title, check.points, *why[:1], reason=why[1]))

    def _seconds(self, cell: NotebookNode) -> float:
        """The time limit, which is the blueprint's: what the submission says does not count."""
        known = self._known(cell)
        return float((known and known.seconds) or self.grader.seconds)

    def _known(self, cell: NotebookNode) -> Cell | None:
        """The cell of the assignment that a cell is."""
        return self.blueprint.get(cell.metadata.get("nbgrader", {}).get("grade_id") or cell.get("id"))


def _is_test(cell: NotebookNode) -> bool:
    about = cell.metadata.get("nbgrader", {})
    return bool(about.get("grade")) and not about.get("solution")
