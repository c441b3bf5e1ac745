"""Times and spans as people write them, and days across a change of clocks."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest

from viva import clock
from viva.course.deadlines import moment
from viva.verdict import CourseError

BERLIN = ZoneInfo("Europe/Berlin")


def utc(*numbers: int) -> datetime:
    return datetime(*numbers, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-10-05 23:59", utc(2026, 10, 5, 21, 59)),
        (" 2026-10-05T23:59:30 ", utc(2026, 10, 5, 21, 59, 30)),
        ("2026-12-05 23:59", utc(2026, 12, 5, 22, 59)),
        ("2026-10-05 23:59 America/New_York", utc(2026, 10, 6, 3, 59)),
        ("2026-10-05 23:59 UTC", utc(2026, 10, 5, 23, 59)),
        ("2026-10-05 23:59+05:30", utc(2026, 10, 5, 18, 29)),
        ("2026-10-05 23:59 CEST", utc(2026, 10, 5, 21, 59)),
        ("2026-10-05T23:59Z", utc(2026, 10, 5, 23, 59)),
        (datetime(2026, 10, 5, 23, 59), utc(2026, 10, 5, 21, 59)),
        (datetime(2026, 10, 5, 23, 59, tzinfo=timezone(timedelta(hours=-7))), utc(2026, 10, 6, 6, 59)),
        # Half past two comes twice on that night; the later one is meant, in favour of the student.
        ("2026-10-25 02:30", utc(2026, 10, 25, 1, 30)),
        # And never on this one.
        ("2026-03-29 02:30", utc(2026, 3, 29, 1, 30)),
    ],
)
def test_a_time_is_read_with_its_own_zone_or_that_of_the_course(text, expected):
    assert moment.parse(text, BERLIN) == expected


@pytest.mark.parametrize(
    "text", ["", "tomorrow", "2026-10-05", "05.10.2026 23:59", "2026-13-05 10:00", "23:59", None, 5, "0001-01-01 00:00"]
)
def test_what_is_no_time_is_refused_with_how_to_write_one(text):
    with pytest.raises(CourseError, match=r"is not a date and time\. Write it as 2026-10-05 23:59"):
        moment.parse(text, BERLIN)


@pytest.mark.parametrize("name", ["Berlin", "", "../../etc/passwd", "/etc/passwd", "Europe", "Mars/Olympus\0"])
def test_what_is_no_zone_is_refused(name):
    with pytest.raises(CourseError, match="There is no time zone"):
        clock.zone_of(name)
    if name.isalpha() and name != "Europe":
        with pytest.raises(CourseError, match="There is no time zone 'Berlin'"):
            moment.parse("2026-10-05 23:59 Berlin", BERLIN)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("15 minutes", timedelta(minutes=15)),
        ("1 hour", timedelta(hours=1)),
        ("1.5 hours", timedelta(minutes=90)),
        ("1 day 12 hours", timedelta(hours=36)),
        ("1 week, 1 day and 5 minutes", timedelta(days=8, minutes=5)),
        ("0 minutes", timedelta()),
        (timedelta(seconds=90), timedelta(seconds=90)),
    ],
)
def test_a_span_is_read_in_words(text, expected):
    assert moment.duration(text) == expected


@pytest.mark.parametrize("text", ["", "5", "soon", "5 parsecs", "1 day later", 5, None, timedelta(-1), "-1 day"])
def test_what_is_no_span_is_refused(text):
    with pytest.raises(CourseError, match="is not a time span"):
        moment.duration(text)


def test_a_day_ends_at_the_time_of_day_that_it_was_due_whatever_the_clocks_did():
    autumn, spring = moment.parse("2026-10-24 23:59", BERLIN), moment.parse("2026-03-28 23:59", BERLIN)
    assert moment.after_days(autumn, 1, BERLIN) - autumn == timedelta(hours=25)
    assert moment.after_days(spring, 1, BERLIN) - spring == timedelta(hours=23)
    assert moment.after_days(autumn, 0, BERLIN) == autumn
    assert moment.local(moment.after_days(spring, 3, BERLIN), BERLIN) == "2026-03-31 23:59"


@pytest.mark.parametrize(
    ("due", "at", "days"),
    [
        ("2026-10-24 23:59", "2026-10-24 23:59", 0),
        ("2026-10-24 23:59", "2026-10-24 23:59:00.000001", 1),
        ("2026-10-24 23:59", "2026-10-25 23:59", 1),  # 25 hours later
        ("2026-10-24 23:59", "2026-10-25 23:59:01", 2),
        ("2026-03-28 23:59", "2026-03-29 23:59", 1),  # 23 hours later
        ("2026-03-28 23:59", "2026-03-30 00:00", 2),  # 23 hours and a minute later
        ("2026-03-28 02:30", "2026-03-29 03:30", 1),  # half past two is left out, and half past three stands for it
        ("2026-03-28 02:30", "2026-03-29 03:31", 2),
        ("2026-10-24 02:30", "2026-10-25 02:30", 1),  # the second time that it is half past two
        ("2026-01-01 12:00", "2027-01-01 12:00", 365),
        ("2026-01-01 12:00", "2027-01-01 12:01", 366),
    ],
)
def test_days_begun_are_counted_by_the_clock_on_the_wall(due, at, days):
    assert moment.days_begun(moment.parse(due, BERLIN), moment.parse(at, BERLIN), BERLIN) == days


def test_seconds_are_told_where_there_are_some():
    assert moment.local(utc(2026, 10, 5, 21, 59), BERLIN) == "2026-10-05 23:59"
    assert moment.local(utc(2026, 10, 5, 21, 59, 7), BERLIN) == "2026-10-05 23:59:07"
