"""The course's rules as nbgrader_config.py says them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from traitlets.config import Config

from viva.course.deadlines.policy import DailyPenalty, LatePolicy
from viva.verdict import CourseError

DAY = timedelta(days=1)


def policy(**settings: object) -> LatePolicy:
    return LatePolicy(config=Config(LatePolicy=settings))


def test_an_assignment_has_the_courses_rule_but_for_what_it_says_otherwise():
    rules = policy(
        zone="Europe/Berlin",
        per_day=0.2,
        floor=0.5,
        grace="5 minutes",
        assignments={
            "ps1": {"due": "2026-10-05 23:59", "grace": "1 hour", "close": "1 week", "late_days": 1},
            "ps2": {"steps": {"1 day": 0.2, "1 hour": 0.05}, "of": "cap", "decimals": 0},
            "ps3": {"per_hour": 0.01},
        },
    )
    one = rules.terms("ps1")
    assert one.due == datetime(2026, 10, 5, 21, 59, tzinfo=UTC) and one.late_days == 1
    assert (one.rule.per_day, one.rule.floor, one.rule.grace, one.rule.close) == (0.2, 0.5, DAY / 24, 7 * DAY)
    two = rules.terms("ps2").rule
    assert (two.per_day, two.steps, two.of, two.decimals) == (0, ((DAY / 24, 0.05), (DAY, 0.2)), "cap", 0)
    three = rules.terms("ps3").rule
    assert (three.per_day, three.per_hour, three.steps) == (0, 0.01, ())
    assert rules.terms("ps4") == policy(per_day=0.2, floor=0.5, grace="5 minutes").terms("ps4")


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"zone": "Berlin"}, "There is no time zone 'Berlin'"),
        ({"grace": "a bit"}, "c.LatePolicy has an invalid 'grace': 'a bit' is not a time span"),
        ({"steps": {"1 hour": 2}}, "c.LatePolicy has an invalid 'steps': 2 is not a number from 0 to 1"),
        ({"steps": {"1 hour": 0.5, "1 day": 0.1}}, "the penalty must not become smaller with more time"),
        ({"steps": {"1 hour": "0.5"}}, "'0.5' is not a number from 0 to 1"),
        ({"close": "never"}, "c.LatePolicy has an invalid 'close': 'never' is not a date and time"),
        ({"assignments": {"ps1": {"per_day": 10}}}, r"c.LatePolicy.assignments\['ps1'\] has an invalid 'per_day'"),
        (
            {"assignments": {"ps1": {"due": "5 October"}}},
            r"\['ps1'\] has an invalid 'due': '5 October' is not a " r"date and time",
        ),
        ({"assignments": {"ps1": {"dew": "2026-10-05 23:59"}}}, "there is no setting 'dew'"),
        ({"assignments": {"ps1": {"of": "marks"}}}, "'marks' is not one of score, maximum, cap"),
        ({"assignments": {"ps1": {"late_days": -1}}}, "-1 is not a number of days"),
        ({"assignments": {"ps1": {"decimals": True}}}, "must be 0 to 9, not True"),
        ({"assignments": {"ps1": "2026-10-05 23:59"}}, "is not a dictionary of settings"),
        (
            {"assignments": {"ps9": {}}},
            "names 'ps9', which is not an assignment of the course. The assignments are: ps1",
        ),
    ],
)
def test_what_is_no_setting_is_refused_in_a_sentence_that_says_where_it_stands(settings, sentence):
    with pytest.raises(CourseError, match=sentence):
        policy(**settings).check(["ps1"])


def test_what_a_course_said_before_there_were_policies_still_holds():
    assert LatePolicy(config=Config(DailyPenalty={"per_day": 0.5})).terms("ps1").rule.per_day == 0.5


def test_nbgraders_own_setting_that_nothing_late_counts_still_holds():
    rules = LatePolicy(config=Config(LateSubmissionPlugin={"penalty_method": "zero"}))
    assert rules.terms("ps1").rule.per_day == 1 and rules.late_submission_penalty("anna", 7.0, 1) == 7


def test_another_rule_is_tried_for_some_assignments_and_leaves_the_policy_as_it_is():
    rules = policy(per_day=0.2, assignments={"ps1": {"steps": {"1 hour": 0.5}, "floor": 0.1}})
    other = rules.otherwise(["ps1"], {"per_day": 0.05}, budget=2)
    assert (other.terms("ps1").rule.per_day, other.terms("ps1").rule.steps) == (0.05, ())
    assert other.terms("ps1").rule.floor == 0.1 and other.budget == 2
    assert other.terms("ps2") == rules.terms("ps2")
    assert rules.terms("ps1").rule.steps and rules.budget == 0
    with pytest.raises(CourseError, match="has an invalid 'per_day'"):
        rules.otherwise(["ps1"], {"per_day": 7})


@pytest.mark.parametrize("plugin", [DailyPenalty(per_day=0.1), LatePolicy(per_day=0.1)])
@pytest.mark.parametrize(
    ("seconds", "penalty"), [(0, 0), (-5, 0), (1, 2), (86400, 2), (86401, 4), (9.5 * 86400, 20), (400 * 86400, 20)]
)
def test_nbgraders_own_question_is_answered_by_days(plugin, seconds, penalty):
    assert plugin.late_submission_penalty("anna", 20.0, seconds) == pytest.approx(penalty)


def test_nothing_is_charged_that_the_configuration_does_not_ask_for():
    assert policy().terms("ps1").rule.costs is False
    assert policy().late_submission_penalty("anna", 7.0, 3 * 86400) == 0
    policy().check([])


@pytest.mark.parametrize(
    "settings", [{"per_day": 0.1}, {"close": "1 week"}, {"assignments": {"ps1": {"per_hour": 0.1}}}]
)
def test_a_configuration_that_says_none_and_charges_is_refused(settings):
    rules = LatePolicy(config=Config(LateSubmissionPlugin={"penalty_method": "none"}, LatePolicy=settings))
    with pytest.raises(CourseError, match="has two rules for late submissions"):
        rules.check(["ps1"])


def test_a_configuration_that_says_none_and_names_due_times_is_taken():
    settings = {"assignments": {"ps1": {"due": "2026-10-05 23:59"}}}
    LatePolicy(config=Config(LateSubmissionPlugin={"penalty_method": "none"}, LatePolicy=settings)).check(["ps1"])
