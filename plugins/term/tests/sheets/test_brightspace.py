"""Brightspace's list of grades: two ids, one item, and the mark at each line's end."""

from __future__ import annotations

import pytest

from plugins.term.tests.sheets.classroom import PS, enter, grade, planned, refused
from plugins.term.tests.sheets.importers import Brightspace
from viva_term.lms.rosterfile import Entry
from viva_term.sheets.brightspace import BrightspaceExport

JOHN = Entry("jsmith", "John", "King, Jr.", "j@example.edu", "0012", "jsmith")
ZOE = Entry("zoe", "Zoë 🙂", "O'Neil", "z@example.edu", "0013", "zoe")
NEVER = Entry("never", "Nev", "Er", "n@example.edu", "0014", "never")
HEAD = (
    "OrgDefinedId,Username,Last Name,First Name,Email,PS 1 Points Grade <Numeric MaxPoints:25 Weight:10 Category:Labs>,"
    "PS 2 Points Grade <Numeric MaxPoints:10>,Final Points Grade <Numeric MaxPoints:9>,End-of-Line Indicator\n"
)
ROWS = """\
#0013,#zoe,O'Neil,Zoë 🙂,z@example.edu,7.0,,5,#
#0012,#jsmith,"King, Jr.",John,j@example.edu,,,5,#
#0014,#never,Er,Nev,n@example.edu,3,,5,#
#0099,#=new,"@sum",New,x@example.edu,,,5,#
"""


@pytest.fixture
def taught(course):
    enter(course, JOHN, ZOE, NEVER)
    grade(course, "jsmith", 20.5)
    grade(course, "zoe", 7.5)
    return course


def sheet(course, text: str = HEAD + ROWS) -> str:
    path = course / "export.csv"
    path.write_bytes(text.encode())
    return str(path)


def made(course, text: str = HEAD + ROWS, **options):
    return planned(course, BrightspaceExport, into=sheet(course, text), **({"column": "PS 1"} | options))


def brightspace() -> Brightspace:
    students = {("0012", "jsmith"), ("0013", "zoe"), ("0014", "never"), ("0099", "=new")}
    return Brightspace(students, {"PS 1": 25.0, "PS 2": 10.0, PS: 25.0})


def test_ids_and_the_item_are_taken_in_the_order_of_the_list_and_nothing_blank_is_written(taught):
    plan, data = made(taught)
    lines = [
        "OrgDefinedId,Username,PS 1 Points Grade,End-of-Line Indicator",
        "#0013,#zoe,7.5,#",
        "#0012,#jsmith,20.5,#",
    ]
    assert data.decode().split("\r\n") == [*lines, ""]
    assert brightspace().take(data) == {("zoe", "PS 1"): 7.5, ("jsmith", "PS 1"): 20.5}
    assert [line.student for line in plan.left] == ["never"]
    assert [line.name for line in plan.strangers] == ["New @sum"]
    assert [(line.student, line.what) for line in plan.replaced] == [("zoe", "7.0 → 7.5")]


def test_commas_before_decimals_stay(taught):
    _, data = made(taught, (HEAD + ROWS).replace("7.0", '"7,25"'))
    assert b'#0013,#zoe,"7,5",#' in data


def test_one_of_the_ids_is_enough(taught):
    text = "\n".join(line.partition(",")[2] for line in (HEAD + ROWS).splitlines()) + "\n"
    _, data = made(taught, text)
    assert brightspace().take(data) == {("zoe", "PS 1"): 7.5, ("jsmith", "PS 1"): 20.5}
    assert data.startswith(b"Username,PS 1 Points Grade,")


def test_what_would_be_cut_off_and_other_points_are_said(taught):
    plan, data = made(taught, column="PS 2")
    assert plan.warnings[0].startswith("The maximum of The sheet is 10 points, but 25 points in the gradebook.")
    assert plan.warnings[1].startswith("Scores over the maximum of 10: 1. Brightspace lowers them to the maximum")
    assert brightspace().take(data)["jsmith", "PS 2"] == 10.0
    assert made(taught)[0].warnings == []


@pytest.mark.parametrize(
    ("text", "column", "said"),
    [
        (HEAD + ROWS, "", f"has no item '{PS}' with points. The items are: 'PS 1', 'PS 2', 'Final'."),
        (HEAD.replace("PS 2", "PS 1") + ROWS, "PS 1", "has several items 'PS 1'"),
        ("Student,ID,Section\nA,1,B\n", "PS 1", "is not a grades export of Brightspace"),
        ("Username,End-of-Line Indicator\n#a,#\n", "PS 1", "It has no items"),
        (HEAD + "#1,#a\n", "PS 1", "Line 2 of"),
    ],
)
def test_what_is_not_certain_about_the_list_is_asked(taught, text, column, said):
    assert said in refused(taught, BrightspaceExport, into=sheet(taught, text), column=column)


def test_without_a_list_the_ids_are_the_rosters(taught):
    plan, data = planned(taught, BrightspaceExport, column="PS 1")
    assert brightspace().take(data) == {("zoe", "PS 1"): 7.5, ("jsmith", "PS 1"): 20.5}
    assert b"example.edu" not in data and b"King" not in data
    assert "must have the exact name 'PS 1'" in plan.warnings[-1]
    assert brightspace().take(planned(taught, BrightspaceExport)[1]).keys() == {("zoe", PS), ("jsmith", PS)}


def test_only_ids_that_everybody_has_are_written(taught):
    enter(taught, JOHN, ZOE, NEVER, Entry("new", "N", "W", "", "0099"))
    grade(taught, "new", 1.0)
    assert planned(taught, BrightspaceExport)[1].startswith(b"OrgDefinedId,ps1_test Points Grade,")
    enter(taught, JOHN, ZOE, NEVER, Entry("new", "N", "W", "", "0099"), Entry("more", "M", "R", "", "", "more"))
    grade(taught, "more", 1.0)
    plan, data = planned(taught, BrightspaceExport)
    assert data.startswith(b"Username,ps1_test Points Grade,") and b"#new,1,#" in data
    assert "The numbers and usernames of some students are unknown" in plan.warnings[0]


def test_there_are_no_feedback_pages_for_it(taught):
    assert "Brightspace cannot import feedback pages" in refused(taught, BrightspaceExport, feedback=True)
