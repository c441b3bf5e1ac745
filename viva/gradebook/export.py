"""The gradebook as rows and as CSV."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path

from nbgrader.api import Gradebook, MissingEntry
from nbgrader.plugins import ExportPlugin

from viva.processes import leftovers

COLUMNS = (
    "assignment", "duedate", "timestamp", "student_id", "last_name", "first_name", "email",
    "code_score", "max_code_score", "written_score", "max_written_score",
    "raw_score", "late_submission_penalty", "score", "max_score", "needs_manual_grade",
)  # fmt: skip


def scores(gradebook: Gradebook, assignments: list[str] = (), students: list[str] = ()) -> Iterator[dict]:
    """One row, with the keys COLUMNS, for each assignment and student; empty lists mean all.

    ``written`` covers written answers and tasks, all of which are graded by hand; as in nbgrader, a code
    cell graded by hand counts as code. ``score`` is ``raw_score`` less the penalty. A
    student who handed nothing in has a score of zero, as in nbgrader's own export, and no entry for
    ``timestamp`` and ``needs_manual_grade``.
    """
    for assignment in sorted(gradebook.assignments, key=lambda assignment: assignment.name):
        if assignments and assignment.name not in assignments:
            continue
        for student in gradebook.students:
            if students and student.id not in students:
                continue
            row = dict.fromkeys(COLUMNS, 0.0)
            row |= {"timestamp": "", "needs_manual_grade": ""}
            row |= {"assignment": assignment.name, "duedate": assignment.duedate, "student_id": student.id}
            row |= {"last_name": student.last_name, "first_name": student.first_name, "email": student.email}
            row |= {
                "max_score": assignment.max_score,
                "max_code_score": assignment.max_code_score,
                "max_written_score": assignment.max_written_score + assignment.max_task_score,
            }
            try:
                submission = gradebook.find_submission(assignment.name, student.id)
            except MissingEntry:
                pass
            else:
                penalty = submission.late_submission_penalty or 0.0
                row |= {
                    "timestamp": submission.timestamp or "",
                    "code_score": submission.code_score,
                    "written_score": submission.written_score + submission.task_score,
                    "raw_score": submission.score,
                    "late_submission_penalty": penalty,
                    "score": max(0.0, submission.score - penalty),
                    "needs_manual_grade": submission.needs_manual_grade,
                }
            yield {key: "" if value is None else value for key, value in row.items()}


class CsvExport(ExportPlugin):
    """nbgrader's CSV export, every value quoted: `nbgrader export --exporter viva.gradebook.export.CsvExport`."""

    def export(self, gradebook: Gradebook) -> None:
        """Write the rows of ``scores`` to the file ``to`` (grades.csv)."""
        with leftovers.whole(Path(self.to or "grades.csv"), newline="") as file:
            writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
            writer.writeheader()
            writer.writerows(scores(gradebook, [str(name) for name in self.assignment], [str(s) for s in self.student]))
