"""Feedback pages as Moodle and Canvas take them back."""

from __future__ import annotations

import zipfile
from io import BytesIO

import pytest

from plugins.term.tests.sheets.classroom import PS, enter, grade, page, planned, refused
from plugins.term.tests.sheets.importers import canvas_comments, moodle_pages
from plugins.term.tests.sheets.test_canvas import KING, LEE1, LEE2, ZOE, sheet
from plugins.term.tests.sheets.test_moodle import HEAD, JANE, ROWS, merged, worksheet
from plugins.term.tests.sheets.test_moodle import LEE1 as FIRST
from plugins.term.tests.sheets.test_moodle import LEE2 as SECOND
from tests.conftest import load
from viva_term.archives.ledger import Ledger, Row
from viva_term.sheets.canvas import CanvasExport
from viva_term.sheets.moodle import MoodleExport


@pytest.fixture
def taught(course):
    """Students of Canvas."""
    enter(course, KING, ZOE, LEE1, LEE2)
    for one in (KING, ZOE, LEE1, LEE2):
        grade(course, one.id, 3.0)
    return course


@pytest.fixture
def participants(course):
    """Students of Moodle."""
    enter(course, JANE, FIRST, SECOND)
    for one in (JANE, FIRST, SECOND):
        grade(course, one.id, 20.5)
    return course


def answered(course, *names: str):
    path = course / "submissions.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for name in names:
            archive.writestr(name, b"x")
    return {"feedback": True, "archive": str(path)}


def test_pages_go_back_beside_the_files_that_canvas_gave(taught):
    for one in (KING, ZOE, LEE1):
        page(taught, one.id)
    grade(taught, "alee1", 3.0, waits=True)
    names = ["kingmartinjr_101_501_book.ipynb", "kingmartinjr_101_502_data.csv", "oneilzo_LATE_102_503_book-1.ipynb"]
    names += ["leeanna_103_504_book.ipynb", "leeanna_104_505_book.ipynb", "who_999_506_book.ipynb", "x_104_text.html"]
    names += ["anon_101_507_book.ipynb", "group_1_101_508_x.ipynb"]
    plan, data = planned(taught, CanvasExport, **answered(taught, *names))
    owners = {"501": "101", "502": "101", "503": "102", "504": "103", "505": "104"}
    given, ignored = canvas_comments(data, owners)
    assert (given, ignored) == ({"101": ["feedback-book.html"], "102": ["feedback-book.html"]}, [])
    with zipfile.ZipFile(BytesIO(data)) as archive:
        assert archive.read("oneilzo_LATE_102_503_feedback-book.html") == b"<p>for zoneil</p>"
    assert {line.student: line.what for line in plan.left} == {
        "alee1": "grading is not finished. --unfinished writes the score now",
        "alee2": "has no page; run 'viva feedback' first",
    }
    assert [line.name for line in plan.strangers] == names[5:]
    assert data == planned(taught, CanvasExport, **answered(taught, *names))[1]


def test_canvas_ignores_no_page_and_each_answers_its_own_notebook(taught):
    for name in ("links", "my_link", "book"):
        page(taught, "mking").rename(taught / "feedback" / "mking" / PS / f"{name}.html")
    page(taught, "mking")
    names = ["kingmartinjr_101_500_data.csv", "kingmartinjr_101_501_my_link-1.ipynb", "kingmartinjr_101_502_book.ipynb"]
    _, data = planned(taught, CanvasExport, **answered(taught, *names))
    given, ignored = canvas_comments(data, {"500": "101", "501": "101", "502": "101"})
    assert (len(given["101"]), ignored) == (3, [])
    with zipfile.ZipFile(BytesIO(data)) as archive:
        assert sorted(archive.namelist()) == [
            "kingmartinjr_101_501_feedback-links.html",
            "kingmartinjr_101_501_feedback-my-link.html",
            "kingmartinjr_101_502_feedback-book.html",
        ]


def test_pages_of_an_anonymous_assignment_go_back_to_whom_collecting_matched(taught):
    for one in (KING, ZOE):
        page(taught, one.id)
    ledger = Ledger(load(taught)[0], PS)
    ledger.rows["mking"] = [Row("mking", 1, "yes", sender="anon_x1Yz")]
    ledger.path.parent.mkdir()
    ledger.write()
    names = answered(taught, "LATE_anon_x1Yz_501_book.ipynb", "anon_q9_502_book.ipynb")
    plan, data = planned(taught, CanvasExport, **names)
    with zipfile.ZipFile(BytesIO(data)) as archive:
        assert archive.namelist() == ["LATE_anon_x1Yz_501_feedback-book.html"]
    assert canvas_comments(data, {"501": "x1Yz"}) == ({"x1Yz": ["feedback-book.html"]}, [])
    assert [line.what for line in plan.strangers] == ["is anonymous; collect the archive first"]


def test_an_archive_that_cannot_be_answered_is_a_sentence(taught):
    page(taught, "mking")
    assert "Download Submissions" in refused(taught, CanvasExport, feedback=True)
    assert "No file in" in refused(taught, CanvasExport, **answered(taught, "anon_101_5_book.ipynb"))
    assert "does not exist" in refused(taught, CanvasExport, feedback=True, archive="none.zip")
    assert "is not a zip" in refused(taught, CanvasExport, feedback=True, archive=sheet(taught))
    assert "--archive works only together with --as=canvas --feedback. It names the zip" in refused(
        taught, CanvasExport, archive="x.zip"
    )
    names = answered(taught, "leeanna_103_504_book.ipynb")
    assert "No page" in refused(taught, CanvasExport, **names)
    assert "The most frequent reason: has no page" in refused(taught, CanvasExport, **names)


def test_pages_are_given_to_participants(participants):
    for one in (JANE, LEE1, LEE2):
        page(participants, one.id)
    _, data = merged(participants, feedback=True)
    assert moodle_pages(data) == {
        (number, "book.html"): f"<p>for {student}</p>".encode()
        for number, student in (("12345", "jdoe"), ("12347", "alee1"), ("12348", "alee2"))
    }


def test_pages_of_an_assignment_of_groups_are_refused(participants):
    page(participants, "jdoe")
    text = HEAD.replace("Grade,", "Group,Grade,", 1) + ROWS.replace('"Submitted",', '"Submitted",Team,').replace(
        '"No submission",', '"No submission",Team,'
    )
    assert "has a column of groups" in refused(
        participants, MoodleExport, into=worksheet(participants, text), feedback=True
    )
    assert b'"Submitted",Team,20.5,' in merged(participants, text)[1]
