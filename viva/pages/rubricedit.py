"""A rubric item that a grader edits, adds, moves or deletes on the page of an answer: the file, and all comments and
scores given with it.

Theory of operation. The row of the assignment is locked first (in SQLite the file), so that graders edit one after the
other and a gradebook that cannot be written to changes nothing. Then the file takes its new form, and
``gradebook.rubric.apply`` writes comments and scores, as for ``viva rubric --yes``. If that fails, the old file is
put back. If the server is killed in between, the file is new and the gradebook old: saving again, or ``viva rubric``,
does the rest. The whole file as it was before goes back to the page, with comments and scores, and the page can take
all of it back in one step.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
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


class Step(Struct):
    """What a page asks for."""

    seen: str
    """The version of the file that the page shows."""


class Edit(Step, kw_only=True):
    """An item as it is to be; without a ``key`` a new one for the question ``cell``."""

    points: float
    text: str
    key: str = ""
    cell: str = ""
    save: bool = False
    """Whether to do it, and not only to say what would become of it."""


class Deletion(Step, kw_only=True):
    """An item that is to go, also from the comments that have it."""

    key: str
    save: bool = False


class Move(Step, kw_only=True):
    """An item that is to stand where another one does."""

    key: str
    place: str
    """The key of the other one."""


class Undoing(Step, kw_only=True):
    """What a page sends to take a step back."""

    file: str
    """The file as it was."""
    changes: list[Change] = []


class Outcome(Struct):
    """What became of a step, or would."""

    sentence: str
    answers: int = 0
    """How many change."""
    seen: str = ""
    items: list[dict[str, str | float]] | None = None
    """All of them as they are now; None where nothing was done."""
    file: str = ""
    """The file as it was before."""
    changes: list[Change] = []


def shown(item: Item) -> dict[str, str | float]:
    """An item, as the page offers it."""
    return {"key": item.key, "points": item.points, "text": item.text, "cell": item.cell, "line": item.line}


def file_of(root: Path, submitted: SubmittedNotebook) -> RubricFile:
    """The rubric of a submission's assignment. Raises CourseError, and OSError."""
    return RubricFile.read(rubric.path_of(root, submitted.assignment.assignment.name))


def edit(gradebook: Gradebook, submitted: SubmittedNotebook, root: Path, asked: Edit) -> Outcome:
    """Change or add an item, or say what that would do. Raises CourseError, RefusedError, and OSError."""
    old, text = _begun(gradebook, submitted, root, asked), sentvalues.text(asked.text) or ""
    if asked.key:
        key, new = asked.key, old.changed(asked.key, asked.points, text)
    else:
        new, key = old.added(asked.points, text, asked.cell)
    planned = list(rubric.updates(gradebook, submitted.assignment.assignment.name, [new.item(key)]))
    return _done(gradebook, submitted, (old, new), planned, asked, "Saved.")


def delete(gradebook: Gradebook, submitted: SubmittedNotebook, root: Path, asked: Deletion) -> Outcome:
    """Take an item out of the file and of all comments, or say what that would do. Raises as ``edit`` does."""
    old = _begun(gradebook, submitted, root, asked)
    new = old.without(asked.key)
    planned = list(rubric.updates(gradebook, submitted.assignment.assignment.name, [], [asked.key]))
    return _done(gradebook, submitted, (old, new), planned, asked, "Deleted.")


def move(gradebook: Gradebook, submitted: SubmittedNotebook, root: Path, asked: Move) -> Outcome:
    """Change the order of the items. Raises as ``edit`` does."""
    old = _begun(gradebook, submitted, root, asked)
    return _done(gradebook, submitted, (old, old.moved(asked.key, asked.place)), [], asked, "Moved.")


def take_back(gradebook: Gradebook, submitted: SubmittedNotebook, root: Path, asked: Undoing) -> Outcome:
    """Undo a step. What was changed since stays as it is. Raises as ``edit`` does."""
    old = _begun(gradebook, submitted, root, asked)
    new = RubricFile(old.path, asked.file)
    items = _shown(new)
    with new.in_place_of(old):
        count = groupcomment.take_back(gradebook, asked.changes)
    sentence = f"Undone in {counted(count, 'answer')}." if asked.changes else "Undone."
    if left := len(asked.changes) - count:
        sentence += f" {counted(left, 'answer')} changed since then: nothing was undone there."
    return Outcome(sentence, count, new.version, items)


def _begun(gradebook: Gradebook, submitted: SubmittedNotebook, root: Path, asked: Step) -> RubricFile:
    """The rubric that the page shows; locked, where it is to change."""
    if getattr(asked, "save", True):
        _lock(gradebook, submitted)
    file = file_of(root, submitted)
    file.require(asked.seen)
    return file


def _done(
    gradebook: Gradebook,
    submitted: SubmittedNotebook,
    files: tuple[RubricFile, RubricFile],
    planned: Sequence[Update],
    asked: Edit | Deletion | Move,
    sentence: str,
) -> Outcome:
    """Write a step, or say what it would do. ``files`` are the old and the new one."""
    (old, new), assignment = files, submitted.assignment.assignment.name
    if not getattr(asked, "save", True):
        return Outcome(_plan(rubric.counts(gradebook, assignment).get(asked.key, 0), planned), len(planned))
    changes = {one: _change(gradebook, assignment, one) for one in planned}
    with new.in_place_of(old):
        done = [changes[one] for one in rubric.apply(gradebook, assignment, planned)]
    if asked.key and not isinstance(asked, Move):
        sentence += f" {counted(len(done), 'answer')} changed."
    return Outcome(sentence, len(done), new.version, _shown(new), old.text, done)


def _shown(file: RubricFile) -> list[dict[str, str | float]]:
    return [shown(item) for item in file.items.values()]


def _plan(used: int, planned: Sequence[Update]) -> str:
    """What an edit would do, before it is done."""
    if not used:
        return "No answer has this item yet."
    have = f"{counted(used, 'answer')} {'has' if used == 1 else 'have'} this item"
    if not planned:
        return f"{have}. Nothing changes."
    known = [one for one in planned if not one.by_hand]
    steps = Counter(round(one.score - one.old, 6) for one in known if one.score is not None)
    parts = [
        f"{counted(number, 'score')} {'changes' if number == 1 else 'change'} by {step:+g}"
        for step, number in sorted(steps.items())
        if step
    ]
    if stay := steps[0]:
        parts.append(f"{counted(stay, 'score')} {'stays' if stay == 1 else 'stay'}")
    if waits := sum(one.score is None for one in known):
        parts.append(f"{counted(waits, 'answer')} {'waits' if waits == 1 else 'wait'} for a grader again")
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
