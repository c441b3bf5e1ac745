"""Which answers the solution only imports."""

from __future__ import annotations

import pytest

from tests.oral import Exam, lost
from viva.engine.blueprint import Cell
from viva.engine.ownership import imported_answers
from viva.notebook.names import names_of

SOLUTION = "### BEGIN SOLUTION\nfrom math import gcd\n### END SOLUTION"
CLOSE = "from math import gcd, isclose, sqrt\ndef root(x): return sqrt(x)"
CHECKED = "def check(f, want):\n    assert f(4, 6) == want"
ANSWERS = {
    "asserted alone": ([("answer", SOLUTION), ("tests", "assert gcd(4, 6) == 2")], {"gcd"}),
    "by way of a name": ([("answer", SOLUTION), ("tests", "found = gcd(4, 6)\nassert found == 2")], {"gcd"}),
    "in a loop": ([("answer", SOLUTION), ("tests", "for n in (2, 4):\n    assert gcd(n, 6) == 2")], {"gcd"}),
    "by a function of the test": ([("answer", SOLUTION), ("tests", f"{CHECKED}\ncheck(gcd, 2)")], {"gcd"}),
    "by a function of another test": (
        [("answer", SOLUTION), ("tests", CHECKED), ("tests", "def test():\n    assert gcd(4, 6) == 2\ntest()")],
        {"gcd"},
    ),
    "by NumPy": ([("answer", SOLUTION), ("tests", "np.testing.assert_equal(gcd(4, 6), 2)")], {"gcd"}),
    "for what it raises": ([("answer", SOLUTION), ("tests", "with raises(TypeError):\n    gcd(1.5, 2)")], {"gcd"}),
    "as credit": ([("answer", SOLUTION), ("tests", "n = 0\nif gcd(4, 6) == 2:\n    n += 1\nn")], {"gcd"}),
    "defined by the stub": (
        [
            ("answer", f"def gcd(a, b):\n    pass\n{SOLUTION}\ndef f(x): return x"),
            ("tests", "assert f(gcd(4, 6)) == 2"),
        ],
        {"gcd"},
    ),
    "beside another answer": (
        [("answer", CLOSE), ("tests", "assert gcd(4, 6) == 2\nassert isclose(root(2), sqrt(2))")],
        {"gcd"},
    ),
    "in a loop with another": (
        [
            ("answer", CLOSE),
            ("tests", "for n in (2, 4):\n    got = root(n)\n    assert gcd(n, 6) == 2\n    assert got < 3"),
        ],
        {"gcd"},
    ),
    "where the test raises": (
        [("answer", CLOSE), ("tests", "def test(n):\n    if gcd(n, 6) != 2:\n        raise ValueError\ntest(2)")],
        {"gcd"},
    ),
    "tried as well": (
        [("answer", CLOSE), ("tests", "assert isclose(1, 1.0)\nassert isclose(root(4), 2)")],
        set(),
    ),
    "expected before": ([("answer", CLOSE), ("tests", "want = sqrt(2)\nassert root(2) == want")], set()),
    "expected in a list": (
        [
            ("answer", CLOSE),
            ("tests", "want = []\nfor n in (1, 2):\n    want.append(sqrt(n))\nassert root(2) == want[1]"),
        ],
        set(),
    ),
    "expected by a function": (
        [("answer", CLOSE), ("tests", "def want(x):\n    assert x > 0\n    return sqrt(x)\nassert root(2) == want(2)")],
        set(),
    ),
    "compared by it": ([("answer", CLOSE), ("tests", "got = root(4)\nassert isclose(got, 2)")], set()),
    "by a given function": (
        [("given", "def got(x): return root(x)"), ("answer", CLOSE), ("tests", "assert isclose(got(4), 2)")],
        set(),
    ),
    "given as well": (
        [("given", "from math import gcd"), ("answer", SOLUTION), ("tests", "assert gcd(4, 6) == 2")],
        set(),
    ),
    "imported by the test": ([("answer", SOLUTION), ("tests", "from math import gcd\nassert gcd(4, 6) == 2")], set()),
    "imported by the stub": (
        [
            ("answer", "from math import gcd\n### BEGIN SOLUTION\nfrom math import gcd\n### END SOLUTION"),
            ("tests", "assert gcd(4, 6) == 2"),
        ],
        set(),
    ),
}


@pytest.mark.parametrize(("cells", "expected"), ANSWERS.values(), ids=ANSWERS)
def test_what_a_test_is_about_alone_is_an_answer(cells, expected):
    cells = [Cell(str(number), purpose, source) for number, (purpose, source) in enumerate(cells)]
    assert imported_answers(cells, {"gcd", "root", "sqrt", "isclose"}) == expected


def test_asking_leaves_alone_what_is_known_of_the_names_in_a_cell():
    """Else the second who asks is answered otherwise: the cells of a notebook seemed to need what only a test binds."""
    given, tests = "def check(x): return sqrt(x)", "label = 4\ncheck = label\nassert check == gcd(4, 8)"
    cells = [Cell("1", "given", given), Cell("2", "answer", "from math import gcd, sqrt"), Cell("3", "tests", tests)]
    before = [names_of(cell.source).needed for cell in cells]
    imported_answers(cells, {"gcd", "sqrt"})
    assert [names_of(cell.source).needed for cell in cells] == before


WRITTEN = """
--- answer
from math import gcd, isclose, sqrt
from functools import lru_cache as memo
from itertools import product as pairs
def root(x): return sqrt(x)
--- test
### CHECK 1: gcd
assert gcd(4, 6) == 2 and gcd(17, 5) == 1
### CHECK 1: memo
calls = []
@memo
def double(x):
    calls.append(x)
    return 2 * x
assert double(3) == double(3) == 6 and calls == [3]
### CHECK 1: pairs
assert sorted(pairs("ab", [1])) == [("a", 1), ("b", 1)]
### CHECK 1: root
assert isclose(root(2), sqrt(2))
--- right
from math import isclose, sqrt
def gcd(a, b):
    return gcd(b, a % b) if b else a
def memo(function):
    known = {}
    def remembered(x):
        if x not in known:
            known[x] = function(x)
        return known[x]
    return remembered
def pairs(one, other):
    for x in one:
        yield from ((x, y) for y in other)
root = sqrt
"""
EACH_WRONG = """
def gcd(a, b): return a
def memo(function): return function
def pairs(one, other): return zip(one, other)
def sqrt(x): return 0
def isclose(one, other): return True
root = sqrt
"""


def test_an_answer_is_the_students_and_what_tests_compute_with_is_not(grader, tmp_path):
    exam = Exam(WRITTEN, grader, tmp_path)
    exam.prove()
    assert len(lost(exam.grade(EACH_WRONG))) == 4


def test_a_module_is_no_answer(grader, tmp_path):
    exam = Exam("--- answer\nimport math\n--- test\nassert math.gcd(4, 6) == 2", grader, tmp_path)
    assert lost(exam.grade("class math:\n    gcd = lambda *numbers: 3")) == {}


MEMO = """
--- answer
import functools
memo = functools.cache
--- test
calls = []
@memo
def double(x):
    calls.append(x)
    return 2 * x
assert double(3) == double(3) == 6 and calls == [3]
--- right
def memo(function):
    known = {}
    return lambda x: known[x] if x in known else known.setdefault(x, function(x))
--- wrong
def memo(function): return function
"""


def test_a_function_may_give_what_the_library_function_gives_that_the_solution_has_in_its_place(grader, tmp_path):
    Exam(MEMO, grader, tmp_path).prove()
