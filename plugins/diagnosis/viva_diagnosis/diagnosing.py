"""The diagnosis of a class by several workers: first the known mistakes, then the submissions that lost points.

All student code runs as in grading, behind the sandbox. A submission that lost nothing is not run.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path

from nbformat import NotebookNode

from viva.course.course import Course
from viva.course.examining.rehearsals import Rehearsals
from viva.course.processes import stopping
from viva.course.processes.workers import Workers
from viva.course.releasing.contract import Contract
from viva.engine.blueprint import read_notebook
from viva.engine.examination import Examination
from viva.engine.grading import Grader
from viva.record import SubmissionRecord
from viva.verdict import BlueprintError, Verdict, VivaError
from viva_audit.answers import Answer
from viva_audit.fieldmistakes import read_mistakes
from viva_audit.mutants import Mutant, mutants
from viva_audit.trials import Worker
from viva_diagnosis import diagnoses, fingerprints
from viva_diagnosis.diagnoses import Diagnosis
from viva_diagnosis.fingerprints import Fingerprints, Making
from viva_diagnosis.probing import probed
from viva_diagnosis.recognition import Reference, recognise

WRONG = (Verdict.FAILED, Verdict.ERROR, Verdict.PARTLY)
SECONDS = 5.0
"""The most seconds of a cell that is asked for its behaviour."""


class Desk:
    """A worker: it makes fingerprints, and it diagnoses submissions."""

    def __init__(self, grader: Grader, making: Making, reference: Reference | None = None) -> None:
        self.grader, self.reference = grader, reference
        self.making = Making(grader, making.release, making.examination, making.data)
        self.grader.seconds = min(self.grader.seconds, SECONDS)

    def let_go(self) -> None:
        self.grader.close()

    def __call__(self, job: tuple) -> object:
        name, *arguments = job
        return getattr(self, f"do_{name}")(*arguments)

    def do_known(self, answer: Answer, probes, right) -> fingerprints.Mistake | None:
        return fingerprints.of_answer(self.making, answer, probes, right)

    def do_mutant(self, mutant: Mutant, probes, right) -> fingerprints.Mistake | None:
        return fingerprints.of_mutant(self.making, mutant, probes, right)

    def do_submission(
        self, student: str, folder: Path, notebook: str, lost: frozenset[str], unclear: frozenset[str]
    ) -> tuple | str:
        """What ``recognise`` says of a graded notebook, or why it cannot be read."""
        assert self.reference is not None
        try:
            graded = read_notebook(folder / f"{notebook}.ipynb")
        except BlueprintError as error:
            return str(error)
        examination, probes = self.making.examination, self.reference.fingerprints.probes()
        spots = self.reference.spots(lost)
        behaviour = probed(self.grader, graded, examination, probes, spots, self.making.data, folder)
        return recognise(self.reference, graded, examination, behaviour, lost, unclear)


class Diagnosing:
    """One notebook of an assignment."""

    def __init__(
        self,
        course: Course,
        assignment: str,
        notebook: str,
        examination: Examination,
        release: NotebookNode,
        kept: Contract,
        grader: Grader,
        workers: int,
    ) -> None:
        self.course, self.assignment, self.notebook = course, assignment, notebook
        self.grader, self.workers = grader, workers
        self.kept = kept
        self.answers = course.root / "answers" / assignment
        self.making = Making(grader, release, examination, kept.files)
        self.path = diagnoses.folder(course) / f"{assignment}-{notebook}.fingerprints.json"

    def fingerprints(self, with_mutants: bool, progress: Callable[[int, int], None], renew: bool) -> Fingerprints:
        """Those that are kept, made anew where anything changed that they depend on. Raises AnswerError."""
        cells = [(cell.id, cell.source) for cell in self.making.examination.blueprint.cells]
        key = fingerprints.key_of(self.kept.notebook(self.notebook), self.kept.files, self.answers, with_mutants, cells)
        kept = fingerprints.read(self.path)
        if kept and kept.key == key and not renew:
            return kept
        jobs: list[tuple] = []
        known = fingerprints.answers_of(self.answers, self.making.examination) if self.answers.is_dir() else []
        probes, right = self.making.probes()
        jobs += [("known", answer, probes, right) for answer in known if not answer.right]
        if with_mutants:
            jobs += [("mutant", mutant, probes, right) for mutant in self._mutants()]
        mistakes: dict[int, fingerprints.Mistake] = {}
        with self._pool() as pool:
            for done, (job, mistake) in enumerate(pool.map(jobs), 1):
                if isinstance(mistake, fingerprints.Mistake):
                    mistakes[id(job)] = mistake
                progress(done, len(jobs))
        in_order = [mistakes[id(job)] for job in jobs if id(job) in mistakes]
        made = fingerprints.assembled(self.making, probes, right, in_order, key)
        fingerprints.write(made, self.path)
        return made

    def _mutants(self) -> list[Mutant]:
        blueprint, results, integers = self.making.examination.blueprint, {}, []
        path, rehearsals = self.kept.notebook(self.notebook), Rehearsals.of(self.course.directory, self.assignment)
        with contextlib.suppress(VivaError):  # without what was seen there are fewer mutants
            watched = Worker(self.grader, path, rehearsals, self.kept.files).watch(blueprint)
            results = {name: text for name, text in watched["results"].items() if text}
            integers = watched["integers"]
        return mutants(blueprint, results, integers, read_mistakes(self.course.root))

    @contextlib.contextmanager
    def _pool(self, reference: Reference | None = None) -> Iterator[Workers]:
        def desk(number: int) -> Desk:
            return Desk(self.grader.share(number), self.making, reference)

        with stopping.postponed(), Workers(self.workers, desk) as pool:
            yield pool

    def diagnoses(
        self, made: Fingerprints, records: list[SubmissionRecord], kept: list[Diagnosis], renew: bool
    ) -> Iterator[Diagnosis]:
        """The diagnoses of these submissions; those that are ``kept`` are used where nothing has changed."""
        reference = Reference.of(made)
        known = {(entry.student, entry.graded, entry.reference): entry for entry in kept if not renew}
        jobs, by_student = [], {}
        for record in records:
            lost, unclear = lost_in(record, self.notebook)
            entry = known.get((record.student, record.key, made.key))
            if not reference.spots(lost) or not record.key:
                continue
            if entry:
                yield entry
                continue
            folder = self.course.path("autograded", self.assignment, record.student)
            by_student[record.student] = record
            jobs.append(("submission", record.student, folder, self.notebook, lost, unclear))
        if not jobs:
            return
        with self._pool(reference) as pool:
            for job, told in pool.map(jobs):
                if isinstance(told, tuple):
                    yield Diagnosis(job[1], self.notebook, by_student[job[1]].key, made.key, *told)


def lost_in(record: SubmissionRecord, notebook: str) -> tuple[frozenset[str], frozenset[str]]:
    """The test cells of a notebook that lost points by wrong results; and those that lost them otherwise, as answers
    are missing, not done yet or did not end."""
    lost, unclear = set(), set()
    book = record.notebooks.get(notebook)
    for cell, results in book.checks.items() if book else ():
        missed = [result for result in results if result.earned < result.points]
        if missed and all(result.verdict in WRONG and not result.undone for result in missed):
            lost.add(cell)
        elif missed:
            unclear.add(cell)
    return frozenset(lost), frozenset(unclear)
