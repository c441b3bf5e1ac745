from __future__ import annotations

import pytest

from viva.engine.blueprint import Blueprint, Cell, default_of, seed_in, with_seed
from viva.verdict import BlueprintError


def notebook(*cells: tuple[str, str], **more: object) -> Blueprint:
    made = (Cell(f"c{place}", purpose, source, **more) for place, (purpose, source) in enumerate(cells))
    return Blueprint("book", tuple(made))


@pytest.mark.parametrize(
    ("line", "seed"),
    [
        ("viva_seed = 20261", 20261),
        ("viva_seed=0", 0),
        ("import numpy\nviva_seed =  123_456  # of everybody\nx = viva_seed", 123456),
        ("viva_seed = 7\r\nx = 1", 7),
        ("viva_seed = 7 + 1", None),
        ("viva_seed = -7", None),
        ("    viva_seed = 7", None),
        ("not_viva_seed = 7", None),
        ("viva_seed = 1.5", None),
        ("viva_seed = " + "9" * 5000, None),
    ],
)
def test_a_line_with_a_whole_number_gives_the_seed(line, seed):
    assert seed_in(line) == seed
    changed = with_seed(line, 31)
    assert seed_in(changed) == (None if seed is None else 31)
    assert changed == line if seed is None else len(changed.splitlines()) == len(line.splitlines())


def test_another_seed_changes_the_number_alone():
    text = "import numpy as np\nviva_seed  =  11 # of 11\nrng = np.random.default_rng(viva_seed)  # viva_seed = 3\n"
    assert with_seed(text, 987654321) == text.replace("=  11", "=  987654321")


def test_the_default_is_that_of_the_given_cell():
    assert (
        default_of(notebook(("given", "x = 1"), ("given", "viva_seed = 4\ny = viva_seed"), ("tests", "assert y"))) == 4
    )
    assert default_of(notebook(("given", "x = 1"), ("tests", "assert viva_seed"))) is None


@pytest.mark.parametrize(
    ("cells", "more", "said"),
    [
        ([("given", "viva_seed = 4"), ("given", "viva_seed = 5")], {}, "a value here and in 'c1'"),
        ([("given", "viva_seed = 4"), ("tests", "viva_seed += 5")], {}, "a value here and in 'c1'"),
        ([("answer", "viva_seed = 4")], {}, "in a cell that is not a locked read-only cell"),
        ([("given", "viva_seed = 4")], {"locked": False}, "in a cell that is not a locked read-only cell"),
        ([("tests", "viva_seed = 4")], {}, "in a cell that is not a locked read-only cell"),
        ([("given", "viva_seed = 4\nviva_seed = 5")], {}, "is not a whole number on its own line"),
        ([("given", "viva_seed = 2 * 2")], {}, "is not a whole number on its own line"),
        ([("given", "viva_seed = True")], {}, "is not a whole number on its own line"),
        ([("given", "viva_seed = other = 4")], {}, "is not a whole number on its own line"),
        ([("given", "viva_seed: int = 4")], {}, "is not a whole number on its own line"),
        ([("given", "for viva_seed in [1]:\n    pass")], {}, "is not a whole number"),
        ([("given", "text = '''\nviva_seed = 4\n'''"), ("given", "viva_seed = 5")], {}, "a value here and in 'c1'"),
        ([("given", "if 1:\n    viva_seed = 4")], {}, "is not a whole number"),
        ([("given", "text = '''\nviva_seed = 4\n'''\nviva_seed = int('4')")], {}, "is not a whole number"),
        ([("given", "text = '''\nviva_seed = 4\n'''\nviva_seed = 5")], {}, "is not a whole number"),
    ],
)
def test_where_no_seed_can_be_put_in_a_sentence_says_so(cells, more, said):
    with pytest.raises(BlueprintError, match=f"book, cell 'c0'.*viva_seed.*{said}"):
        default_of(notebook(*cells, **more))
