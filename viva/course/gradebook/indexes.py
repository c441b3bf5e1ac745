"""Indexes that nbgrader's gradebook lacks, by which what a submission has is found without reading everybody's.

nbgrader declares keys for (cell, notebook), not for the notebook alone. To look up the grades of one submission, as
the batch's writer, every page of feedback and formgrader do, the database reads all that there are: time that grows
with the square of the class. With these it does not. They change nothing else, and any nbgrader may use the file.
"""

from __future__ import annotations

from nbgrader.api import Comment, Grade, Gradebook, SubmittedAssignment, SubmittedNotebook
from sqlalchemy import Engine, inspect, text
from sqlalchemy.exc import DBAPIError, ProgrammingError
from sqlalchemy.orm import InstrumentedAttribute

from viva.course.gradebook.database import is_locked

COLUMNS: tuple[InstrumentedAttribute, ...] = (
    Grade.notebook_id,
    Comment.notebook_id,
    SubmittedNotebook.assignment_id,
    SubmittedAssignment.student_id,
)


def ensure(gradebook: Gradebook) -> list[str]:
    """Make those that are not there; their names. Where it is refused, the gradebook stays as it is, and slower."""
    try:
        return [name for column in COLUMNS if (name := _make(gradebook.engine, column))]
    except ProgrammingError:  # a server's user who may not
        return []
    except DBAPIError as error:
        if is_locked(error):  # the next batch will
            return []
        raise


def _make(engine: Engine, column: InstrumentedAttribute) -> str:
    """Make an index of a column; its name, empty where an index begins with it already."""
    table = column.class_.__tablename__
    if any(index["column_names"][:1] == [column.key] for index in inspect(engine).get_indexes(table)):
        return ""
    name = f"viva_{table}_{column.key}"
    with engine.begin() as connection:
        if engine.dialect.name == "postgresql":  # a browser may sleep in a transaction
            connection.execute(text("SET LOCAL lock_timeout = '5s'"))
        connection.execute(text(f'CREATE INDEX IF NOT EXISTS "{name}" ON "{table}" ("{column.key}")'))
    return name
