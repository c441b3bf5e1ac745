"""A function without ``return`` is told so, and is not asked for its shape."""

from __future__ import annotations

import pytest

from tests.oral import Exam
from viva import wording

EXAM = """
--- given
import numpy as np
--- answer
def centre(table): return table - table.mean()
def sort(numbers): numbers.sort()
--- test
### CHECK 1: shape
assert np.shape(centre(np.ones(3))) == (3,), "centre should return one number for each."
### CHECK 1: numbers
result = centre(np.arange(3.0))
assert result[0] == -1
### CHECK 1: sorted
numbers = [2, 1]
sort(numbers)
assert numbers == [1, 2], "They should be in order."
"""
SORT = "\ndef sort(numbers): numbers.reverse()"
TOLD = "centre has no return, so it gives None"
ANSWERS = {
    "def centre(table): table = table - table.mean()" + SORT: {TOLD},
    "def centre(table):\n    def inner(): return table\n    inner()" + SORT: {TOLD},
    "def centre(table): print(table - table.mean())\ndef sort(numbers): pass": {TOLD, "They should be in order."},
    "def centre(table):\n    if len(table) > 5: return table" + SORT: {
        "centre should return one number for each.",
        "*",
    },
}


@pytest.fixture(scope="module")
def exam(grader, tmp_path_factory):
    return Exam(EXAM, grader, tmp_path_factory.mktemp("noreturn"))


@pytest.mark.parametrize(("answer", "told"), ANSWERS.items(), ids=["plain", "inner", "idle", "some"])
def test_a_function_without_return_is_told_so(exam, answer, told):
    (results,) = exam.grade(answer).checks.values()
    said = {wording.reason(result) for result in results if result.earned < result.points}
    assert {one if one in told else "*" for one in said} == told
