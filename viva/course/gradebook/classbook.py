"""What the gradebook knows of a class, in a few queries; nbgrader's objects would ask some for each student."""

from __future__ import annotations

from collections import defaultdict
from datetime import timedelta

from nbgrader.api import (
    Assignment,
    BaseCell,
    Grade,
    Gradebook,
    Notebook,
    SubmittedAssignment,
    SubmittedNotebook,
)
from sqlalchemy import func


def scores(gradebook: Gradebook, name: str) -> tuple[dict[str, float], set[str], float, list[str]]:
    """By student the score less the penalty, who is late, what can be had, and the names of the notebooks."""
    assignment = gradebook.db.query(Assignment).filter(Assignment.name == name).first()
    if assignment is None:
        return {}, set(), 0.0, []
    own = SubmittedAssignment
    submitted = gradebook.db.query(own.student_id, own.timestamp, own.extension)
    times = {who: (when, more) for who, when, more in submitted.filter(own.assignment_id == assignment.id)}
    earned = _of(gradebook.db.query(SubmittedAssignment.student_id, func.sum(Grade.score)), name, Grade)
    lost = func.sum(SubmittedNotebook.late_submission_penalty)
    penalties = dict(_each(_of(gradebook.db.query(SubmittedAssignment.student_id, lost), name)))
    found = dict.fromkeys(times, 0.0)
    found |= {who: max(0.0, (score or 0.0) - (penalties.get(who) or 0.0)) for who, score in _each(earned)}
    due = assignment.duedate
    late = {who for who, (when, more) in times.items() if due and when and when > due + (more or timedelta())}
    return found, late, float(assignment.max_score), sorted(notebook.name for notebook in assignment.notebooks)


def places(gradebook: Gradebook, name: str) -> dict[tuple[str, str], str]:
    """The ids by which formgrader knows the notebooks of an assignment, by student and notebook."""
    rows = _of(gradebook.db.query(SubmittedAssignment.student_id, Notebook.name, SubmittedNotebook.id), name)
    return {(student, book): place for student, book, place in rows}


def by_hand(gradebook: Gradebook, name: str) -> list[tuple[str, str, list[str]]]:
    """The cells that wait for a grader, by student and notebook."""
    query = _of(gradebook.db.query(SubmittedAssignment.student_id, Notebook.name, BaseCell.name), name, Grade)
    found: dict[tuple, list[str]] = defaultdict(list)
    for student, book, cell in query.filter(Grade.needs_manual_grade):
        found[student, book].append(cell)
    return [(*place, sorted(cells)) for place, cells in sorted(found.items())]


def _each(query) -> list:
    return query.group_by(SubmittedAssignment.student_id).all()


def _of(query, name: str, *more: type):
    """A query over the submitted notebooks of an assignment, and over their grades if asked for."""
    query = query.select_from(SubmittedNotebook).join(
        SubmittedAssignment, SubmittedAssignment.id == SubmittedNotebook.assignment_id
    )
    query = query.join(Notebook, Notebook.id == SubmittedNotebook.notebook_id)
    query = query.join(Assignment, Assignment.id == SubmittedAssignment.assignment_id).filter(Assignment.name == name)
    if more:
        query = query.join(Grade, Grade.notebook_id == SubmittedNotebook.id)
        query = query.join(BaseCell, BaseCell.id == Grade.cell_id)
    return query
