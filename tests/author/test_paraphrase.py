"""An answer in other words computes the same, and a copy with other names is one to the comparison."""

from __future__ import annotations

import ast

import numpy as np
import pytest

from tests.conftest import PROJECT
from tests.flow.test_known_answers import ASSIGNMENTS, notebooks
from viva.author.answers import fill_in, read_answer
from viva.author.paraphrase import paraphrased, renamed
from viva.pages.reporting.similarity import tokens

SOURCE = """def softmax_cols(scores):
    largest = np.max(scores, axis=0, keepdims=True)
    weights = np.exp(scores - largest)
    sizes = scores.shape
    return weights / np.sum(weights, axis=0, keepdims=True) + 0 * sizes[0]

data = np.array([[1.0, 2.0], [3.0, 5.0]])
table = data.T @ softmax_cols(data) / np.sqrt(2)
rows = [row @ row for row in [data[0], data[1]]]
means = [1, 2] / np.sqrt(len(rows))
"""
RIGHT = {name: sorted(PROJECT.glob(f"answers/{name}/right/*.py")) for name in ASSIGNMENTS}


def values(source: str) -> dict:
    space = {"np": np}
    exec(source, space)
    return space


@pytest.mark.parametrize("seed", range(25))
def test_another_wording_computes_the_same_and_is_the_same_every_time(seed):
    text = paraphrased(SOURCE, str(seed))
    assert text == paraphrased(SOURCE, str(seed))
    before, after = values(SOURCE), values(text)
    assert np.allclose(after["table"], before["table"]) and np.allclose(after["rows"], before["rows"])
    assert np.allclose(after["means"], before["means"])


def test_wordings_differ_and_leave_given_names_alone():
    texts = {paraphrased(SOURCE, str(seed), taken={"part"}) for seed in range(10)}
    assert len(texts) == 10
    for text in texts:
        assert not any(isinstance(node, ast.Name) and node.id == "part" for node in ast.walk(ast.parse(text)))


@pytest.mark.parametrize("source", ["%%timeit\nx = 1", "def f(:", "class A:\n    x = 1 @ 2"])
def test_what_it_cannot_say_otherwise_stays_as_it_is(source):
    assert paraphrased(source, "1") == source


def test_other_names_change_nothing_else():
    text = renamed(SOURCE)
    assert "my_weights" in text and "my_scores" not in text
    assert [sign for sign, *_ in tokens(text)] == [sign for sign, *_ in tokens(ast.unparse(ast.parse(SOURCE)))]
    assert np.allclose(values(text)["table"], values(SOURCE)["table"])


def lost(path, grader, examination, assignment, seed):
    blueprint, release = notebooks(assignment)
    notebook = fill_in(read_answer(path), release, blueprint)
    taken = {name for cell in notebook.cells for name in cell.source.replace("(", " ").split()}
    for cell in notebook.cells:
        if cell.metadata.get("nbgrader", {}).get("solution") and cell.cell_type == "code":
            cell.source = paraphrased(cell.source, f"{seed} {cell.id}", taken)
    outcome = grader.grade(notebook, examination(assignment))
    return [one for results in outcome.checks.values() for one in results if one.earned < one.points]


def test_a_right_answer_in_other_words_is_right(grader, examination):
    assert lost(RIGHT["ps3_scaled_attention"][0], grader, examination, "ps3_scaled_attention", 1) == []


@pytest.mark.slow
@pytest.mark.parametrize("assignment", ASSIGNMENTS)
def test_every_right_answer_in_other_words_is_right(assignment, grader, examination):
    for path in RIGHT[assignment]:
        for seed in range(2):
            assert lost(path, grader, examination, assignment, seed) == [], path
