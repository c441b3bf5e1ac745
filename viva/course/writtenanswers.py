"""Written answers that have a manual grade, when a submission is graded again: the same text keeps the grade.

Each graded written answer leaves its text in the metadata of its graded cell, where students cannot write. The next
grading compares. What is the same keeps its manual grade, and does not wait again. What is not waits for a grader, and
the page shows the difference to the text that had the grade: that one goes along until a grader has decided.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from nbformat import NotebookNode
from nbgrader import utils

from viva.submission.sanitize import WRITTEN

KEY = WRITTEN
"""In a graded cell's metadata: ``answer``; and where that has changed, ``graded``, the text that a grader graded, and
``since``, the time of the submission that changed it."""


def answers(notebook: NotebookNode, given: Iterable[str]) -> dict[str, str]:
    """By graded cell, the text of a written answer; of a task that of the cells below, without the texts ``given``."""
    found, given = {}, set(given)
    for place, cell in enumerate(notebook.cells):
        name = cell.metadata.get("nbgrader", {}).get("grade_id")
        if utils.is_task(cell):
            below = []
            for other in notebook.cells[place + 1 :]:
                if utils.is_task(other) or utils.is_grade(other):
                    break
                below += [other.source] * (other.source not in given)
            found[name] = "\n\n".join(below).strip()
        elif utils.is_grade(cell) and utils.is_solution(cell):
            found[name] = cell.source.strip()
    return found


def note(notebook: NotebookNode, given: Iterable[str]) -> None:
    """Leave the texts of written answers in the metadata of their cells."""
    texts = answers(notebook, given)
    for cell in notebook.cells:
        cell.metadata.pop(KEY, None)
        if (name := cell.metadata.get("nbgrader", {}).get("grade_id")) in texts and (
            utils.is_task(cell) or utils.is_grade(cell)
        ):
            cell.metadata[KEY] = {"answer": texts[name]}


@dataclass(frozen=True)
class Standing:
    """What the gradebook knows of a graded cell."""

    by_hand: bool
    waits: bool


@dataclass
class Compared:
    """A graded notebook as text, and its written answers that were graded before: which are the same, which not."""

    text: str
    same: set[str] = field(default_factory=set)
    changed: set[str] = field(default_factory=set)


def compare(before: str, after: str, standings: Mapping[str, Standing], recorded: str, handed_in: str) -> Compared:
    """Compare a graded notebook with the one that it replaces, both as text.

    ``recorded`` and ``handed_in`` are the times of the submission that the gradebook knows and of this one: a run that
    was killed may have put a notebook into autograded/ of which the gradebook does not know.
    """
    old, new = _noted(before), json.loads(after)
    found = Compared(after)
    for cell in new["cells"]:
        about = cell["metadata"].get(KEY)
        name = cell["metadata"].get("nbgrader", {}).get("grade_id")
        standing = standings.get(name)
        if about is None or name not in old or standing is None or not standing.by_hand:
            continue
        known = old[name]
        unrecorded = "graded" in known and known.get("since", "") > recorded
        reference = known["graded"] if "graded" in known and (standing.waits or unrecorded) else known["answer"]
        if about["answer"] == reference:
            found.same.add(name)
        else:
            since = known["since"] if reference == known.get("graded") and "since" in known else handed_in
            about |= {"graded": reference, "since": since}
            found.changed.add(name)
    if found.changed:
        found.text = json.dumps(new, ensure_ascii=False, indent=1, sort_keys=True) + "\n"
    return found


def changed(notebook: NotebookNode) -> Iterator[tuple[str, str, str]]:
    """The graded cells of a graded notebook whose answer has changed: the text that was graded, and the answer."""
    for cell in notebook.cells:
        match cell.metadata.get(KEY):
            case {"graded": str(graded), "answer": str(answer)}:
                yield cell.metadata["nbgrader"]["grade_id"], graded, answer


def is_noted(text: str) -> bool:
    """Whether a graded notebook, as text, may have a written answer to compare."""
    return KEY in text


def _noted(text: str) -> dict[str, dict[str, str]]:
    """By graded cell, what was left in its metadata."""
    with contextlib.suppress(ValueError, KeyError, TypeError, AttributeError):
        cells = json.loads(text)["cells"]
        found = {cell["metadata"].get("nbgrader", {}).get("grade_id"): cell["metadata"].get(KEY) for cell in cells}
        return {
            name: about
            for name, about in found.items()
            if isinstance(about, dict) and all(isinstance(value, str) for value in about.values()) and "answer" in about
        }
    return {}


def moment(when: datetime | None) -> str:
    """A time as it is compared."""
    return when.isoformat() if when else ""
