"""The collected attempts of an assignment: ``attempts/<assignment>.csv``, a row for each attempt of each student.

It says which attempt counts, when it was sent, and who sent it as a group. Attempts that do not count lie beside it in
``attempts/<assignment>/<student>/<number>/``; the one that counts lies in ``submitted/``.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import astuple, dataclass, fields
from datetime import UTC, datetime
from pathlib import Path

from viva.cleaning import plaintext
from viva.course.course import Course
from viva.course.processes import leftovers
from viva.course.table import csv_text, own_rows
from viva.verdict import CourseError
from viva_term.archives import moments

ATTEMPTS = "attempts"
HAND = "hand"
"""A person said that a sender is a student, by joining the student's two ids."""
YES, BY_HAND = "yes", "by hand"
"""Whether an attempt counts, and whether --attempt said so."""


@dataclass
class Row:
    """One attempt of one student."""

    student_id: str
    attempt: int
    counts: str = ""
    timestamp: str = ""
    group: str = ""
    sender: str = ""
    archive: str = ""
    sha256: str = ""
    told: str = ""
    """The text that told the time, as it was found."""
    by: str = ""
    """By whom the sender was found to be the student: a rule, matches.csv, or a hand; an older list does not say."""

    @property
    def moment(self) -> datetime | None:
        return moments.read(self.timestamp)


def written(moment: datetime | None) -> str:
    """A moment as nbgrader writes it in timestamp.txt, in UTC."""
    if moment is None:
        return ""
    moment = moment.astimezone(UTC)
    return f"{moment:%Y-%m-%d %H:%M:%S.%f} UTC" if moment.microsecond else f"{moment:%Y-%m-%d %H:%M:%S} UTC"


COLUMNS = tuple(one.name for one in fields(Row))


class Ledger:
    """The rows of an assignment, by student."""

    def __init__(self, course: Course, assignment: str) -> None:
        """Raises CourseError when the file cannot be read."""
        self.path = course.root / ATTEMPTS / f"{assignment}.csv"
        self.folder = course.root / ATTEMPTS / assignment
        self.rows: dict[str, list[Row]] = defaultdict(list)
        for row in _read(self.path):
            self.rows[row.student_id].append(row)

    def place(self, row: Row) -> Path:
        """Where the attempt lies when it does not count."""
        return self.folder / row.student_id / str(row.attempt)

    def write(self) -> None:
        """Nothing happens where nothing changed."""
        rows = [row for _, rows in sorted(self.rows.items()) for row in sorted(rows, key=lambda row: row.attempt)]
        leftovers.write(self.path, csv_text(COLUMNS, map(astuple, rows)))


def _read(path: Path) -> Iterable[Row]:
    for line, cells in own_rows(path, COLUMNS, set(COLUMNS) - {"told", "by"}).items():
        if not cells["attempt"].isdecimal() or not cells["student_id"]:
            raise CourseError(f"Line {line} of {path} has no student or no number of an attempt. Correct it.")
        values = {name: cells[name] for name in COLUMNS if name not in ("student_id", "attempt")}
        yield Row(cells["student_id"], int(cells["attempt"]), **values)


def groups(course: Course, assignment: str) -> list[set[str]]:
    """The students who submitted an assignment together, as a group of more than one.

    Raises CourseError when what was collected cannot be read.
    """
    by_group = defaultdict(set)
    for rows in Ledger(course, assignment).rows.values():
        for row in rows:
            if row.counts and row.group:
                by_group[row.group].add(row.student_id)
    return [students for students in by_group.values() if len(students) > 1]


def cell(text: str) -> str:
    """A stranger's text as a table may have it."""
    return plaintext.line(text, 500)
