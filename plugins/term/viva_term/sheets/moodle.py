"""Scores for Moodle's grading worksheet of an assignment, the only form that it imports.

Its importer reads the columns' names and the decimal mark in the language of whoever uploads. It passes in silence over
what it does not take: a blank, more than the maximum, a locked grade, one that is newer than the sheet. So the sheet
stays as Moodle wrote it, and what it would pass over is told instead of written.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from pathlib import Path

from traitlets import Dict, Unicode

from viva.cleaning import plaintext
from viva.course.course import Course
from viva.course.table import listed
from viva.verdict import CourseError
from viva_term.lms.systems import plain
from viva_term.sheets import number
from viva_term.sheets.feedbackzip import moodle_pages
from viva_term.sheets.identity import Person, person_of
from viva_term.sheets.marks import Mark, Marks
from viva_term.sheets.sheet import Sheet
from viva_term.sheets.sheetexport import Plan, SystemExport, Target

LANGUAGES = {
    "English": "Last modified (grade)",
    "German": "Zuletzt geändert (Bewertung)",
    "French": "Dernière modification (note)",
    "Spanish": "Última modificación (calificación)",
    "Italian": "Ultima modifica (valutazione)",
    "Dutch": "Laatst gewijzigd (cijfer) | Laatst gewijzigd (beoordeling)",
    "Portuguese": "Última modificação (nota) | Última atualização (avaliação)",
}
"""What each calls the column that says when a grade was changed last."""
GRADE = "Grade | Bewertung | Note | Calificación | Valutazione | Voto | Cijfer | Beoordeling | Nota | Avaliação"
CHANGEABLE = (
    "Grade can be changed | Bewertung kann geändert werden | La note peut être modifiée"
    " | La calificación puede ser cambiada | La valutazione può essere modificata | Cijfer kan gewijzigd worden"
    " | Beoordeling kan gewijzigd worden | Nota pode ser alterada | A nota pode ser alterada."
)
SCALE = "Scale | Skala | Barème | Escala | Scala | Schaal"
GROUP = "Group | Gruppe | Groupe | Grupo | Gruppo | Groep"
NO = {"no", "nein", "non", "nee", "não"}
DEDUCTS = "If the assignment has late penalties in Moodle (since 5.0), Moodle may subtract them again."
HOW = (
    "Moodle imports scores only from its own grading worksheet. In the assignment's settings, turn on 'Offline "
    "grading worksheet' (Feedback types). Then, in its list of submissions, choose 'Download grading worksheet'. "
    "Name that file with --into=FILE."
)


def _set(names: str) -> frozenset[str]:
    return frozenset(plain(name) for name in names.split(" | "))


@dataclass(frozen=True)
class Worksheet:
    """A grading worksheet: which column is which, and in what language."""

    sheet: Sheet
    language: str
    """Empty where it is none of LANGUAGES."""
    grade: int
    modified: int | None
    changeable: int | None

    @classmethod
    def read(cls, path: Path, column: str = "") -> Worksheet:
        """``column`` is the name of the column of grades. Raises CourseError, and OSError."""
        sheet = Sheet.read(path, escapes=True)
        columns = {name: sheet.place(_set(titles)) for name, titles in LANGUAGES.items()}
        language = next((name for name, position in columns.items() if position is not None), "")
        grade = sheet.place({plain(column)} if column else _set(GRADE))
        if grade is None or not (language or column):
            raise CourseError(
                f"{path} is not a known grading worksheet: its columns are {listed(tuple(sheet.header))}. {HOW} "
                f"Worksheets are known in {', '.join(LANGUAGES)}; in another language name the column for grades, as "
                "in --column='Grade'."
            )
        sheet.require_width()
        if sheet.place(_set(SCALE)) is not None:
            raise CourseError(
                f"The assignment of {path} uses a scale in Moodle, so it cannot have points. Set its grade to "
                "points in Moodle, and download the worksheet again."
            )
        return cls(sheet, language, grade, columns.get(language), sheet.place(_set(CHANGEABLE)))

    @cached_property
    def shown_mark(self) -> str:
        """What stands before decimals in grades and maxima; empty where there are none. Raises CourseError."""
        mark = number.mark_in(cell for row in self.sheet.rows.values() for cell in row[self.grade : self.grade + 2])
        if self.language == "English" and mark == ",":
            raise CourseError(
                f"{self.sheet.path} is in English but has commas as decimal points, so another program saved it. "
                "Moodle would read 7,5 as 7. Download the worksheet again, and do not open it in another program."
            )
        return mark

    @property
    def mark(self) -> str:
        """What to write before decimals: what the sheet shows, or else what the language has. Raises CourseError."""
        return self.shown_mark or ("." if self.language == "English" else ",")

    def maximum(self, line: int) -> Decimal | None:
        """The maximum, which stands behind the grade."""
        row = self.sheet.rows[line]
        return number.read(row[self.grade + 1]) if len(row) > self.grade + 1 else None

    def participants(self) -> dict[int, str]:
        """By line the number that the assignment has for each. Raises CourseError where there is none."""
        numbers = {}
        for line, row in self.sheet.rows.items():
            match = re.search(r"\d+$", row[0].strip())
            if not match:
                raise CourseError(
                    f"Line {line} of {self.sheet.path} begins with {plaintext.quoted(row[0])}, where Moodle has "
                    "'Participant 12345'. Download the worksheet again."
                )
            numbers[line] = match[0]
        return numbers

    def people(self) -> dict[int, Person]:
        places = self.sheet.places("moodle", ("first", "last", "name", "email", "sis", "login"))
        return {line: person_of(row, places) for line, row in self.sheet.rows.items()}

    def locked(self, line: int) -> bool:
        return self.changeable is not None and self.sheet.rows[line][self.changeable].strip().casefold() in NO

    def dated(self, line: int) -> bool:
        """Whether it says when the grade was changed last."""
        return self.modified is not None and bool(self.sheet.rows[line][self.modified].strip(" -"))


class MoodleExport(SystemExport):
    """The scores of one assignment for Moodle."""

    title, key = "Moodle", "moodle"
    participants = Dict(
        help="The student of each number in a blind assignment, as in {'12345': 'bitdiddle'}.",
        key_trait=Unicode(),
        value_trait=Unicode(),
    ).tag(config=True)

    def fill(self, marks: Marks, plan: Plan) -> None:
        worksheet, target = self._target(marks)
        plan.column = worksheet.sheet.header[worksheet.grade]
        lines = []

        def refusal(line: int, mark: Mark) -> str:
            maximum = worksheet.maximum(line)
            if worksheet.locked(line):
                return "its grade is locked in Moodle, so Moodle would ignore a new one"
            if maximum is not None and mark.points > maximum:
                score, most = number.written(mark.points), number.written(maximum)
                return f"{score} is more than the sheet's maximum of {most}; Moodle would ignore it"
            lines.append(line)
            return ""

        cells = target.cells(marks, plan, refusal)
        changed = worksheet.sheet.changed(worksheet.grade, cells)
        plan.write = lambda file: file.write(changed)
        maxima = [most for line in target.people if (most := worksheet.maximum(line)) is not None]
        plan.warnings += marks.warnings("The sheet", DEDUCTS, min(maxima, default=None))
        plan.warnings += self._stale(worksheet, [line for line in lines if line in cells])
        if not worksheet.shown_mark and worksheet.language != "English" and any("," in cell for cell in cells.values()):
            plan.warnings.append(
                "The worksheet does not show whether Moodle writes 7.5 or 7,5, so a comma was written. After the "
                "import, check in Moodle whether 7,5 became 7. If so, switch Moodle to English, download the "
                "worksheet, and export again."
            )
        if "0" in cells.values():
            plan.warnings.append(
                "Some scores are 0. New versions of Moodle may ignore zeros; check in Moodle that they arrived."
            )
        separator = {",": "comma", ";": "semicolon", "\t": "tab"}[worksheet.sheet.delimiter]
        language = f"in {worksheet.language}" if worksheet.language else "in the language of the worksheet"
        plan.following = (
            f"In Moodle, {language}: the assignment, 'Upload grading worksheet', encoding UTF-8, separator {separator}."
        )

    def hand_back(self, course: Course, marks: Marks, plan: Plan) -> None:
        worksheet, target = self._target(marks)
        if worksheet.sheet.place(_set(GROUP)) is not None:
            raise CourseError(
                f"{self.into} has a column of groups. In a group assignment Moodle may confuse a group's number "
                "with a student's, and show a page to the wrong student. Return the pages in another way."
            )
        plan.following = (
            "In Moodle: turn on 'Feedback files' in the assignment's settings. Then, in its list of submissions, "
            "choose 'Upload multiple feedback files in a zip'."
        )
        numbers = worksheet.participants()
        students = {student: numbers[line] for line, student in target.matched(marks, plan).items()}
        moodle_pages(students, course, marks, plan)

    def _target(self, marks: Marks) -> tuple[Worksheet, Target]:
        if not self.into:
            raise CourseError(HOW)
        worksheet = Worksheet.read(Path(self.into), self.column)
        numbers, people = worksheet.participants(), worksheet.people()
        students = {
            line: self.participants[participant]
            for line, participant in numbers.items()
            if participant in self.participants
        }
        if strange := sorted(set(students.values()) - marks.entries.keys()):
            raise CourseError(
                f"c.MoodleExport.participants names {plaintext.quoted(strange[0])}, but no student has this id. "
                "Correct it in nbgrader_config.py."
            )
        if not students and not any(person.name or any(person.keys.values()) for person in people.values()):
            raise CourseError(
                f"{self.into} has no names, because the assignment is graded blind. Reveal the students' "
                "identities in Moodle and download it again, or list the students in nbgrader_config.py: "
                "c.MoodleExport.participants = {'12345': 'bitdiddle'}"
            )
        return worksheet, Target(worksheet.sheet, worksheet.grade, people, worksheet.mark, known=students)

    def _stale(self, worksheet: Worksheet, lines: list[int]) -> Iterator[str]:
        """What is to be ticked where Moodle cannot read its own dates, which it can in English only."""
        dated = [line for line in lines if worksheet.dated(line)]
        if dated and worksheet.language != "English":
            yield (
                f"{len(dated)} rows already have a grade in Moodle. Moodle's import reads only English dates, so it "
                "would skip these rows. When you upload, turn on: allow updating records that have been modified "
                "more recently in Moodle than in the spreadsheet."
            )
