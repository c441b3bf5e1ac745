"""The agreement of gradebook, results.jsonl and autograded/: all three must hold the same work.

A gradebook that was put back from an older copy holds older scores, and one that was made anew holds none: neither the
grades by hand nor the due dates. Both look whole. What was graded automatically tells: its scores stand in
results.jsonl too, and its notebooks in autograded/.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime

from nbgrader.api import Assignment, BaseCell, Grade, Gradebook, Notebook, SubmittedAssignment, SubmittedNotebook

from viva.course.course import Course
from viva.course.gradebook.releases import EMPTY, LOST
from viva.course.gradebook.results import Results
from viva.record import SubmissionRecord
from viva.submission.files import timestamp
from viva.submission.submission import Submission
from viva.verdict import CourseError, SubmissionError, Verdict

ROUNDING = 1e-6


@dataclass
class Held:
    """A submission in the gradebook: its time in UTC, and its scores by notebook and cell."""

    timestamp: datetime | None
    scores: dict[tuple[str, str], float | None] = field(default_factory=dict)

    def agrees(self, record: SubmissionRecord) -> bool:
        """Whether the automatic scores are those of a record."""
        for name, book in record.notebooks.items():
            for cell, results in book.checks.items():
                ungraded = any(result.verdict is Verdict.UNGRADED for result in results)
                earned = None if ungraded else sum(result.earned for result in results)
                score = self.scores.get((name, cell), -1.0)
                if score is None or earned is None:
                    if score is not earned:
                        return False
                elif abs(score - earned) > ROUNDING:
                    return False
        return True

    def is_of(self, submission: Submission) -> bool:
        """Whether the time of submission is that in the submission's folder, where one stands there."""
        try:
            when = timestamp.read(submission.folder / timestamp.NAME)
        except SubmissionError:
            return True
        return when is None or when == self.timestamp


def held(gradebook: Gradebook, names: Iterable[str]) -> dict[tuple[str, str], Held]:
    """The gradebook's submissions of assignments, by assignment and student."""
    submissions: dict[tuple[str, str], Held] = {}
    for name in names:
        query = gradebook.db.query(SubmittedAssignment.student_id, SubmittedAssignment.timestamp)
        query = query.join(Assignment, Assignment.id == SubmittedAssignment.assignment_id)
        submissions |= {(name, student): Held(when) for student, when in query.filter(Assignment.name == name)}
        rows = gradebook.db.query(SubmittedAssignment.student_id, Notebook.name, BaseCell.name, Grade.auto_score)
        rows = rows.select_from(Grade).join(SubmittedNotebook, SubmittedNotebook.id == Grade.notebook_id)
        rows = rows.join(SubmittedAssignment, SubmittedAssignment.id == SubmittedNotebook.assignment_id)
        rows = rows.join(Assignment, Assignment.id == SubmittedAssignment.assignment_id)
        rows = rows.join(Notebook, Notebook.id == SubmittedNotebook.notebook_id)
        rows = rows.join(BaseCell, BaseCell.id == Grade.cell_id)
        for student, notebook, cell, score in rows.filter(Assignment.name == name):
            submissions[name, student].scores[notebook, cell] = score
    return submissions


def apart(course: Course, names: Iterable[str]) -> dict[str, list[str]]:
    """By assignment, the students whose gradebook and results.jsonl differ. Raises CourseError."""
    names = list(names)
    with course.gradebook() as gradebook:
        submissions = held(gradebook, names)
    students: dict[str, list[str]] = defaultdict(list)
    for pair, record in sorted(Results.of(course.directory).read().items()):
        if pair[0] in names and not (pair in submissions and submissions[pair].agrees(record)):
            students[pair[0]].append(pair[1])
    return dict(students)


def require_kept(course: Course, names: Iterable[str]) -> None:
    """Raises CourseError where submissions were graded, but the gradebook is gone or has none of them.

    One submission that it does not know may have been removed from it on purpose. A batch that was killed may leave
    graded notebooks that are not recorded yet; they are newer than the release.
    """
    results, book = Results.of(course.directory), course.gradebook_file
    graded = defaultdict(list)
    for submission in course.folders("autograded"):
        graded[submission.assignment].append(submission)
    if book and not book.exists():
        if results.path.exists() or any(graded.values()):
            seen = [path for path in (results.path, course.path("autograded", ".")) if path.exists()]
            raise CourseError(LOST.format(book=book, results=" and ".join(map(str, seen))))
        return
    recorded: dict[str, set[str]] = defaultdict(set)
    for record in results.each():
        recorded[record.assignment].add(record.student)
    with course.gradebook() as gradebook:
        rows = gradebook.db.query(Assignment.name, SubmittedAssignment.student_id)
        pairs = set(rows.join(SubmittedAssignment, SubmittedAssignment.assignment_id == Assignment.id).all())
    for name in names:
        students = {student for assignment, student in pairs if assignment == name}
        where = ""
        if recorded[name] and not recorded[name] & students:
            where = f"{results.path} and {course.path('autograded', '.')}"
        elif not students and graded[name] and not recorded[name] and _is_older(course, name, graded[name]):
            where = str(course.path("autograded", "."))
        if where:
            raise CourseError(EMPTY.format(book=course.book, assignment=name, results=where))


def _is_older(course: Course, name: str, graded: list[Submission]) -> bool:
    """Whether all that was graded is older than the release, which a gradebook that was made anew knows."""
    released = [path.stat().st_mtime for path in course.path("release", name).glob("*.ipynb")]
    return bool(released) and max(submission.folder.stat().st_mtime for submission in graded) < min(released)


def unrecorded(course: Course, names: Iterable[str]) -> dict[tuple[str, str], str]:
    """By assignment and student, why results.jsonl lacks the record of a graded submission.

    A course that nbgrader graded alone has no such file, and none of such an assignment is in it.
    """
    results = Results.of(course.directory)
    if not results.path.exists():
        return {}
    broken = results.unreadable()
    pairs = set(results.keys())
    assignments = {assignment for assignment, _ in pairs}
    why = f"line {broken[0]} of it cannot be read" if broken else ""
    why = why or ("" if pairs else "it is empty")
    return {
        (submission.assignment, submission.student): f"{results.path} has no record of what was graded"
        + (f": {why}" if why else "")
        + f". Nothing was changed. Run: viva grade {submission.assignment}"
        for submission in course.folders("autograded")
        if submission.assignment in names
        and (submission.assignment, submission.student) not in pairs
        and (why or submission.assignment in assignments)
    }
