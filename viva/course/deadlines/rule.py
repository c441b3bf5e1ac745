"""What lateness costs in one assignment, as a rule; the known learning systems' rules are cases of it.

Canvas       per_day or per_hour, of="maximum", floor
Moodle 5     steps, of="maximum"
Autolab      per_day, grace, a budget of days
PrairieLearn steps, of="cap"
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from fractions import Fraction
from typing import Any
from zoneinfo import ZoneInfo

from viva.course.deadlines import moment
from viva.verdict import CourseError

OF = ("score", "maximum", "cap")
"""A share of the score, or of what can be had, is lost; or the score is capped at what is left of what can be had."""
HOUR = timedelta(hours=1)


@dataclass(frozen=True)
class Rule:
    """What lateness costs: ``steps`` if there are any, else ``per_hour`` if that is not 0, else ``per_day``.

    Nothing, where none of them is given.
    """

    per_day: float = 0.0
    per_hour: float = 0.0
    steps: tuple[tuple[timedelta, float], ...] = ()
    """Up to how late, what share is lost; later than the last costs as much as the last."""
    of: str = "score"
    floor: float = 0.0
    """The share that is left at least: of the score, or of what can be had where shares are of that."""
    grace: timedelta = timedelta()
    """Who is late by no more pays nothing; who is later is late from the due time on."""
    close: datetime | timedelta | None = None
    """From when on nothing counts: a moment, or so long after the due time."""
    decimals: int = 2
    """Scores less a penalty are rounded to so many digits, half a unit up."""

    @property
    def costs(self) -> bool:
        """Whether lateness costs anything before the close."""
        return any(share for _, share in self.steps) if self.steps else bool(self.per_hour or self.per_day)

    def closes(self, due: datetime, until: datetime, zone: ZoneInfo) -> datetime | None:
        """When nothing counts any more; ``until`` is the student's own due time, before which nothing closes."""
        if self.close is None:
            return None
        if isinstance(self.close, datetime):
            return max(self.close, until)
        days, rest = divmod(self.close, moment.DAY)
        return max(moment.after_days(due, days, zone) + rest, until)

    def share(self, due: datetime, at: datetime, zone: ZoneInfo) -> tuple[Fraction, int, str]:
        """What share of something is lost, from 0 to 1, by how many of what: ``days`` or ``hours`` begun, which
        ``step``, or ``beyond`` the last."""
        if at <= due:
            return Fraction(), 0, "days"
        if self.steps:
            within = [n for n, (limit, _) in enumerate(self.steps, 1) if at - due <= limit]
            number = within[0] if within else len(self.steps)
            return exact(self.steps[number - 1][1]), number, "step" if within else "beyond"
        if self.per_hour:
            hours = math.ceil((at - due) / HOUR)
            return min(Fraction(1), hours * exact(self.per_hour)), hours, "hours"
        days = moment.days_begun(due, at, zone)
        return min(Fraction(1), days * exact(self.per_day)), days, "days"

    def left(self, score: float, most: float, share: Fraction) -> Fraction:
        """The score less what a lost share takes, not rounded and never more than the score."""
        whole, can, floor = exact(score), exact(most), exact(self.floor)
        if self.of == "cap":
            return min(whole, can * max(floor, 1 - share))
        if self.of == "maximum":
            return max(min(whole, floor * can), whole - share * can, Fraction())
        return max(floor * whole, whole - share * whole)

    def rounded(self, value: Fraction) -> Fraction:
        """To ``decimals`` digits, half a unit up, which is in favour of who handed in."""
        unit = 10**self.decimals
        return Fraction(math.floor(value * unit + Fraction(1, 2)), unit)


def exact(number: float) -> Fraction:
    """A number as it is written: 0.1 is a tenth, which the float is not."""
    return Fraction(repr(float(number)))


def read(settings: Mapping[str, object], where: str, zone: ZoneInfo) -> dict[str, Any]:
    """Settings of a course as fields of a Rule. Raises CourseError for what is none, and says ``where`` it stands."""
    found: dict[str, Any] = {}
    for name, value in settings.items():
        try:
            found[name] = SETTINGS[name](value, zone)
        except KeyError:
            raise CourseError(
                f"{where} names '{name}', which is not a setting. The settings are: {', '.join(SETTINGS)}."
            ) from None
        except (CourseError, ValueError, TypeError) as error:
            raise CourseError(f"{where} has an invalid '{name}': {error}") from error
    return found


def _share(value: Any, _zone: ZoneInfo) -> float:
    share = float(value)
    if isinstance(value, str | bool) or not 0 <= share <= 1:
        raise ValueError(f"{value!r} is not a share from 0 to 1. Write 0.1 for a tenth.")
    return share


def _steps(value: Any, zone: ZoneInfo) -> tuple[tuple[timedelta, float], ...]:
    pairs = value.items() if isinstance(value, Mapping) else value
    steps = tuple(sorted((moment.duration(limit), _share(share, zone)) for limit, share in pairs))
    if any(later < earlier for (_, earlier), (_, later) in itertools.pairwise(steps)):
        raise ValueError("a later step has a smaller penalty than an earlier one")
    return steps


def _of(value: Any, _zone: ZoneInfo) -> str:
    if value not in OF:
        raise ValueError(f"{value!r} is not one of {', '.join(OF)}")
    return value


def _close(value: Any, zone: ZoneInfo) -> datetime | timedelta | None:
    if value in (None, ""):
        return None
    try:
        return moment.duration(value)
    except CourseError:
        return moment.parse(value, zone)


def _decimals(value: Any, _zone: ZoneInfo) -> int:
    if isinstance(value, bool) or value not in range(10):
        raise ValueError(f"{value!r} is not a number of digits from 0 to 9")
    return int(value)


SETTINGS: dict[str, Callable[[Any, ZoneInfo], object]] = {
    "per_day": _share,
    "per_hour": _share,
    "steps": _steps,
    "of": _of,
    "floor": _share,
    "grace": lambda value, _zone: moment.duration(value),
    "close": _close,
    "decimals": _decimals,
}
"""The settings of a rule, and how each is read."""
