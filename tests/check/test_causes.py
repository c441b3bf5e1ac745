"""A student's check says one cause once: whatever depends on it is folded, and what does not is judged as ever."""

from __future__ import annotations

import contextlib
import copy
from pathlib import Path

import nbformat
import pytest

from tests.check.test_selfcheck import check, filled
from viva.engine.grading import Grader
from viva.language import ENGLISH
from viva.record import Note
from viva_check import selfcheck
from viva_check.checkcommand import CheckCommand
from viva_check.kernel import KernelGrader

pytestmark = pytest.mark.usefixtures("processes")

AGAIN, LOOP, MEMORY, RESTORE = (ENGLISH.text(f"check.{key}") for key in ("correct", "loop", "memory", "restore"))
CHAIN = "ps1_general_attention"
"""An assignment in which nearly every answer uses the first."""


@pytest.fixture(scope="module")
def own_grader():
    with contextlib.closing(Grader(libraries=("numpy", "matplotlib.pyplot"))) as grader:
        yield grader


@pytest.fixture(scope="module")
def right():
    return filled(CHAIN, "right/loops")[0]


def replace(name, old, new):
    def change(notebook):
        cell = next(cell for cell in notebook.cells if cell.id == name)
        cell.source = cell.source.replace(old, new, 1)

    return change


def add(name, code):
    return replace(name, "", f"{code}\n")


def delete(*names):
    def change(notebook):
        notebook.cells = [cell for cell in notebook.cells if cell.id not in names]

    return change


def changed(right, change, folder) -> Path:
    notebook = copy.deepcopy(right)
    change(notebook)
    path = folder / "mine.ipynb"
    nbformat.write(notebook, path)
    return path


ONE_CAUSE = {
    "a syntax error": (
        replace("vectors", "query_4 = times(word_4, W_Q)", "query_4 = times(word_4, W_Q"),
        "vectors",
        [
            "The cell 'vectors' has a syntax error in line 13: '(' was never closed.",
            "query_4 = times(word_4, W_Q",
            AGAIN,
        ],
    ),
    "an exception": (
        add("vectors", "query_1 = word_9 @ W_Q"),
        "vectors",
        [
            "The cell 'vectors' stopped in line 1: NameError: name 'word_9' is not defined.",
            "query_1 = word_9 @ W_Q",
            ENGLISH.text("check.undefined", name="word_9"),
        ],
    ),
    "a missing library": (
        replace("setup", "matplotlib.pyplot", "nosuchlibrary.pyplot"),
        "setup",
        [
            "The cell 'setup' needs nosuchlibrary, which is not installed.",
            "Ask your instructor how to install it, then check again.",
        ],
    ),
    "a process that ends": (
        add("vectors", "import os\nos._exit(1)"),
        "vectors",
        [
            "The cell 'vectors' stopped Python or used too much memory.",
            MEMORY,
        ],
    ),
    "an endless loop": (
        add("vectors", "while True:\n    pass"),
        "vectors",
        ["The cell 'vectors' did not finish.", LOOP],
    ),
    "a deleted answer": (delete("vectors"), "vectors", ["The answer cell 'vectors' was deleted.", RESTORE]),
    "a deleted read-only cell": (delete("setup"), "setup", ["The read-only cell 'setup' was deleted.", RESTORE]),
}


@pytest.mark.parametrize("case", ONE_CAUSE)
def test_one_cause_is_said_once_with_what_to_do(case, right, own_grader, tmp_path):
    change, cell, lines = ONE_CAUSE[case]
    notebook = copy.deepcopy(right)
    notebook.metadata.viva.check.seconds = 2 if "loop" in case else 30
    _, tried = check(changed(notebook, change, tmp_path), own_grader)
    first, *others = selfcheck.rows(tried)
    assert (first.heading, first.state) == (cell, "not checked")
    assert first.lines == lines
    told = selfcheck.told(one for one in tried if one.counts and one.state == "not checked")
    assert told == [lines, *[["as above"]] * (len(told) - 1)], "in the button's panel, too, which shows each check"
    assert {row.state for row in others} <= {"passed"}
    assert sum(one.state == "not checked" for one in tried) >= 16


def test_a_line_that_installs_the_missing_library_is_said_to_have_no_effect(right, own_grader, tmp_path):
    def change(notebook):
        replace("setup", "matplotlib.pyplot", "nosuchlibrary.pyplot")(notebook)
        add("vectors", "!pip install nosuchlibrary")(notebook)

    _, tried = check(changed(right, change, tmp_path), own_grader)
    assert selfcheck.rows(tried)[0].lines == [
        "The cell 'setup' needs nosuchlibrary, which is not installed.",
        "The line with pip install nosuchlibrary in this notebook has no effect here. Run this in a terminal, then "
        "check again: python -m pip install nosuchlibrary",
    ]


@pytest.mark.parametrize("case", ONE_CAUSE)
def test_an_ordinary_kernel_says_the_same_causes(case, right, own_grader, tmp_path):
    notebook = copy.deepcopy(right)
    notebook.metadata.viva.check.seconds = 5 if "loop" in case else 30
    path = changed(notebook, ONE_CAUSE[case][0], tmp_path)
    assert selfcheck.rows(check(path, KernelGrader())[1]) == selfcheck.rows(check(path, own_grader)[1])


def test_two_causes_are_two_and_what_does_not_depend_on_them_is_judged(right, own_grader, tmp_path):
    def change(notebook):
        replace("weights_word_1", "weights = []", "weights = [")(notebook)
        replace("general_attention", "n = len(words)", "n = len(words) + 'a'")(notebook)

    _, tried = check(changed(right, change, tmp_path), own_grader)
    rows = selfcheck.rows(tried)
    assert [row.heading for row in rows if row.state == "not checked"] == ["weights_word_1"]
    passed = {row.heading for row in rows if row.state == "passed"}
    assert passed >= {"test_vectors", "test_scores_word_1", "test_matrices", "test_attention_matrices"}
    wrong = [row for row in rows if row.heading.startswith("test_general_attention") and row.state == "error"]
    assert "TypeError" in wrong[0].lines[0] and all(row.lines == ["as above"] for row in wrong[1:])


def test_a_cell_that_stops_below_what_is_tested_costs_nothing(right, own_grader, tmp_path):
    path = changed(
        right, replace("vectors", "value_4 = times(word_4, W_V)", "value_4 = times(word_4, W_V)\nnone"), tmp_path
    )
    _, tried = check(path, own_grader)
    assert {one.state for one in tried if one.counts} == {"passed"}


def test_a_wrong_answer_above_a_cell_that_stops_keeps_its_own_reason(right, own_grader, tmp_path):
    def change(notebook):
        replace("vectors", "query_1 = times(word_1, W_Q)", "query_1 = times(word_2, W_Q)")(notebook)
        replace("general_attention", "", "none\n")(notebook)

    _, tried = check(changed(right, change, tmp_path), own_grader)
    first = next(row for row in selfcheck.rows(tried))
    assert (first.state, first.title) == ("failed", "query, key and value of word 1")
    assert [row.heading for row in selfcheck.rows(tried) if row.state == "not checked"] == ["general_attention"]


def test_a_name_that_a_test_binds_itself_is_not_that_of_a_cell_that_stopped(right, own_grader, tmp_path):
    def change(notebook):
        notebook.cells.insert(4, nbformat.v4.new_code_cell("result = expected = nothing"))
        replace("general_attention", "weights[i, j] * v[j]", "weights[j, i] * v[j]")(notebook)

    _, tried = check(changed(right, change, tmp_path), own_grader)
    assert {one.state for one in tried if one.counts} == {"passed", "failed"}


def test_a_misspelt_name_is_not_blamed_on_a_deleted_cell(right, own_grader, tmp_path):
    def change(notebook):
        delete("picture", "attention_map", "data")(notebook)
        notebook.cells.insert(4, nbformat.v4.new_code_cell("word_1 = word_2 = word_3 = word_4 = [1, 0, 0]"))
        add("matrices", "query_one = qurey_1")(notebook)

    _, tried = check(changed(right, change, tmp_path), own_grader)
    causes = {one.cause: one.hint for one in tried if one.cause}
    assert "name 'qurey_1' is not defined" in causes["matrices"]


@pytest.mark.parametrize("gone", [("test_scores_word_1",), ("test_scores_word_1", "test_general_attention")])
def test_a_deleted_test_cell_is_named_and_makes_no_sum_too_small(gone, right, own_grader, tmp_path, capsys):
    path = changed(right, delete(*gone), tmp_path)
    opened, tried = check(path, own_grader)
    CheckCommand()._print(path, opened, tried)
    said = capsys.readouterr().out
    assert said.count("deleted") == 1 and f"{', '.join(sorted(gone))}\n" in said
    assert "Hidden checks are worth" not in said and "Hidden checks also count." in said


def test_a_deleted_cell_that_no_check_needs_is_a_remark(right, own_grader, tmp_path):
    opened, tried = check(changed(right, delete("attention_map"), tmp_path), own_grader)
    assert {one.state for one in tried if one.counts} == {"passed"}
    assert [remark for remark in opened.remarks if "'attention_map' was deleted" in remark]


FORGED = [
    "raise ValueError('Cell In[1], line ' + '9' * 5000)",
    "raise ValueError('Cell In[' + '9' * 5000 + '], line 2')",
    "raise NameError(\"name '\" + 'x' * 100_000 + \"' is not defined\")",
    "raise NameError(\"name '²' is not defined\")",
    "e = ValueError(); e.__class__.__name__ = '\\x1b[' * 1000; raise e",
]


@pytest.mark.parametrize("line", FORGED)
def test_a_forged_place_in_a_traceback_breaks_no_submission(line, right, own_grader, tmp_path):
    def change(notebook):
        add("general_attention", line)(notebook)
        delete("attention_map")(notebook)

    _, tried = check(changed(right, change, tmp_path), own_grader)
    assert not all(row.passed for row in tried)


@pytest.mark.parametrize(
    ("said", "remedy"),
    [
        ("EOFError: EOF when reading a line", "The code asks for input(), but nobody can answer in grading."),
        ("StdinNotImplementedError: raw_input was called, but this", "The code asks for input()"),
        ("NameError: name 'rows' is not defined", "No cell above defines rows. Perhaps you deleted the cell that did"),
        ("NameError: name 'rows' is not defined in my own words", "No cell above defines rows."),
        ("EOFError: of my own", "Correct it, then check again."),
    ],
)
def test_of_input_and_of_a_name_from_a_deleted_cell_more_is_said_than_that_something_is_to_be_corrected(said, remedy):
    cause = Note("cell_stopped", cells=("f",), numbers=(1,), names=(said, "a line"))
    what, line, advice = selfcheck._lines(cause, ENGLISH)
    assert said in what and line == "a line"
    assert advice.startswith(remedy)
