"""The student that each member of a learning system is.

A score that goes to another student is worse than one that does not go: numbers and addresses have to agree, and where
they name two students, or two members, nobody gets anything, and a sentence says so.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from nbgrader.api import Gradebook

from viva.cleaning import plaintext
from viva.course.course import Course
from viva.course.table import own_rows
from viva_lti.members import Member

ROSTER = "roster.csv"


@dataclass(frozen=True)
class Student:
    """A student of the course; what is not known is empty."""

    id: str
    name: str = ""
    email: str = ""
    lms_user_id: str = ""
    sis: str = ""


def students(course: Course, gradebook: Gradebook) -> dict[str, Student]:
    """The gradebook's students by id, with the school's numbers of roster.csv. Raises CourseError."""
    rows = own_rows(course.root / ROSTER, ("id", "sis"), {"id"}).values()
    numbers = {row["id"]: row["sis"] for row in rows}
    return {
        row.id: Student(
            row.id,
            f"{row.first_name or ''} {row.last_name or ''}".strip(),
            row.email or "",
            row.lms_user_id or "",
            numbers.get(row.id, ""),
        )
        for row in gradebook.students
    }


def matched(
    members: Iterable[Member], students: Mapping[str, Student], username_key: str = "email"
) -> tuple[dict[str, Member], dict[str, str]]:
    """By student the member, and by the number of a member who is nobody certain, why."""
    index = {name: _index(students.values(), name) for name in ("lms_user_id", "sis", "email", "id")}
    members_of: dict[str, list[Member]] = defaultdict(list)
    doubts: dict[str, str] = {}
    for member in members:
        keys = {
            "lms_user_id": member.user_id,
            "sis": member.sis,
            "email": member.email,
            "id": member.username(username_key),
        }
        hits = {name: index[name][key.casefold()] for name, key in keys.items() if key.casefold() in index[name]}
        ids = set(hits.values())
        if len(ids) == 1:
            student = students[ids.pop()]
            if doubt := _doubt(member, student, set(hits)):
                doubts[member.user_id] = doubt
            else:
                members_of[student.id].append(member)
        elif ids:
            names = " and ".join(map(plaintext.quoted, sorted(ids)))
            doubts[member.user_id] = f"numbers and address belong to different students: {names}"
        else:
            doubts[member.user_id] = "does not match a student of the gradebook"
    for student_id, alike in list(members_of.items()):
        if len(alike) > 1:
            doubts |= {member.user_id: f"may be {plaintext.quoted(student_id)}, as another member" for member in alike}
            del members_of[student_id]
    return {student_id: alike[0] for student_id, alike in members_of.items()}, doubts


def _index(students: Iterable[Student], name: str) -> dict[str, str]:
    """The ids of those who alone have something in a column, by that."""
    owners = defaultdict(list)
    for student in students:
        if value := getattr(student, name).casefold():
            owners[value].append(student.id)
    return {value: ids[0] for value, ids in owners.items() if len(ids) == 1}


def _doubt(member: Member, student: Student, by: set[str]) -> str:
    """Why a member may be another person than a student who has a number or the address of theirs."""
    if member.sis and student.sis and member.sis.casefold() != student.sis.casefold():
        return f"has another school number than {plaintext.quoted(student.id)}"
    words = [set(name.casefold().replace(",", " ").split()) for name in (member.name, student.name)]
    if not by & {"lms_user_id", "sis"} and all(words) and not words[0] & words[1]:
        return f"has the address of {plaintext.quoted(student.id)}, and another name"
    return ""
