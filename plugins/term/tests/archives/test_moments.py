"""Times in the words of the systems, in the language of the teacher."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from viva.verdict import CourseError
from viva_term.archives import moments


@pytest.mark.parametrize(
    "text",
    [
        "Monday, 5 October 2026, 11:59 PM", "Monday, October 5, 2026, 11:59 PM", "Montag, 5. Oktober 2026, 23:59",
        "lundi 5 octobre 2026, 23:59", "lunes, 5 de octubre de 2026, 23:59", "lunedì, 5 ottobre 2026, 23:59",
        "maandag, 5 oktober 2026, 23:59", "segunda-feira, 5 de outubro de 2026 às 23:59",
        "lunes, 5 de octubre de 2026, 11:59 p. m.", "Monday, 5 October 2026, 11:59\u202fPM", "lun. 5 oct. 2026, 23:59",
        "Oct 5, 2026 1159 PM", "Oct 5, 2026 11:59 PM", "5 Oct, 2026 23:59", "5 oct. 2026 23 h 59", "2026-10-05 23:59",
        "2026-10-05T23:59:00", "2026-10-05-23-59-00", "05.10.2026 23:59",
    ],
)  # fmt: skip
def test_a_minute_before_midnight_is_read_in_every_language(text):
    assert moments.read(text) == datetime(2026, 10, 5, 23, 59)


@pytest.mark.parametrize("number", range(1, 13))
def test_every_month_of_moodles_languages_is_known(number):
    names = {
        "en": "January February March April May June July August September October November December",
        "de": "Januar Februar März April Mai Juni Juli August September Oktober November Dezember",
        "fr": "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
        "es": "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
        "it": "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre",
        "nl": "januari februari maart april mei juni juli augustus september oktober november december",
        "pt": "janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro",
    }
    for months in names.values():
        assert moments.read(f"3 {months.split()[number - 1]} 2026, 08:05") == datetime(2026, number, 3, 8, 5)


def test_midnight_and_noon_by_twelve_hours():
    assert moments.read("Oct 5, 2026 1205 AM") == datetime(2026, 10, 5, 0, 5)
    assert moments.read("Oct 5, 2026 1205 PM") == datetime(2026, 10, 5, 12, 5)
    assert moments.read("Oct 5, 2026 930 AM") == datetime(2026, 10, 5, 9, 30)


def test_a_time_that_tells_its_zone_keeps_it():
    for text in ("2026-10-05 21:59:00.000000000 Z", "2026-10-05T23:59:00+02:00", "2026-10-05 14:59:00 -0700",
                 "2026-10-05 21:59:00 UTC"):  # fmt: skip
        assert moments.read(text).astimezone(UTC) == datetime(2026, 10, 5, 21, 59, tzinfo=UTC)


@pytest.mark.parametrize(
    "text",
    ["", "-", "yesterday", "02/10/2026 23:59", "2026-10-05", "2026-13-05 10:00", "2026-02-30 10:00", "5 Mays 2026 1:00",
     "Oct 5, 2026 1330 PM", "Oct 5, 2026 2561", "hw1.ipynb", "9" * 5000, "2026-10-05 10:00 PST"],
)  # fmt: skip
def test_what_tells_no_time_or_may_tell_two_is_not_read(text):
    assert moments.read(text) is None


def test_hours_that_the_clocks_gave_twice_or_never_are_the_earlier_and_said():
    zone = moments.Zone("Europe/Berlin")
    assert zone.utc(datetime(2026, 10, 5, 23, 59)) == datetime(2026, 10, 5, 21, 59, tzinfo=UTC) and not zone.odd
    assert zone.utc(datetime(2026, 10, 25, 2, 30)) == datetime(2026, 10, 25, 0, 30, tzinfo=UTC)
    assert zone.utc(datetime(2026, 3, 29, 2, 30)) == datetime(2026, 3, 29, 0, 30, tzinfo=UTC)
    assert len(zone.odd) == 2 and "The earlier time was used: 2026-10-25 00:30 UTC" in zone.odd[0]


def test_without_a_zone_no_moment_is_made_up():
    assert moments.Zone().utc(datetime(2026, 10, 5)) is None
    for name in ("Mars", "../../etc/passwd", "Europe/Berlin\0", "CE ST", "x" * 5000):
        with pytest.raises(CourseError, match="There is no time zone"):
            moments.Zone(name)
