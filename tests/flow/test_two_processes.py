"""Every known answer, graded by candidate and examiner, loses exactly the checks that it names."""

from __future__ import annotations

import pytest

from tests.flow.test_known_answers import ANSWERS, notebooks
from viva import wording
from viva.author.answers import fill_in
from viva.verdict import Verdict

ONE_IN = 15
"""So many of the answers are graded by `make test`, more by `make proofs`, and all of them by `make audit`."""


@pytest.mark.parametrize(
    ("assignment", "answer"),
    [
        pytest.param(
            *pair,
            id=f"{pair[0]}-{pair[1].path.parent.name}-{pair[1].name}",
            marks=[pytest.mark.slow] if place % ONE_IN else [],
        )
        for place, pair in enumerate(ANSWERS)
        if place % 5 == 0
    ],
)
def test_a_known_answer_loses_the_same_checks_in_two_processes(grader, examination, assignment, answer):
    blueprint, release = notebooks(assignment)
    expected = set() if answer.right else answer.lost_checks(blueprint)
    graded = grader.grade(fill_in(answer, release, blueprint), examination(assignment))
    assert graded.faults == []
    lost = {
        (cell, result.title): f"{result.verdict}: {wording.reason(result)}"
        for cell, results in graded.checks.items()
        for result in results
        if result.verdict is not Verdict.PASSED
    }
    assert set(lost) == expected, lost
    assert graded.integrity == [] or not answer.right
