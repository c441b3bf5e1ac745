"""Code is joined only when it is whole only together, and cut only where each answer gets its own names."""

from __future__ import annotations

import nbformat
import pytest

from viva.submission.cells.joins import belong_together, groups_of, parted, runs_of, statements, unfenced
from viva.submission.cells.places import Piece, Slot
from viva.submission.cells.repair import undo_marimo
from viva.submission.cells.texts import looks_like_code


def slot(name: str, place: int, *own: str) -> Slot:
    cell = nbformat.v4.new_code_cell("# YOUR CODE HERE", id=name)
    return Slot(cell, place, "answer", expects=frozenset(own), own=frozenset(own))


def pieces(*sources: str) -> list[Piece]:
    return [Piece(number, "code", source) for number, source in enumerate(sources, 1)]


@pytest.mark.parametrize(
    ("one", "other", "together"),
    [
        ("def f(x):", "    return x", True),
        ("def f(x):\n    y = x", "    return y", True),
        ("a = [1,", "2]", True),
        ("if x:\n    y = 1", "else:\n    y = 2", True),
        ("a = 1", "b = 2", False),
        ("a = 1", "    return y", False),
    ],
)
def test_code_belongs_together_that_is_whole_only_together(one, other, together):
    assert belong_together(one, other) == together


def test_what_was_put_between_two_halves_stays_out():
    code = pieces("def f(x):\n    y = x", "print(1)", "    return y", "z = 1")
    assert [[piece.number for piece in group] for group in groups_of(code)] == [[1, 3], [2], [4]]


def test_a_half_that_was_moved_up_goes_back_below_its_beginning():
    code = pieces("    return y", "def f(x):\n    y = x")
    assert [[piece.number for piece in group] for group in groups_of(code)] == [[2, 1]]


def test_statements_keep_the_comments_above_them():
    assert statements("# one\na = 1; b = 2\n\n# two\nc = 3") == ["# one\na = 1; b = 2", "\n# two\nc = 3"]
    assert statements("a = (") == ["a = ("]


def test_two_answers_are_cut_where_each_gets_its_names():
    one, two = slot("one", 0, "scores"), slot("two", 1, "weights")
    text = "scores = []\nfor x in y:\n    scores.append(x)\n\nhelper = 3\nweights = [helper]"
    parts = parted([one, two], text, one, [])
    assert parts == {
        one: "scores = []\nfor x in y:\n    scores.append(x)",
        two: "helper = 3\nweights = [helper]",
    }


def test_nothing_is_cut_that_would_cost_the_cell_a_name_of_its_own():
    one, two = slot("one", 0, "a", "c"), slot("two", 1, "b")
    assert parted([one, two], "a = 1\nb = 2\nc = 3", one, []) == {}


def test_an_answer_that_stands_nowhere_else_gets_what_gives_other_names():
    one, two = slot("one", 0, "me_query"), slot("two", 1, "softmax")
    text = "queries = {}\nfor w in words:\n    globals()[w] = queries[w]\n\ndef softmax(x):\n    return x"
    assert parted([one, two], text, two, []) == {}
    assert list(parted([one, two], text, two, [one]).values()) == text.split("\n\n")


def test_a_released_text_is_found_across_the_borders_of_cells():
    given = slot("given", 0)
    given.cell.source = "import numpy as np\nx = 1\n\ny = 2"
    found = runs_of([given], pieces("mine = 0\nimport numpy as np", "x  = 1", "y = 2\nmine = 1"))
    assert found == {given: [(0, 1), (1, 0), (2, 0)]}


def test_a_text_that_is_only_a_fenced_block_is_code():
    fenced = Piece(1, "markdown", "```python\nx = 1\n```")
    assert (unfenced(fenced).cell_type, unfenced(fenced).source) == ("code", "x = 1")
    assert unfenced(Piece(1, "code", "```python\nx = 1\n```")).source == "x = 1"
    assert unfenced(Piece(1, "markdown", "See:\n```python\nx = 1\n```")).cell_type == "markdown"


@pytest.mark.parametrize("text", ["Because", "Yes.", "It is, and here is why.", "scores, weights"])
def test_an_answer_in_words_does_not_look_like_code(text):
    assert not looks_like_code(text)


def test_names_that_marimo_changed_are_given_back():
    answer = slot("one", 0, "scores")
    code = pieces("scores_1 = 2\nmine_2 = scores_1")
    (told,) = undo_marimo(code, [answer])
    assert code[0].source == "scores = 2\nmine_2 = scores"
    assert "scores_1" in told.names
