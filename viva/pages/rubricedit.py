"""A rubric item that a grader edits on the page of an answer: the file, and all comments and scores given with it.

Theory of operation. The row of the assignment is locked first (in SQLite the file), so that graders edit one after the
other and a gradebook that cannot be written to changes nothing. Then the file takes its new form, and
``gradebook.rubric.apply`` writes comments and scores, as for ``viva rubric --yes``. If that fails, the old file is
put back. If the server is killed in between, the file is new and the gradebook old: saving again, or ``viva rubric``,
does the rest. What it was before goes back to the page, which can take all of it back in one step.
"""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from msgspec import Struct
from nbgrader.api import Assignment, Gradebook, SubmittedNotebook
from sqlalchemy import update

from viva.course.gradebook import rubric
from viva.course.gradebook.rubric import Item, Update
from viva.course.gradebook.rubricfile import RubricFile
from viva.pages import groupcomment, sentvalues
from viva.pages.groupcomment import Change
from viva.wording import counted


class Values(Struct):
    """What can be edited."""

    points: float
    text: str


class Edit(Values, kw_only=True):
    """An item as it is to be; without a ``key`` a new one for the question ``cell``."""

    seen: str
    """The version of the file that the page shows."""
    key: str = ""
    cell: str = ""
    save: bool = False
    """Whether to do it, and not only to say what would become of it."""


class Outcome(Struct):
    """What became of an edit, or would."""

    sentence: str
    answers: int
    """How many change."""
    seen: str = ""
    item: dict[str, str | float] | None = None
    """As it is now; None where nothing was done."""
    before: Values | None = None
    """None where the item is new."""
    changes: list[Change] = []


class Undoing(Struct):
    """What a page sends to take an edit back."""

    seen: str
    key: str
    changes: list[Change]
    before: Values | None = None


def shown(item: Item) -> dict[str, str | float]:
    """An item, as the page offers it."""
    return {"key": item.key, "points": item.points, "text": item.text, "line": item.line}


def file_of(root: Path, submitted: SubmittedNotebook) -> RubricFile:
    """The rubric of a submission's assignment. Raises CourseError, and OSError."""
    return RubricFile.read(rubric.path_of(root, submitted.assignment.assignment.name))


def edit(gradebook: Gradebook, submitted: SubmittedNotebook, root: Path, asked: Edit) -> Outcome:
    """Change or add an item, or say what that would do. Raises CourseError, RefusedError, and OSError."""
    if asked.save:
        _lock(gradebook, submitted)
    assignment, text = submitted.assignment.assignment.name, sentvalues.text(asked.text) or ""
    old = file_of(root, submitted)
    old.require(asked.seen)
    if asked.key:
        key, new, was = asked.key, old.changed(asked.key, asked.points, text), old.item(asked.key)
    else:
        (new, key), was = old.added(asked.points, text, asked.cell), None
    item = new.item(key)
    planned = list(rubric.updates(gradebook, assignment, [item]))
    if not asked.save:
        return Outcome(_plan(rubric.counts(gradebook, assignment).get(key, 0), planned), len(planned))
    changes = {one: _change(gradebook, assignment, one) for one in planned}
    with _put(new, old):
        done = [changes[one] for one in rubric.apply(gradebook, assignment, planned)]
    sentence = f"Saved. {counted(len(done), 'answer')} changed." if was else "Saved."
    before = Values(was.points, was.text) if was else None
    return Outcome(sentence, len(done), new.version, shown(item), before, done)


def take_back(gradebook: Gradebook, submitted: SubmittedNotebook, root: Path, asked: Undoing) -> Outcome:
    """Undo an edit. What was changed since stays as it is. Raises CourseError, RefusedError, and OSError."""
    _lock(gradebook, submitted)
    old = file_of(root, submitted)
    old.require(asked.seen)
    if asked.before:
        new = old.changed(asked.key, asked.before.points, sentvalues.text(asked.before.text) or "")
    else:
        new = old.without(asked.key)
    with _put(new, old):
        count = groupcomment.take_back(gradebook, asked.changes)
    sentence = f"Taken back from {counted(count, 'answer')}." if asked.changes else "Taken back."
    if left := len(asked.changes) - count:
        sentence += f" {counted(left, 'answer')} changed since, and nothing was taken back there."
    return Outcome(sentence, count, new.version, shown((new if asked.before else old).item(asked.key)))


def _plan(used: int, planned: Sequence[Update]) -> str:
    """What an edit would do, before it is done."""
    if not used:
        return "No answer has this item yet."
    have = f"{counted(used, 'answer')} {'has' if used == 1 else 'have'} this item"
    if not planned:
        return f"{have}. Nothing changes."
    steps = Counter(round(one.score - one.old, 6) for one in planned if not one.by_hand)
    parts = [
        f"{counted(number, 'score')} {'changes' if number == 1 else 'change'} by {step:+g}"
        for step, number in sorted(steps.items())
        if step
    ]
    if stay := steps[0]:
        parts.append(f"{counted(stay, 'score')} {'stays' if stay == 1 else 'stay'}")
    if typed := sum(one.by_hand for one in planned):
        parts.append(f"{counted(typed, 'score')} typed by a grader {'stays' if typed == 1 else 'stay'}")
    return f"{have}: {', '.join(parts)}."


def _change(gradebook: Gradebook, assignment: str, planned: Update) -> Change:
    """What becomes of an answer, by its number: a page does not learn whose it is."""
    place = planned.cell, planned.notebook, assignment, planned.student
    before = gradebook.find_grade(*place).manual_score
    score = before if planned.by_hand else planned.score
    key = gradebook.find_submission_notebook(*place[1:]).id
    return Change(key, planned.cell, planned.after, planned.before, score, before)


def _lock(gradebook: Gradebook, submitted: SubmittedNotebook) -> None:
    """Nobody else edits this rubric until the transaction ends."""
    table, key = Assignment.__table__, submitted.assignment.assignment_id
    gradebook.db.execute(update(table).where(table.c.id == key).values(id=table.c.id))
    gradebook.db.expire_all()  # what was read before may be older


@contextlib.contextmanager
def _put(new: RubricFile, old: RubricFile) -> Iterator[None]:
    """The file is the new one, and after a fault inside the old one again."""
    new.write()
    try:
        yield
    except BaseException:
        old.write()
        raise
