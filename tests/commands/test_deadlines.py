"""`viva deadlines` and `viva extend` at the terminal, on a course with a graded class."""

from __future__ import annotations

import contextlib
import json
import sqlite3
from datetime import datetime, timedelta

import pytest
from nbgrader.api import Gradebook

from tests.conftest import SHORT

DUE = datetime(2026, 10, 24, 21, 59)
"""23:59 in Berlin, on the day before the clocks are set back."""
LATE = {"ada": timedelta(), "bo": timedelta(hours=25), "cy": timedelta(hours=25, seconds=1)}
RULES = """
c.LatePolicy.zone = "Europe/Berlin"
c.LatePolicy.assignments = {"%s": {"due": "2026-10-24 23:59"}}
"""


@pytest.fixture
def graded(course):
    """Three students with 20 points each; bo is a day late by the clock on the wall, cy a second more."""
    with (course / "nbgrader_config.py").open("a") as file:
        file.write(RULES % SHORT)
    with Gradebook(f"sqlite:///{course / 'gradebook.db'}") as book:
        for student, late in LATE.items():
            book.add_student(student)
            book.add_submission(SHORT, student, timestamp=DUE + late)
            for grade in book.find_submission(SHORT, student).notebooks[0].grades:
                grade.manual_score = grade.max_score
        book.db.commit()
    return course


def scores(course) -> dict[str, float]:
    with Gradebook(f"sqlite:///{course / 'gradebook.db'}") as book:
        found = {student: book.find_submission(SHORT, student) for student in LATE}
        return {name: round(one.score - (one.late_submission_penalty or 0), 9) for name, one in found.items()}


def document(result) -> dict:
    return json.loads(result.out)


def test_it_says_when_each_is_due_what_lateness_costs_and_whom(graded, viva):
    found = viva("deadlines", SHORT)
    assert (found.status, found.err) == (0, "")
    for text in ("due (Europe/Berlin)", "2026-10-24 23:59", "10 % of the score for each started day"):
        assert text in found.out.replace("\n", " ")
    told = document(viva("deadlines", SHORT, "--json"))
    (one,) = told["assignments"]
    full = scores(graded)["ada"]
    assert (one["late"], one["lost"]) == (2, pytest.approx(0.3 * full))
    assert {row["student"]: row["left"] for row in told["late"]} == {"bo": 0.9 * full, "cy": 0.8 * full}
    assert scores(graded) == {"ada": full, "bo": 0.9 * full, "cy": 0.8 * full}


def test_eighty_columns_break_no_table(graded, viva, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    lines = viva("deadlines", SHORT).out.splitlines()
    assert max(len(line) for line in lines if line[0] in "┏┃┡│└") <= 80
    assert any("2026-10-24 23:59" in line and SHORT in line for line in lines)
    assert any(line.startswith("Late penalty: 10 % of the score for each started day") for line in lines)
    assert any(line.startswith(f"bo, {SHORT}: ") for line in lines)


def test_an_assignment_without_a_due_time_is_said_to_have_none(course, viva):
    found = viva("deadlines", SHORT)
    assert found.status == 0 and f"These assignments have no deadline: {SHORT}." in found.out


def test_a_due_time_is_shown_as_soon_as_the_configuration_says_it(course, viva):
    with (course / "nbgrader_config.py").open("a") as file:
        file.write(RULES % SHORT)
    found = viva("deadlines", SHORT)
    assert "2026-10-24 23:59" in found.out.replace("\n", " ") and "never late" not in found.out


def test_what_another_rule_would_do_is_told_and_not_done(graded, viva):
    viva("deadlines")
    before = scores(graded)
    told = document(viva("deadlines", SHORT, "--what-if", "--budget=1", "--per-day=0.25", "--json"))
    full = before["ada"]
    assert {row["student"]: (row["now"], row["then"]) for row in told["changes"]} == {
        "bo": (0.9 * full, full),
        "cy": (0.8 * full, 0.75 * full),
    }
    said = viva("deadlines", SHORT, "--what-if", "--steps=1 hour=0.05", "--steps=2 days=0.5", "--of=cap")
    assert "2 of 3 scores of 2 students would change: 0 higher, 2 lower" in said.out and said.err == ""
    assert "None of 3 scores would change." in viva("deadlines", SHORT, "--what-if", "--per-day=0.1").out
    assert scores(graded) == before


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--what-if"], "--what-if needs a rule to compare with, as in: viva deadlines"),
        (["--per-day=0.2"], "Set the late policy in nbgrader_config.py (c.LatePolicy). To compare"),
        (["--what-if", "--per-day=2"], "--what-if has an invalid 'per_day': 2.0 is not a number from 0 to 1"),
        (["--what-if", "--grace=5 parsecs"], "--what-if has an invalid 'grace': '5 parsecs' is not a time span"),
        (["--what-if", "--steps=1 hour=much"], "A step needs a time span and the part to lose, as in: --steps='1"),
        (["ps7x", "--what-if", "--per-day=0.2"], "There is no assignment 'ps7x'"),
    ],
)
def test_a_question_that_makes_no_sense_is_answered_with_a_sentence(graded, viva, arguments, sentence):
    found = viva("deadlines", *arguments)
    assert found.status == 2 and sentence in found.err and "Traceback" not in found.err
    assert "c.LatePolicy.assignments" not in found.err, "the configuration is not at fault"


def test_a_rule_that_is_none_is_told_before_a_class_is_graded(graded, viva):
    with (graded / "nbgrader_config.py").open("a") as file:
        file.write('c.LatePolicy.grace = "a bit"\n')
    (graded / "submitted" / "ada" / SHORT).mkdir(parents=True)
    for command in (("grade", SHORT), ("deadlines",), ("export",)):
        found = viva(*command)
        assert found.status == 2 and "c.LatePolicy has an invalid 'grace': 'a bit' is not a time span" in found.err


def test_more_time_is_granted_tried_first_and_taken_back(graded, viva):
    viva("deadlines")
    before, path = scores(graded), graded / "extensions.csv"
    tried = viva("extend", "cy", SHORT, "--until=1 day", "--reason=ill", "--dry-run")
    assert tried.status == 0 and "Nothing was written." in tried.out and "2026-10-25 23:59 Europe/Berlin" in tried.out
    assert not path.exists() and scores(graded) == before
    told = document(viva("extend", "cy", "bo", SHORT, "--until=1 day", "--reason=ill", "--json"))
    full = before["ada"]
    assert {row["student"]: row["then"] for row in told["scores"]} == {"cy": 0.9 * full, "bo": full}
    assert scores(graded) == {"ada": full, "bo": full, "cy": 0.9 * full}
    assert path.read_text().splitlines() == [
        "assignment,student_id,until,reason",
        f"{SHORT},bo,2026-10-25 23:59 Europe/Berlin,ill",
        f"{SHORT},cy,2026-10-25 23:59 Europe/Berlin,ill",
    ]
    assert viva("extend", "bo", "cy", SHORT, "--remove").status == 0
    assert scores(graded) == before and len(path.read_text().splitlines()) == 1


def test_an_extension_never_costs_points_when_the_class_deadline_moves_past_it(graded, viva):
    viva("extend", "bo", SHORT, "--until=1 hour")
    assert scores(graded)["bo"] < scores(graded)["ada"]
    with (graded / "nbgrader_config.py").open("a") as file:
        file.write(f'c.LatePolicy.assignments["{SHORT}"]["due"] = "2026-10-30 12:00"\n')
    told = document(viva("deadlines", SHORT, "--json"))
    assert told["late"] == [] and len(set(scores(graded).values())) == 1
    rows = document(viva("export", SHORT, "--json"))["scores"]
    assert {row["seconds_late"] for row in rows if row["student_id"] in LATE} == {0}
    with Gradebook(f"sqlite:///{graded / 'gradebook.db'}") as book:
        assert book.find_submission(SHORT, "bo").total_seconds_late == 0


@pytest.mark.slow
def test_an_extension_changes_only_together_with_the_gradebook(graded, viva, monkeypatch):
    """The file was written first: once the lock was gone, the same command said that there was nothing to undo."""
    viva("extend", "cy", SHORT, "--until=1 day")
    before = (graded / "extensions.csv").read_bytes()
    monkeypatch.setattr("viva.course.database.RETRY_SECONDS", 0.0)
    with contextlib.closing(sqlite3.connect(graded / "gradebook.db", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        found = viva("extend", "cy", SHORT, "--remove")
        other.execute("ROLLBACK")
    assert (found.status, "is locked by another program; close it." in found.err) == (2, True)
    assert (graded / "extensions.csv").read_bytes() == before
    assert viva("extend", "cy", SHORT, "--remove").status == 0
    assert scores(graded)["cy"] == 20


def test_more_time_for_somebody_whom_nobody_knows_is_told(graded, viva):
    """A name that was misspelt in the file gives nobody more time, and its student pays."""
    (graded / "extensions.csv").write_text(f"assignment,student_id,until\n{SHORT},b0,2026-11-01 12:00\n")
    found = viva("deadlines")
    assert found.status == 0
    assert "extensions.csv has extensions for unknown students: 'b0'. Correct their ids there." in found.out
    (graded / "extensions.csv").write_text(f"assignment,student_id,until\n{SHORT},bo,2026-11-01 12:00\n")
    assert "unknown students" not in viva("deadlines").out


def test_who_is_excused_is_so_everywhere_and_no_longer_when_it_is_taken_back(graded, viva):
    viva("deadlines")
    before = scores(graded)
    assert viva("extend", "bo", SHORT, "--excuse", "--reason=ill until November").status == 0
    assert f"{SHORT},bo,ill until November" in (graded / "excused.csv").read_text()
    rows = document(viva("export", SHORT, "--json"))["scores"]
    assert {row["student_id"]: row["status"] for row in rows if row["student_id"] in LATE}["bo"] == "excused"
    assert viva("extend", "bo", SHORT, "--remove").status == 0
    assert scores(graded) == before


def test_extensions_that_nbgrader_granted_are_kept_when_the_first_is_written(graded, viva):
    with Gradebook(f"sqlite:///{graded / 'gradebook.db'}") as book:
        book.grant_extension(SHORT, "bo", hours=25)
    viva("extend", "cy", SHORT, "--until=2026-10-30 12:00")
    assert f"{SHORT},bo,2026-10-25 23:59 Europe/Berlin," in (graded / "extensions.csv").read_text()
    assert scores(graded)["bo"] == scores(graded)["ada"] == scores(graded)["cy"]


def test_an_extension_that_frees_late_days_is_told_of_the_other_assignments_too(graded, viva):
    with (graded / "nbgrader_config.py").open("a") as file:
        file.write("c.LatePolicy.budget = 2\n")
    with Gradebook(f"sqlite:///{graded / 'gradebook.db'}") as book:
        book.add_assignment("later", duedate=DUE + timedelta(days=7))
        book.add_notebook("one", "later")
        book.add_grade_cell("tests", "one", "later", max_score=10, cell_type="code")
        book.add_submission("later", "cy", timestamp=DUE + timedelta(days=8))
        book.find_grade("tests", "one", "later", "cy").auto_score = 10
        book.db.commit()
    told = document(viva("extend", "cy", SHORT, "--until=1 day", "--json"))
    assert told["scores"][1] == {"assignment": "later", "student": "cy", "now": 9.0, "then": 10.0}


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["bo", SHORT], "Name students, an assignment, and one of --until, --excuse and --remove"),
        ([SHORT, "--until=1 day"], "Name students, an assignment"),
        (["bo", SHORT, "--until=1 day", "--excuse"], "Name students, an assignment"),
        (
            ["boo", SHORT, "--until=1 day"],
            "There is no student 'boo' in this course; nothing was written. Did you mean 'bo'",
        ),
        (["bo", "ps99", "--until=1 day"], "There is no assignment 'ps99'"),
        (["bo", SHORT, "--until=Friday"], "'Friday' is not a date and time"),
        (["bo", SHORT, "--until=2026-10-24 23:58"], "is not after 2026-10-24 23:59"),
        (["bo", SHORT, "--remove"], f"bo has no extension or excuse for {SHORT}"),
    ],
)
def test_what_cannot_be_granted_is_refused_and_nothing_is_written(graded, viva, arguments, sentence):
    found = viva("extend", *arguments)
    assert found.status == 2 and sentence in found.err.replace("\n", " ") and "Traceback" not in found.err
    assert not (graded / "extensions.csv").exists() and not (graded / "excused.csv").exists()


def test_the_due_times_of_a_whole_term_may_be_said_before_its_assignments_are_released(graded, viva):
    """But a name that stands nowhere in the course is a mistake in writing."""
    (graded / "source" / "ps9_later").mkdir()
    with (graded / "nbgrader_config.py").open("a") as file:
        file.write('c.LatePolicy.assignments["ps9_later"] = {"due": "2026-12-01 23:59"}\n')
    assert viva("deadlines").status == 0 and viva("export").status == 0
    assert scores(graded) == {"ada": 25, "bo": 22.5, "cy": 20}
    (graded / "source" / "ps9_later").rmdir()
    found = viva("deadlines")
    assert found.status == 2 and "names 'ps9_later', which is not an assignment of the course" in found.err
