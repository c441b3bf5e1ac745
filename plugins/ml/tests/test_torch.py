"""A course in PyTorch is graded in two processes as in one: what the tests see are tensors and modules."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.oral import Exam, lost, read_tables
from viva import wording
from viva.pages.explanation import Explainer
from viva.pages.hidden import Hidden

TABLES = read_tables(Path(__file__).with_name("torch.txt"))
EXAMS, WAYS = TABLES[""], TABLES["ways"]
pytest.importorskip("torch")
pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("torch"), pytest.mark.timeout(900)]


@pytest.mark.parametrize("way", WAYS)
def test_a_course_in_pytorch_is_graded_in_two_processes_as_in_one(way, torch_grader, tmp_path):
    Exam(WAYS[way], torch_grader, tmp_path).prove()


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
    exam = Exam(EXAMS["compared"], torch_grader, tmp_path)
    assert not exam.examination.inside and exam.check().verdict.value == "passed"
    assert exam.check(answer).verdict.value in ("failed", "error")


DIFFERENCES = {
    "x ** 2": ("values", "1 of 2 entries differ, at (0,): 1.0 and 2.0"),
    "(2 * x).view(1, 2)": ("shapes", "Shapes (1, 2) and (2,)"),
}


@pytest.mark.parametrize("wrong", DIFFERENCES)
def test_a_comparison_that_fails_says_what_differs(wrong, torch_grader, tmp_path):
    result = Exam(EXAMS["wrong"], torch_grader, tmp_path).check(f"def double(x):\n    return {wrong}\n")
    what, how = DIFFERENCES[wrong]
    first, second = result.reason.splitlines()
    assert first == f"Tensors differ in their {what}." and how in second
    cells = {"answer": "def double(x): pass"}
    explainer = Explainer(cells, "", (), Hidden())
    assert explainer.explain(result, visible=False).sentence == first
    assert how in explainer.explain(result, visible=True).sentence


def test_a_comparison_explains_no_assertion_but_its_own(torch_grader, tmp_path):
    exam = Exam(EXAMS["elsewhere"], torch_grader, tmp_path)
    reasons = [result.reason for result in exam.grade(exam.variants[0].answers).checks[exam.tests[0]]]
    assert [reason.partition("\n")[0] for reason in reasons] == ["", "", "Tensors differ in their values."]


def test_weights_that_a_test_did_not_hand_over_are_not_written(torch_grader, tmp_path):
    exam = Exam(EXAMS["reached"], torch_grader, tmp_path)
    assert exam.check().verdict.value == exam.check(EXAMS["writes"]).verdict.value == "passed"


def test_of_a_courses_test_cells_only_the_one_that_patches_runs_in_the_students_process(torch_grader, tmp_path):
    exam = Exam(EXAMS["a course"], torch_grader, tmp_path)
    (patched,) = (cell for cell in exam.notebook.cells if cell.id in exam.examination.inside)
    assert patched.source.startswith("# patched\n")
    assert lost(exam.grade()) == {}


def test_a_loader_of_a_test_asks_a_students_data_set_for_no_example(torch_grader, tmp_path):
    """Two questions for each example made a training of eight epochs six times as long."""
    exam = Exam(EXAMS["nested"], torch_grader, tmp_path)
    assert not exam.examination.inside and lost(exam.grade()) == {}


def test_a_students_model_over_the_limit_is_looked_at_by_a_grader(torch_grader, tmp_path):
    exam = Exam(EXAMS["large"], torch_grader, tmp_path)
    outcome = exam.grade(exam.notebook.cells[1].source.replace("Model()", "Model(4200)"))
    (result,) = outcome.checks["test-2"]
    assert [(one.kind, one.doubt, one.tests) for one in outcome.doubts] == [("refused_size", True, ("test-2",))]
    assert "values and models of at most 128 MB" in wording.reason(result)
    assert "at most 128 MB" in Explainer({"answer-1": ""}, "", (), Hidden()).explain(result, visible=True).sentence


def test_a_students_model_that_its_gradients_put_over_the_limit_is_looked_at_by_a_grader(torch_grader, tmp_path):
    """The examiner went on with the weights of before the training, so a right answer was not equal and nobody knew."""
    exam = Exam(EXAMS["trained"], torch_grader, tmp_path)
    assert lost(exam.grade()) == {}
    outcome = exam.grade(exam.notebook.cells[1].source.replace("width = 64", "width = 4400"))
    assert [(one.kind, one.doubt, one.tests) for one in outcome.doubts] == [
        ("refused_size", True, ("test-2", "test-3"))
    ]
    assert "of at most 128 MB" in wording.reason(outcome.checks["test-2"][0])


@pytest.mark.parametrize(
    ("way", "what"), [(0, "a tensor of torch.func"), (1, "a tensor with a tangent"), (2, "a second derivative")]
)
def test_an_answer_that_has_pytorch_differentiate_a_tests_function_is_looked_at_by_a_grader(
    way, what, torch_grader, tmp_path
):
    """The reason was an unknown number, or an odd error of PyTorch's, and nobody was asked."""
    exam = Exam(EXAMS["differentiated"], torch_grader, tmp_path)
    outcome = exam.grade(exam.variants[way].answers)
    (result,) = outcome.checks["test-2"]
    assert [(one.kind, one.doubt) for one in outcome.doubts] == [("refused_crossing", True)]
    assert what in wording.reason(result) and "cannot pass between processes" in wording.reason(result)


def test_a_first_derivative_with_a_graph_is_the_librarys_own(torch_grader, tmp_path):
    exam = Exam(EXAMS["differentiated"], torch_grader, tmp_path)
    answer = """
def derivatives(f, x):
    x = x.clone().requires_grad_()
    (first,) = torch.autograd.grad(f(x), x, create_graph=True)
    assert first.requires_grad
    return first.detach(), 6 * x.detach()
"""
    assert lost(exam.grade(answer)) == {}


def test_a_solution_over_the_limit_says_so(torch_grader, tmp_path):
    exam = Exam(EXAMS["large"].replace("width=64", "width=4200"), torch_grader, tmp_path)
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


def test_a_number_of_sympy_is_a_number_where_the_solution_gives_one(torch_grader, tmp_path):
    """PyTorch brings SymPy. A right answer that solves by symbols lost all points, as its numbers are objects."""
    Exam(EXAMS["symbolic"], torch_grader, tmp_path).prove()
