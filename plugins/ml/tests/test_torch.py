"""A course in PyTorch is graded in two processes as in one: what the tests see are tensors and modules."""

from __future__ import annotations

import pytest

from plugins.ml.tests import course, ways
from tests.oral import Exam, lost
from viva import wording
from viva.pages.explanation import Explainer
from viva.pages.hidden import Hidden

pytest.importorskip("torch")
ALL = ways.TENSORS | ways.GRADIENTS | ways.MODULES | ways.LOADERS
pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("torch"), pytest.mark.timeout(900)]


@pytest.mark.parametrize("way", ALL)
def test_a_course_in_pytorch_is_graded_in_two_processes_as_in_one(way, torch_grader, tmp_path):
    Exam(ALL[way], torch_grader, tmp_path).prove()


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
def test_no_operator_of_a_students_class_decides_a_comparison(lie, torch_grader, tmp_path):
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
    exam = Exam(COMPARED, torch_grader, tmp_path)
    assert not exam.examination.inside and exam.check().verdict.value == "passed"
    assert exam.check(answer).verdict.value in ("failed", "error")


WRONG = """
--- given
import torch
--- answer
def double(x):
    return 2 * x
--- test
assert torch.equal(double(torch.tensor([1.0, 2.0])), torch.tensor([2.0, 4.0]))
--- wrong
def double(x):
    return x ** 2 + 1
"""
DIFFERENCES = {
    "x ** 2": ("values", "1 of 2 entries differ, at (0,): 1.0 and 2.0"),
    "(2 * x).view(1, 2)": ("shapes", "Shapes (1, 2) and (2,)"),
}


@pytest.mark.parametrize("wrong", DIFFERENCES)
def test_a_comparison_that_fails_says_what_differs(wrong, torch_grader, tmp_path):
    result = Exam(WRONG, torch_grader, tmp_path).check(f"def double(x):\n    return {wrong}\n")
    what, how = DIFFERENCES[wrong]
    first, second = result.reason.splitlines()
    assert first == f"Tensors differ in their {what}." and how in second
    cells = {"answer": "def double(x): pass"}
    explainer = Explainer(cells, "", (), Hidden())
    assert explainer.explain(result, visible=False).sentence == first
    assert how in explainer.explain(result, visible=True).sentence


ELSEWHERE = """
--- given
import torch
def alike(a, b): return torch.allclose(a, b)
--- answer
def double(x): return 2 * x
def flag(): return 3
--- test
### CHECK 1: what is not equal on purpose
x = torch.tensor([1.0, 2.0])
assert not torch.equal(double(x), x)
assert flag() == 3
### CHECK 1: nothing was compared
assert flag() == 3
### CHECK 1: by a helper
assert alike(
    double(x), x + x)
--- wrong
def double(x): return 2 * x + 1
def flag(): return 4
"""


def test_a_comparison_explains_no_assertion_but_its_own(torch_grader, tmp_path):
    exam = Exam(ELSEWHERE, torch_grader, tmp_path)
    reasons = [result.reason for result in exam.grade(exam.variants[0].answers).checks[exam.tests[0]]]
    assert [reason.partition("\n")[0] for reason in reasons] == ["", "", "Tensors differ in their values."]


REACHED = """
--- given
import torch
--- answer
def error(p, y):
    return ((p - y) ** 2).mean()
--- test
w = torch.tensor([2.0], requires_grad=True)
x, y = torch.tensor([1.0, 2.0]), torch.tensor([3.0, 6.0])
error(w * x, y).backward()
assert w.item() == 2 and w.grad is not None, w
"""
WRITES = """
def error(p, y):
    loss = ((p - y) ** 2).mean()
    ahead = [p.grad_fn]
    while ahead:
        step = ahead.pop()
        if hasattr(step, "variable"):
            step.variable.data.fill_(3.0)
        ahead += [before for before, _ in step.next_functions if before is not None]
    return loss
"""


def test_weights_that_a_test_did_not_hand_over_are_not_written(torch_grader, tmp_path):
    exam = Exam(REACHED, torch_grader, tmp_path)
    assert exam.check().verdict.value == exam.check(WRITES).verdict.value == "passed"


def test_of_a_courses_test_cells_only_the_one_that_patches_runs_in_the_students_process(torch_grader, tmp_path):
    exam = Exam(course.NOTEBOOK, torch_grader, tmp_path)
    names = dict(zip(exam.tests, course.CELLS, strict=True))
    assert [names[cell] for cell in exam.examination.inside] == ["patched"]
    assert lost(exam.grade()) == {}


NESTED = """
--- given
import torch
from torch.utils.data import DataLoader, Dataset
--- answer
import sys
class Squares(Dataset):
    questions = 0
    def __len__(self): return 3
    def __getitem__(self, i):
        frame, questions = sys._getframe(), 0
        while frame := frame.f_back:
            questions += frame.f_code.co_name == "do_operate"
        Squares.questions = max(Squares.questions, questions)
        return i
def through(loader):
    list(loader)
    return Squares.questions
--- test
assert through(DataLoader(Squares())) <= 1
"""


def test_a_loader_of_a_test_asks_a_students_data_set_for_no_example(torch_grader, tmp_path):
    """Two questions for each example made a training of eight epochs six times as long."""
    exam = Exam(NESTED, torch_grader, tmp_path)
    assert not exam.examination.inside and lost(exam.grade()) == {}


LARGE = """
--- given
import torch
from torch import nn
--- answer
class Model(nn.Module):
    def __init__(self, width=64):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(4, width), nn.Linear(width, width), nn.Linear(width, width))
    def forward(self, x):
        return self.layers(x)[:, :2]
model = Model()
--- test
assert model(torch.ones(1, 4)).shape == (1, 2)
"""


def test_a_students_model_over_the_limit_is_looked_at_by_a_grader(torch_grader, tmp_path):
    exam = Exam(LARGE, torch_grader, tmp_path)
    outcome = exam.grade(exam.notebook.cells[1].source.replace("Model()", "Model(4200)"))
    (result,) = outcome.checks["test-2"]
    assert [(one.kind, one.doubt, one.tests) for one in outcome.doubts] == [("refused_size", True, ("test-2",))]
    assert "values and models of at most 128 MB" in wording.reason(result)
    assert "at most 128 MB" in Explainer({"answer-1": ""}, "", (), Hidden()).explain(result, visible=True).sentence


TRAINED = """
--- given
import torch
from torch import nn
--- answer
width = 64
model = nn.Sequential(nn.Linear(width, width), nn.Linear(width, 1))

def train():
    model(torch.ones(2, width)).sum().backward()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter -= 0.1 * parameter.grad
--- test
before = model[1].bias.item()
train()
assert abs(before - model[1].bias.item() - 0.2) < 1e-5
--- test
assert model(torch.ones(1, width)).shape == (1, 1)
"""


def test_a_students_model_that_its_gradients_put_over_the_limit_is_looked_at_by_a_grader(torch_grader, tmp_path):
    """The examiner went on with the weights of before the training, so a right answer was not equal and nobody knew."""
    exam = Exam(TRAINED, torch_grader, tmp_path)
    assert lost(exam.grade()) == {}
    outcome = exam.grade(exam.notebook.cells[1].source.replace("width = 64", "width = 4400"))
    assert [(one.kind, one.doubt, one.tests) for one in outcome.doubts] == [
        ("refused_size", True, ("test-2", "test-3"))
    ]
    assert "of at most 128 MB" in wording.reason(outcome.checks["test-2"][0])


DIFFERENTIATED = """
--- given
import torch
import torch.autograd.forward_ad as forward_ad
--- answer
def derivatives(f, x, e=1e-2):
    x = x.double()
    return (f(x + e) - f(x - e)) / (2 * e), (f(x + e) - 2 * f(x) + f(x - e)) / e**2
--- test
first, second = derivatives(lambda x: x**3, torch.tensor(2.0))
assert abs(first - 12) < 0.01 and abs(second - 12) < 0.01
--- right
def derivatives(f, x):
    first = torch.func.grad(f)
    return first(x), torch.func.grad(first)(x)
--- right
def derivatives(f, x):
    with forward_ad.dual_level():
        first = forward_ad.unpack_dual(f(forward_ad.make_dual(x, torch.ones(())))).tangent
    return first, 6 * x
--- right
def derivatives(f, x):
    x = x.clone().requires_grad_()
    (first,) = torch.autograd.grad(f(x), x, create_graph=True)
    return first, torch.autograd.grad(first, x)[0]
"""


@pytest.mark.parametrize(
    ("way", "what"), [(0, "a tensor of torch.func"), (1, "a tensor with a tangent"), (2, "a second derivative")]
)
def test_an_answer_that_has_pytorch_differentiate_a_tests_function_is_looked_at_by_a_grader(
    way, what, torch_grader, tmp_path
):
    """The reason was an unknown number, or an odd error of PyTorch's, and nobody was asked."""
    exam = Exam(DIFFERENTIATED, torch_grader, tmp_path)
    outcome = exam.grade(exam.variants[way].answers)
    (result,) = outcome.checks["test-2"]
    assert [(one.kind, one.doubt) for one in outcome.doubts] == [("refused_crossing", True)]
    assert what in wording.reason(result) and "cannot pass between processes" in wording.reason(result)


def test_a_first_derivative_with_a_graph_is_the_librarys_own(torch_grader, tmp_path):
    exam = Exam(DIFFERENTIATED, torch_grader, tmp_path)
    answer = """
def derivatives(f, x):
    x = x.clone().requires_grad_()
    (first,) = torch.autograd.grad(f(x), x, create_graph=True)
    assert first.requires_grad
    return first.detach(), 6 * x.detach()
"""
    assert lost(exam.grade(answer)) == {}


def test_a_solution_over_the_limit_says_so(torch_grader, tmp_path):
    exam = Exam(LARGE.replace("width=64", "width=4200"), torch_grader, tmp_path)
    (sentence,) = exam.examination.single_process_sentences().values()
    assert (
        "134 MB of new weights and gradients are larger than 134217728 bytes" in sentence and lost(exam.grade()) == {}
    )


def test_a_number_belongs_to_a_tensor_and_not_to_its_address():
    """A training that returned its loss with the history: a layer made afterwards had the address of a tensor that was
    gone, and got its number."""
    import torch

    from viva_ml.torch.torchsharing import TorchSharing

    class Link:
        examining = False

    sharing = TorchSharing(Link())
    sharing.take({"histories": [[57, torch.ones(2), []]]})
    history = sharing.resolve(57, None) * 2  # keeps the history, and not the tensor itself
    sharing.recent, address = [], id(sharing.resolve(57, None))
    weights: list = []
    while len(weights) < 1000 and (not weights or id(weights[-1]) != address):
        weights.append(torch.ones(2, requires_grad=True))
    assert id(weights[-1]) == address and history.requires_grad
    assert sharing.refer(weights[-1]) != 57


SYMBOLIC = """
--- given
import numpy as np
import sympy as sp
--- answer
def slope(n): return float(n) ** 2
def roots(a, b, c):
    d = (b * b - 4 * a * c) ** 0.5
    return [(-b - d) / (2 * a), (-b + d) / (2 * a)]
def count(n): return 2 * n
def ratio(a, b): return a / b
--- test
### CHECK 1: a
assert abs(slope(3) - 9) < 1e-9
### CHECK 1: b
r = sorted(roots(1, -3, 2))
assert np.allclose(r, [1, 2])
### CHECK 1: c
assert count(3) == 6
### CHECK 1: d
assert abs(ratio(1, 3) - 1/3) < 1e-12
assert np.isclose(ratio(1, 2), 0.5)
--- right
x = sp.Symbol("x")
def slope(n): return (x ** 2).subs(x, n)
def roots(a, b, c): return sp.solve(a * x ** 2 + b * x + c, x)
def count(n): return sp.Integer(2) * n
def ratio(a, b): return sp.Float(a) / b
--- right
import mpmath
def slope(n): return mpmath.mpf(n) ** 2
def roots(a, b, c): return [complex(r).real for r in np.roots([a, b, c])]
def count(n): return np.int8(2 * n)
def ratio(a, b): return sp.Rational(a, b)
--- wrong
def slope(n): return sp.Integer(8)
def roots(a, b, c): return [sp.Symbol("x"), sp.Symbol("y")]
def count(n): return sp.Float(6.5)
def ratio(a, b): return sp.Rational(b, a)
"""


def test_a_number_of_sympy_is_a_number_where_the_solution_gives_one(torch_grader, tmp_path):
    """PyTorch brings SymPy. A right answer that solves by symbols lost all points, as its numbers are objects."""
    Exam(SYMBOLIC, torch_grader, tmp_path).prove()
