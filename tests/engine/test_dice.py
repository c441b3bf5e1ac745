"""Random numbers where nobody seeds: the same for everybody and each time, and known to nobody."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest

from tests.oral import Exam, lost, read_exams
from viva.verdict import Verdict

EXAMS = read_exams(Path(__file__).with_name("dice.txt"))
WRONG = "def one(): return 2"
ASIDE = f"import random, numpy as np\nrandom.seed(3); np.random.seed(3)\n{WRONG}"


def drawn(exam: Exam, answer: str) -> list[str]:
    """What the test cells drew, by their messages."""
    return [results[0].reason for results in exam.grade(answer).checks.values()]


def as_of(seed: int) -> str:
    return repr((random.Random(seed).random(), float(np.random.RandomState(seed).rand())))


def test_where_nobody_seeds_a_test_draws_the_same_for_all_students_and_nobody_knows_what(grader, tmp_path):
    exam = Exam(EXAMS["told"].format(given="", one=1, test=""), grader, tmp_path)
    first, second = drawn(exam, WRONG)
    assert [first, second] == drawn(exam, WRONG) == drawn(exam, ASIDE)
    assert len({first, second, as_of(0), as_of(3)}) == 4
    other = Exam(EXAMS["told"].format(given="", one="2 - 1", test=""), grader, tmp_path)
    assert not {first, second} & set(drawn(other, WRONG)), "the solution is part of the secret"


def test_random_numbers_of_read_only_cells_are_the_same_in_both_processes_and_no_known_ones(grader, tmp_path):
    Exam(EXAMS["a table that is drawn"], grader, tmp_path).prove()


@pytest.mark.parametrize("given", ["random.seed(7)", "np.random.seed(7); random.seed(7)"])
def test_where_a_cell_above_seeds_the_numbers_follow_from_that(given, grader, tmp_path):
    exam = Exam(EXAMS["told"].format(given=given, one=1, test=""), grader, tmp_path)
    first, _ = drawn(exam, WRONG)
    assert first.split(",")[0] == as_of(7).split(",")[0]
    assert (first == as_of(7)) == ("np" in given)


def test_a_seed_that_no_text_shows_is_followed_where_the_solution_needs_it(grader, tmp_path):
    text = EXAMS["a seed that no text shows"].format(number=np.random.RandomState(5).rand())
    exam = Exam(text, grader, tmp_path)
    assert lost(exam.grade()) == {}
    assert exam.check("def same(x): return 0").verdict is Verdict.FAILED


LIBRARIES = {
    "random": ("random.seed(42)", "random.random()", random.Random(42).random()),
    "numpy": ("np.random.seed(42)", "float(np.random.rand(3)[0])", float(np.random.RandomState(42).rand())),
}


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_read_only_cell_draws_what_a_plain_run_draws_whatever_failed_above_it(library, grader, tmp_path):
    """A public course: the cell asks for a name that a failed test did not bind, and the right answer below lost."""
    seed, draw, number = LIBRARIES[library]
    exam = Exam(EXAMS["a cell that draws"].format(seed=seed, draw=draw, number=number), grader, tmp_path)
    exam.prove()
    for failing in ("def f(x): raise NotImplementedError", "def f(x): return None", "def f(x): ..."):
        outcome = exam.grade({"answer-1": failing})
        assert lost(outcome).keys() == {("test-2", "test-2")} == lost(exam.grade({"answer-1": failing}, True)).keys()


@pytest.mark.parametrize("library", LIBRARIES)
def test_who_draws_for_himself_above_a_read_only_cell_finds_his_own_numbers_in_the_tests(library, grader, tmp_path):
    seed, draw, _ = LIBRARIES[library]
    Exam(EXAMS["an answer that draws for itself"].format(seed=seed, draw=draw), grader, tmp_path).prove()


CHOSEN = {
    "zeros of NumPy's": "np.random.set_state(('MT19937', np.zeros(624, np.uint32), 3))",
    "half of them": "np.random.set_state(('MT19937', np.r_[np.zeros(312), np.arange(312)].astype(np.uint32), 3))",
    "zeros of Python's": "random.setstate((3, (0,) * 624 + (3,), None))",
    "a spare number of NumPy's": "np.random.set_state((*np.random.get_state()[:3], 1, 0.0))",
    "a spare number of Python's": "random.setstate((*random.getstate()[:2], 0.0))",
    "a seed that makes one": "random.seed(1 << 10**4)",
}


@pytest.mark.parametrize("chosen", CHOSEN)
def test_a_state_that_an_answer_made_up_is_not_drawn_from(chosen, grader, tmp_path):
    exam = Exam(EXAMS["a state that an answer makes up"], grader, tmp_path)
    setting = f"def f(x):\n    {CHOSEN[chosen]}\n    return "
    assert exam.check(f"{setting}0 * x").verdict is Verdict.FAILED
    assert exam.check(f"{setting}3 * x").verdict is Verdict.PASSED


KEPT = {
    "a seed in the answer": "np.random.seed(5); random.seed('five')",
    "a list of seeds": "np.random.seed([1, 2]); random.seed(2.5)",
    "a seed by its name": "np.random.seed(seed=np.int64(5)); random.seed(a=5)",
    "a state that is put back": "s, t = np.random.get_state(), random.getstate()\n    np.random.seed(0)\n"
    "    random.seed(0); np.random.rand(700), random.randbytes(5000), np.random.set_state(s), random.setstate(t)",
    "much drawn": "np.random.rand(10**6); random.randbytes(10**6); np.random.randn(3); random.gauss(0, 1)",
}


def test_where_a_right_answer_seeds_or_draws_the_test_goes_on_as_in_one_process(grader, tmp_path):
    exam = Exam(EXAMS["an answer that seeds or draws"], grader, tmp_path)
    for doing in KEPT.values():
        answer = f"def f():\n    {doing}\n    return 3"
        split, alone = (exam.grade(answer, alone).checks["test-2"][0].reason for alone in (False, True))
        assert split == alone, doing
