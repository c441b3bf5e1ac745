"""Functions that are right where students can see it, and return nothing of use elsewhere."""

from __future__ import annotations

import numpy as np
import pytest

from viva_audit.degenerate import FORMS, ONLY_RIGHT, RAISE, Reached, degrade, fingerprint, record


@pytest.mark.parametrize(
    ("value", "other", "alike"),
    [
        (np.arange(3), np.arange(3.0), True),
        ([1, 2.0], (1.0, np.int64(2)), True),
        ({"a": [np.ones(2)]}, {"a": [np.ones(2)]}, True),
        (np.ones((2, 1)), np.ones((1, 2)), False),
        ("1", 1, False),
        ([[1], 2], [[1, 2]], False),
        (None, 0, False),
    ],
)
def test_equal_data_has_one_fingerprint(value, other, alike):
    assert (fingerprint(value) == fingerprint(other)) == alike


class Node:
    """An object of a notebook's class that knows its neighbours."""

    __module__ = "__main__"

    def __init__(self, value):
        self.value, self.others = value, []


def ring(*values):
    """Nodes of which each knows all others, as those of a dense graph do."""
    nodes = [Node(value) for value in values]
    for node in nodes:
        node.others = [other for other in nodes if other is not node]
    return nodes[0]


def test_objects_that_know_each_other_have_a_fingerprint_too():
    """The ways through forty of them are more than anybody can go."""
    assert fingerprint(ring(*range(40))) == fingerprint(ring(*range(40)))
    assert fingerprint(ring(*range(40))) != fingerprint(ring(*range(39), 41))
    chain = [1]
    for _ in range(5000):
        chain = [chain]
    assert fingerprint(chain) == fingerprint([chain[0]])


def doubled(form: str):
    """A function that doubles, degenerate but for 3."""
    namespace: dict = {"__name__": "__main__"}
    exec("def double(x):\n    return 2 * x", namespace)
    inputs: dict = {}
    record(namespace, ["double"], inputs)
    assert namespace["double"](3) == 6
    degrade(namespace, {name: sorted(seen) for name, seen in inputs.items()}, form)
    return namespace["double"]


@pytest.mark.parametrize("form", FORMS)
def test_a_degenerate_function_is_right_on_what_is_visible_only(form):
    double, array = doubled(form), np.array([1.0, 2.0])
    assert double(3) == 6
    result = double(array)
    assert not (isinstance(result, np.ndarray) and not np.ma.is_masked(result) and np.array_equal(result, [2.0, 4.0]))
    assert np.array_equal(array, [0, 0]) == (form == "its argument, emptied")


def test_an_exception_shows_that_an_input_was_reached_or_that_a_form_is_not_right_there():
    with pytest.raises(Reached):
        doubled(RAISE)(4)
    only_right = doubled(ONLY_RIGHT + "its argument")
    assert only_right(0) == 0
    with pytest.raises(Reached):
        only_right(4)


def test_methods_are_degenerate_too():
    namespace: dict = {"__name__": "__main__"}
    exec("class A:\n    def f(self, x):\n        return x + 1", namespace)
    inputs: dict = {}
    record(namespace, ["A"], inputs)
    assert namespace["A"]().f(1) == 2
    degrade(namespace, {name: sorted(seen) for name, seen in inputs.items()}, "{}")
    assert namespace["A"]().f(1) == 2 and namespace["A"]().f(2) == {}
