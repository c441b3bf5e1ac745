"""The numbers by which learning systems know a course's students: ``identities.csv`` in the course folder.

    student_id,system,number,by
    alee,canvas,61000,roster
    alee,gradescope,40017,roster

A number is somebody's in one system: another system may have given the same one to somebody else. So each stands here
with the system that gave it, over LTI also with its address, and nothing is compared across systems. nbgrader has one
column for such numbers, ``lms_user_id``, which does not say of which system they are. It stays as nbgrader needs it: it
has the number of the list that was read last. What stands in it and not here was entered by another program, or by
Viva before it kept this file; nothing is compared with it until somebody says which system it is from.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from viva.cleaning import plaintext
from viva.course.processes import leftovers
from viva.course.table import csv_text, own_rows
from viva.verdict import CourseError
from viva.wording import counted

FILE = "identities.csv"
COLUMNS = ("student_id", "system", "number", "by")
ROSTER, SAID = "roster", "hand"
"""Who said that a number is of a system: a list of that system, or a person."""


@dataclass
class Identities:
    """The numbers of the students of a course."""

    path: Path
    numbers: dict[tuple[str, str], tuple[str, str]] = field(default_factory=dict)
    """By student and system, the number, and who said so."""

    @classmethod
    def read(cls, root: Path) -> Identities:
        """Raises CourseError for a file that cannot be read."""
        identities = cls(root / FILE)
        for line, cells in own_rows(identities.path, COLUMNS).items():
            student, system, number, by = (cells[name].strip() for name in COLUMNS)
            if not (student and system and number) or (student, system) in identities.numbers:
                raise CourseError(
                    f"Line {line} of {identities.path} does not have a student, a system and a number, or has "
                    f"{plaintext.quoted(student)} again. Correct the line."
                )
            identities.numbers[student, system] = number, by
        return identities

    def of(self, system: str) -> dict[str, str]:
        """By student, the number in a system."""
        return {student: number for (student, where), (number, _) in self.numbers.items() if where == system}

    def all(self, student: str) -> set[str]:
        """Every number of a student."""
        return {number for (owner, _), (number, _) in self.numbers.items() if owner == student}

    def unknown(self, column: Mapping[str, str]) -> list[str]:
        """The students with a number in nbgrader's ``column`` of which no system is known."""
        return sorted(student for student, number in column.items() if number and number not in self.all(student))

    def question(self, column: Mapping[str, str]) -> str:
        """What has to be asked for once, about numbers that another program or an older Viva entered; else empty."""
        if not (unknown := self.unknown(column)):
            return ""
        return (
            f"The gradebook has learning system numbers of {counted(len(unknown), 'student')}, such as "
            f"{plaintext.quoted(column[unknown[0]])} of {plaintext.quoted(unknown[0])}. Their learning system is "
            "unknown, so they are not used. Name the system: viva roster --numbers=canvas (or another one)."
        )

    def note(self, system: str, numbers: Mapping[str, str], by: str) -> None:
        """Take the numbers of a system, by student; where one is empty, what was known stays."""
        for student, number in numbers.items():
            if number and self.numbers.get((student, system), ("", ""))[0] != number:
                self.numbers[student, system] = number, by

    def hand_over(self, new: str, old: str) -> None:
        """Let one student have the numbers of another id, where none of the system is known."""
        for (student, system), number in list(self.numbers.items()):
            if student == new:
                del self.numbers[new, system]
                self.numbers.setdefault((old, system), number)

    def write(self) -> None:
        """Write the file, whole or not at all; without a number there is none."""
        rows: Iterable[tuple[str, ...]] = [(*key, *value) for key, value in sorted(self.numbers.items())]
        if self.numbers or self.path.exists():
            leftovers.write(self.path, csv_text(COLUMNS, rows))
