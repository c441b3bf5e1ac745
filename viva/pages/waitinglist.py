"""The submissions of a notebook that wait for a grader, in the order in which formgrader goes through them."""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Sequence
from pathlib import Path

from nbgrader.api import BaseCell, Grade, Gradebook, SubmittedNotebook
from nbgrader.coursedir import CourseDirectory


def waiting(gradebook: Gradebook, notebook: str, question: str = "") -> list[str]:
    """The ids of a notebook's submissions that wait for a grader, of all questions or of one."""
    query = gradebook.db.query(SubmittedNotebook.id).filter(SubmittedNotebook.notebook_id == notebook)
    query = query.join(Grade, Grade.notebook_id == SubmittedNotebook.id).filter(Grade.needs_manual_grade)
    if question:
        query = query.join(BaseCell, BaseCell.id == Grade.cell_id).filter(BaseCell.name == question)
    return sorted({key for (key,) in query})


def after(ids: Sequence[str], current: str) -> list[str]:
    """All but one, those behind it first; after the last comes the first."""
    rest = [key for key in ids if key != current]
    return [key for key in rest if key > current] + [key for key in rest if key < current]


def by_question(gradebook: Gradebook, notebook: str) -> dict[str, int]:
    """By graded cell of a notebook, how many submissions wait for a grader there."""
    query = gradebook.db.query(BaseCell.name).join(Grade, BaseCell.id == Grade.cell_id)
    query = query.join(SubmittedNotebook, SubmittedNotebook.id == Grade.notebook_id)
    query = query.filter(SubmittedNotebook.notebook_id == notebook, Grade.needs_manual_grade)
    counts: dict[str, int] = {}
    for (name,) in query:
        counts[name] = counts.get(name, 0) + 1
    return counts


def version_of(directory: CourseDirectory, submitted: SubmittedNotebook) -> str:
    """Tells the graded notebook that a page shows from one that was graded later; empty where there is none."""
    student, assignment = submitted.student.id, submitted.assignment.assignment.name
    folder = directory.format_path(directory.autograded_directory, student, assignment)
    with contextlib.suppress(OSError):
        text = Path(directory.root, folder, f"{submitted.notebook.name}.ipynb").read_bytes()
        return hashlib.sha256(text).hexdigest()[:16]
    return ""
