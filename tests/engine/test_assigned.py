"""What the text of a cell assigns to is known, or known not to be."""

from __future__ import annotations

import pytest

from viva.engine.assigned import Assigned, assigned_of


@pytest.mark.parametrize(
    ("source", "runs", "later"),
    [
        ("a = b + 1", {"a"}, set()),
        ("a[b] = 1\nc.d = 2", {"a", "b", "c"}, set()),
        ("def f(x):\n    global g\n    g = rows.pop()", {"f", "g", "rows"}, {"f", "g", "rows"}),
        ("f(a, np.sum(b), c=c)", {"a", "c"}, set()),
        ("print(a, len(b))", set(), set()),
        ("np.exp(a, out=c)\nfrom x import y as z", {"c", "z"}, set()),
        ("exec('a = 1')", {"exec", "a", "1"}, set()),
    ],
)
def test_what_a_text_assigns_to_is_known(source, runs, later):
    assert assigned_of(source) == Assigned(frozenset(runs), frozenset(later))


UNSAID = {
    "a star": "from x import *",
    "no Python": "a = = 1",
    "too long": "x = 1\n" * 10_000,
    "too deep": "-" * 10_000 + "1",
    "an odd string in no Python": "x = '\\d' (",
}


@pytest.mark.parametrize("source", UNSAID.values(), ids=UNSAID)
def test_a_text_that_does_not_say_may_assign_to_any_name(source):
    assert assigned_of(source) is None
