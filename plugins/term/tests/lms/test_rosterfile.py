"""Who is new, changed and gone, and what is kept of them; the gradebooks are real ones."""

from __future__ import annotations

import contextlib
import re
import shutil
import sqlite3
from dataclasses import replace

import pytest

from tests.conftest import PROJECT, load
from viva.course.gradebook import joined
from viva.course.gradebook.identities import Identities
from viva.verdict import CourseError
from viva_term.lms.rosterfile import COLUMNS, Difference, Entry, Roster

ANNA = Entry("anna", "Anna", "Lee", "anna@x.edu", "1", "alee", "A", "g1")
BO = Entry("bo", "Bo", "King, Jr.", "bo@x.edu", "2", "bking", "B")
ZOE = Entry("zoe", "Zoë 🙂", '=O"Neil', "", "", "", "A")


@pytest.fixture
def course(tmp_path):
    """A course before anything was released."""
    (tmp_path / "course" / "source").mkdir(parents=True)
    shutil.copy(PROJECT / "nbgrader_config.py", tmp_path / "course")
    return load(tmp_path / "course")[0]


def take(course, *entries: Entry, **options) -> Difference:
    """Read a newer list into the course."""
    roster = Roster.of(course)
    difference = roster.compared(entries, **options)
    roster.write(course, difference)
    return difference


def test_a_first_list_is_new_and_the_same_list_changes_nothing(course):
    assert take(course, ZOE, ANNA, BO) == Difference(new=(ANNA, BO, ZOE))
    path = course.root / "roster.csv"
    before = path.read_bytes(), course.gradebook_file.read_bytes(), path.stat().st_ino
    assert take(course, BO, ANNA, ZOE) == Difference(same=(ANNA, BO, ZOE))
    assert (path.read_bytes(), course.gradebook_file.read_bytes(), path.stat().st_ino) == before
    assert Roster.of(course).entries == {one.id: one for one in (ANNA, BO, ZOE)}
    assert path.read_text().splitlines()[:2] == [",".join(COLUMNS), "anna,Anna,Lee,anna@x.edu,1,alee,A,g1,"]


@pytest.mark.parametrize("name", ["=1+1", "+1", "-x", "@SUM(A1)", "\t=1", "\uff1d1+1", "\ufe62x", "'=1", "'t Hooft"])
def test_no_name_in_the_list_is_a_formula_and_each_is_read_as_it_was(course, name):
    student = Entry("anna", name, name, login=name, group=name)
    take(course, student)
    assert take(course, student) == Difference(same=(student,))
    computed = re.compile(r"[=+\-@\t\uff1d\ufe62]")
    assert not any(map(computed.match, (course.root / "roster.csv").read_text().splitlines()[1].split(",")))


def test_a_list_that_was_written_without_marks_is_read(course):
    take(course, ZOE)
    path = course.root / "roster.csv"
    path.write_text(path.read_text().replace("'=", "="))
    assert take(course, ZOE).same == (ZOE,)
    assert "'=O" in path.read_text()


def test_the_gradebook_has_what_it_has_columns_for(course):
    take(course, ANNA, ZOE)
    with course.gradebook() as gradebook:
        found = {one.id: (one.first_name, one.last_name, one.email, one.lms_user_id) for one in gradebook.students}
    assert found == {"anna": ("Anna", "Lee", "anna@x.edu", "1"), "zoe": ("Zoë 🙂", '=O"Neil', None, None)}


def test_changes_are_told_by_column_and_what_a_list_does_not_tell_of_stays(course):
    take(course, ANNA, BO)
    newer = Entry("anna", "Anna", "Lee", "new@x.edu")
    difference = take(course, newer, BO, columns={"first_name", "last_name", "email"})
    ((old, new),) = difference.changed
    assert (old, old.changes(new)) == (ANNA, {"email": ("anna@x.edu", "new@x.edu")})
    assert (difference.same, Roster.of(course).entries["anna"].login) == ((BO,), "alee")


def test_a_name_that_was_cut_out_of_one_column_does_not_cut_a_known_one_otherwise(course):
    take(course, Entry("m", "María", "García Márquez"))
    cut = Entry("m", "María García", "Márquez")
    assert take(course, cut, columns={"first_name", "last_name", "name"}).same
    assert take(course, cut, columns={"first_name", "last_name"}).changed


def test_who_is_gone_is_no_longer_listed_and_stays_in_the_gradebook(course):
    take(course, ANNA, BO)
    assert take(course, ANNA) == Difference(gone=(BO,), same=(ANNA,))
    assert "bo" not in (course.root / "roster.csv").read_text()
    left = Entry("bo", "Bo", "King, Jr.", "bo@x.edu", "2")
    assert take(course, ANNA) == Difference(same=(ANNA,), left=(left,))
    roster = Roster.of(course)
    back = roster.compared((ANNA, BO))
    assert back.new == (BO,)
    assert [*roster.remarks(back)] == ["'bo' was already in the gradebook, but not on the roster; all grades are kept."]


def test_students_whom_the_gradebook_knew_before_are_gone_and_the_demo_class_never_is(course):
    with course.gradebook() as gradebook:
        for student in ("anna", "old", "demo-01"):
            gradebook.add_student(student, first_name="Demo")
    difference = take(course, ANNA)
    assert [one.id for one in difference.gone] == ["old"]
    assert [new.id for _, new in difference.changed] == ["anna"]
    assert not take(course, ANNA).gone
    assert [one.id for one in take(course, BO).left] == ["old"]


def test_one_section_tells_of_nobody_in_another(course):
    both = Entry("cy", section="A and B")
    take(course, ANNA, BO, ZOE, both)
    difference = take(course, ANNA, section="a")
    assert [one.id for one in difference.gone] == ["cy", "zoe"]
    assert [*Roster.of(course).listed - {"anna"}] == ["bo"]


def test_another_id_with_the_same_number_or_address_is_the_same_student(course):
    take(course, ANNA, BO)
    roster = Roster.of(course)
    found, notes = roster.recognised({2: Entry("a.lee", email="ANNA@x.edu"), 3: Entry("bk", lms_user_id="2")})
    assert {line: entry.id for line, entry in found.items()} == {2: "anna", 3: "bo"}
    assert notes[0].startswith("Line 2: 'a.lee' has the e-mail address of 'anna', who is already enrolled; the id")
    assert notes[1].startswith("Line 3: 'bk' has the learning system number of 'bo'")
    found, notes = roster.recognised({2: Entry("anna"), 3: Entry("a.lee", email="anna@x.edu")})
    assert ([entry.id for entry in found.values()], notes) == (["anna", "a.lee"], [])
    with pytest.raises(CourseError, match="lines 2 and 3 both have the e-mail address of 'anna'"):
        roster.recognised({2: Entry("x", email="anna@x.edu"), 3: Entry("y", email="anna@x.edu")})


def test_who_keeps_the_number_of_the_school_is_the_same_though_name_login_and_number_change(course):
    take(course, replace(ANNA, sis="S-1"), BO)
    newer = Entry("amoss", "Ann", "Moss", "ann@x.edu", "77", "amoss", sis="S-1")
    roster = Roster.of(course)
    found, notes = roster.recognised({2: newer, 3: BO})
    assert [entry.id for entry in found.values()] == ["anna", "bo"]
    assert "has the school number of 'anna'" in notes[0]
    difference = roster.compared(found.values())
    assert (difference.new, difference.gone) == ((), ())
    assert [new.lms_user_id for _, new in difference.changed] == ["77"]


def test_who_takes_over_the_number_of_somebody_gone_is_told(course):
    take(course, ANNA, BO)
    found, notes = Roster.of(course).recognised({2: Entry("carl", "Carl", "Moss", "c@x.edu", "1"), 3: BO})
    assert found[2].id == "anna"
    assert (
        "the name Carl Moss is not the name of 'anna', Anna Lee" in notes[1]
        and ("belongs to another student now, correct the file first. Otherwise") in notes[1]
    )
    take(course, replace(ANNA, sis="S-1"), BO)
    other = Entry("carl", "Carl", "Moss", "c@x.edu", "1", sis="S-9")
    found, notes = Roster.of(course).recognised({2: other, 3: BO})
    assert found[2].id == "carl" and "viva roster --same anna carl" in notes[0]


CYD, DAN = (
    Entry("cyd", "Cyd", "Moss", "cyd@x.edu", "3", sis="S3"),
    Entry("dan", "Dan", "Berg", "dan@x.edu", "9", sis="S9"),
)


@pytest.mark.parametrize(
    ("newer", "said"),
    [
        ([replace(DAN, id="cyd")], "line 2: 'cyd' was Cyd Moss, the school number S3, and is now Dan Berg, the school"),
        ([replace(DAN, id="cyd"), replace(CYD, id="dan")], "line 3: 'dan' was Dan Berg, the school number S9"),
        ([replace(DAN, id="cyd", sis="")], "the learning system number 9"),
        ([replace(DAN, id="cyd", sis="", lms_user_id="")], "the e-mail address dan@x.edu"),
        ([replace(CYD, first_name="Dan", sis="S10")], "and is now Dan Moss, the school number S10"),
        ([replace(CYD, sis="S9")], "and is now Cyd Moss, the school number S9"),  # which is dan's in the course
    ],
    ids=["passed-on", "exchanged", "lms", "address", "brother", "other's-number"],
)
def test_an_id_that_is_another_students_now_is_refused(course, newer, said):
    take(course, CYD, DAN)
    with pytest.raises(CourseError, match="Nothing was written") as refused:
        Roster.of(course).recognised(dict(enumerate(newer, 2)))
    assert said in str(refused.value)


def test_an_id_is_another_students_also_where_its_owner_had_left_or_was_joined(course):
    take(course, CYD, BO)
    take(course, BO)  # the school number of who left is not known any more
    with pytest.raises(CourseError, match="line 2: 'cyd' was Cyd Moss"):
        Roster.of(course).recognised({2: Entry("cyd", "Dan", "Berg", sis="S9")})
    joined.write(course.root, [joined.Joined("cyd2", "cyd")])
    with pytest.raises(CourseError, match="line 2: 'cyd2' was Cyd Moss"):
        Roster.of(course).recognised({2: replace(DAN, id="cyd2")})


@pytest.mark.parametrize(
    "newer",
    [
        replace(CYD, first_name="Sidney", last_name="Berg", email="sb@x.edu", lms_user_id="77"),  # the same number
        replace(CYD, last_name="Berg", sis="0003", lms_user_id="4"),  # numbers of another form, the same first name
        Entry("cyd", "Sidney", "Berg", lms_user_id="3"),
        Entry("cyd", "", "", "new@x.edu"),
    ],
)
def test_who_keeps_the_number_or_the_name_keeps_the_id(course, newer):
    take(course, CYD, DAN)
    found, _ = Roster.of(course).recognised({2: newer, 3: DAN})
    assert [entry.id for entry in found.values()] == ["cyd", "dan"]


def test_an_address_alone_does_not_hand_over_grades_to_another_name(course):
    take(course, ANNA, BO)
    found, notes = Roster.of(course).recognised({2: Entry("carl", "Carl", "Moss", "anna@x.edu"), 3: BO})
    assert found[2].id == "carl" and "but another name. So Viva reads them as two students" in notes[0]


def test_a_list_of_groups_changes_groups_alone(course):
    take(course, ANNA, BO)
    take(course, BO)
    take(course, ANNA, BO)
    rows = {
        2: Entry("alee", "Anna", "Lee", "", "1", "alee", "", "Team 7"),
        3: Entry("who", lms_user_id="99", group="T"),
    }
    difference, notes = Roster.of(course).grouped(rows)
    assert difference == Difference(changed=((ANNA, replace(ANNA, group="Team 7")),))
    assert notes == ["Line 3: skipped, because it is unclear which enrolled student 'who' is."]
    Roster.of(course).write(course, difference)
    assert {one: entry.group for one, entry in Roster.of(course).entries.items()} == {"anna": "Team 7", "bo": ""}


def test_people_who_may_be_taken_for_one_another_are_told(course):
    take(course, ANNA, BO)
    roster = Roster.of(course)
    difference = roster.compared((Entry("ann2", "Anna", "Lee"), Entry("BO"), BO))
    said = [*roster.remarks(difference)]
    assert said[0].startswith(
        "Anna Lee was added as 'ann2', and 'anna' with the same name was removed. If they are one person: viva"
    )
    assert "The ids 'BO' and 'bo' differ only in capital letters; they are treated as different students." in said


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("student,name\nanna,Anna\n", "must have the columns id,first_name"),
        ("id,first_name\nanna,A\nanna,B\n", "Line 3 of"),
        ("id,first_name\n,A\n", "has no id"),
        ("", "is empty"),
        ("PK\x03\x04", "is an Excel"),
    ],
)
def test_a_roster_that_somebody_spoilt_is_refused(course, text, said):
    (course.root / "roster.csv").write_text(text)
    with pytest.raises(CourseError, match=said):
        Roster.of(course)


def test_a_roster_that_a_spreadsheet_saved_is_read(course):
    take(course, ANNA, BO)
    path = course.root / "roster.csv"
    path.write_text(path.read_text().replace(",", ";").replace("King;", "King,"), encoding="utf-8-sig")
    assert take(course, ANNA, BO).same == (ANNA, BO)
    assert path.read_bytes().startswith(b"id,first_name")


def test_to_look_makes_no_gradebook(course):
    assert Roster.of(course) == Roster(identities=Identities(course.root / "identities.csv"))
    assert not course.gradebook_file.exists()


@pytest.mark.slow
def test_a_locked_gradebook_leaves_both_as_they_were(course, monkeypatch):
    from sqlalchemy.exc import DBAPIError

    take(course, ANNA)
    roster = Roster.of(course)
    before = (course.root / "roster.csv").read_bytes()
    monkeypatch.setattr("viva.course.database.RETRY_SECONDS", 0.0)
    with contextlib.closing(sqlite3.connect(course.gradebook_file, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(DBAPIError, match="is locked"):
            roster.write(course, roster.compared((ANNA, BO)))
        other.execute("ROLLBACK")
    assert (course.root / "roster.csv").read_bytes() == before
    assert Roster.of(course).entered == {"anna"}


@pytest.mark.slow
def test_ten_thousand_students_are_one_transaction(course):
    many = [Entry(f"s{number:05}", "A", str(number), f"{number}@x.edu", str(number)) for number in range(10_000)]
    assert len(take(course, *many).new) == 10_000
    roster = Roster.of(course)
    assert roster.recognised({number: Entry(f"t{number}", email=f"{number}@x.edu") for number in range(10_000)})[1]
    assert len(take(course, *many).same) == 10_000


def test_nbgraders_own_command_takes_the_file(course, monkeypatch):
    from nbgrader.apps.dbapp import DbStudentImportApp

    take(course, ANNA, BO, ZOE)
    course.gradebook_file.unlink()
    monkeypatch.chdir(course.root)
    app = DbStudentImportApp()
    app.initialize(["roster.csv"])
    app.start()
    with course.gradebook() as gradebook:
        found = {one.id: (one.first_name, one.last_name) for one in gradebook.students}
    names = {one.id: (one.first_name, one.last_name) for one in (ANNA, BO)}
    assert found == names | {"zoe": (ZOE.first_name, "'" + ZOE.last_name)}  # nbgrader does not know the mark
