"""Test code that goes by the names of the notebook, which it can ask for one by one, and not all at once."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.oral import Exam, read_tables

TABLES = read_tables(Path(__file__).with_name("namespace.txt"))
EXAMS = TABLES[""]


SPLIT = TABLES["split"]
"""What works in two processes."""

INSIDE = TABLES["inside"]
"""What goes through all names, or changes them behind the text: a test that found none would pass for everybody."""


@pytest.mark.parametrize("way", SPLIT)
def test_names_are_asked_for_one_by_one(way, grader, tmp_path):
    Exam(EXAMS["answers"] + SPLIT[way], grader, tmp_path).prove()


@pytest.mark.thorough
@pytest.mark.parametrize("way", INSIDE)
def test_a_test_that_goes_through_all_names_runs_where_they_are(way, grader, tmp_path):
    Exam(EXAMS["answers"] + INSIDE[way], grader, tmp_path).prove(inside=True)


def test_a_given_cell_may_go_through_all_names(grader, tmp_path):
    exam = Exam(EXAMS["given"], grader, tmp_path)
    assert [exam.check(variant.answers).verdict.value for variant in exam.variants] == ["failed", "failed"]
    assert exam.check().verdict.value == "passed" and not exam.examination.inside
