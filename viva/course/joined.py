"""Students who were entered twice and are one: ``same.csv`` in the course folder, with a line for each other id.

    id,student_id,moved
    a.lee2,alee,"ps4_multihead, ps5_positions"

The grades are those of ``student_id``; ``viva roster --same`` writes the file, and says in ``moved`` what it moved.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import astuple, dataclass
from pathlib import Path

from viva.cleaning import plaintext
from viva.course.processes import leftovers
from viva.course.table import csv_text, own_rows
from viva.verdict import CourseError

SAME = "same.csv"
COLUMNS = ("id", "student_id", "moved")


@dataclass(frozen=True)
class Joined:
    """Another ``id`` of a student, and the assignments that were moved from it."""

    id: str
    student_id: str
    moved: str = ""


def read(root: Path) -> dict[str, Joined]:
    """By id that is another's now. Raises CourseError for a file that cannot be read."""
    path = root / SAME
    found = {}
    for line, cells in own_rows(path, COLUMNS, {"id", "student_id"}).items():
        one = Joined(*(cells[name].strip() for name in COLUMNS))
        if not one.id or not one.student_id or one.id in found or one.id == one.student_id:
            raise CourseError(
                f"Line {line} of {path} does not name two ids, or names {plaintext.quoted(one.id)} again."
            )
        found[one.id] = one
    return found


def write(root: Path, joined: Iterable[Joined]) -> None:
    """Write the file, whole or not at all."""
    leftovers.write(root / SAME, csv_text(COLUMNS, map(astuple, sorted(joined, key=lambda one: one.id))))


def students(root: Path) -> dict[str, str]:
    """By every other id of somebody, the student, also where ids were joined one after another."""
    known = read(root)
    found = {}
    for one in known:
        student, seen = known[one].student_id, {one}
        while student in known and student not in seen:
            seen.add(student)
            student = known[student].student_id
        found[one] = student
    return found
