"""Each mistake that people make with attention and training, made from a line as they would write it."""

from __future__ import annotations

import ast

import numpy as np
import pytest

from tests.conftest import PROJECT
from viva.engine.blueprint import Cell
from viva_audit.fieldmistakes import read_mistakes
from viva_audit.mutants import mutants_of
from viva_audit.operators import Scene

SHARED = frozenset({"np", "X", "Q", "K", "V", "mask", "softmax", "scores", "logits", "temperature", "positions"})

MISTAKES = read_mistakes(PROJECT)


def made(source, operator):
    """The sources of the mutants that an operator makes."""
    found = mutants_of(Cell("c", "answer", source), Scene(SHARED, mistakes=MISTAKES))
    return {mutant.source for mutant in found if mutant.operator == operator}


def lines(*body):
    return "\n".join(["def f(X):", *("    " + line for line in body)])


@pytest.mark.parametrize(
    ("right", "operator", "wrong"),
    [
        ("m = np.tril(np.ones((5, 5), bool))", "other mask", "m = np.tril(np.ones((5, 5), bool), k=-1)"),
        ("m = np.tril(np.ones((5, 5), bool))", "other mask", "m = np.tril(np.ones((5, 5), bool), k=1)"),
        ("m = np.tri(5, dtype=bool)", "other mask", "m = np.tri(5, dtype=bool, k=1)"),
        ("m = np.arange(5)[:, None] >= np.arange(5)", "other items", "m = np.arange(5)[None, :] >= np.arange(5)"),
        ("v = np.var(X, axis=-1, keepdims=True)", "other axis", "v = np.var(X, axis=0, keepdims=True)"),
        ("v = X.mean(dim=1, keepdim=True)", "other axis", "v = X.mean(dim=0, keepdim=True)"),
        ("v = np.var(X, axis=-1)", "other variance", "v = np.var(X, axis=-1, ddof=1)"),
        ("v = X.var(axis=-1)", "other variance", "v = X.var(axis=-1, ddof=1)"),
        (
            "v = np.mean(X ** 2, axis=-1)",
            "other variance",
            "v = np.mean(X ** 2, axis=-1) * np.size(X ** 2, -1) / (np.size(X ** 2, -1) - 1)",
        ),
        ("Y = X / np.sqrt(v + eps)", "other variance", "Y = X / (np.sqrt(v) + eps)"),
        ("Y = X / (v + eps) ** 0.5", "other variance", "Y = X / (v ** 0.5 + eps)"),
        ("p -= rate * m / (np.sqrt(v) + eps)", "other variance", "p -= rate * m / np.sqrt(v + eps)"),
        ("m_hat = m / (1 - beta ** t)", "other step", "m_hat = m / (1 - beta ** (t - 1))"),
        ("p -= rate * d_p", "other operator", "p += rate * d_p"),
        ("Z = X + positions[:len(X)]", "other slice", "Z = X + positions[1:len(X)]"),
        ("Z = X + positions[:len(X)]", "other slice", "Z = X + positions[-len(X):]"),
        ("P[:, 0::2] = np.sin(X[:, 0::2])", "other items", "P[:, 0::2] = np.sin(X[0::2, :])"),
        ("s = np.einsum('hnk,hmk->hnm', Q, K)", "other subscripts", "s = np.einsum('hnk,hmk->hmn', Q, K)"),
        ("s = np.einsum('hnk,hmk->hnm', Q, K)", "swapped arguments", "s = np.einsum('hnk,hmk->hnm', K, Q)"),
        ("least = np.sort(logits)[-top_k]", "other slice", "least = np.sort(logits)[top_k - 1]"),
        ("least = np.sort(logits)[-top_k]", "other slice", "least = np.sort(logits)[-top_k - 1]"),
        ("best = np.argsort(logits)[-top_k:]", "other slice", "best = np.argsort(logits)[:top_k]"),
        ("best = np.argsort(-logits)[:top_k]", "dropped operand", "best = np.argsort(logits)[:top_k]"),
        ("p = softmax(logits / temperature)", "other scale", "p = softmax(logits) / temperature"),
        ("d_b = d_Y.sum(axis=0)", "dropped call", "d_b = d_Y"),
        ("d_b = np.sum(d_Y, axis=0)", "dropped call", "d_b = d_Y"),
        ("d_s = w * (d_w - np.sum(d_w * w, axis=-1))", "dropped operand", "d_s = w * d_w"),
        ("a = block['gamma_1'] + block['gamma_2']", "other key", "a = block['gamma_2'] + block['gamma_2']"),
    ],
)  # fmt: skip
def test_a_slip_is_made_from_a_natural_line(right, operator, wrong):
    assert ast.unparse(ast.parse(wrong)) in made(right, operator)


@pytest.mark.parametrize(
    ("right", "operator", "wrong"),
    [
        (
            ["if mask is not None:", "    scores = np.where(mask, scores, -np.inf)", "return softmax(scores)"],
            "after the softmax",
            ["if mask is not None:", "    scores = scores", "returned = softmax(scores)",
             "if mask is not None:", "    returned = np.where(mask, returned, 0.0)", "return returned"],
        ),
        (
            ["scores[~mask] = -np.inf", "weights = softmax(scores)", "return weights @ V"],
            "after the softmax",
            ["pass", "weights = softmax(scores)", "weights[~mask] = 0.0", "return weights @ V"],
        ),
        (
            ["scaled = logits / temperature", "powers = np.exp(scaled)", "return powers / powers.sum()"],
            "after the softmax",
            ["scaled = logits", "powers = np.exp(scaled)", "returned = powers / powers.sum()",
             "returned = returned / temperature", "return returned"],
        ),
        (
            ["scores /= np.sqrt(4)", "w = np.exp(scores)", "w /= np.sum(w)", "return w"],
            "after the softmax",
            ["pass", "w = np.exp(scores)", "w /= np.sum(w)", "w /= np.sqrt(4)", "return w"],
        ),
        (["Z = X + g(layer_norm(X, a))", "return Z"], "other residual",
         ["Z = layer_norm(X, a) + g(layer_norm(X, a))", "return Z"]),
        (["Z = X + g(layer_norm(X, a))", "return Z"], "other residual",
         ["Z = layer_norm(X + g(X), a)", "return Z"]),
        (["n = layer_norm(X, a)", "return X + g(n)"], "other residual",
         ["n = layer_norm(X, a)", "return layer_norm(X, a) + g(n)"]),
        (["n = layer_norm(X, a)", "return X + g(n)"], "other residual",
         ["n = X", "return layer_norm(X + g(n), a)"]),
        (["c = X - m", "v = np.mean(c * c)", "return c / np.sqrt(v)"], "not centred",
         ["c = X - m", "v = np.mean(c * c)", "return X / np.sqrt(v)"]),
        (["d_W = X.T @ d_Y", "return d_W"], "other sign", ["d_W = -(X.T @ d_Y)", "return d_W"]),
        (["g['d_W'] = X.T @ d_Y", "return g"], "other sign", ["g['d_W'] = -(X.T @ d_Y)", "return g"]),
    ],
)  # fmt: skip
def test_a_slip_is_made_that_takes_several_statements(right, operator, wrong):
    assert ast.unparse(ast.parse(lines(*wrong))) in made(lines(*right), operator)


def test_a_size_is_no_gradient():
    assert not made(lines("d_k = X.shape[1]", "return X / d_k"), "other sign")


def test_what_does_not_reach_the_weights_is_not_put_off():
    assert not made(lines("half = X / 2", "return softmax(scores), half"), "after the softmax")
    assert not made(lines("half = X / 2", "weights = softmax(scores)", "return weights, half"), "after the softmax")


def test_given_statements_are_not_moved():
    inside = "    ### BEGIN SOLUTION\n    return softmax(scores)\n    ### END SOLUTION"
    assert not made(f"def f(scores):\n    scores = scores / 2\n{inside}", "after the softmax")


def test_an_argument_in_which_things_are_looked_up_is_spoilt_as_a_whole():
    sources = made("def f(block):\n    return block['W'] + block['b']", "spoilt argument")
    assert len(sources) == 2
    for source in sources:
        block = {"W": np.ones(2), "b": np.ones(2)}
        names = {"np": np}
        exec(source, names)
        assert not np.any(names["f"](block) == 2)
        assert not np.any(block["W"] == 1)
    (source,) = made("def f(block):\n    return block['W']", "changed argument")
    names = {"np": np}
    exec(source, names)
    block = {"W": 3}
    assert names["f"](block) == 3
    assert block == {}
