"""The course in examples/pytorch: no test cell is a single-process cell, and the solution earns all points."""

from __future__ import annotations

import nbformat
import pytest

from tests.conftest import PROJECT
from viva.engine.grading import Grader
from viva.engine.rehearsal import rehearse
from viva.sandbox.confinement import Sandbox

pytest.importorskip("torch", exc_type=ImportError)
pytestmark = pytest.mark.slow
EXAMPLE = PROJECT / "examples" / "pytorch"


@pytest.fixture(scope="module")
def torch_grader():
    libraries = ("numpy", "torch", "torch.nn", "torch.utils.data.DataLoader")
    grader = Grader(120.0, (Sandbox.for_candidate(), Sandbox.for_examiner()), libraries=libraries)
    yield grader
    grader.close()


@pytest.mark.parametrize("assignment", ["pt1_tensors", "pt2_block", "pt3_training"])
def test_no_test_cell_of_the_example_is_a_single_process_cell(assignment, torch_grader):
    (path,) = (EXAMPLE / "source" / assignment).glob("*.ipynb")
    known = rehearse(path, torch_grader, path.parent)
    assert known.single_process_sentences() == {} and known.failing == {} and known.refused == {}
    outcome = torch_grader.grade(nbformat.read(path, as_version=4), known, path.parent, path.parent)
    lost = [(check.title, check.reason) for checks in outcome.checks.values() for check in checks if not check.earned]
    assert lost == []
