"""A comment that a grader wrote once, for all answers that another package says are alike.

An ``Addition`` for graders names the ``students`` whose answers are like the one on the page, and the ``answer`` cell.
The lines of the comment at this cell are added to the comments of those whom the grader leaves in. A score goes along
only as rubric items make it (``gradebook.rubric``): where a grader typed another one, it stays. What a comment and a
score were before goes back to the page, which can take all of it back in one step.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import msgspec
from msgspec import Struct
from nbgrader.api import BaseCell, Comment, Grade, Gradebook, SubmittedAssignment, SubmittedNotebook

from viva.cleaning import plaintext
from viva.course.course import Course
from viva.course.examining import writtenanswers
from viva.course.gradebook import rubric
from viva.pages import sentvalues
from viva.pages.additions import Addition

NEAR = 1e-9
MOST_TEXTS, LONGEST_TEXT = 40, 600
"""The most answers that are shown with their text, and the most characters of each."""


class Change(Struct):
    """What was written for one answer."""

    id: str
    """Of the submitted notebook."""
    cell: str
    comment: str | None
    comment_before: str | None
    score: float | None
    score_before: float | None


class _Cell(Struct):
    source: str | list[str] = ""
    metadata: dict = {}


class _Notebook(Struct):
    cells: list[_Cell] = []


class Row(Struct):
    """An answer of a group, as the page lists it."""

    id: str
    comment: str
    text: str = ""


def groups(gradebook: Gradebook, submitted: SubmittedNotebook, parts: Iterable[Addition]) -> dict[str, dict[str, str]]:
    """By answer cell, the answers of other students that are like this one: submitted notebooks with their students."""
    ids: dict[str, str] = {}
    alike: dict[str, dict[str, str]] = {}
    for part in parts:
        if not part.answer or not part.students:
            continue
        ids = ids or _by_student(gradebook, submitted)
        others = {ids[who]: who for who in part.students if who in ids and ids[who] != submitted.id}
        alike.setdefault(part.answer, {}).update(others)
    return {cell: members for cell, members in alike.items() if members}


def _by_student(gradebook: Gradebook, submitted: SubmittedNotebook) -> dict[str, str]:
    """By student, the submitted notebook."""
    columns = SubmittedAssignment.student_id, SubmittedNotebook.id
    query = gradebook.db.query(*columns).join(
        SubmittedNotebook, SubmittedNotebook.assignment_id == SubmittedAssignment.id
    )
    return dict(query.filter(SubmittedNotebook.notebook_id == submitted.notebook_id).tuples())


def rows(
    course: Course, gradebook: Gradebook, submitted: SubmittedNotebook, alike: Mapping[str, Mapping[str, str]]
) -> dict[str, list[Row]]:
    """By answer cell, the answers of a group: the comment of each, and of the first ones the text.

    Each graded notebook is read once, as plain JSON: the page of a grader waits for it.
    """
    texts: dict[str, dict[str, str]] = {}
    listed: dict[str, list[Row]] = {}
    for cell, members in alike.items():
        query = gradebook.db.query(Comment.notebook_id, Comment.manual_comment).join(Comment.cell)
        comments = dict(query.filter(BaseCell.name == cell, Comment.notebook_id.in_(members)).tuples())
        for place, (key, student) in enumerate(members.items()):
            if place < MOST_TEXTS and key not in texts:
                folder = course.path("autograded", submitted.assignment.assignment.name, student)
                texts[key] = _texts(folder / f"{submitted.name}.ipynb")
            text = texts[key].get(cell, "") if place < MOST_TEXTS else ""
            listed.setdefault(cell, []).append(Row(key, comments.get(key) or "", text))
    return listed


def _texts(path: Path) -> dict[str, str]:
    """The beginnings of the answers in a graded notebook, by cell; empty where it cannot be read."""
    try:
        notebook = msgspec.json.decode(path.read_bytes(), type=_Notebook)
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
        return {}
    texts = {}
    for cell in notebook.cells:
        marks, kept = cell.metadata.get("nbgrader"), cell.metadata.get(writtenanswers.KEY)
        if isinstance(marks, dict) and isinstance(name := marks.get("grade_id"), str):
            answer = kept.get("answer") if isinstance(kept, dict) else None
            text = answer if isinstance(answer, str) else "".join(cell.source)
            texts[name] = plaintext.lines(text[:LONGEST_TEXT])
    return texts


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
        if rubric.written(gradebook, comment, (before, after), grade, (score_before, score)):
            if grade and score != score_before:
                grade.needs_manual_grade = False
            yield Change(key, cell, after, before, score, score_before)
    gradebook.db.commit()


def take_back(gradebook: Gradebook, changes: Iterable[Change]) -> int:
    """Undo what ``give`` or an edited item wrote, and commit; how many. What was changed since stays as it is.

    The changes come back from a browser: raises RefusedError for what the gradebook does not take, and writes nothing.
    """
    count = 0
    for change in changes:
        other = gradebook.find_submission_notebook_by_id(change.id)
        comment = next((row for row in other.comments if row.name == change.cell), None)
        grade = next((row for row in other.grades if row.name == change.cell), None)
        text = sentvalues.text(change.comment_before)
        score = sentvalues.points(change.score_before, grade.max_score) if grade else None
        if comment is not None:
            scores = change.score, score
            count += rubric.written(gradebook, comment, (change.comment, text), grade, scores)
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
