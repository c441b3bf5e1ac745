"""What a cell is called and what it is for is read in one place, the same of a node and of a file."""

from __future__ import annotations

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell

from viva.notebook.cell import Purpose, grade_id, is_locked, is_test, name_of, purpose_of


def test_a_cell_without_a_grade_id_is_called_by_its_own_and_an_old_one_by_none():
    marked = new_code_cell(id="own", metadata={"nbgrader": {"grade_id": "it"}})
    assert (grade_id(marked), name_of(marked)) == ("it", "it")
    assert (grade_id(new_code_cell(id="own")), name_of(new_code_cell(id="own"))) == ("", "own")
    assert name_of({"cell_type": "code", "metadata": {"nbgrader": None}}) == ""


@pytest.mark.parametrize(
    ("flags", "purpose", "locked", "test"),
    [
        ({}, Purpose.READ_ONLY, False, False),
        ({"locked": True}, Purpose.READ_ONLY, True, False),
        ({"solution": True, "locked": True}, Purpose.ANSWER, False, False),
        ({"grade": True}, Purpose.TESTS, True, True),
        ({"grade": True, "solution": True, "locked": True}, Purpose.MANUAL, False, False),
        ({"task": True, "locked": True}, Purpose.TASK, True, False),
    ],
)
def test_the_purpose_of_a_cell_follows_from_nbgraders_marks(flags, purpose, locked, test):
    cell = new_code_cell(metadata={"nbgrader": flags})
    assert (purpose_of(cell), is_locked(cell), is_test(cell)) == (purpose, locked, test)


def test_text_without_marks_is_text():
    assert purpose_of(new_markdown_cell()) == Purpose.TEXT
