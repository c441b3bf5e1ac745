"""All scores as JSON."""

from __future__ import annotations

import json

from nbgrader.api import Gradebook

from tests.conftest import load
from tests.term.sheets.classroom import grade
from viva.course.gradebook.export import COLUMNS, scores
from viva.term.sheets.document import JsonExport


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
