"""What is not done yet is said to be so, and nothing that a student did write is."""

from __future__ import annotations

from dataclasses import replace

import msgspec
import pytest
from nbformat.v4 import new_code_cell

from tests.oral import Exam
from viva.notebook.stubs import state_of
from viva.verdict import Verdict

HEAD = "def f(x):\n    '''Double it.'''\n"
RAISE = "    # YOUR CODE HERE\n    raise NotImplementedError()"
LOOP = "found = []\nfor x in given:\n"


@pytest.mark.parametrize(
    "source",
    [
        *("", "# YOUR CODE HERE", "pass", "# YOUR CODE HERE\nraise NotImplementedError()"),
        *(
            HEAD + body
            for body in (RAISE, "", "    pass", "    return None", "    ...", "    raise NotImplementedError")
        ),
    ],
)
def test_an_answer_without_code_of_its_own_is_idle_whether_the_raise_is_there_or_not(source):
    assert state_of(source).idle


def test_what_was_released_is_nothing_that_a_student_wrote():
    assert state_of(LOOP + "    # the loop is empty\n", LOOP + RAISE).idle
    assert not state_of(LOOP + "    found.append(x)", LOOP + RAISE).idle
    assert state_of(LOOP + RAISE).raises and not state_of(LOOP + RAISE).bound


@pytest.mark.parametrize(
    "source",
    [
        HEAD + "    return 2 * x",
        HEAD + "    if x is None:\n        raise NotImplementedError\n    return x",
        HEAD + "    raise NotImplementedError('only for numbers')",
        "try:\n    y = f(1)\nexcept ValueError:\n    raise NotImplementedError()",
        "y = (",
        "(" * 5000,
    ],
)
def test_code_that_raises_it_of_its_own_accord_is_done(source):
    assert state_of(source) == state_of("y = 1")


def test_of_several_functions_those_are_told_that_are_not_done():
    both = "def f(x):\n    return x\n\ndef g(x):\n    # YOUR CODE HERE\n    raise NotImplementedError()"
    assert state_of(both).functions == {"g"} and not state_of(both).idle
    assert state_of(f"{both}\nh = 1", both).functions == {"g"}, "the first was released whole"
    mine = f"{both}\n\ndef mine(x):\n    raise NotImplementedError()"
    stub = both.replace("return x", "raise NotImplementedError()")
    assert state_of(mine, stub).functions == {"g"}, "one of the student's own was not released"


EXAM = """
--- answer
def double(x):
    return 2 * x

def square(x):
    return x * x
--- test
### CHECK 1: double
assert double(2) == 4, "is it twice?"
### CHECK 1: square
assert square(3) == 9, "is it the square?"
--- answer
total = double(1) + square(2)
parts = [double(1), square(2)]
--- test
### CHECK 1: the sum
assert total == 6, "is it the sum?"
### CHECK 1: the parts
assert len(parts) == 2, "are there two?"
--- answer
def both(x):
    return double(x) + square(x)
--- test
### CHECK 1: both
assert both(1) == 3, "is it the sum?"
### CHECK 1: both, or something else
assert both(2) in (8, square(1)), "is it the sum?"
"""
STUB = "# YOUR CODE HERE\nraise NotImplementedError()"
DOUBLE, SQUARE, BOTH = (
    f"def {name}(x):\n    # YOUR CODE HERE\n    raise NotImplementedError()\n" for name in ("double", "square", "both")
)
DONE = "def double(x):\n    return 2 * x\n"
STUBS = {"answer-0": f"{DOUBLE}\n{SQUARE}", "answer-2": f"parts = []\n{STUB}", "answer-4": BOTH}


@pytest.fixture(scope="module")
def exam(grader, tmp_path_factory):
    return Exam(EXAM, grader, tmp_path_factory.mktemp("undone"))


def waits(exam, answers: dict[str, str], stubs: bool = True) -> dict[str, list[str]]:
    """By title, for which answers a check waits; those that were passed are left out."""
    known = replace(exam.examination, stubs=STUBS if stubs else {})
    outcome = exam.grader.grade(exam.answered(answers), known)
    assert outcome.faults == []
    results = [result for results in outcome.checks.values() for result in results]
    assert not any(result.undone for result in results if result.verdict is Verdict.PASSED)
    return {result.title: result.undone for result in results if result.verdict is not Verdict.PASSED}


@pytest.mark.parametrize("stubs", [True, False])
def test_an_untouched_notebook_waits_for_all_its_answers_and_fails_nothing(exam, stubs):
    found = waits(exam, STUBS, stubs)
    assert found["double"] == found["square"] == ["answer-0"]
    assert found["the sum"] == found["the parts"] == ["answer-2"]
    assert found["both"] == found["both, or something else"] == ["answer-4"]


@pytest.mark.parametrize("stubs", [True, False])
def test_of_one_cell_with_two_functions_only_that_waits_which_is_not_done(exam, stubs):
    found = waits(exam, {"answer-0": DONE + SQUARE}, stubs)
    assert "double" not in found
    assert found.pop("square") == found.pop("the sum") == ["answer-0"], "and so does what was built on it"
    assert set(map(tuple, found.values())) == {("answer-0",)}
    wrong = waits(exam, {"answer-0": DONE.replace("2", "3") + SQUARE}, stubs)
    assert wrong["double"] == [] and wrong["square"] == ["answer-0"]


@pytest.mark.parametrize("empty", ["", "# nothing yet", "parts = []\n", "parts = []\n# YOUR CODE HERE\npass"])
def test_a_cell_that_was_left_empty_without_the_line_that_raises_waits_too(exam, empty):
    found = waits(exam, {"answer-2": empty})
    assert found == {"the sum": ["answer-2"], "the parts": ["answer-2"]}


def test_a_function_without_its_raise_waits_too(exam):
    found = waits(exam, {"answer-4": "def both(x):\n    pass"})
    assert found == {"both": ["answer-4"], "both, or something else": ["answer-4"]}


@pytest.mark.parametrize(
    "deliberate",
    [
        "def both(x):\n    raise NotImplementedError('only for words')",
        "def both(x):\n    if x > 0:\n        raise NotImplementedError\n    return 3",
        "def helper(x):\n    raise NotImplementedError('no')\n\ndef both(x):\n    return helper(x)",
    ],
)
def test_an_error_that_the_student_raises_on_purpose_is_an_error(exam, deliberate):
    assert waits(exam, {"answer-4": deliberate}) == {"both": [], "both, or something else": []}


def test_a_wrong_answer_is_wrong_though_an_earlier_one_that_it_mentions_is_not_done(exam):
    found = waits(exam, {"answer-0": DONE + SQUARE, "answer-2": "total, parts = 1, []", "answer-4": "both = abs"})
    assert found["the sum"] == found["the parts"] == found["both"] == []
    assert found["both, or something else"] == ["answer-0"], "the test itself asks for the other function"


def test_a_check_of_two_functions_of_one_answer_does_not_wait_while_one_of_them_is_done(grader, tmp_path):
    text = (
        EXAM.partition("--- answer\ntotal")[0].partition("### CHECK")[0] + "assert (square(3) or 9) + double(2) == 13\n"
    )
    both = Exam(text, grader, tmp_path)
    stubs = {"answer-0": STUBS["answer-0"]}
    idle = f"{DONE.replace('2 *', '3 *')}\ndef square(x):\n    pass\n"
    outcomes = [both.grader.grade(both.answered({"answer-0": answer}), replace(both.examination, stubs=stubs))
                for answer in (idle, idle.replace("return 3 * x", "pass"))]  # fmt: skip
    assert [one.checks["test-1"][0].undone for one in outcomes] == [[], ["answer-0"]]


def test_a_misspelt_name_is_an_error_though_other_answers_are_not_done(exam):
    found = waits(exam, STUBS | {"answer-4": "def both(x):\n    return doubel(x)"})
    assert found["both"] == []


def test_an_answer_that_stands_in_a_cell_of_the_students_own_is_no_stub(exam):
    notebook = exam.answered({"answer-2": STUBS["answer-2"]})
    notebook.cells.insert(3, new_code_cell("total, parts = 7, [1]", id="own"))
    outcome = exam.grader.grade(notebook, replace(exam.examination, stubs=STUBS))
    assert [result.undone for result in outcome.checks["test-3"]] == [[], []]


def test_what_is_recorded_names_the_answers_and_only_where_there_are_some(exam):
    outcome = exam.grader.grade(exam.answered({"answer-4": STUBS["answer-4"]}), exam.examination)
    first, last = outcome.checks["test-1"][0], outcome.checks["test-5"][0]
    assert "undone" not in msgspec.to_builtins(first)
    assert (last.undone, last.verdict, last.earned) == (["answer-4"], Verdict.ERROR, 0)


def test_what_stands_above_a_loop_around_the_stubs_line_is_not_given_yet_as_the_loop_was_to_change_it():
    loop = "total = len(data)\nfor one in data:\n    raise NotImplementedError()"
    assert state_of(loop).bound == frozenset()
    assert state_of(loop.replace("for one in data:\n    ", "")).bound == {"total"}
