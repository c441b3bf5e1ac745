"""The late penalty in one assignment, as a rule; the known learning systems' rules are cases of it.

Canvas       per_day or per_hour, of="maximum", floor
Moodle 5     steps, of="maximum"
Autolab      per_day, grace, a budget of days
PrairieLearn steps, of="cap"
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from fractions import Fraction
from typing import Any
from zoneinfo import ZoneInfo

from viva.course.deadlines import moment
from viva.record import Note, note
from viva.verdict import CourseError

OF = ("score", "maximum", "cap")
"""Late work loses a share of the score or of the maximum; or a share of the maximum caps the score."""
HOUR = timedelta(hours=1)


@dataclass(frozen=True)
class Rule:
    """The late penalty: ``steps`` if there are any, else ``per_hour`` if that is not 0, else ``per_day``.

    Nothing, where none of them is given.
    """

    per_day: float = 0.0
    per_hour: float = 0.0
    steps: tuple[tuple[timedelta, float], ...] = ()
    """Up to how late, what share is lost; later than the last costs as much as the last."""
    of: str = "score"
    floor: float = 0.0
    """The share that is left at least: of the score, or of the maximum where shares are of that."""
    grace: timedelta = timedelta()
    """Work that is late by this or less loses nothing; later work counts as late from the due time on."""
    close: datetime | timedelta | None = None
    """From when on nothing counts: a moment, or so long after the due time."""
    decimals: int = 2
    """Scores less a penalty are rounded to so many digits, half a unit up."""

    @property
    def costs(self) -> bool:
        """Whether there is a late penalty before the close."""
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
        """The score less the lost share, not rounded and never more than the score."""
        whole, can, floor = exact(score), exact(most), exact(self.floor)
        if self.of == "cap":
            return min(whole, can * max(floor, 1 - share))
        if self.of == "maximum":
            return max(min(whole, floor * can), whole - share * can, Fraction())
        return max(floor * whole, whole - share * whole)

    def rounded(self, value: Fraction) -> Fraction:
        """To ``decimals`` digits, half a unit up, which is in favour of the student."""
        unit = 10**self.decimals
        return Fraction(math.floor(value * unit + Fraction(1, 2)), unit)


def exact(number: float) -> Fraction:
    """A number as it is written: 0.1 is a tenth, which the float is not."""
    return Fraction(repr(float(number)))


def read(settings: Mapping[str, object], where: str, zone: ZoneInfo) -> dict[str, Any]:
    """Settings of a course as fields of a Rule. Raises CourseError for a wrong setting; ``where`` names its place."""
    values: dict[str, Any] = {}
    for name, value in settings.items():
        try:
            values[name] = SETTINGS[name](value, zone)
        except KeyError:
            raise CourseError(
                f"{where}: there is no setting '{name}'. The settings are: {', '.join(SETTINGS)}."
            ) from None
        except (CourseError, ValueError, TypeError) as error:
            raise CourseError(f"{where} has an invalid '{name}': {error}") from error
    return values


def _share(value: Any, _zone: ZoneInfo) -> float:
    share = float(value)
    if isinstance(value, str | bool) or not 0 <= share <= 1:
        raise ValueError(f"{value!r} is not a number from 0 to 1. Write 0.1 for a tenth.")
    return share


def _steps(value: Any, zone: ZoneInfo) -> tuple[tuple[timedelta, float], ...]:
    pairs = value.items() if isinstance(value, Mapping) else value
    steps = tuple(sorted((moment.duration(limit), _share(share, zone)) for limit, share in pairs))
    if any(later < earlier for (_, earlier), (_, later) in itertools.pairwise(steps)):
        raise ValueError("the penalty must not become smaller with more time")
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
        raise ValueError(f"the number of decimals must be 0 to 9, not {value!r}")
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


# The arithmetic of lateness for one submission, and for all of a student's where they share a budget of days.

COUNTED = {"days": "late_days", "hours": "late_hours", "step": "late_step", "beyond": "late_beyond"}
TAKEN = {"score": "late_of_score", "maximum": "late_of_maximum", "cap": "late_of_cap"}
"""The kinds of its notes."""


@dataclass(frozen=True)
class Delivery:
    """A submission and its time; moments are in UTC."""

    assignment: str
    due: datetime
    """For the class."""
    at: datetime
    score: float
    most: float
    until: datetime | None = None
    """Until when this student may submit, where that is another time."""

    @property
    def own_due(self) -> datetime:
        return self.until or self.due


@dataclass(frozen=True)
class Reckoning:
    """The late penalty, and how it comes to that. Times are in UTC, shares are of 1, the rest are points."""

    delivery: Delivery
    rule: Rule
    zone: ZoneInfo
    penalty: float = 0.0
    graced: bool = False
    closed: datetime | None = None
    """The close, if it was missed."""
    budget: int = 0
    """Days of the student's budget that were spent here."""
    budget_left: int = 0
    spared: bool = False
    """Whether days could have been spent here, and would have saved nothing."""
    number: int = 0
    """How many days or hours have begun, or which step it is."""
    unit: str = ""
    share: Fraction = Fraction()

    @property
    def late(self) -> timedelta:
        return max(timedelta(), self.delivery.at - self.delivery.own_due)

    @property
    def left(self) -> float:
        return self.delivery.score - self.penalty

    def notes(self) -> list[Note]:
        """The arithmetic, line by line; nothing for work that was on time without an extension."""
        delivery, rule = self.delivery, self.rule
        notes = []
        if delivery.until:
            notes.append(note("late_extended", self._said(delivery.until)))
        if not self.late:
            return notes
        late = self.late.total_seconds()
        notes.append(note("late_by", self._said(delivery.own_due), self.zone.key, amount=late))
        if delivery.own_due.astimezone(self.zone).utcoffset() != delivery.at.astimezone(self.zone).utcoffset():
            notes.append(Note("late_clocks"))
        if self.closed:
            return [*notes, note("late_closed", self._said(self.closed)), *self._sum()]
        if self.graced:
            return [*notes, Note("late_in_grace", amount=rule.grace.total_seconds())]
        if self.budget:
            notes.append(note("late_budget", str(self.budget_left), amount=self.budget))
        if self.share:
            base = delivery.score if rule.of == "score" else delivery.most
            taken = 1 - self.share if rule.of == "cap" else self.share
            numbers = percent(self.share), number(base), number(taken * exact(base))
            notes.append(note(TAKEN[rule.of], *numbers, because=self._counted()))
            if rule.floor:
                notes.append(note("late_floor", percent(exact(rule.floor)), number(base)))
        if self.spared:
            notes.append(note("late_spared", str(self.budget_left)))
        if self.share or not self.budget:
            notes += self._sum()
        return notes

    def _sum(self) -> list[Note]:
        if not self.penalty:
            return [Note("late_free")]
        return [note("late_sum", number(self.delivery.score), number(self.penalty), number(self.left))]

    def _counted(self) -> Note:
        """The days or hours that have begun, or the step."""
        if self.unit in ("days", "hours"):
            each = self.rule.per_hour if self.unit == "hours" else self.rule.per_day
            return note(COUNTED[self.unit], percent(exact(each)), amount=self.number)
        limit, _ = self.rule.steps[self.number - 1]
        return Note(COUNTED[self.unit], amount=limit.total_seconds())

    def _said(self, when: datetime) -> str:
        return moment.local(when, self.zone)


def reckon(
    deliveries: Iterable[Delivery],
    rules: Mapping[str, Rule],
    zone: ZoneInfo,
    budget: int = 0,
    late_days: Mapping[str, int] | None = None,
) -> dict[str, Reckoning]:
    """The late penalties of one student, by assignment.

    The days of the ``budget`` are spent in the order in which the assignments are due to this student, where they save
    points; at most so many on an assignment as ``late_days`` says of it. Each makes the due time a day later. Where
    days are left over that the budget does not cover, the rule counts from there.
    """
    reckonings, left = {}, budget
    for delivery in sorted(deliveries, key=lambda delivery: (delivery.own_due, delivery.assignment)):
        most = min(left, (late_days or {}).get(delivery.assignment, left))
        reckonings[delivery.assignment] = result = _reckoned(delivery, rules[delivery.assignment], zone, most, left)
        left -= result.budget
    return reckonings


def _reckoned(delivery: Delivery, rule: Rule, zone: ZoneInfo, most: int, left: int) -> Reckoning:
    """With the fewest of ``most`` free late days after which no more would save anything; ``left`` are the budget."""
    due = delivery.own_due
    close = rule.closes(delivery.due, due, zone)
    if close and delivery.at > close:
        return Reckoning(delivery, rule, zone, max(0.0, delivery.score), closed=close, budget_left=left)
    result = _after(delivery, rule, zone, 0)
    if result.penalty and most:
        days = min(most, moment.days_begun(due + rule.grace, delivery.at, zone))
        reckonings = [result, *(_after(delivery, rule, zone, spent) for spent in range(1, days + 1))]
        result = min(reckonings, key=lambda reckoning: reckoning.penalty)  # the first of equals, with the fewest days
        if not result.budget:
            result = replace(result, spared=True)
    return replace(result, budget_left=left - result.budget)


def _after(delivery: Delivery, rule: Rule, zone: ZoneInfo, spent: int) -> Reckoning:
    """The late penalty after ``spent`` free late days, each of which makes the due time a day later."""
    due = moment.after_days(delivery.own_due, spent, zone)
    if delivery.at - due <= rule.grace:
        return Reckoning(delivery, rule, zone, graced=delivery.at > due and not spent, budget=spent)
    share, number, unit = rule.share(due, delivery.at, zone)
    whole = exact(delivery.score)
    remaining = rule.rounded(rule.left(delivery.score, delivery.most, share)) if share else whole
    penalty = float(max(Fraction(), whole - remaining))
    return Reckoning(delivery, rule, zone, penalty, budget=spent, number=number, unit=unit, share=share)


def percent(share: Fraction) -> str:
    return f"{float(100 * share):.6g} %"


def number(value: float | Fraction) -> str:
    return f"{float(value):.6g}"
