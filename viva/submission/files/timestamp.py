"""When something was handed in: nbgrader's timestamp.txt beside it, which a teacher may have typed in any editor."""

from __future__ import annotations

import codecs
import datetime as dt
import os
from pathlib import Path

from viva.cleaning import plaintext
from viva.submission.files.contents import read_file
from viva.verdict import SubmissionError

NAME = "timestamp.txt"
ANY_ZONE = dt.timedelta(days=1)
"""As far as the time of a zone can be from UTC."""


def read(path: Path) -> dt.datetime | None:
    """The time in such a file, in UTC and without a zone as nbgrader has it; None where there is none.

    Raises SubmissionError.
    """
    if not os.path.lexists(path):
        return None
    try:
        data = read_file(path)
    except SubmissionError as error:
        raise SubmissionError(f"{NAME} {error}") from error
    text = _text(data)
    try:
        from nbgrader.utils import parse_utc

        when = parse_utc(text) if text else None
        if when:
            when - ANY_ZONE, when + ANY_ZONE  # where a page shows it
    except Exception as error:  # dateutil raises what it likes
        raise SubmissionError(
            f"timestamp.txt does not hold a date but {plaintext.quoted(text, 40)}; correct or delete {path}"
        ) from error
    return when


def _text(data: bytes) -> str:
    """What stands in it; editors of Windows begin a file with a mark of its encoding."""
    utf_16 = data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    return data.decode("utf-16" if utf_16 else "utf-8-sig", errors="replace").strip()
