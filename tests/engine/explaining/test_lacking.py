"""Who uses a library that is not installed here loses no point without that a human was told why."""

from __future__ import annotations

import pytest

from tests.oral import Exam
from viva import wording
from viva.engine.grading import Grader

TEXT = """
--- given
scale = 2
--- open
import math
--- answer
def double(x): return scale * x
--- test
assert double(2) == 4
--- answer
def root(x): return math.sqrt(x)
--- test
assert root(4) == 2
"""
ABSENT = "no_such_library_is_installed"


@pytest.fixture(scope="module")
def exam(grader: Grader, tmp_path_factory) -> Exam:
    return Exam(TEXT, grader, tmp_path_factory.mktemp("exam"))


@pytest.mark.parametrize(
    "answer",
    [
        f"import {ABSENT}\ndef double(x): return 2 * x",
        f"from {ABSENT}.notebook import bar\ndef double(x): return 2 * x",
        f"import os, {ABSENT}.parts as parts\ndef double(x): return 2 * x",
        f"def double(x):\n    import {ABSENT}\n    return 2 * x",
    ],
)
def test_an_answer_that_imports_one_is_doubted(exam, answer):
    (doubt,) = exam.grade({"answer-2": answer}).doubts
    assert (doubt.kind, doubt.cells, doubt.names, doubt.tests, doubt.doubt) == (
        "library", ("answer-2",), (ABSENT,), ("test-3",), True
    )  # fmt: skip
    assert wording.sentence(doubt).startswith(f"'answer-2' imports {ABSENT}, which is not installed on the grading")


def test_so_is_what_uses_a_cell_of_the_students_own_that_imports_one(exam):
    (doubt,) = exam.grade({"open-1": f"import {ABSENT}\nimport math"}).doubts
    assert (doubt.kind, doubt.cells, doubt.tests) == ("own_library", (), ("test-5",))
    assert wording.sentence(doubt, wording.STUDENT).startswith(f"an extra cell imports {ABSENT}")


@pytest.mark.parametrize(
    "answer",
    [
        f"try:\n    import {ABSENT}\nexcept ImportError: pass\ndef double(x): return 3 * x",
        "import json.no_such_part\ndef double(x): return 2 * x",
        f"raise ModuleNotFoundError(\"No module named '{ABSENT}'\")",
        "raise ModuleNotFoundError(\"No module named '\" + 'x' * 10**6)",
        "def double(x): return y",
        "def double(x): return 3 * x",
    ],
)
def test_nothing_is_doubted_where_it_is_not_for_want_of_one(exam, answer):
    assert exam.grade({"answer-2": answer}).doubts == []


def test_right_answers_are_not_doubted(exam):
    assert exam.grade().doubts == []
