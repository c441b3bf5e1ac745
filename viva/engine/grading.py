"""One submission -> verdicts, by a candidate and an examiner.

The grading process drives both: it hands the student's cells to the candidate, one after the other,
and at each grade cell lets the examiner ask. It trusts the examiner and believes the candidate
nothing but its own cells' outputs. When the candidate dies, a new pair of processes runs the earlier
cells again, leaves the deadly one out, and goes on.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from pathlib import Path

from nbformat import NotebookNode

from viva.engine import undone
from viva.engine.examination import Examination
from viva.engine.lacking import libraries_lacking
from viva.engine.outcome import Outcome
from viva.engine.pair import Pair
from viva.engine.passage import Passage, Shot
from viva.engine.session import ExaminerFault
from viva.record import Fault
from viva.verdict import WallError


class Grader(Pair):
    """Two warm parents, and the grading of submissions by their children."""

    def learn(self, examination: Examination) -> None:
        """Have the test code compiled once, where all examiners inherit it; without a warm parent each compiles it."""
        with contextlib.suppress(WallError):
            self._learn(examination)

    def _learn(self, examination: Examination) -> None:
        for cell in examination.blueprint.cells:
            if cell.id in examination.plan.given:
                self.examiners.learn(cell.source, cell.id)
            if cell.purpose == "tests" and cell.id not in examination.single_process:
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
        run.outcome.doubts = libraries_lacking(run.outcome, notebook, examination)
        return run.outcome
