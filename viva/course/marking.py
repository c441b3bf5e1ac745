"""One submission, marked by a worker: nbgrader's steps with a draft in place of the gradebook."""

from __future__ import annotations

import contextlib
import io
import itertools
import logging
import shutil
import stat
import tempfile
import time
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from nbformat import NotebookNode
from nbgrader import utils
from nbgrader.coursedir import CourseDirectory
from nbgrader.preprocessors import AssignLatePenalties, CheckCellMetadata
from traitlets.config import Config
from traitlets.utils.importstring import import_item

from viva.course.autograde import Autograde, Examine, RecordResults, enter, examination, now, source_notebook
from viva.course.course import Course
from viva.course.gradebook.record import AGAIN, Draft, Expected, Graded, in_place_of_gradebook
from viva.course.inbox import Inbox
from viva.course.processes import leftovers
from viva.engine.examination import Examination
from viva.engine.grading import Grader
from viva.engine.session import ExaminerFault
from viva.folder import MOST_FILES, walk
from viva.record import Note, SubmissionRecord
from viva.submission.files.sizes import limited
from viva.submission.submission import Submission
from viva.verdict import BlueprintError, SubmissionError, VivaError

SPARED = (AssignLatePenalties, RecordResults, CheckCellMetadata)
"""Steps that a worker leaves out: the writer does the first two; what the last checks was put right before."""


@dataclass
class Marked:
    """What a worker says of a submission."""

    problem: str = ""
    explained: str = ""
    """Why nothing in it can be graded."""
    notes: tuple[str, ...] = ()
    log: str = ""
    graded: Graded | None = None
    record: SubmissionRecord | None = None


_Examinations = dict[str, Examination | VivaError]


class Marker:
    """Takes submissions through nbgrader's steps, in a process of its own."""

    def __init__(
        self, course: Course, config: Config, expected: dict[str, Expected], folder: str, grader: Grader
    ) -> None:
        self.course, self.config, self.expected = course, config, expected
        self.folder, self.grader = folder, grader
        self.inbox = Inbox(course, expected)

    def __call__(self, job: str | tuple[Submission, _Examinations]) -> _Examinations | Marked:
        """Learn about an assignment, or grade a submission."""
        tempfile.tempdir = self.folder  # removed with the batch, so that nothing is left behind however this ends
        return self._rehearse(job) if isinstance(job, str) else self._try(*job)

    def let_go(self) -> None:
        self.grader.close()

    def _rehearse(self, assignment: str) -> _Examinations:
        """What the grader knows about each notebook, or why it cannot be graded."""
        found = {}
        directory, expected = self.course.directory, self.expected[assignment]
        for name in expected.notebooks:
            try:
                source = source_notebook(directory, assignment, name)
                known = expected.locked(name), expected.stubs(name)
                found[name] = self.grader.twice(partial(examination, source, self.grader, *known))
            except ExaminerFault as fault:
                found[name] = BlueprintError(f"{source}: {fault}")
            except VivaError as error:
                found[name] = error
            except OSError as error:  # too many files are open, or there is no room for one
                found[name] = VivaError(_trouble(error))
        return found

    def _try(self, submission: Submission, examinations: _Examinations | None) -> Marked:
        log, stream = memory_log(f"{submission.assignment}/{submission.student}")
        try:
            if examinations is None:
                raise BlueprintError("the instructor's notebook ended the process that ran it, twice")
            return self._grade(submission, examinations, log)
        except SubmissionError as error:
            return Marked(explained=f"what was handed in {error}")
        except VivaError as error:
            return Marked(problem=str(error), log=stream.getvalue())
        except OSError as error:
            log.exception("The submission could not be graded.")
            return Marked(problem=_trouble(error), log=stream.getvalue())
        except Exception as error:
            log.exception("The submission could not be graded.")
            sentence = f"it could not be graded: {str(error).splitlines()[0] if str(error) else ''}"
            return Marked(problem=f"{sentence} ({type(error).__name__})", log=stream.getvalue())

    def _grade(self, submission: Submission, examinations: _Examinations, log: logging.Logger) -> Marked:
        start = time.monotonic()
        opened = self.inbox.open(submission)
        if opened.problem:
            return Marked(explained=opened.problem)
        directory = CourseDirectory(config=self.config, log=log)
        directory.root = str(self.course.root)
        converter = Autograde(coursedir=directory, config=self.config, log=log)
        steps = [*converter.sanitize_preprocessors, *converter.autograde_preprocessors]
        target = self.course.path("autograded", submission.assignment, submission.student)
        target.parent.mkdir(parents=True, exist_ok=True)
        done = Marked(graded=Graded(submission.assignment, submission.student, None, {}, {}))
        done.record = SubmissionRecord(submission.assignment, submission.student, graded=now())
        done.notes = tuple(opened.notes)
        with tempfile.TemporaryDirectory(prefix=leftovers.BUILD, dir=target.parent) as folder:
            build = Path(folder, "graded")
            _copy_extra_files(self.course.path("source", submission.assignment), build, directory)
            _copy_handed_files(submission.folder, build, directory)
            done.graded.timestamp = directory.get_existing_timestamp(str(submission.folder))
            for name, notebook in sorted(opened.notebooks.items()):
                repairs = opened.repairs[name]
                text = self._convert(
                    name, notebook, repairs, build, submission, examinations[name], converter, steps, done
                )
                (build / f"{name}.ipynb").write_text(text, encoding="utf-8")
            _protect(build, int(str(converter.permissions), 8))
            _replace(build, target)
        done.record.seconds = round(time.monotonic() - start, 3)
        return done

    def _convert(
        self,
        name: str,
        notebook: NotebookNode,
        repairs: list[Note],
        build: Path,
        submission: Submission,
        known: Examination | VivaError,
        converter: Autograde,
        steps: list,
        done: Marked,
    ) -> str:
        """One notebook through the steps; the graded notebook as text, its scores and results in ``done``."""
        if isinstance(known, VivaError):
            raise known
        draft = Draft(self.expected[submission.assignment])
        place = {"student": submission.student, "assignment": submission.assignment, "notebook": name}
        place |= {"db_url": self.course.directory.db_url, "grader": self.grader, "examination": known}
        place["repairs"] = repairs
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
            contextlib.chdir(self.course.root),
        ):
            # As the exporter does, but without validating and copying the notebook before each step.
            for step in exporter._preprocessors:
                with contextlib.nullcontext() if isinstance(step, Examine) else limited():
                    notebook, resources = step(notebook, resources)
            exporter._preprocessors = []
            text, _ = exporter.from_notebook_node(notebook, resources=resources)
        done.graded.scores[name], done.graded.remarks[name] = draft.scores(), draft.remarks()
        enter(done.record, resources["nbgrader"])
        return text


def _trouble(error: OSError) -> str:
    return f"it could not be graded: {error.strerror or error}. {AGAIN}"


def _copy_extra_files(source: Path, target: Path, directory: CourseDirectory) -> None:
    """The assignment's own files: everything but notebooks, links and what is ignored."""
    target.mkdir(parents=True, exist_ok=True)
    for path in walk(source, [*directory.ignore, "*.ipynb"]):
        if path.is_file() and not path.is_symlink():
            copy = target / path.relative_to(source)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, copy)


def _copy_handed_files(folder: Path, target: Path, directory: CourseDirectory) -> None:
    """What was handed in beside the notebooks and is not too large for nbgrader; it takes no other file's place."""
    for path in itertools.islice(walk(folder, [*directory.ignore, "*.ipynb"]), MOST_FILES):
        with contextlib.suppress(OSError):  # it cannot be read, or has a name that the assignment has for a folder
            about, copy = path.lstat(), target / path.relative_to(folder)
            if stat.S_ISREG(about.st_mode) and about.st_size <= 1000 * directory.max_file_size and not copy.exists():
                copy.parent.mkdir(parents=True, exist_ok=True)
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


def memory_log(name: str) -> tuple[logging.Logger, io.StringIO]:
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(logging.Formatter("[%(levelname)s] %(message)s"))
    log = logging.Logger(name, logging.INFO)
    log.addHandler(handler)
    return log, stream
