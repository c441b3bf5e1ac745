"""Answers of another kind than the solution's: nobody minds until they are looked at."""

from __future__ import annotations

import pytest

from tests.oral import Exam
from viva.engine.dialogue.misfit import Misfit
from viva.verdict import CandidateOdd, Verdict

UNSEEN = """
--- given
import matplotlib.pyplot as plt
--- answer
class Stack:
    def __init__(self): self.items = []
    def push(self, item): self.items.append(item)
    def pop(self): return self.items.pop()
    def __enter__(self): pass
    def __exit__(self, *error): self.items.append(-1)
def draw():
    plt.plot([1, 2])
def axes():
    return plt.gca()
--- right
class Stack:
    def __init__(self): self.items = []
    def push(self, item):
        self.items.append(item)
        return self
    def pop(self): return self.items.pop()
    def __enter__(self): return self
    def __exit__(self, *error): self.items.append(-1)
def draw():
    return plt.plot([1, 2])
def axes():
    return plt.gca()
--- wrong
class Stack:
    def __init__(self): self.items = []
    def push(self, item): return self
    def pop(self): return self.items.pop()
    def __enter__(self): return self
    def __exit__(self, *error): pass
def draw():
    return axes()
def axes():
    return plt.gca()
--- test
stack = Stack()
stack.push(1)
list(map(stack.push, [2, 3]))
unused = stack.push(4)
assert [stack.pop(), stack.pop()] == [4, 3]
with stack:
    pass
assert stack.pop() == -1
[stack.push(item) for item in range(2)]
--- test
draw()
assert len(axes().lines) == 1
draw()
"""


def test_what_a_call_gives_may_be_of_another_kind_where_nobody_looks_at_it(grader, tmp_path):
    Exam(UNSEEN, grader, tmp_path).prove()


LOOKED_AT = (
    "assert double(2) == 4",
    "assert not double(2) != 4",
    "assert double(2)",
    "assert double(2) is not double",
    "assert double(2) in [4]",
    "assert {double(2)} == {4}",
    "assert (double(2), 1) == (4, 1)",
    "assert abs(double(2) - 4) < 1",
    "assert double(double(1)) == 4",
    "assert isinstance(double(2), int)",
    "assert type(double(2)) is int",
    "import copy\nassert copy.copy(double(2)) == 4",
    "import numpy as np\nassert np.allclose(double(2), 4)",
    "try:\n    fine = double(2) == 4\nexcept BaseException:\n    fine = True\nassert fine",
    "match double(2):\n    case 4: pass\n    case _: assert False",
    "x = double(2)\nx += 1\nassert x == 5",
)
EQUAL_TO_ALL = """
class Magic:
    def __eq__(self, other): return True
    def __ne__(self, other): return False
    def __sub__(self, other): return 0
    def __hash__(self): return hash(4)
    def __float__(self): return 4.0
def double(x): return Magic()
"""


def test_whatever_is_asked_of_it_is_refused(grader, tmp_path):
    text = "--- answer\ndef double(x): return 2 * x\n" + "".join(f"--- test\n{test}\n" for test in LOOKED_AT)
    exam = Exam(text, grader, tmp_path)
    outcome = exam.grade(EQUAL_TO_ALL)
    assert exam.examination.inside == frozenset()
    for test, line in zip(exam.tests, LOOKED_AT, strict=True):
        (result,) = outcome.checks[test]
        assert (result.verdict, result.cause.kind) == (Verdict.FAILED, "not_plain"), line


@pytest.mark.parametrize("name", ["anything", "__len__", "__dict__"])
def test_no_attribute_is_told(name):
    def refuse():
        raise CandidateOdd("f(...)", "an object")

    with pytest.raises(CandidateOdd):
        getattr(Misfit(refuse), name)
    assert isinstance(Misfit(refuse), Misfit)
