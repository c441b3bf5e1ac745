"""A test of PyTorch code that changes one tensor and looks at another notices what the answer did not copy."""

from __future__ import annotations

import pytest

from tests.oral import Exam, lost

pytest.importorskip("torch")
pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("torch"), pytest.mark.timeout(900)]

GIVEN = """
--- given
import copy
import numpy as np
import torch
from torch import nn
"""
NET = """class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(1, 1)
"""
AGENT = f"""{NET}class Agent:
    def __init__(self):
        self.net, self.target = Net(), Net()
    def sync(self):
"""
SHARED = {
    "a state that is kept": (
        "def keep(model): return {name: one.clone() for name, one in model.state_dict().items()}",
        "def keep(model): return model.state_dict()",
        "m = nn.Linear(1, 1)\nkept = keep(m)\nwith torch.no_grad(): m.weight.fill_(5)\n"
        "assert kept['weight'].item() != 5",
    ),
    "a state of the student's own model": (
        f"{NET}    def keep(self): return copy.deepcopy(self.state_dict())",
        f"{NET}    def keep(self): return self.state_dict()",
        "m = Net()\nkept = m.keep()\nwith torch.no_grad(): m.layer.weight.fill_(5)\n"
        "assert kept['layer.weight'].item() != 5",
    ),
    "what is detached": (
        "def freeze(x): return x.detach().clone()",
        "def freeze(x): return x.detach()",
        "x = torch.zeros(2, requires_grad=True)\ny = freeze(x)\nwith torch.no_grad(): x += 1\nassert y.sum() == 0",
    ),
    "what is detached, of a plain tensor": (
        "def freeze(x): return x.detach().clone()",
        "def freeze(x): return x.detach()",
        "x = torch.zeros(2)\ny = freeze(x)\nx += 1\nassert y.sum() == 0",
    ),
    "an array's memory": (
        "def tensor_of(a): return torch.tensor(a)",
        "def tensor_of(a): return torch.from_numpy(a)",
        "a = np.zeros(2)\nt = tensor_of(a)\na[0] = 5\nassert t[0] == 0",
    ),
    "a target network": (
        f"{AGENT}        self.target.load_state_dict(self.net.state_dict())",
        f"{AGENT}        for t, p in zip(self.target.parameters(), self.net.parameters()): t.data = p.data",
        "a = Agent()\na.sync()\nwith torch.no_grad(): a.net.layer.weight.fill_(5)\n"
        "assert a.target.layer.weight.item() != 5",
    ),
    "weights before and after a step": (
        f"{NET}    def weights(self): return self.layer.weight.detach().clone()\n"
        "    def step(self):\n        with torch.no_grad(): self.layer.weight += 1",
        f"{NET}    def weights(self): return self.layer.weight.detach()\n"
        "    def step(self):\n        with torch.no_grad(): self.layer.weight += 1",
        "m = Net()\nbefore = m.weights()\nm.step()\nassert not torch.equal(before, m.weights())",
    ),
    "a cached tensor": (
        "def grid(): return torch.zeros(3)",
        "kept = torch.zeros(3)\ndef grid(): return kept",
        "a, b = grid(), grid()\na += 1\nassert b.sum() == 0",
    ),
    "where the memory is": (
        "def same(x): return x.clone()",
        "def same(x): return x",
        "x = torch.ones(2)\nassert same(x).data_ptr() != x.data_ptr()",
    ),
    "layers with one weight": (
        "def heads(): return [nn.Linear(1, 1) for _ in range(2)]",
        "def heads(): return [nn.Linear(1, 1)] * 2",
        "a, b = heads()\nwith torch.no_grad(): a.weight.fill_(5)\nassert b.weight.item() != 5",
    ),
}


@pytest.mark.parametrize("pattern", SHARED)
def test_an_answer_that_shares_what_it_should_copy_loses_its_check(pattern, torch_grader, tmp_path):
    right, wrong, test = SHARED[pattern]
    exam = Exam(f"{GIVEN}--- answer\n{right}\n--- test\n{test}\n", torch_grader, tmp_path)
    assert lost(exam.grade()) == {}
    assert lost(exam.grade(wrong)) != {}
