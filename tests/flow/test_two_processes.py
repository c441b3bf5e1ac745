"""Known answers, graded as in this course by candidate and examiner, lose exactly the checks that they name."""

from __future__ import annotations

import pytest

from tests.flow.test_known_answers import ANSWERS, notebooks
from tests.mangling import as_utf8
from viva import wording
from viva.submission.cells.places import Released
from viva.submission.cells.repair import repair
from viva.submission.files.salvage import read
from viva.verdict import Verdict
from viva_audit.answers import fill_in

ONE = 200
"""This answer is graded by `make test`, right ones of each assignment by `make proofs`, and all by `make audit`,
which does not ask for facts about integrity."""


@pytest.mark.parametrize(
    ("assignment", "answer"),
    [
        pytest.param(
            *pair,
            id=f"{pair[0]}-{pair[1].path.parent.name}-{pair[1].name}",
            marks=[pytest.mark.slow] if place != ONE else [],
        )
        for place, pair in enumerate(ANSWERS)
        if place == ONE or (place % 10 == 0 and pair[1].right)
    ],
)
def test_a_known_answer_loses_exactly_the_checks_it_names(grader, examination, assignment, answer):
    blueprint, release = notebooks(assignment)
    expected = set() if answer.right else answer.lost_checks(blueprint)
    graded = grader.grade(fill_in(answer, release, blueprint), examination(assignment), carry=True)
    assert graded.faults == []
    lost = {
        (cell, result.title): f"{result.verdict}: {wording.reason(result)}"
        for cell, results in graded.checks.items()
        for result in results
        if result.verdict is not Verdict.PASSED
    }
    assert set(lost) == expected, lost
    assert graded.integrity == [] or not answer.right


PROBING = """def softmax_backward(d_A, S):
    d_S, moved = np.zeros(S.shape), S.astype(complex)
    for place in np.ndindex(S.shape):
        moved[place] += 1e-30j
        d_S[place] = np.sum(d_A * softmax(moved)).imag / 1e-30
        moved[place] = S[place]
    return d_S"""


@pytest.mark.slow
def test_who_probes_each_number_in_place_of_deriving_does_not_come_to_an_end(grader, examination, monkeypatch):
    """Complex steps are exact to the last digit: nine lines earned all of the old ps8 without any derivation."""
    assignment = "ps9_backward"
    _, release = notebooks(assignment)
    (solution,) = (one for name, one in ANSWERS if name == assignment and one.path.stem == "second_term_forgotten")
    handed_in = fill_in(solution, release, examination(assignment).blueprint)
    for cell in handed_in.cells:
        cell.source = PROBING if cell.id == "softmax_backward" else cell.source
    monkeypatch.setattr(grader, "seconds", 10.0)
    graded = grader.grade(handed_in, examination(assignment))
    verdicts = {(cell, one.title): one.verdict for cell, results in graded.checks.items() for one in results}
    lost = {name: verdict for name, verdict in verdicts.items() if verdict is not Verdict.PASSED}
    assert lost["test_softmax_backward", "both terms"] is Verdict.TIMEOUT
    assert {cell for cell, _ in lost} == {"test_softmax_backward"}


@pytest.mark.slow
def test_test_cells_that_a_student_deleted_are_put_back_with_the_lines_that_those_below_use(grader, examination):
    assignment, answer = next((name, one) for name, one in ANSWERS if name == "ps5_sentence" and one.right)
    blueprint, release = notebooks(assignment)
    handed_in = fill_in(answer, release, blueprint)
    handed_in.cells = [
        cell for cell in handed_in.cells if not cell.id.startswith("test_") or cell.id == "test_matrices"
    ]
    result = repair(read(as_utf8(handed_in))[0], Released(release))
    assert "not_handed_in" in {repair.kind for repair in result.repairs}
    graded = grader.grade(result.notebook, examination(assignment))
    verdicts = {one.verdict for results in graded.checks.values() for one in results}
    assert graded.faults == [] and verdicts == {Verdict.PASSED}
