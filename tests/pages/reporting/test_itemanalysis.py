"""Numbers about checks, against values worked out by hand."""

from __future__ import annotations

import math

import pytest

from viva.pages.reporting.itemanalysis import FEWEST, discrimination, group, items, without_numbers
from viva.record import CARRIED, CheckResult, Note, NotebookRecord, SubmissionRecord
from viva.verdict import Verdict


def result(title: str, earned: float, reason: str = "") -> CheckResult:
    """A result of a check of one point."""
    verdict = Verdict.PASSED if earned else Verdict.FAILED
    return CheckResult(title, 1, verdict, earned=earned, reason=reason, seconds=0.01)


def record(*checks: tuple | CheckResult, notebook: str = "nb") -> SubmissionRecord:
    """A record with one grade cell; each check is (title, earned of one point, reason) or a whole result."""
    rows = [check if isinstance(check, CheckResult) else result(*check) for check in checks]
    return SubmissionRecord("ps", "anna", notebooks={notebook: NotebookRecord(checks={"tests": rows})})


def test_a_discrimination_worked_by_hand():
    # The means are 8/3 and 1, three of five pass, the variance of 3, 2, 3, 1, 1 is 4/5.
    taken = [(True, 3.0), (True, 2.0), (True, 3.0), (False, 1.0), (False, 1.0)]
    assert discrimination(taken)[0] == pytest.approx((8 / 3 - 1) / math.sqrt(4 / 5) * math.sqrt(3 / 5 * 2 / 5))


def test_a_check_is_correlated_with_the_rest_and_not_with_itself():
    class_of = [record(("a", a), ("b", b)) for a, b in [(1, 1), (1, 0), (0, 1), (0, 0), (1, 1), (0, 0)]]
    first, _ = items(class_of)
    # Of those who pass a, two of three pass b; of the others, one of three.
    assert first.discrimination == pytest.approx(1 / 3)


@pytest.mark.parametrize(
    ("taken", "why"),
    [
        ([(True, 1.0), (True, 2.0)] * 5, "all pass"),
        ([(False, 1.0), (False, 2.0)] * 5, "all fail"),
        ([(True, 1.0), (False, 1.0)] * 5, "all other scores are the same"),
        ([(True, 1.0), (False, 0.0)], f"fewer than {FEWEST} submissions"),
        ([], f"fewer than {FEWEST} submissions"),
    ],
)
def test_where_there_is_no_discrimination_a_sentence_says_why(taken, why):
    assert discrimination(taken) == (None, why)


def test_who_passed_with_right_answers_above_is_counted_beside_who_passed():
    carried = CheckResult("a", 1, Verdict.PASSED, 1, cause=Note(CARRIED, names=("softmax",)))
    (item,) = items([record(carried), record(("a", 1)), record(("a", 0))])
    assert (item.passed, item.carried, item.taken) == (2, 1, 3)


def test_rates_times_and_marks():
    checks = [(("easy", 1), ("hard", 0, "no"), ("odd", wrong, "no")) for wrong in (0, 0, 1, 1, 1)]
    easy, hard, odd = items(record(*each, ("rest", 1 - each[2][1])) for each in checks)[:3]
    assert (easy.rate, hard.rate, odd.rate) == (1, 0, 0.6)
    assert easy.marks == ["all students pass"]
    assert "all students fail" in hard.marks
    assert odd.discrimination == pytest.approx(-1)
    assert "students who pass it have fewer points elsewhere" in odd.marks
    assert easy.seconds == 0.01


def test_who_earns_a_part_has_not_passed_and_counts_as_much_as_was_earned():
    part = CheckResult("a", 2, Verdict.PARTLY, 1, cause=Note("credit", names=("1", "2")))
    others = {2: CheckResult("a", 2, Verdict.PASSED, 2), 1: part, 0: CheckResult("a", 2, Verdict.FAILED, reason="No.")}
    (item, _) = items(record(others[share], ("b", share / 2)) for share in (2, 1, 1, 0, 2))
    assert (item.taken, item.passed, item.partly, item.rate) == (5, 2, 2, 0.4)
    assert item.discrimination == pytest.approx(1)
    assert [(one.verdict, one.reason, one.students) for one in item.mistakes] == [
        ("partly right", "the test gave 1 of 2 points", 2),
        ("failed", "No.", 1),
    ]
    assert item.marks == []
    (item, _) = items(record(part, ("b", share)) for share in (1, 0, 1, 0, 1))
    assert (item.undefined, item.marks) == ("all have the same score", [])


def test_an_ungraded_check_counts_neither_way():
    ungraded = CheckResult("a", 1, Verdict.UNGRADED, reason="ours")
    (item,) = items([record(ungraded), record(("a", 1))])
    assert (item.taken, item.passed, item.mistakes) == (1, 1, [])


def test_wrong_results_that_differ_in_numbers_are_one():
    reasons = ["Row 0 sums to 3.", "Row 1 sums to 2.5.", "Row 0 sums to 3.", "X has shape (3, 4)", "X has shape (2, 4)"]
    row, shape = group([result("a", 0, reason) for reason in reasons])
    assert (row.reason, row.students, row.same) == ("Row 0 sums to 3.", 3, 2)
    assert (shape.students, shape.same) == (2, 1)
    assert without_numbers("[1. 2.5 -3e-7], x_1, 0x7f3a") == "[#], x_1, #"


def test_a_wrong_result_that_is_common_is_marked_but_no_untouched_answer():
    wrong = [record(("a", 0, "The rows sum to 2.")) if n % 2 else record(("a", 1)) for n in range(10)]
    undone = CheckResult("a", 1, Verdict.FAILED, undone=["a"])
    blank = [record(undone) if n % 2 else record(("a", 1)) for n in range(10)]
    assert "one wrong result is common" in items(wrong)[0].marks
    assert items(blank)[0].marks == []
    assert items(blank)[0].mistakes[0].undone


def test_nothing_was_graded():
    assert items([]) == []
