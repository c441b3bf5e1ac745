"""What collecting left out of submitted/ and knows the sender of: rows of ``unmatched/<assignment>.csv`` with a reason.

Who collects writes them. They end when the row's folder is removed, or its sender sends something that is collected.
"""

from __future__ import annotations

from collections import defaultdict

from viva.course.course import Course
from viva.course.table import Table

UNMATCHED = "unmatched"


def reasons(course: Course, assignment: str) -> dict[str, str]:
    """By student, why something that they sent was left out. Raises CourseError where the list cannot be read."""
    path = course.root / UNMATCHED / f"{assignment}.csv"
    found: dict[str, list[str]] = defaultdict(list)
    if path.exists():
        table = Table.read(path)
        for cells in table.rows.values():
            row = dict(zip(table.header, cells, strict=False))
            if row.get("reason") and (path.with_suffix("") / row["folder"]).is_dir():
                for student in filter(None, row.get("student", "").split("/")):
                    found[student].append(row["reason"])
    return {student: "; ".join(some) for student, some in found.items()}
