"""A gradebook that is not the one that was written to is noticed, by every command that would take it for that."""

from __future__ import annotations

import json
import shutil
from contextlib import closing

import pytest
from nbgrader.api import Gradebook
from sqlalchemy import update

from tests.faults import TINY, hand_in_tiny, make_course, recorded, scores
from viva.course.gradebook import recording
from viva.course.gradebook.agreement import ROUNDING, Held
from viva.engine.outcome import CheckResult
from viva.record import NotebookRecord, SubmissionRecord
from viva.verdict import Verdict


@pytest.fixture(scope="module")
def made(processes, tmp_path_factory):
    """A released course with three submissions, graded, with their pages."""
    from tests.faults import grade_here

    root = make_course(tmp_path_factory.mktemp("agreement") / "course")
    hand_in_tiny(root, 3)
    grade_here(root)
    return root


@pytest.fixture
def course(made, tmp_path):
    return shutil.copytree(made, tmp_path / "course")


@pytest.mark.parametrize(
    ("verdict", "score", "agrees"),
    [
        *((Verdict.PASSED, score, score == 2) for score in (2, 2 - 2 * ROUNDING, 2 + 2 * ROUNDING, 0, None)),
        *((Verdict.UNGRADED, score, score is None) for score in (None, 0, 2)),
    ],
)
def test_the_gradebook_agrees_where_it_has_what_the_checks_earned(verdict, score, agrees):
    checks = {"test": [CheckResult("one", 2, verdict, 1.5), CheckResult("two", 1, Verdict.PASSED, 0.5)]}
    record = SubmissionRecord(TINY, "ada", notebooks={"tiny": NotebookRecord(checks=checks)})
    assert Held(None, {("tiny", "test"): score}).agrees(record) == agrees
    assert not Held(None).agrees(record)


def statuses(viva) -> dict[str, str]:
    done = viva("grade", "--json")
    assert done.status == 0, done.text
    return {one["student"]: one["status"] for one in json.loads(done.out)["submissions"]}


def change(course, values: dict) -> None:
    """What an older copy of the gradebook holds of the first student."""
    from nbgrader.api import Grade, SubmittedAssignment

    table = Grade if "auto_score" in values else SubmittedAssignment
    with closing(Gradebook(f"sqlite:///{course / 'gradebook.db'}")) as book:
        one = book.find_submission(TINY, "student0000")
        where = Grade.id == one.notebooks[0].grades[0].id if table is Grade else SubmittedAssignment.id == one.id
        book.db.execute(update(table).where(where).values(values))
        book.db.commit()


def test_a_gradebook_that_is_an_older_copy_is_noticed_and_graded_again(course, viva):
    before = scores(course)
    assert set(statuses(viva).values()) == {"unchanged"}
    change(course, {"auto_score": 1})
    assert scores(course) != before
    doctor = viva("doctor").out
    assert f"equal scores of student0000 ({TINY})" in doctor
    done = viva("grade")
    assert "have different scores or times for" in done.out and "student0000" in done.out
    assert scores(course) == before
    assert set(statuses(viva).values()) == {"unchanged"}
    assert "the gradebook matches" in viva("doctor").out


@pytest.mark.slow
def test_an_older_time_of_submission_is_noticed_too(course, viva):
    stamp = course / "submitted/student0000" / TINY / "timestamp.txt"
    stamp.write_text("2026-10-07 10:00:00 UTC")
    assert statuses(viva)["student0000"] == "done"
    from datetime import datetime

    change(course, {"timestamp": datetime(2026, 10, 6, 10)})
    assert statuses(viva) == {"student0000": "done", "student0001": "unchanged", "student0002": "unchanged"}
    with closing(Gradebook(f"sqlite:///{course / 'gradebook.db'}")) as book:
        assert book.find_submission(TINY, "student0000").timestamp == datetime(2026, 10, 7, 10)


COMMANDS = ("grade", "release", "feedback", "report", "export", "regrade")


def lose(course, viva, how: str) -> None:
    book = course / "gradebook.db"
    if how == "released again":
        (kept := course / "results.jsonl").rename(course / "away")
        autograded = (course / "autograded").rename(course / "away2")
        book.unlink()
        assert viva("release", TINY, "--no-audit").status == 0
        (course / "away").rename(kept)
        autograded.rename(course / "autograded")
    elif how == "emptied":
        book.write_bytes(b"")
    else:
        book.unlink()


@pytest.mark.parametrize("how", ["released again", "emptied", "deleted"])
def test_a_gradebook_that_knows_nothing_of_what_was_graded_is_refused_by_every_command(course, viva, how):
    lose(course, viva, how)
    for command in COMMANDS if how == "released again" else ("grade",):
        more = [TINY, "--no-audit"] if command in ("release", "regrade") else []
        done = viva(command, *more)
        assert done.status == 2, (command, done.text)
        assert "graded submissions are in" in done.err and "Restore a copy of the gradebook" in done.err
        assert "Traceback" not in done.text
    assert recorded(course) and not (course / "grades.csv").exists()
    assert "graded submissions are in" in viva("doctor").out


def test_graded_notebooks_alone_tell_that_the_gradebook_was_made_anew(course, viva):
    lose(course, viva, "released again")
    (course / "results.jsonl").unlink()
    done = viva("grade")
    assert done.status == 2 and f"graded submissions are in {course / 'autograded'}" in done.err


def test_a_gradebook_that_is_removed_while_a_batch_runs_stops_it_and_nothing_is_recorded(course, viva, monkeypatch):
    (course / "results.jsonl").unlink()
    save = recording.Writer.save

    def saved(writer, graded):
        (course / "gradebook.db").unlink(missing_ok=True)
        return save(writer, graded)

    monkeypatch.setattr(recording.Writer, "save", saved)
    done = viva("grade", "--force")
    assert done.status == 2 and "is missing, but" in done.err
    assert "Traceback" not in done.text and recorded(course) == {}


@pytest.mark.thorough
@pytest.mark.parametrize("rest", ["garbage", "nothing", "one record less"])
def test_feedback_writes_no_page_without_verdicts_over_a_good_one(course, viva, rest):
    assert viva("feedback").status == 0
    pages = {path: path.read_bytes() for path in course.glob("feedback/*/*/*.html")}
    results = course / "results.jsonl"
    lines = results.read_bytes().splitlines(keepends=True)
    results.write_bytes({"garbage": b"\0\xff junk\n" * 3, "nothing": b""}.get(rest, b"".join(lines[1:])))
    done = viva("feedback")
    assert done.status == 1 and "has no record of what was graded" in done.out
    assert {path: path.read_bytes() for path in course.glob("feedback/*/*/*.html")} == pages
    assert viva("report").status == 2
    assert viva("grade").status == 0 and viva("feedback").status == 0
    assert {path: path.read_bytes() for path in course.glob("feedback/*/*/*.html")} == pages
