"""Which answers graders have open."""

from __future__ import annotations

import os

import pytest
from nbgrader.coursedir import CourseDirectory

from viva.pages.openanswers import FOLDER, OpenAnswers


@pytest.fixture
def graders(tmp_path):
    directory = CourseDirectory(root=str(tmp_path))
    return OpenAnswers(directory, "one"), OpenAnswers(directory, "other")


def test_an_answer_is_one_graders_until_it_is_left_or_its_page_gives_no_sign(graders, tmp_path):
    one, other = graders
    assert one.take("ada") and one.take("ada") and not other.take("ada") and other.take("bea")
    other.leave("ada")
    assert not other.take("ada"), "it is not the other's to leave"
    one.leave("ada")
    assert other.take("ada")
    os.utime(tmp_path / FOLDER / "bea", (1, 1))
    assert one.take("bea")


def test_what_else_lies_in_the_folder_changes_nothing(graders, tmp_path):
    one, other = graders
    assert one.take("ada")
    (tmp_path / FOLDER / "old").mkdir()
    os.utime(tmp_path / FOLDER / "old", (1, 1))
    (tmp_path / FOLDER / "bea").write_bytes(b"\xff")
    assert not other.take("ada") and not other.take("bea")
