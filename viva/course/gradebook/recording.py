"""Verdicts into the gradebook: many workers draft, one writer records.

Theory of operation. nbgrader's steps open the gradebook for each notebook, several times, and commit
after every cell. Here a worker gives them a *draft* in its place: it knows the cells that the
assignment expects, and remembers the scores and comments that the steps put into it. The drafts go
to the one process that writes to the gradebook, which saves many of them in one transaction. What
was graded or commented by hand is never touched.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from types import SimpleNamespace

from nbgrader.api import Gradebook, InvalidEntry, MissingEntry
from nbgrader.coursedir import CourseDirectory
from sqlalchemy import event
from sqlalchemy.exc import DBAPIError
from sqlalchemy.orm import Session, scoped_session, sessionmaker

from viva.course.database import RETRY_SECONDS, file_of, quietly, with_retries
from viva.course.gradebook import lateness
from viva.course.gradebook.advisory import still_alone
from viva.course.gradebook.releases import LOST
from viva.verdict import CourseError


@dataclass
class Expected:
    """The notebooks of an assignment as the gradebook knows them, detached from it."""

    notebooks: dict[str, SimpleNamespace] = field(default_factory=dict)

    @classmethod
    def of(cls, gradebook: Gradebook, assignment: str) -> Expected:
        """Raises MissingEntry when the gradebook does not know the assignment."""
        return cls({book.name: _detached(book) for book in gradebook.find_assignment(assignment).notebooks})

    def locked(self, notebook: str) -> dict[str, str]:
        """By grade id, the texts of a notebook's locked cells, hidden lines included."""
        cells = self.notebooks[notebook].source_cells
        return {cell.name: cell.source for cell in cells if cell.locked and cell.cell_type == "code"}

    def stubs(self, notebook: str) -> dict[str, str]:
        """By grade id, the texts of a notebook's answer cells as they were released."""
        cells = self.notebooks[notebook].source_cells
        return {cell.name: cell.source for cell in cells if not cell.locked and cell.cell_type == "code"}

    def tests(self, notebook: str) -> dict[str, float]:
        """By grade id, the points of a notebook's test cells."""
        book = self.notebooks[notebook]
        answers = {cell.name for cell in book.solution_cells}
        cells = [cell for cell in book.grade_cells if cell.cell_type == "code" and cell.name not in answers]
        return {cell.name: cell.max_score for cell in cells}


def _detached(notebook) -> SimpleNamespace:
    cells = {
        table: [_columns(cell) for cell in getattr(notebook, table)]
        for table in ("source_cells", "grade_cells", "solution_cells", "task_cells")
    }
    return SimpleNamespace(name=notebook.name, kernelspec=notebook.kernelspec, **cells)


def _columns(cell) -> SimpleNamespace:
    names = ("name", "cell_type", "source", "checksum", "locked", "max_score")
    return SimpleNamespace(**{name: getattr(cell, name) for name in names if hasattr(cell, name)})


class Draft:
    """Stands in for a Gradebook while one notebook goes through nbgrader's steps."""

    def __init__(self, expected: Expected) -> None:
        self.expected = expected
        self.grades: dict[str, SimpleNamespace] = {}
        self.comments: dict[str, SimpleNamespace] = {}
        self.db = SimpleNamespace(commit=lambda: None)

    def __enter__(self) -> Draft:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def find_notebook(self, notebook: str, assignment: str) -> SimpleNamespace:
        try:
            return self.expected.notebooks[notebook]
        except KeyError:
            raise MissingEntry(f"no notebook {notebook} in {assignment}") from None

    def find_source_cell(self, name: str, notebook: str, assignment: str) -> SimpleNamespace:
        return self._cell(name, self.find_notebook(notebook, assignment).source_cells)

    def find_graded_cell(self, name: str, notebook: str, assignment: str) -> SimpleNamespace:
        book = self.find_notebook(notebook, assignment)
        return self._cell(name, [*book.grade_cells, *book.task_cells])

    def _cell(self, name: str, cells: list[SimpleNamespace]) -> SimpleNamespace:
        for cell in cells:
            if cell.name == name:
                return cell
        raise MissingEntry(f"no such cell: {name}")

    def find_grade(self, name: str, notebook: str, assignment: str, student: str) -> SimpleNamespace:
        self.find_graded_cell(name, notebook, assignment)
        empty = SimpleNamespace(auto_score=None, manual_score=None, needs_manual_grade=False)
        return self.grades.setdefault(name, empty)

    def find_comment(self, name: str, notebook: str, assignment: str, student: str) -> SimpleNamespace:
        return self.comments.setdefault(name, SimpleNamespace(auto_comment=None))

    def scores(self) -> dict[str, tuple[float | None, bool]]:
        """By cell, the score and whether a grader is needed."""
        return {name: (grade.auto_score, grade.needs_manual_grade) for name, grade in self.grades.items()}

    def remarks(self) -> dict[str, str | None]:
        return {name: comment.auto_comment for name, comment in self.comments.items()}


@contextlib.contextmanager
def in_place_of_gradebook(stand_in: object, steps: list[type]) -> Iterator[None]:
    """Let nbgrader's steps find ``stand_in`` when they open the gradebook."""
    every = {sys.modules[base.__module__] for step in steps for base in step.__mro__}
    modules = [module for module in every if getattr(module, "Gradebook", None) is Gradebook]
    for module in modules:
        vars(module)["Gradebook"] = lambda *_, **__: stand_in
    try:
        yield
    finally:
        for module in modules:
            vars(module)["Gradebook"] = Gradebook


@dataclass
class Graded:
    """The result that a worker hands to the writer: scores and remarks by notebook, for one submission."""

    assignment: str
    student: str
    timestamp: datetime | None
    scores: dict[str, dict[str, tuple[float | None, bool]]]
    remarks: dict[str, dict[str, str | None]]
    same: dict[str, list[str]] = field(default_factory=dict)
    """By notebook, the written answers whose text is the one that was graded before; ``changed``, the others."""
    changed: dict[str, list[str]] = field(default_factory=dict)


class _DeferredCommit(Session):
    """A session whose commits wait for ``Writer.commit``."""

    def commit(self) -> None:
        self.flush()


def _no_endless_waiting(connection, _record) -> None:
    connection.execute("SET lock_timeout = '5s'")
    connection.commit()


class _SharedGradebook(Gradebook):
    """A gradebook that stays open, and writes when it is told to."""

    db: scoped_session

    def __init__(self, url: str, course: str) -> None:
        super().__init__(url, course)
        self.db.remove()
        if self.engine.dialect.name == "postgresql":  # a grader's browser that sleeps in a transaction stops nobody
            self.engine.dispose()
            event.listen(self.engine, "connect", _no_endless_waiting)
        self.db = scoped_session(sessionmaker(bind=self.engine, class_=_DeferredCommit, expire_on_commit=False))

    def __exit__(self, *_: object) -> None:
        pass


@contextlib.contextmanager
def _database_errors() -> Iterator[None]:
    """Inside, the database's own error is raised; nbgrader would log it and raise an invalid entry instead."""
    try:
        with quietly():
            yield
    except InvalidEntry as error:
        if isinstance(error.__context__, DBAPIError):
            raise error.__context__ from None
        raise


def _inode(path: Path | None) -> tuple[int, int] | None:
    try:
        status = path.stat() if path else None
    except FileNotFoundError:
        return None
    return (status.st_dev, status.st_ino) if status else None


class Writer:
    """The one process that writes to the gradebook; use it in a ``with`` block, and commit."""

    def __init__(self, directory: CourseDirectory, config) -> None:
        self.place = directory.db_url, directory.course_id
        self.gradebook = _SharedGradebook(*self.place)
        lateness.follow(config, db_url=directory.db_url, root=directory.root)
        self.kept: dict[str, object] = {}
        self.file = file_of(directory)
        self.inode = _inode(self.file)
        self.directory = directory

    def record(self, graded: list[Graded]) -> None:
        """Save in one transaction, waiting a while for another program in the way, or for a connection that was lost.

        Raises SQLAlchemyError, CourseError and Stopped; then nothing was saved.
        """

        def once() -> None:
            try:
                with _database_errors():
                    self._require_the_same_file()
                    for submission in graded:
                        self.save(submission)
                    still_alone(*self.place)
                    self.commit()
                    self._require_the_same_file()
            except BaseException:
                self.rollback()
                raise

        with_retries(once, RETRY_SECONDS, self.kept.clear)

    def _require_the_same_file(self) -> None:
        """Raises CourseError when the gradebook was removed or replaced: SQLite goes on to write where no one reads."""
        if not self.file or (now := _inode(self.file)) == self.inode:
            return
        if now is None:
            graded = self.directory.format_path(self.directory.autograded_directory, ".", ".")
            raise CourseError(LOST.format(book=self.file, results=os.path.normpath(graded)))
        raise CourseError(
            f"During this command, another file replaced {self.file}. Results since then were not recorded. Put the "
            "right gradebook in its place, then run the same command again."
        )

    def save(self, graded: Graded) -> None:
        """Bring the submission's automatic scores and comments up to date."""
        book = self.gradebook
        if graded.assignment not in self.kept:
            assignment = book.find_assignment(graded.assignment)
            # The session holds its objects weakly; these are used by every submission.
            cells = [(book.grade_cells, book.solution_cells, book.task_cells) for book in assignment.notebooks]
            self.kept[graded.assignment] = (assignment, cells)
        book.update_or_create_student(graded.student)
        when = {"timestamp": graded.timestamp} if graded.timestamp else {}
        submission = book.update_or_create_submission(graded.assignment, graded.student, **when)
        for notebook in submission.notebooks:
            scores = graded.scores.get(notebook.name)
            remarks = graded.remarks.get(notebook.name, {})
            same, changed = (answers.get(notebook.name, []) for answers in (graded.same, graded.changed))
            for grade in notebook.grades:
                if scores is None:  # the notebook was not submitted
                    grade.auto_score, grade.needs_manual_grade = 0, False
                elif grade.manual_score is None:
                    grade.auto_score, grade.needs_manual_grade = scores.get(grade.name, (0, False))
                elif grade.name in changed:
                    grade.needs_manual_grade = True
                elif grade.cell.type != "TaskCell" and grade.name not in same:
                    score = scores.get(grade.name, (0, False))[0]
                    if score is None or score != grade.auto_score:  # as nbgrader: look at it again
                        grade.needs_manual_grade = True
                    grade.auto_score = score
            for comment in notebook.comments:
                if comment.name in remarks:
                    comment.auto_comment = remarks[comment.name]
            book.db.flush()

    def commit(self) -> None:
        Session.commit(self.gradebook.db())

    def rollback(self) -> None:
        self.gradebook.db.rollback()

    def close(self) -> None:
        with contextlib.suppress(DBAPIError):  # nothing is left to be saved
            self.gradebook.db.rollback()
        self.gradebook.close()
