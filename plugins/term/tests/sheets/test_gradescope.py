"""A list in Gradescope's columns."""

from __future__ import annotations

import csv
from io import StringIO

from plugins.term.tests.sheets.classroom import enter, grade, planned, refused
from plugins.term.tests.sheets.importers import gradescope
from viva_term.lms.rosterfile import Entry
from viva_term.sheets.gradescope import GradescopeExport

ZOE = Entry("3031", "Zoë 🙂", "=King, Jr.", "zk@example.edu", "3031", "", "Lab 1")
BO = Entry("3032", "Bo", "-", "+bo@example.edu", "3032", "", "Lab 2")
NEVER = Entry("nn@example.edu", "Nev", "Er", "nn@example.edu")


def test_every_student_has_a_row_with_score_status_and_lateness(course):
    enter(course, ZOE, BO, NEVER)
    grade(course, "3031", 20.0, days_late=2)
    grade(course, "3032", 5.0, waits=True)
    plan, data = planned(course, GradescopeExport)
    assert gradescope(data) == {
        "3031": (16.0, "Graded"),
        "3032": (None, "Ungraded"),
        "nn@example.edu": (None, "Missing"),
    }
    rows = {row["SID"]: row for row in csv.DictReader(StringIO(data.decode()))}
    zoe, bo = rows["3031"], rows["3032"]
    assert (zoe["Lateness (H:M:S)"], zoe["Submission Time"]) == ("47:00:00", "2026-09-16 11:00:00 +0000")
    assert (zoe["Last Name"], bo["Last Name"], bo["Email"]) == ("'=King, Jr.", "'-", "'+bo@example.edu")
    assert (zoe["Sections"], zoe["Max Points"]) == ("Lab 1", "25")
    assert gradescope(planned(course, GradescopeExport, raw=True)[1])["3031"] == (20.0, "Graded")
    assert gradescope(planned(course, GradescopeExport, unfinished=True)[1])["3032"] == (5.0, "Graded")
    assert {line.student for line in plan.left} == {"3032", "nn@example.edu"}


def test_it_has_no_sheet_of_gradescopes_to_go_into(course):
    enter(course, ZOE)
    assert "without --into" in refused(course, GradescopeExport, into="grades.csv")
