"""`viva lti export` with a learning system on the loopback: what is sent, once, and what stays."""

from __future__ import annotations

import gzip
import json
import logging
import os
import subprocess
import sys

import pytest
from nbgrader.api import Gradebook

from plugins.lti.tests import platform
from plugins.lti.tests.conftest import member
from plugins.lti.tests.hostile import OK, REPLIES, answered, raw, said
from plugins.term.tests.sheets import classroom
from tests.conftest import load
from viva.course.gradebook import journal
from viva.course.grading import batch, busy
from viva.course.processes import leftovers
from viva.verdict import CourseError
from viva_lti import transport

PS = classroom.PS
ALL = {"u-0": 22.5, "u-1": 10.0, "u-2": 6.53}


@pytest.fixture
def sent(registered, system, viva):
    """A course whose scores were sent."""
    assert viva("lti", "export", PS).status == 0 and system.points() == ALL
    system.scores.clear()
    return registered


def ledger(course) -> list[dict]:
    return [json.loads(line) for line in (course / "lti" / f"{PS}.jsonl").read_text().splitlines()]


def users(system: platform.System) -> list[str]:
    return sorted(score["userId"] for score in system.scores)


def test_scores_are_sent_once_into_a_new_column_and_a_second_run_sends_nothing(registered, system, viva):
    tried = viva("lti", "export", PS, "--dry-run")
    assert (tried.status, tried.err, system.columns, system.scores) == (0, "", {}, [])
    assert "Nothing was sent." in tried.out and not (registered / "lti").exists()
    first = viva("lti", "export", PS)
    assert (first.status, first.err) == (0, "")
    (column,) = system.columns.values()
    assert (column["label"], column["scoreMaximum"], column["resourceId"]) == (PS, 25, f"viva:{PS}")
    assert (system.points(), len(system.scores)) == (ALL, 3)
    students = {(line["user"], line["student"]) for line in ledger(registered)}  # by which --forget finds them
    assert ("u-0", "anna") in students and len(students) == 3
    again = viva("lti", "export")
    assert (again.status, len(system.scores), len(system.columns)) == (0, 3, 1)
    assert "0 scores sent" in again.out


def test_a_changed_score_alone_is_sent_again(sent, system, viva):
    classroom.grade(sent, "anna", 23.0)
    assert "22.5 → 23" in viva("lti", "export", PS, "--dry-run").out
    assert viva("lti", "export", PS).status == 0
    assert (users(system), system.points()) == (["u-0"], ALL | {"u-0": 23.0})


@pytest.mark.parametrize("regraded", [True, False], ids=["regraded", "the same here"])
@pytest.mark.parametrize("there", [12.0, None], ids=["changed", "removed"])
def test_what_a_person_changed_there_stays_unless_it_is_to_be_overwritten(sent, system, viva, there, regraded):
    system.enter("u-1", there)
    if regraded:
        classroom.grade(sent, "bo", 11.0)
    before = system.points()
    result = viva("lti", "export", PS)
    assert (result.status, system.scores, system.points()) == (0, [], before)
    assert ("12 was entered there" in result.out) is (there is not None)
    assert ("is not there any more" in result.out) is (there is None and regraded)
    assert viva("lti", "export", PS, "--overwrite").status == 0
    assert users(system) == ([] if there is None and not regraded else ["u-1"])


def test_a_grade_entered_before_the_first_export_stays(registered, system, viva):
    system.columns["1"] = {
        "id": f"{system.url}/courses/1/items/1/item?type_id=3", "label": "By hand", "scoreMaximum": 25,
        "resourceId": f"viva:{PS}",
    }  # fmt: skip
    system.enter("u-0", 22.5)
    system.enter("u-1", 3.0)
    assert viva("lti", "export", PS).status == 0
    assert (users(system), system.points()) == (["u-2"], ALL | {"u-1": 3.0})
    classroom.grade(registered, "anna", 24.0)
    assert "22.5 was entered there" in viva("lti", "export", PS).out
    assert system.points()["u-0"] == 22.5


def test_a_system_that_counts_in_other_points_is_compared_in_ours(registered, system, viva):
    assert viva("lti", "export", PS).status == 0
    for result in system.results["1"].values():
        result["resultScore"], result["resultMaximum"] = round(result["resultScore"] / 25 * 7, 2), 7
    system.columns["1"]["scoreMaximum"] = 7
    system.scores.clear()
    result = viva("lti", "export", PS)
    assert (result.status, system.scores) == (0, [])
    assert "has a maximum of 7 points" in result.out and "was entered there" not in result.out


@pytest.mark.slow
@pytest.mark.parametrize("arrived", [True, False], ids=["arrived", "not arrived"])
def test_a_killed_export_goes_on_and_sends_each_score_once(registered, system, viva, arrived):
    child: list[subprocess.Popen] = []

    def kill(handler: platform.Handler) -> bool:
        if arrived:
            grades = platform.Grades(platform.Asked(handler), platform.Conf(system=system), "")
            grades.system = system
            grades.update_score("1", json.loads(handler.body))
        child[0].kill()
        child[0].wait()
        return True

    system.fault("/scores", kill, after=1, times=1)
    with subprocess.Popen([sys.executable, "-m", "viva", "lti", "export", PS], cwd=registered) as process:
        child.append(process)
    assert process.returncode == -9 and [line["done"] for line in ledger(registered)] == [False, True, False]
    with (registered / "lti" / f"{PS}.jsonl").open("ab") as file:
        file.write(b'{"column":"half a li')
    assert viva("lti", "export", PS).status == 0
    assert (users(system), system.points(), len(system.columns)) == (sorted(ALL), ALL, 1)
    assert viva("lti", "export", PS).status == 0 and len(system.scores) == 3


def test_an_export_that_a_platform_stops_says_how_far_it_came_and_goes_on(registered, system, viva):
    system.fault("/scores", platform.status(429, Retry_After="86400"), after=1, times=1)
    result = viva("lti", "export", PS)
    assert (result.status, len(system.scores)) == (2, 1)
    assert result.err.startswith(f"1 of 3 scores of {PS} were sent. ") and "status 429" in result.err
    assert viva("lti", "export", PS).status == 0
    assert (users(system), system.points()) == (sorted(ALL), ALL)


def test_a_wait_that_a_platform_asks_for_and_a_token_that_ends_are_not_noticed(registered, system, viva):
    def end(handler: platform.Handler) -> bool:
        system.revoked |= set(system.granted)
        return False

    system.fault("/scores", platform.status(429, Retry_After="0"), times=2)
    system.fault("/scores", end, after=1, times=1)
    result = viva("lti", "export", PS)
    assert (result.status, result.err, users(system)) == (0, "", sorted(ALL))
    assert system.count("/token") == 3


def test_who_cannot_be_graded_there_is_named_and_the_rest_is_sent(registered, system, viva):
    system.refuses = {"u-0"}
    result = viva("lti", "export", PS)
    assert (result.status, users(system)) == (1, ["u-1", "u-2"])
    assert "Not accepted, member u-0: it does not grade this member (status 422)." in result.out


def test_whom_nobody_knows_gets_nothing(registered, system, viva):
    classroom.grade(registered, "bo", 10.0, waits=True)
    with Gradebook(f"sqlite:///{registered / 'gradebook.db'}") as gradebook:
        gradebook.add_student("new")
    classroom.grade(registered, "new", 5.0)
    system.members[0] |= {"email": "other@x.edu"}
    system.members.append(member(9, "bo", email="BO@x.edu"))
    document = json.loads(viva("lti", "export", PS, "--json").out)["assignments"][0]
    assert users(system) == ["u-2"]
    assert sorted(line["student"] for line in document["absent"]) == ["anna", "new"]
    assert [line["what"] for line in document["left"]] == ["grading is not finished"]
    assert [line["what"].partition(" ")[2].partition(" ")[0] for line in document["strangers"]] == ["u-0", "u-1", "u-9"]


def test_the_comment_tells_the_penalty_and_where_the_page_is(registered, system, viva):
    classroom.page(registered, "anna")
    with (registered / "nbgrader_config.py").open("a") as file:
        file.write('\nc.Lti.pages = "https://x.edu/{student}/{assignment}/{notebook}.html"\n')
        file.write('c.Lti.username_key = "email"\n')
    assert viva("lti", "export", PS).status == 0
    comments = {score["userId"]: score.get("comment") for score in system.scores}
    assert comments["u-0"] == f"Feedback: https://x.edu/anna/{PS}/book.html"
    assert (comments["u-1"], comments["u-2"]) == (None, "Late penalty: 0.72 of 7.25 points.")


def leading(link: str):
    return lambda handler: handler.answer(200, {"members": []}, Link=f'<{link}>; rel="next"')


FAULTS = {
    "refused": ("/members", platform.status(403), "Turn on this service"),
    "broken": ("/members", platform.status(500), "Its server has an error."),
    "elsewhere": ("/members", platform.status(302, Location="http://evil.example/"), "to another address"),
    "nothing": ("/members", platform.status(404), "has nothing about members at http://127.0.0.1"),
    "a login page": ("/members", said("<html>Log in"), "about members is not JSON."),
    "another form": ("/members", said('{"members": [{"roles": 7}]}'), "does not have the form of the standard"),
    "a list": ("/members", said("[]"), "does not have the form of the standard"),
    "nobody": ("/members", said('{"members": []}'), "none of them is an active student"),
    "circle": ("/members", leading("?page=1"), "never ends"),
    "unsafe": ("/members", leading("http://evil.example/"), "begins with http:"),
    "a page elsewhere": ("/members", leading("https://evil.example/"), "points to another site for members: evil."),
    "a page on the loopback": ("/members", leading("http://127.0.0.1:9/"), "points to another site for members: 127."),
    "a page nowhere": ("/members", leading("http://[::1"), "has a link to a next page that is not valid"),
    "deep": ("/members", said('{"members": ' + "[" * 10**5), "about members is not JSON"),
    "not UTF-8": ("/members", raw(answered(b'{"members": [{"name": "\xff"}]}')), "about members is not JSON"),
    "not UTF-8 in a key": ("/members", raw(answered(b"\xff")), "about members is not JSON"),
    "a number of 10 000 digits": ("/members", said('{"members": [{"user_id": ' + "9" * 10**4), "is not JSON"),
    "a length of its own": ("/members", raw(OK + b"Content-Length: -5\r\n\r\n{}"), "about members"),
    "a bomb": ("/members", raw(answered(gzip.compress(bytes(2**22)), "Content-Encoding: gzip")), "more than 1 MB"),
    "deep token": ("/token", said("[" * 10**5), "its answer is not JSON"),
    "token not UTF-8": ("/token", raw(answered(b'{"access_token": "\xff"}')), "its answer is not JSON"),
    "token of lists": ("/token", said('{"access_token": ["x"], "token_type": ["bearer"]}'), "no bearer token"),
    "a column elsewhere": (
        "/items/1/item",
        said('{"id": "http://127.0.0.1:9/x"}'),
        "points to another site for a column: 127.0.0.1:9",
    ),
    "points of nan": ("/results", said('[{"userId": "u-1", "resultScore": "nan"}]'), "is not a number of points"),
    "points of 1e300": ("/results", said('[{"userId": "u-1", "resultScore": 1e300}]'), "is not a number of points"),
    "a maximum of nan": ("/items/1/item", said('{"id": "U/courses/1/items/1/item", "scoreMaximum": "inf"}'), "maximum"),
    "no token": ("/token", said("{}"), "has no bearer token"),
    "token page": ("/token", said("<html>"), "its answer is not JSON"),
    "no tokens": ("/token", platform.status(500), "gave no token, with status 500"),
    "scope": ("/token", lambda one: one.answer(400, {"error": "invalid_scope"}), "turn on two services"),
    "strange": (
        "/token",
        lambda one: one.answer(400, {"error": {"x": "<b>"}}),
        "refuses this course (an unknown error",
    ),
    "columns": ("/items/1/item", said('{"id": 7}'), "does not have the form of the standard"),
    "address": ("/items/1/item", said('{"id": "file:///x"}'), "a column without an address"),
    "results": ("/results", said('[{"userId": []}]'), "does not have the form of the standard"),
    "score": ("/scores", platform.status(401), "Turn on this service"),
    "half": ("/members", *REPLIES["half"]),  # Canvas is asked by the same functions, with all of these replies
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_platform_that_answers_slowly_wrongly_or_half_gives_one_sentence(
    sent, system, viva, monkeypatch, caplog, fault
):
    caplog.set_level(logging.DEBUG)
    monkeypatch.setattr(transport, "LARGEST", 2**20)
    classroom.grade(sent, "bo", 11.0)
    path, act, sentence = FAULTS[fault]
    system.fault(path, act)
    before, book = ledger(sent), (sent / "gradebook.db").read_bytes()
    result = viva("lti", "export", PS)
    assert (result.status, sentence in result.err, result.err.count("\n")) == (2, True, 1), result.err
    assert "Traceback" not in result.text and system.scores == []
    assert (sent / "gradebook.db").read_bytes() == book
    assert [line for line in ledger(sent) if line["done"]] == [line for line in before if line["done"]]
    _require_no_secret(result.text + caplog.text, system)


def _require_no_secret(text: str, system: platform.System) -> None:
    secrets = {part for token in (*system.granted, *system.assertions) for part in token.split(".")[1:]}
    assert system.granted and not [secret for secret in secrets if secret in text]
    assert "Bearer" not in text and "client_assertion" not in text


def test_a_wrong_key_is_refused_and_nothing_secret_is_said(registered, system, viva, caplog):
    caplog.set_level(logging.DEBUG)
    system.tool_keys["keys"][0] |= {"n": platform.RSAKey.generate_key(2048).as_dict(private=False)["n"]}
    result = viva("lti", "export", PS, "--debug")
    assert (result.status, "refuses this course (invalid_client)" in result.err) == (2, True)
    assert "Traceback" not in result.text
    _require_no_secret(result.text + caplog.text, system)


def test_a_system_that_is_not_there_is_named(registered, system, viva):
    path = registered / "lti.json"
    path.write_text(path.read_text().replace(system.url, "http://127.0.0.1:9"))
    os.chmod(path, 0o600)
    (next(iter((registered.parent / "config" / "viva" / "lti").iterdir()))).rename(
        registered.parent / "config" / "viva" / "lti" / "127.0.0.1-9.pem"
    )
    result = viva("lti", "export", PS)
    assert (result.status, "127.0.0.1:9 cannot be reached" in result.err) == (2, True)


def test_a_system_that_forgets_what_a_column_is_called_gets_no_second_one(registered, system, viva):
    system.forgets = True
    assert viva("lti", "export", PS).status == 0
    assert viva("lti", "export", PS).status == 0
    assert (len(system.columns), users(system)) == (1, sorted(ALL))


def test_a_column_that_lost_its_name_and_its_place_in_the_list_is_found_at_its_own_address(sent, system, viva):
    del system.columns["1"]["resourceId"]
    system.enter("u-1", 12.0)
    classroom.grade(sent, "anna", 23.0)
    result = viva("lti", "export", PS)
    assert (result.status, len(system.columns), users(system)) == (0, 1, ["u-0"])
    assert system.points() == ALL | {"u-0": 23.0, "u-1": 12.0}


def test_a_column_that_was_deleted_there_is_made_again_only_when_that_is_asked_for(sent, system, viva):
    system.columns.clear()
    system.results.clear()
    result = viva("lti", "export", PS)
    assert (result.status, system.scores, system.columns) == (2, [], {})
    assert "does not have the column of" in result.err and "--overwrite" in result.err
    assert viva("lti", "export", PS, "--overwrite").status == 0
    assert (len(system.columns), system.points()) == (1, ALL)


def test_a_grade_that_a_teacher_enters_during_the_export_stays(registered, system, viva):
    system.fault("/scores", lambda handler: system.enter("u-2", 3.0), times=1)  # while the first one is sent
    result = viva("lti", "export", PS)
    assert (result.status, users(system), system.points()) == (1, ["u-0", "u-1"], ALL | {"u-2": 3.0})
    assert "Not accepted, member u-2: somebody changed this score there at the same time" in result.out
    assert "3 was entered there" in viva("lti", "export", PS).out and len(system.scores) == 2


def test_while_a_regrade_is_half_done_no_score_is_sent(registered, system, viva):
    course = load(registered)[0]
    intent = journal.Intent("regrade", f"viva regrade {PS}", {"assignment": PS}, waits=True)
    journal.begin(course, intent)
    done = viva("lti", "export", PS)
    assert (done.status, system.scores) == (2, [])
    assert f"'viva regrade {PS}' was stopped before its end, so some scores of {PS} are old." in done.err
    journal.end(course, intent)
    assert viva("lti", "export", PS).status == 0 and len(system.scores) == 3


def test_a_score_that_a_system_takes_and_does_not_show_is_named_and_not_taken_for_sent(registered, system, viva):
    def lose(handler: platform.Handler) -> bool:
        return handler.answer(200) if json.loads(handler.body)["userId"] == "u-1" else False

    system.fault("/scores", lose, times=3)
    result = viva("lti", "export", PS)
    assert (result.status, "member u-1: the score was sent, but the column shows another one" in result.out) == (
        1,
        True,
    )
    assert "2 scores sent" in result.out
    assert viva("lti", "export", PS).status == 0 and system.points() == ALL


def test_another_command_works_while_an_export_waits_for_the_network_and_a_second_export_does_not(
    registered, system, viva
):
    refused, loaded = [], load(registered)[0]

    def meanwhile(handler: platform.Handler) -> bool:
        with (
            leftovers.alone(registered / batch.LOCK, refused.append),
            pytest.raises(CourseError) as error,
            busy.sending(loaded),
        ):
            pass
        refused.append(str(error.value))
        return False

    for path in ("/members", "/items", "/results", "/scores"):
        system.fault(path, meanwhile, times=1)
    assert viva("lti", "export", PS).status == 0 and system.points() == ALL
    assert len(refused) == 4 and {"another export to a learning system is running" in one for one in refused} == {True}


def test_a_clock_that_is_wrong_is_told_as_a_clock(registered, system, viva):
    def late(handler: platform.Handler) -> bool:
        handler.date_time_string = lambda timestamp=None: "Mon, 05 Oct 2026 10:00:00 GMT"
        return handler.answer(400, {"error": "invalid_client"})

    system.fault("/token", late)
    result = viva("lti", "export", PS)
    assert (result.status, "The clock of this machine is" in result.err, "client id" in result.err) == (2, True, False)


def test_the_sid_of_gradescope_is_not_a_number_of_another_system(registered, system, viva):
    """A student has it as lms_user_id and an address; a member with this user_id has another name and address."""
    with Gradebook(f"sqlite:///{registered / 'gradebook.db'}") as gradebook:
        gradebook.update_or_create_student("anna", lms_user_id="40017")
    system.members = [member(1, "zoe", user_id="40017", name="Zoe Chen", family_name="Chen")]
    document = json.loads(viva("lti", "export", PS, "--json").out)["assignments"][0]
    assert (system.scores, len(document["absent"])) == ([], 3)


def test_two_columns_of_one_assignment_are_refused(registered, system, viva):
    for number in "12":
        address = f"{system.url}/courses/1/items/{number}/item"
        system.columns[number] = {"id": address, "label": f"Copy {number}", "resourceId": f"viva:{PS}"}
    result = viva("lti", "export", PS)
    assert (result.status, "has 2 columns" in result.err, system.scores) == (2, True, [])
