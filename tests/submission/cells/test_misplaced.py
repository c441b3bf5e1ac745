"""Answers that stand where nobody would look come into their slots."""

from __future__ import annotations

from tests.mangling import plain
from tests.submission.cells.test_repair import CASES, ONE, bare, below, find, repaired, source
from viva.record import doubtful
from viva.submission.cells.texts import squeezed
from viva.wording import sentences

CASE = CASES["ps1_general_attention"][0]


def test_a_half_in_front_of_what_it_needs_is_joined_with_its_other_half():
    notebook = plain(CASE.full)
    answer = find(notebook, "attention_matrices")
    answer["source"] = "scores = np.exp(Q @ K.T)\nweights = scores / 2\nattention = weights @ V"
    first, rest = answer["source"].split("\n", 1)
    answer["source"] = rest
    below(notebook, "title", first)
    result = repaired(bare(notebook), CASE)
    assert source(result, "attention_matrices") == f"{first}\n{rest}"
    assert "test_attention_matrices" in doubtful(result.repairs)


def test_a_helper_below_the_answer_that_uses_it_is_put_above_it():
    notebook = plain(CASE.full)
    answer = find(notebook, "scores_word_1")
    answer["source"] = "scores = [dot(query_1, key) for key in (key_1, key_2, key_3, key_4)]"
    helper = "def dot(a, b):\n    return sum(x * y for x, y in zip(a, b))"
    below(notebook, "scores_word_1", helper)
    result = repaired(notebook, CASE)
    ids = [cell.id for cell in result.notebook.cells]
    assert result.notebook.cells[ids.index("scores_word_1") - 1].source == helper
    assert any("and was put above it" in sentence for sentence in sentences(result.repairs))


def test_a_helper_that_only_the_body_of_a_function_uses_stays_below_it():
    notebook = plain(CASE.full)
    answer = find(notebook, "scores_word_1")
    answer["source"] = "def scored(query):\n    return [dot(query, key) for key in keys]"
    below(notebook, "scores_word_1", "def dot(a, b):\n    return sum(x * y for x, y in zip(a, b))")
    assert not any("was put above it" in sentence for sentence in sentences(repaired(notebook, CASE).repairs))
    below(notebook, "scores_word_1", "scores = scored(query_1)")
    assert any("was put above it" in sentence for sentence in sentences(repaired(notebook, CASE).repairs))


def test_a_cell_that_gives_a_name_a_second_time_stays_where_it_stands():
    notebook = plain(CASE.full)
    below(notebook, "scores_word_1", "query_1 = query_1 * 2")
    result = repaired(notebook, CASE)
    ids = [cell.id for cell in result.notebook.cells]
    assert result.notebook.cells[ids.index("scores_word_1") + 1].source == "query_1 = query_1 * 2"


def test_a_second_copy_of_an_answer_word_for_word_is_left_out():
    notebook = plain(ONE.full)
    below(notebook, "self_attention", find(notebook, "self_attention")["source"])
    result = repaired(bare(notebook), ONE)
    assert len(result.notebook.cells) == len(ONE.full.cells)
    assert "a second copy of the answer 'self_attention', word for word, was left out" in sentences(result.repairs)


def test_code_in_the_blocks_of_one_text_becomes_the_answers():
    names = ("self_attention", "scaled_dot_product_self_attention")
    was = [next(cell.source for cell in ONE.full.cells if cell.id == name) for name in names]
    indented = "\n".join(f"    {line}" if line else "" for line in was[1].splitlines())
    text = f"My answers:\n\n``` python\n{was[0]}\n```\n\nand\n\n{indented}\n\nThat is all."
    notebook = {"cells": [{"cell_type": "markdown", "metadata": {}, "source": text}], "nbformat": 4, "metadata": {}}
    result = repaired(notebook, ONE)
    assert [squeezed(source(result, name)) for name in names] == [squeezed(text) for text in was]


def test_words_in_a_code_cell_are_a_written_answer_again():
    notebook = plain(ONE.full)
    words = "The outputs change their places as the inputs do, since a sum has no order."
    notebook["cells"][-1] |= {"cell_type": "code", "source": words, "outputs": [], "execution_count": None}
    notebook["cells"].insert(3, notebook["cells"].pop())
    assert source(repaired(bare(notebook), ONE), "why_equivariant_answer") == words


def test_a_copy_of_the_stub_without_identity_does_not_undo_the_answer():
    notebook = plain(ONE.full)
    below(notebook, "self_attention", find(plain(ONE.release), "self_attention")["source"])
    result = repaired(notebook, ONE)
    assert len(result.notebook.cells) == len(ONE.full.cells)
    assert "a second copy of 'self_attention', as it was released, was left out" in sentences(result.repairs)


def test_the_only_answer_is_taken_from_wherever_it_stands_and_a_human_is_told():
    notebook = plain(ONE.full)
    answer = find(notebook, "self_attention")
    was, answer["source"] = answer["source"], find(plain(ONE.release), "self_attention")["source"]
    below(notebook, notebook["cells"][-1]["id"], was)
    result = repaired(notebook, ONE)
    assert squeezed(source(result, "self_attention")) == squeezed(was)
    assert "test_self_attention" in doubtful(result.repairs)


def test_a_block_in_a_text_below_a_stub_that_defines_the_name_becomes_the_answer():
    notebook = plain(ONE.full)
    answer = find(notebook, "self_attention")
    was, answer["source"] = answer["source"], find(plain(ONE.release), "self_attention")["source"]
    below(notebook, "self_attention", f"My answer:\n\n```python\n{was}\n```", cell_type="markdown")
    assert squeezed(source(repaired(notebook, ONE), "self_attention")) == squeezed(was)
