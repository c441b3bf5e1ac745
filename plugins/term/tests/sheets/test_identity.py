# ruff: noqa: RUF001 (names are spelt as their owners spell them)
"""Who a row of a sheet is about, and who it is not guessed to be."""

from __future__ import annotations

import pytest

from viva_term.lms.rosterfile import Entry
from viva_term.sheets.identity import Identities, Person

KING = Entry("mking", "Martin", "King, Jr.", "mk@x.edu", "101", "mking")
ZOE = Entry("zoe", "Zoë 🙂", "O’Neil", "", "102", "zoneil")
LEE1 = Entry("alee1", "Anna", "Lee", "a1@x.edu", "103", "alee1")
LEE2 = Entry("alee2", "Anna", "Lee", "a2@x.edu", "104", "alee2")
RTL = Entry("lh", "ليلى", "حداد", "l@x.edu")
ALL = {one.id: one for one in (KING, ZOE, LEE1, LEE2, RTL)}


def who(*people: Person, entries=ALL) -> list[tuple[str, str]]:
    """For each the student, or why there is none."""
    found, doubts = Identities(entries).of(dict(enumerate(people)))
    return [(found.get(line, ""), doubts.get(line, "")) for line in range(len(people))]


@pytest.mark.parametrize(
    ("keys", "name", "student"),
    [
        ({"lms": "101"}, "", "mking"),
        ({"login": "MKING"}, "King, Martin, Jr.", "mking"),
        ({"login": "mk@x.edu"}, "King, Martin, Jr.", "mking"),
        ({"email": "MK@x.edu"}, "Martin K.", "mking"),
        ({"lms": "101", "email": "mk@x.edu"}, "someone else altogether", "mking"),
        ({"lms": "103"}, "Lee, Anna", "alee1"),
        ({}, "Martin King, Jr.", "mking"),
        ({}, "King, Jr., Martin", "mking"),
        ({}, "Zoe\u0308 O'Neil", "zoe"),
        ({}, "حداد, ليلى", "lh"),
        ({}, "\u200fليلى حداد\u200f", "lh"),
        ({"email": "zoe@new.edu"}, "Zoë 🙂 O’Neil", "zoe"),
        ({"lms": "", "email": ""}, "Zoë O’Neil", "zoe"),
    ],
)
def test_a_row_is_about_whom_its_number_login_address_or_name_says(keys, name, student):
    assert who(Person(keys, name)) == [(student, "")]


@pytest.mark.parametrize(
    ("keys", "name", "why"),
    [
        ({}, "Anna Lee", "may be 'alee1' or 'alee2', who have the same name"),
        ({"lms": "101", "login": "zoneil"}, "", "is entered as 'mking' by its number, 'zoe' by its login"),
        (
            {"lms": "101"},
            "Somebody Else",
            "has the number of 'mking', who is called Martin King, Jr.; if this is the same",
        ),
        ({"email": "other@x.edu"}, "Martin King, Jr.", "has the name of 'mking', but another number, login or address"),
        ({"email": "mk@x.edu"}, "Somebody Else", "has the address of 'mking', who is called Martin King, Jr.; if"),
        (
            {"lms": "101", "email": "new@x.edu"},
            "Martin King, Jr.",
            "has the same number as 'mking', but another address; if",
        ),
        ({"sis": "999"}, "Martin King, Jr.", "has the name of 'mking', but another number, login or address"),
        ({"lms": "999"}, "No Body", ""),
        ({}, "", ""),
        ({}, "🙂", ""),
    ],
)
def test_what_is_not_certain_is_said_and_not_guessed(keys, name, why):
    ((student, said),) = who(Person(keys, name))
    assert student == "" and said.startswith(why) and bool(said) == bool(why)


def test_two_rows_are_never_about_one_student():
    twice = who(Person({"lms": "101"}), Person({"login": "mking"}), Person({"lms": "102"}))
    assert twice == [("", "is not unique: lines 0 and 1 may both be 'mking'")] * 2 + [("zoe", "")]
    assert [one for one, _ in who(Person({}, "Zoë O’Neil"), Person({}, "O’Neil, Zoë"))] == ["", ""]
    (first, _), (second, why) = who(Person({"lms": "102"}, "Zoë O’Neil"), Person({"lms": "9"}, "Zoë O’Neil"))
    assert (first, second) == ("zoe", "") and "another number" in why
    first, (second, why) = who(Person({"lms": "102"}, "Zoë O’Neil"), Person({}, "Zoë O’Neil"))
    assert first == ("zoe", "") and second == "" and why.startswith("has no number, and several rows")


def test_canvas_has_two_kinds_of_numbers_and_one_students_may_be_anothers_of_the_other_kind():
    assert who(Person({"lms": "101", "sis": "102"}), Person({"lms": "102", "sis": "900"})) == [
        ("mking", ""),
        ("zoe", ""),
    ]
    assert who(Person({"lms": "", "sis": "101"})) == [("mking", "")]
    entries = {"900": Entry("900", "A", "B", "", "1"), "901": Entry("901", "C", "D", "", "2")}
    assert who(Person({"lms": "1", "sis": "900"}), entries=entries) == [("900", "")]
    assert who(Person({"lms": "1", "sis": "901"}), entries=entries)[0][0] == ""


def test_letters_in_capitals_tell_ids_apart_where_both_are_known():
    entries = {"ab": Entry("ab", "A", "B"), "AB": Entry("AB", "C", "D")}
    assert who(Person({"login": "AB"}), Person({"login": "ab"}), entries=entries) == [("AB", ""), ("ab", "")]
    assert who(Person({"login": "Ab"}), entries=entries)[0][1] == "may be 'AB' or 'ab'"


def test_a_number_that_is_one_students_number_and_anothers_id_needs_the_name():
    entries = {"7": Entry("7", "Ann", "One"), "b": Entry("b", "Bo", "Two", "", "7")}
    assert who(Person({"lms": "7"}), entries=entries)[0][1] == "may be '7' or 'b'"
    assert who(Person({"lms": "7"}, "Two, Bo"), entries=entries) == [("b", "")]
