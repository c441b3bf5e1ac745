"""What a submission's processor time is made of, part by part, beside the floor's.

Each number is the median over several gradings of one right answer: what the kernel counted for a process
while it did what it was asked for. The floor's parts are those of the same cells in the candidate alone.
`python -m bench.costs ASSIGNMENT` compares every known answer, right and wrong.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import nbformat

from viva.course.examining.graders import examination
from viva.course.examining.rehearsals import Rehearsals
from viva.engine import libraries
from viva.engine import session as sessions
from viva.engine.grading import Grader
from viva.engine.session import Session
from viva.notebook.cell import Purpose
from viva.sandbox.confinement import Sandbox
from viva_audit.answers import Answer, fill_in, read_answers

RUNS = 15
PROJECT = Path(__file__).resolve().parents[1]
CELLS, TESTS, ANSWERS = "the notebook's cells", "the tests", "answers to the tests"
GIVEN, SANDBOX, FORK = "read-only cells, beside the tests", "start of the sandbox", "fork and end of the process"
PARTS = {"run": CELLS, "check": TESTS, "begin": TESTS, "given": GIVEN}


def spent_by(pid: int) -> float:
    """Milliseconds that a process was on a processor, its children's left out."""
    try:
        return int(Path(f"/proc/{pid}/schedstat").read_text().split()[0]) / 1e6
    except OSError:
        return 0.0


class Counted(Session):
    """A session that counts what its two processes spend on each request."""

    spent: Counter = Counter()

    def _start(self) -> None:
        super()._start()
        for pid in self.pids.values():
            self.spent[SANDBOX] += spent_by(pid)

    def candidate(self, within: float, **request: object) -> dict:
        return self._counted(super().candidate, within, request)

    def examiner(self, within: float, **request: object) -> dict:
        return self._counted(super().examiner, within, request)

    def _counted(self, ask, within: float, request: dict) -> dict:
        part = PARTS.get(request["do"], "the rest of the dialogue")
        pids = [self.pids[self.candidates], self.pids[self.examiners]]
        before = [spent_by(pid) for pid in pids]
        try:
            return ask(within, **request)
        finally:
            for place, (pid, start) in enumerate(zip(pids, before, strict=True)):
                of_candidate = place == 0 and part == TESTS
                self.spent[ANSWERS if of_candidate else part] += spent_by(pid) - start


def measured(assignment: str, every: bool = False) -> Iterator[tuple[Answer, dict[str, float], dict[str, float]]]:
    """A right answer, or ``every`` known answer, each with the milliseconds of every part of grading it, and of the
    floor's parts."""
    (source,) = (PROJECT / "source" / assignment).glob("*.ipynb")
    release = PROJECT / "release" / assignment / source.name
    loaded = libraries.wanted([release])
    grader = Grader(sandboxes=(Sandbox.for_candidate(), Sandbox.for_examiner()), libraries=loaded)
    sessions.Session = Counted
    try:
        known = examination(source, grader, {}, {}, {}, Rehearsals())
        grader.learn(known)
        blueprint, released = known.blueprint, nbformat.read(release, as_version=4)
        parents = [parent.process.pid for parent in (grader.candidates, grader.examiners)]
        tests = {
            cell.id: [cell.prelude, *(check.source for check in cell.checks)]
            for cell in blueprint.cells
            if cell.purpose == Purpose.TESTS
        }
        answers = sorted(read_answers(PROJECT / "answers" / assignment), key=lambda one: not one.right)
        for answer in answers if every else answers[:1]:
            notebook = fill_in(answer, released, blueprint)
            cells = [
                (tests.get(cell.metadata.get("nbgrader", {}).get("grade_id")), cell.source)
                for cell in notebook.cells
                if cell.cell_type == "code"
            ]
            graded = _medians(partial(grader.grade, notebook, known), parents)
            yield answer, graded, _medians(partial(_bare, grader, cells), parents)
    finally:
        sessions.Session = Session
        grader.close()


def _bare(grader: Grader, cells: list[tuple[list[str] | None, str]]) -> None:
    """Run all cells in one process, those of tests check by check."""
    with Session(grader.candidates, grader.examiners) as session:
        pid = session.pids[grader.candidates]
        for test, source in cells:
            start = spent_by(pid)
            for part in test or [source]:
                session.candidate(60, do="run", source=part)
            Counted.spent[TESTS if test else CELLS] += spent_by(pid) - start


def _medians(work, parents: list[int]) -> dict[str, float]:
    found: dict[str, list[float]] = defaultdict(list)
    for _ in range(RUNS):
        Counted.spent.clear()
        before, own = sum(map(spent_by, parents)), time.process_time()
        work()
        Counted.spent[FORK] = sum(map(spent_by, parents)) - before
        Counted.spent["the worker, reading and writing left out"] = 1000 * (time.process_time() - own)
        for part, milliseconds in Counted.spent.items():
            found[part].append(milliseconds)
    return {part: statistics.median(values) for part, values in found.items()}


def table(assignment: str) -> list[str]:
    """A table in Markdown: one right answer, part by part."""
    ((_, graded, floor),) = measured(assignment)
    rows = [f"| {part} | {graded[part]:.1f} | {_of_floor(part, floor)} |" for part in sorted(graded, key=graded.get)]
    return ["| milliseconds of processor time | Viva | the floor |", "|---|---|---|", *reversed(rows)]


def by_answer(assignment: str) -> Iterator[str]:
    """A table in Markdown: every known answer; wrong ones cost what their tracebacks and deaths cost."""
    yield "| | right | Viva, ms | the floor, ms | times |"
    yield "|---|---|---|---|---|"
    for answer, graded, floor in measured(assignment, every=True):
        ours, theirs = sum(graded.values()), floor[CELLS] + floor[TESTS]
        right = "yes" if answer.right else "no"
        yield f"| {answer.name} | {right} | {ours:.0f} | {theirs:.0f} | {ours / theirs:.2f} |"


def times_floor(assignment: str) -> float:
    """How many times the processor time of its cells and tests a right answer takes."""
    ((_, graded, floor),) = measured(assignment)
    return sum(graded.values()) / (floor[CELLS] + floor[TESTS])


def _of_floor(part: str, floor: dict[str, float]) -> str:
    return f"{floor[part]:.1f}" if part in (CELLS, TESTS) else ""


if __name__ == "__main__":
    for line in by_answer(sys.argv[1]) if sys.argv[1:] else table("ps3_scaled_attention"):
        print(line, flush=True)
