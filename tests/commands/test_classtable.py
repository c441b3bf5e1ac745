"""The table of the class at the terminal."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from viva.commands.classtable import class_tables
from viva.course.gradebook.standing import Status

STUDENTS = ["demo-01", "anna-katharina.von-der-heide@students.example.org"]
ASSIGNMENTS = [f"ps{number}_name" for number in range(1, 9)]


def printed(width: int) -> tuple[str, int]:
    known = {"status": Status.GRADED, "score": 12.5, "max_score": 25.0}
    known |= {"seconds_late": 1, "needs_manual_grade": True}
    rows = [known | {"student_id": student, "assignment": name} for student in STUDENTS for name in ASSIGNMENTS]
    console = Console(width=width, record=True, file=io.StringIO())
    tables = class_tables(rows, ASSIGNMENTS, console)
    for table in tables:
        console.print(table)
    return console.export_text(), len(tables)


@pytest.mark.parametrize("width", [80, 100, 200])
def test_no_name_and_no_score_is_cut_off_whatever_the_screen(width):
    text, tables = printed(width)
    assert "…" not in text
    assert text.count("(12.5*)") == len(STUDENTS) * len(ASSIGNMENTS)
    assert text.count(STUDENTS[1]) == tables and text.count("demo-01") == tables
    assert text.count("(100)") == len(STUDENTS), "a total with a score that waits is as open as that"
    assert text.count("total") == 1 and text.count(" 200 ") == 1
    assert (tables == 1) == (width == 200)


def test_a_screen_too_narrow_for_a_name_folds_it():
    text, tables = printed(40)
    assert "…" not in text and tables == len(ASSIGNMENTS)
