"""timestamp.txt, as nbgrader, a teacher's editor and a student write it."""

from __future__ import annotations

import codecs
from datetime import datetime

import pytest

from viva.submission.files import timestamp
from viva.verdict import SubmissionError

TEXT = "2026-10-09 12:02:29 Europe/Berlin\r\n"


@pytest.mark.parametrize(
    "data",
    [
        TEXT.encode(),
        codecs.BOM_UTF8 + TEXT.encode(),
        TEXT.encode("utf-16"),
        codecs.BOM_UTF16_BE + TEXT.encode("utf-16-be"),
    ],
    ids=["plain", "utf-8 with its mark", "utf-16", "utf-16 the other way"],
)
def test_a_time_is_read_however_an_editor_saved_it(tmp_path, data):
    (tmp_path / timestamp.NAME).write_bytes(data)
    assert timestamp.read(tmp_path / timestamp.NAME) == datetime(2026, 10, 9, 10, 2, 29)


def test_without_a_file_or_with_an_empty_one_there_is_no_time(tmp_path):
    assert timestamp.read(tmp_path / timestamp.NAME) is None
    (tmp_path / timestamp.NAME).write_bytes(codecs.BOM_UTF8 + b"\n")
    assert timestamp.read(tmp_path / timestamp.NAME) is None


@pytest.mark.parametrize(
    ("text", "zones", "expected"),
    [
        ("2026-10-24 23:58:00.123456 UTC", (), "2026-10-24 23:58:00.123456"),
        ("2026-10-24 23:58:00", (), "2026-10-24 23:58:00"),  # as zip_collect of nbgrader writes it
        ("2026-10-24T23:58Z", (), "2026-10-24 23:58:00"),
        ("2026-10-24 23:58 utc", (), "2026-10-24 23:58:00"),
        ("2026-10-24 23:58:00 CEST", (), "2026-10-24 21:58:00"),
        ("2026-10-24 23:58:00 EDT", (), "2026-10-25 03:58:00"),
        ("2026-10-24 23:58:00 IST", ("Asia/Kolkata",), "2026-10-24 18:28:00"),
        ("2026-12-24 23:58:00 IST", ("Europe/Berlin", "Asia/Jerusalem"), "2026-12-24 21:58:00"),
        ("2026-10-24 23:58:00 -03", ("America/Sao_Paulo",), "2026-10-25 02:58:00"),  # nbgrader: three seconds
        ("2026-10-24 23:58:00 +0530", (), "2026-10-24 18:28:00"),  # nbgrader: 530 seconds
        ("2026-10-25 02:30:00 CET", ("Europe/Berlin",), "2026-10-25 01:30:00"),
        ("2026-10-25 02:30:00 CEST", ("Europe/Berlin",), "2026-10-25 00:30:00"),
    ],
)
def test_a_zone_behind_a_time_is_read_as_its_writer_meant_it(tmp_path, text, zones, expected):
    (tmp_path / timestamp.NAME).write_text(text)
    assert str(timestamp.read(tmp_path / timestamp.NAME, zones)) == expected


@pytest.mark.parametrize(
    "data",
    [
        b"yesterday",
        b"\xff\xfe\x00",
        b"0001-01-01 00:00:00",
        b"0001-01-01 00:00:00+14:00",
        b"9999-12-31 23:59:59-14:00",
        b"9999-12-31 23:59:59 UTC",
        b"99999-01-01 00:00:00 UTC",
        # dateutil takes the missing parts from today's date, and October for the tenth month
        b"2026",
        b"12:30",
        b"2026-10-24",
        b"2026-10-24 23",
        b"24.10.2026 23:58",
    ],
)
def test_what_is_no_date_with_a_time_is_refused_with_its_place(tmp_path, data):
    path = tmp_path / timestamp.NAME
    path.write_bytes(data)
    with pytest.raises(SubmissionError, match=r"which is not a clear time\. Write the time as .* or delete"):
        timestamp.read(path)


@pytest.mark.parametrize(
    ("text", "zones"),
    [
        ("2026-10-24 23:58 IST", ()),
        ("2026-10-24 23:58 CST", ("Europe/Berlin",)),
        ("2026-10-24 23:58 XYZ", ()),
        ("2026-07-24 23:58 EST", ("America/New_York",)),
        ("2026-07-24 23:58 CET", ()),
    ],
)
def test_an_abbreviation_of_several_zones_or_of_the_other_half_of_the_year_is_refused(tmp_path, text, zones):
    path = tmp_path / timestamp.NAME
    path.write_text(text)
    with pytest.raises(SubmissionError, match=r"has no clear time zone.*c\.LatePolicy\.zone"):
        timestamp.read(path, zones)
    assert path.read_text() == text


def test_a_link_is_not_followed(tmp_path):
    (tmp_path / "other").write_text(TEXT)
    (tmp_path / timestamp.NAME).symlink_to(tmp_path / "other")
    with pytest.raises(SubmissionError, match=r"timestamp\.txt is a link, not a file"):
        timestamp.read(tmp_path / timestamp.NAME)
