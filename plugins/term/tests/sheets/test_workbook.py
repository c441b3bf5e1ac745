"""All scores as a workbook, read as a spreadsheet reads it."""

from __future__ import annotations

import json

from nbgrader.api import Gradebook

from plugins.term.tests.sheets.classroom import grade
from plugins.term.tests.sheets.importers import workbook
from tests.conftest import load
from viva.course.gradebook import health
from viva.course.grades.export import COLUMNS, scores
from viva_term.sheets.workbook import JsonExport, WorkbookExport


def test_numbers_are_numbers_and_no_text_is_a_formula(course, tmp_path):
    names = {"a": "=HYPERLINK(1)", "b": "@sum", "c": "Zoë 🙂\x07", "d": "#REF!", "e": "007", "f": "ليلى"}
    with Gradebook(f"sqlite:///{course / 'gradebook.db'}") as gradebook:
        for student, name in names.items():
            gradebook.add_student(student, last_name=name, first_name="1E5", email=None)
    grade(course, "a", 20.5, days_late=1)
    known = load(course)[0]
    health.settle(known)
    with known.gradebook() as gradebook:
        rows = list(scores(known, gradebook))
    next(row for row in rows if row["student_id"] == "b")["reason"] = "=1+1"  # whatever it says, it is text
    WorkbookExport().write(rows, tmp_path / "grades.xlsx")
    head, *cells = workbook((tmp_path / "grades.xlsx").read_bytes())
    assert [text for _, text in head] == list(COLUMNS) and {cell_type for cell_type, _ in head} == {"s"}
    found = {dict(zip(COLUMNS, row, strict=False))["student_id"][1]: row for row in cells}
    assert {cell_type for row in cells for cell_type, _ in row} <= {"n", "s", "b", "d"}
    last = {student: row[COLUMNS.index("last_name")] for student, row in found.items()}
    assert last["a"] == ("s", "'=HYPERLINK(1)") and last["e"] == ("s", "007") and last["d"] == ("s", "#REF!")
    assert last["c"] == ("s", "Zoë 🙂\N{REPLACEMENT CHARACTER}") and last["f"] == ("s", "ليلى")
    score = {name: found["a"][COLUMNS.index(name)] for name in COLUMNS}
    assert score["raw_score"] == ("n", "20.5") and score["score"][0] == "n"
    assert abs(float(score["score"][1]) - 18.45) < 1e-9
    assert score["needs_manual_grade"] == ("b", "0") and score["timestamp"][0] in "nd"
    assert found["b"][COLUMNS.index("score")] == ("n", "")
    assert found["b"][COLUMNS.index("reason")] == ("s", "'=1+1")


def test_numbers_are_numbers_and_times_iso(course, tmp_path):
    with Gradebook(f"sqlite:///{course / 'gradebook.db'}") as gradebook:
        gradebook.add_student("a", last_name="Zoë 🙂", first_name="-")
        gradebook.add_student("b")
    grade(course, "a", 20.5)
    known = load(course)[0]
    with known.gradebook() as gradebook:
        JsonExport().write(scores(known, gradebook), tmp_path / "grades.json")
    rows = json.loads((tmp_path / "grades.json").read_text(encoding="utf-8"))
    first, second = sorted(rows, key=lambda row: row["student_id"])
    assert tuple(first) == COLUMNS == tuple(second)
    assert (first["score"], first["last_name"], first["needs_manual_grade"]) == (20.5, "Zoë 🙂", False)
    assert first["first_name"] == "-"  # nothing computes what stands in JSON, so a name stays what it is
    assert (first["timestamp"], second["score"], second["status"]) == ("2026-09-14T11:00:00", None, "not handed in")
