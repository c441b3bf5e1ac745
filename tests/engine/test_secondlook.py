"""A refusal is never a silent zero: where one process accepts what was refused, a grader is asked."""

from __future__ import annotations

import pytest

from tests.oral import Exam, lost
from viva.engine.secondlook import in_one_process

EXAM = """
--- given
import numpy as np
import pandas as pd
--- answer
def pair(): return 1, 2
def ages(): return pd.Series([1.0, np.nan])
def days(): return pd.date_range("2026-01-01", periods=2)
--- test
a, b = pair()
assert (a, b) == (1, 2)
--- test
assert ages().isna().sum() == 1
--- test
assert days()[0].year == 2026
### BEGIN HIDDEN TESTS
assert days()[0].hour == 0
### END HIDDEN TESTS
"""
PAIR = "def pair(): return {}\n"
REST = """
def ages(): return pd.Series([1.0, np.nan])
def days(): return pd.date_range("2026-01-01", periods=2)
"""
CLASS = """
class Pair:
    def __init__(self, *parts): self.parts = parts
    def __iter__(self): return iter(self.parts)
"""
ALWAYS = """
class Always:
    def __eq__(self, other): return True
    def __iter__(self): return iter([Always(), Always()])
    __hash__ = None
"""
ANSWERS = {
    "a class that can be unpacked": (CLASS + PAIR.format("Pair(1, 2)") + REST, [("refused_accepted", ("test-2",))]),
    "one with wrong numbers": (CLASS + PAIR.format("Pair(1, 3)") + REST, []),
    "one that equals everything": (ALWAYS + PAIR.format("Always()") + REST, [("refused_accepted", ("test-2",))]),
    "missing values of pandas": (
        PAIR.format("1, 2") + REST.replace("np.nan])", "np.nan]).convert_dtypes()"),
        [("refused_accepted", ("test-3",))],
    ),
    "an index with a zone": (
        PAIR.format("1, 2") + REST.replace("periods=2", "periods=2, tz='UTC'"),
        [("refused_accepted", ("test-4",))],
    ),
    "an index with a zone and wrong days": (
        PAIR.format("1, 2") + REST.replace("periods=2", "periods=2, tz='UTC'").replace("2026", "2025"),
        [],
    ),
}


def graded(exam, answer):
    """The outcome of an answer that a batch grades."""
    return exam.grader.grade(exam.answered(answer), exam.examination, second_look=True)


@pytest.fixture(scope="module")
def exam(grader, tmp_path_factory):
    exam = Exam(EXAM, grader, tmp_path_factory.mktemp("secondlook"))
    assert lost(exam.grade()) == {} and not exam.examination.inside and graded(exam, None).doubts == []
    return exam


@pytest.mark.parametrize(("answer", "doubts"), ANSWERS.values(), ids=ANSWERS)
def test_of_what_is_refused_a_grader_decides_unless_it_is_wrong_in_one_process_too(exam, answer, doubts):
    outcome = graded(exam, answer)
    assert len(lost(outcome)) == 1
    assert [(one.kind, one.tests) for one in outcome.doubts] == doubts


HIDDEN = """
--- answer
def pair(): return 1, 2
--- test
### CHECK 1: hidden
### BEGIN HIDDEN TESTS
secret = 2
assert tuple(pair()) == (1, secret)
### END HIDDEN TESTS
### CHECK 1: needs a hidden line
assert pair()[1] == secret
"""


def test_where_hidden_lines_decide_a_grader_is_asked_and_no_hidden_line_enters_the_students_process(grader, tmp_path):
    exam = Exam(HIDDEN, grader, tmp_path)
    item = "    def __getitem__(self, place): return self.parts[place]\n"
    outcome = graded(exam, CLASS + item + PAIR.format("Pair(1, 2)"))
    assert len(lost(outcome)) == 2
    assert [(one.kind, one.tests) for one in outcome.doubts] == [("refused_unseen", (exam.tests[0],))]
    assert "secret =" not in str(in_one_process(exam.examination).blueprint.cells)
