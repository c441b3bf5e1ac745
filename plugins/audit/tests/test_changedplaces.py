"""Which places of a solution a mutant changes, and whether a compared call ran them."""

from __future__ import annotations

import pytest

from viva_audit.changedplaces import Reach, changed_places

SOLUTION = """
def f(x, c=None):
    if x > 3:
        assert c is None, "no"
    if c:
        x = x + c
    for i in range(3):
        x += i
    return [a for a in range(0) if a] or (1 if x else 2)
"""


@pytest.mark.parametrize(
    ("old", "new", "places"),
    [
        ("x > 3", "x >= 3", ["x > 3"]),
        ("x > 3", "x > 4", ["3"]),
        ("x + c", "c + x", ["x", "c"]),
        ("x = x + c", "pass", ["x = x + c"]),
        ("1 if x else 2", "1", ["1 if x else 2"]),
        ("        x += i", "        x += i\n        break", ["x += i"]),
        ("    if x > 3:", "    x = 0\n    if x > 3:", ["x > 3"]),
        ("range(3)", "range(3, 4)", ["3"]),
        ("range(3)", "range()", ["3"]),
        ("c=None", "c=0", ["None"]),
        ("f(x, c=None)", "f(x, d, c=None)", [SOLUTION.strip()]),
        ("x > 3", "x > 3", []),
    ],
)
def test_the_places_of_a_change_are_the_smallest_parts_of_the_solution(old, new, places):
    assert old in SOLUTION
    lines = SOLUTION.splitlines()
    found = []
    for first, last, start, end in changed_places(SOLUTION, SOLUTION.replace(old, new)):
        inner = lines[first - 1 : last]
        inner[-1], inner[0] = inner[-1][:end], inner[0][start:] if first != last else inner[0][start:end]
        found.append("\n".join(inner))
    assert found == places


def missed(call: str, place: str, compared: bool = True) -> int:
    """The first line of a place in the solution that a call does not run, or that is not compared; 0 for none."""
    names: dict = {}
    exec(SOLUTION, names)
    reach = Reach(changed_places(SOLUTION, SOLUTION.replace(place, "None")), [names["f"]])
    with reach.noting():
        eval(call, names)
    reach.compared() if compared else reach.forget()
    return reach.missed()


@pytest.mark.parametrize(
    ("call", "place", "line"),
    [
        ("f(1)", "x > 3", 0),
        ("f(1)", 'assert c is None, "no"', 4),
        ("f(5)", 'assert c is None, "no"', 4),  # it does not fail
        ("f(1)", "x = x + c", 6),
        ("f(1, 1)", "x = x + c", 0),
        ("f(1)", "1 if x else 2", 9),  # one of its branches
        ("f(1)", "[a for a in range(0) if a]", 9),  # nothing goes through it
    ],
)
def test_a_place_is_reached_where_all_of_its_parts_ran(call, place, line):
    assert missed(call, place) == line


def test_what_ran_and_was_not_compared_counts_for_nothing():
    assert missed("f(1)", "x > 3", compared=False) == 3
