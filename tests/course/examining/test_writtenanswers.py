"""A written answer keeps its manual grade where its text is the one that was graded, and only there."""

from __future__ import annotations

from datetime import datetime

import nbformat
import pytest
from nbformat.v4 import new_markdown_cell, new_notebook, writes

from viva.course.examining.writtenanswers import KEY, Before, Standing, changed, note

GRADED, WAITS, NEW = Standing(True, False), Standing(True, True), Standing(False, True)
MONDAY, TUESDAY, FRIDAY = (datetime(2026, 9, day, 12) for day in (14, 15, 18))
LATER = "## The next exercise"


def notebook(task: str, answer: str = "as before"):
    """A task with its answer below, a text of the instructor's, and an answer in a cell of its own."""

    def about(name: str, **more: bool) -> dict:
        return {"nbgrader": {"grade_id": name, "grade": False, "solution": False, "task": False} | more}

    cells = [
        new_markdown_cell("Why?", metadata=about("why", task=True)),
        new_markdown_cell(task),
        new_markdown_cell(LATER),
        new_markdown_cell(answer, metadata=about("how", grade=True, solution=True)),
    ]
    made = new_notebook(cells=cells)
    made.cells[0].metadata[KEY] = {"answer": "a student's own", "graded": "forged"}
    note(made, {LATER})
    return made


def text(task: str, answer: str = "as before") -> str:
    return writes(notebook(task, answer))


def compared(before: str, after: str, why: Standing, recorded: datetime, handed_in: datetime):
    """The text of the notebook, and the cells that are the same, and those that are not."""
    standings = {("book", "why"): why, ("book", "how"): GRADED}
    written, same, different = Before({"book": before}, standings, recorded).compare_text("book", after, handed_in)
    return written, set(same), set(different)


def test_the_texts_are_those_of_the_student():
    assert [cell.metadata.get(KEY) for cell in notebook(" one \n").cells] == [
        {"answer": "one"}, None, None, {"answer": "as before"},
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("known", "recorded", "then", "now", "graded"),
    [
        ([], MONDAY, GRADED, "one", None),
        ([], MONDAY, GRADED, "two", "one"),
        (["two"], TUESDAY, WAITS, "two", "one"),  # graded again before a grader decided
        (["two"], TUESDAY, WAITS, "three", "one"),
        (["two"], TUESDAY, WAITS, "one", None),
        (["two"], TUESDAY, GRADED, "two", None),  # the grader has decided
        (["two"], TUESDAY, GRADED, "three", "two"),
        (["two"], MONDAY, GRADED, "two", "one"),  # a run was killed before the gradebook knew of it
        ([], MONDAY, NEW, "two", None),
    ],
)
def test_what_is_new_is_compared_with_what_was_graded(known, recorded, then, now, graded):
    before = text("one")
    for later in known:
        before, *_ = compared(before, text(later), GRADED, MONDAY, TUESDAY)
    written, same, different = compared(before, text(now), then, recorded, FRIDAY)
    assert ("why" in different) == (graded is not None)
    assert ("why" in same) == (graded is None and then is not NEW)
    assert same - {"why"} == {"how"}
    told = {name: one for name, one, _ in changed(nbformat.reads(written, as_version=4))}
    assert told == ({"why": graded} if graded else {})


@pytest.mark.parametrize("before", ["", "no json", "[]", '{"cells": [{"metadata": {"viva_written": 1}}]}'])
def test_a_notebook_that_cannot_be_compared_says_nothing(before):
    after = text("two")
    assert compared(before, after, GRADED, MONDAY, FRIDAY) == (after, set(), set())


def test_the_same_answers_leave_the_notebook_as_it_is():
    after = text("one")
    assert compared(text("one"), after, GRADED, MONDAY, FRIDAY)[0] == after


@pytest.mark.parametrize("way", [GRADED, WAITS])
def test_answers_that_an_older_viva_graded_are_compared_by_their_text(way):
    """It left no note: in a course that had been regraded, 4 of 4 manual grades came back as waiting."""
    old = notebook("one")
    for cell in old.cells:
        cell.metadata.pop(KEY, None)
    assert compared(writes(old), text("one"), way, MONDAY, MONDAY)[1:] == ({"why", "how"}, set())
    written, same, different = compared(writes(old), text("two"), way, MONDAY, TUESDAY)
    assert (same, different) == ({"how"}, {"why"}) and KEY in written
