from __future__ import annotations

import pytest

from viva.engine.checks import computed_from_hidden, split_checks
from viva.verdict import BlueprintError

SOURCE = """\
rng = 1
### CHECK 1: the first
assert rng
### CHECK 0.5: the second
### BEGIN HIDDEN TESTS
assert True, "hidden"
### END HIDDEN TESTS
"""


def test_a_cell_is_a_prelude_and_its_checks():
    prelude, checks = split_checks(SOURCE, "test_it", 1.5, "here")
    assert prelude == "rng = 1"
    assert [(check.title, check.points, check.hidden) for check in checks] == [
        ("the first", 1.0, False),
        ("the second", 0.5, True),
    ]
    assert checks[0].source == "assert rng"


@pytest.mark.parametrize("points", ["1", "1.0", "(1 point)", "(1 points)"])
def test_the_points_of_a_check_are_a_number_or_say_that_they_are_points(points):
    _, (first, second) = split_checks(SOURCE.replace("CHECK 1:", f"CHECK {points}:"), "test_it", 1.5, "here")
    assert (first.title, first.points, second.points) == ("the first", 1, 0.5)


def test_a_cell_without_check_lines_is_one_check_worth_all_its_points():
    prelude, (check,) = split_checks("assert 1\nassert 2", "test_it", 3, "here")
    assert (prelude, check.title, check.points, check.source) == ("", "test_it", 3, "assert 1\nassert 2")


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (SOURCE + "### CHECK 2: the third\nassert 1", "add up to 3.5, those of the cell to 1.5"),
        (SOURCE.replace("second", "first"), "two checks are called 'the first'"),
        ("if True:\n    ### CHECK 1: inside\n    pass", "does not start a check"),
        ("### CHECK one: words for numbers", "does not start a check"),
        ("### CHECK (1 point: no bracket", "does not start a check"),
        ("### CHECK 1 point: no brackets", "does not start a check"),
        ("### CHECK 1.5: half a statement\nif True:", "cannot run alone"),
    ],
)
def test_a_cell_that_cannot_be_graded_fairly_is_refused_with_its_place(source, message):
    with pytest.raises(BlueprintError, match=message) as caught:
        split_checks(source, "test_it", 1.5, "ps9.ipynb, cell 'test_it'")
    assert "ps9.ipynb, cell 'test_it'" in str(caught.value)


def test_what_visible_lines_compute_from_what_hidden_ones_bound_is_known():
    source = "a = 1\n### BEGIN HIDDEN TESTS\nb = 2\n### END HIDDEN TESTS\nc = b + 1\nd = c\ne = a\nc = 3\nf = c"
    assert computed_from_hidden(source) == {"d"}
    assert computed_from_hidden("a = 1\nb = a") == computed_from_hidden("(") == set()
