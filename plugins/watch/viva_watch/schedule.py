"""The order of the watcher's work. This module uses no folder and no clock."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

import msgspec

from viva_watch.terms import Terms

Key = tuple[str, str]
"""An assignment and a student."""
FULL = "full"
AGAIN = timedelta(minutes=1)
"""After a failure of the grader's; twice as long after each further one."""
LONGEST = timedelta(hours=1)


class Past(msgspec.Struct, omit_defaults=True):
    """What was done with a student's submissions for an assignment."""

    attempts: int = 0
    """The number that got feedback before the due date."""
    digest: str = ""
    """Of what was done last."""
    kind: str = ""
    """What its student could read of it; empty where nothing was done yet."""
    at: datetime | None = None
    """When."""
    failures: int = 0
    """The number of times in a row that the grader itself failed."""
    slow: bool = False
    """Whether something in it did not finish."""
    unreleased: bool = msgspec.field(default=False, name="owed")
    """Whether its page could not be released to the exchange yet."""

    def note(self, digest: str, kind: str, now: datetime, *, due: bool, slow: bool = False) -> None:
        """The submission with this ``digest`` was graded."""
        if digest != self.digest and not due:
            self.attempts += 1
        self.digest, self.kind, self.at, self.failures, self.slow = digest, kind, now, 0, slow

    def note_failure(self, now: datetime) -> None:
        self.failures, self.at = self.failures + 1, now


@dataclass(frozen=True)
class Arrival:
    """What lies there of a student: a hash of it, and since when it was seen."""

    key: Key
    digest: str
    since: datetime


@dataclass(frozen=True)
class Task:
    """What is done with a submission: ``kind`` is what its student reads then; empty where it waits until ``at``."""

    arrival: Arrival
    kind: str = ""
    at: datetime | None = None


def task_of(arrival: Arrival, past: Past, terms: Terms, due: datetime | None, now: datetime) -> Task:
    """What is to be done with a submission now, or when to ask again; neither where nothing is to be done."""
    if past.failures:
        again = min(AGAIN * 2 ** min(past.failures - 1, 10), LONGEST)
        if past.at and now < past.at + again:
            return Task(arrival, at=past.at + again)
    if due and now >= due:
        done = past.kind == FULL and past.digest == arrival.digest
        return Task(arrival, "" if done else FULL)
    spent = bool(terms.attempts) and past.attempts >= terms.attempts
    if terms.before == "nothing" or past.digest == arrival.digest or spent:
        return Task(arrival, at=due)
    if past.kind and past.at and now < past.at + terms.apart:
        at = past.at + terms.apart
        return Task(arrival, at=min(at, due) if due else at)
    return Task(arrival, terms.before)


@dataclass
class Plan:
    """What is to be done now, in order, and when there is more."""

    todo: list[Task] = field(default_factory=list)
    at: datetime | None = None


def plan(
    arrivals: Iterable[Arrival],
    past: Mapping[Key, Past],
    terms: Mapping[str, Terms],
    due: Mapping[Key, datetime | None],
    now: datetime,
) -> Plan:
    """First who had feedback least often; then who was there first. What did not finish before comes last.

    ``terms`` are by assignment; what belongs to no assignment in it is left alone.
    """
    tasks = [
        task_of(arrival, past.get(arrival.key, Past()), terms[arrival.key[0]], due.get(arrival.key), now)
        for arrival in arrivals
        if arrival.key[0] in terms
    ]

    def turn(task: Task) -> tuple:
        before = past.get(task.arrival.key, Past())
        return before.slow, before.attempts, task.arrival.since, task.arrival.key

    moments = [task.at for task in tasks if not task.kind and task.at]
    return Plan(sorted((task for task in tasks if task.kind), key=turn), min(moments, default=None))


def over(assignment: str, arrivals: Iterable[Arrival], past: Mapping[Key, Past]) -> bool:
    """Whether all that was submitted for an assignment was graded fully."""
    of_assignment = [arrival for arrival in arrivals if arrival.key[0] == assignment]
    return bool(of_assignment) and all(
        (graded := past.get(arrival.key)) is not None and graded.kind == FULL and graded.digest == arrival.digest
        for arrival in of_assignment
    )
