"""A slip costs once: below an answer that lost points, others are examined with the solution's."""

from __future__ import annotations

import pytest

from tests.oral import Exam, lost

EXAM = """
--- given
import numpy as np
scores = [1.0, 2.0]
--- answer
def softmax(scores):
    powers = np.exp(np.array(scores))
    return powers / powers.sum()
--- test
### CHECK 1: sum
assert np.isclose(sum(softmax([1.0, 2.0])), 1)
### CHECK 1: numbers
assert np.allclose(softmax([0.0, np.log(3)]), [0.25, 0.75])
--- answer
weights = softmax(scores)
--- test
### CHECK 1: weights
assert np.allclose(weights, np.exp(scores) / np.sum(np.exp(scores)))
--- answer
def attend(scores, values):
    return softmax(scores) @ values
--- test
### CHECK 1: attend
assert np.isclose(attend([0.0, np.log(3)], np.array([4.0, 8.0])), 7)
### CHECK 1: softmax again
### BEGIN HIDDEN TESTS
assert np.allclose(softmax([0.0, 0.0]), [0.5, 0.5])
assert np.allclose(softmax([0.0, np.log(3)]), [0.25, 0.75])
### END HIDDEN TESTS
"""
SLIP = "def softmax(scores): return np.array(scores) / np.sum(scores)"


@pytest.fixture(scope="module")
def exam(grader, tmp_path_factory):
    exam = Exam(EXAM, grader, tmp_path_factory.mktemp("carried"))
    assert lost(exam.grade()) == {} and not exam.examination.inside
    return exam


def carried(exam, answers):
    """The checks that an answer loses, and the names with which others are right."""
    outcome = exam.grader.grade(exam.answered(answers), exam.examination, carry=True)
    assert outcome.faults == []
    results = [result for results in outcome.checks.values() for result in results]
    return (
        {result.title for result in results if result.earned < result.points},
        {result.title: result.carried for result in results if result.carried},
    )


def test_a_slip_costs_its_own_answer_and_no_other(exam):
    print(lost(exam.grade(SLIP)))
    assert carried(exam, SLIP) == (
        {"numbers", "softmax again"},
        {"weights": ["softmax"], "attend": ["softmax"]},
    )
