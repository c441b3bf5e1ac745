"""Small notebooks, examined for real: an instructor's, and what students might hand in.

A notebook is written as one string, a line ``--- part`` before each cell:

    --- given         a locked cell
    --- open          a cell that nbgrader does not know: students may edit it
    --- manual        an answer that is graded by hand
    --- answer        the instructor's solution
    --- test          a grade cell, worth the sum of its checks, or one point
    --- wrong         what a student writes in place of the answer above; the cells below lose points
    --- right         the same, but it earns all points

With several answers a ``wrong`` or ``right`` stands for the cell before it that students may edit.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

import nbformat
import pytest
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_notebook

from tests.handmade import code
from viva import wording
from viva.engine.checks import CHECK
from viva.engine.examination import Examination
from viva.engine.grading import Grader
from viva.engine.outcome import CheckResult, Outcome
from viva.engine.rehearsal import rehearse
from viva.notebook.cell import is_locked
from viva.record import Note
from viva.verdict import Verdict


def read_exams(path: Path) -> dict[str, str]:
    """The exams of a text file by their titles, each of which stands in a line ``=== title`` above its exam."""
    return _by_title(path.read_text(encoding="utf-8"))


def sampled(cases: Iterable[tuple], fast: int) -> list:
    """Parameters of which one of ``fast`` so many is run each time; the others are thorough.

    Where the cases are all of some lists, ``fast`` is prime to what those count, so that each entry has its turn.
    """
    rest = [pytest.mark.slow, pytest.mark.thorough]
    return [pytest.param(*case, marks=rest if place % fast else []) for place, case in enumerate(cases)]


def thinned(cases: Iterable, every: int = 3) -> list:
    """Slow parameters of which `make proofs` takes the first of ``every`` so many, and `make thorough` the others.

    For rows that prove the same thing many times. A case that is a tuple is the parameters of one test.
    """
    rows = (case if isinstance(case, tuple) else (case,) for case in cases)
    marks = [pytest.mark.slow], [pytest.mark.slow, pytest.mark.thorough]
    return [pytest.param(*row, marks=marks[place % every > 0]) for place, row in enumerate(rows)]


def read_tables(path: Path) -> dict[str, dict[str, str]]:
    """The tables of exams of a text file, each below a line ``====== name``; what stands above them has no name."""
    first, *parts = re.split(r"^====== (.*)$", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    tables = {"": first} | dict(zip(parts[::2], parts[1::2], strict=True))
    return {name: _by_title(text) for name, text in tables.items()}


def _by_title(text: str) -> dict[str, str]:
    _, *parts = re.split(r"^=== (.*)$", text, flags=re.MULTILINE)
    return dict(zip(parts[::2], parts[1::2], strict=True))


CELL = re.compile(r"^--- (given|open|answer|manual|test|wrong|right)\n", re.MULTILINE)
_numbers = itertools.count()


@dataclass(frozen=True)
class Variant:
    """What one student writes: the answers by cell id, and whether they are right."""

    right: bool
    answers: dict[str, str]


def code_cell(name: str, source: str, **nbgrader: object) -> NotebookNode:
    """A code cell as nbgrader marks it."""
    return code(name, source, **({"locked": True} | nbgrader))


def parts_of(text: str) -> list[tuple[str, str]]:
    """The parts of an exam, each with its source."""
    _, *parts = CELL.split(text)
    return list(zip(parts[::2], parts[1::2], strict=True))


def read(text: str) -> tuple[NotebookNode, list[Variant]]:
    """The instructor's notebook and the students' variants of it."""
    cells, variants = [], []
    for place, (part, source) in enumerate(parts_of(text)):
        name = f"{part}-{place}"
        if part == "given":
            cells.append(code_cell(name, source))
        elif part == "open":
            cells.append(new_code_cell(source, id=name))
        elif part == "answer":
            cells.append(code_cell(name, source, solution=True, locked=False))
        elif part == "manual":
            cells.append(code_cell(name, source, solution=True, locked=False, grade=True, points=1.0))
        elif part == "test":
            points = [float(match["points"]) for line in source.splitlines() if (match := CHECK.match(line))]
            cells.append(code_cell(name, source, grade=True, points=sum(points) or 1.0))
        else:
            answer = next(cell for cell in reversed(cells) if not is_locked(cell))
            variants.append(Variant(part == "right", {answer.id: source}))
    return new_notebook(cells=cells), variants


class Exam:
    """An instructor's notebook that was rehearsed, and its students' variants."""

    def __init__(self, text: str, grader: Grader, folder: Path, data: Path | None = None, **metadata: object) -> None:
        """``data`` is a folder of the assignment's files."""
        self.notebook, self.variants = read(text)
        self.data = data
        self.notebook.metadata.update(metadata)
        self.grader = grader
        path = folder / f"exam{next(_numbers)}.ipynb"
        nbformat.write(self.notebook, path)
        self.examination: Examination = rehearse(path, grader, data)

    @property
    def tests(self) -> list[str]:
        return [cell.id for cell in self.examination.blueprint.cells if cell.purpose == "tests"]

    def answered(self, answers: dict[str, str] | str | None = None) -> NotebookNode:
        """A submission: the solution, with some of the answers in place of its own; a string is the first answer."""
        if isinstance(answers, str):
            answers = {next(cell.id for cell in self.notebook.cells if cell.metadata.nbgrader.solution): answers}
        notebook = nbformat.from_dict(self.notebook)
        for cell in notebook.cells:
            cell.source = (answers or {}).get(cell.id, cell.source)
        return notebook

    def grade(self, answers: dict[str, str] | str | None = None, alone: bool = False) -> Outcome:
        """The outcome of a submission; with ``alone`` its tests run in the student's own process."""
        single = dict.fromkeys(self.tests, Note("declared"))
        examination = replace(self.examination, single_process=single) if alone else self.examination
        outcome = self.grader.grade(self.answered(answers), examination, self.data)
        assert outcome.faults == []
        return outcome

    def check(self, answers: dict[str, str] | str | None = None) -> CheckResult:
        """What the last check of a submission came to."""
        return self.grade(answers).checks[self.tests[-1]][-1]

    def prove(self, inside: bool = False) -> None:
        """The solution and every right variant pass, every wrong one does not, in one process and in two."""
        assert bool(self.examination.inside) == inside, self.examination.single_process_sentences()
        assert self.variants, "nothing wrong was tried"
        assert lost(self.grade()) == {}
        for variant in self.variants:
            split = lost(self.grade(variant.answers))
            assert bool(split) != variant.right, (variant, split)
            if not inside:
                alone = lost(self.grade(variant.answers, alone=True))
                assert split.keys() == alone.keys(), (variant, split, alone)
            assert not {Verdict.UNGRADED, Verdict.TIMEOUT} & {verdict for verdict, _ in split.values()}, (
                variant,
                split,
            )


def lost(outcome: Outcome) -> dict[tuple[str, str], tuple[Verdict, str]]:
    """The checks that did not pass, with verdict and reason."""
    return {
        (cell, result.title): (result.verdict, f"{wording.reason(result)}\n{result.traceback}")
        for cell, results in outcome.checks.items()
        for result in results
        if result.earned < result.points
    }
