"""Comments that repeat: an assignment's rubric items, how they stand in comments, and the scores that they make.

``rubrics/<assignment>.toml`` holds the items, each a table ``[[item]]`` with a ``key``, ``points`` and a ``text``, and
a ``cell`` where it belongs to one question alone. An item that was applied is a line of the comment, as in
``* -1: The mask is missing. [mask]``: the gradebook needs no other record, and a student reads why. The key in brackets
tells the item again when its text or points have changed.

Points below 0 are taken from the points of the question, points above 0 are added up from 0.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from nbgrader.api import Comment, Grade, Gradebook
from sqlalchemy import update

from viva.folder import read_utf8
from viva.verdict import CourseError

KEY = re.compile(r"[\w-]{1,20}", re.ASCII)
LINE = re.compile(
    r"""^\*\ (?P<points>[+-]?\d+(?:\.\d+)?):
    \ (?P<text>.*)
    \ \[(?P<key>[\w-]{1,20})\]$""",
    re.ASCII | re.VERBOSE,
)
FORM = '[[item]]\nkey = "mask"\npoints = -1\ntext = "The mask is missing."'
NEAR = 1e-9


@dataclass(frozen=True)
class Item:
    """A comment that repeats, and its points."""

    key: str
    points: float
    text: str
    cell: str = ""
    """The question that it belongs to; empty for all."""

    @property
    def line(self) -> str:
        """The item as a line of a comment."""
        return f"* {self.points:+g}: {self.text} [{self.key}]"


@dataclass(frozen=True)
class Update:
    """A comment that holds changed or deleted items: ``after`` is its new text, ``score`` the new score.

    Where a grader has given another score than the items make, ``by_hand``, the score stays. Where the items that are
    left count from the other end than before, the score is None: nobody but a grader knows it.
    """

    student: str
    notebook: str
    cell: str
    keys: tuple[str, ...]
    before: str
    after: str
    old: float
    score: float | None
    by_hand: bool = False


def path_of(root: Path, assignment: str) -> Path:
    return root / "rubrics" / f"{assignment}.toml"


def read_items(path: Path) -> list[Item]:
    """The items of a file, none where there is no file. Raises CourseError with the entry that cannot be read."""
    return items_of(read_utf8(path), path) if path.is_file() else []


def items_of(text: str, path: Path) -> list[Item]:
    """The items in the text of a file. Raises CourseError."""
    try:
        return items_in(tomllib.loads(text), path)
    except tomllib.TOMLDecodeError as error:
        raise CourseError(f"{path} is not TOML ({error}). An item looks like this:\n{FORM}") from error


def items_in(document: dict, path: Path) -> list[Item]:
    """The items in what a file says. Raises CourseError."""
    entries = document.get("item", [])
    items: dict[str, Item] = {}
    for entry in entries if isinstance(entries, list) else [entries]:
        item = _item(entry, path)
        if item.key in items:
            raise CourseError(f"{path}: two items have the key '{item.key}'. Give each item another key.")
        items[item.key] = item
    return list(items.values())


def _item(entry: object, path: Path) -> Item:
    needed = {"key", "points", "text"}
    if not isinstance(entry, dict) or not needed <= entry.keys() <= needed | {"cell"}:
        raise CourseError(f"{path}: an item needs 'key', 'points' and 'text', and may have a 'cell':\n{FORM}")
    key, points, text, cell = entry["key"], entry["points"], entry["text"], entry.get("cell", "")
    if not isinstance(key, str) or not KEY.fullmatch(key):
        raise CourseError(f"{path}: {key!r} is not a valid key. Write up to 20 letters, digits, _ and -.")
    if type(points) not in (int, float) or not abs(points) < 1e6 or "e" in f"{points:g}":  # no comment has such a line
        raise CourseError(
            f"{path}: the points of '{key}' are {points!r}, which is not a usable number. Write, for example: points "
            "= -0.5"
        )
    if not isinstance(text, str) or not isinstance(cell, str) or not text.strip() or len(text.splitlines()) != 1:
        raise CourseError(f"{path}: the text of '{key}' must be one line.")
    return Item(key, float(points), text.strip(), cell)


def applied(comment: str | None) -> list[Item]:
    """The items that a comment holds, with the points and texts that they had when they were applied."""
    matches = (LINE.match(line.strip()) for line in (comment or "").splitlines())
    return [Item(match["key"], float(match["points"]), match["text"]) for match in matches if match]


def score_of(items: Sequence[Item], most: float) -> float:
    """The score that items give a question with a maximum of ``most`` points."""
    start = 0.0 if _are_added_up(items) else most
    return min(most, max(0.0, start + sum(item.points for item in items)))


def _are_added_up(items: Sequence[Item]) -> bool:
    """Whether items count from 0, and are not taken from the points of the question."""
    return bool(items) and not any(item.points < 0 for item in items)


def updates(
    gradebook: Gradebook, assignment: str, items: Iterable[Item], deleted: Collection[str] = ()
) -> Iterator[Update]:
    """The comments in the gradebook that hold one of the items as it was before it changed, or a deleted one."""
    by_key = {item.key: item for item in items}
    for comment, grade in _commented(gradebook, assignment):
        before = comment.manual_comment
        lines, keys = [], []
        for line in before.splitlines():
            match = LINE.match(line.strip())
            if match and match["key"] in deleted:
                keys.append(match["key"])
                continue
            item = by_key.get(match["key"]) if match else None
            if item and line.strip() != item.line:
                keys.append(item.key)
                line = item.line
            lines.append(line)
        if keys:
            after = "\n".join(lines)
            old = float(grade.manual_score) if grade.manual_score is not None else 0.0
            was, now = applied(before), applied(after)
            by_hand = grade.manual_score is None or abs(old - score_of(was, float(grade.max_score))) > NEAR
            turned = _are_added_up(was) != _are_added_up(now)
            new = old if by_hand else None if turned else score_of(now, float(grade.max_score))
            cell = grade.notebook.student.id, grade.notebook.name, grade.name
            yield Update(*cell, tuple(keys), before, after, old, new, by_hand)


def counts(gradebook: Gradebook, assignment: str) -> dict[str, int]:
    """By key, how many comments of an assignment hold an item."""
    uses: dict[str, int] = {}
    for comment, _ in _commented(gradebook, assignment):
        for item in applied(comment.manual_comment):
            uses[item.key] = uses.get(item.key, 0) + 1
    return uses


def apply(gradebook: Gradebook, assignment: str, planned: Iterable[Update]) -> list[Update]:
    """Write comments and scores, and commit; which ones. One that was changed since it was planned is left alone."""
    done = []
    for change in planned:
        comment = gradebook.find_comment(change.cell, change.notebook, assignment, change.student)
        grade = gradebook.find_grade(change.cell, change.notebook, assignment, change.student)
        scores = (grade.manual_score,) * 2 if change.by_hand else (change.old, change.score)
        if written(gradebook, comment, (change.before, change.after), grade, scores):
            done.append(change)
    gradebook.db.commit()
    return done


def written(
    gradebook: Gradebook,
    comment: Comment,
    texts: tuple[str | None, str | None],
    grade: Grade | None,
    scores: tuple[float | None, float | None],
) -> bool:
    """Write a comment and its score where both are still what they were before; whether they were.

    ``texts`` and ``scores`` are before and after. Nothing is committed. What waits for a grader still waits, unless it
    gets its first score.
    """
    session = gradebook.db
    for row, table in ((comment, Comment.__table__), (grade, Grade.__table__)):
        if row is not None:  # locks the row, in SQLite the file, until the end of the transaction
            session.execute(update(table).where(table.c.id == row.id).values(id=table.c.id))
            session.refresh(row)
    if comment.manual_comment != texts[0] or (grade is not None and grade.manual_score != scores[0]):
        return False
    comment.manual_comment = texts[1]
    if grade is not None and scores[0] != scores[1]:
        grade.manual_score = scores[1]
        if None in scores:
            grade.needs_manual_grade = scores[1] is None and grade.auto_score is None
    return True


def _commented(gradebook: Gradebook, assignment: str) -> Iterator[tuple[Comment, Grade]]:
    """Every comment of a person that holds an item, with the grade of the same cell, by student."""
    for submission in sorted(
        gradebook.assignment_submissions(assignment), key=lambda submission: submission.student.id
    ):
        for notebook in submission.notebooks:
            grades = {grade.name: grade for grade in notebook.grades}
            for comment in notebook.comments:
                if comment.name in grades and applied(comment.manual_comment):
                    yield comment, grades[comment.name]
