"""The gradebook as rows and as CSV."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from nbgrader.api import Gradebook
from nbgrader.coursedir import CourseDirectory
from nbgrader.plugins import ExportPlugin

from viva.cleaning import plaintext
from viva.course.course import Course
from viva.course.gradebook import classbook
from viva.course.gradebook.classbook import Mark
from viva.course.grades.standing import Standings, Status
from viva.course.processes import leftovers
from viva.course.table import csv_text

SCORES = (
    "code_score", "written_score", "raw_score", "late_submission_penalty", "score", "needs_manual_grade",
    "seconds_late",
)  # fmt: skip
COLUMNS = (
    "assignment", "duedate", "timestamp", "student_id", "last_name", "first_name", "email",
    "code_score", "max_code_score", "written_score", "max_written_score",
    "raw_score", "late_submission_penalty", "score", "max_score", "needs_manual_grade",
    "seconds_late", "status", "reason",
)  # fmt: skip

CHOSEN = ("last_name", "first_name", "email")
"""Columns whose text a student may have chosen in a learning system."""
REASON = 1000
"""Characters of a reason."""


def scores(
    course: Course, gradebook: Gradebook, assignments: Sequence[str] = (), student: str | list[str] = "*"
) -> Iterator[dict]:
    """One row, with the keys COLUMNS, for each assignment and student; no assignments mean all.

    ``student`` is an id, a glob or a list of ids. ``written`` covers written answers and tasks, all of which are
    graded by hand; as in nbgrader, a code cell graded by hand counts as code. ``score`` is ``raw_score`` less the
    penalty. SCORES are None for who was not graded, or is excused; ``status`` and ``reason`` say which. Who handed
    in something that cannot be graded has a row also when the gradebook does not know them.
    """
    by_name = sorted(gradebook.assignments, key=lambda assignment: assignment.name)
    chosen_assignments = [assignment for assignment in by_name if not assignments or assignment.name in assignments]
    standings = Standings(course, gradebook, [assignment.name for assignment in chosen_assignments])
    chosen = set(standings.chosen(student) if isinstance(student, str) else student or standings.students)
    entered = {student_row.id: student_row for student_row in gradebook.students}
    for assignment in chosen_assignments:
        marks = classbook.marks(gradebook, assignment.name)
        most = {
            "max_score": assignment.max_score,
            "max_code_score": assignment.max_code_score,
            "max_written_score": assignment.max_written_score + assignment.max_task_score,
        }
        for who in standings.students:
            if who not in chosen:
                continue
            standing, entry = standings.of(assignment.name, who), entered.get(who)
            row = dict.fromkeys(COLUMNS)
            row |= {"assignment": assignment.name, "duedate": assignment.duedate, "timestamp": standing.handed_in}
            row |= {"student_id": who if entry else plaintext.line(who)}
            row |= {name: getattr(entry, name, None) for name in CHOSEN}
            row |= most | {"status": str(standing.status), "reason": plaintext.line(standing.reason, REASON)}
            graded = standing.status == Status.GRADED and who in marks  # or it was removed while this ran
            yield row | (_scores(marks[who]) if graded else {})


def _scores(mark: Mark) -> dict:
    score, late = max(0.0, mark.raw - mark.penalty), round(mark.seconds_late)
    return dict(zip(SCORES, (mark.code, mark.written, mark.raw, mark.penalty, score, mark.waiting, late), strict=True))


class CsvExport(ExportPlugin):
    """nbgrader's CSV export, every value quoted, for the ``--exporter`` of ``nbgrader export``."""

    name = "grades.csv"
    """The file, where ``to`` names none."""

    def export(self, gradebook: Gradebook) -> None:
        """Write the rows of ``scores``."""
        course = Course(getattr(self.parent, "coursedir", None) or CourseDirectory(parent=self))
        names, students = [str(name) for name in self.assignment], [str(student) for student in self.student]
        self.write(scores(course, gradebook, names, students or "*"), Path(self.to or self.name))

    def write(self, rows: Iterable[dict], path: Path) -> None:
        """The rows of ``scores`` as a file."""
        leftovers.write(path, csv_text(COLUMNS, (map(row.get, COLUMNS) for row in rows)))
