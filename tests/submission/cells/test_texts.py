"""What is told of code without running it, also of code that is cut anywhere."""

from __future__ import annotations

import pytest

from viva.submission.cells import texts

CUT = "def f(x):\n    y = [x,\n"


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("weights = softmax(scores)", {"weights"}),
        ("a, (b, *c) = 1, (2, 3)", {"a", "b", "c"}),
        ("(first,\n second) = pair", {"first", "second"}),
        ("table[key] = 1\nmodel.mean_ = 2", {"table", "model"}),
        ("total += 1\nmask |= other", {"total", "mask"}),
        ("x: int = 3", {"x"}),
        ("def f(x, y=1):\n    inner = 2\n\nouter = 3", {"f", "outer"}),
        ("class Head:\n    size = 4\n", {"Head"}),
        ("async def fetch():\n    pass", {"fetch"}),
        ("if ready:\n    value = 1", {"value"}),
        ("if ok: z = 1", {"z"}),
        ("x = y = 3", {"x", "y"}),
        ("for row in rows:\n    total = total + row", {"total"}),
        ("squares = [n * n for n in numbers]", {"squares"}),
        ("%time best = search()\n!ls\nx = 1", {"best", "x"}),
        ("x = y = 3\nz = (", {"x", "z"}),
        ("if a:\n    b = 1\nelse:\n    c = 2\nd = [1,, 2]", {"d"}),
        ("f(x=1) == 2\nassert y == 3", set()),
        ("# note = 1\nprint('a = b')", set()),
        ("list = [1]", set()),
        (CUT, {"f"}),
    ],
)
def test_the_names_that_code_binds_outside_of_functions(source, names):
    assert texts.bound_names(source) == names


def test_code_that_is_deeper_than_anybody_writes_stops_nothing():
    source = "y = 1\nx = " + "lambda: " * 900 + "y"
    assert (texts.bound_names(source), texts.used_names(source)) == ({"x", "y"}, set())


def test_pythons_own_names_are_no_words_of_code():
    assert texts.words("def scale(q):\n    return np.dot(q, 2) + len(q)") == {"scale", "q", "dot"}


@pytest.mark.parametrize("source", ["!pip install x\n%matplotlib inline\nx = 1", "for i in x:\n    %time f(i)", ""])
def test_code_with_magics_is_whole(source):
    assert texts.runs(source)


@pytest.mark.parametrize("source", [CUT, "x = 'abc", "y = 1\x00", "(" * 5000])
def test_code_that_is_cut_is_not_whole(source):
    assert not texts.runs(source)


@pytest.mark.parametrize("source", ["x = 1", "f(x)", "import os", "def f(): pass", "'a'\nprint(1)"])
def test_what_binds_calls_or_imports_is_code(source):
    assert texts.looks_like_code(source)


@pytest.mark.parametrize("source", ["word", "a, b", "'a sentence'", "Since it holds.", "note: this", CUT, ""])
def test_a_word_or_a_sentence_is_not_code(source):
    assert not texts.looks_like_code(source)


def test_a_sentence_is_prose_and_code_cut_anywhere_is_not():
    assert texts.is_prose("The weights sum to one, since softmax divides by the sum of all exponentials.")
    numbers = (
        "with: .236 .007 .749 .007, without: .119 .000 .880 .000\nratio 3.17 with, 7.39 without (I divided them).\n"
    )
    assert texts.is_prose(numbers + "The biggest stays the biggest. It becomes more even.\nScores grow like sqrt(d_k).")
    assert not texts.is_prose("scores of q, k with softmax(q, k / 3.14, 2.71, 1.41, 1.73) and heads, where 12 34")
    assert not texts.is_prose("return the weights of all the heads and the keys (")
    assert not texts.is_prose("too short")
    assert not texts.is_prose("weights = softmax(scores @ keys.T / np.sqrt(dimension)) @ values[:, :, 0] +")


@pytest.mark.parametrize(
    ("source", "yes"), [("import a\ndef f(): pass", True), ("", True), ("x = 1", False), ("f(", False)]
)
def test_what_only_imports_and_defines(source, yes):
    assert texts.only_defines(source) is yes


@pytest.mark.parametrize("source", ["    x = 1\n    y = x", ">>> x = 1\n... y = x", "x = !ls\nx?"])
def test_code_is_read_as_ipython_runs_it(source):
    assert texts.runs(source) and "x" in texts.bound_names(source)


def test_imports_give_names_too():
    assert {"plt", "sqrt", "x"} <= texts.given_names("import matplotlib.pyplot as plt\nfrom math import sqrt\nx = 1")


def test_used_names_are_given_nowhere_in_the_code():
    source = (
        "def attend(q, k):\n    scores = q @ k.T\n    return softmax(scores) * scale\n\nfor i in range(n): attend(i, i)"
    )
    assert texts.used_names(source) == {"softmax", "scale", "n"}
    assert texts.used_names(CUT) == set()


def test_likeness_is_from_0_to_1_and_looks_at_no_more_than_the_longest():
    assert texts.likeness("same", "same") == 1
    assert texts.likeness("abc", "xyz") == 0
    assert 0.5 < texts.likeness("def f(x): return x", "def f(y): return y") < 1
    assert texts.likeness("a" * texts.LONGEST + "b", "a" * texts.LONGEST + "c") == 1


def test_white_space_is_squeezed_out():
    assert texts.squeezed(" a =\t1\n\n b ") == "a=1b"
