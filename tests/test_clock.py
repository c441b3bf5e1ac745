"""Zones by their abbreviations, against the IANA database of this machine."""

from __future__ import annotations

import zoneinfo
from datetime import datetime

import pytest

from viva import clock


@pytest.fixture(scope="module")
def shown() -> dict[str, set]:
    """By abbreviation, the offsets with which clocks show it around now."""
    found: dict[str, set] = {}
    for name in zoneinfo.available_timezones():
        for month in range(1, 13, 3):
            there = datetime(2026, month, 15, tzinfo=zoneinfo.ZoneInfo(name))
            found.setdefault(there.tzname(), set()).add(there.utcoffset())
    return found


def test_every_known_abbreviation_has_one_offset_in_the_whole_world(shown):
    assert {short: len(shown[short]) for short in clock.ABBREVIATIONS} == dict.fromkeys(clock.ABBREVIATIONS, 1)


def test_each_is_read_as_the_zone_that_shows_it(shown):
    for short in clock.ABBREVIATIONS:
        read = [clock.parse(f"2026-{month:02}-15 12:00 {short}") for month in (1, 7)
                if _holds(short, datetime(2026, month, 15, 12))]  # fmt: skip
        assert read and all({when.utcoffset()} == shown[short] for when in read), short


def _holds(short: str, when: datetime) -> bool:
    return when.replace(tzinfo=zoneinfo.ZoneInfo(clock.ABBREVIATIONS[short])).tzname() == short


def test_the_zones_of_a_course_are_those_that_it_names_the_exchange_first():
    from traitlets.config import Config

    config = Config({"LatePolicy": {"zone": "Europe/Berlin"}, "Exchange": {"timezone": "Asia/Kolkata"}})
    assert clock.of_course(config) == ("Asia/Kolkata", "Europe/Berlin")
    assert clock.of_course(Config()) == ()
