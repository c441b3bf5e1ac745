"""The list of what was collected, and who handed in together."""

from __future__ import annotations

import pytest

from plugins.term.tests.archives.given import ASSIGNMENT, GRADESCOPE, course_at, zipped
from tests.conftest import load
from viva.verdict import CourseError
from viva_term.archives import ledger


@pytest.fixture
def course(tmp_path):
    return course_at(tmp_path / "course")


def test_a_group_is_known_until_one_of_it_hands_in_alone(course, viva, tmp_path):
    opened = load(course)[0]
    assert ledger.groups(opened, ASSIGNMENT) == []
    files = {"submission_metadata.yml": GRADESCOPE, "submission_77/hw1.ipynb": "a", "submission_78/hw1.ipynb": "b"}
    run = f"--assignment={ASSIGNMENT}", "--zone=UTC"
    assert viva("collect", str(zipped(tmp_path / "g.zip", files)), *run).status == 0
    assert ledger.groups(opened, ASSIGNMENT) == [{"zoe", "bking"}]
    alone = zipped(tmp_path / "b.zip", {"1-2 - Zoë Lee - Oct 9, 2026 1000 AM/hw1.ipynb": "mine"})
    assert viva("collect", str(alone), *run).status == 0
    assert ledger.groups(opened, ASSIGNMENT) == []


def test_a_list_that_was_spoilt_is_refused_in_a_sentence(course):
    opened = load(course)[0]
    path = course / "attempts" / f"{ASSIGNMENT}.csv"
    path.parent.mkdir()
    for text, told in (("a,b\n1,2\n", "must have the columns"),
                       (",".join(ledger.COLUMNS) + "\njdoe,x,yes,,,,,\n", "Line 2")):  # fmt: skip
        path.write_text(text)
        with pytest.raises(CourseError, match=told):
            ledger.groups(opened, ASSIGNMENT)
