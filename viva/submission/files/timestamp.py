"""The time of a submission: nbgrader's timestamp.txt, which a teacher may have typed in any editor."""

from __future__ import annotations

import codecs
import datetime as dt
import os
from collections.abc import Iterable
from pathlib import Path

from viva import clock
from viva.cleaning import plaintext
from viva.submission.files.contents import read_file
from viva.submission.submission import Submission
from viva.verdict import CourseError, SubmissionError

NAME = "timestamp.txt"


def read(path: Path, zones: Iterable[str] = ()) -> dt.datetime | None:
    """The time in such a file, in UTC and without a zone as nbgrader has it; None where there is none.

    As in nbgrader, a time without a zone is in UTC; ``zones`` resolve abbreviations of zones. Raises
    SubmissionError for anything else than ISO 8601 and what nbgrader writes, and for a zone that is not certain.
    """
    text = text_in(path)
    if not text:
        return None
    try:
        return in_utc(clock.parse(text, zones)).replace(tzinfo=None)
    except CourseError as error:
        flaw, hint = "is not a clear time", ""
        if clock.is_dated(text):
            flaw = "has no clear time zone"
            hint = ", or set the course's time zone in nbgrader_config.py: c.LatePolicy.zone = 'Europe/Berlin'"
        raise SubmissionError(
            f"{NAME} has the text {plaintext.quoted(text, 40)}, which {flaw}. Write the time as 2026-10-05 "
            f"23:59:00 UTC, or delete {path}{hint}"
        ) from error


def of(submission: Submission) -> dt.datetime | None:
    """When something was submitted, as ``read`` tells it. Raises SubmissionError."""
    return read(submission.folder / NAME, submission.zones)


def in_utc(when: dt.datetime) -> dt.datetime:
    """A moment in UTC; without a zone it is taken to be. Where clocks show a time twice, the earlier moment counts."""
    when = when.replace(tzinfo=when.tzinfo or dt.UTC)
    return min(when.replace(fold=fold).astimezone(dt.UTC) for fold in (0, 1))


def text_in(path: Path) -> str:
    """The text of such a file; empty if there is none. Raises SubmissionError."""
    if not os.path.lexists(path):
        return ""
    try:
        data = read_file(path)
    except SubmissionError as error:
        raise SubmissionError(f"{NAME} {error}") from error
    utf_16 = data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))  # editors of Windows begin a file with a mark
    return data.decode("utf-16" if utf_16 else "utf-8-sig", errors="replace").strip()
