"""What all exports to learning systems have in common: a plan of what is written, and nbgrader's plugin that makes it.

A plan is made before anything is written, so that it can be shown instead. nbgrader's own command runs the same:

    nbgrader export --exporter=viva.term.sheets.canvas.CanvasExport --assignment=ps1 --SheetExport.into=grades.csv
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from nbgrader.api import Gradebook
from nbgrader.coursedir import CourseDirectory
from nbgrader.plugins import ExportPlugin
from traitlets import Bool, Dict, Unicode

from viva.cleaning import plaintext
from viva.course.course import Course
from viva.course.processes import leftovers
from viva.term.sheets import number
from viva.term.sheets.identity import Identities, Person
from viva.term.sheets.marks import Mark, Marks
from viva.term.sheets.sheet import Sheet
from viva.verdict import CourseError, VivaError


@dataclass(frozen=True)
class Line:
    """What becomes of one student, or of one row of the sheet."""

    student: str
    name: str
    what: str


@dataclass
class Plan:
    """What an export writes, and whom it leaves as they are."""

    path: Path
    title: str
    assignment: str
    column: str = ""
    written: list[Line] = field(default_factory=list)
    """Who gets what, where the sheet had nothing."""
    replaced: list[Line] = field(default_factory=list)
    """Who gets what in place of what."""
    unchanged: list[Line] = field(default_factory=list)
    """Whose cell says so already."""
    left: list[Line] = field(default_factory=list)
    """Whose cell stays as it is, and why."""
    absent: list[Line] = field(default_factory=list)
    """Students with a score whom the sheet does not name."""
    strangers: list[Line] = field(default_factory=list)
    """Rows that are about nobody in the course, or about nobody certain."""
    warnings: list[str] = field(default_factory=list)
    following: str = ""
    """How to import it."""
    write: Callable[[BinaryIO], object] = field(default=lambda file: None, repr=False)

    def save(self) -> None:
        """Write the file, whole or not at all. Raises OSError."""
        with leftovers.whole(self.path) as file:
            self.write(file.buffer)


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
        found, doubts = Identities(marks.entries).of(rest)
        for line in [line for line, student in found.items() if student in self.known.values()]:
            doubts[line] = f"may be {plaintext.quoted(found.pop(line))}, who also has another row"
        for line, why in sorted(doubts.items()):
            what = f"line {line} {why}" if why else f"line {line} does not match an enrolled student"
            plan.strangers.append(Line("", self.people[line].called, what))
        found |= {line: student for line, student in self.known.items() if line in self.people}
        if plan.strangers and not found:
            why = plan.strangers[0].what
            raise CourseError(
                f"Nothing was written: no row of {self.sheet.path} clearly matches a student of this course. "
                f"{why[0].upper()}{why[1:]}. Read the roster of {plan.title} with 'viva roster FILE', so that "
                "numbers, logins or addresses match."
            )
        return found

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


class SheetExport(ExportPlugin):
    """The scores of one assignment for one learning system."""

    title = ""
    key = ""
    """What --as calls the system."""
    suffix = ".csv"

    into = Unicode(help="The file exported by the system; the scores are written into a copy.").tag(config=True)
    column = Unicode(help="The name of the assignment in the system: its column, title or number.").tag(config=True)
    columns = Dict(
        help="The same for each assignment, as in {'ps1': 'Problem set 1 (1234)'}.",
        key_trait=Unicode(),
        value_trait=Unicode(),
    ).tag(config=True)
    raw = Bool(False, help="Write scores without late penalties.").tag(config=True)
    unfinished = Bool(False, help="Also write scores that are not final, because grading is not finished.").tag(
        config=True
    )
    feedback = Bool(False, help="Write the feedback pages as a zip, instead of the scores.").tag(config=True)
    archive = Unicode(help="The zip of submissions from Canvas, for --feedback.").tag(config=True)

    def export(self, gradebook: Gradebook) -> None:
        """What `nbgrader export` calls; says on its log what `viva export` prints."""
        course = Course(getattr(self.parent, "coursedir", None) or CourseDirectory(parent=self))
        names, students = [str(name) for name in self.assignment], [str(one) for one in self.student]
        try:
            if len(names) != 1:
                raise CourseError("Name one assignment, as in --assignment=ps1; each has its own file.")
            plan = self.plan(course, gradebook, names[0], students or "*")
            plan.save()
        except VivaError as error:
            self.log.error("%s", error)
            raise SystemExit(1) from error
        for sentence in filter(None, (*plan.warnings, plan.following)):
            self.log.warning("%s", sentence)
        self.log.info("%d scores are in %s", len(plan.written) + len(plan.replaced), plan.path)

    def plan(self, course: Course, gradebook: Gradebook, assignment: str, student: str | list[str] = "*") -> Plan:
        """What would be written. Raises CourseError, and OSError."""
        if self.archive and not (self.feedback and self.key == "canvas"):
            raise CourseError(
                "--archive needs --as=canvas --feedback: pages are returned beside the files in that zip."
            )
        if assignment not in [one.name for one in gradebook.assignments]:
            raise CourseError(f"{assignment} is not in the gradebook. Run 'viva release {assignment}' first.")
        marks = Marks.of(course, gradebook, assignment, student, self.raw, self.unfinished)
        name = f"{assignment}-{self.key}-feedback.zip" if self.feedback else f"{assignment}-{self.key}{self.suffix}"
        plan = Plan(course.root / (self.to or name), self.title, assignment)
        for given in filter(None, (self.into, self.archive)):
            if not self.to and plan.path.exists() and Path(given).exists() and plan.path.samefile(given):
                raise CourseError(f"The result would overwrite {given}. Name another file with --to=FILE.")
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
