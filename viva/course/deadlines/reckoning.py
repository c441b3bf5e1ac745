"""The arithmetic of lateness for one submission, and for all of a student's where they share a budget of days."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from fractions import Fraction
from zoneinfo import ZoneInfo

from viva.course.deadlines import moment
from viva.course.deadlines.rule import Rule, exact
from viva.record import Note, note

COUNTED = {"days": "late_days", "hours": "late_hours", "step": "late_step", "beyond": "late_beyond"}
TAKEN = {"score": "late_of_score", "maximum": "late_of_maximum", "cap": "late_of_cap"}
"""The kinds of notes that tell of it."""


@dataclass(frozen=True)
class Delivery:
    """What a student handed in for an assignment, and when; moments are in UTC."""

    assignment: str
    due: datetime
    """For the class."""
    at: datetime
    score: float
    most: float
    until: datetime | None = None
    """Until when this student may hand in, where that is another time."""

    @property
    def own_due(self) -> datetime:
        return self.until or self.due


@dataclass(frozen=True)
class Reckoning:
    """What lateness costs, and how it comes to that. Times are in UTC, shares are of 1, the rest are points."""

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
        """The arithmetic, line by line; nothing for who was on time and had no more time than others."""
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
            about = percent(self.share), number(base), number(taken * exact(base))
            notes.append(note(TAKEN[rule.of], *about, because=self._counted()))
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
    """What lateness costs one student, by assignment.

    The days of the ``budget`` are spent in the order in which the assignments are due to this student, where they save
    points; at most so many on an assignment as ``late_days`` says of it. Each makes the due time a day later. Where
    days are left over that the budget does not cover, the rule counts from there.
    """
    found, left = {}, budget
    for one in sorted(deliveries, key=lambda delivery: (delivery.own_due, delivery.assignment)):
        most = min(left, (late_days or {}).get(one.assignment, left))
        found[one.assignment] = result = _reckoned(one, rules[one.assignment], zone, most, left)
        left -= result.budget
    return found


def _reckoned(one: Delivery, rule: Rule, zone: ZoneInfo, most: int, left: int) -> Reckoning:
    """With the fewest of ``most`` free late days after which no more would save anything; ``left`` are the budget."""
    due = one.own_due
    close = rule.closes(one.due, due, zone)
    if close and one.at > close:
        return Reckoning(one, rule, zone, max(0.0, one.score), closed=close, budget_left=left)
    result = _after(one, rule, zone, 0)
    if result.penalty and most:
        days = min(most, moment.days_begun(due + rule.grace, one.at, zone))
        several = [result, *(_after(one, rule, zone, spent) for spent in range(1, days + 1))]
        result = min(several, key=lambda reckoning: (reckoning.penalty, reckoning.budget))
        if not result.budget:
            result = replace(result, spared=True)
    return replace(result, budget_left=left - result.budget)


def _after(one: Delivery, rule: Rule, zone: ZoneInfo, spent: int) -> Reckoning:
    """What lateness costs after ``spent`` free late days, each of which makes the due time a day later."""
    due = moment.after_days(one.own_due, spent, zone)
    if one.at - due <= rule.grace:
        return Reckoning(one, rule, zone, graced=one.at > due and not spent, budget=spent)
    share, number, unit = rule.share(due, one.at, zone)
    whole = exact(one.score)
    kept = min(whole, rule.rounded(rule.left(one.score, one.most, share))) if share else whole
    penalty = float(max(Fraction(), whole - kept))
    return Reckoning(one, rule, zone, penalty, budget=spent, number=number, unit=unit, share=share)


def percent(share: Fraction) -> str:
    return f"{float(100 * share):.6g} %"


def number(value: float | Fraction) -> str:
    return f"{float(value):.6g}"
