"""A course in PyTorch is graded in two processes as in one: what the tests see are tensors and modules."""

from __future__ import annotations

import pytest

from plugins.ml.tests import ways
from tests.oral import Exam

pytest.importorskip("torch")
ALL = ways.TENSORS | ways.GRADIENTS | ways.MODULES | ways.LOADERS
pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("torch"), pytest.mark.timeout(900)]


@pytest.fixture(scope="module")
def grader():
    from viva.engine.grading import Grader
    from viva.sandbox.confinement import Sandbox

    grader = Grader(60.0, (Sandbox.for_candidate(), Sandbox.for_examiner()), ("numpy", "torch"))
    yield grader
    grader.close()


@pytest.mark.parametrize("way", ALL)
def test_a_course_in_pytorch_is_graded_in_two_processes_as_in_one(way, grader, tmp_path):
    Exam(ALL[way], grader, tmp_path).prove()


COMPARED = """
--- given
import torch
--- answer
def mean(x):
    return x.mean()
--- test
assert mean(torch.tensor([1.0, 2.0])) == 1.5
assert torch.equal(mean(torch.tensor([1.0, 3.0])), torch.tensor(2.0))
assert torch.allclose(mean(torch.tensor([1.0, 3.0])), torch.tensor(2.0))
"""
LIARS = {
    "a subclass of a tensor": "return torch.zeros(()).as_subclass(Liar)",
    "a subclass with a history": "return torch.zeros((), requires_grad=True).as_subclass(Liar)",
    "an object": "return object.__new__(Liar)",
    "a module": "return nn.Identity()",
    "a property": "return torch.zeros(()).as_subclass(type('L', (Liar,), {'shape': (), 'dtype': property(str)}))",
}


@pytest.mark.parametrize("lie", LIARS)
def test_no_operator_of_a_students_class_decides_a_comparison(lie, grader, tmp_path):
    base = "" if "object" in lie else "(torch.Tensor)"
    answer = f"""
from torch import nn
class Liar{base}:
    def __eq__(self, other): return True
    def __bool__(self): return True
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None): return True
nn.Identity.__eq__ = nn.Identity.__hash__ = lambda *args: 1
def mean(x):
    {LIARS[lie]}
"""
    exam = Exam(COMPARED, grader, tmp_path)
    assert not exam.examination.inside and exam.check().verdict.value == "passed"
    assert exam.check(answer).verdict.value in ("failed", "error")
