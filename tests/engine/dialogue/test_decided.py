"""What comes of a student's object and plain data is no matter of its operators where the solution gave plain data."""

from __future__ import annotations

import pytest

from tests.oral import Exam, lost

LINE = """
--- given
import numpy as np
--- answer
from collections import namedtuple
Line = namedtuple("Line", "slope intercept")
def fit(x, y): return Line(*np.polyfit(x, y, 1))
--- right
from collections import namedtuple
Line = namedtuple("Line", "slope intercept")
class Fitted(Line):
    def at(self, x): return self.slope * x + self.intercept
def fit(x, y): return Fitted(*np.polyfit(x, y, 1))
--- right
Line = dict
class Fitted:
    def __init__(self, *parts): self.parts = parts
    def __len__(self): return 2
    def __getitem__(self, place): return self.parts[place]
def fit(x, y): return Fitted(*np.polyfit(x, y, 1))
--- test
x = np.arange(4.0)
y = 2 * x + 1
### CHECK 1: close
assert np.allclose(fit(x, y), (2, 1))
### CHECK 1: less
assert np.abs(fit(x, y) - np.array([2, 1])).max() < 1e-9
### CHECK 1: less the other way
assert np.abs(np.array([2, 1]) - fit(x, y)).max() < 1e-9
### CHECK 1: less in place
rest = fit(x, y)
rest -= np.array([2, 1])
assert np.abs(rest).max() < 1e-9
"""
NOTHING_LEFT = "__sub__ = __rsub__ = __isub__ = lambda self, other: np.zeros(2)\n    __array_priority__ = 1e9"
LIARS = {
    "a float": f"class Any(float):\n    {NOTHING_LEFT}\ndef fit(x, y): return Any(0)",
    "a tuple": f"class Any(tuple):\n    {NOTHING_LEFT}\ndef fit(x, y): return Any((0, 0))",
    "an object": f"class Any:\n    {NOTHING_LEFT}\ndef fit(x, y): return Any()",
}


@pytest.fixture(scope="module")
def line(grader, tmp_path_factory):
    return Exam(LINE, grader, tmp_path_factory.mktemp("line"))


def test_objects_that_are_right_pass_with_plain_data(line):
    assert not line.examination.inside and lost(line.grade()) == {}
    assert [lost(line.grade(variant.answers)) for variant in line.variants] == [{}, {}]


@pytest.mark.parametrize("liar", LIARS.values(), ids=LIARS)
def test_no_operator_of_an_object_says_what_is_left_of_expected_numbers(liar, line):
    titles = [title for _, title in lost(line.grade("Line = dict\n" + liar))]
    assert titles == ["close", "less", "less the other way", "less in place"]


def test_what_an_answers_own_class_makes_of_numbers_is_asked_of_it(grader, tmp_path):
    text = """
--- answer
from fractions import Fraction
Ratio = Fraction
def half(): return Ratio(1, 2)
--- right
class Ratio:
    def __init__(self, a, b): self.a, self.b = a, b
    def __add__(self, other): return Ratio(self.a + other * self.b, self.b)
    __radd__ = __add__
    def __eq__(self, other): return self.a * other.b == other.a * self.b
def half(): return Ratio(1, 2)
--- wrong
from fractions import Fraction as Ratio
def half(): return Ratio(1, 3)
--- test
assert half() + 1 == Ratio(3, 2) and 1 + half() == Ratio(3, 2)
"""
    Exam(text, grader, tmp_path).prove()


def test_an_object_that_was_changed_is_compared_as_it_is_now(grader, tmp_path):
    text = """
--- given
from collections import deque
--- answer
def make(): return deque()
--- right
class Queue(deque):
    def peek(self): return self[0]
def make(): return Queue()
--- wrong
class Queue(deque):
    def append(self, item): pass
def make(): return Queue()
--- test
queue = make()
queue.append(3)
assert queue == deque([3]) and queue + deque([4]) == deque([3, 4])
"""
    Exam(text, grader, tmp_path).prove()


def test_an_object_has_no_plain_value_that_is_a_pandas_array(grader, tmp_path):
    forged = """
import gc
import pandas as pd
objects = type(next(one for one in gc.get_objects() if type(one).__name__ == "Candidate").objects)
refer = objects.refer
class Any: pass
def forged(self, value):
    reference = refer(self, value)
    if type(value) is Any:
        reference.about["base"] = pd.array([0, 0])
    return reference
objects.refer = forged
def fit(x): return Any()
"""
    text = """
--- answer
from collections import namedtuple
Line = namedtuple("Line", "slope intercept")
def fit(x): return Line(x, x + 1)
--- test
assert fit(3) == (3, 4)
"""
    exam = Exam(text, grader, tmp_path)
    assert lost(exam.grade()) == {} and not exam.examination.inside
    assert "a pandas array" in str(lost(exam.grade(forged)))
