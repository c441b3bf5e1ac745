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
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from nbformat import NotebookNode

from viva import taint
from viva.blueprint import Blueprint, Cell
from viva.claims import Claims
from viva.dialogue import integrity
from viva.outcome import CheckResult, Outcome, outputs_of, score
from viva.parent import LIBRARIES, Parent
from viva.session import STUCK, TIMEOUT, Died, ExaminerFault, Session
from viva.verdict import Verdict, WallError
from viva.wall import Wall

Found = TypeVar("Found")

MOST_DEATHS = 3
"""So many times a submission is taken up again after its process ended."""

OWN_PAIR = -1
UNDEFINED = re.compile(r"NameError: name '(\w+)' is not defined")


@dataclass(frozen=True)
class Examination:
    """What the examiner knows about a notebook: its blueprint, which cells it runs itself, the kinds of answers,
    and the grade cells that can only be run in the candidate."""

    blueprint: Blueprint
    plan: taint.Plan
    kinds: dict[str, str]
    inside: frozenset[str] = frozenset()

    def __deepcopy__(self, memo: dict) -> Examination:
        return self  # it never changes; nbconvert copies what it is handed for every step

    def cells_before(self, name: str, after: str | None) -> list[Cell]:
        """The blueprint's cells between two grade cells."""
        ids = [cell.id for cell in self.blueprint.cells]
        start = ids.index(after) + 1 if after in ids else 0
        return [cell for cell in self.blueprint.cells[start : ids.index(name)] if cell.kind != "tests"]


class Grader:
    """Two warm parents, and the grading of submissions by their children."""

    def __init__(
        self,
        seconds: float = 30.0,
        walls: tuple[Wall, Wall] | None = None,
        libraries: tuple[str, ...] = LIBRARIES,
        environment: dict[str, str] | None = None,
    ) -> None:
        """``walls`` stand around candidate and examiner.

        ``libraries`` are loaded before the first submission comes, others when they are imported; the
        variables of ``environment`` are set for all.
        """
        self.seconds, self.walls = seconds, walls
        self.libraries, self.environment = libraries, environment
        self.walled = walls is not None
        self.claims = Claims()
        self._start()

    def _start(self) -> None:
        candidate_wall, examiner_wall = self.walls or (None, None)
        slot, loaded = self.claims.pair(OWN_PAIR), (self.libraries, self.environment)
        self.candidates = Parent("candidate", candidate_wall, slot, *loaded)
        self.examiners = Parent("examiner", examiner_wall, slot + 1, *loaded)

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
        other.libraries, other.environment = self.libraries, self.environment
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

        A fault of the grader is tried again once; then the grade cells that have no result are ungraded.
        """
        for attempt in (1, 2):
            run = _Run(self, notebook, examination, data, files)
            try:
                run.finish()
                break
            except (ExaminerFault, WallError) as error:
                if attempt == 2:
                    run.give_up(str(error))
                else:
                    self.restart()
        return run.outcome


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

    def finish(self) -> None:
        for _ in range(MOST_DEATHS + 1):
            with Session(self.grader.candidates, self.grader.examiners, self.data, self.files) as session:
                session.examiner(10, do="prepare", kinds=self.examination.kinds, recording=False)
                if self._go_through(session):
                    self._look_back(session)
                    break
        self._mark_rest(Verdict.KILLED, "the cells before ended the code's process too often")

    def give_up(self, fault: str) -> None:
        self.outcome.faults.append(fault)
        self._mark_rest(Verdict.UNGRADED, f"the grader failed, not you: {fault.splitlines()[-1]}")

    def _go_through(self, session: Session) -> bool:
        """Run all cells; whether the end was reached."""
        before = None
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
                    reply = session.candidate(self._seconds(cell), do="run", source=cell.source)
                    self.outcome.outputs.setdefault(index, (outputs_of(reply), reply.get("count")))
            except Died as death:
                self._bury(index, death)
                return False
        return True

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
        else:
            reports = examine(session, cell, seconds, skip)
        self.spent[cell.id] = self.spent.get(cell.id, 0.0) + time.monotonic() - start
        if not again:
            results.extend(map(self._explained, score(cell, reports, skip)))
        if len(results) == len(cell.checks):
            self.finished.add(index)
        if self.grader.candidates not in session.pids:  # it did not even heed the interrupt
            for result in results:
                if result.verdict is Verdict.KILLED:
                    result.verdict, result.reason = Verdict.TIMEOUT, TIMEOUT.format(limit)
            raise Died(Verdict.TIMEOUT, "")
        if reports and reports[-1]["verdict"] == Verdict.KILLED and not again:
            raise Died(Verdict.KILLED, "")

    def _explained(self, result: CheckResult) -> CheckResult:
        """A name that is missing because its cell ended the process is no error of the check."""
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
        name = cell.metadata.get("nbgrader", {}).get("grade_id") or cell.get("id")
        known = self.blueprint.get(name)
        return float((known and known.seconds) or self.grader.seconds)


def prepare(session: Session, cells: list[Cell], examination: Examination, seconds: float) -> None:
    """Let the examiner run the given cells, and give up the names that become the student's."""
    for cell in cells:
        if cell.id in examination.plan.given:
            session.examiner(seconds, do="given", source=cell.source, name=cell.id)
        elif names := examination.plan.owned.get(cell.id):
            session.examiner(10, do="own", names=sorted(names))


def examine(session: Session, cell: Cell, seconds: Iterator[float], skip: int = 0) -> list[dict]:
    """The examiner's reports on a grade cell's checks, the first ``skip`` left out.

    ``seconds`` says how long each step may take. The reports end early when the candidate does.
    """
    visible = sorted(cell.visible_names())
    begun = session.examiner(next(seconds), do="begin", cell=cell.id, prelude=cell.prelude, visible=visible)["report"]
    if begun["verdict"] != Verdict.PASSED:
        return [begun | {"title": check.title} for check in cell.checks[skip:]]
    reports = []
    for check in cell.checks[skip:]:
        reports.append(session.examiner(next(seconds), do="check", title=check.title, source=check.source)["report"])
        if reports[-1]["verdict"] == Verdict.KILLED:
            return reports
    session.examiner(STUCK, do="finish", pushed=visible)
    return reports


def examine_inside(session: Session, cell: Cell, seconds: Iterator[float], skip: int = 0) -> list[dict]:
    """The same, with the test code run in the candidate: for cells that cannot be split."""
    reports = []
    session.candidate(next(seconds), do="run", source=cell.prelude)
    for check in cell.checks[skip:]:
        start = time.monotonic()
        reply = session.candidate(next(seconds), do="run", source=check.source)
        raised = reply.get("raised")
        report = {"title": check.title, "verdict": Verdict.PASSED, "reason": "", "traceback": "", "printed": ""}
        report |= {"result": None, "seconds": time.monotonic() - start}
        if isinstance(raised, dict):
            failed = raised.get("name") == "AssertionError"
            report["verdict"] = Verdict.FAILED if failed else Verdict.ERROR
            report["reason"], report["traceback"] = str(raised.get("message")), str(raised.get("traceback"))
            report["raised_by"] = "student"  # in the candidate nobody can tell whose it is
        else:
            values = [
                item["data"]["text/plain"] for item in outputs_of(reply) if item["output_type"] == "execute_result"
            ]
            report["result"] = values[-1] if values else None
        reports.append(report)
    return reports


def allowance(limit: float, spent: float = 0.0) -> Iterator[float]:
    """How long each step of a grade cell may take: what is left of its limit, then a tenth of it for every check.

    So a check that never ends costs the others of its cell nothing.
    """
    start = time.monotonic() - spent
    while True:
        yield max(limit - (time.monotonic() - start), limit / 10)


def _is_test(cell: NotebookNode) -> bool:
    about = cell.metadata.get("nbgrader", {})
    return bool(about.get("grade")) and not about.get("solution")
