"""One submission -> verdicts, by a candidate and an examiner.

The grading process drives both: it hands the student's cells to the candidate, one after the other,
and at each grade cell lets the examiner ask. It trusts the examiner and believes the candidate
nothing but its own cells' outputs. When the candidate dies, a new pair of processes runs the earlier
cells again, leaves the deadly one out, and goes on.
"""

from __future__ import annotations

import contextlib
import copy
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from nbformat import NotebookNode

from viva.engine import undone
from viva.engine.examination import Examination
from viva.engine.libraries import COMMON
from viva.engine.outcome import Outcome
from viva.engine.parent import Role, begin
from viva.engine.passage import Passage, Shot
from viva.engine.session import ExaminerFault
from viva.record import Fault
from viva.verdict import WallError
from viva.wall.confinement import LARGER, USUAL, Limits, Wall
from viva.wall.slots import Claims

Found = TypeVar("Found")


OWN_PAIR = -1


def examiners_limits(limits: Limits) -> Limits:
    """The limits of an examiner, which computes what its candidate does and holds what that answers."""
    names = ("cpu_seconds", "memory_bytes")
    return replace(LARGER, **{name: max(getattr(LARGER, name), getattr(limits, name)) for name in names})


class Grader:
    """Two warm parents, and the grading of submissions by their children."""

    def __init__(
        self,
        seconds: float = 30.0,
        walls: tuple[Wall, Wall] | None = None,
        libraries: tuple[str, ...] = COMMON,
        hidden: tuple[str, ...] = (),
        environment: dict[str, str] | None = None,
        budget: float = 0.0,
        limits: Limits = USUAL,
    ) -> None:
        """``walls`` stand around candidate and examiner; without them ``limits`` are those of the candidate.

        ``libraries`` are loaded before the first submission comes, and for the examiners ``hidden`` too;
        others when they are imported. The variables of ``environment`` are set for all.
        A cell may take so many ``seconds``, and a notebook ``budget`` where it does not say itself.
        """
        self.seconds, self.walls, self.budget = seconds, walls, budget
        self.libraries, self.hidden, self.environment = libraries, hidden, environment
        self.walled, self.limits = walls is not None, limits
        self.claims = Claims()
        self._start()

    def _start(self) -> None:
        candidate_wall, examiner_wall = self.walls or (None, None)
        slot, known = self.claims.pair(OWN_PAIR), self.environment
        roles = (
            Role("candidate", candidate_wall, slot, self.limits),
            Role("examiner", examiner_wall, slot + 1, examiners_limits(self.limits)),
        )
        self.candidates, self.examiners = begin(roles, self.libraries, known)
        if more := [name for name in self.hidden if name not in self.libraries]:
            self.examiners.load(more)

    def __deepcopy__(self, memo: dict) -> Grader:
        return self  # a handle on processes

    def close(self) -> None:
        self._stop()
        self.claims.close()

    def _stop(self) -> None:
        self.candidates.close()
        self.examiners.close()

    def allow(self, memory: int) -> None:
        """New warm parents, without a wall, whose children may use so many bytes."""
        self.limits = replace(self.limits, memory_bytes=memory)
        self.restart()

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
        other = copy.copy(self)  # it owns neither the warm parents nor the claims
        other.claims = Claims()
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
            if cell.purpose == "tests" and cell.id not in examination.inside:
                for source, title in ((cell.prelude, cell.id), *((check.source, check.title) for check in cell.checks)):
                    self.examiners.learn(source, title)

    def grade(
        self,
        notebook: NotebookNode,
        examination: Examination,
        data: Path | None = None,
        files: Path | None = None,
        watch: Callable[[str], None] | None = None,
    ) -> Outcome:
        """Grade a notebook whose nbgrader cells are the instructor's but for the answers.

        ``data`` holds the assignment's files, ``files`` those and the ones that were handed in beside the notebook.
        Who may ``watch`` is told each cell of the assignment when it begins; then the time has no end, but the first
        thing that does not finish is the last.

        A fault of the grader is tried again once; then the grade cells that have no result are ungraded. A candidate
        that met a SIGKILL is tried again once too: the kernel sends it where the machine runs out of memory.
        """
        patience = None
        for attempt in (1, 2):
            run = Passage(self, notebook, examination, data, files, watch, patience)
            try:
                run.finish(last=attempt == 2)
                break
            except Shot:
                patience = run.patience  # a student can send it too
            except (ExaminerFault, WallError) as error:
                if attempt == 2:
                    run.give_up(Fault(str(error), getattr(error, "log", "")))
                else:
                    self.restart()
        undone.mark(run.outcome, notebook, examination)
        return run.outcome
