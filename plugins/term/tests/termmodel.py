"""A model of a term that knows nothing of Viva's code: what the docs say that a term is.

It is written from docs/roster.md, docs/collect.md, docs/deadlines.md, docs/regrade.md and docs/export.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from zoneinfo import ZoneInfo

PEOPLE = {"ada": ("S1", "Ada", "Moss"), "bo": ("S2", "Bo", "Berg")}
"""By login: the school number and the name. Two are enough for every exchange, and rare orders come soon."""
HEIR = ("S9", "Dan", "Frey")
"""Who gets the login of somebody who left."""
EARNED = {False: {"right": 4, "half": 3, "wrong": 0}, True: {"right": 4, "half": 4, "wrong": 1}}
"""Points of the tests by answer, as they were and as they are corrected: any word passes then."""
PER_DAY = Fraction(1, 5)
COURSE, TYPED = ZoneInfo("Europe/Berlin"), ZoneInfo("America/New_York")


def noon(day: int) -> datetime:
    return datetime(2026, 10, day, 12, tzinfo=COURSE).astimezone(UTC)


@dataclass(frozen=True)
class Item:
    """A folder of Brightspace's archive, which tells a time without its zone."""

    login: str
    alias: int
    """Which name that is not on the roster the sender is called by; 0 is the name on the roster."""
    local: datetime
    answer: str

    @property
    def name(self) -> str:
        _, first, last = PEOPLE[self.login]
        return f"{first[0]}{self.alias}. {last[0]}." if self.alias else f"{first} {last}"

    @property
    def folder(self) -> str:
        number = f"7-{10 * sorted(PEOPLE).index(self.login) + self.alias}"
        half = "PM" if self.local.hour >= 12 else "AM"
        time = f"{self.local:%b} {self.local.day}, 2026 {(self.local.hour - 1) % 12 + 1}{self.local:%M} {half}"
        return f"{number} - {self.name} - {time}"

    def moment(self, zone: ZoneInfo) -> datetime:
        return self.local.replace(tzinfo=zone).astimezone(UTC)


@dataclass
class Term:
    """The model: what the docs say that a term is, and what each command does to it."""

    due: int = 5
    enrolled: set[str] = field(default_factory=set)
    known: set[str] = field(default_factory=set)
    """All who were ever on the roster: they stay in the gradebook."""
    moments: dict[Item, datetime] = field(default_factory=dict)
    """When each submission was sent, of all that were ever collected."""
    of: dict[Item, str] = field(default_factory=dict)
    """Whose it is, once that is known."""
    matched: set[tuple[str, int]] = field(default_factory=set)
    """Whose other names stand in matches.csv, by login and alias."""
    extended: dict[str, int] = field(default_factory=dict)
    excused: set[str] = field(default_factory=set)
    graded: dict[str, tuple[Item, datetime, bool]] = field(default_factory=dict)
    """By login what was graded, when it was sent, and by which tests."""
    manual: dict[str, float] = field(default_factory=dict)
    lenient: bool = False

    @property
    def waiting(self) -> list[Item]:
        return [one for one in self.moments if one not in self.of]

    def collect(self, items: list[Item], typed: ZoneInfo | None = None) -> None:
        for one in items:
            if one not in self.moments or typed:
                self.moments[one] = one.moment(typed or COURSE)
        for one in self.waiting:
            if one.login in self.known and (not one.alias or (one.login, one.alias) in self.matched):
                self.of[one] = one.login

    @property
    def current(self) -> dict[str, Item]:
        """By login the newest submission, which counts."""
        found: dict[str, Item] = {}
        for one, login in sorted(self.of.items(), key=lambda pair: self.moments[pair[0]]):
            found[login] = one
        return found

    def grade(self, logins: set[str] | None = None) -> None:
        for login, one in self.current.items():
            done = self.graded.get(login)
            if logins is None or login in logins:
                same = done and done[:2] == (one, self.moments[one]) and logins is None
                self.graded[login] = done if same and done else (one, self.moments[one], self.lenient)

    @property
    def pending(self) -> bool:
        done = {login: one[:2] for login, one in self.graded.items()}
        return done != {login: (one, self.moments[one]) for login, one in self.current.items()}

    def erase(self, login: str) -> set[Item]:
        """All of a student goes; the submissions that went. What waits under another name is nobody's yet."""
        theirs = {one for one in self.moments if one.login == login}
        theirs = {one for one in theirs if one in self.of or not one.alias or (login, one.alias) in self.matched}
        for one in theirs:
            del self.moments[one]
            self.of.pop(one, None)
        self.matched = {pair for pair in self.matched if pair[0] != login}
        for some in (self.graded, self.manual, self.extended):
            some.pop(login, None)
        for names in (self.enrolled, self.known, self.excused):
            names.discard(login)
        return theirs

    def score(self, login: str) -> float:
        one, sent, lenient = self.graded[login]
        raw = Fraction(EARNED[lenient][one.answer]) + Fraction(self.manual.get(login, 0.0))
        due = noon(max(self.due, self.extended.get(login, 0)))
        days = max(0, math.ceil((sent - due) / timedelta(days=1)))
        kept = raw * max(Fraction(), 1 - days * PER_DAY)
        return float(Fraction(math.floor(100 * kept + Fraction(1, 2)), 100)) if days else float(raw)

    def row(self, login: str) -> tuple[str, float | None]:
        """The status and the score in an export."""
        if login in self.excused:
            return "excused", None
        if login in self.graded:
            return "graded", self.score(login)
        return ("not graded" if login in self.current else "not handed in"), None
