"""What is told of code without running it, also of code that is cut anywhere."""

from __future__ import annotations

import importlib
import itertools
import pkgutil
import re
import time

import numpy as np
import pytest

import viva.submission
from viva.notebook import statements
from viva.submission.cells import texts
from viva.submission.cells.doubts import _seemingly_bound
from viva.submission.cells.texts import as_typed

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
    assert statements.runs(source)


@pytest.mark.parametrize("source", [CUT, "x = 'abc", "y = 1\x00", "(" * 5000])
def test_code_that_is_cut_is_not_whole(source):
    assert not statements.runs(source)


@pytest.mark.parametrize("source", ["x = 1", "f(x)", "import os", "def f(): pass", "'a'\nprint(1)"])
def test_what_binds_calls_or_imports_is_code(source):
    assert statements.acts(source)


@pytest.mark.parametrize("source", ["word", "a, b", "'a sentence'", "Since it holds.", "note: this", CUT, ""])
def test_a_word_or_a_sentence_is_not_code(source):
    assert not statements.acts(source)


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
    assert statements.only_defines(source) is yes


@pytest.mark.parametrize("source", ["    x = 1\n    y = x", ">>> x = 1\n... y = x", "x = !ls\nx?"])
def test_code_is_read_as_ipython_runs_it(source):
    assert statements.runs(source) and "x" in texts.bound_names(source)


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


CODE = 'def softmax(x):\n    """Down each column."""\n    e = np.exp(x - x.max(axis=0))\n\n    return e / e.sum(axis=0)'
LINES = CODE.split("\n")
COPIED = {
    "numbers": "\n".join(f"{number} {line}".rstrip() for number, line in enumerate(LINES, 1)),
    "numbers to the right": "\n".join(f"{number:3}  {line}".rstrip() for number, line in enumerate(LINES, 8)),
    "numbers and tabs": "\n".join(f"{number}\t{line}" for number, line in enumerate(LINES, 1)),
    "numbers and points": "\n".join(f"{number}. {line}".rstrip() for number, line in enumerate(LINES, 1)),
    "numbers and bars": "\n".join(f"{number} | {line}".rstrip() for number, line in enumerate(LINES, 1)),
    "a fence": f"```python\n{CODE}\n```",
    "words around a fence": f"Sure! Here's the code:\n\n```python\n{CODE}\n```\n\nIt works on columns.",
    "half a fence": f"{CODE}\n```",
    "quotes of print": CODE.replace('"""', "\u201d" * 3),
    "a dash of print": CODE.replace(" - ", " \u2212 "),
    "wide marks": CODE.replace("(", "\uff08").replace(")", "\uff09"),
    "spaces that do not break": CODE.replace("    ", "\u00a0" * 4),
    "marks of a mail": "\n".join(f"> {line}" for line in LINES),
    "marks of a difference": "\n".join(f"+{line}" for line in LINES),
    "signs of a page": CODE.replace('"', "&quot;"),
    "guillemets": CODE.replace('"""', "\u00bb", 1).replace('"""', "\u00ab"),
    "signs of a keyboard for another script": CODE.replace(" - ", " \u2212 ").replace("axis=0)", "axis=0\u3001)"),
    "bullets": "\n".join(f"\u2022 {line}" for line in LINES),
    "marks of direction": CODE.replace("(", "\u202a(\u202c"),
    "soft hyphens": CODE.replace("softmax", "soft\u00admax"),
    "spaces behind a backslash": CODE.replace("e / e", "e / \\ \t\n        e"),
    "one tab": CODE.replace("    return", "\treturn"),
}

SPACES = ("spaces that do not break", "marks of direction", "soft hyphens", "spaces behind a backslash")
"""What nobody sees is not worth a note."""


@pytest.mark.parametrize("how", COPIED)
def test_what_copying_added_is_taken_off(how):
    text, why = as_typed(COPIED[how])
    assert text.startswith("def softmax(x):")
    namespace = {"np": np, "x": np.zeros((2, 2))}
    exec(text, namespace)
    assert namespace["softmax"](namespace["x"]).tolist() == [[0.5, 0.5], [0.5, 0.5]]
    assert bool(why) is (how not in SPACES)


def test_lines_that_were_marked_from_the_first_word_on_lose_the_spaces_that_they_share():
    assert as_typed("x = 1\n    for y in z:\n        x += y") == ("x = 1\nfor y in z:\n    x += y", "indented")


@pytest.mark.parametrize(
    "source",
    [
        *(
            CODE,
            "",
            "x = '\u201cquoted\u201d'",
            "%%writefile a.py\n1 x = 1",
            "print(x\n",
            "def f(:\n    pass",
            f"{CODE}\n)",
        ),
        *(
            "1. Yes.\n2. No.",
            "1 x\n3 y",
            "The code:\n\nx = (",
            "if x:\n\ty = 1\n        z = 2",
            ">>> x = 1\n>>> x",
            "# Equation (1)\u2028x = 1",
            "[[0.97 1.59]\n [0.2 0.1]]",
            "    x = 1\n        y = 2",
            "else:\n    y = 2\n    return y",
        ),
    ],
)
def test_what_is_python_or_can_be_read_in_no_one_way_is_left_alone(source):
    assert as_typed(source) == (source, "")


EXPLAINING = ("lacking", "notdone", "place", "refused", "shellcommands", "stopped")
MODULES = ["viva.notebook.names", "viva.notebook.syntax"]
MODULES += [f"viva.engine.explaining.{name}" for name in EXPLAINING]
MODULES += [one.name for one in pkgutil.walk_packages(viva.submission.__path__, "viva.submission.") if not one.ispkg]
PATTERNS = {
    f"{name}.{key}": value
    for name in MODULES
    for key, value in vars(importlib.import_module(name)).items()
    if isinstance(value, re.Pattern) and isinstance(value.pattern, str)
}
UNITS = [
    *"a1=[{#%!<'\t\n ",
    "a,",
    "a,\n",
    "a ",
    "a = ",
    "a.",
    "a\n",
    " \n",
    "f(",
    "()",
    "(\n",
    "==",
    "# ",
    "%%",
    "> ",
    "\\ ",
]
UNITS += ["    a\n", "```\n", "```a\n", "~~~\n", "- a\n", "a: b\n", "1. a\n", '"""', "def ", "import ", "pip -a "]
UNITS += ["<<<<<<< \n", "=======\n", ">>>>>>> \n", "%%capture ", 'File "a", line 1, in a\n']


def work(function, text: str) -> float:
    """The processor's seconds that this takes at best."""
    taken = []
    for _ in range(3):
        start = time.thread_time()
        function(text)
        taken.append(time.thread_time() - start)
    return min(taken)


def assert_linear(function, name: str) -> None:
    """Sixteen times the text is some sixteen times the work; of a quadratic function it is 256 times the work."""
    for unit, end in itertools.product(UNITS, ("", "\n;")):
        small, large = (unit * (size // len(unit)) + end for size in (2_000, 32_000))
        much = work(function, large)
        assert much < 0.05 or much < 90 * work(function, small), (name, unit)


@pytest.mark.slow
@pytest.mark.thorough
@pytest.mark.parametrize("pattern", PATTERNS)
def test_no_pattern_that_meets_a_students_text_takes_the_square_of_its_length(pattern):
    assert_linear(lambda text: [match.end() for match in PATTERNS[pattern].finditer(text)], pattern)


def test_nor_does_what_reads_blocks_of_code_and_broken_lines():
    assert_linear(texts._blocks, "blocks")
    assert_linear(lambda text: _seemingly_bound(text, True), "lines")


def test_blocks_of_code_are_those_in_fences_that_are_closed_and_those_that_are_indented():
    text = "a\n```python\nx = 1\n```\nb\n\n    y = 2\n\n    z = 3\nc\n~~~\nw = 4\n```\n    v = 5\n"
    assert texts.code_parts("markdown", text) == ["x = 1", "y = 2\n\nz = 3", "v = 5"]
