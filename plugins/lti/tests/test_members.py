"""`viva roster --from=lti`: members over pages, the students among them, and nothing of half a list."""

from __future__ import annotations

import csv

import pytest

from plugins.lti.tests import platform
from plugins.lti.tests.conftest import PEOPLE, member
from viva_lti.matching import Student, matched
from viva_lti.members import Member


def roster(course) -> dict[str, dict]:
    with (course / "roster.csv").open() as file:
        return {row["id"]: row for row in csv.DictReader(file)}


def test_members_of_all_pages_are_read_and_staff_and_test_students_are_not(registered, system, viva):
    system.limit = 2
    system.members += [
        member(3, "teacher", roles=[platform.TEACHER]),
        member(4, "gone", status="Inactive"),
        member(5, "test", roles=[platform.LEARNER, "http://purl.imsglobal.org/vocab/lti/system/person#TestUser"]),
        member(6, "dana", email="Dana.Lee@x.edu", lis_person_sourcedid="4711"),
        member(7, "eve", roles=["Learner"], given_name=None, family_name=None, name="Eve von Lee"),
        member(8, "guest", roles=["http://purl.imsglobal.org/vocab/lis/v2/membership/Learner#GuestLearner"]),
    ]
    before = (registered / "roster.csv").read_bytes()
    assert viva("roster", "--from=lti", "--dry-run").status == 0
    assert (registered / "roster.csv").read_bytes() == before
    result = viva("roster", "--from=lti")
    assert (result.status, result.err, system.count("/members")) == (0, "", 10)
    rows = roster(registered)
    assert sorted(rows) == sorted([*PEOPLE, "dana.lee@x.edu", "eve@x.edu", "guest@x.edu"])
    assert (rows["anna"]["lms_user_id"], rows["dana.lee@x.edu"]["sis"]) == ("u-0", "4711")
    assert (rows["eve@x.edu"]["first_name"], rows["eve@x.edu"]["last_name"]) == ("Eve von", "Lee")
    assert "Nothing changes: " in viva("roster", "--from=lti").out


def test_students_are_called_as_on_a_hub_with_ltiauthenticator(registered, system, viva):
    with (registered / "nbgrader_config.py").open("a") as file:
        file.write('\nc.Lti.username_key = "sub"\n')
    system.members = [member(number, name, email=None) for number, name in enumerate("xyz")]
    assert viva("roster", "--from=lti").status == 0
    assert sorted(roster(registered)) == ["u-0", "u-1", "u-2"]


@pytest.mark.parametrize("page", [1, 2])
def test_of_half_a_list_nothing_is_written(registered, system, viva, page):
    system.limit = 2
    before = {path: path.read_bytes() for path in registered.glob("*.*") if path.is_file()}
    system.fault("/members", platform.status(500), after=page - 1)
    result = viva("roster", "--from=lti")
    assert (result.status, "Its server has an error." in result.err) == (2, True)
    assert {path: path.read_bytes() for path in before} == before


def test_a_file_beside_a_system_that_is_asked_is_refused(registered, viva):
    result = viva("roster", "list.csv", "--from=lti")
    assert (result.status, "so it needs no file" in result.err) == (2, True)


ANNA = Student("anna", "Anna", "Lee", "a@x.edu", "7", "4711")
BO = Student("bo", "Bo", "King", "b@x.edu")
SID = Student("cy", "Cy", "Moss", "cy@x.edu")
"""Who has 40017 as the number of another system, which is no fact here."""
HUB = Student("b@x.edu")


@pytest.mark.parametrize(
    ("people", "member", "whose", "why"),
    [
        ([ANNA, BO], Member("7", "Anna", "Lee"), "anna", ""),
        ([ANNA, BO], Member("7", "", "", "a@x.edu"), "anna", ""),
        ([ANNA, BO], Member("7", "", "", "", "4711"), "anna", ""),
        ([ANNA, BO], Member("7", "Anna", "Smith"), "anna", ""),
        ([ANNA, BO], Member("9", "Bo", "King", "B@x.edu"), "bo", ""),
        ([ANNA, BO], Member("7"), "", "has only the same number"),
        ([ANNA, BO], Member("9", "", "", "b@x.edu"), "", "has only the same address"),
        ([ANNA, BO], Member("7", "Tom", "Lee"), "", "has only the same number"),
        ([ANNA, BO], Member("7", "Anna", "Lee", "new@x.edu"), "", "has another address"),
        ([ANNA, BO], Member("7", "Anna", "Lee", "", "4712"), "", "has another school number"),
        ([ANNA, BO], Member("9", "Anna", "Lee", "a@x.edu", "4711"), "", "has another number"),
        ([ANNA, BO], Member("9", "Zoe", "Chen", "b@x.edu"), "", "but another name"),
        ([ANNA, BO], Member("7", "Bo", "King", "b@x.edu"), "", "different students"),
        ([ANNA, BO], Member("9", "Anna", "Lee"), "", "does not match a student"),
        ([SID], Member("40017", "Zoe", "Chen", "z@x.edu"), "", "does not match a student"),
        ([Student("1002", "Ada", "Lee")], Member("1002", "Bo", "Lee"), "", "does not match a student"),
        ([BO, Student("bob", "Bo", "King", "b@x.edu")], Member("9", "Bo", "King", "b@x.edu"), "", "different students"),
        ([HUB], Member("9", "Bo", "King", "B@x.edu"), "", "has only the same address"),
        ([Student("b@x.edu", "Bo", "King")], Member("9", "Bo", "King", "B@x.edu"), "b@x.edu", ""),
        ([Student("bo", "Bo", "King", login="bk1")], Member("9", "Bo", "King", login="bk1"), "bo", ""),
        ([Student("bk1", "Bo", "King")], Member("9", "Bo", "King", login="bk1"), "bk1", ""),
    ],
)
def test_a_member_is_a_student_only_where_two_facts_agree_and_none_contradicts(people, member, whose, why):
    found, doubts = matched([member], {one.id: one for one in people}, "login" if member.login else "email")
    assert (list(found), list(doubts)) == ([whose] * bool(whose), [member.user_id] * (not whose))
    assert why in doubts.get(member.user_id, "")


def test_an_id_that_a_private_hub_made_of_the_number_is_the_number_and_two_members_are_nobody():
    hub = {"u-9": Student("u-9", "Bo", "King")}
    assert list(matched([Member("U-9", "Bo", "King")], hub, "sub")[0]) == ["u-9"]
    two = [Member("9", "Anna", "Lee", "a@x.edu"), Member("8", "Anna", "Lee", "a@x.edu")]
    found, doubts = matched(two, {"anna": Student("anna", "Anna", "Lee", "a@x.edu")})
    assert (found, sorted(doubts)) == ({}, ["8", "9"])
