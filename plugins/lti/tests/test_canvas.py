"""`viva canvas` and `viva roster --from=canvas` against recordings on the loopback; no real Canvas was asked."""

from __future__ import annotations

import csv
import json
import logging

import pytest

from plugins.lti.tests import platform, recorded
from plugins.lti.tests.hostile import REPLIES, said
from plugins.lti.tests.recorded import TOKEN, enrollment, group, user
from plugins.term.tests.sheets import classroom
from viva_lti import canvascourse, transport

PS = classroom.PS


def roster(course) -> dict[str, dict]:
    with (course / "roster.csv").open() as file:
        return {row["id"]: row for row in csv.DictReader(file)}


def test_the_token_is_outside_the_course_for_its_owner_alone(joined, viva, tmp_path):
    (kept,) = (tmp_path / "config").rglob("*.token")
    assert (kept.read_text().strip(), kept.stat().st_mode & 0o777) == (TOKEN, 0o600)
    holders = [path for path in joined.rglob("*") if path.is_file() and TOKEN.encode() in path.read_bytes()]
    assert holders == [] and set(json.loads((joined / "canvas.json").read_text())) == {"url", "course"}
    kept.chmod(0o644)
    refused = viva("roster", "--from=canvas")
    assert (refused.status, "Other users can read" in refused.err) == (2, True)
    kept.unlink()
    refused = viva("roster", "--from=canvas")
    assert (refused.status, canvascourse.VARIABLE in refused.err) == (2, True)
    refused = viva("roster", "--from=canvas", f"--Canvas.keys={joined}")
    assert (refused.status, "is in the course folder" in refused.err) == (2, True)


def test_a_token_in_the_environment_is_used_and_written_nowhere(course, there, viva, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv(canvascourse.VARIABLE, TOKEN)
    assert viva("canvas", "register", f"{there.url}/courses/12").status == 0
    assert viva("roster", "--from=canvas", "--dry-run").status == 0
    assert not list((tmp_path / "config").rglob("*"))


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ([], "This command needs an action"),
        (["export", PS], "is not registered with Canvas"),
        (["register"], "is not registered with Canvas"),
        (["register", "https://canvas.example.edu"], "is not the address of a course"),
        (["register", "http://canvas.example.edu/courses/12"], "begins with http:"),
        (["register", "https://user:pass@canvas.example.edu/courses/12"], "is not an address"),
        (["register", "{url}/courses/12", "--token-file={course}/secret"], "is in the course folder"),
        (["register", "{url}/courses/12", "--token-file={course}/../prose"], "This is not an access token"),
        (["register", "{url}/courses/12", "--token-file={course}/../wrong"], "The access token is wrong or expired"),
        (["register", "{url}/courses/13", "--token-file={course}/../right"], "with status 404"),
    ],
)
def test_what_cannot_be_registered_is_refused_in_a_sentence(
    course, there, viva, tmp_path, monkeypatch, words, sentence
):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.delenv(canvascourse.VARIABLE, raising=False)
    for name, text in {"prose": "two words", "wrong": "7~wrongwrongwrong", "right": TOKEN}.items():
        (tmp_path / name).write_text(text)
    result = viva("canvas", *(word.format(url=there.url, course=course) for word in words))
    assert (result.status, sentence in result.err, result.err.count("\n")) == (2, True, 1), result.err
    assert not (course / "canvas.json").exists() and not list((tmp_path / "config").rglob("*"))
    assert TOKEN not in result.text and "wrongwrong" not in result.text


def test_members_of_all_pages_become_the_roster_with_sections_and_no_test_student(joined, there, viva):
    there.limit = 2
    there.lists["users"] += [
        user(4, "dana", sortable_name=None, name="Dana von Lee", sis_user_id=None, email=None),
        user(5, "test", enrollments=[{"type": "StudentViewEnrollment", "course_section_id": 31}]),
        user(6, "eve", login_id=None),
    ]
    before = (joined / "roster.csv").read_bytes()
    assert viva("roster", "--from=canvas", "--dry-run").status == 0
    assert (joined / "roster.csv").read_bytes() == before
    result = viva("roster", "--from=canvas")
    assert (result.status, result.err, there.count("/users")) == (0, "", 6)
    rows = roster(joined)
    assert sorted(rows) == ["6", "anna", "bo", "cy", "dana"]
    assert [rows["bo"][name] for name in ("lms_user_id", "sis", "section")] == ["2", "S2", "Friday"]
    assert (rows["dana"]["first_name"], rows["dana"]["last_name"]) == ("Dana von", "Lee")
    assert "does not show the logins of 1 student" in result.out
    assert there.queries[-1]["enrollment_type[]"] == ["student"]
    assert "Nothing changes: " in viva("roster", "--from=canvas").out


def test_names_are_data_and_never_html_and_a_name_like_a_date_stops_nothing(joined, there, viva):
    there.lists["users"] += [
        user(7, "mallory", sortable_name="<script>alert(1)</script>, M\u202e"),
        user(8, "dated", name="9999-12-31T23:00:00-10:00", sortable_name="9999-12-31T23:00:00-10:00"),
    ]
    result = viva("roster", "--from=canvas")
    assert (result.status, result.err) == (0, "")
    rows = roster(joined)
    assert "<" not in rows["mallory"]["last_name"] and "\u202e" not in rows["mallory"]["first_name"]
    assert rows["dated"]["lms_user_id"] == "8"


def test_groups_come_of_one_set_and_several_sets_are_asked_about(joined, there, viva):
    there.lists["groups"] = [group(51, "Team A"), group(52, "Team B")]
    there.lists["enrollments"] = [enrollment(1, 51), enrollment(2, 51, 70), enrollment(3)]
    assert viva("roster", "--from=canvas").status == 0
    assert {name: row["group"] for name, row in roster(joined).items()} == {
        "anna": "Team A",
        "bo": "Team A",
        "cy": "",
    }
    there.lists["groups"].append(group(70, "Readers", 98))
    result = viva("roster", "--from=canvas")
    assert "Canvas has 2 group sets, so no groups were read." in result.out
    assert roster(joined)["bo"]["group"] == "Team A"  # what is not read changes nothing
    assert viva("roster", "--from=canvas", "--Canvas.group_set=98").status == 0
    assert {name: row["group"] for name, row in roster(joined).items()} == {"anna": "", "bo": "Readers", "cy": ""}
    result = viva("roster", "--from=canvas", "--Canvas.group_set=5")
    assert (result.status, "The sets with groups are: 98, 99" in result.err) == (2, True)


def test_a_file_from_canvas_asks_nothing_of_the_network(joined, there, viva, tmp_path):
    path = tmp_path / "grades.csv"
    path.write_text('Student,ID,SIS User ID,SIS Login ID,Section\n"Lee, Anna",1,S1,anna,Monday\n')
    result = viva("roster", str(path), "--from=canvas", "--dry-run")
    assert (result.status, result.err, there.requests) == (0, "", [])


def test_times_of_submission_are_written_as_collect_reads_them(joined, there, viva, tmp_path):
    assert viva("roster", "--from=canvas").status == 0
    tried = viva("canvas", "times", PS, "--dry-run")
    path = joined / f"{PS}-times.csv"
    assert (tried.status, path.exists()) == (0, False)
    result = viva("canvas", "times", PS)
    assert (result.status, result.err) == (0, "")
    assert path.read_text() == ("student_id,timestamp\nanna,2026-09-14T09:30:00Z\nbo,2026-09-14T12:30:00Z\n")
    archive = tmp_path / "submissions"
    archive.mkdir()
    for name in ("leeanna_1_9001_book.ipynb", "leebo_2_9002_book.ipynb"):
        (archive / name).write_bytes((joined / "source" / PS / "book.ipynb").read_bytes())
    done = viva("collect", str(archive), f"--assignment={PS}", f"--times={path}")
    stamps = {
        student: (joined / "submitted" / student / PS / "timestamp.txt").read_text().strip()
        for student in ("anna", "bo")
    }
    assert stamps == {"anna": "2026-09-14 09:30:00 UTC", "bo": "2026-09-14 12:30:00 UTC"}, done.text


def test_an_assignment_of_another_name_or_of_two_is_asked_about(joined, there, viva):
    there.lists["assignments"] = [recorded.assignment(1, "Homework"), recorded.assignment(4711, "homework")]
    result = viva("canvas", "times", PS)
    assert (result.status, f"has no assignment called '{PS}'" in result.err) == (2, True)
    there.lists["assignments"] += [recorded.assignment(2, PS), recorded.assignment(3, f"{PS} ")]
    result = viva("canvas", "times", PS)
    assert (result.status, "has 2 assignments called" in result.err) == (2, True)
    with (joined / "nbgrader_config.py").open("a") as file:
        file.write(f"\nc.Canvas.assignments = {{'{PS}': 4711}}\n")
    assert viva("canvas", "times", PS).status == 0


THROTTLED = b"403 Forbidden (Rate Limit Exceeded)\n"


def throttled(handler: recorded.Handler) -> bool:
    return handler.answer(403, raw=THROTTLED, X_Rate_Limit_Remaining="0.0")


def leading(link: str):
    return lambda handler: handler.answer(200, [], Link=f'<{link.format(url=handler.system.url)}>; rel="next"')


def quoting(status: int):
    """An answer that repeats the token, as a proxy's page for errors may."""
    return lambda handler: handler.answer(status, raw=f"<h1>{handler.headers['Authorization']}</h1>".encode())


FAULTS = {
    "no permission": (quoting(403), "may not read this in the course"),
    "no permission, no JSON": (quoting(401), "The access token is wrong or expired"),
    "throttled": (throttled, "It has too many requests"),
    "bad request": (quoting(400), "with status 400"),
    "not processed": (quoting(422), "with status 4"),
    "broken": (quoting(500), "with status 500. Its server has an error."),
    "away": (platform.status(503, Retry_After="86400"), "with status 503. Its server has an error."),
    "elsewhere": (platform.status(302, Location="http://evil.example/"), "sends requests to another address"),
    "a login page": (said("<html>Log in"), "is not JSON"),
    "an object": (said('{"errors": []}'), "does not have the form that Canvas describes"),
    "another form": (said('[{"id": null}]'), "does not have the form that Canvas describes"),
    "a list of texts": (said('["a"]'), "does not have the form that Canvas describes"),
    "nested": (said("[" * 200_000), "does not have the form that Canvas describes"),
    "too large": (said("[" + " " * 70_000 + "]"), "MB as one answer"),
    "circle": (leading("{url}/api/v1/courses/12/users?page=1"), "The list of members of"),
    "next elsewhere": (leading("http://evil.example/api/v1/x"), "at another address. Nothing was sent there"),
    "next like ours": (leading("{url}.evil.example/api/v1/x"), "at another address. Nothing was sent there"),
    "nobody": (said("[]"), "lists no students of course 12"),
} | REPLIES


@pytest.mark.parametrize("fault", FAULTS)
def test_a_canvas_that_answers_slowly_wrongly_or_half_gives_one_sentence_without_the_token(
    joined, there, viva, monkeypatch, caplog, fault
):
    caplog.set_level(logging.DEBUG)
    if "in time" in FAULTS[fault][1]:
        monkeypatch.setattr(transport, "LONGEST", 2.0)
    monkeypatch.setattr(transport, "LARGEST", 2**16 if fault == "too large" else transport.LARGEST)
    act, sentence = FAULTS[fault]
    there.fault("/users", act)
    before = {path: path.read_bytes() for path in joined.rglob("*") if path.is_file()}
    result = viva("roster", "--from=canvas", "--debug")
    assert (result.status, sentence in result.err) == (2, True), result.err
    assert "Traceback" not in result.text and TOKEN not in result.text + caplog.text
    assert TOKEN[-5:] not in result.text + caplog.text
    assert {path: path.read_bytes() for path in joined.rglob("*") if path.is_file()} == before
    assert not [request for request in there.requests if not request.startswith("GET ")]


@pytest.mark.parametrize("act", [throttled, platform.status(503), platform.status(429, Retry_After="0")])
def test_a_canvas_that_is_busy_for_a_moment_is_asked_again(joined, there, viva, act):
    there.fault("/users", act, times=2)
    result = viva("roster", "--from=canvas")
    assert (result.status, result.err, there.count("/users")) == (0, "", 3)


def test_of_half_a_list_nothing_is_written(joined, there, viva):
    there.limit = 2
    before = (joined / "roster.csv").read_bytes()
    there.fault("/users", platform.status(500), after=1)
    result = viva("roster", "--from=canvas")
    assert (result.status, (joined / "roster.csv").read_bytes()) == (2, before)
