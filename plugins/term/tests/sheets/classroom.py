"""A course with a real gradebook, whose scores are written into it as grading would, and its students from a list."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from datetime import datetime, timedelta
from io import BytesIO
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from nbgrader.api import Gradebook

from plugins.term.tests.archives.given import numbered
from tests.conftest import PROJECT, load
from viva.verdict import CourseError
from viva_term.lms.rosterfile import Entry, Roster
from viva_term.sheets.sheetexport import Plan, SheetExport

PS = "ps1_test"
DUE = datetime(2026, 9, 14, 12, 0)


def found(root: Path) -> Path:
    """A course with one assignment of 20 automatic points and 5 by hand, and nobody in it."""
    cells = [new_code_cell("assert True", id="test"), new_markdown_cell("An answer.", id="written")]
    for cell, points in zip(cells, (20, 5), strict=True):
        flags = {"grade": True, "solution": cell.id == "written", "locked": cell.id == "test", "task": False}
        cell.metadata["nbgrader"] = {"grade_id": cell.id, "points": points, "schema_version": 3} | flags
    for step in ("source", "release"):
        (root / step / PS).mkdir(parents=True)
        nbformat.write(new_notebook(cells=cells), root / step / PS / "book.ipynb")
    shutil.copy(PROJECT / "nbgrader_config.py", root)
    with Gradebook(f"sqlite:///{root / 'gradebook.db'}") as gradebook:
        gradebook.add_assignment(PS, duedate=DUE)
        gradebook.add_notebook("book", PS)
        for name, most, cell_type in (("test", 20, "code"), ("written", 5, "markdown")):
            gradebook.add_source_cell(name, "book", PS, cell_type=cell_type, locked=cell_type == "code", source="")
            gradebook.add_grade_cell(name, "book", PS, max_score=most, cell_type=cell_type)
    return root


def grade(root: Path, student: str, score: float, days_late: int = 0, waits: bool = False) -> None:
    """A submission with this score, of which what the tests cannot give was given by hand."""
    with Gradebook(f"sqlite:///{root / 'gradebook.db'}") as gradebook:
        _grade(gradebook, student, score, days_late, waits)


def grade_all(root: Path, scores: Mapping[str, tuple[float, int]]) -> None:
    """By student the score, and how many days late."""
    with Gradebook(f"sqlite:///{root / 'gradebook.db'}") as gradebook:
        for student, (score, days_late) in scores.items():
            _grade(gradebook, student, score, days_late)


def _grade(gradebook: Gradebook, student: str, score: float, days_late: int, waits: bool = False) -> None:
    when = DUE + (timedelta(days=days_late, hours=-1) if days_late else -timedelta(hours=1))
    gradebook.update_or_create_submission(PS, student, timestamp=when)
    marks = {one.name: one for one in gradebook.find_submission_notebook("book", PS, student).grades}
    marks["test"].auto_score, marks["test"].needs_manual_grade = min(score, 20.0), False
    marks["written"].needs_manual_grade = waits
    marks["written"].manual_score = None if waits else score - min(score, 20.0)
    gradebook.db.commit()


def page(root: Path, student: str) -> Path:
    """A student's feedback page."""
    path = root / "feedback" / student / PS / "book.html"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"<p>for {student}</p>", encoding="utf-8")
    return path


def enter(root: Path, *entries: Entry) -> None:
    """Read a list of these students into the course."""
    course = load(root)[0]
    roster = Roster.of(course)
    roster.write(course, roster.compared(entries))
    numbered(root, entries)


def planned(root: Path, exporter: type[SheetExport], student: str = "*", **options) -> tuple[Plan, bytes]:
    """What an exporter plans, and the bytes it would write."""
    course = load(root)[0]
    with course.gradebook() as gradebook:
        plan = exporter(**options).plan(course, gradebook, PS, student)
    file = BytesIO()
    plan.write(file)
    return plan, file.getvalue()


def refused(root: Path, exporter: type[SheetExport], **options) -> str:
    """The sentence with which an exporter refuses."""
    with pytest.raises(CourseError) as error:
        planned(root, exporter, **options)
    assert str(error.value).endswith((".", "'", "}"))
    return str(error.value)
