"""Written answers that have a manual grade, when a submission is graded again: the same text keeps the grade.

Each graded written answer leaves its text in the metadata of its graded cell, where students cannot write. The next
grading compares. Of a notebook that an older Viva or nbgrader graded, the text of the answer itself is compared.
What is the same keeps its manual grade, and does not wait again. What is not waits for a grader, and the page shows
the difference to the text that had the grade: that one goes along until a grader has decided.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from nbgrader import utils
from nbgrader.api import Gradebook

from viva.course.gradebook import classbook
from viva.notebook.cell import grade_id
from viva.submission.sanitize import WRITTEN

KEY = WRITTEN
"""In a graded cell's metadata: ``answer``; and where that has changed, ``graded``, the text that a grader graded, and
``since``, the time of the submission that changed it."""


def answers(notebook: NotebookNode, given: Iterable[str]) -> dict[str, str]:
    """By graded cell, the text of a written answer; of a task that of the cells below, without the texts ``given``."""
    texts, given = {}, set(given)
    for index, cell in enumerate(notebook.cells):
        name = grade_id(cell)
        if utils.is_task(cell):
            below = []
            for following in notebook.cells[index + 1 :]:
                if utils.is_task(following) or utils.is_grade(following):
                    break
                if following.source not in given:
                    below.append(following.source)
            texts[name] = "\n\n".join(below).strip()
        elif utils.is_grade(cell) and utils.is_solution(cell):
            texts[name] = cell.source.strip()
    return texts


def note(notebook: NotebookNode, given: Iterable[str]) -> None:
    """Leave the texts of written answers in the metadata of their cells."""
    texts = answers(notebook, given)
    for cell in notebook.cells:
        cell.metadata.pop(KEY, None)
        if (name := grade_id(cell)) in texts and (utils.is_task(cell) or utils.is_grade(cell)):
            cell.metadata[KEY] = {"answer": texts[name]}


@dataclass(frozen=True)
class Standing:
    """The gradebook's state of a graded cell."""

    by_hand: bool
    waits: bool


@dataclass(frozen=True)
class Before:
    """A submission's state before it is graded again.

    ``recorded`` is the time of the submission that the gradebook knows: a run that was killed may have put a notebook
    into autograded/ of which the gradebook does not know.
    """

    texts: dict[str, str]
    """Its graded notebooks, by name."""
    standings: Mapping[tuple[str, str], Standing] = field(default_factory=dict)
    """By notebook and graded cell."""
    recorded: datetime | None = None

    @classmethod
    def of(cls, folder: Path, gradebook: Callable[[], Gradebook], assignment: str, student: str) -> Before:
        """The graded notebooks of a folder; the gradebook is asked only where one of them can be compared."""
        texts = {}
        for path in folder.glob("*.ipynb"):
            with contextlib.suppress(OSError, UnicodeDecodeError):
                text = path.read_text(encoding="utf-8")
                if KEY in text or _answers_without_note(text):
                    texts[path.stem] = text
        if not texts:
            return cls(texts)
        with gradebook() as opened:
            recorded, rows = classbook.standings(opened, assignment, student)
        return cls(texts, {cell: Standing(*values) for cell, values in rows.items()}, recorded)

    def compare(self, name: str, cells: list, handed_in: datetime | None) -> tuple[list[str], list[str]]:
        """The answers in the cells of a notebook that are the same as the graded ones, and those that are not.

        The latter get the graded text into their metadata. ``handed_in`` is the time of the submission.
        """
        old, same, different = _noted(self.texts.get(name, "")), [], []
        earlier = _answers_without_note(self.texts.get(name, ""))
        now = answers(nbformat.from_dict({"cells": cells}), ()) if earlier else {}
        for cell in cells:
            note = cell["metadata"].get(KEY)
            cell_name = grade_id(cell)
            standing = self.standings.get((name, cell_name))
            if note is None or standing is None or not standing.by_hand:
                continue
            if cell_name in earlier:
                if now.get(cell_name) == earlier[cell_name]:
                    same.append(cell_name)
                else:
                    note |= {"graded": earlier[cell_name], "since": _moment(handed_in)}
                    different.append(cell_name)
                continue
            if cell_name not in old:
                continue
            noted = old[cell_name]
            unrecorded = "graded" in noted and noted.get("since", "") > _moment(self.recorded)
            carried = "graded" in noted and (standing.waits or unrecorded)
            reference = noted["graded"] if carried else noted["answer"]
            if note["answer"] == reference:
                same.append(cell_name)
            else:
                note |= {"graded": reference, "since": noted.get("since", "") if carried else _moment(handed_in)}
                different.append(cell_name)
        return same, different

    def compare_text(self, name: str, text: str, handed_in: datetime | None) -> tuple[str, list[str], list[str]]:
        """The same for a notebook as text, which comes back with what was put into it."""
        if name not in self.texts:
            return text, [], []
        notebook = json.loads(text)
        for cell in notebook["cells"]:
            cell["source"] = "".join(cell["source"])  # lines, or a text
        same, different = self.compare(name, notebook["cells"], handed_in)
        if different:
            text = json.dumps(notebook, ensure_ascii=False, indent=1, sort_keys=True) + "\n"
        return text, same, different


def changed(notebook: NotebookNode) -> Iterator[tuple[str, str, str]]:
    """The graded cells of a graded notebook whose answer has changed: the text that was graded, and the answer."""
    for cell in notebook.cells:
        match cell.metadata.get(KEY):
            case {"graded": str(graded), "answer": str(answer)}:
                yield grade_id(cell), graded, answer


def _noted(text: str) -> dict[str, dict[str, str]]:
    """By graded cell, the note in its metadata."""
    with contextlib.suppress(ValueError, KeyError, TypeError, AttributeError):
        cells = json.loads(text)["cells"]
        notes = {grade_id(cell): cell["metadata"].get(KEY) for cell in cells}
        return {
            name: note
            for name, note in notes.items()
            if isinstance(note, dict) and all(isinstance(value, str) for value in note.values()) and "answer" in note
        }
    return {}


def _answers_without_note(text: str) -> dict[str, str]:
    """By graded cell, the written answers in a graded notebook in which no note says their text."""
    if '"nbgrader"' not in text:
        return {}
    try:
        notebook = nbformat.reads(text, as_version=4)
    except Exception:  # whatever a broken file leads to
        return {}
    noted = {grade_id(cell) for cell in notebook.cells if KEY in cell.metadata}
    return {name: answer for name, answer in answers(notebook, ()).items() if name not in noted}


def _moment(when: datetime | None) -> str:
    """A time as it is compared."""
    return when.isoformat() if when else ""
