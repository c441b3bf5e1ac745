"""Times and durations as people write them, and days that begin at a time of day.

A day is a calendar day of the local clock: after a deadline at 23:59, a submission is one day late until 23:59 of the
next day, also when the clocks were changed in between and it took 23 or 25 hours. Hours are hours that pass. Where
a time of day comes twice, or not at all, the later moment is meant, in favour of the student.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from viva import clock
from viva.verdict import CourseError

UNITS = {"minute": timedelta(minutes=1), "hour": timedelta(hours=1), "day": timedelta(days=1), "week": timedelta(7)}
DAY = UNITS["day"]
LONGEST = 36525 * DAY
_DURATION = re.compile(rf"(\d+(?:\.\d+)?)\s*({'|'.join(UNITS)})s?", re.IGNORECASE)


def parse(text: str | datetime, zone: ZoneInfo) -> datetime:
    """A moment in UTC, from text such as ``2026-10-05 23:59``; ``zone`` counts where the text names none.

    Raises CourseError for what is not a date with a time of day.
    """
    try:
        moment = text if isinstance(text, datetime) else clock.parse(text, [zone.key])
        if moment.tzinfo is None or isinstance(moment.tzinfo, ZoneInfo):
            return _later(moment.replace(tzinfo=None), moment.tzinfo or zone)
        return moment.astimezone(UTC)
    except OverflowError as error:
        raise CourseError(f"'{text}' is not a time between the years 1970 and 2200.") from error


def duration(text: str | timedelta) -> timedelta:
    """How long ``5 minutes``, ``1 day 12 hours`` or ``1 week`` are, up to LONGEST. Raises CourseError."""
    try:
        span = text if isinstance(text, timedelta) else _span(str(text))
        if timedelta() <= span <= LONGEST:
            return span
    except (ValueError, OverflowError):
        pass
    raise CourseError(f"'{text}' is not a time span. Write it as 15 minutes, 2 hours, 3 days or 1 week.")


def _span(text: str) -> timedelta:
    """Raises ValueError for what is not a time span, and OverflowError."""
    amounts, rest = _DURATION.findall(text), re.sub(r"\band\b|[\s,]", "", _DURATION.sub("", text))
    if rest or not amounts:
        raise ValueError(text)
    return sum((float(number) * UNITS[unit.lower()] for number, unit in amounts), timedelta())


def after_days(moment: datetime, days: int, zone: ZoneInfo) -> datetime:
    """The moment with the same time of day, so many days later in a zone; in UTC."""
    if not days:
        return moment
    local = moment.astimezone(zone).replace(tzinfo=None, fold=0)
    return _later(local + timedelta(days=days), zone)


def days_begun(due: datetime, at: datetime, zone: ZoneInfo) -> int:
    """How many days have begun between two moments: 0 until ``due``, 1 until its time of day on the next day, ..."""
    if at <= due:
        return 0
    days = max(1, (at - due) // DAY - 1)  # a change of clocks is less than a day
    while after_days(due, days, zone) < at:
        days += 1
    return days


def local(moment: datetime, zone: ZoneInfo) -> str:
    """A moment as people of a zone write it; seconds only where there are some."""
    local_time = moment.astimezone(zone)
    return local_time.strftime("%Y-%m-%d %H:%M:%S" if local_time.second else "%Y-%m-%d %H:%M")


def _later(naive: datetime, zone: ZoneInfo) -> datetime:
    """The moment in UTC of a time of day that may come twice, or not at all."""
    return max(naive.replace(tzinfo=zone, fold=fold).astimezone(UTC) for fold in (0, 1))
