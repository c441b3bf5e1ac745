"""Times of submission, as systems write them in the teacher's language; nothing is guessed.

A time is read when it tells year, month, day, hour and minute in one way only: a month in words, or the year first, or
dots between day, month and year. ``02/10/2023`` may be two days, and is none.
"""

from __future__ import annotations

import contextlib
import functools
import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta, timezone

from babel.dates import get_month_names, get_period_names

from viva import clock
from viva.verdict import CourseError

LANGUAGES = ("en", "de", "fr", "es", "it", "nl", "pt", "ca", "sv", "da", "nb", "fi", "pl", "cs", "ru", "uk", "tr")
"""The languages in which months are known by name."""
LONGEST = 100
"""Letters of a time."""
_CLOCK = r"(?P<hour>\d{1,2})\s?[:.h]\s?(?P<minute>\d{2})(?:[:.](?P<second>\d{2})(?:[.,](?P<fraction>\d{1,9}))?)?"
_CLOCK_OF_FILES = r"(?P<hour>\d{1,2})(?P<minute>\d{2})"
"""Without a colon, which no file of Windows may have in its name."""
_HALF = r"(?:\s*(?P<half>[^\W\d]\.?\s?[^\W\d]\.?))?"
_ZONE = r"(?:\s*(?P<zone>Z|UTC|GMT|[+-]\d{2}:?\d{2}))?"
_DATES = (
    r"(?P<year>\d{4})-(?P<month>\d{1,2})-(?P<day>\d{1,2})(?:T|,?\s+)",
    r"(?P<day>\d{1,2})\.\s?(?P<month>\d{1,2})\.\s?(?P<year>\d{4}),?\s+",
    r"(?P<day>\d{1,2})(?:\.|er|º)?\s+(?:de\s+|d['\u2019])?(?P<name>[^\W\d_]+)\.?,?\s+(?:de\s+|del\s+)?(?P<year>\d{4})\D{1,8}?",
    r"(?P<name>[^\W\d_]+)\.?\s+(?P<day>\d{1,2}),?\s+(?P<year>\d{4})\D{1,8}?",
)
_WEEKDAY = r"(?:[^\W\d]+(?:-[^\W\d]+)?\.?,?\s+)?"
_FORMS = [
    re.compile(_WEEKDAY + date + clock + _HALF + _ZONE, re.IGNORECASE)
    for clock in (_CLOCK, _CLOCK_OF_FILES)
    for date in _DATES
]
_NBGRADER = re.compile(r"(\d{4}-\d\d-\d\d)-(\d\d)-(\d\d)-(\d\d)")
"""The time in the name of a file, as in nbgrader's own example."""


def read(text: str, zones: Iterable[str] = ()) -> datetime | None:
    """The time that a text tells, with a zone where it tells one; None when it tells none, or may tell two.

    ``zones`` are the course's, and say what an abbreviation such as IST means.
    """
    with contextlib.suppress(CourseError):
        when = clock.parse(text, zones)
        return when.astimezone(UTC) if when.tzinfo else when
    text = " ".join(unicodedata.normalize("NFKC", text[: LONGEST + 1]).split())
    if not text or len(text) > LONGEST:
        return None
    text = _NBGRADER.sub(r"\1 \2:\3:\4", text)
    for form in _FORMS:
        if match := form.fullmatch(text):
            try:
                return _moment({name: value or "" for name, value in match.groupdict().items()})
            except (ValueError, OverflowError):
                return None
    return None


def _moment(groups: dict[str, str]) -> datetime:
    """``groups`` has an empty text for what was not told. Raises ValueError for no such month, hour or day."""
    month = int(groups["month"]) if groups.get("month") else _months().get(_plain(groups["name"]), 0)
    hour = int(groups["hour"])
    if half := _plain(groups["half"]):
        if half not in _halves() or not 1 <= hour <= 12:
            raise ValueError(half)
        hour = hour % 12 + 12 * _halves()[half]
    micro = int((groups.get("fraction") or "").ljust(6, "0")[:6])
    second = int(groups.get("second") or 0)
    zone = _offset(groups["zone"])
    if not 1970 <= int(groups["year"]) <= 2200:
        raise ValueError(groups["year"])
    return datetime(int(groups["year"]), month, int(groups["day"]), hour, int(groups["minute"]), second, micro, zone)


def _offset(zone: str) -> timezone | None:
    if not zone or zone.upper() in ("Z", "UTC", "GMT"):
        return UTC if zone else None
    digits = zone[1:].replace(":", "")
    sign = -1 if zone[0] == "-" else 1
    return timezone(sign * timedelta(hours=int(digits[:2]), minutes=int(digits[2:])))


def _plain(word: str) -> str:
    return re.sub(r"[\s.]", "", word).casefold()


@functools.cache
def _months() -> dict[str, int]:
    """The months by their names and short names; a word that is two of them is none."""
    numbers_of = defaultdict(set)
    for language in LANGUAGES:
        for width in ("wide", "abbreviated"):
            for context in ("format", "stand-alone"):
                for number, name in get_month_names(width, context, language).items():
                    numbers_of[_plain(name)].add(number)
                    numbers_of[_plain(name)[:3]] |= {number} if width == "wide" and language == "en" else set()
    return {
        name: next(iter(numbers)) for name, numbers in numbers_of.items() if len(numbers) == 1 and not name.isdecimal()
    }


@functools.cache
def _halves() -> dict[str, int]:
    """What stands for the first and the second half of a day."""
    names = {"am": 0, "pm": 1}
    for language in LANGUAGES:
        for width in ("wide", "abbreviated", "narrow"):
            periods = get_period_names(width, "format", language)
            names |= {_plain(periods["am"]): 0, _plain(periods["pm"]): 1} if {"am", "pm"} <= periods.keys() else {}
    return {name: half for name, half in names.items() if name}


def latest(texts: Iterable[str], zones: Iterable[str] = ()) -> str:
    """The text that tells the latest time; one without a zone counts as UTC. Empty where none tells a time."""
    readings = {text: moment for text in texts if (moment := read(text, zones))}
    return max(readings, key=lambda text: readings[text].replace(tzinfo=readings[text].tzinfo or UTC), default="")


class Zone:
    """The time zone of times that do not tell theirs; ``odd`` says which hours the clocks gave twice or never."""

    def __init__(self, name: str = "", others: Iterable[str] = ()) -> None:
        """Raises CourseError when there is no such zone. Without a name, a time without a zone has no certain moment.

        ``others`` are zones that say, too, what an abbreviation means.
        """
        self.name = name
        self.names = tuple(filter(None, (name, *others)))
        self.odd: list[str] = []
        self.info = clock.zone_of(name) if name else None

    def utc(self, moment: datetime) -> datetime | None:
        """The moment in UTC; None when it has no zone and none is set.

        Where the clocks were turned an hour is there twice, or not at all: then it is the earlier of the two moments
        that may be meant, in favour of the student.
        """
        if moment.tzinfo:
            return moment.astimezone(UTC)
        if self.info is None:
            return None
        both = [moment.replace(tzinfo=self.info, fold=fold).astimezone(UTC) for fold in (0, 1)]
        if both[0] != both[1]:
            sentence = (
                f"{moment:%Y-%m-%d %H:%M} is not clear in {self.name}, because the clocks changed then. The "
                f"earlier time was used: {min(both):%Y-%m-%d %H:%M} UTC."
            )
            self.odd += [] if sentence in self.odd else [sentence]
        return min(both)
