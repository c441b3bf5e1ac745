"""Two ids that are one student: every grade and file goes along, nothing is lost, and what was done is written down."""

from __future__ import annotations

import csv
from datetime import datetime

import pytest
from nbgrader.api import Gradebook

from tests.conftest import SHORT, load
from viva.course.gradebook.results import Results
from viva.record import SubmissionRecord
from viva_term import joining
from viva_term.archives.layouts import Sender
from viva_term.archives.ledger import Ledger, Row
from viva_term.archives.sendermatching import Class, Matches
from viva_term.lms.rosterfile import Entry, Roster

OTHER = "ps4_multihead"
OLD = Entry("alee", "Anna", "Lee", "a@x.edu", "1", "alee", "A")
NEW = Entry("amoss", "Anna", "Moss", "am@x.edu", "2", "amoss", "B", sis="S-1")
BO = Entry("bo", "Bo", "King")


def graded(book: Gradebook, course, student: str, assignment: str, points: float) -> None:
    """A graded submission with its folders, its record, and points by hand."""
    book.add_submission(assignment, student, timestamp=datetime(2026, 10, 1))
    for notebook in book.find_submission(assignment, student).notebooks:
        for grade in notebook.grades:
            grade.auto_score, grade.manual_score, points = 0, points, 0
    for step in ("submitted", "autograded", "feedback"):
        folder = course.path(step, assignment, student)
        folder.mkdir(parents=True)
        (folder / "book.txt").write_text(f"{student} {step}")
    Results.of(course.directory).add([SubmissionRecord(assignment, student, graded="now", key="k")])


@pytest.fixture
def taught(course):
    """OLD has SHORT, NEW has OTHER; NEW is in the list, OLD is gone."""
    course = load(course)[0]
    for listed in ((OLD, BO), (NEW, BO)):
        roster = Roster.of(course)
        roster.write(course, roster.compared(listed))
    with Gradebook(course.directory.db_url) as book:
        graded(book, course, "alee", SHORT, 3.0)
        graded(book, course, "amoss", OTHER, 2.0)
        book.db.commit()
    ledger = Ledger(course, OTHER)
    ledger.rows["amoss"] = [Row("amoss", 1, "yes", sender="moss_2")]
    (course.root / "attempts").mkdir()
    ledger.write()
    (course.root / "extensions.csv").write_text(
        f"assignment,student_id,until,reason\n{OTHER},amoss,2026-12-01 12:00,ill\n{SHORT},bo,2026-12-01 12:00,\n"
    )
    return course


def scores(course) -> dict[tuple[str, str], float]:
    with Gradebook(course.directory.db_url) as book:
        found = {name: book.assignment_submissions(name) for name in (SHORT, OTHER)}
        return {(name, one.student_id): one.score for name, several in found.items() for one in several}


def test_every_grade_file_and_record_becomes_the_one_students(taught):
    before = scores(taught)
    joining.join(taught, joining.plan(taught, "alee", "amoss"))
    assert scores(taught) == {(SHORT, "alee"): before[SHORT, "alee"], (OTHER, "alee"): before[OTHER, "amoss"]}
    for step in ("submitted", "autograded", "feedback"):
        assert (taught.path(step, OTHER, "alee") / "book.txt").read_text() == f"amoss {step}"
        assert not taught.path(step, OTHER, "amoss").exists()
    assert set(Results.of(taught.directory).read()) == {(SHORT, "alee"), (OTHER, "alee")}
    assert [row.student_id for rows in Ledger(taught, OTHER).rows.values() for row in rows] == ["alee"]
    assert f"{OTHER},alee,2026-12-01 12:00,ill" in (taught.root / "extensions.csv").read_text()
    roster = Roster.of(taught)
    assert roster.listed == {"alee", "bo"} and "amoss" not in roster.entries
    assert roster.entries["alee"] == Entry("alee", "Anna", "Moss", "am@x.edu", "2", "amoss", "B", sis="S-1")
    with (taught.root / "same.csv").open() as file:
        assert [*csv.DictReader(file)] == [{"id": "amoss", "student_id": "alee", "moved": OTHER}]


def test_later_lists_and_archives_that_name_the_other_id_mean_the_student(taught):
    joining.join(taught, joining.plan(taught, "alee", "amoss"))
    roster = Roster.of(taught)
    found, notes = roster.recognised({2: Entry("amoss", "A.", "Moss"), 3: BO})
    assert found[2].id == "alee" and len(notes) == 1
    assert Class(roster, Matches(), SHORT).match(Sender("amoss", login="amoss")).students == ("alee",)
    (taught.root / "matches.csv").write_text("sender,student_id\nX,amoss\n")
    assert Matches.read(taught.root / "matches.csv", roster).of(Sender("X"), SHORT) == ["alee"]


def test_where_both_have_work_each_keeps_its_own_and_it_is_said(taught):
    with Gradebook(taught.directory.db_url) as book:
        graded(book, taught, "amoss", SHORT, 1.0)
        book.db.commit()
    before = scores(taught)
    plan = joining.plan(taught, "alee", "amoss")
    assert (plan.moved, plan.both) == ((OTHER,), (SHORT,))
    assert any("both ids have a submission" in sentence for sentence in plan.sentences())
    joining.join(taught, plan)
    assert scores(taught) == {
        (SHORT, "alee"): before[SHORT, "alee"],
        (SHORT, "amoss"): before[SHORT, "amoss"],
        (OTHER, "alee"): before[OTHER, "amoss"],
    }
    assert (taught.path("submitted", SHORT, "amoss") / "book.txt").read_text() == "amoss submitted"


def test_the_command_says_what_it_does_and_a_dry_run_writes_nothing(taught, viva):
    before = scores(taught)
    tried = viva("roster", "--same", "alee", "amoss", "--dry-run")
    assert (tried.status, scores(taught)) == (0, before) and "Nothing was written" in tried.out
    done = viva("roster", "--same", "alee", "amoss")
    assert done.status == 0 and f"'alee' now has: {OTHER}." in done.out and "same.csv" in done.out
    assert "There is no student 'nobody'" in viva("roster", "--same", "alee", "nobody").err
    assert "Name two ids" in viva("roster", "--same", "alee").err
    assert viva("roster", "--same", "bo", "amoss").status == 2
