"""The senders of archives who are a student: attempts/ has those that were found, matches.csv those that were named.

A group's sender is several students, so it is nobody's alone.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection

from viva.course import joined
from viva.course.course import Course
from viva.course.table import own_rows
from viva_term.archives.ledger import ATTEMPTS
from viva_term.archives.sendermatching import COLUMNS, MATCHES


def of(course: Course, ids: Collection[str]) -> frozenset[str]:
    """The labels of senders who are the student with these ids alone. Raises CourseError for a file of another form."""
    students: dict[str, set[str]] = defaultdict(set)
    same = joined.students(course.root)
    for path in sorted((course.root / ATTEMPTS).glob("*.csv")):
        for row in own_rows(path, ("student_id", "sender"), {"student_id"}).values():
            students[row["sender"].strip()].add(row["student_id"])
    for row in own_rows(course.root / MATCHES, COLUMNS, {"sender", "student_id"}).values():
        students[row["sender"].strip()].add(same.get(row["student_id"].strip(), row["student_id"].strip()))
    return frozenset(sender for sender, owners in students.items() if sender and owners <= {*ids})


def is_of(sender: str, path: str) -> bool:
    """Whether a member of an archive is of a sender: a folder called so, or a file whose name begins so."""
    for part in path.split("/"):
        if part == sender or (part.startswith(sender) and not part[len(sender)].isalnum()):
            return True
    return False
