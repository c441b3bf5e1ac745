"""The person's rows in a gradebook, as plain values: read, deleted, and entered again.

They go through the tables, not through nbgrader's objects: nothing of another student is read or computed again.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from nbgrader.api import (
    Assignment,
    Base,
    BaseCell,
    Comment,
    Grade,
    Notebook,
    Student,
    SubmittedAssignment,
    SubmittedNotebook,
)
from sqlalchemy import Connection, DateTime, Engine, Interval, create_engine, delete, insert, inspect, select

from viva_term.privacy.person import Person

Rows = dict[str, list[dict[str, Any]]]
"""By table, rows of plain values."""
MAGIC = b"SQLite format 3\0"
MOST_AT_ONCE = 500
"""Values in one question; SQLite takes no more than 999."""
OF = {
    Student: (Student.id, None),
    SubmittedAssignment: (SubmittedAssignment.student_id, Student),
    SubmittedNotebook: (SubmittedNotebook.assignment_id, SubmittedAssignment),
    Grade: (Grade.notebook_id, SubmittedNotebook),
    Comment: (Comment.notebook_id, SubmittedNotebook),
}
"""The tables with rows of students, each behind the one that its column refers to."""
REFERS = {
    SubmittedAssignment: ((SubmittedAssignment.assignment_id, Assignment), (SubmittedAssignment.student_id, Student)),
    SubmittedNotebook: (
        (SubmittedNotebook.notebook_id, Notebook),
        (SubmittedNotebook.assignment_id, SubmittedAssignment),
    ),
    Grade: ((Grade.cell_id, BaseCell), (Grade.notebook_id, SubmittedNotebook)),
    Comment: ((Comment.cell_id, BaseCell), (Comment.notebook_id, SubmittedNotebook)),
}
"""What has to be there for a row to be entered again."""


@contextlib.contextmanager
def opened(path: Path) -> Iterator[Engine]:
    """A copy of a gradebook in a file."""
    engine = create_engine(f"sqlite:///{path}")
    try:
        yield engine
    finally:
        engine.dispose()


def is_gradebook(path: Path) -> bool:
    """Whether a file is a gradebook of nbgrader's in SQLite, whatever its name."""
    with path.open("rb") as file:
        if file.read(len(MAGIC)) != MAGIC:
            return False
    with opened(path) as engine, contextlib.suppress(Exception):
        return {table.__tablename__ for table in OF} <= set(inspect(engine).get_table_names())
    return False


def read(connection: Connection, ids: Iterable[str]) -> Rows:
    """The rows of these students."""
    keys: dict[Any, list[str]] = {None: sorted(ids)}
    rows: Rows = {}
    for table, (column, behind) in OF.items():
        values = keys[behind]
        records: list[dict[str, Any]] = []
        for start in range(0, len(values), MOST_AT_ONCE):
            question = select(table.__table__).where(column.in_(values[start : start + MOST_AT_ONCE]))
            records += [dict(row) for row in connection.execute(question).mappings()]
        keys[table] = [row["id"] for row in records]
        rows[table.__tablename__] = [{name: _plain(value) for name, value in row.items()} for row in records]
    return {name: records for name, records in rows.items() if records}


def remove(connection: Connection, rows: Rows) -> None:
    """Delete rows that were read."""
    for table in reversed(OF):
        ids = [row["id"] for row in rows.get(table.__tablename__, ())]
        for start in range(0, len(ids), MOST_AT_ONCE):
            connection.execute(delete(table.__table__).where(table.id.in_(ids[start : start + MOST_AT_ONCE])))


def enter(connection: Connection, rows: Rows) -> int:
    """Enter rows again, and return how many have no place any more, as the assignment was changed since."""
    lost = 0
    for table in OF:
        records = [_typed(table, row) for row in rows.get(table.__tablename__, ())]
        if not records:
            continue
        present = set(connection.scalars(select(table.id)))
        records = [row for row in records if row["id"] not in present]
        for column, behind in REFERS.get(table, ()):
            present = set(connection.scalars(select(behind.id)))
            fitting = [row for row in records if row[column.key] is None or row[column.key] in present]
            lost, records = lost + len(records) - len(fitting), fitting
        if table is SubmittedAssignment:  # who submitted again has newer grades, which stay
            pairs = set(connection.execute(select(table.assignment_id, table.student_id)).tuples())
            fitting = [row for row in records if (row["assignment_id"], row["student_id"]) not in pairs]
            lost, records = lost + len(records) - len(fitting), fitting
        if records:
            connection.execute(insert(table.__table__), records)
    return lost


def _plain(value: Any) -> Any:
    """A cell of a table as JSON has it: a time as ISO 8601 writes it, a span of time in microseconds."""
    if isinstance(value, datetime):
        return value.isoformat()
    return value // timedelta(microseconds=1) if isinstance(value, timedelta) else value


def _typed(table: type[Base], row: Mapping[str, Any]) -> dict[str, Any]:
    """A row as the table takes it."""
    values = {}
    for column in table.__table__.columns:
        value = row.get(column.name)
        if value is not None and isinstance(column.type, DateTime):
            value = datetime.fromisoformat(value)
        elif value is not None and isinstance(column.type, Interval):
            value = timedelta(microseconds=value)
        values[column.name] = value
    return values


def compact(path: Path) -> None:
    """Write a gradebook's file anew, so that no free page holds what was deleted. Raises sqlite3.Error."""
    with contextlib.closing(sqlite3.connect(path, timeout=20, isolation_level=None)) as connection:
        connection.execute("PRAGMA secure_delete = ON")
        connection.execute("VACUUM")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def mentions(connection: Connection, person: Person) -> int:
    """How many comments on others' work mention the person."""
    question = (
        select(Comment.auto_comment, Comment.manual_comment)
        .join(SubmittedNotebook, Comment.notebook_id == SubmittedNotebook.id)
        .join(SubmittedAssignment, SubmittedNotebook.assignment_id == SubmittedAssignment.id)
        .where(SubmittedAssignment.student_id.not_in(person.ids))
    )
    return sum(person.is_mentioned(f"{auto or ''}\n{manual or ''}") for auto, manual in connection.execute(question))


def legible(connection: Connection, rows: Rows) -> Rows:
    """The same rows with the names of assignments, notebooks and cells in place of numbers."""
    names = {
        kind: {row[0]: row[1] for row in connection.execute(select(table.id, table.name))}
        for kind, table in (("assignment", Assignment), ("notebook", Notebook), ("cell", BaseCell))
    }
    assignments = {row["id"]: row["assignment_id"] for row in rows.get("submitted_assignment", ())}
    notebooks = {row["id"]: (row["notebook_id"], row["assignment_id"]) for row in rows.get("submitted_notebook", ())}
    result: Rows = {}
    for table, records in rows.items():
        for row in records:
            row = dict(row)
            if table in ("grade", "comment"):
                row["cell"] = names["cell"].get(row.pop("cell_id"))
                notebook, submitted = notebooks.get(row.pop("notebook_id"), (None, None))
                row |= {"notebook": names["notebook"].get(notebook)}
                row |= {"assignment": names["assignment"].get(assignments.get(submitted))}
            elif table == "submitted_notebook":
                row["notebook"] = names["notebook"].get(row.pop("notebook_id"))
                row["assignment"] = names["assignment"].get(assignments.get(row.pop("assignment_id")))
            elif table == "submitted_assignment":
                row["assignment"] = names["assignment"].get(row.pop("assignment_id"))
            if table != "student":
                row.pop("id", None)
            result.setdefault(table, []).append(row)
    return result
