"""A student's standing in an assignment: graded, refused, not submitted and excused are different, and so is zero.

The gradebook knows who was graded, ``submitted/`` who submitted, and ``excused.csv`` in the course folder whom the
instructor excuses.
"""

from __future__ import annotations

import fnmatch
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from nbgrader.api import Assignment, Grade, Gradebook, Student, SubmittedAssignment, SubmittedNotebook
from sqlalchemy import or_

from viva.course.course import Course
from viva.course.deadlines import concessions
from viva.course.grading.inbox import Inbox
from viva.course.table import Table
from viva.submission.files import timestamp
from viva.submission.files.handin import find, place_problem
from viva.submission.submission import Submission
from viva.verdict import CourseError, VivaError


class Status(StrEnum):
    """What became of a student's assignment."""

    GRADED = "graded"
    NOT_GRADED = "not graded"
    """Submitted, and 'viva grade' did not run since, or needs the grader."""
    REFUSED = "refused"
    """Submitted, and the submission itself cannot be graded."""
    MISSING = "not handed in"
    EXCUSED = "excused"


@dataclass(frozen=True)
class Standing:
    """How one student stands with one assignment, why, and when something was submitted."""

    status: Status
    reason: str = ""
    handed_in: datetime | None = None


def _by_name(student: Student) -> tuple[str, str, str]:
    """Sorts by family name, first name and id; nbgrader leaves students without a name unsorted."""
    return student.last_name or "", student.first_name or "", student.id


class Standings:
    """How all students of a course stand with some of its assignments. Raises CourseError for a bad excused.csv."""

    def __init__(self, course: Course, gradebook: Gradebook, assignments: Iterable[str]) -> None:
        self.course, self.assignments = course, list(assignments)
        self.inbox = Inbox.of(course, self.assignments)
        self.submitted = {
            (submission.assignment, submission.student): submission
            for submission in course.submissions(self.assignments)
        }
        self.recorded = {name: _recorded(gradebook, name) for name in self.assignments}
        names = {assignment.name for assignment in gradebook.assignments} | set(self.assignments)
        self.excused = {
            pair: why for pair, why in concessions.excused(course.root, names).items() if pair[0] in self.assignments
        }
        self._left = {name: left_out(course, name) for name in self.assignments}
        entered = [student.id for student in sorted(gradebook.students, key=_by_name)]
        left = {student for reasons in self._left.values() for student in reasons}
        unknown = {*left, *(student for _, student in (*self.submitted, *self.excused))} - set(entered)
        self.students = [*entered, *sorted(unknown)]
        """All that the gradebook, submitted/ or excused.csv knows; the gradebook's first, by name."""
        self._known: dict[tuple[str, str], Standing] = {}

    def chosen(self, student: str) -> list[str]:
        """The students that a name, or else a glob, means. Raises CourseError where there is none."""
        students = [student] if student != "*" and student in self.students else fnmatch.filter(self.students, student)
        if not students and student != "*":
            raise CourseError(
                f"There is no student '{student}' in the gradebook, and no submission of a student with this id."
            )
        return students

    def of(self, assignment: str, student: str) -> Standing:
        pair = assignment, student
        if pair not in self._known:
            self._known[pair] = self._look(*pair)
        return self._known[pair]

    def with_status(self, assignment: str, status: Status) -> dict[str, Standing]:
        """By student, who stands like that."""
        standings = {student: self.of(assignment, student) for student in self.students}
        return {student: standing for student, standing in standings.items() if standing.status == status}

    def _look(self, assignment: str, student: str) -> Standing:
        submission, graded = self.submitted.get((assignment, student)), student in self.recorded[assignment]
        when = self._handed_in(submission) if submission else None
        before = self.recorded[assignment].get(student)
        if (assignment, student) in self.excused:
            return Standing(Status.EXCUSED, self.excused[assignment, student], when or before)
        left = self._left[assignment].get(student, "")
        left = f"not collected: {left}" if left else ""
        if graded:
            since = self._since(submission, when, before) if submission else ""
            return Standing(Status.GRADED, "; ".join(filter(None, (since, left))), before)
        if submission is None:
            return Standing(Status.REFUSED, left) if left else Standing(Status.MISSING)
        problem, refused = self._problem(submission)
        status = Status.REFUSED if refused else Status.NOT_GRADED
        return Standing(status, "; ".join(filter(None, (problem, left))), when)

    def _since(self, submission: Submission, when: datetime | None, before: datetime | None) -> str:
        """A remark about a submission that came after the graded one; empty where there is none."""
        expected = self.inbox.expected.get(submission.assignment)
        problem = find(submission, set(expected.notebooks)).problem if expected else ""
        if when and before and when != before:
            problem = problem or self._problem(submission)[0]
            return f"submitted again, and refused: {problem}" if problem else "submitted again, and not graded yet"
        return f"submitted again, and refused: {problem}" if problem else ""

    def _problem(self, submission: Submission) -> tuple[str, bool]:
        """Why a submission was not graded, and whether the submission itself is the cause."""
        if submission.assignment not in self.inbox.expected:
            return "", False
        try:
            problem = self.inbox.open(submission).problem
        except VivaError as error:
            return str(error), False
        return problem, bool(problem)

    def _handed_in(self, submission: Submission) -> datetime | None:
        if place_problem(submission):
            return None
        return timestamp.of(submission)


def _recorded(gradebook: Gradebook, name: str) -> dict[str, datetime | None]:
    """By student, the time of the graded submission.

    nbgrader enters a submission before it grades it, and leaves it there without a score if that fails.
    """
    query = gradebook.db.query(SubmittedAssignment.student_id, SubmittedAssignment.timestamp)
    query = query.join(Assignment, Assignment.id == SubmittedAssignment.assignment_id).filter(Assignment.name == name)
    query = query.join(SubmittedNotebook, SubmittedNotebook.assignment_id == SubmittedAssignment.id)
    query = query.outerjoin(Grade, Grade.notebook_id == SubmittedNotebook.id)
    scored = or_(Grade.auto_score.is_not(None), Grade.manual_score.is_not(None), Grade.id.is_(None))
    return dict(query.filter(scored).distinct().all())


# What collecting left out of submitted/ and knows the sender of: rows of ``unmatched/<assignment>.csv`` with a reason.
#
# Who collects writes them. They end when the row's folder is removed, or its sender sends something that is collected.

UNMATCHED = "unmatched"


def left_out(course: Course, assignment: str) -> dict[str, str]:
    """By student, why something that they sent was left out. Raises CourseError where the list cannot be read."""
    path = course.root / UNMATCHED / f"{assignment}.csv"
    reasons: dict[str, list[str]] = defaultdict(list)
    if path.exists():
        table = Table.read(path)
        for cells in table.rows.values():
            row = dict(zip(table.header, cells, strict=False))
            if row.get("reason") and (path.with_suffix("") / row["folder"]).is_dir():
                for student in filter(None, row.get("student", "").split("/")):
                    reasons[student].append(row["reason"])
    return {student: "; ".join(sentences) for student, sentences in reasons.items()}
