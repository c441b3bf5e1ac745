"""A read-only cell that cannot import something is the machine's fault: no answer below it loses a point by that."""

from __future__ import annotations

import pytest

from tests.oral import Exam
from viva import wording
from viva.engine.explaining.lacking import import_fails
from viva.engine.grading import Grader
from viva.verdict import Verdict

TEXT = """
--- open
shared = 1
--- given
import colorsys as tool
--- answer
def double(x): return 2 * x
--- test
assert double(2) == 4
--- answer
def red(x): return tool.rgb_to_hsv(x, 0, 0)
--- test
assert red(1) == (0, 1, 1)
"""


@pytest.fixture(scope="module")
def exam(grader: Grader, tmp_path_factory) -> Exam:
    return Exam(TEXT, grader, tmp_path_factory.mktemp("exam"))


def test_what_is_lost_below_is_ungraded_and_doubted_with_the_error_and_the_rest_counts(exam):
    """A module that lies in the candidate's way stands for a library that the machine cannot load there."""
    outcome = exam.grade({"open-0": "import sys\nsys.modules['colorsys'] = None"})
    (passed,), (lost,) = outcome.checks.values()
    assert passed.verdict is Verdict.PASSED
    assert (lost.verdict, lost.exception) == (Verdict.UNGRADED, "")
    assert "'given-1' could not import what it needs: ModuleNotFoundError: import of colorsys" in wording.reason(lost)
    (doubt,) = outcome.doubts
    assert (doubt.kind, doubt.cells, doubt.tests, doubt.doubt) == ("given_import", ("given-1",), ("test-5",), True)


def test_nothing_is_doubted_where_it_imports(exam):
    outcome = exam.grade({"answer-4": "def red(x): raise ImportError('no')"})
    assert outcome.checks["test-5"][0].verdict is Verdict.ERROR and outcome.doubts == []


ELSEWHERE = """
--- given
import numpy.no_such_part as part
--- answer
def double(x): return 2 * x
--- test
assert double(2) == 4
--- answer
def half(x): return part.half(x)
--- test
assert half(4) == 2
"""


def test_what_cannot_be_imported_with_the_solution_either_excuses_only_what_needs_it(grader, tmp_path):
    exam = Exam(ELSEWHERE, grader, tmp_path)
    outcome = exam.grade("def double(x): return x")
    assert [outcome.checks[test][0].verdict for test in exam.tests] == [Verdict.FAILED, Verdict.UNGRADED]
    (doubt,) = outcome.doubts
    assert doubt.tests == ("test-4",)


@pytest.mark.parametrize(
    ("error", "message", "fails"),
    [
        ("ImportError", "libtorch_cpu.so: failed to map segment from shared object", True),
        ("OSError", "libcudart.so.12: cannot open shared object file: No such file or directory", True),
        ("ModuleNotFoundError", "No module named 'numpy.no_such'", True),
        ("ImportError", "cannot import name 'gone' from 'numpy' (/lib/numpy/__init__.py)", True),
        ("ImportError", "cannot import name 'Stack' from 'submitted_stack' (/scratch/submitted_stack.py)", False),
        ("ModuleNotFoundError", "No module named 'submitted_stack'", False),
        ("OSError", "[Errno 28] No space left on device", False),
        ("NameError", "name 'numpy' is not defined", False),
    ],
)
def test_a_module_that_students_submit_is_theirs_and_a_library_is_not(error, message, fails):
    assert import_fails(error, message) == fails
