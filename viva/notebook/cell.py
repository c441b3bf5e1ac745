"""The name and the purpose of a cell, from nbgrader's metadata.

A cell may be one of nbformat's nodes, or the dictionary that a file holds.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any


class Purpose(StrEnum):
    """The purpose of a cell in nbgrader's words; the values are those in files."""

    TEXT = "text"
    READ_ONLY = "given"
    """Code that is not an answer: a read-only cell, or an unlocked one (``viva.engine.blueprint.Cell.locked``)."""
    ANSWER = "answer"
    """An autograded answer."""
    TESTS = "tests"
    """Autograder tests."""
    MANUAL = "manual"
    """A manually graded answer."""
    TASK = "task"
    """A manually graded task: a question that is answered in the cells below it."""
    OPEN = "open"
    """Unlocked code, for who tells it from read-only cells."""


ANSWERS = (Purpose.ANSWER, Purpose.MANUAL)
"""The purposes of cells that the student fills in."""


def marks_of(cell: Mapping[str, Any]) -> Mapping[str, Any]:
    """What nbgrader noted about a cell; empty for a cell that nbgrader does not know."""
    return cell["metadata"].get("nbgrader") or {}


def grade_id(cell: Mapping[str, Any]) -> str:
    """The name that nbgrader gave a cell; empty for a cell without one."""
    return str(marks_of(cell).get("grade_id") or "")


def name_of(cell: Mapping[str, Any]) -> str:
    """The grade id of a cell, or else its own id, which notebooks of format 4.4 and older do not have."""
    return grade_id(cell) or cell.get("id") or ""


def purpose_of(cell: Mapping[str, Any]) -> Purpose:
    """The purpose of a cell. Code that is not an answer counts as read-only; see ``is_locked``."""
    marks = marks_of(cell)
    if marks.get("task"):
        return Purpose.TASK
    if marks.get("grade"):
        return Purpose.MANUAL if marks.get("solution") else Purpose.TESTS
    if marks.get("solution"):
        return Purpose.ANSWER
    return Purpose.READ_ONLY if cell["cell_type"] == "code" else Purpose.TEXT


def is_test(cell: Mapping[str, Any]) -> bool:
    """Whether a cell holds tests, so that a student did not write it."""
    marks = marks_of(cell)
    return bool(marks.get("grade")) and not marks.get("solution")


def is_locked(cell: Mapping[str, Any]) -> bool:
    """Whether the released text of a cell is put back before grading, as nbgrader does it."""
    marks = marks_of(cell)
    return bool(marks.get("locked") or marks.get("grade")) and not marks.get("solution")
