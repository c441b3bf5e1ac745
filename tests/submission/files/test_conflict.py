"""Of what a merge left unresolved, both sides are read."""

from __future__ import annotations

import pytest

from tests.mangling import plain
from tests.submission.cells.test_repair import ONE, bare, find, repaired, source
from viva.record import doubtful
from viva.submission.cells.texts import squeezed
from viva.submission.files import conflict

NAME = "self_attention"


def test_the_sides_of_a_text_and_what_is_on_both():
    text = "a\n<<<<<<< local\nb\n||||||| base\nx\n=======\nc\n>>>>>>> remote <modified: >\nd"
    assert conflict.sides(text) == ("a\nb\nd", "a\nc\nd")


@pytest.mark.parametrize("text", ["", "Title\n=======\n", "<<<<<<< a\nb\n=======\n", "print('<<<<<<<')\n>>>>>>> x"])
def test_what_is_no_whole_conflict_has_no_sides(text):
    assert conflict.sides(text) is None


def test_what_only_the_other_side_has_stands_above_what_has_its_place():
    cells = {name: {"cell_type": "code", "source": name, "outputs": [name]} for name in "abcd"}
    again = cells["a"] | {"outputs": []}
    assert conflict.joined([cells["a"], cells["b"], cells["c"]], [again, cells["d"], cells["c"]]) == [
        cells[name] for name in "adbc"
    ]
    assert conflict.joined([cells["a"], None], [None, cells["a"]]) == [cells["a"], None]


@pytest.mark.parametrize("strip", [False, True])
@pytest.mark.parametrize("first", ["the answer", "the stub"])
def test_in_a_conflict_with_the_stub_the_answer_counts(first, strip):
    notebook = plain(ONE.full)
    cell, stub = find(notebook, NAME), find(plain(ONE.release), NAME)["source"]
    was = cell["source"]
    one, other = (was, stub) if first == "the answer" else (stub, was)
    cell["source"] = f"<<<<<<< HEAD\n{one}\n=======\n{other}\n>>>>>>> work"
    result = repaired(bare(notebook) if strip else notebook, ONE)
    assert squeezed(source(result, NAME)) == squeezed(was)
    assert "both_sides" in {repair.kind for repair in result.repairs}


def test_of_two_answers_in_a_conflict_none_is_guessed_and_a_human_is_told():
    notebook = plain(ONE.full)
    cell = find(notebook, NAME)
    was = cell["source"]
    cell["source"] = f"<<<<<<< HEAD\n{was}\n=======\n{was.replace('return', 'return 2 *')}\n>>>>>>> work"
    result = repaired(notebook, ONE)
    assert source(result, NAME) == cell["source"]
    assert f"test_{NAME}" in doubtful(result.repairs)
