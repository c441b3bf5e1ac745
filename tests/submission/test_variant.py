"""Whose variant a notebook is, whatever a program or a student did to it."""

from __future__ import annotations

import copy
import json
import random

import nbformat
import pytest
from nbgrader import utils

from tests.conftest import PROJECT
from tests.mangling import strip_ids, strip_nbgrader
from viva import wording
from viva.engine.blueprint import Blueprint, Cell
from viva.submission.cells.places import Released
from viva.submission.cells.repair import repair
from viva.submission.files import salvage
from viva.submission.studentcopy import open_copy
from viva.submission.variant import Seeds, default_of, seed_in, seeded, with_seed
from viva.verdict import BlueprintError, CourseError

RELEASE = nbformat.read(PROJECT / "release" / "ps4_multihead" / "multihead.ipynb", as_version=4)
SEEDS = {"anna": 123456789, "bo": 987654321, "twin": 987654321, "cy": 555555555}
DEFAULT = 0


@pytest.fixture(scope="module")
def released():
    return Released(copy.deepcopy(RELEASE))


def handed_in(seed: int, change=None):
    """A variant as it comes out of a submission's bytes."""
    notebook = seeded(RELEASE, seed)
    if change:
        change(notebook, {cell.id: cell for cell in notebook.cells})
    return salvage.read(json.dumps(notebook).encode())[0]


def meant(notebook, released, student: str = "anna"):
    found = Seeds(student, SEEDS).meant(notebook, released)
    return found.seed, wording.sentence(found.note) if found.note else ""


def without_identity(notebook, cells) -> None:
    strip_nbgrader(notebook, random.Random(1))
    strip_ids(notebook, random.Random(1))


def joined(notebook, cells) -> None:
    cells["setup"].source += "\n\n" + cells["data"].source
    notebook.cells.remove(cells["data"])


def as_text(notebook, cells) -> None:
    cells["data"].cell_type, cells["data"].metadata = "markdown", {}
    for name in ("outputs", "execution_count"):
        del cells["data"][name]


def formatted(notebook, cells) -> None:
    cells["data"].source = cells["data"].source.replace("viva_seed = ", "viva_seed=").replace("\n", "\n\n")


@pytest.mark.parametrize("change", [None, without_identity, joined, as_text, formatted])
@pytest.mark.parametrize(
    ("seed", "told"), [(123456789, ""), (987654321, "contains the variant of bo, twin and was graded")]
)
def test_a_seed_that_was_handed_out_counts_whatever_became_of_its_cell(released, change, seed, told):
    found, sentence = meant(handed_in(seed, change), released)
    assert found == seed
    assert sentence.startswith(told) and bool(sentence) == bool(told)


def test_the_release_without_a_variant_counts_as_it_is(released):
    assert meant(handed_in(DEFAULT), released) == (
        DEFAULT,
        "contains the assignment without a variant and was graded without one",
    )


@pytest.mark.parametrize("number", ["1", "123456780", "1_000"])
def test_a_number_that_is_nobodys_gives_way_to_the_students_own(released, number):
    def change(notebook, cells):
        cells["data"].source = cells["data"].source.replace("viva_seed = 123456789", f"viva_seed = {number}")

    said = (
        f"the seed of its variant was changed to {int(number)}, which belongs to no student; it was graded with "
        "the student's own seed"
    )
    assert meant(handed_in(123456789, change), released) == (123456789, said)


@pytest.mark.parametrize(
    "line", ["", "viva_seed = int('987654321')", "viva_seed = 10 ** 8", "viva_seed = " + "9" * 6000]
)
def test_where_no_number_stands_the_students_own_seed_counts_and_nobody_is_accused(released, line):
    def change(notebook, cells):
        cells["data"].source = cells["data"].source.replace("viva_seed = 123456789", line)

    assert meant(handed_in(123456789, change), released) == (123456789, "")


def test_a_number_in_a_cell_of_the_students_own_is_no_edit(released):
    def deleted(notebook, cells):
        cells["data"].source = "viva_seed = 4"
        del cells["data"].metadata["nbgrader"]
        cells["data"].id = "mine"

    assert meant(handed_in(123456789, deleted), released) == (123456789, "")

    def beside(notebook, cells):
        mine = nbformat.v4.new_code_cell("viva_seed = 987654321")
        notebook.cells.insert(0, mine)

    assert meant(handed_in(123456789, beside), released) == (123456789, "")


def test_who_is_not_known_is_said_to_be_so(released):
    with pytest.raises(CourseError, match="The variant of the student 'zoe' is unknown"):
        meant(handed_in(DEFAULT), released, "zoe")


def test_a_notebook_that_offers_no_variants_is_left_alone():
    other = nbformat.read(PROJECT / "release" / "ps3_scaled_attention" / "scaled_attention.ipynb", as_version=4)
    released = Released(copy.deepcopy(other))
    found = Seeds("nobody", {}).meant(other, released)
    assert found.released is released and found.seed is found.note is None


def test_a_variant_needs_no_repair_when_it_is_compared_with_its_own_release(released):
    notebook = handed_in(987654321)
    own = Seeds("anna", SEEDS).meant(notebook, released).released
    assert repair(notebook, own).repairs == []
    assert [note.kind for note in repair(notebook, released).repairs] != []
    texts = [cell.source for cell in repair(notebook, own).notebook.cells]
    assert sum("viva_seed = 987654321" in text for text in texts) == 1


def test_another_seed_leaves_a_released_notebook_as_nbgrader_and_viva_check_want_it():
    other = seeded(RELEASE, 123456789)
    (place,) = [place for place, cell in enumerate(RELEASE.cells) if cell != other.cells[place]]
    cell = other.cells[place]
    assert cell.metadata.nbgrader.checksum == utils.compute_checksum(cell)
    before, after = (book.metadata.viva["check"]["cells"] for book in (RELEASE, other))
    assert {name for name in before if before[name] != after[name]} == {"data"}
    assert seeded(other, DEFAULT) == RELEASE


def test_viva_check_takes_a_variant_as_it_was_handed_out_and_says_where_its_number_was_changed():
    assert open_copy(seeded(RELEASE, 123456789)).remarks == []
    edited = copy.deepcopy(RELEASE)
    for cell in edited.cells:
        cell.source = cell.source.replace("viva_seed = 0", "viva_seed = 5")
    assert open_copy(edited).remarks == ["you changed the read-only cell 'data'; grading uses its original text"]


def blueprint_of(*cells: tuple[str, str], **more: object) -> Blueprint:
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
        default_of(blueprint_of(("given", "x = 1"), ("given", "viva_seed = 4\ny = viva_seed"), ("tests", "assert y")))
        == 4
    )
    assert default_of(blueprint_of(("given", "x = 1"), ("tests", "assert viva_seed"))) is None


CHANGEABLE = "is set in a cell that students can change, so Viva cannot write the student's seed"
NO_NUMBER = "must be a whole number. Write this line once"


@pytest.mark.parametrize(
    ("cells", "more", "said"),
    [
        ([("given", "viva_seed = 4"), ("given", "viva_seed = 5")], {}, "is set here and also in 'c1'"),
        ([("given", "viva_seed = 4"), ("tests", "viva_seed += 5")], {}, "is set here and also in 'c1'"),
        ([("answer", "viva_seed = 4")], {}, CHANGEABLE),
        ([("given", "viva_seed = 4")], {"locked": False}, CHANGEABLE),
        ([("tests", "viva_seed = 4")], {}, CHANGEABLE),
        ([("given", "viva_seed = 4\nviva_seed = 5")], {}, NO_NUMBER),
        ([("given", "viva_seed = 2 * 2")], {}, NO_NUMBER),
        ([("given", "viva_seed = True")], {}, NO_NUMBER),
        ([("given", "viva_seed = other = 4")], {}, NO_NUMBER),
        ([("given", "viva_seed: int = 4")], {}, NO_NUMBER),
        ([("given", "for viva_seed in [1]:\n    pass")], {}, NO_NUMBER),
        ([("given", "text = '''\nviva_seed = 4\n'''"), ("given", "viva_seed = 5")], {}, "is set here and also in 'c1'"),
        ([("given", "if 1:\n    viva_seed = 4")], {}, NO_NUMBER),
        ([("given", "text = '''\nviva_seed = 4\n'''\nviva_seed = int('4')")], {}, NO_NUMBER),
    ],
)
def test_where_no_seed_can_be_put_in_a_sentence_says_so(cells, more, said):
    with pytest.raises(BlueprintError, match=f"book, cell 'c0'.*viva_seed.*{said}"):
        default_of(blueprint_of(*cells, **more))
