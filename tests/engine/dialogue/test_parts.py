"""One value is changed in place into another, with all that is in it."""

from __future__ import annotations

import numpy as np
import pytest

from viva.engine.dialogue.parts import update
from viva.engine.dialogue.sharedvalues import Shared


@pytest.mark.parametrize(
    "places",
    [None, [], [0, 1], [0, 1, 1], [0, 9, -1], [0, True, "a"], [0, 2, 1], [0, None, None, 5], {0: 1}, [[], {}, None]],
    ids=str,
)
def test_whatever_is_said_of_parts_the_value_is_what_it_is_said_to_be(places):
    first, second = [1], {"a": 2}
    whole = [first, (second, 3)]
    update(whole, [[1, 1], ({"b": 4}, 5)], places)
    assert whole == [[1, 1], ({"b": 4}, 5)]


def test_a_part_is_one_thing_at_most_and_of_its_own_class():
    first, second, rows = [1], {"a": 2}, np.zeros(2)
    whole = [first, second, rows]
    update(whole, [[3], [4], np.ones(3)], [0, 1, 1, 3])
    assert whole[0] is first == [3] and whole[1] == [4] and whole[2].shape == (3,)
    assert second == {"a": 2} and rows.shape == (2,)


def chain(links: int) -> tuple[list, list]:
    """A list of a dict of a list ..., and the last of them."""
    first = last = []
    for _ in range(links):
        last.append({"next": []})
        last = last[0]["next"]
    return first, last


def test_parts_of_a_deep_value_are_known():
    shared, (mine, end), (theirs, last) = Shared(), chain(900), chain(900)
    number = shared.number(mine)
    end.append(1)
    ((value, places),) = shared.changed().values()
    assert value is mine and places == list(range(len(shared.parts[number])))
    held = theirs[0]["next"]
    update(theirs, mine, places)
    assert last == [1] and theirs[0]["next"] is held


def test_a_value_of_another_type_changes_nothing():
    value = [1]
    update(value, {"a": 1})
    assert value == [1]
