from __future__ import annotations

import pytest

from tests.doubling import TESTS, source
from viva.pages.explanation import Explainer, visible_checks
from viva.pages.hidden import Hidden, Veil, hidden_of
from viva.record import CARRIED, CheckResult, note
from viva.verdict import Verdict

OWN = """\
def mean(numbers):
    if not len(numbers):
        raise ValueError("there is nothing to take a mean of")
    return numbers.total / len(numbers)
"""


@pytest.fixture(scope="module")
def explainer() -> Explainer:
    return Explainer({"mean": OWN}, "twice(x)", (TESTS,), hidden_of([source()], Veil()))


def told(
    explainer: Explainer, reason: str, visible: bool = False, whose: str = "student", verdict: str = "error"
) -> str:
    name, colon, _ = reason.partition(":")
    exception = name if colon and verdict == "error" else ""
    result = CheckResult("a check", 1.0, Verdict(verdict), reason=reason, exception=exception, raised_by=whose)
    return explainer.explain(result, visible).sentence


def test_a_check_that_is_right_with_another_right_answer_says_so_on_every_page(explainer):
    for names in ("softmax", "keys, values"):
        cause = note(CARRIED, *names.split(", "))
        result = CheckResult("a check", 1.0, Verdict.PASSED, 1.0, cause=cause)
        told = explainer.explain(result, False), explainer.sealed(result)
        assert {one.sentence for one in told} == {f"It is right with the solution's {names}."}


def test_a_product_of_sizes_that_do_not_fit_is_explained_in_words(explainer):
    size = "with gufunc signature (n?,k),(k,m?)->(n?,m?) (size 31415 is different from 3)"
    reason = f"ValueError: matmul: Input operand 1 has a mismatch in its core dimension 0, {size}"
    sentence = "A matrix product needs as many columns on the left as rows on the right."
    assert told(explainer, reason).endswith(f" {sentence}") and "31415" not in told(explainer, reason)
    assert sentence not in told(explainer, reason.replace("Value", "Type"))


@pytest.mark.parametrize(
    ("reason", "sentence"),
    [
        ("KeyError: 'kumquat-31415'", "KeyError."),
        ("KeyError: 'total'", "KeyError."),
        ("ValueError: there is nothing to take a mean of", "ValueError: there is nothing to take a mean of"),
        ("ValueError: there is nothing to take a mean of 31415", "ValueError."),
        ("ValueError: got array([1, 2])", "ValueError."),
        ("AttributeError: 'list' object has no attribute 'total'", "'list' object has no attribute 'total'"),
        ("AttributeError: 'list' object has no attribute 'kumquat'", "AttributeError."),
        ("AttributeError: 'kumquat' object has no attribute 'total'", "AttributeError."),
        (
            "TypeError: mean() takes 1 positional argument but 31415 were given",
            "takes … positional argument but … were",
        ),
        (
            "IndexError: index 31415 is out of bounds for axis 0 with size 271",
            "index … is out of bounds for axis … with",
        ),
        ("ValueError: operands could not be broadcast together with shapes (3,14) (15,9)", "together with shapes … …"),
        ("ZeroDivisionError: division by zero", "ZeroDivisionError: division by zero"),
        ("kumquat_31415: x", "an exception."),
        ("NotImplementedError: ", "NotImplementedError."),
        ("EOFError: EOF when reading a line", "Your code asks for input(), but nobody can answer in grading."),
        ("StdinNotImplementedError: raw_input was called, but", "Your code asks for input()"),
        ("no colon at all: 31415", "an exception."),
        ("", "an exception."),
    ],
)
def test_what_is_told_of_an_error_in_a_hidden_check(explainer, reason, sentence):
    told_ = told(explainer, reason)
    assert sentence in told_
    assert "31415" not in told_


def test_a_visible_check_tells_the_whole_message_unless_a_hidden_literal_is_in_it(explainer):
    assert "got array([1, 2])" in told(explainer, "ValueError: got array([1, 2])", visible=True)
    assert told(explainer, "ValueError: got 'kumquat-31415'", visible=True) == "Your code stopped with ValueError."


@pytest.mark.parametrize(
    ("whose", "reason", "sentence"),
    [
        ("test", "A word is not doubled.", "A word is not doubled."),
        ("student", "A word is not doubled.", "A word is not doubled."),
        ("test", "For another number it gives 7, which is wrong.", "For another number it gives …, which is wrong."),
        ("student", "For another number it gives 7, which is wrong.", "The result is wrong."),
        (
            "test",
            "For another number it gives 271828, which is wrong.",
            "For another number it gives …, which is wrong.",
        ),
        (
            "test",
            "\nNot equal to tolerance rtol=1e-07, atol=0\n\nMismatch\n DESIRED: 1.15",
            "Not equal to tolerance rtol",
        ),
        ("test", "1.5 != 2.5", "The result is wrong."),
        ("student", "array([1.5, 2.5])", "The result is wrong."),
        ("", "For another number it gives 7, which is wrong.", "The result is wrong."),
    ],
)
def test_what_is_told_of_a_failed_hidden_check(explainer, whose, reason, sentence):
    told_ = told(explainer, reason, whose=whose, verdict="failed")
    assert told_.startswith(sentence)
    assert "DESIRED" not in told_ and "kumquat" not in told_


@pytest.mark.parametrize(
    ("message", "reason", "shown", "open"),
    [
        ('f"inner {x}"', "inner 7", "inner …", "inner 7"),
        ('f"wrong ({x})"', "wrong (7)", "wrong (…)", "wrong (7)"),
        ('f"wrong ({x}) "', "wrong (7) ", "wrong (…)", "wrong (7)"),
        ('f"{type(x).__name__} came"', "Quince came", "… came", "Quince came"),
        ("str(x)", "7", "The result is wrong.", "7"),
        ('"all of it"', "all of it", "all of it", "all of it"),
    ],
)
def test_what_hidden_lines_build_into_an_authors_message_is_left_out_of_a_hidden_check(message, reason, shown, open):
    explainer = Explainer({"mean": OWN}, "", (f"assert mean(x) == 1, {message}",), Hidden())
    assert told(explainer, reason, whose="test", verdict="failed").startswith(shown)
    assert told(explainer, reason, True, "test", "failed").startswith(open)


@pytest.mark.parametrize(
    ("cause", "sentence"),
    [
        (note("not_plain", "mean(...)", "kumquat"), "mean(...) should be plain"),
        (note("not_plain", "kumquat", "X"), "The result should be plain"),
        (
            note("no_credit", "the text 'kumquat'"),
            "This check computes points, but with your code the result was not a",
        ),
        (note("lied", "the reply cannot be read: kumquat"), "The result is wrong."),
        (note("size", "the reply cannot be read: kumquat"), "In grading, a test can use values and models of at most"),
        (note("crossing", "mean(...) handed kumquat"), "In grading, a function of the tests can use plain data only"),
    ],
)
def test_what_is_told_of_a_hidden_check_at_which_the_answer_was_none(explainer, cause, sentence):
    result = CheckResult("a check", 1.0, Verdict.FAILED, cause=cause, raised_by="grader")
    told_ = explainer.explain(result, False).sentence
    assert told_.startswith(sentence) and "kumquat" not in told_


@pytest.mark.parametrize(
    ("traceback", "frames"),
    [
        ('  File "<ipython-input-7-ab>", line 4, in mean\n    return numbers.total / len(numbers)\nX', [("mean", 4)]),
        ('  File "<ipython-input-7-ab>", line 3, in mean\n    return numbers.total / len(numbers)\nX', []),
        ('  File "<ipython-input-7-ab>", line 4, in mean\n    kumquat\nX', []),
        ('  File "other numbers", line 4, in <module>\n    result = mean(hidden_word)\nX', []),
        ("nonsense", []),
    ],
    ids=["own line", "another line", "a line that is nowhere", "a line of a test", "no traceback"],
)
def test_a_traceback_keeps_the_lines_that_stand_in_the_students_cells(explainer, traceback, frames):
    assert [(frame.cell, frame.line) for frame in explainer.frames(traceback)] == frames


def test_a_check_that_uses_what_hidden_lines_bound_is_not_visible():
    hidden = "### BEGIN HIDDEN TESTS\nexpected = 7\n### END HIDDEN TESTS\n"
    whole = f"### CHECK 1: a\n{hidden}### CHECK 1: b\nassert f() == expected\n### CHECK 1: c\nassert f() == 2"
    released = whole.replace(hidden, "")
    again = "### CHECK 1: d\nexpected = 3\nassert f() == expected"
    cells = [
        ("one", whole, released),
        ("two", again, again),
        ("three", "### CHECK 1: e\nexpected", "### CHECK 1: e\nexpected"),
    ]
    assert {title for _, title in visible_checks(cells)} >= {"c", "d", "e"}
    assert "b" not in {title for _, title in visible_checks(cells)}
    assert "e" not in {title for _, title in visible_checks([cells[0], cells[2]])}


IN_R = """### CHECK (1 point): a number
stopifnot(f(2) == 4)
### CHECK (1 point): hidden
### BEGIN HIDDEN TESTS
secret <- 31415
stopifnot("a large number is wrong" = f(secret) == 62830)
### END HIDDEN TESTS
### CHECK (1 point): in a loop
for (i in 1:3) stopifnot(f(i) == 2 * i)
### CHECK (1 point): with the secret
stopifnot(f(secret) > 0)
"""


def test_the_checks_in_another_language_are_visible_without_hidden_lines_and_their_names():
    released = IN_R[: IN_R.index("### BEGIN")] + IN_R[IN_R.index("### CHECK (1 point): in a loop") :]
    assert visible_checks([("t", IN_R, released)], "R") == {("t", ""), ("t", "a number"), ("t", "in a loop")}


def test_of_a_hidden_check_in_r_only_the_sentence_of_its_author_is_told():
    explainer = Explainer({"f": "f <- function(x) 2 * x"}, "", (IN_R,), Hidden(literals=frozenset({"31415"})))
    told_of = {"whose": "test", "verdict": "failed"}
    assert told(explainer, "Error: a large number is wrong", **told_of) == "Error: a large number is wrong"
    assert told(explainer, "Error: f(secret) == 62830 is not TRUE", **told_of) == "The result is wrong."
    assert told(explainer, "Error: f(i) == 2 * i is not TRUE", visible=True, **told_of) == (
        "Error: f(i) == 2 * i is not TRUE"
    )
    ended = CheckResult("a check", 1.0, Verdict.KILLED, cause=note("killed_kernel"))
    assert explainer.explain(ended, visible=False).sentence == "Your code ended its process, or used too much memory."
