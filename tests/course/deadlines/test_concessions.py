"""Excuses and extensions in the course's files."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from viva.course.deadlines import concessions
from viva.course.deadlines.concessions import Concessions
from viva.verdict import CourseError

BERLIN = ZoneInfo("Europe/Berlin")


def test_a_course_without_files_grants_nothing(tmp_path):
    assert Concessions.of(tmp_path, BERLIN) == Concessions(None, {})


def test_extensions_are_in_the_courses_zone_or_their_own_as_a_spreadsheet_saves_them(tmp_path):
    (tmp_path / "extensions.csv").write_text(
        "\ufeffassignment;student_id;until;reason\nps1;anna;2026-10-09 23:59;ill\nps2;bo;2026-10-09 23:59 UTC;\n"
    )
    (tmp_path / "excused.csv").write_text("assignment,student_id,reason\nps1,cy,<b>ill</b>\n")
    found = Concessions.of(tmp_path, BERLIN)
    assert found.extensions == {
        ("ps1", "anna"): datetime(2026, 10, 9, 21, 59, tzinfo=UTC),
        ("ps2", "bo"): datetime(2026, 10, 9, 23, 59, tzinfo=UTC),
    }
    assert list(found.excused) == [("ps1", "cy")]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "cp1252"])
def test_a_spreadsheet_may_save_them_in_any_encoding_and_with_tabs(tmp_path, encoding):
    text = "assignment\tstudent_id\tuntil\treason\nps1\tanna\t2026-10-09 23:59\tF\u00f6hr\n"
    (tmp_path / "extensions.csv").write_bytes(text.encode(encoding))
    (row,) = concessions.rows(tmp_path / "extensions.csv").values()
    assert (row["until"], row["reason"]) == ("2026-10-09 23:59", "F\u00f6hr")


def test_an_edited_file_counts_at_once(tmp_path):
    path = tmp_path / "extensions.csv"
    rows = {("ps1", "anna"): {"assignment": "ps1", "student_id": "anna", "until": "2026-10-09 23:59", "reason": "a, b"}}
    concessions.write(path, rows)
    assert concessions.rows(path) == rows
    assert len(Concessions.of(tmp_path, BERLIN).extensions) == 1
    concessions.write(path, {})
    assert Concessions.of(tmp_path, BERLIN).extensions == {}


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "extensions.csv is empty.* the columns assignment,student_id,until,reason"),
        ("assignment,student_id,until\nps1,anna,2026-10-09 23:59,ill, again\n", "Line 2 of .* has 5 cells"),
        ('assignment,student_id,until\nps1,"anna,2026-10-09 23:59\n', "extensions.csv is damaged"),
        ("assignment,student_id\nps1,anna\n", "must name the columns assignment,student_id,until,reason"),
        (
            "assignment,student_id,until\nps1,,2026-10-09 23:59\n",
            "Line 2 of .*: the assignment or the student is missing",
        ),
        ("assignment,student_id,until\nps1,anna,Friday\n", "extends ps1 for 'anna': 'Friday' is not a date and time"),
        ("assignment,student_id,until\nps1,anna\n", "extends ps1 for 'anna': '' is not a date and time"),
    ],
)
def test_a_file_that_is_none_is_refused_in_a_sentence(tmp_path, text, sentence):
    (tmp_path / "extensions.csv").write_text(text)
    with pytest.raises(CourseError, match=sentence):
        Concessions.of(tmp_path, BERLIN)
