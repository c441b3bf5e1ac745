"""Viva's engine inside nbgrader's autograder.

nbgrader_config.py names these steps in place of nbgrader's own, so `nbgrader autograde` and the
button in formgrader use them too. `Autograde` is nbgrader's converter with them as the default.
"""

from __future__ import annotations

import datetime
import itertools
from collections.abc import Iterable
from fnmatch import fnmatchcase
from pathlib import Path

from nbformat import NotebookNode
from nbgrader import converters, utils
from nbgrader.api import Gradebook
from nbgrader.coursedir import CourseDirectory
from nbgrader.preprocessors import (
    ClearSolutions,
    Execute,
    NbGraderPreprocessor,
    SaveAutoGrades,
)
from traitlets import Bool, Float, Int, List, Unicode

from viva import editions, wording
from viva.course.examining import writtenanswers
from viva.course.examining.steps import STEPS
from viva.course.gradebook.results import Results
from viva.engine.blueprint import Blueprint
from viva.engine.kernelsession import kernel_of
from viva.engine.outcome import Outcome
from viva.notebook.cell import grade_id
from viva.record import CARRIED, CheckResult, Note, SubmissionRecord, doubtful, settled
from viva.sandbox.confinement import LEAST_MEMORY, MB, MOST_MEMORY, USUAL
from viva.submission.files.handin import name_problem
from viva.submission.sanitize import given_texts, made_output
from viva.submission.variant import examined, seeded
from viva.submission.work import Work
from viva.verdict import CourseError, SandboxError, Verdict


class Examine(NbGraderPreprocessor):
    """In place of Execute: a candidate runs the notebook, an examiner runs the tests.

    A notebook in another language than Python runs in its own kernel, in the sandbox, with its tests. When Execute is
    switched off the outputs that were submitted count.
    """

    no_sandbox = Bool(False, help="Grade even if this machine cannot sandbox student code.").tag(config=True)
    memory = Int(
        USUAL.memory_bytes // MB,
        min=LEAST_MEMORY,
        max=MOST_MEMORY,
        help="Memory limit of a notebook in megabytes, without its libraries.",
    ).tag(config=True)
    budget = Float(
        0.0,
        min=0.0,
        help="Time limit of a whole notebook in seconds, if its metadata sets none; 0 means the longest of: 60, six "
        "times the limit of a cell, five times the time of the solution.",
    ).tag(config=True)

    visible_only = Bool(False, help="Run only the test lines that students can read; the result is not a grade.").tag(
        config=True
    )

    carry_forward = List(
        Unicode(),
        help="Assignments in which a mistake costs points only in its own exercise: later exercises are graded with "
        "the right answer of that exercise. Names, or patterns such as '*'.",
    ).tag(config=True)

    def preprocess(self, notebook: NotebookNode, resources: dict) -> tuple[NotebookNode, dict]:
        execute = Execute(parent=self.parent)
        if not execute.enabled:
            return notebook, resources
        names, work = resources["nbgrader"], Work.of(resources)
        if problem := name_problem(names["student"]):
            raise CourseError(f"Not graded: {problem}.")
        if work.grader is None and work.prepare is not None:
            work.prepare(work, self.config)
        reference = work.examination
        assert work.grader is not None and reference is not None and work.data is not None  # given, or prepared
        _require_kernel(reference.blueprint)
        files = Path(resources.get("metadata", {}).get("path") or work.data)
        if work.seed is not None:
            notebook, reference = seeded(notebook, work.seed), examined(reference, work.seed)
        carry = self.carries(names["assignment"])
        work.outcome = work.grader.grade(notebook, reference, work.data, files, second_look=True, carry=carry)
        work.record.checks = work.outcome.checks
        work.record.integrity += work.outcome.integrity
        work.record.repairs = settled([*work.record.repairs, *work.outcome.doubts], work.outcome.checks)
        work.sandboxed = work.outcome.sandboxed
        show(notebook, work.outcome, work.record.repairs)
        return notebook, resources

    def carries(self, assignment: str) -> bool:
        """Whether a mistake costs once; never where students read the result before the deadline."""
        return not self.visible_only and any(fnmatchcase(assignment, pattern) for pattern in self.carry_forward)


def _require_kernel(blueprint: Blueprint) -> None:
    """Raises CourseError where a notebook in another language than Python has no kernel on this machine."""
    try:
        if not blueprint.is_python:
            kernel_of(blueprint.kernel, blueprint.language)
    except SandboxError as error:
        raise CourseError(f"Not graded: the notebook is written in {blueprint.language}, and {error}.") from error


class SaveScores(SaveAutoGrades):
    """As SaveAutoGrades, with the scores that Examine found.

    A cell that could not be graded waits for a grader, and so does one of which a doubt may have decided the points.
    """

    outcome: Outcome | None = None
    doubtful: tuple[str, ...] = ()

    def preprocess(self, notebook: NotebookNode, resources: dict) -> tuple[NotebookNode, dict]:
        work = Work.of(resources)
        self.outcome = work.outcome
        self.doubtful = doubtful(work.record.repairs, work.outcome.checks if work.outcome else {})
        return super().preprocess(notebook, resources)

    def _add_score(self, cell: NotebookNode, resources: dict) -> None:
        super()._add_score(cell, resources)
        name = grade_id(cell)
        outcome = self.outcome if self.outcome is not None and name in self.outcome.checks else None
        if not outcome and name not in self.doubtful:
            return
        grade = self.gradebook.find_grade(name, self.notebook_id, self.assignment_id, self.student_id)
        if not outcome:
            grade.auto_score, grade.needs_manual_grade = None, True
            self.gradebook.db.commit()
            return
        grade.auto_score = outcome.earned(name)
        waits = grade.auto_score is None or name in self.doubtful
        grade.needs_manual_grade = grade.manual_score is not None or waits
        self.gradebook.db.commit()


class NoResponse(NbGraderPreprocessor):
    """After SaveScores: a written question that nobody answered needs no grader.

    nbgrader does this for answer cells that are graded by hand; this does it for task cells, whose
    answer stands in the cells below them: when those are empty or still the stub, the task earns
    zero and waits for nobody; otherwise it waits for a grader, and so does one of which the repair could not tell
    where its answer stands. A grade given by hand stays.
    """

    def preprocess(self, notebook: NotebookNode, resources: dict) -> tuple[NotebookNode, dict]:
        answered = dict(self._answered(notebook))
        if answered:
            names = resources["nbgrader"]
            where = names["notebook"], names["assignment"], names["student"]
            with Gradebook(names["db_url"]) as gradebook:
                for task, yes in answered.items():
                    grade = gradebook.find_grade(task, *where)
                    yes = yes or task in doubtful(Work.of(resources).record.repairs)
                    if grade.manual_score is None:
                        grade.auto_score, grade.needs_manual_grade = (None if yes else 0), yes
                        gradebook.find_comment(task, *where).auto_comment = None if yes else "No response."
                gradebook.db.commit()
        instructor_texts = Work.of(resources).instructor_texts
        writtenanswers.note(notebook, given_texts(self, resources) if instructor_texts is None else instructor_texts)
        return notebook, resources

    def _answered(self, notebook: NotebookNode):
        stubs = {"", ClearSolutions(parent=self.parent).text_stub.strip()}
        for index, cell in enumerate(notebook.cells):
            if not utils.is_task(cell):
                continue
            following = itertools.takewhile(
                lambda cell: not (utils.is_task(cell) or utils.is_grade(cell)), notebook.cells[index + 1 :]
            )
            below = [cell.source.strip() for cell in following]
            yield grade_id(cell), not below or not stubs.issuperset(below)


class RecordResults(NbGraderPreprocessor):
    """After SaveScores: write the result of every check beside the gradebook."""

    def preprocess(self, notebook: NotebookNode, resources: dict) -> tuple[NotebookNode, dict]:
        names, work = resources["nbgrader"], Work.of(resources)
        if work.outcome:
            results, where = Results.of(CourseDirectory(parent=self.parent)), (names["assignment"], names["student"])
            recorded = results.read().get(where)
            facts = editions.current(editions.place_of(CourseDirectory(parent=self.parent), names["assignment"]))
            record = SubmissionRecord(*where, graded=now(), notebooks=recorded.notebooks if recorded else {})
            record.edition = facts.edition if facts else ""
            enter(record, names["notebook"], work)
            results.add([record])
        before = getattr(getattr(self.parent, "parent", None), "viva_before", None)  # of nbgrader's own converter
        if before is not None:
            self._compare(before, notebook, names)
        return notebook, resources

    def _compare(self, before: writtenanswers.Before, notebook: NotebookNode, names: dict) -> None:
        """Let the written answers wait that have changed since they were graded, and no other ones."""
        where = names["notebook"], names["assignment"], names["student"]
        with Gradebook(names["db_url"]) as gradebook:
            when = gradebook.find_submission(names["assignment"], names["student"]).timestamp
            same, changed = before.compare(names["notebook"], notebook.cells, when)
            for name in same:
                waited = before.standings[names["notebook"], name].waits
                gradebook.find_grade(name, *where).needs_manual_grade = waited
            for name in changed:
                gradebook.find_grade(name, *where).needs_manual_grade = True
            gradebook.db.commit()


def enter(record: SubmissionRecord, notebook: str, work: Work) -> None:
    """Enter one notebook into the record of its submission."""
    record.notebooks[notebook] = work.record
    record.faults += work.faults
    record.sandboxed &= work.sandboxed


class Autograde(converters.Autograde):
    """nbgrader's converter, grading with candidate and examiner."""

    autograde_preprocessors = List(STEPS).tag(config=True)


def now() -> str:
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")


# What happened to a notebook, put into its outputs, where formgrader shows it.

OURS = f"{Verdict.__module__}."
"""The head of the last line of a traceback that ends in an exception of ours."""


def show(notebook: NotebookNode, outcome: Outcome, repairs: Iterable[Note] = ()) -> None:
    """Put what happened into the notebook's outputs, where formgrader shows it, and why a grader should look."""
    for index, cell in enumerate(notebook.cells):
        if cell.cell_type != "code":
            continue
        outputs, count = outcome.outputs.get(index, ([], None))
        cell.execution_count = count if isinstance(count, int) else None
        cell.outputs = [made_output(**item) for item in outputs]
        name = grade_id(cell)
        results = outcome.checks.get(name, [])
        lost = any(result.earned < result.points for result in results)
        for sentence in wording.sentences(note for note in repairs if lost and name in note.tests):
            cell.outputs.append(made_output("stream", name="stdout", text=f"{sentence}\n"))
        if len(results) > 1 or any(result.verdict is Verdict.PARTLY for result in results):
            lines = [f"{result.earned:g} of {result.points:g}: {result.title} ({result.word})" for result in results]
            cell.outputs.append(made_output("stream", name="stdout", text="\n".join(lines) + "\n"))
        for result in results:
            if result.printed:
                cell.outputs.append(made_output("stream", name="stdout", text=result.printed))
            if result.cause and result.cause.kind == CARRIED:
                why = f"{result.title}: {wording.reason(result)}\n"
                cell.outputs.append(made_output("stream", name="stdout", text=why))
            if result.verdict not in (Verdict.PASSED, Verdict.PARTLY):
                why = wording.reason(result)
                cell.outputs.append(
                    made_output("error", ename=_name(result), evalue=why, traceback=_trace(result, why))
                )


def _trace(result: CheckResult, why: str) -> list[str]:
    """The lines of a traceback, without the names and texts of Viva's own exceptions, which nobody outside knows."""
    lines = result.traceback.splitlines()
    if result.raised_by == "grader":
        lines = [*itertools.takewhile(lambda line: not line.startswith(OURS), lines), why]
    return lines or [why]


def _name(result: CheckResult) -> str:
    if result.verdict is Verdict.ERROR and result.exception.isidentifier():
        return result.exception
    return "AssertionError" if result.verdict is Verdict.FAILED else str(result.verdict)
