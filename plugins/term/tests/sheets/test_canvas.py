# ruff: noqa: RUF001 (names are spelt as their owners spell them)
"""Canvas's gradebook with our column changed, and the small file of our own."""

from __future__ import annotations

import pytest
from traitlets.config import Config

from plugins.term.tests.sheets.classroom import PS, enter, grade, planned, refused
from plugins.term.tests.sheets.importers import Canvas
from tests.conftest import load
from viva_term.lms.rosterfile import Entry
from viva_term.sheets.canvas import CanvasExport

KING = Entry("mking", "Martin", "King, Jr.", "", "101", "mking", "Monday")
ZOE = Entry("zoneil", "Zoë 🙂", "O’Neil", "", "102", "zoneil", "Monday")
LEE1 = Entry("alee1", "Anna", "Lee", "", "103", "alee1", "Monday")
LEE2 = Entry("alee2", "Anna", "Lee", "", "104", "alee2", "Monday")
HEAD = "Student,ID,SIS User ID,SIS Login ID,Section,PS 1 (11),PS 2 (12),PS 2 (13),Final Score\n"
ROWS = """\
,,,,,,,Manual Posting,
    Points Possible,,,,,25,10,10,(read only)
"Lee, Anna",104,,alee2,Monday,,1,2,50
"King, Martin, Jr.",101,,mking,Monday,8.00,1,2,50
"-",102,,zoneil,Monday,N/A,1,2,50
"Lee, Anna",103,,alee1,Monday,EX,1,2,50
"@new, One",999,,new,Monday,,1,2,50
"""


@pytest.fixture
def taught(course):
    enter(course, KING, ZOE, LEE1, LEE2)
    for one, score in ((KING, 20.0), (ZOE, 7.5), (LEE1, 3.0), (LEE2, 4.25)):
        grade(course, one.id, score)
    return course


def sheet(course, text: str = HEAD + ROWS) -> str:
    path = course / "gradebook.csv"
    path.write_bytes(text.encode())
    return str(path)


def merged(course, text: str = HEAD + ROWS, **options):
    return planned(course, CanvasExport, into=sheet(course, text), **({"column": "PS 1"} | options))


def test_only_our_cells_change_and_names_that_look_like_formulas_stay_bytes(taught):
    plan, data = merged(taught)
    wanted = (HEAD + ROWS).replace("alee2,Monday,,", "alee2,Monday,4.25,").replace("8.00", "20")
    assert data.decode() == wanted
    assert [(line.student, line.what) for line in plan.replaced] == [("mking", "8.00 → 20")]
    assert {line.student: line.what for line in plan.left} == {
        "zoneil": "the assignment is not assigned to the student in Canvas (N/A)",
        "alee1": "the student is excused in Canvas (EX); enter the score there",
    }
    assert [(line.name, line.what) for line in plan.strangers] == [
        ("@new, One", "line 8 does not match an enrolled student")
    ]
    assert plan.column == "PS 1 (11)" and plan.absent == []


def test_a_second_export_into_the_first_changes_nothing(taught):
    _, data = merged(taught)
    plan, again = merged(taught, data.decode())
    assert again == data and not plan.written and not plan.replaced
    assert [line.student for line in plan.unchanged] == ["alee2", "mking"]


def test_no_score_is_ever_blanked(taught):
    enter(taught, KING, ZOE, LEE1, LEE2, Entry("never", "Nev", "Er", "", "105", "never"))
    text = HEAD + ROWS + '"Er, Nev",105,,never,Monday,9,1,2,50\n'
    plan, data = merged(taught, text)
    assert data.decode().endswith('"Er, Nev",105,,never,Monday,9,1,2,50\n')
    assert ("never", "not handed in") in [(line.student, line.what) for line in plan.left]


def test_semicolons_byte_order_mark_line_ends_and_commas_before_decimals_stay(taught):
    text = "\ufeff" + (HEAD + ROWS).replace('"King, Martin, Jr."', '"King; Martin"').replace("8.00", "8.5")
    text = text.replace(",", ";").replace("8.5", "8,5").replace(";50", ";50,5").replace("\n", "\r\n")
    text = text.replace('"King; Martin"', '"King, Martin, Jr."').replace("Lee; Anna", "Lee, Anna")
    text = text.replace(";2;50,5", ";2,25;50,5")
    _, data = merged(taught, text)
    assert data.decode() == text.replace("alee2;Monday;;", "alee2;Monday;4,25;").replace(";8,5;", ";20;")


def test_the_column_is_found_by_title_name_number_or_configuration(taught):
    for column in ("PS 1", "PS 1 (11)", "11", "ps 1"):
        assert merged(taught, column=column)[0].column == "PS 1 (11)"
    assert merged(taught, HEAD.replace("PS 1", PS) + ROWS, column="")[0].column == f"{PS} (11)"
    assert merged(taught, column="13")[0].column == "PS 2 (13)"
    exporter = CanvasExport(config=Config({"SheetExport": {"columns": {PS: "PS 1 (11)"}}}))
    exporter.into = sheet(taught)
    course = load(taught)[0]
    with course.gradebook() as gradebook:
        assert exporter.plan(course, gradebook, PS).column == "PS 1 (11)"


@pytest.mark.parametrize(
    ("text", "column", "said"),
    [
        (
            HEAD + ROWS,
            "",
            f"has no column '{PS}'. The assignments are: 'PS 1 (11)', 'PS 2 (12)', 'PS 2 (13)'. Name the column of",
        ),
        (HEAD + ROWS, "PS 2", "has several columns 'PS 2'. The assignments are: 'PS 2 (12)', 'PS 2 (13)'."),
        (HEAD + ROWS, "Final Score", "has no column 'Final Score'"),
        ("Student,ID,Section\nA,1,B\n", "", "It has no assignment. Create one in Canvas"),
        ("First Name,Last Name,SID,Email\nA,B,1,c\n", "PS 1", "is not a gradebook export of Canvas"),
        (HEAD + '"Lee, Anna",104,,alee2\n', "PS 1", "Line 2 of"),
    ],
)
def test_what_is_not_certain_about_the_sheet_is_asked(taught, text, column, said):
    assert said in refused(taught, CanvasExport, into=sheet(taught, text), column=column)


def test_lateness_that_canvas_may_take_off_again_is_said(taught):
    grade(taught, "mking", 20.0, days_late=2)
    plan, data = merged(taught)
    assert b"mking,Monday,16," in data
    assert (
        "One student is late; late penalties are already subtracted. If the Canvas course has a late policy"
        in plan.warnings[0]
    )


def test_other_points_and_a_name_that_canvas_drops_are_said(taught):
    plan, _ = merged(taught, HEAD.replace("PS 1", "Final Points") + ROWS.replace(",25,", ",20,"), column="11")
    assert any("is 20 points, but 25 points in the gradebook" in one for one in plan.warnings)
    assert any("Canvas ignores a column with 'Final Points' in its name" in one for one in plan.warnings)
    assert merged(taught)[0].warnings == []


def test_one_student_alone_may_be_written(taught):
    plan, data = merged(taught, student="alee2")
    assert data.decode() == (HEAD + ROWS).replace("alee2,Monday,,", "alee2,Monday,4.25,")
    assert plan.absent == [] and [line.student for line in plan.written] == ["alee2"]


def test_a_student_with_a_score_who_is_not_in_the_sheet_is_told(taught):
    plan, _ = merged(taught, HEAD + ROWS.replace('"Lee, Anna",104,,alee2', '"Low, Ana",204,,alow'))
    assert [(line.student, line.what) for line in plan.absent] == [("alee2", "4.25")]


def test_canvas_test_student_is_nobody_and_a_real_one_is_told(taught):
    rows = (
        '"Student, Test",199,,0123456789abcdef0123456789abcdef01234567,Monday,,,,\n"Student, Test",198,,t,Monday,,,,\n'
    )
    plan, _ = merged(taught, HEAD + ROWS + rows)
    assert [line.what for line in plan.strangers][1:] == ["line 10 does not match an enrolled student"]


@pytest.mark.parametrize("row", [",,,,,,,Manual Posting (scores hidden from instructors),", ",,,,,,,Muted,"])
def test_every_second_row_of_canvas_is_left_as_it_is(taught, row):
    text = (HEAD + ROWS).replace(",,,,,,,Manual Posting,", row)
    plan, data = merged(taught, text)
    assert row in data.decode() and len(plan.written) == len(merged(taught)[0].written)


def test_the_small_file_holds_who_has_a_score_and_is_read_by_canvas(taught):
    enter(taught, KING, ZOE, LEE1, LEE2, Entry("new", "New", "=One"), Entry("never", "Nev", "Er", "", "105", "never"))
    grade(taught, "new", 1.0)
    plan, data = planned(taught, CanvasExport)
    system = Canvas({one.lms_user_id: ("", one.login, "") for one in (KING, ZOE, LEE1, LEE2)}, {"11": PS})
    assert system.take(data) == {("101", "11"): 20.0, ("102", "11"): 7.5, ("103", "11"): 3.0, ("104", "11"): 4.25}
    assert system.skipped == [("'=One, New", "unknown student")]
    assert "Canvas's number and the login of 1 students are unknown" in plan.warnings[0]
    assert "with the exact title 'ps1_test'" in plan.warnings[1]
    assert [line.student for line in plan.left] == ["never"]
