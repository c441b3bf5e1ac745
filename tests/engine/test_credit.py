"""The last value of a test cell: it is partial credit where the solution's is, and else it says nothing."""

from __future__ import annotations

import decimal
import fractions

import numpy as np
import pandas as pd
import pytest

from tests.oral import Exam
from viva import wording
from viva.engine.credit import BEYOND, FULL, PART, judged, kind_of, result_of, result_of_text
from viva.verdict import Verdict

NUMBERS = {
    "3": (3, 3.0),
    "0.25": (0.25, 0.25),
    "np.float64(0.1)": (np.float64(0.1), 0.1),
    "np.float32(0.5)": (np.float32(0.5), 0.5),
    "np.int64(0)": (np.int64(0), 0.0),
    "np.True_": (np.True_, True),
    "False": (False, False),
    "array(1.5)": (np.array(1.5), 1.5),
    "array(2, dtype=int32)": (np.array(2, np.int32), 2.0),
    "array(True)": (np.array(True), True),
    "Fraction(1, 4)": (fractions.Fraction(1, 4), 0.25),
    "Decimal('1.5')": (decimal.Decimal("1.5"), 1.5),
    "np.longdouble('0.5')": (np.longdouble("0.5"), 0.5),
}
OTHERS = {
    "nan": float("nan"),
    "-inf": float("-inf"),
    "np.float64(nan)": np.float64("nan"),
    "Decimal('NaN')": decimal.Decimal("NaN"),
    "'3'": "3",
    "np.str_('3')": np.str_("3"),
    "[]": [],
    "[3]": [3],
    "array([3.])": np.array([3.0]),
    "array('3', dtype='<U1')": np.array("3"),
    "(3+0j)": 3 + 0j,
    "np.complex128(3+0j)": np.complex128(3),
    "<NA>": pd.NA,
    "NaT": pd.NaT,
    "masked": np.ma.masked,
    "np.timedelta64(3,'D')": np.timedelta64(3, "D"),
    "np.datetime64('2020')": np.datetime64("2020"),
    "Timedelta('3 days 00:00:00')": pd.Timedelta(3, "D"),
    "3_0": object(),
    "\N{ARABIC-INDIC DIGIT THREE}": object(),
    " 3": object(),
    "3\n": object(),
    "1e999": object(),
    "Fraction(1, 0)": object(),
    "": object(),
}


@pytest.mark.parametrize("shown", NUMBERS)
def test_a_number_is_read_whatever_library_it_comes_from(shown):
    value, wanted = NUMBERS[shown]
    for result in (result_of(value), result_of_text(shown)):
        assert result == wanted and isinstance(result, bool) == isinstance(wanted, bool)


@pytest.mark.parametrize("shown", OTHERS)
def test_what_is_no_number_is_none(shown):
    assert isinstance(result_of(OTHERS[shown]), str)
    assert isinstance(result_of_text(shown), str)


def test_no_value_is_too_large_or_too_long():
    assert result_of(10**5000) > 1e300 and result_of(-(10**5000)) < -1e300
    assert result_of(fractions.Fraction(10**5000, 3)) > 1e300
    for shown in ("1" * 10**6, "Fraction(" + "1" * 5000 + ", 3)", "'" + "x" * 10**6):
        assert len(result_of_text(shown)) < 100
    assert len(result_of("x" * 10**6)) < 100


def test_a_numbers_own_operators_are_not_asked_where_it_is_none():
    class Liar:
        __class__ = float

        def __float__(self):
            raise AssertionError("it was asked")

    assert isinstance(result_of(Liar()), str)
    assert isinstance(result_of(np.array(Liar(), dtype=object)), str)


@pytest.mark.parametrize(
    ("result", "kind"),
    [
        (3.0, FULL),
        (2.9999999999, FULL),
        (3.0000000001, FULL),
        (2.0, PART),
        (0.0, PART),
        (True, ""),
        (False, ""),
        (4.0, BEYOND),
        (-1.0, ""),
        ("the text 'ok'", ""),
        (None, ""),
    ],
)
def test_the_solutions_value_says_whether_it_is_partial_credit(result, kind):
    assert kind_of(result, 3.0) == kind


def test_a_truth_value_of_the_solutions_is_credit_where_it_is_all_points():
    assert [kind_of(result, points) for result in (True, False) for points in (1.0, 2.0)] == [FULL, "", "", ""]


@pytest.mark.parametrize(
    ("result", "earned"),
    [(3.0, 3), (2.9999999999, 3), (999.0, 3), (1.5, 1.5), (True, 1), (0.0, 0), (-1.0, 0), (1e-12, 0), ("nan", 0)],
)
def test_a_students_number_is_limited_to_the_points_and_earns_what_it_says(result, earned):
    verdict, points, cause = judged(result, 3.0)
    assert points == earned
    assert verdict == (Verdict.PASSED if earned == 3 else Verdict.PARTLY if earned else Verdict.FAILED)
    assert (cause is None) == (earned == 3)


CREDIT = {
    "np.float64(2)": 2,
    "np.float64(0.5)": 0.5,
    "np.int64(0)": 0,
    "np.array(1.0)": 1,
    "pd.Series([1, 0]).sum()": 1,
    "True": 1,
    "Fraction(1, 2)": 0.5,
    "Decimal('0.5')": 0.5,
    "999": 2,
    "-1": 0,
    "float('nan')": 0,
    "1 + 0j": 0,
    "'full'": 0,
    "[]": 0,
    "None": 0,
    "pd.NA": 0,
    "pd.Series([2.0])": 0,
    "print": 0,
    "Two()": 0,
    "Two": 0,
}
"""By what a student's function returns, where the solution's returns 2 of 2 points: what that earns."""
NOTHING = ["None", "[1, 2]", "'text'", "3", "-1", "True", "float('nan')"]
"""What a solution's last value may be that is no number of points."""
GIVEN = (
    "--- given\nimport numpy as np\nimport pandas as pd\nfrom decimal import Decimal\nfrom fractions import Fraction\n"
)
TWO = "class Two:\n    def __float__(self): return 2.0\n    def __repr__(self): return '2'\n"


@pytest.fixture(scope="module")
def exam(grader, tmp_path_factory) -> Exam:
    """A cell for each value of CREDIT, whose solution returns 2; then one for each of NOTHING; then no value."""
    pairs = [f"--- answer\ndef f{n}(): return 2\n--- test\n### CHECK 2: c\nf{n}()\n" for n in range(len(CREDIT))]
    pairs += [
        f"--- answer\ndef n{n}(): return {value}\n--- test\n### CHECK 2: n\nn{n}()\n" for n, value in enumerate(NOTHING)
    ]
    ends = ("q();", "print(q())", "display(q())", "x = q()")
    pairs += ["--- answer\ndef q(): return 2\n", *(f"--- test\n### CHECK 2: q\n{end}\n" for end in ends)]
    return Exam(GIVEN + "".join(pairs), grader, tmp_path_factory.mktemp("credit"))


def wrong(exam: Exam, value: str) -> dict[str, str]:
    """Every answer but those of CREDIT, returning a value."""
    answers = [cell for cell in exam.notebook.cells if cell.metadata.nbgrader.solution][len(CREDIT) :]
    return {cell.id: f"{cell.source.partition(':')[0]}: return {value}" for cell in answers}


@pytest.mark.parametrize("alone", [False, True], ids=["asked", "in the student's process"])
def test_where_the_solution_gives_a_number_of_points_a_students_value_counts_as_one(exam, alone):
    answers = [cell for cell in exam.notebook.cells if cell.metadata.nbgrader.solution]
    given = {
        cell.id: f"{TWO}def f{n}(): return {value}"
        for n, (cell, value) in enumerate(zip(answers, CREDIT, strict=False))
    }
    outcome = exam.grade(given, alone)
    known = [outcome.checks[test][0] for test in exam.tests[: len(CREDIT)]]
    if alone:  # who runs the test can show what they like, as they could print it
        known = [result for result, value in zip(known, CREDIT, strict=True) if not value.startswith("Two")]
    for result, (value, earned) in zip(known, CREDIT.items(), strict=False):
        assert result.earned == earned, value
        verdict = Verdict.PASSED if earned == 2 else Verdict.PARTLY if earned else Verdict.FAILED
        assert result.verdict is verdict, (value, wording.reason(result))
        assert earned == 2 or wording.reason(result), value


@pytest.mark.parametrize("value", ["999", "1", "0", "-1", "float('nan')", "'x'", "[]", "pd.NA"])
@pytest.mark.slow
def test_where_the_solution_gives_none_no_value_costs_or_earns_anything(exam, value):
    outcome = exam.grade(wrong(exam, value))
    rest = [outcome.checks[test][0] for test in exam.tests[len(CREDIT) :]]
    if value in ("[]", "pd.NA"):  # refused where a test looks at it, and print does; here no test but these looks
        rest = rest[: len(NOTHING) + 1] + rest[-1:]
    assert [(result.verdict, result.earned) for result in rest] == [(Verdict.PASSED, 2)] * len(rest)


def test_a_test_that_ends_in_a_push_asks_for_nothing_that_push_returns(grader, tmp_path):
    stack = (
        "class Stack:\n    def __init__(self): self.items = []\n    def push(self, x):\n        self.items.append(x)\n"
    )
    text = f"--- answer\n{stack}--- test\n### CHECK 3: push\ns = Stack()\ns.push(3)\nassert s.items == [3]\ns.push(4)\n"
    exam = Exam(text, grader, tmp_path)
    for returned in ("len(self.items)", "999", "-1", "self"):
        assert exam.check(f"{stack}        return {returned}").earned == 3


def test_the_sum_of_what_is_right_earns_a_part_though_it_is_numpys(grader, tmp_path):
    points = "### CHECK 2: both\npoints = (x == 4) + (y == 5)\nnp.float64(points)\n"
    exam = Exam(f"--- given\nimport numpy as np\n--- answer\nx, y = 4, 5\n--- test\n{points}", grader, tmp_path)
    assert [exam.check(f"x, y = {both}").earned for both in ("4, 5", "4, 6", "3, 6")] == [2, 1, 0]
    assert exam.check("x, y = 4, 6").word == "partly right"
