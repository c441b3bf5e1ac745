"""Times as ISO 8601 and nbgrader write them, with a time zone behind them or without one; nothing is guessed.

nbgrader itself reads times with dateutil, which fills what is missing from today's date, takes ``10/11/2026`` for a day
in October, and drops an abbreviation that it does not know: its own ``23:58 CEST`` becomes 23:58 UTC.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from typing import Any
from zoneinfo import ZoneInfo

from viva.verdict import CourseError

YEARS = range(1970, 2201)
_TIME = re.compile(
    r"""
    (?P<time>
        \d{4}-\d\d-\d\d [T ] \d\d:\d\d (?: :\d\d (?:[.,]\d+)? )?
      | \d{8} T \d{4} (?: \d\d (?:[.,]\d+)? )?
    )
    \s* (?P<zone> [Zz] | [+-]\d\d (?: :?\d\d )? | [A-Za-z][\w+/-]* )?
    """,
    re.VERBOSE | re.ASCII,
)
_REPRESENTATIVES = {
    "Africa/Johannesburg": "SAST",
    "Africa/Lagos": "WAT",
    "Africa/Maputo": "CAT",
    "Africa/Nairobi": "EAT",
    "America/Anchorage": "AKST AKDT",
    "America/Denver": "MST MDT",
    "America/Halifax": "AST ADT",
    "America/Los_Angeles": "PDT",
    "America/New_York": "EST EDT",
    "America/St_Johns": "NST NDT",
    "Asia/Hong_Kong": "HKT",
    "Asia/Jakarta": "WIB",
    "Asia/Jayapura": "WIT",
    "Asia/Jerusalem": "IDT",
    "Asia/Karachi": "PKT",
    "Asia/Makassar": "WITA",
    "Asia/Seoul": "KST",
    "Asia/Tokyo": "JST",
    "Australia/Adelaide": "ACST ACDT",
    "Australia/Perth": "AWST",
    "Australia/Sydney": "AEST AEDT",
    "Europe/Berlin": "CET CEST",
    "Europe/Helsinki": "EET EEST",
    "Europe/Lisbon": "WET WEST",
    "Europe/London": "GMT BST",
    "Europe/Moscow": "MSK",
    "Pacific/Auckland": "NZST NZDT",
    "Pacific/Honolulu": "HST",
}
ABBREVIATIONS = {short: zone for zone, letters in _REPRESENTATIVES.items() for short in letters.split()}
"""A zone that uses an abbreviation, where the IANA database has one offset for it. CST, IST and PST have several."""


def zone_of(name: str) -> ZoneInfo:
    """A zone by its name in the IANA database. Raises CourseError."""
    try:
        return ZoneInfo(name)
    except (ValueError, OSError, KeyError) as error:  # no such name, or one that is a path or a folder
        raise CourseError(
            f"There is no time zone '{name}'. Write, for example, Europe/Berlin, America/New_York or UTC."
        ) from error


def of_course(config: Mapping[str, Any]) -> tuple[str, ...]:
    """The names of a course's zones, as its configuration says: where nbgrader's exchange writes times, first."""
    settings = (("Exchange", "timezone"), ("Collect", "zone"), ("LatePolicy", "zone"))
    zones = (config[section].get(name) for section, name in settings if section in config)
    return tuple(dict.fromkeys(zone for zone in zones if zone and isinstance(zone, str)))


def is_dated(text: str) -> bool:
    """Whether a text is a date with a time of day, whatever its zone."""
    return _parts(text) is not None


def parse(text: str, zones: Iterable[str] = ()) -> datetime:
    """The time in a text such as ``2026-10-05 23:59``, with its zone where it tells one.

    An abbreviation such as IST is that of the first of the ``zones``, given by name, whose clocks show it at that time.
    Raises CourseError for anything else than a date with a time of day, and for a zone that is unknown or ambiguous.
    """
    parts = _parts(text)
    if parts is None:
        raise CourseError(
            f"'{text}' is not a date and time. Write it as 2026-10-05 23:59, and add the time zone if it is "
            "not the course's."
        )
    when, zone = parts
    return when.replace(tzinfo=_zone(zone, when, zones)) if zone else when


def _parts(text: object) -> tuple[datetime, str] | None:
    """A time and what stands behind it; None where it is not a time."""
    match = _TIME.fullmatch(text.strip()) if isinstance(text, str) else None
    if not match:
        return None
    try:
        when = datetime.fromisoformat(match["time"])
    except ValueError:  # there is no such month, day, hour or minute
        return None
    return (when, match["zone"] or "") if when.year in YEARS else None


def _zone(name: str, when: datetime, zones: Iterable[str]) -> tzinfo:
    if name.upper() in ("Z", "UTC", "GMT"):
        return UTC
    if name[0] in "+-":
        digits = name[1:].replace(":", "").ljust(4, "0")
        east = timedelta(hours=int(digits[:2]), minutes=int(digits[2:]))
        if east >= timedelta(days=1):
            raise CourseError(f"There is no time zone '{name}'. Write an offset, such as +02:00.")
        return timezone(-east if name[0] == "-" else east)
    if "/" in name:
        return zone_of(name)
    ours = [zone for label in zones if (zone := _known(label))]
    offset = next(filter(None, (_offset(zone, name, when) for zone in ours)), None)
    if offset is None and name in ABBREVIATIONS and not any(_uses(zone, name, when) for zone in ours):
        offset = _offset(zone_of(ABBREVIATIONS[name]), name, when)
    if offset is not None:
        return offset
    if name in ABBREVIATIONS or (name.isupper() and not _known(name)):
        raise CourseError(
            f"'{name}' is not a time zone, or its meaning on {when:%Y-%m-%d} is unclear. Write an offset, as in "
            f"{when:%Y-%m-%d %H:%M}+02:00, or a zone such as Europe/Berlin."
        )
    return zone_of(name)


@functools.lru_cache(maxsize=64)
def _known(name: str) -> ZoneInfo | None:
    try:
        return zone_of(name)
    except CourseError:
        return None


def _offset(zone: ZoneInfo, short: str, when: datetime) -> timezone | None:
    """The offset from UTC with which the clocks of a zone show an abbreviation at a time of day."""
    for fold in (0, 1):
        local = when.replace(tzinfo=zone, fold=fold)
        offset = local.utcoffset()
        if local.tzname() == short and offset is not None:
            return timezone(offset)
    return None


def _uses(zone: ZoneInfo, short: str, when: datetime) -> bool:
    """Whether the clocks of a zone show an abbreviation at some time of the year."""
    return any(when.replace(month=month, day=1, tzinfo=zone).tzname() == short for month in range(1, 13))
