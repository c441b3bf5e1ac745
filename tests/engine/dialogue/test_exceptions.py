"""An exception of student code ends a test as a wrong answer does, whatever it is called."""

from __future__ import annotations

import pytest

from tests.oral import Exam, lost
from viva.engine.dialogue.exceptions import Raised, again, lineage, told

UNITTEST = """
--- given
import unittest
--- answer
def f(x):
    if x < 0: raise ValueError("below zero")
    return x + 1
--- test
class Tests(unittest.TestCase):
    def test_value(self): self.assertEqual(f(1), 2)
    def test_error(self):
        with self.assertRaisesRegex(ValueError, "below"): f(-1)
result = unittest.TextTestRunner().run(unittest.defaultTestLoader.loadTestsFromTestCase(Tests))
assert result.wasSuccessful()
"""
HYPOTHESIS = """
--- given
from hypothesis import given, strategies
--- answer
def f(x): return x + 1
--- test
@given(strategies.integers(0, 5))
def check(x):
    assert f(x) == x + 1
check()
"""
ENDING = {
    "a test that is skipped": (UNITTEST, "import unittest\ndef f(x): raise unittest.SkipTest('no')"),
    "a kind of that": (
        UNITTEST,
        "import unittest\nclass Skipped(unittest.SkipTest): pass\ndef f(x): raise Skipped('no')",
    ),
    "a test that stops": (UNITTEST, "import unittest.case\ndef f(x): raise unittest.case._ShouldStop"),
    "an assumption": (HYPOTHESIS, "import hypothesis\ndef f(x):\n    hypothesis.assume(x == 0)\n    return 1"),
}


@pytest.mark.parametrize(("text", "answer"), ENDING.values(), ids=ENDING)
def test_no_exception_of_student_code_skips_a_test_of_a_framework(text, answer, grader, tmp_path):
    exam = Exam(text, grader, tmp_path)
    assert lost(exam.grade()) == {} and not exam.examination.inside
    assert lost(exam.grade(answer))


def test_an_exception_that_went_to_the_other_process_comes_back_as_itself():
    class OddError(UnicodeDecodeError):
        pass

    odd = OddError("utf-8", b"a", 0, 1, "no")
    odd.args = (object(),)
    ours, objects, raised = [KeyError("a", 1), ZeroDivisionError(object()), odd], [], Raised()
    there = [again(raised.answer(error), objects) for error in ours]
    assert [type(error) for error in there] == [KeyError, ZeroDivisionError, RuntimeError]
    assert (there[0].args, there[1].args, there[2].args) == (("a", 1), (str(ours[1]),), (str(odd),))

    def number_of(value):
        objects.append(value)
        return len(objects) - 1

    assert [raised.exception(told(error, number_of)) for error in there] == ours
    theirs = ValueError("theirs")
    here = raised.exception(told(theirs, number_of))
    assert again(raised.answer(here), objects) is theirs


@pytest.mark.parametrize("category", [DeprecationWarning, ValueError])
def test_warnings_of_the_other_process_are_repeated_and_what_is_none_is_not(category):
    warned = [(lineage(category, id), "old", "<cell>", 3), (lineage(category, id), "old", "<cell>", -1), "none"]
    found = Raised().warnings(warned)
    assert [(type(one), str(one), *place) for one, *place in found] == (
        [(DeprecationWarning, "old", "<cell>", 3)] if category is DeprecationWarning else []
    )
    assert Raised().warnings({}) == []
