"""`viva report` and `viva feedback` at the terminal: what they say beside their pages."""

from __future__ import annotations

import shutil

import pytest
from nbgrader.api import Gradebook

from plugins.term.tests.sheets.classroom import enter, found, grade
from viva.commands.hand_back import _waiting
from viva_term.lms.rosterfile import Entry


@pytest.fixture(scope="module")
def founded(tmp_path_factory):
    root = found(tmp_path_factory.mktemp("report") / "course")
    enter(root, Entry("alee", "Anna", "Lee"), Entry("bo", "Bo", "Bo"))
    grade(root, "alee", 3.0)
    return root


@pytest.fixture
def course(founded, tmp_path):
    return shutil.copytree(founded, tmp_path / "course")


@pytest.mark.parametrize(("year", "told"), [(2999, True), (2001, False)])
@pytest.mark.usefixtures("processes")
def test_feedback_says_which_assignments_are_still_open(course, viva, year, told):
    with Gradebook(f"sqlite:///{course / 'gradebook.db'}") as gradebook:
        (assignment,) = gradebook.assignments
        gradebook.update_or_create_assignment(assignment.name, duedate=f"{year}-10-05 21:59 UTC")
        name = assignment.name
    (course / "submitted" / "alee" / name).mkdir(parents=True, exist_ok=True)
    assert (
        f"The deadline of {name} is {year}-10-05 21:59 UTC. Publish its pages after that" in viva("feedback").out
    ) is told


def test_a_notebook_that_needs_a_grader_for_several_reasons_is_counted_once():
    def rows(*pairs):
        return {"rows": [{"student": student, "notebook": notebook} for student, notebook in pairs]}

    by_hand = rows(("ada", "one"), ("ada", "two"), ("bo", "one"))
    submitted_again, refused = rows(("ada", "")), rows(("cy", ""))
    assert _waiting([by_hand, submitted_again, refused]) == 4
