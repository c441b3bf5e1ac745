"""`viva roster` on real courses: what it says, writes and refuses."""

from __future__ import annotations

import json
import shutil

import pytest

from plugins.term.tests.lms.test_participants import CANVAS, NBGRADER, WORKSHEET
from tests.conftest import PROJECT
from viva.course.gradebook.identities import Identities

HEAD = "id,first_name,last_name,email,section\n"


@pytest.fixture
def course(tmp_path):
    """A course before anything was released."""
    (tmp_path / "course" / "source").mkdir(parents=True)
    shutil.copy(PROJECT / "nbgrader_config.py", tmp_path / "course")
    return tmp_path / "course"


def state(course) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in course.iterdir() if path.is_file()}


@pytest.mark.parametrize(
    ("title", "text", "count"),
    [
        ("Canvas", CANVAS, 6),
        ("Moodle", WORKSHEET, 2),
    ],
    ids=["canvas", "worksheet"],
)
@pytest.mark.slow
def test_a_list_is_tried_taken_and_taken_again(course, viva, title, text, count):
    (course / "list.csv").write_text(text)
    before = state(course)
    tried = viva("roster", "list.csv", "--dry-run")
    assert (tried.status, tried.err, state(course)) == (0, "", before)
    assert "Nothing was written. Run the same command without --dry-run to write it." in tried.out
    taken = viva("roster", "list.csv")
    assert (taken.status, taken.err) == (0, "")
    assert f"│ {title} " in taken.out and f"│ {count:3} │" in taken.out
    written = state(course)
    again = viva("roster", "list.csv")
    assert again.status == 0 and "Nothing changes: " in again.out
    assert state(course) | {"gradebook.db.lock": b""} == written | {"gradebook.db.lock": b""}
    assert "Nothing changes: " in viva("roster", "roster.csv").out


def test_new_changed_and_gone_are_named_on_screen_and_in_json(course, viva):
    (course / "old.csv").write_text(f"{HEAD}anna,Anna,Lee,a@x.edu,A\nbo,Bo,[red]Lee,b@x.edu,B\n")
    assert viva("roster", "old.csv").status == 0
    (course / "new.csv").write_text(f"{HEAD}anna,Anna,Lee,anna@x.edu,A\ncy,Cy,Lee,c@x.edu,B\n")
    found = json.loads(viva("roster", "new.csv", "--dry-run", "--json").out)
    assert (found["system"], found["ids"], found["dry_run"], found["unchanged"]) == ("nbgrader", "id", True, [])
    assert found["changed"] == [{"id": "anna", "changes": {"email": ["a@x.edu", "anna@x.edu"]}}]
    assert ([one["id"] for one in found["new"]], [one["id"] for one in found["gone"]]) == (["cy"], ["bo"])
    assert found["gone"][0]["section"] == "B"
    result = viva("roster", "new.csv")
    for piece in ("email: a@x.edu → anna@x.edu", "│ gone ", "Bo [red]Lee", "│ new ", "keeps their grades"):
        assert piece in result.out
    assert "In the gradebook with grades, but not on the roster: bo." in viva("roster", "new.csv").out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "Name one roster file"),
        (["a.csv", "b.csv"], "Name one roster file"),
        (["nothing.csv"], "The file nothing.csv does not exist"),
        (["source"], "source is a folder"),
        (["list.csv"], "lines 3, 5 have the same id 'anna'"),
        (["list.csv", "--from=blackboard"], "There is no system 'blackboard'"),
        (["list.csv", "--id=name"], "--id=name is not one of"),
        (["list.csv", "--columns=id=Nr"], "has no column 'Nr'"),
        (["list.csv", "--dry"], "Did you mean '--dry-run'?"),
    ],
)
def test_what_cannot_be_read_is_refused_in_sentences_and_nothing_is_written(course, viva, arguments, said):
    (course / "list.csv").write_text(f"{HEAD}bo,Bo,Lee,,\nanna,A,Lee,,\n,No,Id,,\nanna,Other,Lee,,\n")
    before = state(course)
    result = viva("roster", *arguments)
    assert (result.status, result.out, said in result.err) == (2, "", True)
    assert "Traceback" not in result.err
    assert state(course) == before


def test_a_folder_that_is_no_course_gets_no_gradebook(course, viva):
    (course / "source").rmdir()
    (course / "list.csv").write_text(NBGRADER)
    result = viva("roster", "list.csv")
    assert (result.status, "is not a course" in result.err) == (2, True)
    assert not (course / "gradebook.db").exists()


@pytest.mark.slow
def test_a_large_class_is_shortened_on_screen_and_whole_in_json(course, viva):
    (course / "list.csv").write_text(HEAD + "".join(f"s{number:05},A,{number},,\n" for number in range(10_000)))
    assert len(json.loads(viva("roster", "list.csv", "--dry-run", "--json").out)["new"]) == 10_000
    result = viva("roster", "list.csv")
    assert result.status == 0 and "and 9980 more" in result.out and result.out.count("\n") < 60


def test_a_class_with_other_ids_is_one_folded_sentence_and_json_has_them_all(course, viva):
    rows = [f"Student {number},Lee,s{number}@x.edu" for number in range(100)]
    (course / "list.csv").write_text(HEAD + "".join(f"s{n},{row},\n" for n, row in enumerate(rows)))
    assert viva("roster", "list.csv").status == 0
    (course / "list.csv").write_text(HEAD + "".join(f"t{n},{row.replace('@', '@y.')},\n" for n, row in enumerate(rows)))
    found = viva("roster", "list.csv", "--dry-run")
    assert found.out.count("with the same name was removed") == 1 and "100 times: " in found.out
    told = json.loads(viva("roster", "list.csv", "--dry-run", "--json").out)["notes"]
    assert sum("with the same name was removed" in note for note in told) == 100


def test_a_list_in_which_nobody_is_whom_the_course_knows_is_said_to_be_odd(course, viva):
    odd = "No enrolled student is in this file. Check that it is the file of"
    for name, ids in (("first", "ann bo"), ("other", "cy di"), ("later", "di ed")):
        rows = "".join(f"{one},{one.title()},Lee,{one}@x.edu,\n" for one in ids.split())
        (course / f"{name}.csv").write_text(HEAD + rows)
    assert odd not in viva("roster", "first.csv").out
    assert odd in viva("roster", "other.csv", "--dry-run").out
    assert odd in viva("roster", "other.csv").out
    assert odd not in viva("roster", "later.csv").out


def test_a_number_is_compared_within_its_system_and_one_without_a_system_is_asked_about_once(course, viva):
    head = "First Name,Last Name,SID,Email,Sections\n"
    (course / "scope.csv").write_text(head + "Anna,Lee,40017,anna@x.edu,A\n")
    rows = ["Student,ID,SIS User ID,SIS Login ID,Section", "    Points Possible,,,,", '"Chen, Zoe",40017,S9,zchen,B']
    (course / "canvas.csv").write_text("\n".join([*rows, ""]))
    first = viva("roster", "scope.csv")
    assert (first.status, "Their learning system is unknown" in first.out) == (0, False)
    second = viva("roster", "canvas.csv", "--json")
    document = json.loads(second.out[second.out.index("{") :])
    assert [one["id"] for one in document["new"]] == ["zchen"] and [one["id"] for one in document["gone"]] == ["40017"]
    numbers = Identities.read(course)
    assert (numbers.of("gradescope"), numbers.of("canvas")) == ({"40017": "40017"}, {"zchen": "40017"})
    (course / "identities.csv").unlink()  # as in a course of an older Viva
    asked = viva("roster", "canvas.csv", "--dry-run")
    assert "Their learning system is unknown" in asked.out
    assert "There is no learning system" in viva("roster", "--numbers=mars").err
    said = viva("roster", "--numbers=gradescope")
    assert (said.status, "2 numbers in the gradebook belong to gradescope" in said.out) == (0, True)
    assert "Their learning system is unknown" not in viva("roster", "canvas.csv", "--dry-run").out
