"""The inbox opens what was handed in to a course, or says why there is nothing to grade."""

from __future__ import annotations

import shutil

import pytest

from tests.conftest import SHORT, hand_in, load
from viva.course.grading.inbox import Inbox
from viva.wording import sentences

BOOK = "scaled_attention"


@pytest.fixture
def course(released, tmp_path):
    return load(shutil.copytree(released, tmp_path / "course"))[0]


def test_submissions_are_opened_repaired_and_those_without_a_notebook_are_refused(course):
    path = hand_in(course.root, "ada", answer="right/einsum")
    path.rename(path.with_name("Untitled.ipynb"))
    empty = hand_in(course.root, "bo")
    empty.write_bytes(b"")
    inbox = Inbox.of(course, [SHORT])
    ada, bo = (inbox.open(submission) for submission in course.submissions([SHORT]))
    assert sentences(ada.repairs[BOOK]) == [f"the file 'Untitled.ipynb' was graded as {BOOK}.ipynb"]
    assert bo.problem == f"the file '{BOOK}.ipynb' is empty"


def test_an_assignment_that_was_not_released_has_no_part_in_it(course):
    assert set(Inbox.of(course, [SHORT, "ps9_none"]).expected) == {SHORT}
