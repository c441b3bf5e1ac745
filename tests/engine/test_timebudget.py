"""Which code of a submission gets less time, or none, after something did not finish."""

from __future__ import annotations

import math

import pytest

from viva.engine.outcome import CheckReport
from viva.engine.timebudget import LEAST, MOST_STRIKES, Spent, TimeBudget, allowance, budget
from viva.record import Note, note
from viva.verdict import Verdict

SOURCES = ("def loop():\n    while True: pass", "def caller():\n    return loop()", "def other():\n    return 1")


def judged(known: TimeBudget, asked: str, interrupted: bool = True, verdict=Verdict.TIMEOUT, **more) -> CheckReport:
    report = CheckReport("sums", verdict, "theirs", "E", None, asked=asked, **more)
    known.judge(report, interrupted, 9.0)
    return report


@pytest.fixture
def known():
    return TimeBudget(100.0, SOURCES)


def test_a_notebook_has_the_most_of_what_it_may_need():
    assert [budget([1, 2], 1), budget([1, 20], 1), budget([1, 2], 30)] == [LEAST, 120, 150]


def test_a_step_has_its_limit_or_what_is_left_and_then_nothing(known):
    assert (known.granted(30), known.granted(300)) == (30, 100)
    known.spend(100)
    with pytest.raises(Spent) as spent:
        known.granted(1)
    assert spent.value.cause == Note("no_time_left", amount=100)
    assert TimeBudget().cause == Note("no_time_left")


def test_a_check_has_the_rest_of_its_cells_limit_and_at_least_a_tenth(known):
    limits = allowance(10, known, spent=2)
    assert next(limits) == 8
    known.spend(9)
    assert next(limits) == 1


def test_what_was_running_is_slow_then_and_what_uses_it(known):
    assert (known.limit("caller()", 60), known.words()) == (60, {})
    known.suspect(["loop", "sum"], 9)
    assert known.words() == {"slow": ["caller", "loop"], "given_up": []}
    assert [known.limit(source, 60) for source in ("caller()", "other()", "other(", "loop()")] == [2, 60, 60, 2]
    assert (known.short(6), known.short(0.5)) == (1, 0.5)
    everything = TimeBudget(100.0, SOURCES)
    everything.suspect_all("caller()", 9)
    assert everything.slow == {"caller", "loop"}


def test_the_cause_says_what_did_not_finish_before(known):
    causes = [judged(known, asked).cause for asked in ("", "loop", "loop", "caller", "other")]
    before = [Note("before_itself", amount=9), note("before_other", "loop", amount=9)]
    assert causes == [
        Note("unfinished_code", amount=9),
        note("unfinished", "loop", amount=9),
        note("unfinished_again", "loop", amount=9, because=before[0]),
        note("unfinished_again", "caller", amount=9, because=before[1]),
        note("unfinished", "other", amount=9),
    ]


def test_a_function_that_does_not_finish_some_times_is_called_no_more(known):
    for strike in range(MOST_STRIKES):
        assert known.hopeless("loop()") is None, strike
        judged(known, "loop", verdict=Verdict.ERROR)
    reason = Verdict.TIMEOUT, note("not_called_again", "loop", because=Note("before_itself", amount=9))
    assert (known.hopeless("loop()"), known.hopeless("other()")) == (reason, None)
    told = judged(known, "loop", interrupted=False)
    assert (told.verdict, told.cause) == reason
    replayed = TimeBudget(100.0, SOURCES)
    replayed.replaying = True
    for _ in range(MOST_STRIKES):
        judged(replayed, "loop")
        judged(replayed, "loop", interrupted=False, verdict=Verdict.KILLED, died=True)
    assert not replayed.given_up


def test_one_that_could_not_be_interrupted_is_called_no_more_nor_is_what_uses_it(known):
    judged(known, "loop", died=True)
    assert known.words() == {"slow": ["caller", "loop"], "given_up": ["caller", "loop"]}
    judged(known, "other", died=True, running=["caller"])
    assert "other" in known.given_up


def test_one_that_ends_its_process_twice_is_called_no_more(known):
    for times in range(2):
        assert "loop" not in known.given_up, times
        judged(known, "loop", interrupted=False, verdict=Verdict.KILLED, died=True)
        judged(known, "", interrupted=False, verdict=Verdict.KILLED, died=True)
        judged(known, "other", interrupted=False, verdict=Verdict.KILLED)
    assert known.given_up == {"loop": (Verdict.KILLED, note("ended_twice", "loop"))}


def test_a_timeout_that_no_limit_explains_is_the_students_own(known):
    report = judged(known, "loop", interrupted=False)
    assert (report.verdict, report.exception, report.raised_by) == (Verdict.ERROR, "KeyboardInterrupt", "student")
    assert judged(known, "loop", interrupted=False, verdict=Verdict.FAILED).reason == "theirs"


@pytest.mark.parametrize(("total", "once", "left"), [(100.0, False, 100.0), (100.0, True, 9.0), (5.0, True, 5.0)])
def test_where_somebody_waits_the_rest_gets_as_long_as_the_first_that_did_not_finish(total, once, left):
    known = TimeBudget(total, SOURCES, once)
    judged(known, "loop")
    assert known.left == left
    known.stop("other", 1.0)
    assert known.left == left, "the second one has less time, and takes none from the others"
    assert known.cause == (note("not_tried", "loop", amount=9) if once else Note("no_time_left", amount=100))
    assert math.isinf(TimeBudget().left)
