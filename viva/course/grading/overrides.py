"""All changes of nbgrader itself. Each stands here with its reason.

A setting of nbgrader's, or a subclass that a setting names, comes first (``viva/configuration.py`` has those). A change
is for what no setting reaches, and for nbgrader's own commands and formgrader too. It holds from the moment this
module is imported: by the configuration of a course, and by each module that relies on one of them. After a new version
of nbgrader somebody reads the changed functions again; a test asks for it.

Beside these changes ``gradebook/lateness`` listens to nbgrader's transactions, and ``pages/submittedfiles`` and
``pages/livelists`` put pages of their own into formgrader's list of pages.
"""

from __future__ import annotations

import glob
import os
import shutil
from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path

from jupyter_core.paths import jupyter_data_dir
from nbgrader import converters, utils
from nbgrader.converters import NbGraderException
from nbgrader.converters.base import BaseConverter
from nbgrader.coursedir import CourseDirectory
from nbgrader.exchange.default import Exchange

from viva import clock
from viva.cleaning import plaintext
from viva.course.course import Course, folders_named
from viva.course.examining import writtenanswers
from viva.course.examining.links import Links
from viva.course.releasing import contract
from viva.course.source import leaving
from viva.folder import OURS, SOLVED, matches, remove, walk
from viva.submission.files import timestamp
from viva.submission.files.beside import remove_shadows, returned
from viva.submission.submission import Submission
from viva.verdict import SubmissionError

VERSION = "0.9.6"
"""The version of nbgrader whose functions were read when these changes were last looked at."""


@dataclass(frozen=True)
class Change:
    """A function that stands in the place of one of nbgrader's: the attribute ``name`` of ``owner``."""

    owner: object
    name: str
    ours: Callable
    reason: str


class OneFolder(CourseDirectory):
    """nbgrader's for one student: the id ``*`` is a folder's name here, where nbgrader takes it for everybody."""


def _init_notebooks(converter: BaseConverter) -> None:
    """nbgrader's, where only a student's id and a notebook's may be patterns, and only of no folder's name."""
    directory = converter.coursedir
    path = converter._format_source(directory.assignment_id, directory.student_id)
    single = isinstance(directory, OneFolder) and os.path.lexists(path)
    folders = [path] if single else folders_named(path, directory.student_id)
    if not folders:
        _found_by_pattern(converter)  # says so, and what may be meant
    name = f"{directory.notebook_id}.ipynb"
    notebooks = {folder: glob.glob(os.path.join(glob.escape(folder), name)) for folder in folders}
    converter.notebooks, converter.assignments = [], {folder: paths for folder, paths in notebooks.items() if paths}
    if not converter.assignments:
        sentence = f"No notebooks were matched by '{os.path.join(path, name)}'"
        converter.log.error(sentence)
        raise NbGraderException(sentence)


def _is_ignored(filename: str, ignore_globs: Collection[str] | None = None) -> bool:
    return any(matches(os.path.basename(filename), pattern) for pattern in ignore_globs or ())


def _init_grading(converter: converters.Autograde, assignment_id: str, student_id: str) -> None:
    """nbgrader's, for a submission without links, pipes and the like, and with the files that were released."""
    folder = Path(converter._format_source(assignment_id, student_id))
    submission = Submission(assignment_id, student_id, folder, clock.of_course(converter.config))
    if problem := Links(Course(CourseDirectory(parent=converter))).problem(submission):
        raise SubmissionError(f"Not graded: {problem}")
    _refuse(submission)
    directory = converter.coursedir
    directory.get_existing_timestamp = lambda copy: timestamp.read(Path(copy, timestamp.NAME), submission.zones)
    kept = contract.of_gradebook(Course(CourseDirectory(parent=converter)), assignment_id, converter.log.warning)
    ignored, path_of = directory.ignore, directory.format_path
    directory.ignore = [*ignored, *OURS]
    if kept:
        directory.format_path = lambda step, *where, **how: (
            str(kept.files) if step == directory.source_directory else path_of(step, *where, **how)
        )
    try:
        _copy_and_enter(converter, assignment_id, student_id)
    finally:
        directory.ignore, directory.format_path = ignored, path_of


def _init_destination(converter: converters.Autograde, assignment_id: str, student_id: str) -> bool:
    """nbgrader's, which removes the notebooks graded before; their written answers are read first."""
    course = Course(CourseDirectory(parent=converter))
    submission = course.path("autograded", assignment_id, student_id), course.gradebook, assignment_id, student_id
    converter.viva_before = writtenanswers.Before.of(*submission)
    return _remove_older(converter, assignment_id, student_id)


def _refuse(submission: Submission) -> None:
    """Raise SubmissionError for a link that leads out of the folder, and for anything but files and folders."""
    folder = submission.folder.resolve()
    for path in walk(submission.folder):
        name = plaintext.quoted(path.name)
        if path.is_symlink() and not Path(os.path.realpath(path)).is_relative_to(folder):
            raise SubmissionError(
                f"Not graded: the file {name} is a link to a file outside the folder. Replace the link by the file"
            )
        if not path.is_file():
            raise SubmissionError(f"Not graded: {name} is not a regular file; remove or replace it")


def _set_permissions(converter: converters.Autograde, assignment_id: str, student_id: str) -> None:
    """nbgrader's, which does this last: from now on nothing is graded there, and graders open it."""
    folder = Path(converter._format_dest(assignment_id, student_id))
    remove(folder / SOLVED)
    remove_shadows(folder)
    _permitted(converter, assignment_id, student_id)


def _init_feedback(converter: converters.GenerateFeedback, assignment_id: str, student_id: str) -> None:
    """nbgrader's, which copies less."""
    names = assignment_id, student_id
    source, target = Path(converter._format_source(*names)), Path(converter._format_dest(*names))
    for name in returned(source, converter.coursedir.ignore):
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        (target / name).unlink(missing_ok=True)
        shutil.copyfile(source / name, target / name)


def _init_release(converter: converters.GenerateAssignment, assignment_id: str, student_id: str) -> None:
    """nbgrader's, which copies less."""
    directory, ignored = converter.coursedir, converter.coursedir.ignore
    directory.ignore = [*ignored, *leaving.for_tests(converter.config)]
    try:
        _copy_release(converter, assignment_id, student_id)
    finally:
        directory.ignore = ignored


def is_own(root: str | Path) -> bool:
    """Whether an exchange lies among the user's own files of Jupyter, where it is made when it is needed."""
    return Path(root).absolute().is_relative_to(Path(jupyter_data_dir()).absolute())


def _start(exchange: Exchange) -> object:
    """nbgrader's, which creates an exchange of the user's own first."""
    root = Path(exchange.root)
    if is_own(root) and not root.exists():
        try:
            root.mkdir(parents=True)
            root.chmod(0o777)  # as nbgrader asks of an exchange
        except OSError as error:
            exchange.fail(f"The exchange {root} cannot be created: {error.strerror}. Set another c.Exchange.root.")
    return _started(exchange)


CHANGES = (
    Change(
        BaseConverter,
        "init_notebooks",
        _init_notebooks,
        "nbgrader reads student ids as patterns. An id with [, * or ? matches nobody, or another student's notebook.",
    ),
    Change(
        utils,
        "is_ignored",
        _is_ignored,
        "Inside a folder with a [ in its name, nbgrader leaves out no files. Then the graded notebook with its "
        "hidden tests is copied beside the feedback page.",
    ),
    Change(
        converters.Autograde,
        "init_assignment",
        _init_grading,
        "nbgrader copies all files beside a notebook before it reads any of them. It follows links, waits for "
        "pipes, and guesses time zones. Beside the notebook it puts the files in source/ as they are now, also those "
        "for tests only.",
    ),
    Change(
        converters.Autograde,
        "init_destination",
        _init_destination,
        "nbgrader deletes the graded notebook before it grades again. Viva needs its old text, because a written "
        "answer that did not change keeps its manual grade.",
    ),
    Change(
        converters.Autograde,
        "set_permissions",
        _set_permissions,
        "nbgrader leaves a student's module beside the graded notebook. A kernel that starts there imports it. The "
        "notebooks that others ran go, too.",
    ),
    Change(
        converters.GenerateFeedback,
        "init_assignment",
        _init_feedback,
        "nbgrader copies all files beside a graded notebook to its feedback page. People open them there: pages, "
        "drawings, configurations.",
    ),
    Change(
        converters.GenerateAssignment,
        "init_assignment",
        _init_release,
        "nbgrader copies all files beside a notebook for students. c.TestFiles.names says which only tests get.",
    ),
    Change(
        Exchange,
        "start",
        _start,
        "nbgrader needs an exchange folder that exists. Viva creates it only when a command uses the exchange.",
    ),
)

_found_by_pattern, _started = BaseConverter.init_notebooks, Exchange.start
_copy_and_enter, _permitted = converters.Autograde.init_assignment, converters.Autograde.set_permissions
_copy_release = converters.GenerateAssignment.init_assignment
_remove_older = converters.Autograde.init_destination
for _change in CHANGES:
    setattr(_change.owner, _change.name, _change.ours)
