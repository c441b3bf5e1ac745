"""Test code runs outside as it would beside the student's code."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.oral import Exam, lost, read_tables

TABLES = read_tables(Path(__file__).with_name("examiner.txt"))
EXAMS = TABLES[""]

WAYS = TABLES["ways"]


@pytest.mark.parametrize("way", WAYS)
def test_in_two_processes_as_in_one(way, grader, tmp_path):
    Exam(WAYS[way], grader, tmp_path).prove()


READERS = {
    "def mean(values): return sum(data) / len(data) if values == data else sum(values) / len(values)": True,
    "def mean(values): return sum(values) / len(values) if secret else 0": False,
    "def mean(values): return sum(values) / len(values) if derived else 0": False,
}


@pytest.mark.parametrize("answer", READERS)
def test_a_function_reads_what_visible_lines_bind_and_nothing_that_comes_of_hidden_ones(grader, tmp_path, answer):
    exam = Exam(EXAMS["read"], grader, tmp_path)
    assert lost(exam.grade()) == {} and not exam.examination.inside
    found = lost(exam.grade(answer))
    assert (found == {}) == READERS[answer] and ("is not defined" in str(found)) != READERS[answer]
