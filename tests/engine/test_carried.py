"""A slip costs once: below an answer that lost points, others are examined with the solution's."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.oral import Exam, read_tables
from viva.engine.carried import plan
from viva.record import CARRIED

TABLES = read_tables(Path(__file__).with_name("carried.txt"))
EXAMS = TABLES[""]

SOFTMAX, WEIGHTS, ATTEND, CHOICE, SLOPE, BEND = (f"answer-{number}" for number in (1, 3, 5, 7, 9, 11))
SLIP = "def softmax(scores): return np.abs(scores) / np.sum(np.abs(scores) + 1e-9)"
TWO = {"numbers", "softmax again"}
OF_SOFTMAX = {"weights": ("softmax",), "attend": ("softmax",), "zeros": ("softmax",)}


@pytest.fixture(scope="module")
def exam(grader, tmp_path_factory):
    exam = Exam(EXAMS["exam"], grader, tmp_path_factory.mktemp("carried"))
    assert carried(exam, {}) == (set(), {}) and not exam.examination.inside
    return exam


def carried(exam, answers):
    """The checks that a submission loses, and those that are right with other names, with these."""
    outcome = exam.grader.grade(exam.answered(answers), exam.examination, exam.data, carry=True)
    assert outcome.faults == []
    results = [result for results in outcome.checks.values() for result in results]
    return (
        {result.title for result in results if result.earned < result.points},
        {one.title: one.cause.names for one in results if one.cause and one.cause.kind == CARRIED},
    )


SLIPS = {
    "a wrong function": SLIP,
    "one that is not done": "def softmax(scores): raise NotImplementedError()",
    "a syntax error": "def softmax(scores: return 1",
    "nothing": "",
}


def test_the_variable_of_a_loop_is_no_answer(exam):
    notebook = exam.answered({WEIGHTS: "weights = [0, 0]"})
    outcome = exam.grader.grade(notebook, exam.examination)
    assert plan(outcome, notebook, exam.examination) is None
    attend = "def attend(scores, values): return weights @ values"
    notebook = exam.answered({WEIGHTS: "weights = [0, 0]", ATTEND: attend})
    carry = plan(exam.grader.grade(notebook, exam.examination), notebook, exam.examination)
    assert carry.names[WEIGHTS] == ("weights",)


@pytest.mark.parametrize("slip", SLIPS.values(), ids=SLIPS)
def test_a_slip_costs_its_own_answer_and_no_other(exam, slip):
    assert carried(exam, {SOFTMAX: slip}) == (TWO if slip == SLIP else TWO | {"sum"}, OF_SOFTMAX)


def test_functions_of_the_students_own_cross_to_the_solution_and_back(exam):
    assert carried(exam, {SLOPE: "def slope(f, x): return f(x + 1)"}) == ({"slope"}, {"bend": ("slope",)})


def test_an_answer_that_lost_points_for_another_alone_stays_the_students(exam):
    """``attend`` is right with a right ``softmax``; so what uses it later is examined with the student's own."""
    mine = "def attend(scores, values): return sum(w * v for w, v in zip(softmax(scores), values))"
    assert carried(exam, {SOFTMAX: SLIP, ATTEND: mine}) == (TWO, OF_SOFTMAX)


def test_a_helper_of_the_wrong_cell_stays(exam):
    own = "def power(x): return np.exp(x)\ndef softmax(scores): return power(scores)"
    use = "def attend(scores, values): return power(scores) / power(scores).sum() @ values"
    assert "attend" not in carried(exam, {SOFTMAX: own, ATTEND: use})[0]
    wrong = own.replace("np.exp", "np.exp2")
    assert {"attend"} <= carried(exam, {SOFTMAX: wrong, ATTEND: use})[0]


def test_nothing_runs_again_where_no_slip_can_have_cost_twice(exam):
    for answers in ({}, {BEND: "def bend(f, x): return 0"}, {SOFTMAX: SLIP, WEIGHTS: "", ATTEND: ""}):
        notebook = exam.answered(answers)
        outcome = exam.grader.grade(notebook, exam.examination)
        assert plan(outcome, notebook, exam.examination) is None, answers


ATTACKS = TABLES["attacks"]


@pytest.mark.parametrize("attack", ATTACKS.values(), ids=ATTACKS)
def test_who_is_wrong_on_purpose_gets_no_more_than_the_answer_is_worth(exam, attack):
    lost, right = carried(exam, {SOFTMAX: SLIP, ATTEND: attack})
    assert lost & {"attend", "zeros"} and right.keys() <= {"weights"}


def test_a_choice_is_no_answer_that_depends_on_another(exam):
    guess = 'choice = "b" if np.isclose(softmax([0.0, np.log(3)])[0], 0.25) else "a"'
    assert carried(exam, {SOFTMAX: SLIP, CHOICE: guess}) == (TWO | {"choice"}, OF_SOFTMAX)


def test_the_wrong_answer_earns_nothing_under_another_name_or_in_another_cell(exam):
    again = "softmax = softmax\ndef attend(scores, values): return softmax(scores) @ values"
    assert carried(exam, {SOFTMAX: SLIP, ATTEND: again}) == (TWO, OF_SOFTMAX)


def test_a_solution_that_runs_text_as_code_is_not_carried(exam):
    cells = exam.examination.blueprint.cells
    cells = tuple(replace(cell, source=f"eval(text)\n{cell.source}") if cell.id == SLOPE else cell for cell in cells)
    examination = replace(exam.examination, blueprint=replace(exam.examination.blueprint, cells=cells))
    notebook = exam.answered({SOFTMAX: SLIP})
    outcome = exam.grader.grade(notebook, exam.examination)
    assert plan(outcome, notebook, exam.examination) and plan(outcome, notebook, examination) is None


def test_what_never_ends_in_the_solution_or_cannot_cross_changes_nothing(grader, tmp_path):
    exam = Exam(EXAMS["others"], grader, tmp_path, viva={"seconds": 2})
    slip = "def steps(n): return []\ndef countdown(n): return 0"
    endless = "def total(n): return countdown(-1)"
    assert carried(exam, {"answer-0": slip, "answer-2": endless}) == ({"steps", "total"}, {})
    assert carried(exam, {"answer-0": slip})[0] == {"steps"}
    assert carried(exam, {}) == (set(), {})


def test_all_names_of_a_wrong_answer_become_the_solutions_also_those_that_only_hidden_lines_use(grader, tmp_path):
    """As the values of ps5, of which a visible line shows only the first."""
    exam = Exam(EXAMS["of hidden lines"], grader, tmp_path)
    assert carried(exam, {"answer-0": "one = 3\nother = 4"}) == ({"one", "other"}, {"total": ("one", "other")})
