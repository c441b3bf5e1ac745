"""The student that each member of a learning system is.

A score that goes to another student is worse than one that does not go. So two facts have to agree, of these: the
number in this system, the school's number, the login, the address, and the name. One that contradicts stops it, however
many agree; a fact that one of the two sides does not know says nothing. A sentence says why a member is nobody.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from nbgrader.api import Gradebook

from viva.cleaning import plaintext
from viva.course.course import Course
from viva.course.gradebook.identities import Identities
from viva.course.table import own_rows
from viva_lti.members import Member

ROSTER = "roster.csv"
KEYS = {"number": "number", "sis": "school number", "email": "address", "login": "login"}
"""The facts by which a student is found, and what a reader calls them."""
CALLED = {"email": "email", "sub": "number", "lis_person_sourcedid": "sis", "login": "login"}
"""By ltiauthenticator's ``username_key``, the fact that students' ids are."""
ENOUGH = 2


@dataclass(frozen=True)
class Student:
    """A student of the course; what is not known is empty."""

    id: str
    first_name: str = ""
    last_name: str = ""
    email: str = ""
    number: str = ""
    """In the learning system that is asked."""
    sis: str = ""
    login: str = ""

    @property
    def name(self) -> str:
        return f"{self.first_name} {self.last_name}".strip()

    def values(self, key: str, called: str = "") -> set[str]:
        """What a fact is of this student, whose id may be one: the one that students are ``called`` by."""
        is_one = key == called or (key == "email" and "@" in self.id)
        return {value.casefold() for value in (getattr(self, key), self.id if is_one else "") if value}


def students(course: Course, gradebook: Gradebook, issuer: str) -> dict[str, Student]:
    """The gradebook's students by id, with their numbers in a system. Raises CourseError."""
    rows = own_rows(course.root / ROSTER, ("id", "sis", "login"), {"id"}).values()
    own, numbers = {row["id"]: row for row in rows}, Identities.read(course.root).of(issuer)
    return {
        row.id: Student(
            row.id,
            row.first_name or "",
            row.last_name or "",
            row.email or "",
            numbers.get(row.id, ""),
            own.get(row.id, {}).get("sis", ""),
            own.get(row.id, {}).get("login", ""),
        )
        for row in gradebook.students
    }


def matched(
    members: Iterable[Member], students: Mapping[str, Student], username_key: str = "email"
) -> tuple[dict[str, Member], dict[str, str]]:
    """By student the member, and by the number of a member who is nobody certain, why."""
    called = CALLED.get(username_key, "")
    index = {key: _index(students.values(), key, called) for key in KEYS}
    members_of: dict[str, list[Member]] = defaultdict(list)
    doubts: dict[str, str] = {}
    for member in members:
        facts = _facts(member)
        ids = {student for key, value in facts.items() for student in index[key].get(value, ())}
        if len(ids) == 1:
            student = students[ids.pop()]
            if doubt := _doubt(member, facts, student, called):
                doubts[member.user_id] = doubt
            else:
                members_of[student.id].append(member)
        elif ids:
            names = " and ".join(map(plaintext.quoted, sorted(ids)))
            doubts[member.user_id] = f"its number and its address belong to different students: {names}"
        else:
            doubts[member.user_id] = "does not match a student of the gradebook"
    for student_id, alike in list(members_of.items()):
        if len(alike) > 1:
            doubts |= {member.user_id: f"may be {plaintext.quoted(student_id)}, as another member" for member in alike}
            del members_of[student_id]
    return {student_id: alike[0] for student_id, alike in members_of.items()}, doubts


def _facts(member: Member) -> dict[str, str]:
    """What a system tells of a member, by KEYS."""
    facts = {"number": member.user_id, "sis": member.sis, "email": member.email, "login": member.login}
    return {key: value.casefold() for key, value in facts.items() if value}


def _index(students: Iterable[Student], key: str, called: str) -> dict[str, list[str]]:
    """The ids of those who have something, by that."""
    owners = defaultdict(list)
    for student in students:
        for value in student.values(key, called):
            owners[value].append(student.id)
    return owners


def _doubt(member: Member, facts: Mapping[str, str], student: Student, called: str) -> str:
    """Why a member may be another person than a student of whom one fact agrees; empty where two do, and none not."""
    whom = plaintext.quoted(student.id)
    for key in ("number", "sis", "email"):
        if key in facts and getattr(student, key) and facts[key] not in student.values(key, called):
            return f"has another {KEYS[key]} than {whom}"
    agreeing = [KEYS[key] for key, value in facts.items() if value in student.values(key, called)]
    first, whole = _shared(member.first_name, student.first_name), _shared(member.name, student.name)
    if whole is False:
        return f"has the same {' and '.join(agreeing)} as {whom}, but another name"
    if whole and first is not False:
        agreeing.append("name")
    if len(agreeing) < ENOUGH:
        return (
            f"has only the same {agreeing[0]} as {whom}, which is not enough. Read the roster from this learning "
            "system, so that Viva knows its numbers"
        )
    return ""


def _shared(one: str, other: str) -> bool | None:
    """Whether two names have a word in common; None where one of them is not known."""
    words = [set(name.casefold().replace(",", " ").split()) for name in (one, other)]
    return bool(words[0] & words[1]) if all(words) else None
