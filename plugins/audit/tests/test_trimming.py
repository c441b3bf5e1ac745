"""What the audit leaves out of a notebook that only the tests look at."""

from __future__ import annotations

import pytest

from tests.oral import Exam
from viva.engine.blueprint import Blueprint, Cell
from viva.notebook.cell import Purpose
from viva.notebook.names import needs
from viva_audit.trimming import reaching_tests, trimmed, unneeded, used_later


def blueprint(given, later="assert words == [1]"):
    cells = [Cell("data", "given", "words = []"), Cell("middle", "given", given)]
    cells += [Cell("answer", "answer", "double = 2 * words[0]\nown = 1"), Cell("tests", "tests", later)]
    return Blueprint("notebook", tuple(cells))


@pytest.mark.parametrize(
    ("source", "needed"),
    [
        ("plt.imshow(words)\nplt.show()", False),
        ("axes = draw(words)", False),
        ("print(words)", False),
        ("words.append(1)", True),
        ("words[0] = 1", True),
        ("words += [1]", True),
        ("np.random.seed(1)", True),
        ("%matplotlib inline", False),
        ("this is no Python", True),
    ],
)
def test_a_given_cell_is_needed_when_later_cells_could_tell(source, needed):
    assert unneeded(blueprint(source)) == (set() if needed else {"middle"})


def test_of_what_an_answer_binds_only_what_later_cells_use_is_compared():
    used = used_later(blueprint("", "assert double == 2"), "answer")
    assert "double" in used
    assert "own" not in used


def test_a_later_cell_may_use_it_in_a_helper_that_stands_above_the_answer():
    cells = Cell("first", "tests", "def helper(): return double"), *blueprint("", "assert helper() == 2").cells
    assert "double" in used_later(Blueprint("notebook", cells), "answer")


NEEDS = {
    "what is bound first is not needed": ("a = 1\nb = a + c", {"c"}),
    "its own old value is": ("a = a + 1", {"a"}),
    "an augmented assignment needs its target": ("a += 1", {"a"}),
    "so does what changes a part": ("a[0] = 1\ndel b", {"a", "b"}),
    "the variable of a loop is bound in its body": ("for a in b:\n    c = a", {"b"}),
    "and perhaps nowhere else": ("for a in b:\n    c = a\nprint(a, c)", {"b", "print", "a", "c"}),
    "a comprehension has its own": ("[a for a in b if a > c]", {"b", "c"}),
    "one branch may not run": ("if a:\n    b = 1\nc = b", {"a", "b"}),
    "a function reads when it is called": ("def f(x):\n    return x + y\ny = 1", {"y"}),
    "a lambda has its arguments": ("f = lambda a: a + b", {"b"}),
    "an import binds": ("import a.b as c, d.e\nc.f(d.g)", set()),
    "several at once are bound": ("(a, *b), c = d\na, b, c", {"d"}),
    "what is opened has a name below": ("with a as b:\n    c = b\nb, c", {"a"}),
    "an error may come before the name": ("try:\n    a = 1\nexcept E:\n    pass\na", {"E", "a"}),
    "a class reads its body": ("class C(B):\n    x = y\n    def m(self): return z", {"B", "y", "z"}),
}


@pytest.mark.parametrize("name", NEEDS)
def test_a_cell_needs_the_names_that_it_may_read_before_it_binds_them(name):
    source, expected = NEEDS[name]
    assert needs(source) == expected


def test_a_picture_is_left_out_though_a_test_has_a_loop_over_the_same_name():
    assert unneeded(blueprint("for row in words:\n    axes = draw(row)", "for row in words:\n    axes = row")) == {
        "middle"
    }


HELPERS = """
--- given
import numpy as np
--- answer
def one(): return 1
--- test
### BEGIN HIDDEN TESTS
def reference_double(number):
    return number * reference_two
### END HIDDEN TESTS
### CHECK 1: one
assert one() == 1
--- test
unused = 1
### CHECK 1: one again
assert one() == unused
--- answer
def two(): return 2
--- test
### BEGIN HIDDEN TESTS
reference_two = len([1, 2])
### END HIDDEN TESTS
### CHECK 1: two
assert two() == 2
--- answer
def four(): return 4
--- test
### CHECK 1: four
### BEGIN HIDDEN TESTS
assert four() == reference_double(2)
### END HIDDEN TESTS
"""


def test_of_a_test_cell_that_is_left_out_the_shared_lines_stay_that_another_needs(grader, tmp_path):
    exam = Exam(HELPERS, grader, tmp_path)
    notebook, known = trimmed(exam.answered(), exam.examination, {"test-7"})
    assert [(cell.id, len(cell.checks)) for cell in known.blueprint.cells if cell.purpose == "tests"] == [
        ("test-2", 0),
        ("test-5", 0),
        ("test-7", 1),
    ]
    assert [cell.id for cell in notebook.cells] == [cell.id for cell in known.blueprint.cells]
    for answer, verdict in (("def four(): return 4", "passed"), ("def four(): return 5", "failed")):
        next(cell for cell in notebook.cells if cell.id == "answer-6").source = answer
        outcome = grader.grade(notebook, known)
        assert outcome.faults == []
        assert {cell: [str(one.verdict) for one in results] for cell, results in outcome.checks.items()} == {
            "test-2": [],
            "test-5": [],
            "test-7": [verdict],
        }


def test_the_tests_that_an_answer_reaches_are_those_before_its_names_are_bound_again():
    loop, recursion = "def f(n):\n    return n", "def f(n):\n    return f(n - 1)"
    cells = [
        Cell("loop", Purpose.ANSWER, loop),
        Cell("test_loop", Purpose.TESTS, "assert f(1) == 1"),
        Cell("recursion", Purpose.ANSWER, recursion),
        Cell("derived", Purpose.READ_ONLY, "g = f(2)"),
        Cell("test_recursion", Purpose.TESTS, "assert g == 2"),
        Cell("unseen", Purpose.ANSWER, "def h(n):\n    return n"),
        Cell("given", Purpose.READ_ONLY, "def h(n):\n    return 2 * n"),
        Cell("test_given", Purpose.TESTS, "assert h(1) == 2"),
        Cell("last", Purpose.ANSWER, "x = 1"),
    ]
    blueprint = Blueprint("notebook", tuple(cells))
    assert reaching_tests(blueprint, "loop") == ({"test_loop"}, "")
    assert reaching_tests(blueprint, "recursion") == ({"test_recursion"}, "")
    assert reaching_tests(blueprint, "unseen") == (set(), "given")
    assert reaching_tests(blueprint, "last") == (set(), "")
