"""The health of a course's gradebook: can it be used, and does it need an update?"""

from __future__ import annotations

import os

from nbgrader.api import Base, Gradebook
from sqlalchemy import inspect, text

from viva.course import database
from viva.course.course import Course
from viva.course.gradebook import lateness
from viva.verdict import CourseError


def require(course: Course) -> None:
    """Raises CourseError when the gradebook, if there is one, cannot be written to or is an older nbgrader's.

    What a server does not allow raises DBAPIError: before a class is graded, and not after it.
    """
    if not course.has_gradebook():
        return
    path = course.gradebook_file
    if path and not os.access(path, os.W_OK):
        raise CourseError(
            f"The gradebook {path} is read-only; nothing was done. Make it writable, then run the same command again."
        )
    require_columns(course)
    if not path:
        course.ask(_try_writing)


def require_whole(course: Course) -> None:
    """Raises CourseError or DBAPIError when the file of a gradebook is damaged anywhere; all of it is read."""
    if course.gradebook_file:
        answer = course.ask(lambda gradebook: gradebook.db.scalar(text("PRAGMA quick_check(1)")))
        if answer != "ok":
            raise CourseError(database.damaged(course.directory.db_url, answer))


def require_columns(course: Course) -> None:
    """Raises CourseError when the gradebook lacks columns of nbgrader's models; it is only read."""
    if missing := course.ask(_missing_columns):
        table, column = missing[0]
        raise CourseError(
            f"The gradebook {database.shown(course.directory.db_url)} is from an older nbgrader: its table "
            f"{table} has no column {column}. Run 'nbgrader db upgrade', then the same command again."
        )


def settle(course: Course) -> None:
    """Compute late penalties again where another program changed the gradebook."""
    if course.has_gradebook():
        course.ask(lambda gradebook: lateness.settle(gradebook.db()))


def quicken(course: Course) -> None:
    """Give the gradebook the indexes that it lacks."""
    if course.has_gradebook():
        course.ask(database.ensure_indexes)


def _missing_columns(gradebook: Gradebook) -> list[tuple[str, str]]:
    """The tables and columns of nbgrader's models that the gradebook lacks."""
    tables = inspect(gradebook.engine)
    missing = []
    for table in Base.metadata.sorted_tables:
        columns = {column["name"] for column in tables.get_columns(table.name)}
        missing += [(table.name, name) for name in sorted({column.name for column in table.columns} - columns)]
    return missing


def _try_writing(gradebook: Gradebook) -> None:
    database.begin_writing(gradebook)
    gradebook.db.rollback()
