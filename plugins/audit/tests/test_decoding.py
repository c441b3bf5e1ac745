"""Each mistake that people make with positions, a cache and the top k, made from a line as they would write it."""

from __future__ import annotations

import ast

import numpy as np
import pytest

from plugins.audit.tests.test_slips import MISTAKES, lines
from viva.engine.blueprint import Cell
from viva_audit.mutants import Mutant, mutants_of
from viva_audit.operators import Scene

SHARED = frozenset({"np", "X", "K", "V", "N", "n", "k", "model", "positions", "scores", "pos_1"})
TURNED = "np.reshape(np.transpose(positions), np.shape(positions))"
DECODING = ("other positions", "exchanged axes", "smallest k", "smallest k by name")
SINES = """
def table(N, d):
    angles = np.arange(N)[:, None] / 10000 ** (np.arange(0, d, 2) / d)
    result = np.zeros((N, d))
    result[:, 0::2], result[:, 1::2] = np.sin(angles), np.cos(angles)
    return result
"""


def made(source: str, *operators: str) -> list[Mutant]:
    """The mutants that some operators make."""
    found = mutants_of(Cell("c", "answer", source), Scene(SHARED, mistakes=MISTAKES))
    return [mutant for mutant in found if mutant.operator in operators]


def run(source: str, name: str, *arguments: object, **names: object) -> object:
    """What a function of a source returns."""
    scope = {"np": np, **names}
    exec(source, scope)
    return scope[name](*arguments)


@pytest.mark.parametrize(
    ("right", "operator", "wrong"),
    [
        ("Z = X + positions[:N]", "other positions", f"Z = X + {TURNED}[:N]"),
        ("Z = X + positions[:N, :]", "other positions", f"Z = X + {TURNED}[:N, :]"),
        ("z = positions[n] + X[n]", "other positions", f"z = {TURNED}[n] + X[n]"),
        (
            "Z = X + model['positions'][:N]",
            "other positions",
            "Z = X + np.reshape(np.transpose(model['positions']), np.shape(model['positions']))[:N]",
        ),
        (
            "Z = X + model.pos_embed[:N]",
            "other positions",
            "Z = X + np.reshape(np.transpose(model.pos_embed), np.shape(model.pos_embed))[:N]",
        ),
        (
            "Z = X + positional(N, 4)",
            "other positions",
            "Z = X + np.reshape(np.transpose(positional(N, 4)), np.shape(positional(N, 4)))",
        ),
        ("kept = scores >= np.sort(scores)[-k]", "smallest k", "kept = scores <= np.sort(scores)[-k]"),
        ("kept = scores >= np.sort(scores)[-k]", "smallest k", "kept = scores <= np.sort(scores)[k - 1]"),
        ("lost = scores < np.sort(scores)[-k]", "smallest k", "lost = scores > np.sort(scores)[k - 1]"),
        ("kept = sorted(scores)[-3] <= scores", "smallest k", "kept = sorted(scores)[3 - 1] >= scores"),
        ("kept = X >= np.sort(X)[:, -k, None]", "smallest k", "kept = X <= np.sort(X)[:, k - 1, None]"),
        ("kept = X >= np.sort(X)[:, -k][:, None]", "smallest k", "kept = X <= np.sort(X)[:, k - 1][:, None]"),
        ("least = np.partition(X, -k)[..., -k]", "smallest k", "least = np.partition(X, k - 1)[..., k - 1]"),
        ("best = np.argpartition(scores, -k)[-k:]", "smallest k", "best = np.argpartition(scores, k - 1)[:k]"),
        ("best = scores.argpartition(-k)[-k:]", "smallest k", "best = scores.argpartition(k - 1)[:k]"),
        ("best = np.argsort(X)[:, -k:]", "other slice", "best = np.argsort(X)[:, :k]"),
        ("K = np.vstack([K, k])", "forgotten first", "K = np.vstack([K[1:], k])"),
        ("K = np.concatenate([K, k], axis=1)", "forgotten first", "K = np.concatenate([K[:, 1:], k], axis=1)"),
        ("K = np.concatenate((K, k), axis=-2)", "forgotten first", "K = np.concatenate((K[..., 1:, :], k), axis=-2)"),
    ],
)  # fmt: skip
def test_a_slip_is_made_from_a_natural_line(right, operator, wrong):
    assert ast.unparse(ast.parse(wrong)) in [mutant.source for mutant in made(right, operator)]


@pytest.mark.parametrize(
    ("right", "operator", "wrong"),
    [
        (["X += positions[:N]", "return X"], "exchanged axes", [f"X += {TURNED}[:N]", "return X"]),
        (["least = np.sort(X)[-k]", "return np.where(X >= least, X, 0)"], "smallest k by name",
         ["least = np.sort(X)[k - 1]", "return np.where(X <= least, X, 0)"]),
        (["least = np.sort(X)[-k]", "return np.where(X >= least, X, 0)"], "smallest k by name",
         ["least = np.sort(X)[-k]", "return np.where(X <= least, X, 0)"]),
        (["least = np.partition(X, -k)[:, -k]", "X[X < least[:, None]] = 0", "return X"], "smallest k by name",
         ["least = np.partition(X, k - 1)[:, k - 1]", "X[X > least[:, None]] = 0", "return X"]),
    ],
)  # fmt: skip
def test_a_slip_is_made_that_takes_several_statements(right, operator, wrong):
    expected = ast.unparse(ast.parse(lines(*wrong)))
    assert expected in [mutant.source for mutant in made(lines(*right), operator)]


@pytest.mark.parametrize(
    "right",
    [
        "x = X[0] + pos_1",
        "Y = np.transpose(X) + X",
        "Y = X + positive",
        "Y = X * positions[:N]",
        "Y = X + softmax(positions)",
        "kept = scores >= np.sort(scores)[k]",
        "kept = scores >= scores[-k]",
        "last = X[-k:]",
        "best = np.argpartition(scores, k)[:k]",
        "best = np.partition(scores, kth=-k)[-k]",
        lines("last = X[-k]", "return X >= last"),
        lines("least = np.sort(X)[-k]", "return X >= k"),
        lines("return np.sin(N) + np.cos(N)"),
    ],
)
def test_other_sums_comparisons_and_slices_are_left_alone(right):
    assert not made(right, *DECODING)


@pytest.mark.parametrize("sizes", [(6, 6), (5, 4), (1, 8)])
def test_positions_along_the_other_axis_fit_and_are_those_of_the_transpose(sizes):
    (mutant,) = made("def f(X, positions):\n    return X + positions[:len(X)]", "other positions")
    positions = np.arange(float(np.prod(sizes))).reshape(sizes)
    added = run(mutant.source, "f", np.zeros(sizes), positions)
    assert np.array_equal(added, np.ravel(positions.T).reshape(sizes))
    assert np.array_equal(added, positions.T) == (sizes == (6, 6))


def test_a_table_that_is_built_with_its_sizes_exchanged_has_the_same_shape_and_its_waves_along_the_rows():
    (mutant,) = made(SINES, "exchanged axes")
    for sizes in ((6, 6), (4, 8), (10, 2)):
        right = run(SINES, "table", *sizes[::-1])
        wrong = run(mutant.source, "table", *sizes)
        assert wrong.shape == sizes
        assert np.array_equal(wrong, right.T)
        assert not np.allclose(wrong, run(SINES, "table", *sizes))


@pytest.mark.parametrize(
    "kept",
    [
        "return X[X >= np.sort(X)[-k]]",
        "least = np.sort(X)[-k]\n    return X[X >= least]",
        "return X[X >= np.partition(X, -k)[-k]]",
        "return X[np.argpartition(X, -k)[-k:]]",
    ],
)
def test_one_mutant_keeps_the_k_smallest_and_nothing_else(kept):
    source, scores = f"def f(X, k):\n    {kept}", np.array([3.0, -1, 7, 2, 5])
    assert sorted(run(source, "f", scores, 2)) == [5, 7]
    wrong = [mutant.source for mutant in made(source, "smallest k", "smallest k by name", "other slice")]
    results = [sorted(run(one, "f", scores, 2)) for one in wrong]
    assert [-1, 2] in results
    assert [5, 7] not in results
