from __future__ import annotations

import numpy as np
import pytest

from viva.author.witness import ENOUGH, TRIALS, unlike

BLOCK = {"W": np.ones((3, 2)), "b": np.ones(2), "more": [np.ones(3), {"scale": 2.0}]}


def layer(rows, block, mask=None):
    product = rows @ block["W"] + block["b"] if mask is None else (rows * mask[:, None]) @ block["W"] + block["b"]
    return product * block["more"][1]["scale"], np.sum(block["more"][0])


CALLS = [((np.ones((n, 3)), BLOCK, mask), {}) for n, mask in ((4, None), (1, None), (4, np.ones(4, bool)))]


def same_by_einsum(rows, block, mask=None):
    rows = rows if mask is None else np.where(mask[:, None], rows, 0.0)
    return (np.einsum("nd,de->ne", rows, block["W"]) + block["b"]) * block["more"][1]["scale"], block["more"][0].sum()


def without_bias(rows, block, mask=None):
    return layer(rows, block | {"b": 0 * block["b"]}, mask)


def forgets_the_mask(rows, block, mask=None):
    return layer(rows, block)


def pops_the_bias(rows, block, mask=None):
    result = layer(rows, block, mask)
    del block["b"]
    return result


def test_functions_of_tables_of_arrays_are_found_equal_on_random_ones():
    assert unlike(layer, same_by_einsum, CALLS) == ""


@pytest.mark.parametrize("other", [without_bias, forgets_the_mask, pops_the_bias])
def test_functions_of_tables_of_arrays_are_told_apart(other):
    assert unlike(layer, other, CALLS)


def test_that_ones_do_not_tell_functions_apart_is_no_proof():
    def only_for_ones(rows, block, mask=None):
        return layer(rows, block | {"W": np.ones_like(block["W"])}, mask)

    assert unlike(layer, only_for_ones, CALLS) == "another result"


def test_numbers_as_arguments_are_no_array_of_them():
    calls = [((3, 4.0), {}), ((2, 1.0), {})]
    assert unlike(lambda n, x: n * x, lambda n, x: x * n, calls) == ""
    assert unlike(lambda n, x: n * x, lambda n, x: n + x, calls) == "another result"


def test_a_slow_function_is_tried_with_noted_and_random_calls_until_its_time_is_over(monkeypatch):
    monkeypatch.setattr("viva.author.witness.SECONDS", 0.0)
    tried = []

    def counting(x):
        tried.append(x)
        return 2 * x

    calls = [((np.arange(3.0) + number,), {}) for number in range(60)]
    assert unlike(lambda x: x + x, counting, calls) == ""
    assert ENOUGH < len(tried) < TRIALS
    assert sum(any(np.array_equal(x, call[0][0]) for call in calls) for x in tried) >= ENOUGH // 2
