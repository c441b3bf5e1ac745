"""Whose a row is, and where a text mentions a person."""

from __future__ import annotations

import pytest

from viva_term.lms.rosterfile import Entry
from viva_term.privacy.person import Person

ANNA = Entry("anna", "Anna", "O'Neil", "a.oneil@x.edu", "7", "aon")
OTHERS = {name: Entry(name, "Bo", "King", f"{name}@x.edu", number) for name, number in
          (("Anna", "70"), ("anna2", "77"), ("jo-anna", "8"), ("7", "anna9"), ("bo", "9"))}  # fmt: skip


@pytest.fixture
def anna() -> Person:
    return Person("anna", frozenset({"anna", "amoss"}), (ANNA,), OTHERS)


@pytest.mark.parametrize(
    ("text", "mentioned"),
    [
        ("submitted/anna/ps1/a.ipynb", True),
        ("with Anna.", True),
        ("amoss_ps1.ipynb", True),
        ("anna2 joanna annabel", False),
        ("jo-anna anna2", False),
        ("anna2, and anna", True),
        ("A.ONEIL@X.EDU", True),
        ("O'Neil, Anna", True),
        ("Anna O&#x27;Neil", True),
        (r'"Anna O\u0027Neil"', True),
        ("Anna and Bo O'Hara", True),
        ("Hannah O'Neil", False),
        ('"image/png": "' + "iVBORw0KGgo+" * 40 + "/anna/" + "iVBORw0KGgo+" * 40 + '"', False),
        ('"image/png": "' + "iVBORw0KGgo+" * 40 + '", "anna"', True),
        ("rows 7 and 9", False),
    ],
)
def test_a_text_mentions_a_person_by_whole_words_that_are_nobody_elses(anna, text, mentioned):
    assert anna.is_mentioned(text) is mentioned


@pytest.mark.parametrize(
    ("header", "row", "owned"),
    [
        ("student_id,score", "anna,7", True),
        ("student_id,score", "bo,7", False),
        ("student_id,score", "anna2,anna", False),
        ("ID,Student,SIS Login ID", '7,"O\'Neil, Anna",aon', True),
        ("id,score", "7,anna", False),  # the id of another student is this one's number
        ("First name,Surname,Email address", "Anna,O'Neil,other@x.edu", True),
        ("First name,Surname,Email address", "Anna,O'Neil,bo@x.edu", False),
        ("sender,student_id,assignment", "Anna O'Neil,bo,ps1", False),
        ("score,points", "anna,7", False),
        ("student_id,score", "Anna,7", False),  # another student, whose id differs in a capital letter
        ("first_name,last_name,born", "Anna,O'Neil,1850", False),
        ("name,born", "Anna O'Neil,1850", False),  # data of an assignment
    ],
)
def test_a_row_is_whose_ids_say_so_and_never_anothers(anna, header, row, owned):
    import csv

    assert anna.owns(header.split(","), next(csv.reader([row]))) is owned


@pytest.mark.parametrize(
    ("path", "owned"),
    [
        ("Anna O'Neil_12_assignsubmission_file_/x.ipynb", True),
        ("hw1/anna/x.ipynb", True),
        ("aon_12_34_x.ipynb", True),
        ("Anna O'Neil Smith_12_assignsubmission_file_/x.ipynb", False),
        ("bo/ps1/with_anna.ipynb", False),
        ("Bo King_12_file_/anna.ipynb", False),
        ("anna2/x.ipynb", False),
    ],
)
def test_a_file_in_an_archive_is_whose_name_stands_first(path, owned):
    others = OTHERS | {"smith": Entry("smith", "Anna", "O'Neil Smith")}
    assert Person("anna", frozenset({"anna"}), (ANNA,), others).names_file(path) is owned


def test_a_file_in_an_archive_with_the_name_of_two_students_is_nobodys():
    others = {"other": Entry("other", "Anna", "O'Neil")}
    person = Person("anna", frozenset({"anna"}), (ANNA,), others)
    assert not person.names_file("Anna O'Neil_12_file_/x.ipynb")
    assert person.names_file("hw1/anna/x.ipynb")


def test_the_name_of_two_students_makes_no_row_one_of_theirs():
    namesake = {"other": Entry("other", "Anna", "O'Neil")}
    person = Person("anna", frozenset({"anna"}), (ANNA,), namesake)
    assert not person.owns(["name", "score"], ["Anna O'Neil", "3"])


def test_a_submission_in_an_exchange_is_of_the_longest_id_that_its_name_begins_with():
    person = Person("a", frozenset({"a"}), (), {"a+b": Entry("a+b")})
    assert person.has_key("a+ps1+2026-10-01 10:00:00 UTC")
    assert not person.has_key("a+b+ps1+2026-10-01 10:00:00 UTC")
