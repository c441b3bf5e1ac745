"""What is graded in an audit: the notebooks, and the jobs that the workers get.

A job is a key under which its result is found, the name of a worker's method, and its arguments.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from dataclasses import replace

from nbformat import NotebookNode

from viva.author.answers import Answer, fill_in
from viva.author.mutants import Mutant
from viva.author.trimming import name_of, seeded, trimmed
from viva.engine.blueprint import Cell, Purpose
from viva.engine.checks import HIDDEN
from viva.engine.examination import Examination
from viva.submission import variant

RUNS = 6
"""So often the solution is graded, and each known answer twice, to find the checks that depend on chance."""


class Jobs:
    """The jobs about one notebook: its ``release``, with the solution or one of the ``answers`` in some ``cells``."""

    def __init__(self, release: NotebookNode, known: Examination, answers: list[Answer]) -> None:
        self.release, self.known, self.answers = release, known, answers
        code = {name_of(cell) for cell in release.cells if cell.cell_type == "code"}
        self.cells = [cell.id for cell in known.blueprint.cells if cell.purpose == Purpose.ANSWER and cell.id in code]

    def filled(self, right: set[str]) -> NotebookNode:
        """The release with the solution in some answer cells."""
        notebook, solutions = copy.deepcopy(self.release), self.known.blueprint.solutions()
        for cell in notebook.cells:
            if name_of(cell) in right:
                cell.source = solutions[name_of(cell)]
        notebook.cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
        return notebook

    def _grading(self, key: tuple, notebook: NotebookNode, known: Examination | None = None) -> tuple:
        return key, "grade", notebook, known or self.known

    def _answered(self, answer: Answer) -> NotebookNode:
        """The release with a known answer in it."""
        notebook = fill_in(answer, self.release, self.known.blueprint)
        notebook.cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
        return notebook

    def proofs(self) -> Iterator[tuple]:
        """The untouched release, the solution, and each known answer."""
        solution = self.filled(set(self.cells))
        yield self._grading(("untouched",), self.filled(set()))
        yield self._grading(("solution",), solution)
        yield self._grading(("trimmed",), *self._trimmed(solution))
        for place, answer in enumerate(self.answers):
            yield self._grading(("answer", place), self._answered(answer))

    def _trimmed(self, notebook: NotebookNode) -> tuple[NotebookNode, Examination]:
        tests = {cell.id for cell in self.known.blueprint.cells if cell.purpose == Purpose.TESTS}
        return trimmed(notebook, self.known, tests)

    def _leaner(self, trials: dict) -> Callable[[NotebookNode], tuple]:
        """What is graded of a notebook from its second run on: without pictures, if the solution passes then."""
        trial = trials[("trimmed",)]
        return self._trimmed if trial and not trial.lost and not trial.faults else lambda notebook: (notebook,)

    def again(self, trials: dict) -> Iterator[tuple]:
        """The solution and the known answers once more, with other random numbers."""
        lean, solution = self._leaner(trials), self.filled(set(self.cells))
        for run in range(1, RUNS):
            notebook, *known = lean(solution)
            yield self._grading(("again", run), seeded(notebook, run), *known)
        for place, answer in enumerate(self.answers):
            notebook, *known = lean(self._answered(answer))
            yield self._grading(("second", place), seeded(notebook, place), *known)

    def varied(self, trials: dict, seed: int, *, wrong: bool) -> Iterator[tuple]:
        """The solution and the right answers in a variant; the ``wrong`` answers, too."""
        other = Jobs(variant.seeded(self.release, seed), self.known.seeded(seed), self.answers)
        lean = other._leaner(trials)
        yield other._grading(("varied", seed), *lean(other.filled(set(other.cells))))
        for place, answer in enumerate(self.answers):
            if answer.right or wrong:
                yield other._grading(("varied", seed, place), *lean(other._answered(answer)))

    def shown(self, trials: dict, places: list[int]) -> Iterator[tuple]:
        """The known answers at these places, with the lines of the tests that students see."""
        other = Jobs(self.release, _visible(self.known), self.answers)
        lean = other._leaner(trials)
        for place in places:
            yield other._grading(("shown", place), *lean(other._answered(self.answers[place])))

    def alone(self, trials: dict) -> Iterator[tuple]:
        """Each answer of the solution alone, and the solution without it."""
        lean = self._leaner(trials)
        for cell in self.cells:
            yield self._grading(("alone", cell), *lean(self.filled({cell})))
            yield self._grading(("without", cell), *lean(self.filled(set(self.cells) - {cell})))

    def mutations(self, found: list[Mutant], ground: dict) -> list[tuple]:
        """The mutants; ``ground`` says by cell in which notebook, with what known of it, in how many seconds."""
        jobs = []
        for place, mutant in enumerate(found):
            notebook, known, limit = ground[mutant.cell]
            jobs.append((("mutant", place), "grade_mutant", notebook, mutant, known, limit))
        return jobs


def _visible(known: Examination) -> Examination:
    """An examination without the hidden lines of its tests. A check that is all hidden has nothing to fail at."""
    cells = tuple(_shown(cell) if cell.purpose == Purpose.TESTS else cell for cell in known.blueprint.cells)
    return replace(known, blueprint=replace(known.blueprint, cells=cells))


def _shown(cell: Cell) -> Cell:
    checks = tuple(replace(check, source=HIDDEN.sub("", check.source)) for check in cell.checks)
    return replace(cell, source=HIDDEN.sub("", cell.source), prelude=HIDDEN.sub("", cell.prelude), checks=checks)
