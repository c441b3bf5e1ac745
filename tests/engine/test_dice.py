"""Random numbers where nobody seeds: the same for everybody and each time, and known to nobody."""

from __future__ import annotations

import random

import numpy as np
import pytest

from tests.oral import Exam, lost
from viva.verdict import Verdict

TOLD = """
--- given
import random
import numpy as np
{given}
--- answer
def one(): return {one}
--- test
{test}
assert one() == 1, repr((random.random(), float(np.random.rand())))
--- test
assert one() == 1, repr((random.random(), float(np.random.rand())))
"""
WRONG = "def one(): return 2"
ASIDE = f"import random, numpy as np\nrandom.seed(3); np.random.seed(3)\n{WRONG}"


def drawn(exam: Exam, answer: str) -> list[str]:
    """What the test cells drew, by their messages."""
    return [results[0].reason for results in exam.grade(answer).checks.values()]


def as_of(seed: int) -> str:
    return repr((random.Random(seed).random(), float(np.random.RandomState(seed).rand())))


def test_where_nobody_seeds_a_test_draws_the_same_for_all_students_and_nobody_knows_what(grader, tmp_path):
    exam = Exam(TOLD.format(given="", one=1, test=""), grader, tmp_path)
    first, second = drawn(exam, WRONG)
    assert [first, second] == drawn(exam, WRONG) == drawn(exam, ASIDE)
    assert len({first, second, as_of(0), as_of(3)}) == 4
    other = Exam(TOLD.format(given="", one="2 - 1", test=""), grader, tmp_path)
    assert not {first, second} & set(drawn(other, WRONG)), "the solution is part of the secret"


def test_random_numbers_of_read_only_cells_are_the_same_in_both_processes_and_no_known_ones(grader, tmp_path):
    text = """
--- given
import random
table = [random.random() for _ in range(5)]
--- answer
shown = list(table)
--- wrong
import random
shown = [random.Random(0).random() for _ in range(5)]
--- test
assert shown == table
"""
    exam = Exam(text, grader, tmp_path)
    exam.prove()


@pytest.mark.parametrize("given", ["random.seed(7)", "np.random.seed(7); random.seed(7)"])
def test_where_a_cell_above_seeds_the_numbers_follow_from_that(given, grader, tmp_path):
    exam = Exam(TOLD.format(given=given, one=1, test=""), grader, tmp_path)
    first, _ = drawn(exam, WRONG)
    assert first.split(",")[0] == as_of(7).split(",")[0]
    assert (first == as_of(7)) == ("np" in given)


def test_a_seed_that_no_text_shows_is_followed_where_the_solution_needs_it(grader, tmp_path):
    text = f"""
--- given
import numpy as np
getattr(np.random, "se" + "ed")(5)
--- answer
def same(x): return x
--- wrong
def same(x): return 0
--- test
assert same(np.random.rand()) == {np.random.RandomState(5).rand()!r}
"""
    exam = Exam(text, grader, tmp_path)
    assert lost(exam.grade()) == {}
    assert exam.check("def same(x): return 0").verdict is Verdict.FAILED
