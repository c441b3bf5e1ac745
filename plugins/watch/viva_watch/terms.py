"""The settings of the watcher, for the course and for single assignments.

c.Watch.before = "visible"
c.Watch.assignments = {
    "ps1": {"before": "full", "attempts": 5, "apart": "30 minutes"},
    "ps2": {"before": "score"},
}
c.Watch.collect = c.Watch.release = True
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from traitlets import Bool, Dict, Enum, Float, Int, Unicode
from traitlets.config import Configurable

from viva.course.deadlines import moment
from viva.verdict import CourseError

BEFORE = ("nothing", "visible", "score", "full")
"""What a student reads before the deadline, from least to most."""
NAMES = ("before", "attempts", "apart")


@dataclass(frozen=True)
class Terms:
    """The rules of an assignment before the deadline: what is read, in how many attempts (0: all), how far apart."""

    before: str = "full"
    attempts: int = 0
    apart: timedelta = timedelta()


class Watch(Configurable):
    """How `viva watch` grades."""

    before = Enum(
        BEFORE,
        "full",
        help="What students read before the deadline: nothing, visible (visible checks only; hidden tests do not run), "
        "score, or full.",
    ).tag(config=True)
    attempts = Int(0, min=0, help="Number of attempts that get feedback before the deadline; 0 means all.").tag(
        config=True
    )
    apart = Unicode(
        "0 minutes", help="The shortest time between two attempts with feedback of one student, such as '1 hour'."
    ).tag(config=True)
    assignments = Dict(help="By assignment: before, attempts and apart, if they differ from those of the course.").tag(
        config=True
    )
    collect = Bool(False, help="Collect submissions from nbgrader's exchange.").tag(config=True)
    release = Bool(False, help="Release feedback to nbgrader's exchange.").tag(config=True)
    settle = Float(
        2.0, min=0.1, help="A submission is complete when none of its files has changed for this many seconds."
    ).tag(config=True)
    every = Float(
        30.0, min=0.1, help="Seconds between two scans of all folders, in case the system reports no change."
    ).tag(config=True)
    polling = Bool(False, help="Look every second; for disks that do not report changes, such as network drives.").tag(
        config=True
    )
    begins = Unicode(help="For tests of the watcher: the time at which its clock starts.").tag(config=True)
    speed = Float(1.0, min=0.001, help="For tests of the watcher: the speed of its clock.").tag(config=True)

    def terms(self, assignment: str) -> Terms:
        """Raises CourseError for invalid settings."""
        where = f"c.Watch.assignments['{assignment}']"
        settings = self.assignments.get(assignment, {})
        if not isinstance(settings, dict) or not settings.keys() <= set(NAMES):
            raise CourseError(
                f"{where} is {settings!r}. Write it as {{'before': 'score', 'attempts': 5, 'apart': '1 hour'}}."
            )
        before, attempts, apart = (settings.get(name, getattr(self, name)) for name in NAMES)
        if before not in BEFORE:
            raise CourseError(f"{where} has an invalid 'before': {before!r}. It is one of {', '.join(BEFORE)}.")
        if type(attempts) is not int or attempts < 0:
            raise CourseError(f"{where} has an invalid 'attempts': {attempts!r} is not a number of attempts.")
        return Terms(before, attempts, moment.duration(apart))

    def check(self, assignments: list[str]) -> None:
        """Raises CourseError for an invalid setting, and for an unknown assignment."""
        for name in (*assignments, *self.assignments):
            self.terms(name)
        if unknown := [name for name in self.assignments if name not in assignments]:
            raise CourseError(
                f"c.Watch.assignments names '{unknown[0]}', which is not an assignment of the course. The assignments "
                f"are: {', '.join(assignments)}."
            )


class Clock:
    """The time by which assignments are due; in a trial it starts elsewhere, and runs faster."""

    def __init__(self, begins: datetime | None = None, speed: float = 1.0, started: float | None = None) -> None:
        """A trial ``started`` at this time of the machine's clock, in seconds; by default now."""
        self.begins, self.speed = begins, speed
        self.started = time.time() if started is None else started

    def __call__(self) -> datetime:
        """Now, in UTC."""
        if self.begins is None:
            return datetime.now(UTC)
        return self.begins + timedelta(seconds=self.speed * (time.time() - self.started))
