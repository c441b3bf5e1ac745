"""The gradebook of a class, read in a few queries; nbgrader's objects would send several for each student."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from datetime import datetime, timedelta

from nbgrader.api import (
    Assignment,
    BaseCell,
    Comment,
    Grade,
    Gradebook,
    GradeCell,
    Notebook,
    SubmittedAssignment,
    SubmittedNotebook,
    TaskCell,
)
from sqlalchemy import case, func, or_, true


def scores(gradebook: Gradebook, name: str) -> tuple[dict[str, float], set[str], float, list[str]]:
    """By student the score less the penalty, who is late, the maximum, and the names of the notebooks."""
    assignment = gradebook.db.query(Assignment).filter(Assignment.name == name).first()
    if assignment is None:
        return {}, set(), 0.0, []
    mark_of = marks(gradebook, name)
    scores_of = {who: max(0.0, mark.raw - mark.penalty) for who, mark in mark_of.items()}
    late = {who for who, mark in mark_of.items() if mark.seconds_late}
    return scores_of, late, float(assignment.max_score), sorted(notebook.name for notebook in assignment.notebooks)


@dataclass(frozen=True)
class Mark:
    """The points of one student in one assignment, as nbgrader counts them."""

    code: float
    written: float
    """Of written answers and tasks."""
    raw: float
    penalty: float
    waiting: bool
    seconds_late: float


def marks(gradebook: Gradebook, name: str) -> dict[str, Mark]:
    """By student, the points of all students who are entered for an assignment."""
    submission, book = SubmittedAssignment, SubmittedNotebook
    cells, tasks = GradeCell.__table__, TaskCell.__table__
    code, written = cells.c.cell_type == "code", or_(cells.c.cell_type == "markdown", tasks.c.id.is_not(None))
    sums = [func.sum(case((which, Grade.score), else_=0.0)) for which in (code, written, true())]
    waiting = func.max(case((Grade.needs_manual_grade, 1), else_=0))
    query = gradebook.db.query(submission.student_id, *sums, waiting).select_from(book)
    query = query.join(submission, submission.id == book.assignment_id).join(
        Assignment, Assignment.id == submission.assignment_id
    )
    query = query.join(Grade, Grade.notebook_id == book.id).filter(Assignment.name == name)
    query = query.outerjoin(cells, cells.c.id == Grade.cell_id).outerjoin(tasks, tasks.c.id == Grade.cell_id)
    earned = {who: sums for who, *sums in _each(query)}
    penalties = dict(
        _each(_of(gradebook.db.query(submission.student_id, func.sum(book.late_submission_penalty)), name))
    )
    times = gradebook.db.query(submission.student_id, submission.timestamp, submission.extension, Assignment.duedate)
    times = times.join(Assignment, Assignment.id == submission.assignment_id).filter(Assignment.name == name)
    mark_of = {}
    for who, when, extension, due in times:
        code, written, raw, waiting = earned.get(who, (0.0, 0.0, 0.0, 0))
        late = max(0.0, (when - due - (extension or timedelta())).total_seconds()) if when and due else 0.0
        mark_of[who] = Mark(code, written, raw, penalties.get(who) or 0.0, bool(waiting), late)
    return mark_of


def places(gradebook: Gradebook, name: str) -> dict[tuple[str, str], str]:
    """The ids by which formgrader knows the notebooks of an assignment, by student and notebook."""
    rows = _of(gradebook.db.query(SubmittedAssignment.student_id, Notebook.name, SubmittedNotebook.id), name)
    return {(student, book): timestamp for student, book, timestamp in rows}


def by_hand(gradebook: Gradebook, name: str) -> list[tuple[str, str, list[str]]]:
    """The cells that wait for a grader, by student and notebook."""
    query = _of(gradebook.db.query(SubmittedAssignment.student_id, Notebook.name, BaseCell.name), name, Grade)
    cells_of: dict[tuple, list[str]] = defaultdict(list)
    for student, book, cell in query.filter(Grade.needs_manual_grade):
        cells_of[student, book].append(cell)
    return [(*pair, sorted(cells)) for pair, cells in sorted(cells_of.items())]


@dataclass(frozen=True)
class Book:
    """A submitted notebook, by its id; times are in UTC, and nbgrader's do not say so."""

    id: str
    student: str
    name: str
    penalty: float
    handed_in: datetime | None
    due: datetime | None
    """With more time, where the student has some."""

    @property
    def seconds_late(self) -> float:
        if self.handed_in is None or self.due is None:
            return 0.0
        return max(0.0, (self.handed_in - self.due).total_seconds())


def notebooks(gradebook: Gradebook, name: str, student: str = "") -> list[Book]:
    """The submitted notebooks of an assignment, of all students or of one."""
    submission, book = SubmittedAssignment, SubmittedNotebook
    columns = book.id, submission.student_id, Notebook.name, book.late_submission_penalty, submission.timestamp
    query = _by(_of(gradebook.db.query(*columns, Assignment.duedate, submission.extension), name), student)
    return [
        Book(key, who, notebook, penalty or 0.0, when, due and due + (extension or timedelta()))
        for key, who, notebook, penalty, when, due, extension in query
    ]


def marked(gradebook: Gradebook, name: str, student: str = "") -> tuple[dict[str, list], dict[str, list]]:
    """By submitted notebook of an assignment, the grades and the comments, each with the name of its cell first.

    A grade's score, the maximum, whether it waits for a grader, and the manual score; the comment, and the manual one.
    """
    cell, book = BaseCell.__table__.alias(), SubmittedNotebook
    rows_of: tuple[dict[str, list], dict[str, list]] = defaultdict(list), defaultdict(list)
    of_grades = Grade.score, Grade.max_score, Grade.needs_manual_grade, Grade.manual_score
    of_comments = Comment.comment, Comment.manual_comment
    for rows, kind, columns in zip(rows_of, (Grade, Comment), (of_grades, of_comments), strict=True):
        query = _by(_of(gradebook.db.query(book.id, cell.c.name, *columns), name), student)
        query = query.join(kind, kind.notebook_id == book.id).join(cell, cell.c.id == kind.cell_id)
        for key, *row in query:
            rows[key].append(row)
    return rows_of


def standings(
    gradebook: Gradebook, name: str, student: str
) -> tuple[datetime | None, dict[tuple[str, str], tuple[bool, bool]]]:
    """The time of one submission, in UTC; and by notebook and cell whether there is a manual grade, and whether it
    waits for a grader."""
    when = gradebook.db.query(SubmittedAssignment.timestamp).join(
        Assignment, Assignment.id == SubmittedAssignment.assignment_id
    )
    when = when.filter(Assignment.name == name, SubmittedAssignment.student_id == student).scalar()
    columns = Notebook.name, BaseCell.name, Grade.manual_score, Grade.needs_manual_grade
    rows = _by(_of(gradebook.db.query(*columns), name, Grade), student)
    return when, {(book, cell): (manual is not None, bool(waits)) for book, cell, manual, waits in rows}


def _by(query, student: str):
    return query.filter(SubmittedAssignment.student_id == student) if student else query


def _each(query) -> list:
    return query.group_by(SubmittedAssignment.student_id).all()


def _of(query, name: str, *tables: type):
    """A query over the submitted notebooks of an assignment, and over their grades if asked for."""
    query = query.select_from(SubmittedNotebook).join(
        SubmittedAssignment, SubmittedAssignment.id == SubmittedNotebook.assignment_id
    )
    query = query.join(Notebook, Notebook.id == SubmittedNotebook.notebook_id)
    query = query.join(Assignment, Assignment.id == SubmittedAssignment.assignment_id).filter(Assignment.name == name)
    if tables:
        query = query.join(Grade, Grade.notebook_id == SubmittedNotebook.id)
        query = query.join(BaseCell, BaseCell.id == Grade.cell_id)
    return query
