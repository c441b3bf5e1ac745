"""Sentences of other packages on pages; tests/test_doors.py has a page with one."""

import pytest

from tests.conftest import load
from viva import doors
from viva.pages.additions import GRADER, Addition, Asked, additions, by_cell
from viva.verdict import CourseError

ASKED = Asked(GRADER, "ps1", "one", "anna")


def failing(course, asked):
    raise KeyError(asked.student)


def test_a_package_that_fails_is_named(course, monkeypatch):
    monkeypatch.setattr(doors, "load_all", lambda group: {"advice": failing})
    with pytest.raises(CourseError, match=r"installed package failed \('advice' for viva.pages\): KeyError: 'anna'"):
        additions(load(course)[0], ASKED)


def test_sentences_stand_at_their_cell_each_in_one_line():
    parts = [Addition("One\nline.", "a"), Addition("Two.", "b"), Addition("Three.", "a")]
    assert by_cell(parts) == {"a": ["One line.", "Three."], "b": ["Two."]}
