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


@pytest.mark.parametrize("data", [b"yesterday", b"\xff\xfe\x00", b"0001-01-01 00:00:00", b"\xff" * 200])
def test_what_is_no_date_is_said_with_its_place(tmp_path, data):
    path = tmp_path / timestamp.NAME
    path.write_bytes(data)
    with pytest.raises(SubmissionError, match=r"does not hold a date but .*; correct or delete"):
        timestamp.read(path)


def test_a_link_is_not_followed(tmp_path):
    (tmp_path / "other").write_text(TEXT)
    (tmp_path / timestamp.NAME).symlink_to(tmp_path / "other")
    with pytest.raises(SubmissionError, match=r"timestamp\.txt is a link, not a file"):
        timestamp.read(tmp_path / timestamp.NAME)
