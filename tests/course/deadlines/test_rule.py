"""What lateness costs, against examples that were reckoned by hand."""

from __future__ import annotations

from datetime import timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from viva import wording
from viva.course.deadlines import moment
from viva.course.deadlines.rule import Delivery, Reckoning, Rule, reckon

BERLIN = ZoneInfo("Europe/Berlin")
HOUR, DAY = timedelta(hours=1), timedelta(days=1)
DUE = moment.parse("2026-10-05 23:59", BERLIN)


def reckoned(rule: Rule, late: timedelta | str, score: float = 16.0, most: float = 20.0, **more) -> Reckoning:
    at = moment.parse(late, BERLIN) if isinstance(late, str) else DUE + late
    budget = more.pop("budget", 0)
    return reckon([Delivery("a", DUE, at, score, most, **more)], {"a": rule}, BERLIN, budget)["a"]


CANVAS = Rule(per_day=0.1, of="maximum", floor=0.4)
HOURLY = Rule(per_hour=0.01, of="maximum")
MOODLE = Rule(steps=((HOUR, 0.05), (DAY, 0.2), (7 * DAY, 0.5)), of="maximum")
PRAIRIELEARN = Rule(steps=((DAY, 0.1), (7 * DAY, 0.5)), of="cap")
AUTOLAB = Rule(per_day=0.15, grace=timedelta(minutes=15))


@pytest.mark.parametrize(
    ("rule", "late", "score", "left"),
    [
        (Rule(per_day=0.1), timedelta(), 16, 16),
        (Rule(per_day=0.1), -DAY, 16, 16),
        (Rule(per_day=0.1), timedelta(microseconds=1), 16, 14.4),
        (Rule(per_day=0.1), DAY, 16, 14.4),
        (Rule(per_day=0.1), DAY + timedelta(seconds=1), 16, 12.8),
        (Rule(per_day=0.1), 9.5 * DAY, 16, 0),
        (Rule(per_day=0.1), 400 * DAY, 16, 0),
        (Rule(per_day=0), 400 * DAY, 16, 16),
        (CANVAS, DAY, 16, 14),  # 16 less 10 % of 20
        (CANVAS, 3 * DAY, 16, 10),
        (CANVAS, 5 * DAY, 16, 8),  # 16 - 10 = 6, but 40 % of 20 are left in any case
        (CANVAS, 5 * DAY, 7, 7),  # who has less than the floor keeps it
        (HOURLY, HOUR, 16, 15.8),
        (HOURLY, HOUR + timedelta(seconds=1), 16, 15.6),
        (HOURLY, 200 * HOUR, 16, 0),
        (MOODLE, HOUR, 16, 15),
        (MOODLE, HOUR + timedelta(seconds=1), 16, 12),
        (MOODLE, 3 * DAY, 16, 6),
        (MOODLE, 30 * DAY, 16, 6),  # past the last step as the last
        (PRAIRIELEARN, HOUR, 16, 16),  # 18 can be had
        (PRAIRIELEARN, HOUR, 20, 18),
        (PRAIRIELEARN, 2 * DAY, 16, 10),
        (PRAIRIELEARN, 2 * DAY, 9, 9),
        (AUTOLAB, timedelta(minutes=15), 16, 16),
        (AUTOLAB, timedelta(minutes=15, seconds=1), 16, 13.6),
        (AUTOLAB, DAY, 16, 13.6),
        (AUTOLAB, DAY + timedelta(minutes=10), 16, 11.2),  # grace is no part of a day
        (Rule(per_day=0.5, floor=0.25), 9 * DAY, 16, 4),
        (Rule(steps=((DAY, 0.0), (2 * DAY, 0.5))), DAY, 16, 16),
        (Rule(per_day=0.1), HOUR, 0, 0),
    ],
)
def test_the_rules_of_known_systems_come_to_what_their_documents_say(rule, late, score, left):
    assert reckoned(rule, late, score).left == pytest.approx(left, abs=1e-9)


@pytest.mark.parametrize(
    ("score", "per_day", "decimals", "left"),
    [
        (16.75, 0.1, 2, 15.08),  # 15.075
        (0.1, 0.1, 2, 0.09),
        (1.15, 0.5, 2, 0.58),  # 0.575, which as a float lies below
        (10, 1 / 3, 2, 6.67),
        (7, 0.15, 0, 6),  # 5.95
        (5, 0.1, 0, 5),  # 4.5, half a unit up
        (3.3333, 0.1, 2, 3.0),
        (0.004, 0.5, 2, 0.0),
        (0.006, 0.1, 2, 0.006),  # rounding up gives nobody more than they had
    ],
)
def test_what_is_left_is_rounded_half_a_unit_up_and_never_above_the_score(score, per_day, decimals, left):
    assert reckoned(Rule(per_day=per_day, decimals=decimals), HOUR, score).left == pytest.approx(left, abs=1e-9)


def test_nothing_counts_after_the_close_unless_the_student_had_more_time():
    rule = Rule(per_day=0, close=7 * DAY)
    assert reckoned(rule, 7 * DAY).penalty == 0
    assert reckoned(rule, 7 * DAY + timedelta(seconds=1)).penalty == 16
    fixed = Rule(per_day=0, close=moment.parse("2026-10-12 12:00", BERLIN))
    assert reckoned(fixed, "2026-10-12 12:00").penalty == 0
    assert reckoned(fixed, "2026-10-12 12:01").penalty == 16
    until = moment.parse("2026-10-20 12:00", BERLIN)
    assert reckoned(fixed, "2026-10-20 12:00", until=until).penalty == 0
    assert reckoned(fixed, "2026-10-20 12:01", until=until).penalty == 16


def test_a_close_some_days_later_has_the_time_of_day_that_it_was_due():
    rule = Rule(per_day=0, close=28 * DAY)  # the clocks were set back in between
    assert reckoned(rule, "2026-11-02 23:59").penalty == 0
    assert reckoned(rule, "2026-11-03 00:00").penalty == 16


def test_who_has_more_time_is_late_from_then_on():
    until = DUE + 3 * DAY
    assert reckoned(Rule(per_day=0.1), 3 * DAY, until=until).penalty == 0
    assert reckoned(Rule(per_day=0.1), 3 * DAY + HOUR, until=until).penalty == pytest.approx(1.6)


def test_free_late_days_are_spent_first_and_the_rule_counts_from_there():
    one = reckoned(Rule(per_day=0.1), 3 * DAY, budget=2)
    assert (one.budget, one.budget_left, one.number, one.penalty) == (2, 0, 1, pytest.approx(1.6))
    enough = reckoned(Rule(per_day=0.1), 3 * DAY, budget=5)
    assert (enough.budget, enough.budget_left, enough.penalty) == (3, 2, 0)


def test_a_free_late_day_has_the_grace_that_the_due_time_has():
    rule = Rule(per_day=0.1, grace=timedelta(minutes=15))
    assert reckoned(rule, DAY + timedelta(minutes=15), budget=5).budget == 1
    assert reckoned(rule, DAY + timedelta(minutes=16), budget=5).budget == 2
    assert reckoned(rule, timedelta(minutes=15), budget=5).budget == 0


def test_free_late_days_are_not_spent_on_what_costs_nothing_or_counts_nothing():
    assert reckoned(Rule(per_day=0), 3 * DAY, budget=5).budget == 0
    assert reckoned(Rule(per_day=0.1, close=DAY), 3 * DAY, budget=5).budget == 0


@pytest.mark.parametrize(
    ("rule", "late", "score", "budget", "spent"),
    [
        (Rule(per_day=0.1), DAY, 0.0, 3, 0),  # nothing to lose
        (CANVAS, 9 * DAY, 16.0, 2, 0),  # at the floor, with two days fewer too
        (CANVAS, 5 * DAY, 16.0, 2, 2),  # 8 are left of 16 - 10, and after two days 16 - 6
        (CANVAS, 9 * DAY, 7.0, 9, 0),  # below the floor
        (PRAIRIELEARN, DAY, 16.0, 3, 0),  # under the cap
        (PRAIRIELEARN, DAY, 20.0, 3, 1),
        (MOODLE, 30 * DAY, 16.0, 3, 0),  # beyond the last step
        (MOODLE, 3 * DAY, 16.0, 1, 0),  # the next step is two days away
        (MOODLE, 3 * DAY, 16.0, 2, 2),
        (Rule(per_day=0.1, decimals=0), DAY, 4.0, 3, 0),  # 3.6 is rounded to 4
        (Rule(per_day=0.4), 5 * DAY, 10.0, 2, 0),  # all is lost in three days
        (Rule(per_day=0.4), 5 * DAY, 10.0, 3, 3),
    ],
)
def test_free_late_days_are_spent_only_where_they_save_points(rule, late, score, budget, spent):
    with_days, without = reckoned(rule, late, score, budget=budget), reckoned(rule, late, score)
    assert (with_days.budget, with_days.budget_left) == (spent, budget - spent)
    assert (with_days.penalty < without.penalty) == bool(spent)
    assert with_days.spared == (not spent and without.penalty > 0)


def test_a_day_that_saves_nothing_is_there_for_the_next_assignment():
    due = {"a": DUE, "b": DUE + 7 * DAY}
    lost, kept = (Delivery(name, due[name], due[name] + DAY, score, 10) for name, score in (("a", 0), ("b", 10)))
    found = reckon([lost, kept], dict.fromkeys("ab", Rule(per_day=0.1)), BERLIN, 1)
    assert (found["a"].budget, found["b"].budget, found["b"].penalty) == (0, 1, 0)


def test_free_late_days_are_spent_in_the_order_in_which_things_are_due():
    rules = dict.fromkeys("abc", Rule(per_day=0.1))
    due = {"a": DUE, "b": DUE - 7 * DAY, "c": DUE + 7 * DAY}
    all_three = [Delivery(name, due[name], due[name] + 2 * DAY, 10, 10) for name in "abc"]
    found = reckon(all_three, rules, BERLIN, 3)
    assert {name: one.budget for name, one in found.items()} == {"b": 2, "a": 1, "c": 0}
    assert {name: one.left for name, one in found.items()} == {"b": 10, "a": 9, "c": 8}
    found = reckon(all_three, rules, BERLIN, 3, {"b": 0, "a": 1})
    assert {name: one.budget for name, one in found.items()} == {"b": 0, "a": 1, "c": 2}


def test_a_budget_day_across_the_change_of_clocks_is_one_day():
    due = moment.parse("2026-10-24 23:59", BERLIN)
    at = moment.parse("2026-10-25 23:59", BERLIN)
    one = reckon([Delivery("a", due, at, 10, 10)], {"a": Rule(per_day=0.1)}, BERLIN, 1)["a"]
    assert (at - due, one.budget, one.penalty) == (25 * HOUR, 1, 0)


RULES = st.builds(
    Rule,
    per_day=st.floats(0, 1),
    per_hour=st.sampled_from([0.0, 0.01, 0.3]),
    steps=st.sampled_from([(), ((HOUR, 0.05), (DAY, 0.9))]),
    of=st.sampled_from(["score", "maximum", "cap"]),
    floor=st.floats(0, 1),
    grace=st.sampled_from([timedelta(), HOUR]),
    close=st.sampled_from([None, 3 * DAY]),
)


@given(RULES, st.floats(0, 25), st.floats(0, 20 * 24), st.floats(0, 20 * 24), st.integers(0, 3))
def test_no_rule_gives_points_and_being_later_never_costs_less(rule, score, hours, more, budget):
    early = reckoned(rule, timedelta(hours=hours), score, budget=budget)
    late = reckoned(rule, timedelta(hours=hours + more), score, budget=budget)
    assert 0 <= early.penalty <= score + 1e-9
    assert late.penalty >= early.penalty - 1e-9
    assert early.penalty <= reckoned(rule, timedelta(hours=hours), score).penalty
    if early.budget:
        assert early.penalty < reckoned(rule, timedelta(hours=hours), score, budget=early.budget - 1).penalty


def test_the_arithmetic_is_told_as_it_was_done():
    one = reckoned(Rule(per_day=0.1, of="maximum", floor=0.5), "2026-10-08 10:00", 16.5, budget=1)
    assert wording.sentences(one.notes()) == [
        "2 days 10 hours 1 minute late: the deadline was 2026-10-05 23:59 (Europe/Berlin)",
        "1 free late day used, 0 left",
        "2 started days, 10 % each: 20 % of the maximum of 20 points = 4",
        "a late submission keeps at least 50 % of 20 points",
        "16.5 \u2212 4 = 12.5",
    ]


@pytest.mark.parametrize(
    ("one", "sentences"),
    [
        (reckoned(Rule(per_day=0.1), -HOUR), []),
        (reckoned(Rule(per_day=0.1, grace=HOUR), HOUR), ["no penalty up to 1 hour late"]),
        (reckoned(Rule(per_day=0), HOUR), ["no penalty"]),
        (
            reckoned(Rule(per_day=0.1, close=HOUR), 2 * HOUR),
            ["submissions after 2026-10-06 00:59 earn no points", "16 \u2212 16 = 0"],
        ),
        (
            reckoned(PRAIRIELEARN, HOUR),
            [
                "for submissions up to 1 day late: the highest possible score is 10 % lower, so it is 18 of 20 points",
                "no penalty",
            ],
        ),
        (
            reckoned(MOODLE, 30 * DAY),
            [
                "the clocks changed, but each late day still begins at the time of day of the deadline",
                "for submissions more than 7 days late: 50 % of the maximum of 20 points = 10",
                "16 \u2212 10 = 6",
            ],
        ),
        (
            reckoned(CANVAS, 9 * DAY, 16.0, budget=2),
            [
                "9 started days, 10 % each: 90 % of the maximum of 20 points = 18",
                "a late submission keeps at least 40 % of 20 points",
                "no free late day was used, because it would not save points here; 2 left",
                "16 \u2212 8 = 8",
            ],
        ),
        (reckoned(Rule(per_day=0.1), DAY, budget=2), ["1 free late day used, 1 left"]),
        (
            reckoned(HOURLY, HOUR, 0.0),
            ["1 started hour, 1 % each: 1 % of the maximum of 20 points = 0.2", "no penalty"],
        ),
    ],
)
def test_each_way_of_being_late_is_explained(one, sentences):
    assert wording.sentences(one.notes())[1:] == sentences


def test_who_had_more_time_is_told_so_even_when_on_time():
    one = reckoned(Rule(per_day=0.1), DAY, until=DUE + DAY)
    assert wording.sentences(one.notes(), wording.STUDENT) == ["you have an extension until 2026-10-06 23:59"]
    assert wording.sentences(one.notes()) == ["this student has an extension until 2026-10-06 23:59"]


@pytest.mark.parametrize(
    ("rule", "at", "budget", "left"),
    [
        (Rule(per_day=0.1), "2026-10-25 23:59", 0, 14.4),
        (Rule(per_day=0.1), "2026-10-26 00:00", 0, 12.8),
        (HOURLY, "2026-10-25 23:59", 0, 11),
        (CANVAS, "2026-10-29 23:59", 0, 8),
        (PRAIRIELEARN, "2026-10-25 12:00", 0, 16),
        (Rule(per_day=0.1), "2026-10-26 00:00", 1, 14.4),
    ],
)
def test_the_examples_of_the_documentation_are_right(rule, at, budget, left):
    due = moment.parse("2026-10-24 23:59", BERLIN)
    one = reckon([Delivery("a", due, moment.parse(at, BERLIN), 16, 20)], {"a": rule}, BERLIN, budget)["a"]
    assert one.left == pytest.approx(left)
