"""The course's rules for lateness, and those of each assignment, as nbgrader's plugin for late submissions.

c.LatePolicy.zone = "Europe/Berlin"
c.LatePolicy.per_day = 0.1
c.LatePolicy.assignments = {
    "ps1": {"due": "2026-10-05 23:59", "grace": "15 minutes"},
    "ps2": {"due": "2026-10-12 23:59", "steps": {"1 hour": 0.05, "1 day": 0.2}, "close": "1 week"},
}
"""

from __future__ import annotations

import copy
import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from nbgrader.plugins import LateSubmissionPlugin
from traitlets import Dict, Enum, Float, Int, Unicode

from viva import clock
from viva.course.deadlines import moment, rule
from viva.course.deadlines.rule import Rule
from viva.verdict import CourseError

COSTS: dict[str, Any] = {"per_day": 0.0, "per_hour": 0.0, "steps": ()}
"""The settings that cost points; an assignment that sets one takes none of them from the course."""
ITS_OWN = ("due", "late_days")
"""The settings of an assignment beside its rule."""
WHAT_IF = "The late policy after --what-if"


class DailyPenalty(LateSubmissionPlugin):
    """A fixed share of the score for each day that has begun since the due date."""

    per_day = Float(0.1, min=0, max=1, help="The part of the score that each started day costs, such as 0.1.").tag(
        config=True
    )

    def late_submission_penalty(self, student_id: str, score: float, total_seconds_late: float) -> float:
        """The points to take off ``score``: never more than the score, none when on time."""
        days = math.ceil(max(0.0, total_seconds_late) / moment.DAY.total_seconds())
        return min(score, score * self.per_day * days)


@dataclass(frozen=True)
class Terms:
    """The settings of an assignment: its rule, its due date, and the largest number of late days for it."""

    rule: Rule
    due: datetime | None = None
    late_days: int | None = None


class LatePolicy(DailyPenalty):
    """Due times, grace, steps or shares for each hour or day begun, a floor, a budget of late days, a close.

    It charges nothing that the configuration does not ask for, as nbgrader's own plugin.
    """

    per_day = Float(0.0, min=0, max=1, help="The part of the score that each started day costs, such as 0.1.").tag(
        config=True
    )
    zone = Unicode("UTC", help="The time zone of late days, and of times that name no zone: Europe/Berlin.").tag(
        config=True
    )
    per_hour = Float(
        0.0, min=0, max=1, help="The part of the score that each started hour costs, instead of per_day."
    ).tag(config=True)
    steps = Dict(
        help="The part that a submission loses if it is late up to a time, such as {'1 hour': 0.05, '1 day': 0.2}, "
        "instead of per_day and per_hour."
    ).tag(config=True)
    of = Enum(
        rule.OF, "score", help="What is reduced by this part: score, maximum, or cap (the highest possible score)."
    ).tag(config=True)
    floor = Float(0.0, min=0, max=1, help="The part that a late submission always keeps.").tag(config=True)
    grace = Unicode("0 minutes", help="No penalty up to this time after the deadline.").tag(config=True)
    close = Unicode(help="After this, submissions earn no points: a time, or a time span such as 1 week.").tag(
        config=True
    )
    decimals = Int(2, min=0, max=9, help="Digits after the decimal point of a score with a late penalty.").tag(
        config=True
    )
    budget = Int(0, min=0, help="Free late days of each student in the whole term.").tag(config=True)
    late_days = Int(None, allow_none=True, help="The most free late days for one assignment.").tag(config=True)
    assignments = Dict(help="By assignment: due, late_days, and settings that differ from those of the course.").tag(
        config=True
    )

    def late_submission_penalty(self, student_id: str, score: float, total_seconds_late: float) -> float:
        """The penalty by the course's rule alone: nbgrader's call has no assignment, due date or extension."""
        due = datetime(2000, 1, 1, tzinfo=UTC)
        late = timedelta(seconds=max(0.0, total_seconds_late))
        common = self._common()
        if late <= common.grace:
            return 0.0
        share, _, _ = common.share(due, due + late, ZoneInfo("UTC"))
        return max(0.0, score - float(common.left(score, score, share)))

    @property
    def place(self) -> ZoneInfo:
        """Raises CourseError for an unknown time zone."""
        return clock.zone_of(self.zone)

    def terms(self, assignment: str) -> Terms:
        """Raises CourseError for wrong settings."""
        return self._terms(self.assignments.get(assignment, {}), f"c.LatePolicy.assignments['{assignment}']")

    def _terms(self, settings: object, where: str) -> Terms:
        if not isinstance(settings, dict):
            raise CourseError(f'{where} is not a dictionary of settings. Write it as {{"due": "2026-10-05 23:59"}}.')
        rules = {name: value for name, value in settings.items() if name not in ITS_OWN}
        free = COSTS if COSTS.keys() & rules.keys() else {}
        changed = replace(self._common(), **free | rule.read(rules, where, self.place))
        due, late_days = settings.get("due"), settings.get("late_days", self.late_days)
        if late_days is not None and (isinstance(late_days, bool) or not isinstance(late_days, int) or late_days < 0):
            raise CourseError(f"{where} has an invalid 'late_days': {late_days!r} is not a number of days.")
        try:
            return Terms(changed, None if due in (None, "") else moment.parse(due, self.place), late_days)
        except CourseError as error:
            raise CourseError(f"{where} has an invalid 'due': {error}") from error

    def check(self, assignments: Iterable[str]) -> None:
        """Raises CourseError for a wrong setting, and for one of an unknown assignment."""
        names = set(assignments)
        rules = {"c.LatePolicy": self._common()}
        for name in self.assignments:
            rules[f"c.LatePolicy.assignments['{name}']"] = self.terms(name).rule
            if name not in names:
                raise CourseError(
                    f"c.LatePolicy.assignments names '{name}', which is not an assignment of the course. The "
                    f"assignments are: {', '.join(sorted(names)) or 'none yet'}. Correct the name, or create its "
                    "folder in source/ first."
                )
        asks = [where for where, terms in rules.items() if terms.costs or terms.close is not None]
        if asks and self._says_none():
            raise CourseError(
                "nbgrader_config.py has two rules for late submissions: c.LateSubmissionPlugin.penalty_method is "
                f"'none', but {asks[0]} sets a penalty. Remove one of the two."
            )

    def _says_none(self) -> bool:
        """Whether the configuration itself, and not its default, says that there are no late penalties."""
        sections = (section.__name__ for section in type(self).__mro__ if issubclass(section, LateSubmissionPlugin))
        return self.penalty_method == "none" and any("penalty_method" in self.config[section] for section in sections)

    def otherwise(
        self, assignments: Iterable[str], settings: dict[str, object], budget: int | None = None
    ) -> LatePolicy:
        """This policy with other settings for some assignments. Raises CourseError for a wrong setting."""
        self._terms(settings, WHAT_IF)  # an error names the command line, not the configuration
        if budget is not None and budget < 0:
            raise CourseError(f"{WHAT_IF} has an invalid 'budget': {budget} is not a number of days.")
        policy = copy.copy(self)
        settings_before = {name: dict(self.assignments.get(name, {})) for name in assignments}
        dropped = COSTS if COSTS.keys() & settings.keys() else {}
        sections = {
            name: {key: value for key, value in section.items() if key not in dropped}
            for name, section in settings_before.items()
        }
        policy.assignments = self.assignments | {name: section | settings for name, section in sections.items()}
        if budget is not None:
            policy.budget = budget
        for name in settings_before:
            policy.terms(name)
        return policy

    def _common(self) -> Rule:
        names = [name for name in rule.SETTINGS if name not in COSTS]
        settings = {name: getattr(self, name) for name in (*names, *COSTS)}
        if self.penalty_method == "zero":  # nbgrader's own setting: who is late has nothing
            settings |= COSTS | {"per_day": 1.0}
        return Rule(**rule.read(settings, "c.LatePolicy", self.place))
