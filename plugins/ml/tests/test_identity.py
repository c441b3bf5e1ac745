"""A test of PyTorch code that changes one tensor and looks at another notices what the answer did not copy."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.oral import Exam, lost, read_exams

pytest.importorskip("torch")
pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("torch"), pytest.mark.timeout(900)]

GIVEN = """
--- given
import copy
import numpy as np
import torch
from torch import nn
"""
SHARED = read_exams(Path(__file__).with_name("identity.txt"))


@pytest.mark.parametrize("pattern", SHARED)
def test_an_answer_that_shares_what_it_should_copy_loses_its_check(pattern, torch_grader, tmp_path):
    exam = Exam(GIVEN + SHARED[pattern], torch_grader, tmp_path)
    assert lost(exam.grade()) == {}
    assert lost(exam.grade(exam.variants[0].answers)) != {}
