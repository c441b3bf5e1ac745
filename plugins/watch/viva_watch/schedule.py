"""What is to be done next, and whose turn it is. Nothing here knows a folder or a clock."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

import msgspec

from viva_watch.terms import Terms

Place = tuple[str, str]
"""An assignment and a student."""
FULL = "full"
AGAIN = timedelta(minutes=1)
"""After a failure of the grader's; twice as long after each further one."""
LONGEST = timedelta(hours=1)


class Past(msgspec.Struct, omit_defaults=True):
    """What was done with a student's submissions for an assignment."""

    attempts: int = 0
    """So many got feedback before the due date."""
    digest: str = ""
    """Of what was done last."""
    kind: str = ""
    """What its student could read of it; empty where nothing was done yet."""
    at: datetime | None = None
    """When."""
    failures: int = 0
    """So many times in a row the grader itself failed."""
    slow: bool = False
    """Whether something in it did not finish."""
    owed: bool = False
    """Whether its page could not be released to the exchange yet."""

    def note(self, digest: str, kind: str, now: datetime, *, due: bool, slow: bool = False) -> None:
        """The submission with this ``digest`` was graded."""
        if digest != self.digest and not due:
            self.attempts += 1
        self.digest, self.kind, self.at, self.failures, self.slow = digest, kind, now, 0, slow

    def note_failure(self, now: datetime) -> None:
        self.failures, self.at = self.failures + 1, now


@dataclass(frozen=True)
class Handed:
    """What lies there of a student: a hash of it, and since when it was seen."""

    place: Place
    digest: str
    since: datetime


@dataclass(frozen=True)
class Next:
    """What is done with a submission: ``kind`` is what its student reads then; empty where it waits until ``at``."""

    handed: Handed
    kind: str = ""
    at: datetime | None = None


def next_of(handed: Handed, past: Past, terms: Terms, due: datetime | None, now: datetime) -> Next:
    """What is to be done with a submission now, or when to ask again; neither where nothing is to be done."""
    if past.failures:
        again = min(AGAIN * 2 ** min(past.failures - 1, 10), LONGEST)
        if past.at and now < past.at + again:
            return Next(handed, at=past.at + again)
    if due and now >= due:
        done = past.kind == FULL and past.digest == handed.digest
        return Next(handed, "" if done else FULL)
    spent = bool(terms.attempts) and past.attempts >= terms.attempts
    if terms.before == "nothing" or past.digest == handed.digest or spent:
        return Next(handed, at=due)
    if past.kind and past.at and now < past.at + terms.apart:
        at = past.at + terms.apart
        return Next(handed, at=min(at, due) if due else at)
    return Next(handed, terms.before)


@dataclass
class Plan:
    """What is to be done now, in order, and when there is more."""

    todo: list[Next] = field(default_factory=list)
    at: datetime | None = None


def plan(
    handed: Iterable[Handed],
    past: Mapping[Place, Past],
    terms: Mapping[str, Terms],
    due: Mapping[Place, datetime | None],
    now: datetime,
) -> Plan:
    """First who had feedback least often; then who was there first. What did not finish before comes last.

    ``terms`` are by assignment; what belongs to no assignment in it is left alone.
    """
    found = [
        next_of(one, past.get(one.place, Past()), terms[one.place[0]], due.get(one.place), now)
        for one in handed
        if one.place[0] in terms
    ]

    def turn(one: Next) -> tuple:
        before = past.get(one.handed.place, Past())
        return before.slow, before.attempts, one.handed.since, one.handed.place

    moments = [one.at for one in found if not one.kind and one.at]
    return Plan(sorted((one for one in found if one.kind), key=turn), min(moments, default=None))


def over(assignment: str, handed: Iterable[Handed], past: Mapping[Place, Past]) -> bool:
    """Whether all that was submitted for an assignment was graded fully."""
    mine = [one for one in handed if one.place[0] == assignment]
    return bool(mine) and all(
        (known := past.get(one.place)) is not None and known.kind == FULL and known.digest == one.digest for one in mine
    )
