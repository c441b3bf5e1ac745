"""Scores in the form of Gradescope's lists, for programs that read such lists. Gradescope reads no scores itself."""

from __future__ import annotations

from viva.course.grades.standing import Status
from viva.course.table import csv_text
from viva.verdict import CourseError
from viva_term.sheets import number
from viva_term.sheets.marks import Mark, Marks
from viva_term.sheets.sheetexport import Line, Plan, SystemExport, left_out

COLUMNS = (
    "First Name", "Last Name", "SID", "Email", "Sections", "Total Score", "Max Points", "Status", "Submission Time",
    "Lateness (H:M:S)",
)  # fmt: skip
GRADED, UNGRADED, MISSING = "Graded", "Ungraded", "Missing"


class GradescopeExport(SystemExport):
    """The scores of one assignment in Gradescope's columns."""

    title, key = "Gradescope", "gradescope"

    def fill(self, marks: Marks, plan: Plan) -> None:
        if self.into:
            raise CourseError(f"--as={self.key} writes a new file, without --into.")
        plan.column = "Total Score"
        plan.following = (
            "Gradescope cannot import scores. The file is for other programs that find students by SID or Email."
        )
        plan.written += [Line(mark.student, mark.entry.name, number.written(mark.points)) for mark in marks.scored]
        left_out(marks.by.values(), plan)
        rows = (_row(mark, number.written(marks.maximum)) for mark in marks.by.values())
        data = csv_text(COLUMNS, rows).encode()
        plan.write = lambda file: file.write(data)
        plan.warnings += marks.warnings("Gradescope")


def _row(mark: Mark, maximum: str) -> list[str]:
    entry, when, late = mark.entry, mark.row["timestamp"], mark.row["seconds_late"] or 0
    names = entry.first_name, entry.last_name, entry.lms_user_id or entry.id, entry.email, entry.section
    score = number.written(mark.score) if mark.score is not None else ""
    nothing = mark.row["status"] in (Status.MISSING, Status.EXCUSED)
    status = GRADED if score else MISSING if nothing else UNGRADED
    time = f"{when:%Y-%m-%d %H:%M:%S} +0000" if when else ""  # nbgrader keeps UTC
    lateness = f"{late // 3600:02}:{late // 60 % 60:02}:{late % 60:02}"
    return [*names, score, maximum, status, time, lateness]
