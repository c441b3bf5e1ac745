"""Extensions and excuses that the instructor grants: two small files in the course folder.

``excused.csv`` and ``extensions.csv`` have a header and a row for each; ``reason`` may be left out:

    assignment,student_id,reason
    ps3_scaled_attention,demo-07,ill until October

    assignment,student_id,until,reason
    ps3_scaled_attention,demo-07,2026-10-09 23:59,ill

They are files since nbgrader's gradebook has no place for an excuse, and for an extension only where something was
submitted already. Where there is an ``extensions.csv``, it is all that counts; it is copied into the gradebook.
"""

from __future__ import annotations

import functools
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

from viva.cleaning import plaintext
from viva.course.deadlines import moment
from viva.course.processes import leftovers
from viva.course.table import Table, csv_text
from viva.verdict import CourseError

EXCUSED, EXTENSIONS = "excused.csv", "extensions.csv"
COLUMNS = {EXCUSED: ("assignment", "student_id", "reason"), EXTENSIONS: ("assignment", "student_id", "until", "reason")}
Place = tuple[str, str]
"""An assignment and a student."""


def rows(path: Path, assignments: Collection[str] | None = None) -> dict[Place, dict[str, str]]:
    """By assignment and student, a file's row by column; empty when there is no file.

    Raises CourseError for what is not such a file, and for a row of an assignment that is none of ``assignments``.
    """
    columns = COLUMNS[path.name]
    if not path.exists():
        return {}
    try:
        table = Table.read(path)
    except CourseError as error:
        raise CourseError(f"{error} Its first line names the columns {','.join(columns)}.") from error
    except OSError as error:
        raise CourseError(f"{path} cannot be read: {error.strerror}.") from error
    header, concessions = [name.strip() for name in table.header], {}
    if not set(columns[:-1]) <= set(header):
        raise CourseError(
            f"The first line of {path} must name the columns {','.join(columns)}, but it is '{','.join(header)}'."
        )
    for line, row in table.rows.items():
        values = dict(zip(header, row, strict=False))
        cells, where = {name: values.get(name, "").strip() for name in columns}, f"Line {line} of {path}"
        if not cells["assignment"] or not cells["student_id"]:
            raise CourseError(f"{where}: the assignment or the student is missing.")
        if assignments is not None and cells["assignment"] not in assignments:
            verb = "excuses from" if path.name == EXCUSED else "extends"
            raise CourseError(
                f"{where} {verb} '{plaintext.line(cells['assignment'])}', which is not an "
                f"assignment of the gradebook. The assignments are: {', '.join(sorted(assignments))}."
            )
        concessions[cells["assignment"], cells["student_id"]] = cells
    return concessions


@dataclass(frozen=True)
class Concessions:
    """A course's extensions: each student's deadline in UTC; and its excused students, with reasons."""

    extensions: dict[Place, datetime] | None
    """None when the course has no extensions.csv, and the gradebook's own extensions count."""
    excused: dict[Place, str]

    def deadline(self, pair: Place, due: datetime, extension: timedelta | None = None) -> datetime:
        """When a submission is due for its student, if it is ``due`` then for the class, which is never later.

        A deadline of the class that moves past an extension holds for this student too. ``extension`` is the
        gradebook's, which counts where the course has no extensions.csv.
        """
        if self.extensions is None:
            return due + max(timedelta(), extension or timedelta())
        return max(due, self.extensions.get(pair, due))

    @classmethod
    def of(cls, root: Path, zone: ZoneInfo) -> Concessions:
        """The concessions of the course in a folder; ``zone`` is the zone of times without one. Raises CourseError."""
        path = root / EXTENSIONS
        extensions = _extensions(path, _state(path), zone) if path.exists() else None
        return cls(extensions, excused(root))


def excused(root: Path, assignments: Collection[str] | None = None) -> dict[Place, str]:
    """Whom the instructor excuses from what, and why. Raises CourseError."""
    concessions = rows(root / EXCUSED, assignments)
    return {pair: plaintext.line(cells["reason"]) for pair, cells in concessions.items()}


def write(path: Path, entries: Mapping[Place, Mapping[str, str]]) -> None:
    """Write such a file, whole or not at all."""
    columns = COLUMNS[path.name]
    cells = ([row.get(name, "") for name in columns] for _, row in sorted(entries.items()))
    leftovers.write(path, csv_text(columns, cells))


def _state(path: Path) -> tuple[int, int, int]:
    status = path.stat()
    return status.st_mtime_ns, status.st_size, status.st_ino


@functools.lru_cache(maxsize=8)
def _extensions(path: Path, _state: tuple, zone: ZoneInfo) -> dict[Place, datetime]:
    """Read once for each state of the file."""
    extensions = {}
    for pair, cells in rows(path).items():
        try:
            extensions[pair] = moment.parse(cells["until"], zone)
        except CourseError as error:
            raise CourseError(f"{path} extends {pair[0]} for {plaintext.quoted(pair[1])}: {error}") from error
    return extensions
