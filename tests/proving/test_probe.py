from __future__ import annotations

import pytest

from viva.blueprint import Blueprint, Cell
from viva.proving.probe import unneeded, used_later


def blueprint(given, later="assert words == [1]"):
    cells = [Cell("data", "given", "words = []"), Cell("middle", "given", given)]
    cells += [Cell("answer", "answer", "double = 2 * words[0]\nown = 1"), Cell("tests", "tests", later)]
    return Blueprint("notebook", tuple(cells))


@pytest.mark.parametrize(
    ("source", "needed"),
    [
        ("plt.imshow(words)\nplt.show()", False),
        ("axes = draw(words)", False),
        ("print(words)", False),
        ("words.append(1)", True),
        ("words[0] = 1", True),
        ("words += [1]", True),
        ("np.random.seed(1)", True),
        ("%matplotlib inline", False),
        ("this is no Python", True),
    ],
)
def test_a_given_cell_is_needed_when_later_cells_could_tell(source, needed):
    assert unneeded(blueprint(source)) == (set() if needed else {"middle"})


def test_of_what_an_answer_binds_only_what_later_cells_use_is_compared():
    used = used_later(blueprint("", "assert double == 2"), "answer")
    assert "double" in used
    assert "own" not in used
