"""Many submissions: planned, graded by several workers, recorded by one writer.

Theory of operation. This process reads the course, leaves out what cannot be graded or has not changed
since it was, and hands the rest to workers, one per core. A worker takes a submission through nbgrader's
steps with a draft in place of the gradebook, and puts the graded notebooks into autograded/ in one
piece. This process saves the drafts in the gradebook, many in a transaction, and after that adds the
results to ``results.jsonl``. A submission counts as done only when its results are there, so that a
batch which was stopped at any point is finished by running it again.
"""

from __future__ import annotations

import contextlib
import glob
import hashlib
import io
import logging
import os
import re
import shutil
import stat
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from functools import partial
from pathlib import Path

from nbformat import NotebookNode
from nbgrader import utils
from nbgrader.api import InvalidEntry
from nbgrader.converters import BaseConverter, GenerateFeedback, NbGraderException
from nbgrader.coursedir import CourseDirectory
from nbgrader.preprocessors import AssignLatePenalties, CheckCellMetadata, Execute
from sqlalchemy.exc import SAWarning, SQLAlchemyError
from traitlets.config import Config
from traitlets.utils.importstring import import_item

from viva import ENGINE, leftovers, stopping
from viva.autograde import (
    Autograde,
    Examine,
    RecordResults,
    examination,
    new_grader,
    now,
    require_wall,
    source_notebook,
)
from viva.course import Course, Submission
from viva.grading import Examination, ExaminerFault, Grader
from viva.handin import find
from viva.record import Draft, Expected, Graded, Writer, concerns_all, in_place_of_gradebook
from viva.release import released_notebook
from viva.results import Results
from viva.slots import Released
from viva.submission import open_notebooks
from viva.verdict import BlueprintError, CourseError, Verdict, VivaError
from viva.workers import Workers

IN_ONE_TRANSACTION = 50
"""Submissions, at most; or as many as come in a second."""


LOCK = "gradebook.db.lock"
"""Beside the gradebook, whatever that is called."""

SPARED = (AssignLatePenalties, RecordResults, CheckCellMetadata)
"""Steps that a worker leaves out: the writer does the first two; what the last checks was put right before."""


class Status(StrEnum):
    """What became of a submission in a batch."""

    DONE = "done"
    UNCHANGED = "unchanged"
    """Done before, and nothing has changed since."""
    EXPLAINED = "explained"
    """It cannot be graded because of what was handed in; the reason says what that is."""
    FAILED = "failed"
    """It needs the grader."""


@dataclass(frozen=True)
class Outcome:
    """What became of one submission, why, and what else is worth knowing about it."""

    submission: Submission
    status: Status
    reason: str = ""
    notes: tuple[str, ...] = ()
    log: str = ""
    verdicts: tuple[str, ...] = ()


def autograde(
    course: Course,
    submissions: list[Submission],
    *,
    config: Config,
    workers: int | None = None,
    tell: Callable[[str], object] = print,
) -> Iterator[Outcome]:
    """Grade submissions, yielding an outcome for each when it is recorded.

    One batch at a time works on a course; ``tell`` is given a sentence when this one has to wait for another.

    With ``Autograde.force`` in the config, what was graded before is graded again; grades given by
    hand stay. Raises CourseError when none of the assignments was released, or when this machine
    cannot wall student code in and ``Examine.no_wall`` is not set.
    """
    course.require_gradebook()
    with leftovers.alone(Results.of(course.directory).path.with_name(LOCK), tell):
        leftovers.finish_builds(course.folders_around("autograded"))
        try:
            yield from _autograde(course, submissions, config, workers)
            Results.of(course.directory).tidy()
        finally:
            leftovers.finish_builds(course.folders_around("autograded"))


def _autograde(course: Course, submissions: list[Submission], config: Config, workers: int | None) -> Iterator[Outcome]:
    assignments = sorted({submission.assignment for submission in submissions})
    released, refused = {}, {}
    for name in assignments:
        try:
            released[name] = course.released_notebooks(name)
        except CourseError as error:
            refused[name] = error
    if not released:
        raise refused[assignments[0]]
    batch = _Batch(course, config, sorted(released))
    todo, notes = [], {}
    for submission in submissions:
        if submission.assignment in refused:
            yield Outcome(submission, Status.FAILED, str(refused[submission.assignment]))
            continue
        finding = find(submission, released[submission.assignment])
        notes[submission] = finding.notes
        if finding.problem:
            yield Outcome(submission, Status.EXPLAINED, finding.problem, finding.notes)
        elif batch.unchanged(submission):
            yield Outcome(submission, Status.UNCHANGED, "", finding.notes)
        else:
            todo.append(submission)
    if todo:
        yield from batch.grade(todo, notes, workers)


def _cores(workers: int | None, most: int) -> int:
    return max(1, min(workers or len(os.sched_getaffinity(0)), most))


class _Batch:
    """What is the same for every submission of a batch."""

    def __init__(self, course: Course, config: Config, assignments: list[str]) -> None:
        self.course, self.config = course, config
        self.converter = Autograde(coursedir=course.directory, config=config, log=logging.getLogger("viva"))
        self.no_wall = Examine(config=config).no_wall
        if not self.no_wall:
            require_wall()
        self.seconds = float(Execute(config=config).timeout or 30)
        self.results = Results.of(course.directory)
        self.keys: dict[Submission, str] = {}
        self.known = {} if self.converter.force else self.results.keys()
        with course.gradebook() as gradebook:
            self.expected = {name: Expected.of(gradebook, name) for name in assignments}
            self.recorded = {
                (submission.assignment.name, submission.student_id)
                for name in assignments
                for submission in gradebook.assignment_submissions(name)
            }
        self.grounds = {name: self._ground(name) for name in assignments}

    def _ground(self, assignment: str) -> bytes:
        """A hash of what the verdicts depend on beside the submission."""
        digest = hashlib.sha256(f"{ENGINE} {self.seconds} {self.no_wall}".encode())
        _hash_folder(self.course.path("source", assignment), digest)
        digest.update(repr(self.expected[assignment]).encode())
        return digest.digest()

    def key(self, submission: Submission) -> str:
        """Taken once, before grading: what is handed in while the batch runs is graded by the next."""
        if submission not in self.keys:
            digest = hashlib.sha256(self.grounds[submission.assignment])
            _hash_folder(submission.folder, digest)
            self.keys[submission] = digest.hexdigest()[:32]
        return self.keys[submission]

    def unchanged(self, submission: Submission) -> bool:
        place = submission.assignment, submission.student
        graded = self.course.path("autograded", *place).is_dir()
        known, key = self.known.get(place), self.key(submission)
        return bool(graded and place in self.recorded and known == key)

    def grade(self, todo: list[Submission], notes: dict, workers: int | None) -> Iterator[Outcome]:
        with (
            stopping.postponed(),
            tempfile.TemporaryDirectory(prefix="viva-batch-") as folder,
            contextlib.closing(new_grader(self.seconds, self.no_wall)) as grader,
            Workers(_cores(workers, len(todo)), lambda number: _Worker(self, folder, grader.share(2 * number))) as pool,
            contextlib.closing(Writer(self.course.directory, self.config)) as writer,
        ):
            waiting: list[tuple[Submission, _Done]] = []
            start = time.monotonic()
            examinations = dict(pool.map(sorted({submission.assignment for submission in todo})))
            for known in examinations.values():
                for examination in (known or {}).values():
                    if isinstance(examination, Examination):
                        grader.learn(examination)
            jobs = ((submission, examinations[submission.assignment]) for submission in todo)
            for (submission, _), done in pool.map(jobs):
                if done is None:
                    reason = "the process that graded it was killed twice; look at the machine, then grade again"
                    yield Outcome(submission, Status.FAILED, reason, notes[submission])
                elif done.explained:
                    yield Outcome(submission, Status.EXPLAINED, done.explained, notes[submission])
                elif done.problem:
                    yield Outcome(submission, Status.FAILED, done.problem, notes[submission], done.log)
                else:
                    waiting.append((submission, done))
                    if len(waiting) >= IN_ONE_TRANSACTION or time.monotonic() - start > 1:
                        yield from self._record(writer, waiting, notes)
                        waiting, start = [], time.monotonic()
            yield from self._record(writer, waiting, notes)

    def _record(self, writer: Writer, waiting: list, notes: dict) -> list[Outcome]:
        """Save drafts in one transaction; where that fails, each in its own."""
        outcomes = []
        try:
            writer.record([done.graded for _, done in waiting])
        except (SQLAlchemyError, InvalidEntry, VivaError) as error:
            if concerns_all(error):
                raise
            if len(waiting) > 1:
                return [outcome for one in waiting for outcome in self._record(writer, [one], notes)]
            reason = f"the gradebook does not take it: {str(getattr(error, 'orig', error)).splitlines()[0]}"
            return [Outcome(submission, Status.FAILED, reason, notes[submission]) for submission, _ in waiting]
        if waiting:
            self.results.add([done.record | {"key": self.key(submission)} for submission, done in waiting])
        for submission, done in waiting:
            ungraded = [result for result in done.results() if result["verdict"] == Verdict.UNGRADED]
            verdicts = tuple(result["verdict"] for result in done.results())
            reason = f"the check '{ungraded[0]['title']}' is ungraded: {ungraded[0]['reason']}" if ungraded else ""
            status, log = (Status.FAILED if ungraded else Status.DONE), "\n".join(done.record["faults"])
            outcomes.append(Outcome(submission, status, reason, notes[submission] + done.notes, log, verdicts))
        return outcomes


def _hash_folder(folder: Path, digest) -> None:
    for path in sorted(folder.rglob("*")):
        if path.is_file() and not path.is_symlink() and ".ipynb_checkpoints" not in path.parts:
            content = path.read_bytes()
            digest.update(f"{path.relative_to(folder)} {len(content)} ".encode("utf-8", "surrogateescape"))
            digest.update(content)


@dataclass
class _Done:
    """What a worker says of a submission."""

    problem: str = ""
    explained: str = ""
    """Why nothing in it can be graded."""
    notes: tuple[str, ...] = ()
    log: str = ""
    graded: Graded | None = None
    record: dict = field(default_factory=dict)

    def results(self) -> Iterator[dict]:
        """What every check came to."""
        for cells in self.record["notebooks"].values():
            for results in cells.values():
                yield from results


_Examinations = dict[str, Examination | VivaError]


class _Worker:
    """Takes submissions through nbgrader's steps, in a process of its own."""

    def __init__(self, batch: _Batch, folder: str, grader: Grader) -> None:
        self.batch, self.folder, self.grader = batch, folder, grader
        self.released: dict[str, dict[str, Released]] = {}

    def __call__(self, job: str | tuple[Submission, _Examinations]) -> _Examinations | _Done:
        """Learn about an assignment, or grade a submission."""
        tempfile.tempdir = self.folder  # removed with the batch, so that nothing is left behind however this ends
        return self._rehearse(job) if isinstance(job, str) else self._try(*job)

    def let_go(self) -> None:
        self.grader.close()

    def _rehearse(self, assignment: str) -> _Examinations:
        """What the grader knows about each notebook, or why it cannot be graded."""
        found = {}
        directory, expected = self.batch.course.directory, self.batch.expected[assignment]
        for name in expected.notebooks:
            try:
                source = source_notebook(directory, assignment, name)
                found[name] = self.grader.twice(partial(examination, source, self.grader, expected.locked(name)))
            except ExaminerFault as fault:
                found[name] = BlueprintError(f"{source}: {fault}")
            except VivaError as error:
                found[name] = error
        return found

    def _try(self, submission: Submission, examinations: _Examinations | None) -> _Done:
        log, stream = _log(f"{submission.assignment}/{submission.student}")
        try:
            if examinations is None:
                raise BlueprintError("the instructor's notebook ended the process that ran it, twice")
            return self._grade(submission, examinations, log)
        except VivaError as error:
            return _Done(problem=str(error), log=stream.getvalue())
        except Exception as error:
            log.exception("The submission could not be graded.")
            sentence = f"it could not be graded: {str(error).splitlines()[0] if str(error) else ''}"
            return _Done(problem=f"{sentence} ({type(error).__name__})", log=stream.getvalue())

    def _grade(self, submission: Submission, examinations: _Examinations, log: logging.Logger) -> _Done:
        start = time.monotonic()
        opened = open_notebooks(find(submission, set(examinations)), self._released(submission.assignment))
        if opened.problem:
            return _Done(explained=opened.problem)
        directory = CourseDirectory(config=self.batch.config, log=log)
        directory.root = str(self.batch.course.root)
        converter = Autograde(coursedir=directory, config=self.batch.config, log=log)
        steps = [*converter.sanitize_preprocessors, *converter.autograde_preprocessors]
        target = self.batch.course.path("autograded", submission.assignment, submission.student)
        target.parent.mkdir(parents=True, exist_ok=True)
        done = _Done(graded=Graded(submission.assignment, submission.student, None, {}, {}))
        done.record = {"assignment": submission.assignment, "student": submission.student, "graded": now()}
        done.record |= {"wall": True, "faults": [], "notebooks": {}, "repairs": opened.repairs}
        repairs = [f"{name}.ipynb: {text}" for name, texts in opened.repairs.items() for text in texts]
        done.notes = (*opened.notes, *repairs)
        with tempfile.TemporaryDirectory(prefix=leftovers.BUILD, dir=target.parent) as folder:
            build = Path(folder, "graded")
            _copy_extra_files(submission.folder, build, directory.ignore)
            _copy_extra_files(self.batch.course.path("source", submission.assignment), build, directory.ignore)
            done.graded.timestamp = directory.get_existing_timestamp(str(submission.folder))
            for name, notebook in sorted(opened.notebooks.items()):
                text = self._convert(name, notebook, build, submission, examinations[name], converter, steps, done)
                (build / f"{name}.ipynb").write_text(text, encoding="utf-8")
            _protect(build, int(str(converter.permissions), 8))
            _replace(build, target)
        done.record["seconds"] = round(time.monotonic() - start, 3)
        return done

    def _released(self, assignment: str) -> dict[str, Released]:
        """The notebooks as students got them."""
        if assignment not in self.released:
            course, expected = self.batch.course, self.batch.expected[assignment].notebooks
            self.released[assignment] = {
                name: Released(released_notebook(course, assignment, name, {c.name for c in book.source_cells}))
                for name, book in expected.items()
            }
        return self.released[assignment]

    def _convert(
        self,
        name: str,
        notebook: NotebookNode,
        build: Path,
        submission: Submission,
        known: Examination | VivaError,
        converter: Autograde,
        steps: list,
        done: _Done,
    ) -> str:
        """One notebook through the steps; the graded notebook as text, its scores and results in ``done``."""
        if isinstance(known, VivaError):
            raise known
        draft = Draft(self.batch.expected[submission.assignment])
        place = {"student": submission.student, "assignment": submission.assignment, "notebook": name}
        place |= {"db_url": self.batch.course.directory.db_url, "grader": self.grader, "examination": known}
        exporter = converter.exporter_class(parent=converter, config=converter.config)
        for step in steps:
            kind = step if isinstance(step, type) else import_item(step)
            if not issubclass(kind, SPARED):
                exporter.register_preprocessor(step)
        resources = {"unique_key": name, "output_files_dir": f"{name}_files", "nbgrader": place}
        resources["metadata"] = {"path": str(build)}
        with (
            in_place_of_gradebook(draft, [type(step) for step in exporter._preprocessors]),
            utils.setenv(NBGRADER_EXECUTION="autograde"),
            contextlib.chdir(self.batch.course.root),
        ):
            # As the exporter does, but without validating and copying the notebook before each step.
            for step in exporter._preprocessors:
                notebook, resources = step(notebook, resources)
            exporter._preprocessors = []
            text, _ = exporter.from_notebook_node(notebook, resources=resources)
        done.graded.scores[name], done.graded.remarks[name] = draft.scores(), draft.remarks()
        if outcome := resources["nbgrader"].get("outcome"):
            done.record["notebooks"][name] = outcome.record()
            done.record["faults"] += outcome.faults
            done.record["wall"] &= outcome.walled
        return text


def _copy_extra_files(source: Path, target: Path, ignore: list[str]) -> None:
    """Everything but notebooks and what is ignored; links are not followed."""
    target.mkdir(parents=True, exist_ok=True)
    for name in utils.find_all_files(str(source), [*ignore, "*.ipynb"]):
        path = Path(name)
        if path.is_symlink() or not path.is_file():
            continue
        copy = target / path.relative_to(source)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.unlink(missing_ok=True)
        shutil.copyfile(path, copy)


def _protect(folder: Path, permissions: int) -> None:
    for path in folder.rglob("*"):
        if path.is_file():
            path.chmod(permissions)


def _replace(build: Path, target: Path) -> None:
    """Put a finished folder in the place of the old one."""
    if target.exists():
        old = build.with_name("old") / target.name  # named, so that finish_builds can put it back
        old.parent.mkdir()
        target.rename(old)
        for path in old.rglob("*"):
            if path.is_dir() and not path.is_symlink():
                path.chmod(path.stat().st_mode | stat.S_IRWXU)
    build.rename(target)


def write_feedback(
    course: Course, submissions: list[Submission], *, config: Config, workers: int | None = None
) -> Iterator[Outcome]:
    """Write the feedback of every submission that was graded, yielding an outcome for each."""
    graded = []
    for submission in submissions:
        if glob.escape(submission.student) != submission.student:
            reason = "nbgrader reads the characters [, * and ? as a pattern; rename the student's folder"
            yield Outcome(submission, Status.FAILED, reason)
        elif course.path("autograded", submission.assignment, submission.student).is_dir():
            graded.append(submission)
        else:
            yield Outcome(submission, Status.EXPLAINED, "it was not graded, so there is no feedback")
    if not graded:
        return
    always = Config(GenerateFeedback={"force": True})
    always.merge(config)
    job = _Conversion(GenerateFeedback, always, str(course.root))
    with stopping.postponed(), Workers(_cores(workers, len(graded)), lambda slot: job) as pool:
        for submission, outcome in pool.map(graded):
            killed = Outcome(submission, Status.FAILED, "the process that wrote it was killed twice; try again")
            yield outcome or killed


@dataclass(frozen=True)
class _Conversion:
    """One of nbgrader's converters, applied to one submission."""

    converter: type[BaseConverter]
    config: Config
    root: str

    def __call__(self, submission: Submission) -> Outcome:
        log, stream = _log(f"{submission.assignment}/{submission.student}")
        directory = CourseDirectory(config=self.config, log=log)
        directory.root = self.root
        directory.assignment_id = submission.assignment
        directory.student_id = submission.student
        # nbgrader builds its rows in an order that SQLAlchemy frowns upon.
        warnings.filterwarnings("ignore", "Object of type .* not in session", SAWarning)
        try:
            self.converter(coursedir=directory, config=self.config, log=log).start()
        except Exception as error:
            if not isinstance(error, NbGraderException):
                log.exception("The submission could not be converted.")
            return Outcome(submission, Status.FAILED, _reason(stream.getvalue()), (), stream.getvalue())
        return Outcome(submission, Status.DONE)


def _log(name: str) -> tuple[logging.Logger, io.StringIO]:
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(logging.Formatter("[%(levelname)s] %(message)s"))
    log = logging.Logger(name, logging.INFO)
    log.addHandler(handler)
    return log, stream


def _reason(log: str) -> str:
    """A sentence for the error in nbgrader's log."""
    if "database is locked" in log:
        return "the gradebook is locked by another program; close it and try again"
    errors = re.findall(r"^(?:\w+\.)*(\w+(?:Error|Exception|Entry)): (.+)$", log, flags=re.MULTILINE)
    if errors:
        kind, message = errors[-1]
        return f"nbgrader could not convert it: {message} ({kind})"
    return "nbgrader could not convert it; the log says more"
