"""Who a sender is: by what is certain, and never by a guess."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from plugins.term.tests.archives.given import ASSIGNMENT, CLASS
from viva.course.gradebook.identities import Identities
from viva.verdict import CourseError
from viva_term.archives.layouts import Sender
from viva_term.archives.sendermatching import Class, Matches
from viva_term.lms.personname import squeezed, variants
from viva_term.lms.rosterfile import Entry, Roster

NUMBERS = Identities(Path())
for known in ("gradescope", "canvas"):
    NUMBERS.note(known, {one.id: one.lms_user_id for one in CLASS}, "roster")
NUMBERS.note("brightspace", {"zoe": "123"}, "roster")
SARA = " ".join((CLASS[4].first_name, CLASS[4].last_name))


def people(*more: Entry, gone=(), lines: str = "", tmp_path=None) -> Class:
    entries = {one.id: one for one in (*CLASS, *more)}
    roster = Roster(entries, set(entries) - set(gone), set(entries), identities=NUMBERS)
    matches = Matches()
    if lines:
        (tmp_path / "matches.csv").write_text(lines, encoding="utf-8")
        matches = Matches.read(tmp_path / "matches.csv", roster)
    return Class(roster, matches, ASSIGNMENT)


@pytest.mark.parametrize(
    ("sender", "student"),
    [
        (Sender("?", lms="123", system="gradescope"), "jdoe"),
        (Sender("?", login="B.King"), "bking"),
        (Sender("?", login="oneil"), "oneil"),
        (Sender("?", email="SAM2@x.edu"), "sam2"),
        (Sender("?", lms="sara-h", system="moodle"), "sara"),
        (Sender("?", name="Bo King, Jr."), "bking"),
        (Sender("?", name="kingjrbo"), "bking"),
        (Sender("?", name="King, Bo, Jr."), "bking"),
        (Sender("?", name="Ann O'Neil"), "oneil"),
        (Sender("?", name="Ann ONeil"), "oneil"),
        (Sender("?", name="oneilann"), "oneil"),
        (Sender("?", name="Zoe\N{COMBINING DIAERESIS} Lee"), "zoe"),
        (Sender("?", name=f"\u200f{SARA}\u200e"), "sara"),
        (Sender("?", name="حداد سارة"), "sara"),
        (Sender("?", name="ПЕТРОВ Иван"), "ivan"),
    ],
)
def test_a_sender_is_known_by_number_login_address_or_name(sender, student):
    assert people().match(sender).students == (student,)


def test_of_two_with_one_name_neither_is_taken_unless_something_stronger_tells():
    found = people().match(Sender("?", name="Sam Smith"))
    assert (found.students, found.nearest) == ((), ("sam1", "sam2"))
    assert people().match(Sender("?", name="Sam Smith", lms="129", system="gradescope")).students == ("sam2",)
    assert people(gone=["sam1"]).match(Sender("?", name="Sam Smith")).students == ("sam2",)


def test_names_that_are_the_same_without_spaces_are_two():
    others = Entry("a", "Ann", "Alee"), Entry("b", "Anna", "Lee")
    assert people(*others).match(Sender("?", name="leeanna")).students == ("b",)
    assert people(*others).match(Sender("?", name="annalee")).students == ()


def test_two_senders_with_one_name_are_two_people():
    found = people().match(Sender("Jane Doe_7", "Jane Doe"), shared=2)
    assert found.students == () and found.nearest[0] == "jdoe"
    assert people().match(Sender("doejane_123", "doejane", "123", system="canvas"), shared=2).students == ("jdoe",)


def test_a_number_and_a_name_of_two_students_match_neither():
    found = people().match(Sender("doejane_124", "doejane", "124", system="canvas"))
    assert found.students == () and set(found.nearest) == {"bking", "jdoe"}


def test_another_name_or_address_stops_a_number():
    found = people().match(Sender("someoneelse_124", "someoneelse", "124", system="canvas"))
    assert (found.students, found.nearest) == ((), ("bking",)) and "the roster has the name" in found.problem
    other = Sender("?", "Bo Kinge", "124", email="else@x.edu", system="canvas")
    assert "has another address and another name" in people().match(other).problem


@pytest.mark.parametrize(
    ("system", "student"),
    [("canvas", "jdoe"), ("gradescope", "jdoe"), ("brightspace", "zoe"), ("moodle", ""), ("", ""), ("folder", "")],
)
def test_a_number_is_somebodys_in_its_own_system_alone(system, student):
    assert people().match(Sender("?", lms="123", system=system)).students == (student,) * bool(student)


def test_a_name_that_is_nearly_the_students_needs_no_note():
    for sender in (
        Sender("submission_1", "Zoe L.", "126", system="gradescope"),
        Sender("kingbo_124", "kingbo", "124", system="canvas"),
    ):
        assert people().match(sender).students and not people().match(sender).note


def test_a_group_is_known_by_its_name_and_by_one_member():
    for sender in (Sender("?", "Group A"), Sender("groupa_127", "groupa", "127"), Sender("?", login="group-a")):
        assert people().match(sender).students == ("sam1", "sara")
    assert people().match(Sender("?", "Default group")).students == ()


def test_a_group_that_is_listed_has_all_who_are_in_the_class():
    team = Sender("submission_1", others=(Sender("a", email="jane@x.edu"), Sender("b", "A Stranger")))
    found = people().match(team)
    assert found.students == ("jdoe",) and "'A Stranger' is not enrolled" in found.note
    assert people().match(replace(team, others=team.others[1:])).students == ()


def test_an_anonymous_sender_is_nobody_and_a_blind_name_neither():
    assert people().match(Sender("anon_x1", anonymous=True)).problem == "the archive does not identify the sender"
    assert people().match(Sender("Participant_1", "Participant"), blind=True).students == ()


def test_matches_csv_comes_first_by_label_or_name_and_for_one_assignment(tmp_path):
    lines = "sender,student_id,assignment\nWHO  x,zoe,\nWho x,ivan,ps1\nother,jdoe,ps2\nboth,zoe,\nboth,jdoe,\nno,-,\n"
    known = people(lines=lines, tmp_path=tmp_path)
    assert known.match(Sender("who x", lms="123", system="gradescope")).students == ("ivan",)
    assert known.match(Sender("7 - Who x", "Who x")).students == ("ivan",)
    assert known.match(Sender("other")).students == ()
    assert (known.match(Sender("both")).students, known.match(Sender("both")).group) == (("zoe", "jdoe"), "both")
    assert known.match(Sender("no")).nobody


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        ("who,student\nx,zoe\n", "must have the columns"),
        ("sender,student_id\nx,zoee\n", "Did you mean 'zoe'"),
        ("sender,student_id\n,zoe\n", "Line 2 .* has no sender"),
    ],
)
def test_a_line_that_settles_nothing_is_refused(tmp_path, lines, told):
    with pytest.raises(CourseError, match=told):
        people(lines=lines, tmp_path=tmp_path)


def test_names_are_compared_by_letters():
    assert squeezed("O\u2019Neil, Zoë 🙂 d\u2019A_b-2") == "oneilzoëdab2"
    assert variants("Bo", "King, Jr.") == {"bokingjr", "kingbojr", "kingjrbo"}
    assert variants("", "") == set()
