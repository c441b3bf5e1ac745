"""`viva canvas export` against recordings on the loopback: what is sent, once, to whom, and what stays."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from plugins.lti.tests import platform, recorded
from plugins.lti.tests.hostile import truncated
from plugins.lti.tests.recorded import TOKEN, submission
from plugins.lti.tests.test_canvas import throttled
from plugins.term.tests.sheets import classroom

PS = classroom.PS
ALL = {1: 22.5, 2: 10.0, 3: 6.53}
LATE = "Late penalty: 0.72 of 7.25 points."
ONE = "/submissions/2"


@pytest.fixture
def ready(joined, there):
    there.lists["assignments/4711/submissions"] = [submission(number, "2026-09-14T09:30:00Z") for number in (1, 2, 3)]
    return joined


@pytest.fixture
def sent(ready, there, viva):
    """A course whose scores were sent."""
    result = viva("canvas", "export", PS)
    assert (result.status, result.err, there.points()) == (0, "", ALL), result.text
    there.puts.clear()
    return ready


def users(there) -> list[str]:
    return sorted(user for user, *_ in there.puts)


def ledger(course) -> list[dict]:
    return [json.loads(line) for line in (course / "lti" / "canvas" / f"{PS}.jsonl").read_text().splitlines()]


def test_scores_are_sent_once_as_drafts_with_the_comment(ready, there, viva):
    tried = viva("canvas", "export", PS, "--dry-run")
    assert (tried.status, tried.err, there.puts) == (0, "", []) and not (ready / "lti").exists()
    assert "Nothing was sent." in tried.out
    first = viva("canvas", "export", PS)
    assert (first.status, first.err) == (0, "")
    assert sorted(there.puts) == [("1", "22.50", None), ("2", "10.00", None), ("3", "6.53", LATE)]
    assert {request.partition(" ")[0] for request in there.requests} == {"GET", "PUT"}
    assert TOKEN not in first.text and TOKEN not in (ready / "lti" / "canvas" / f"{PS}.jsonl").read_text()
    again = viva("canvas", "export")
    assert (again.status, len(there.puts), "0 scores sent" in again.out) == (0, 3, True)
    classroom.grade(ready, "cy", 8.25, days_late=1)
    assert viva("canvas", "export", PS).status == 0
    classroom.grade(ready, "cy", 7.25, days_late=1)
    assert viva("canvas", "export", PS).status == 0
    assert [(user, comment == LATE) for user, _, comment in there.puts[3:]] == [("3", False), ("3", False)]
    assert there.puts[-1] == ("3", "6.53", None)  # the comment is there already


@pytest.mark.parametrize("regraded", [True, False], ids=["regraded", "the same here"])
@pytest.mark.parametrize("change", [12.0, None, "excused"])
def test_what_a_person_changed_there_stays_unless_it_is_to_be_overwritten(sent, there, viva, change, regraded):
    if change == "excused":
        there.submitted(2).update(excused=True, score=None, entered_score=None)
    else:
        there.enter(2, change)
    if regraded:
        classroom.grade(sent, "bo", 11.0)
    before = there.points()
    result = viva("canvas", "export", PS)
    assert (result.status, there.puts, there.points()) == (0, [], before)
    assert ("excused there" in result.out) is (change == "excused")
    assert viva("canvas", "export", PS, "--overwrite").status == 0
    assert users(there) == ([] if change is None and not regraded else ["2"])


def test_a_grade_entered_before_the_first_export_or_during_it_stays(ready, there, viva):
    there.enter(1, 3.0)
    there.fault(ONE, lambda handler: there.enter(2, 4.0) or False, times=1)
    result = viva("canvas", "export", PS)
    assert (result.status, users(there), there.points()) == (1, ["3"], {1: 3.0, 2: 4.0, 3: 6.53})
    assert "3 was entered there" in result.out and "somebody changed this score there at the same time" in result.out
    assert "4 was entered there" in viva("canvas", "export", PS).out and len(there.puts) == 1


def test_what_students_see_at_once_is_left_out_unless_it_is_asked_for(ready, there, viva):
    there.submitted(2)["posted_at"] = "2026-09-20T10:00:00Z"
    for options in ((), ("--overwrite",)):
        result = viva("canvas", "export", PS, *options)
        assert (result.status, users(there)) == (0, ["1", "3"])
        assert "the student would see it at once" in result.out
    there.lists["assignments"][0]["post_manually"] = False
    refused = viva("canvas", "export", PS)
    assert (refused.status, "choose Manually" in refused.err) == (2, True)
    assert viva("canvas", "export", PS, "--visible").status == 0
    assert users(there) == ["1", "2", "3"]


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        ({"group_category_id": 99}, "all students of a group would get the score"),
        ({"moderated_grading": True}, "moderated or anonymous"),
        ({"anonymize_students": True}, "moderated or anonymous"),
        ({"grading_type": "pass_fail"}, "not graded by points"),
        ({"points_possible": 0}, "has 0 points"),
        ({"published": False}, "not published"),
    ],
)
def test_a_column_where_a_score_would_not_be_one_students_points_is_refused(ready, there, viva, more, sentence):
    there.lists["assignments"][0] |= more
    result = viva("canvas", "export", PS, "--visible", "--overwrite")
    assert (result.status, sentence in result.err, there.puts) == (2, True, []), result.err


def test_a_late_policy_of_canvas_is_warned_about_and_its_deduction_is_nobodys_change(ready, there, viva):
    there.policy = {"late_submission_deduction_enabled": True}
    there.submitted(3)["late"] = True
    assert "deducts points from 1 score," in viva("canvas", "export", PS, "--dry-run").out
    assert viva("canvas", "export", PS).status == 0
    assert there.submitted(3)["score"] == 4.03
    again = viva("canvas", "export", PS)
    assert (again.status, len(there.puts), "was entered there" in again.out) == (0, 3, False)
    there.policy = {"late_submission_deduction_enabled": False}
    classroom.grade(ready, "cy", 8.25, days_late=1)
    assert "deducts points" not in viva("canvas", "export", PS, "--dry-run").out


def test_scores_are_converted_to_the_points_there(ready, there, viva):
    there.lists["assignments"][0]["points_possible"] = 7.0
    result = viva("canvas", "export", PS)
    assert (result.status, there.points()) == (0, {1: 6.3, 2: 2.8, 3: 1.83})
    assert "has a maximum of 7 points" in result.out
    assert viva("canvas", "export", PS).status == 0 and len(there.puts) == 3


def test_whom_canvas_does_not_grade_is_named_and_the_rest_is_sent(ready, there, viva):
    del there.lists["assignments/4711/submissions"][1]
    result = viva("canvas", "export", PS)
    assert (result.status, users(there)) == (1, ["1", "3"])
    assert "Not accepted, member 2: it does not know this member" in result.out


def changed(then):
    """The change arrives, and its answer is another."""

    def act(handler: recorded.Handler) -> bool:
        if handler.command != "PUT":
            return False
        handler.system.put(2, handler.body.decode())
        return then(handler)

    return act


def only_puts(then):
    return lambda handler: handler.command == "PUT" and then(handler)


LOST = {
    "bad gateway": (changed(platform.status(502)), "with status 502"),
    "busy": (changed(platform.status(503, Retry_After="0")), "with status 503"),
    "half": (changed(truncated), "before its answer was complete"),
    "not JSON": (changed(lambda handler: handler.answer(200, raw=b"<html>")), "is not JSON"),
    "another grade": (changed(lambda handler: handler.answer(200, {"user_id": 2, "score": 1})), "shows another score"),
    "no number": (changed(lambda one: one.answer(200, raw=b'{"user_id": 2, "score": NaN}')), "is not JSON"),
}


@pytest.mark.parametrize("fault", LOST)
def test_a_score_whose_answer_is_lost_is_never_sent_a_second_time(ready, there, viva, fault):
    act, sentence = LOST[fault]
    classroom.grade(ready, "bo", 7.25, days_late=1)
    there.fault(ONE, act, times=3)
    result = viva("canvas", "export", PS)
    assert (result.status, sentence in result.err, users(there)) == (2, True, ["1", "2"]), result.text
    assert result.err.startswith(f"1 of 3 scores of {PS} were sent. ") and TOKEN not in result.text
    there.faults.clear()
    assert viva("canvas", "export", PS).status == 0
    assert (users(there), there.points()) == (["1", "2", "3"], ALL | {2: 6.53})
    assert [comment["comment"] for comment in there.submitted(2)["submission_comments"]] == [LATE]


@pytest.mark.parametrize("act", [throttled, platform.status(429, Retry_After="0")], ids=["403", "429"])
def test_a_score_that_canvas_had_no_time_for_is_sent_again_at_once(ready, there, viva, act):
    there.fault(ONE, only_puts(act), after=1, times=2)
    result = viva("canvas", "export", PS)
    assert (result.status, result.err, users(there)) == (0, "", ["1", "2", "3"])


@pytest.mark.slow
@pytest.mark.parametrize("arrived", [True, False], ids=["arrived", "not arrived"])
def test_a_killed_export_goes_on_and_sends_each_score_once(ready, there, viva, arrived):
    child: list[subprocess.Popen] = []

    def kill(handler: recorded.Handler) -> bool:
        if handler.command != "PUT":
            return False
        if arrived:
            there.put(2, handler.body.decode())
        child[0].kill()
        child[0].wait()
        return True

    there.fault(ONE, kill)
    command = [sys.executable, "-m", "viva", "canvas", "export", PS]
    with subprocess.Popen(command, cwd=ready, env=dict(os.environ)) as process:
        child.append(process)
    assert process.returncode == -9 and [line["done"] for line in ledger(ready)] == [False, True, False]
    there.faults.clear()
    assert viva("canvas", "export", PS).status == 0
    assert (users(there), there.points()) == (["1", "2", "3"], ALL)
