"""What viva regrade says of a class whose notebooks hold the tests of the earlier release, as they all must."""

from __future__ import annotations

import json

import nbformat
import pytest

from tests.conftest import SHORT, hand_in

TOLD = "scaled_attention.ipynb: the test cell"


@pytest.mark.slow
def test_a_regrade_tells_nobody_that_the_corrected_test_was_another_when_they_handed_in(course, viva):
    hand_in(course, "ada", answer="right/einsum")
    assert viva("grade", SHORT).status == 0
    (path,) = (course / "source" / SHORT).glob("*.ipynb")
    notebook = nbformat.read(path, as_version=4)
    (cell,) = (cell for cell in notebook.cells if cell.id == "test_self_attention")
    before, check, rest = cell.source.partition("### CHECK 1: the given example\n")
    assert check, "students see this line, and what follows it"
    cell.source = f'{before}{check}assert False, "A stricter check."\n{rest}'
    nbformat.write(notebook, path)

    tried = viva("regrade", SHORT, "--what-if", "--no-audit")
    assert tried.status == 0
    assert "test_self_attention" in tried.out and "1: ada" in tried.out
    assert TOLD not in tried.out + tried.err

    told = viva("regrade", SHORT, "--what-if", "--no-audit", "--json")
    (submission,) = json.loads(told.out)["submissions"]
    assert any(TOLD in note for note in submission["notes"]), "a program reads everything"
