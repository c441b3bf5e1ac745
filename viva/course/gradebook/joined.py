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
    pairs = {}
    for line, cells in own_rows(path, COLUMNS, {"id", "student_id"}).items():
        pair = Joined(*(cells[name].strip() for name in COLUMNS))
        if not pair.id or not pair.student_id or pair.id in pairs or pair.id == pair.student_id:
            raise CourseError(
                f"Line {line} of {path} does not have two ids, or has {plaintext.quoted(pair.id)} again. "
                "Correct the line."
            )
        pairs[pair.id] = pair
    return pairs


def write(root: Path, joined: Iterable[Joined]) -> None:
    """Write the file, whole or not at all."""
    leftovers.write(root / SAME, csv_text(COLUMNS, map(astuple, sorted(joined, key=lambda pair: pair.id))))


def students(root: Path) -> dict[str, str]:
    """By every other id of somebody, the student, also where ids were joined one after another."""
    pairs = read(root)
    students = {}
    for joined in pairs:
        student, seen = pairs[joined].student_id, {joined}
        while student in pairs and student not in seen:
            seen.add(student)
            student = pairs[student].student_id
        students[joined] = student
    return students
