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
from viva.submission.cells.places import Released
from viva.submission.cells.repair import repair
from viva.submission.files import salvage
from viva.submission.studentcopy import open_copy
from viva.submission.variant import Seeds, seeded
from viva.verdict import CourseError

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
    ("seed", "told"), [(123456789, ""), (987654321, "contains the variant of bo, twin, and was graded")]
)
def test_a_seed_that_was_handed_out_counts_whatever_became_of_its_cell(released, change, seed, told):
    found, sentence = meant(handed_in(seed, change), released)
    assert found == seed
    assert sentence.startswith(told) and bool(sentence) == bool(told)


def test_the_release_without_a_variant_counts_as_it_is(released):
    assert meant(handed_in(DEFAULT), released) == (
        DEFAULT,
        "contains the assignment without a variant, and was graded as that",
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
    assert open_copy(edited).remarks == ["the read-only cell 'data' was changed; grading restores its original text"]
