"""The common part of all exports to learning systems: the row of each student, and the plan of what is written."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from nbgrader.api import Gradebook

from viva.cleaning import plaintext
from viva.course.course import Course
from viva.course.grades.sheetplan import Line, Plan, SheetExport
from viva.verdict import CourseError
from viva_term.sheets import number
from viva_term.sheets.identity import Identities, Person
from viva_term.sheets.marks import Mark, Marks
from viva_term.sheets.sheet import Sheet


@dataclass(frozen=True)
class Target:
    """A column of a system's sheet that scores go into, and who the rows below it are about."""

    sheet: Sheet
    place: int
    people: Mapping[int, Person]
    mark: str = "."
    """What stands before decimals."""
    excuse: str = ""
    """What the system writes for who is excused; empty where it has no word for it."""
    known: Mapping[int, str] = field(default_factory=dict)
    """Students by line, where the course says who is who."""

    def matched(self, marks: Marks, plan: Plan) -> dict[int, str]:
        """By line the student; the plan gets the rows without a certain student.

        Raises CourseError where all are.
        """
        rest = {line: person for line, person in self.people.items() if line not in self.known}
        students, doubts = Identities(marks.entries).of(rest)
        for line in [line for line, student in students.items() if student in self.known.values()]:
            doubts[line] = f"may be {plaintext.quoted(students.pop(line))}, who also has another row"
        for line, why in sorted(doubts.items()):
            problem = f"line {line} {why}" if why else f"line {line} does not match an enrolled student"
            plan.strangers.append(Line("", self.people[line].called, problem))
        students |= {line: student for line, student in self.known.items() if line in self.people}
        if plan.strangers and not students:
            why = plan.strangers[0].what
            raise CourseError(
                f"Nothing was written, because no row of {self.sheet.path} clearly belongs to a student of this "
                f"course. {why[0].upper()}{why[1:]}. Read the roster of {plan.title} with 'viva roster FILE', so "
                "that Viva knows the numbers, logins or addresses."
            )
        return students

    def cells(self, marks: Marks, plan: Plan, refusal: Callable[[int, Mark], str]) -> dict[int, str]:
        """By line what is to be written; the plan gets every student. ``refusal`` says why a row is left."""
        cells, named = {}, set()
        for line, student in sorted(self.matched(marks, plan).items()):
            named.add(student)
            if student not in marks.by:  # another was asked for
                continue
            mark, name = marks.by[student], self.people[line].called
            before = self.sheet.cells[line][self.place].text.strip()
            after = self.excuse if mark.excused and self.excuse else ""
            after = number.written(mark.score, self.mark) if mark.score is not None else after
            same = before == after or (mark.score is not None and number.read(before) == mark.score)
            if not after:
                plan.left.append(Line(student, name, mark.why))
            elif same:
                plan.unchanged.append(Line(student, name, before))
            elif why := refusal(line, mark):
                plan.left.append(Line(student, name, why))
            else:
                cells[line] = after
                into = plan.replaced if before else plan.written
                into.append(Line(student, name, f"{before} → {after}" if before else after))
        for mark in marks.scored:
            if mark.student not in named:
                plan.absent.append(Line(mark.student, mark.entry.name, number.written(mark.points, self.mark)))
        return cells


class SystemExport(SheetExport):
    """The scores of one assignment for one learning system."""

    def plan(self, course: Course, gradebook: Gradebook, assignment: str, student: str | list[str] = "*") -> Plan:
        """What would be written. Raises CourseError, and OSError."""
        if self.archive and not (self.feedback and self.key == "canvas"):
            raise CourseError(
                "--archive works only together with --as=canvas --feedback. It names the zip of submissions from "
                "Canvas."
            )
        if assignment not in [entry.name for entry in gradebook.assignments]:
            raise CourseError(f"{assignment} is not in the gradebook. Run 'viva release {assignment}' first.")
        marks = Marks.of(course, gradebook, assignment, student, self.raw, self.unfinished, self.key)
        name = f"{assignment}-{self.key}-feedback.zip" if self.feedback else f"{assignment}-{self.key}{self.suffix}"
        plan = Plan(course.root / (self.to or name), self.title, assignment)
        for file in filter(None, (self.into, self.archive)):
            if not self.to and plan.path.exists() and Path(file).exists() and plan.path.samefile(file):
                raise CourseError(f"The result would overwrite {file}. Name another file with --to=FILE.")
        if self.feedback:
            self.hand_back(course, marks, plan)
        else:
            self.fill(marks, plan)
        return plan

    def fill(self, marks: Marks, plan: Plan) -> None:
        """Plan the sheet of scores. Raises CourseError."""
        raise NotImplementedError

    def hand_back(self, course: Course, marks: Marks, plan: Plan) -> None:
        """Plan the zip of feedback pages. Raises CourseError where the system takes none."""
        raise CourseError(
            f"{self.title} cannot import feedback pages from Viva; --feedback needs --as=canvas or --as=moodle."
        )

    def called(self, assignment: str) -> str:
        """What the system calls an assignment, as far as somebody said so."""
        return self.column or self.columns.get(assignment, "")


def left_out(marks: Iterable[Mark], plan: Plan) -> None:
    """Tell the plan of everybody whose score is not written, and why."""
    plan.left += [Line(mark.student, mark.entry.name, mark.why) for mark in marks if mark.why]
