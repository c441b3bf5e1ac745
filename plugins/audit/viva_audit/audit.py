"""The audit: an assignment is proven before it is released.

Everything is graded in the real engine: the untouched release, the solution, the known answers, each answer
alone and each left blank, and every mutant of the solution. A mutant that passes every check is compared with the
solution; where the two are equivalent, the tests are not at fault.
"""

from __future__ import annotations

import contextlib
import copy
import difflib
import os
import re
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from nbformat import NotebookNode
from traitlets.config import Config

from viva.cleaning import plaintext
from viva.course.course import Course
from viva.course.examining.autograde import Examine
from viva.course.examining.rehearsals import Rehearsals
from viva.course.grading.remote import Pool, RemoteGraders, Settings
from viva.course.processes import slow, stopping
from viva.course.processes.workers import Workers
from viva.course.releasing import contract
from viva.course.releasing.contract import Draft
from viva.course.releasing.release import why_not
from viva.course.source import machine
from viva.engine import libraries
from viva.engine.blueprint import Blueprint, Cell, read_blueprint, read_notebook
from viva.engine.checks import HIDDEN
from viva.engine.credit import BEYOND, FULL, PART
from viva.engine.dialogue.expected import CREDIT
from viva.engine.examination import Examination
from viva.engine.rehearsal import kinds_of_answers
from viva.folder import walk
from viva.notebook.cell import Purpose, name_of
from viva.notebook.programming import PYTHON, language_of
from viva.sandbox.confinement import MB, USUAL
from viva.submission import variant
from viva.verdict import AnswerError, BlueprintError, CourseError, VivaError
from viva_audit import degenerate, kernelaudit
from viva_audit.answers import Answer, fill_in, read_answers
from viva_audit.auditresult import LISTED, Audit, Fate, excuse, read_excuses
from viva_audit.checkname import CheckName, names_of_checks
from viva_audit.fieldmistakes import read_mistakes
from viva_audit.hygiene import errors, untold, warnings
from viva_audit.judgement import (
    FORBIDDEN,
    checks_with_hidden_lines,
    compare,
    explained,
    fate_of,
    flaky,
    forgive,
    lost_by,
    misfires,
    passed_by_nonsense,
    proof_of,
    scores_of,
    together,
    unnoticed,
    unseen,
    unwarned,
    varied,
    warn,
)
from viva_audit.mutants import Mutant, mutants, solution_of
from viva_audit.store import Store
from viva_audit.trials import Worker, degraded, make_grader
from viva_audit.trimming import reaching_tests, seeded, trimmed

# What is graded in an audit: the notebooks, and the jobs that the workers get.
#
# A job is a key under which its result is found, the name of a worker's method, and its arguments.

RUNS = 6
"""The solution is graded so often, and each known answer twice, to find the checks that depend on chance."""


KNOWN = "known mistakes"
"""The weaker promise ``no_surprise``: visible lines notice all known wrong answers, and not all mutants."""


class Jobs:
    """The jobs about one notebook: its ``release``, with the solution or one of the ``answers`` in some ``cells``.

    The answers are graded as students are, with errors carried forward (``carry``) where the course does. Mutants are
    not: the first answer that a slip costs points is never carried, so a mutant that loses a check loses one either
    way, and a second run would only shorten the list of the checks that notice it.
    """

    def __init__(
        self, release: NotebookNode, examination: Examination, answers: list[Answer], carry: bool = False
    ) -> None:
        self.release, self.known, self.answers, self.carry = release, examination, answers, carry
        code = {name_of(cell) for cell in release.cells if cell.cell_type == "code"}
        self.cells = [
            cell.id for cell in examination.blueprint.cells if cell.purpose == Purpose.ANSWER and cell.id in code
        ]

    def filled(self, right: set[str]) -> NotebookNode:
        """The release with the solution in some answer cells."""
        notebook, solutions = copy.deepcopy(self.release), self.known.blueprint.solutions()
        for cell in notebook.cells:
            if name_of(cell) in right:
                cell.source = solutions[name_of(cell)]
        notebook.cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
        return notebook

    def _grading(self, key: tuple, notebook: NotebookNode, examination: Examination | None = None) -> tuple:
        return key, "grade", notebook, examination or self.known

    def _grading_answer(self, key: tuple, notebook: NotebookNode, examination: Examination | None = None) -> tuple:
        return key, "grade_carried" if self.carry else "grade", notebook, examination or self.known

    def _answered(self, answer: Answer) -> NotebookNode:
        """The release with a known answer in it."""
        notebook = fill_in(answer, self.release, self.known.blueprint)
        notebook.cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
        return notebook

    def proofs(self) -> Iterator[tuple]:
        """The untouched release, the solution, and each right answer, as a submission is graded."""
        solution = self.filled(set(self.cells))
        yield self._grading(("untouched",), self.filled(set()))
        yield self._grading(("solution",), solution)
        yield self._grading(("trimmed",), *self._trimmed(solution))
        for index, answer in enumerate(self.answers):
            if answer.right:
                yield self._grading_answer(("answer", index), self._answered(answer))

    def _trimmed(self, notebook: NotebookNode) -> tuple[NotebookNode, Examination]:
        tests = {cell.id for cell in self.known.blueprint.cells if cell.purpose == Purpose.TESTS}
        return trimmed(notebook, self.known, tests)

    def _leaner(self, trials: dict) -> Callable[[NotebookNode], tuple]:
        """What is graded of a notebook whose time does not count: without pictures, if the solution passes then."""
        trial = trials[("trimmed",)]
        return self._trimmed if trial and not trial.lost and not trial.faults else lambda notebook: (notebook,)

    def again(self, trials: dict) -> Iterator[tuple]:
        """The wrong answers; and the solution and the known answers once more, with other random numbers."""
        lean, solution = self._leaner(trials), self.filled(set(self.cells))
        for run in range(1, RUNS):
            notebook, *examination = lean(solution)
            yield self._grading(("again", run), *self._again(run, notebook, *examination))
        for index, answer in enumerate(self.answers):
            notebook, *examination = lean(self._answered(answer))
            if not answer.right:
                yield self._grading_answer(("answer", index), notebook, *examination)
            yield self._grading_answer(("second", index), *self._again(index, notebook, *examination))

    def _again(
        self, run: int, notebook: NotebookNode, examination: Examination | None = None
    ) -> tuple[NotebookNode, Examination]:
        """The same with other random numbers, also where nobody seeds."""
        examination = examination or self.known
        if not examination.blueprint.is_python:  # its kernel begins with others each time; what is kept has another key
            return notebook, replace(examination, dice={"": str(run).encode()})
        dice = {cell: secret + str(run).encode() for cell, secret in examination.dice.items()}
        return seeded(notebook, run), replace(examination, dice=dice)

    def varied(self, trials: dict, seed: int, *, wrong: bool) -> Iterator[tuple]:
        """The solution and the right answers in a variant; the ``wrong`` answers, too."""
        jobs = Jobs(variant.seeded(self.release, seed), variant.examined(self.known, seed), self.answers, self.carry)
        lean = jobs._leaner(trials)
        yield jobs._grading(("varied", seed), *lean(jobs.filled(set(jobs.cells))))
        for index, answer in enumerate(self.answers):
            if answer.right or wrong:
                yield jobs._grading_answer(("varied", seed, index), *lean(jobs._answered(answer)))

    def shown(self, trials: dict, places: list[int]) -> Iterator[tuple]:
        """The known answers at these places, with the lines of the tests that students see."""
        jobs = Jobs(self.release, visible(self.known), self.answers)
        lean = jobs._leaner(trials)
        for index in places:
            yield jobs._grading(("shown", index), *lean(jobs._answered(self.answers[index])))

    def alone(self, trials: dict) -> Iterator[tuple]:
        """Each answer of the solution alone, and the solution without it."""
        lean = self._leaner(trials)
        for cell in self.cells:
            yield self._grading(("alone", cell), *lean(self.filled({cell})))
            yield self._grading(("without", cell), *lean(self.filled(set(self.cells) - {cell})))

    def mutations(self, mutations: list[Mutant], ground: dict) -> list[tuple]:
        """The mutants; ``ground`` says by cell in which notebook, with what known of it, in how many seconds."""
        jobs = []
        for index, mutant in enumerate(mutations):
            notebook, examination, limit = ground[mutant.cell]
            jobs.append(
                (("mutant", index), "grade_changed", notebook, {mutant.cell: mutant.source}, examination, limit)
            )
        return jobs

    def degenerate(self, inputs: dict, ground: dict, form: str, places: Iterable[str]) -> Iterator[tuple]:
        """The solution with the degenerate functions of one cell, and under "" with those of all, on every input."""
        solutions = self.known.blueprint.solutions()
        for cell in places:
            cells = [cell] if cell else [one for one in self.cells if inputs.get(one)]
            sources = {
                one: degraded(solutions[one], inputs[one] if cell else {name: [] for name in inputs[one]}, form)
                for one in cells
            }
            notebook, examination, limit = ground[cell]
            yield ("degenerate", form, cell), "grade_changed", notebook, sources, examination, limit


def visible(examination: Examination) -> Examination:
    """An examination without the hidden lines of its tests. A check that is all hidden has nothing to fail at."""
    cells = tuple(_shown(cell) if cell.purpose == Purpose.TESTS else cell for cell in examination.blueprint.cells)
    return replace(examination, blueprint=replace(examination.blueprint, cells=cells))


def _shown(cell: Cell) -> Cell:
    checks = tuple(replace(check, source=HIDDEN.sub("", check.source)) for check in cell.checks)
    return replace(cell, source=HIDDEN.sub("", cell.source), prelude=HIDDEN.sub("", cell.prelude), checks=checks)


LEAST = 3.0
"""Seconds that a mutant's cell may take at least; otherwise five times as many as the whole solution took."""
SEEDS = (271_828_182, 314_159_265)
"""The variants in which right answers are graded, too; wrong ones in the first."""
MARGIN = 3
"""A right answer should need no more than this part of the time and the memory that it may have."""


def audit(
    course: Course,
    assignment: str,
    *,
    seconds: float = 30.0,
    budget: float = 0.0,
    notebook: str = "",
    no_sandbox: bool = False,
    memory: int = USUAL.memory_bytes // MB,
    workers: int | None = None,
    remote: RemoteGraders | None = None,
    renew: bool = False,
    tell: Callable[[str], object] = print,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> Audit:
    """Audit one notebook of an assignment, by default its first; a cell may take ``seconds``, a notebook ``budget``.

    Its process may take so many megabytes of ``memory``; ``progress`` gets the number of trials done and known. The
    results of the last audits are used, unless it is to ``renew`` all. The
    trials are done by so many ``workers``, or by ``remote`` graders; ``tell`` gets a sentence for each of these that
    is not used.
    Raises BlueprintError when the notebook cannot be graded, AnswerError when an answer or excuse cannot be read,
    ClusterError when the cluster cannot do it.
    """
    start = time.monotonic()
    limits = (seconds, budget, memory)
    with opened(course, assignment, notebook, limits, no_sandbox, workers, remote, renew, tell, progress) as run:
        result = run.audit()
        run.store.finished = True
    result.seconds, result.sandboxed = time.monotonic() - start, not no_sandbox
    return result


def audit_mutant(
    course: Course,
    assignment: str,
    number: int,
    *,
    seconds: float = 30.0,
    budget: float = 0.0,
    no_sandbox: bool = False,
    memory: int = USUAL.memory_bytes // MB,
    workers: int | None = None,
) -> Fate:
    """Run the mutant with a number again, of an assignment's first notebook; the limits are those of an audit.

    Raises BlueprintError and AnswerError as ``audit`` does, and CourseError where there is no such mutant.
    """
    limits = (seconds, budget, memory)
    with opened(course, assignment, "", limits, no_sandbox, workers, None, False, print, lambda *_: None) as run:
        return run.one_mutant(number)


@contextlib.contextmanager
def opened(
    course: Course,
    assignment: str,
    notebook: str,
    limits: tuple[float, float, int],
    no_sandbox: bool,
    workers: int | None,
    remote: RemoteGraders | None,
    renew: bool,
    tell: Callable[[str], object],
    progress: Callable[[int, int], None],
) -> Iterator[Run]:
    """A run of one notebook's trials, with workers and with the results that are kept."""
    seconds, budget, memory = limits
    paths = {path.stem: path for path in course.source_notebooks(assignment)}
    source = paths[notebook or next(iter(paths))]
    python = language_of(read_notebook(source).metadata) == PYTHON
    answers = (course.root / "answers" / assignment).rglob("*.py")
    wanted = libraries.wanted([source], answers) if python else ()
    settings = (seconds, no_sandbox, memory, budget)
    rehearsals = Rehearsals.of(course.directory, assignment)
    with (
        stopping.postponed(),
        contract.drafted(course, assignment) as draft,
        remote.for_audit(draft.notebook(source.stem), draft.files, settings, wanted, rehearsals.submitted, tell)
        if remote
        else _here(draft, source.stem, settings, wanted, workers, rehearsals, course.directory.config) as pool,
        contextlib.closing(Store(_kept_at(course, assignment, source.stem), draft.files, settings[:3], renew)) as store,
    ):
        yield Run(course, assignment, draft, source.stem, pool, limits, progress, store)


def _kept_at(course: Course, assignment: str, notebook: str) -> Path:
    """The file with the results of a notebook's trials."""
    return course.root / "report" / "audit" / "kept" / f"{assignment}-{notebook}.jsonl"


@contextlib.contextmanager
def _here(
    draft: Draft,
    notebook: str,
    settings: Settings,
    wanted: tuple[str, ...],
    workers: int | None,
    rehearsals: Rehearsals,
    config: Config,
) -> Iterator[Workers]:
    """Workers of this machine for a notebook; their temporary folders lie in one, which is removed."""
    given = machine.provided(config, draft.notebooks, walk(draft.files))
    before = tempfile.tempdir
    with tempfile.TemporaryDirectory(prefix="viva-audit-") as folder:
        tempfile.tempdir = folder
        try:
            with (
                contextlib.closing(make_grader(*settings[:3], wanted, given)) as grader,
                Workers(
                    workers or len(os.sched_getaffinity(0)),
                    lambda number: Worker(grader.share(number), draft.notebook(notebook), rehearsals, draft.files),
                ) as pool,
            ):
                yield pool
        finally:
            tempfile.tempdir = before


class Run:
    """One audit, step by step."""

    def __init__(
        self,
        course: Course,
        assignment: str,
        draft: Draft,
        notebook: str,
        pool: Pool,
        limits: tuple,
        progress: Callable[[int, int], None],
        store: Store,
    ) -> None:
        self.path, self.source, book = draft.notebook(notebook), draft.source, draft.books[notebook]
        self.pool, self.progress, self.store = pool, progress, store
        self.most, self.chosen, self.room = limits
        self.result = Audit(assignment, notebook)
        self.release = book.released
        with slow.told(f"Running the solution of {assignment}/{notebook}"):
            self.known = self.one("rehearse", book.locked)
        self.blueprint = self.known.blueprint
        self.answers = _answers(course.root / "answers" / assignment, self.blueprint, draft)
        self.mistakes = read_mistakes(course.root)
        self.excuses = read_excuses(course.root / "answers" / assignment / "excused.toml")
        self.done = self.total = 0
        carry = Examine(config=course.directory.config).carries(assignment)
        self.jobs = Jobs(self.release, self.known, self.answers, carry)
        self.cells = self.jobs.cells

    def audit(self) -> Audit:
        with slow.told(f"Running the solution of {self.result.assignment}/{self.path.stem} again, to measure it"):
            watched = self.watch()
        self.result.kinds = kinds_of_answers(self.known) if self.blueprint.is_python else {}
        self.result.solutions = {
            cell.id: solution_of(cell.source) for cell in self.blueprint.cells if cell.id in self.cells
        }
        self.result.megabytes, self.result.points = watched["megabytes"], self.blueprint.points
        self.result.budget = self.known.budget(self.most, self.chosen)
        mutations = self.mutants(watched)
        wrong = sum(not answer.right for answer in self.answers)
        jobs, later = list(self.jobs.proofs()), 2 * len(self.cells) + RUNS - 1 + len(self.answers) + wrong
        self.total = len(jobs) + later + len(self.cells) + len(mutations)
        trials = self.map(jobs)
        trials |= self.map([*self.jobs.alone(trials), *self.jobs.again(trials)])
        self._vary(trials)
        if lost_by(trials[("solution",)]):
            mutations = []
            self.result.remarks.append(
                "No mutant was tried, because the solution fails checks. Fix the solution first."
            )
        if not any(cell.purpose == Purpose.TESTS for cell in self.blueprint.cells):
            mutations = []  # nothing could kill a mutant
            asserts = re.search(r"^\s*assert\b", "\n".join(cell.source for cell in self.blueprint.cells), re.MULTILINE)
            self.result.remarks.append(
                "No test was run, because no cell is graded automatically: no cell has both 'grade' and 'locked'. "
                "Make the cells with asserts test cells ('Autograder tests' in nbgrader's toolbar)."
                if asserts or not self.blueprint.manual_points
                else "There is nothing to test: a grader grades all questions."
            )
        tests = self.tests(trials)
        mutations = [mutant for mutant in mutations if tests[mutant.cell]]
        ground = self.ground(tests) if mutations else {}
        trials |= self.map(self.jobs.mutations(mutations, ground))
        if mutations:
            self._degrade(trials, ground)
        self._judge(trials)
        self._look_for_warnings(trials)
        self.result.fates = [fate_of(mutant, trials["mutant", index]) for index, mutant in enumerate(mutations)]
        for number, fate in enumerate(self.result.fates, start=1):
            fate.number = number
        self._look_for_surprises(mutations, ground)
        self._compare(mutations, trials, ground)
        self.result.warnings += excuse(self.result.fates, self.excuses)
        self.result.warnings += forgive(self.result.fates, watched["kinds"], self._forbids_changes())
        self._score(trials)
        self._name_credit(trials)
        self._look_around()
        return self.result

    def one_mutant(self, number: int) -> Fate:
        """What becomes of one mutant; the numbers are those of an audit. Raises CourseError."""
        watched = self.watch()
        trials = self.map(list(self.jobs.proofs())[1:3])
        trials |= self.map([job for job in self.jobs.alone(trials) if job[0][0] == "without"])
        tests = self.tests(trials)
        mutations = [mutant for mutant in self.mutants(watched) if tests[mutant.cell]]
        if not 1 <= number <= len(mutations):
            raise CourseError(
                f"{self.result.assignment} has no mutant number {number}: its numbers go from 1 to {len(mutations)}."
            )
        mutant, ground = mutations[number - 1], self.ground(tests)
        (job,) = self.jobs.mutations([mutant], ground)
        trials = {job[0]: result for job, result in self.pool.map([job])}
        self.result.fates = [replace(fate_of(mutant, trials["mutant", 0]), number=number)]
        self._look_for_surprises([mutant], ground)
        self._compare([mutant], trials, ground)
        return self.result.fates[0]

    def watch(self) -> dict:
        """What is seen of the solution while it runs."""
        return self.one("watch", self.blueprint) if self.blueprint.is_python else kernelaudit.UNWATCHED

    def mutants(self, watched: dict) -> list[Mutant]:
        """All mutants, by what was seen while the solution ran."""
        if not self.blueprint.is_python:
            self.wrong = kernelaudit.read(self.one("mistakes", self.blueprint))
            mutations, sentences = kernelaudit.mutants_of(self.wrong, self.blueprint)
            self.result.remarks += sentences
            if not self.wrong:
                self.result.remarks.append(
                    f"No mutant was tried, because no installed package makes mutants in {self.blueprint.language}."
                )
            return mutations
        results = {name: text for name, text in watched["results"].items() if text}
        return mutants(self.blueprint, results, watched["integers"], self.mistakes)

    def _degrade(self, trials: dict, ground: dict) -> None:
        """Name the checks that a degenerate answer passes though they call it with what students do not see."""
        if not self.blueprint.is_python:
            self._empty(trials, ground)
            return
        inputs = self.one("inputs", visible(self.known).blueprint)
        inputs = {
            cell: functions
            for cell, functions in inputs.items()
            if functions and max(map(len, functions.values())) <= degenerate.MOST_INPUTS
        }
        if not inputs:
            return
        limit = max(limit for *_, limit in ground.values())
        solution, tests = self.jobs.filled(set(self.cells)), {name.cell for name in names_of_checks(self.blueprint)}
        ground = ground | {"": (*trimmed(solution, self.known, tests), limit)}
        places = ["", *(cell for cell in self.cells if cell in inputs)]
        first = self.map(list(self.jobs.degenerate(inputs, ground, degenerate.RAISE, places)))
        reached = {index: set(lost_by(first["degenerate", degenerate.RAISE, index])) for index in places}
        last = {check: cell for cell in self.cells for check in lost_by(trials["without", cell])}
        for cell in places[1:]:  # a check of another exercise may let a mistake in this one pass
            reached[cell] = {check for check in reached[cell] if last.get(check) == cell}
        places = [index for index in places if reached[index]]
        forms = self.map(
            [job for form in degenerate.FORMS for job in self.jobs.degenerate(inputs, ground, form, places)]
        )
        passing = {
            (form, index): reached[index] - set(lost_by(trial))
            for (_, form, index), trial in forms.items()
            if trial and not trial.faults
        }
        doubtful = [
            job
            for (form, index), checks in passing.items()
            if checks
            for job in self.jobs.degenerate(inputs, ground, degenerate.ONLY_RIGHT + form, [index])
        ]
        again = self.map(doubtful)
        for (form, index), checks in passing.items():
            right = again.get(("degenerate", degenerate.ONLY_RIGHT + form, index))
            for check in checks & set(lost_by(right)):
                self.result.degenerate.setdefault(check, []).append((index, form))

    def _empty(self, trials: dict, ground: dict) -> None:
        """Name the checks that pass with nothing in an answer; those that run apart leave it to a grader."""
        without = {cell: set(lost_by(trials["without", cell])) for cell in self.cells}
        found = list(kernelaudit.passing_with_nothing(self.wrong, without, ground, self.map))
        apart = [each for each in found if each[0].cell not in self.known.inside]
        self.result.warnings += kernelaudit.passed_by_nothing(apart, looked_at=True)
        self.result.errors += kernelaudit.passed_by_nothing(
            [each for each in found if each not in apart], looked_at=False
        )

    def _vary(self, trials: dict) -> None:
        """Grade the known answers in other variants, where the notebook offers them."""
        if not self.blueprint.is_python:  # a seed is put into Python alone
            return
        try:
            default = variant.default_of(self.blueprint)
        except BlueprintError:  # hygiene says so
            return
        if default is None:
            return
        answers = [(answer.name, answer.case, self.lost(answer), (index,)) for index, answer in enumerate(self.answers)]
        every = [("the solution", "solution", [], ()), *answers]
        for seed in SEEDS:
            first = seed == SEEDS[0]
            graded = self.map(self.jobs.varied(trials, seed, wrong=first))
            for name, case, lost, index in every:
                if case != "wrong" or first:
                    self.result.errors += varied(name, case, lost, graded["varied", seed, *index], seed)
        listed = " and ".join(map(str, SEEDS))
        self.result.remarks.append(
            f"The assignment has variants ({variant.SEED} = {default}). Right answers were also graded with "
            f"{listed}, and wrong answers with {SEEDS[0]}."
        )

    # jobs

    def one(self, name: str, *arguments: object):
        if name == "rehearse":  # rehearsals are kept elsewhere
            ((_, result),) = self.pool.map([(None, name, *arguments)])
        else:
            result = self._results([((name,), name, *arguments)])[(name,)]
        if isinstance(result, VivaError):
            raise result
        if result is None:
            raise BlueprintError(
                f"{self.path}: the notebook stopped Python twice (a crash, exit(), or too much memory)."
            )
        return result

    def map(self, jobs: Iterable[tuple]) -> dict:
        def step() -> None:
            self.done += 1
            self.progress(self.done, max(self.total, self.done))

        return self._results(jobs, step)

    def _results(self, jobs: Iterable[tuple], step: Callable[[], None] = lambda: None) -> dict:
        """By key, the results of jobs: those that are kept, and of the others what the workers find."""
        results: dict = {}
        started: dict = {}

        def left() -> Iterator[tuple]:
            for job in jobs:
                stored, rest = self.store.look_up(job)
                if rest is None:
                    results[job[0]] = stored
                    step()
                else:
                    started[job[0]] = job, stored
                    yield rest

        for rest, result in self.pool.map(left()):
            job, stored = started.pop(rest[0])
            results[job[0]] = self.store.keep(job, stored, result)
            step()
        return results

    def tests(self, trials: dict) -> dict[str, set[str]]:
        """By answer cell, the test cells that can notice a mutant of it, as long as the solution passes them.

        They lose a check when the answer is blank. Where none does, another answer may define the same names: then the
        names tell which tests use this one. Where there is none either, it is said once.
        """
        tests = {}
        for cell in self.cells:
            tests[cell] = {check.cell for check in lost_by(trials["without", cell])}
            if tests[cell]:
                continue
            tests[cell], again = reaching_tests(self.blueprint, cell)
            if again:
                self.result.unseen[cell] = (
                    f"Cell '{cell}': no check tests this answer, because cell '{again}' below defines the same "
                    "names again."
                )
            elif not tests[cell]:
                self.result.unseen[cell] = f"Cell '{cell}': no check tests this answer."
        return tests

    def _forbids_changes(self) -> bool:
        """Whether students are told somewhere that a function must not change its arguments."""
        if self._promise():
            return True
        return any(FORBIDDEN.search(cell.source) for cell in self.release.cells)

    def _promise(self) -> object:
        """The notebook's promise that no hidden line is a surprise: true, KNOWN for known mistakes only, or nothing."""
        return read_notebook(self.path).metadata.get("viva", {}).get("no_surprise")

    def ground(self, tests: dict[str, set[str]]) -> dict[str, tuple[NotebookNode, Examination, float]]:
        """By answer cell, the fewest cells that its mutants need with these ``tests``, and a limit of seconds."""
        solution = self.jobs.filled(set(self.cells))
        small = {cell: trimmed(solution, self.known, tests[cell]) for cell in self.cells}
        trials = self.map([((cell,), "grade", *small[cell]) for cell in self.cells])
        ground = {}
        for cell in self.cells:
            trial = trials[(cell,)]
            if trial is None or trial.lost or trial.faults:
                small[cell] = solution, self.known
            ground[cell] = *small[cell], min(self.most, max(LEAST, 5 * (trial.seconds if trial else self.most)))
        self.result.limit = max((limit for *_, limit in ground.values()), default=0.0)
        return ground

    # judgements

    def _judge(self, trials: dict) -> None:
        every = names_of_checks(self.blueprint)
        expected = {"untouched": every, "solution": [], "again": []}
        for name, checks in expected.items():
            trial = trials["again", 1] if name == "again" else trials[(name,)]
            proof = proof_of(name, name, checks, trial)
            if name != "untouched":
                proof.lost = explained(
                    proof.lost, {cell: why_not(why, self.path, self.source) for cell, why in self.known.failing.items()}
                )
            self.result.proofs.append(proof)
        self._find_flaky(trials, every)
        for index, answer in enumerate(self.answers):
            trial = trials["answer", index]
            self.result.proofs.append(proof_of(answer.name, answer.case, self.lost(answer), trial))
        rights = [proof.seconds for proof in self.result.proofs if proof.case in ("solution", "again", "right")]
        self.result.slowest = max(rights)
        for cell in self.cells:
            trial = trials["alone", cell]
            self.result.alone[cell] = [check for check in every if trial and check not in trial.lost]

    def lost(self, answer: Answer) -> list[CheckName]:
        return sorted(answer.lost_checks(self.blueprint), key=str)

    def _find_flaky(self, trials: dict, every: list[CheckName]) -> None:
        """Name the checks whose verdict differs between two runs of the same text."""
        runs = {"the solution": [trials[("solution",)], *(trials["again", run] for run in range(1, RUNS))]}
        for index, answer in enumerate(self.answers):
            runs[f"the {answer.case} answer {answer.name}"] = [trials["answer", index], trials["second", index]]
        self.result.errors += flaky(every, runs)

    def _name_credit(self, trials: dict) -> None:
        """The cells whose last value is partial credit, and the wrong answers to them that keep all of it."""
        for score in self.result.scores:
            kind = self.known.kinds.get(CREDIT + score.check.cell)
            if kind == BEYOND:
                self.result.errors.append(
                    f"Cell '{score.check.cell}': the last value of the test is more than the points of the cell. "
                    "nbgrader refuses such a number, and Viva does not count it. Correct the points, or end the cell "
                    "with an assert."
                )
            if kind not in (FULL, PART):
                continue
            keeping = [
                answer.name
                for index, answer in enumerate(self.answers)
                if not answer.right
                and answer.answers(score.answers)
                and score.check not in lost_by(trials["answer", index])
            ]
            sentence = f"Cell '{score.check.cell}': the last line of the test gives the points that a student earns"
            keepers = f". These wrong answers keep all points: {plaintext.some(keeping, LISTED)}" if keeping else ""
            self.result.remarks.append(f"{sentence}{keepers}.")

    def _look_for_warnings(self, trials: dict) -> None:
        """Whether some line that students see notices each wrong answer."""
        proofs = dict(enumerate(proof for proof in self.result.proofs if proof.case in ("right", "wrong")))
        doubtful = [index for index, proof in proofs.items() if unnoticed(proof, self.blueprint)]
        self.total += len(doubtful)
        shown = self.map(list(self.jobs.shown(trials, doubtful)))
        for index, proof in proofs.items():
            self.result.warnings += warn(proof, self.answers[index].hidden, shown.get(("shown", index)))

    def _look_for_surprises(self, mutations: list[Mutant], ground: dict) -> None:
        """Grade with the visible lines alone each mutant that only checks with hidden lines notice."""
        hiding = checks_with_hidden_lines(self.blueprint)
        places = [
            index for index, fate in enumerate(self.result.fates) if fate.killers and hiding.issuperset(fate.killers)
        ]
        self.total += len(places)
        shown = {
            cell: (notebook, visible(examination), limit) for cell, (notebook, examination, limit) in ground.items()
        }
        trials = self.map(self.jobs.mutations([mutations[index] for index in places], shown))
        for number, index in enumerate(places):
            trial = trials["mutant", number]
            self.result.fates[index].surprise = trial is not None and not trial.lost and not trial.faults

    def _look_around(self) -> None:
        """Hygiene, and what the trials say about limits, untested answers and single-process cells."""
        result = self.result
        notebook = read_notebook(self.path)
        result.errors += errors(self.blueprint)
        result.warnings += warnings(notebook, self.release, self.blueprint)
        result.untold = untold(notebook)
        for path in self.blueprint.widened:
            if path not in self.known.kinds:
                result.warnings.append(
                    f"The notebook's metadata allow more types for '{path}', but no test uses it. "
                    "Remove this line from the metadata."
                )
        tested = set().union(*(score.answers for score in result.scores))
        for cell in self.cells if result.scores else ():  # without any test it is said that nothing was tested
            if cell not in tested:
                blank = f"Cell '{cell}': an empty answer passes every check."
                result.errors.append(result.unseen.get(cell, blank))
        result.warnings += misfires(result.proofs[0])
        took = f"The slowest right answer took {result.slowest:.1f} s"
        longest = max([self.most, *(cell.seconds for cell in self.blueprint.cells if cell.seconds)])
        for limited, most in (("a cell", longest), ("a notebook", result.budget)):
            if result.slowest > most / MARGIN:
                result.warnings.append(
                    f"{took}; the limit of {limited} is {most:g} s. A slower machine could reach the limit."
                )
        if result.megabytes > self.room / MARGIN:
            result.warnings.append(
                f"The solution needs {result.megabytes} MB of memory; the limit is {self.room} MB. A little "
                "more would reach the limit."
            )
        lost = {check.cell for proof in result.proofs if proof.case == "solution" for check in proof.lost}
        declared = {cell.id for cell in self.blueprint.cells if cell.inside}
        sentences = self.known.single_process_sentences().items()
        result.single_process = [sentence for cell, sentence in sentences if cell in declared or cell not in lost]
        result.remarks += [f"{sentence[0].upper()}{sentence[1:]}." for sentence in result.single_process]

    def _compare(self, mutations: list[Mutant], trials: dict, ground: dict) -> None:
        """What the mutants are that no check noticed: equal, different or unproven; not those the grader failed on."""
        places = [
            index
            for index, fate in enumerate(self.result.fates)
            if fate.status == "survived" and not trials["mutant", index].faults
        ]
        self.total += len(places)
        jobs = []
        for index in places:
            mutant = mutations[index]
            how = "compare" if self.blueprint.is_python else "compare_values"
            jobs.append(((index,), how, ground[mutant.cell][1].blueprint, mutant.cell, mutant.source))
        comparisons = self.map(jobs)
        for index in places:
            compare(self.result.fates[index], comparisons[(index,)], self.result.fates)

    def _score(self, trials: dict) -> None:
        result, without = self.result, {cell: lost_by(trials["without", cell]) for cell in self.cells}
        result.scores = scores_of(self.blueprint, without, result.fates, result.proofs)
        promise = self._promise()
        (result.errors if promise else result.warnings).extend(unwarned(result.scores))
        (result.errors if promise and promise != KNOWN else result.warnings).extend(unseen(result.fates))
        result.errors += passed_by_nonsense(result.degenerate)
        result.together = together(result.scores, result.fates, result.proofs)


def _answers(folder: Path, blueprint: Blueprint, draft: Draft) -> list[Answer]:
    """The known answers whose sections are all cells of this notebook.

    Raises AnswerError for an answer that belongs to no notebook of the assignment: it would prove nothing, unnoticed.
    """
    books = [{cell.id for cell in read_blueprint(path).cells} | {"*"} for path in draft.notebooks]
    answers = read_answers(folder, blueprint.language)
    for answer in answers:
        if unknown := [name for name in answer.sections if not any(name in book for book in books)]:
            near = difflib.get_close_matches(unknown[0], sorted(set().union(*books)), n=1)
            meant = f" Did you mean '{near[0]}'?" if near else ""
            raise AnswerError(f"{answer.path}: no notebook of the assignment has a cell '{unknown[0]}'.{meant}")
        if not any(set(answer.sections) <= book for book in books):
            raise AnswerError(
                f"{answer.path}: its sections are cells of several notebooks. Write a known answer for each notebook."
            )
    cells = {cell.id for cell in blueprint.cells} | {"*"}
    return [answer for answer in answers if set(answer.sections) <= cells]
