"""`viva report` at the terminal: what it says of how many."""

from __future__ import annotations

import shutil

import pytest

from tests.term.sheets.classroom import enter, found, grade
from viva.term.lms.rosterfile import Entry


@pytest.fixture(scope="module")
def founded(tmp_path_factory):
    root = found(tmp_path_factory.mktemp("report") / "course")
    enter(root, Entry("alee", "Anna", "Lee"), Entry("bo", "Bo", "Bo"))
    grade(root, "alee", 3.0)
    return root


@pytest.fixture
def course(founded, tmp_path):
    return shutil.copytree(founded, tmp_path / "course")


def test_one_submission_is_said_to_be_one_and_several_are_not(course, viva):
    assert "says what came of 1 submission.\n" in viva("report").out
    grade(course, "bo", 2.0)
    assert "says what came of 2 submissions.\n" in viva("report").out
