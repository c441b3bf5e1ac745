"""The sheet of one assignment's scores, as a format of ``viva export`` writes it.

A package adds formats through the door ``viva.sheets``: a ``SheetExport`` for one assignment, or another of nbgrader's
``ExportPlugin`` with ``name`` and ``write(rows, path)`` for all scores (``export.CsvExport``). A plan is made before
anything is written, so that it can be shown instead. nbgrader's own command runs the same plug-in:

    nbgrader export --exporter=viva_term.sheets.canvas.CanvasExport --assignment=ps1 --SheetExport.into=grades.csv
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from nbgrader.api import Gradebook
from nbgrader.coursedir import CourseDirectory
from nbgrader.plugins import ExportPlugin
from traitlets import Bool, Dict, Unicode

from viva import doors
from viva.cleaning import plaintext
from viva.course.course import Course
from viva.course.grades.export import CsvExport
from viva.course.processes import leftovers
from viva.verdict import CourseError, VivaError


@dataclass(frozen=True)
class Line:
    """What becomes of one student, or of one row of the sheet."""

    student: str
    name: str
    what: str


@dataclass
class Plan:
    """The plan of an export: the rows that it writes, and those that it leaves."""

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


class SheetExport(ExportPlugin):
    """The scores of one assignment, in one format."""

    title = ""
    key = ""
    """What --as calls the system."""
    suffix = ".csv"

    into = Unicode(help="A file that the learning system exported. The scores go into a copy of it.").tag(config=True)
    column = Unicode(help="The assignment in the learning system: its column, title or number.").tag(config=True)
    columns = Dict(
        help="--column for each assignment, as in {'ps1': 'Problem set 1 (1234)'}.",
        key_trait=Unicode(),
        value_trait=Unicode(),
    ).tag(config=True)
    raw = Bool(False, help="Write scores without late penalties.").tag(config=True)
    unfinished = Bool(False, help="Also write scores of students whose grading is not finished.").tag(config=True)
    feedback = Bool(False, help="Write the feedback pages as a zip, instead of the scores.").tag(config=True)
    archive = Unicode(help="The zip of submissions downloaded from Canvas, for --feedback.").tag(config=True)

    def export(self, gradebook: Gradebook) -> None:
        """What `nbgrader export` calls; says on its log what `viva export` prints."""
        course = Course(getattr(self.parent, "coursedir", None) or CourseDirectory(parent=self))
        names, students = [str(name) for name in self.assignment], [str(student) for student in self.student]
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
        """The plan of the sheet; ``student`` is an id, a glob or a list of ids. Raises CourseError, and OSError."""
        raise NotImplementedError


SHEETS = doors.Door(
    "viva.sheets",
    adds="a format of `viva export --as=`",
    entry="a subclass of `viva.course.grades.sheetplan.SheetExport` (one assignment), or of "
    "`viva.course.grades.export.CsvExport` (all scores)",
    packages=dict.fromkeys(("brightspace", "canvas", "gradescope", "json", "moodle", "xlsx"), "nbviva-term"),
)
OWN = {"csv": CsvExport}
"""The formats that need no other package."""


def formats() -> list[str]:
    """What --as can be."""
    return sorted({*OWN, *SHEETS.entries(OWN)})


def format_of(name: str) -> type[ExportPlugin]:
    """The plug-in of a format. Raises CourseError for one that does not exist, or cannot be loaded."""
    if name in OWN:
        return OWN[name]
    if name not in formats():
        advice = SHEETS.lacking(name) or f"Choose one of: {', '.join(formats())}."
        raise CourseError(f"There is no --as={plaintext.line(name)}. {advice}")
    return SHEETS.load(name)
