"""A comment that a grader wrote once, for all answers that another package says are alike.

An ``Addition`` for graders names the ``students`` whose answers are like the one on the page, and the ``answer`` cell.
The lines of the comment at this cell are added to the comments of those whom the grader leaves in. A score goes along
only as rubric items make it (``viva.course.rubric``): where a grader typed another one, it stays. What a comment and a
score were before goes back to the page, which can take all of it back in one step.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from msgspec import Struct
from nbgrader.api import Comment, Grade, Gradebook, SubmittedNotebook
from sqlalchemy import update

from viva.cleaning import plaintext
from viva.course import rubric, writtenanswers
from viva.course.course import Course
from viva.engine.blueprint import read_notebook
from viva.pages.additions import Addition
from viva.verdict import BlueprintError

NEAR = 1e-9
MOST_TEXTS, LONGEST_TEXT = 40, 600
"""The most answers that are shown with their text, and the most characters of each."""


class Change(Struct):
    """What was written for one answer."""

    id: str
    """Of the submitted notebook."""
    comment: str | None
    comment_before: str | None
    score: float | None
    score_before: float | None


class Row(Struct):
    """An answer of a group, as the page lists it."""

    id: str
    comment: str
    text: str = ""


def groups(gradebook: Gradebook, submitted: SubmittedNotebook, parts: Iterable[Addition]) -> dict[str, list[str]]:
    """By answer cell, the submitted notebooks of the other students whose answers are like this one."""
    by_student: dict[str, SubmittedNotebook] = {}
    alike: dict[str, list[str]] = {}
    for part in parts:
        if not part.answer or not part.students:
            continue
        by_student = by_student or _by_student(gradebook, submitted)
        members = alike.setdefault(part.answer, [])
        for student in part.students:
            other = by_student.get(student)
            if other is not None and other.id != submitted.id and other.id not in members:
                members.append(other.id)
    return {cell: members for cell, members in alike.items() if members}


def _by_student(gradebook: Gradebook, submitted: SubmittedNotebook) -> dict[str, SubmittedNotebook]:
    query = gradebook.db.query(SubmittedNotebook).filter(SubmittedNotebook.notebook_id == submitted.notebook_id)
    return {other.student.id: other for other in query}


def rows(course: Course, gradebook: Gradebook, cell: str, members: Iterable[str]) -> list[Row]:
    """The answers of a group: the comment of each, and of the first ones the text."""
    listed: list[Row] = []
    for key in members:
        other = gradebook.find_submission_notebook_by_id(key)
        comment = next((comment.manual_comment for comment in other.comments if comment.name == cell), None)
        folder = course.path("autograded", other.assignment.assignment.name, other.student.id)
        text = _text(folder / f"{other.name}.ipynb", cell) if len(listed) < MOST_TEXTS else ""
        listed.append(Row(key, comment or "", text))
    return listed


def _text(path: Path, name: str) -> str:
    """What stands in an answer cell of a graded notebook; empty where it cannot be read."""
    try:
        notebook = read_notebook(path)
    except BlueprintError:
        return ""
    for cell in notebook.cells:
        if cell.metadata.get("nbgrader", {}).get("grade_id") == name:
            kept = cell.metadata.get(writtenanswers.KEY)
            text = kept.get("answer", cell.source) if isinstance(kept, Mapping) else cell.source
            return plaintext.lines(str(text))[:LONGEST_TEXT]
    return ""


def give(gradebook: Gradebook, submitted: SubmittedNotebook, cell: str, members: Iterable[str]) -> Iterator[Change]:
    """Add the lines of a comment to those of other answers, and commit. An answer that has them all is left out.

    Raises MissingEntry for an answer that is not in the gradebook.
    """
    lines = _lines(next((row.manual_comment for row in submitted.comments if row.name == cell), None))
    for key in members if lines else ():
        other = gradebook.find_submission_notebook_by_id(key)
        comment = next((row for row in other.comments if row.name == cell), None)
        if comment is None:
            continue
        before = comment.manual_comment
        there = {line.strip() for line in _lines(before)}
        new = [line for line in lines if line.strip() not in there]
        if not new:
            continue
        grade = next((row for row in other.grades if row.name == cell), None)
        after = "\n".join([*([before.rstrip()] if before and before.strip() else []), *new])
        score_before = grade.manual_score if grade else None
        score = _score(grade, before, after) if grade else None
        if _written(gradebook, comment, before, after, grade, score_before, score):
            yield Change(key, after, before, score, score_before)
    gradebook.db.commit()


def take_back(gradebook: Gradebook, cell: str, changes: Iterable[Change]) -> int:
    """Undo what ``give`` wrote, and commit; how many. What was changed since stays as it is."""
    count = 0
    for change in changes:
        other = gradebook.find_submission_notebook_by_id(change.id)
        comment = next((row for row in other.comments if row.name == cell), None)
        grade = next((row for row in other.grades if row.name == cell), None)
        if comment is not None:
            count += _written(gradebook, comment, change.comment, change.comment_before, grade, change.score,
                              change.score_before)  # fmt: skip
    gradebook.db.commit()
    return count


def _lines(comment: str | None) -> list[str]:
    return [line for line in (comment or "").splitlines() if line.strip()]


def _score(grade: Grade, before: str | None, after: str) -> float | None:
    """The score after a comment has changed: what its items make, unless a grader typed another one."""
    old, new = rubric.applied(before), rubric.applied(after)
    most, score = float(grade.max_score), grade.manual_score
    if not new or (score is not None and (not old or abs(score - rubric.score_of(old, most)) > NEAR)):
        return score
    return rubric.score_of(new, most)


def _written(
    gradebook: Gradebook,
    comment: Comment,
    before: str | None,
    after: str | None,
    grade: Grade | None,
    score_before: float | None,
    score: float | None,
) -> bool:
    """Write a comment and its score where both are still what they were ``before``; whether they were."""
    session = gradebook.db
    for row, table in ((comment, Comment.__table__), (grade, Grade.__table__)):
        if row is not None:  # locks the row, in SQLite the file, until the end of the transaction
            session.execute(update(table).where(table.c.id == row.id).values(id=table.c.id))
            session.refresh(row)
    if comment.manual_comment != before or (grade is not None and grade.manual_score != score_before):
        return False
    comment.manual_comment = after
    if grade is not None and score != score_before:
        grade.manual_score = score
        grade.needs_manual_grade = score is None and grade.auto_score is None
    return True
