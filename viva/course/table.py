"""A table in a file, as a learning system or a spreadsheet writes it: CSV, whatever its encoding.

Students choose their names, so what a spreadsheet would compute gets a mark where Viva writes a table, and loses it
where one is read (``plaintext.guarded``). Only a file for a learning system, which knows no such mark, has none.

UTF-8 and UTF-16 are told by their bytes; what is neither is taken for Windows-1252, and a note says so. Between cells
stands a comma, a semicolon or a tab, whichever cuts the first lines into as many cells each.
"""

from __future__ import annotations

import codecs
import csv
import itertools
import unicodedata
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from io import StringIO
from pathlib import Path

from viva.cleaning import plaintext
from viva.verdict import CourseError

MOST_BYTES = 50 * 2**20
"""A gradebook of ten thousand students with a hundred columns takes a fifth of it."""
DELIMITERS = ",;\t"
TRIED = 5
"""The number of rows from which the separator of cells is guessed."""
FOREIGN = {
    b"PK\x03\x04": "an Excel or LibreOffice workbook, or another zip",
    b"PK\x05\x06": "an empty zip",
    b"\xd0\xcf\x11\xe0": "an old Excel workbook",
    b"%PDF": "a PDF",
    b"{\\rtf": "a text document",
    b"\x1f\x8b": "a compressed file",
    b"\x89PNG": "a picture",
    b"\xff\xd8\xff": "a picture",
    b"<": "a web page, or another document in XML",
}
"""By first bytes, the name of a format that is not CSV."""


@dataclass(frozen=True)
class Table:
    """The names of the columns, and each row that is not blank by the number of the line that it begins in."""

    header: tuple[str, ...]
    rows: dict[int, list[str]]
    notes: list[str] = field(default_factory=list)
    issuer: str = ""
    """Of a list that a learning system was asked for: whose its numbers are (``viva.course.gradebook.identities``)."""

    @classmethod
    def read(cls, path: Path) -> Table:
        """The table in a file, without the marks of ``csv_text``.

        Raises CourseError when the file is not a CSV, is damaged or too large, and OSError."""
        text, notes = _decoded(content(path), path)
        limit = csv.field_size_limit(MOST_BYTES)  # a cell of text may be longer than Python expects
        try:
            delimiter, text, skipped = _marked(text)
            rows = _rows(text, delimiter, skipped)
            header = next(rows, (0, []))[1]
            if not header:
                raise CourseError(f"{path} is empty. Export the file again, as CSV.")
            by_line = dict(rows)
        except csv.Error as error:
            raise CourseError(f"{path} is damaged: {error}. Export it again, as CSV.") from error
        finally:
            csv.field_size_limit(limit)
        width = len(header)
        for line, row in by_line.items():
            if any(cell.strip() for cell in row[width:]):
                raise CourseError(
                    f"Line {line} of {path} has {len(row)} cells, but the first line has {width} columns. Perhaps "
                    "a name with a comma has no quotes. Correct the line, or export the file again."
                )
            row[:] = [*map(plaintext.bare, row), *[""] * (width - len(row))]
        return cls(tuple(map(plaintext.line, header)), by_line, notes)


def own_rows(path: Path, columns: tuple[str, ...], needed: Collection[str] = ()) -> dict[int, dict[str, str]]:
    """The rows of a file that Viva writes, by line: the text in each of ``columns``, empty where the file lacks one.

    Nothing where there is no file. Raises CourseError where the first line does not name the ``needed`` columns, all
    of them if none are given, and as ``Table.read``."""
    if not path.exists():
        return {}
    table = Table.read(path)
    if not set(needed or columns) <= set(table.header):
        raise CourseError(
            f"The first line of {path} must have the columns {','.join(columns)}, but it has "
            f"{listed(table.header)}. Restore that line, or move the file to another place."
        )
    rows = ((line, dict(zip(table.header, row, strict=False))) for line, row in table.rows.items())
    return {line: {name: cells.get(name, "") for name in columns} for line, cells in rows}


def content(path: Path) -> bytes:
    """The bytes of a file that may be a list. Raises CourseError for another format, and OSError."""
    if path.is_dir():
        raise CourseError(f"{path} is a folder. Name the file, a CSV export.")
    if not path.exists():
        raise CourseError(f"The file {path} does not exist. Name the file, a CSV export.")
    with path.open("rb") as file:
        data = file.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise CourseError(f"{path} has more than {MOST_BYTES // 2**20} MB. That is too large for a roster.")
    start = data.removeprefix(codecs.BOM_UTF8).lstrip()
    for mark, form in FOREIGN.items():
        if start.startswith(mark):
            raise CourseError(f"{path} is {form}, and not what its name says. Open it and export it as CSV.")
    return data


def _decoded(data: bytes, path: Path) -> tuple[str, list[str]]:
    """The text in one normal form of Unicode, and remarks about it."""
    encoding, notes = "utf-8-sig", []
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        encoding = "utf-16"
    elif 0 in data[:2]:  # every second byte of English in UTF-16
        encoding = "utf-16-le" if data[1:2] == b"\0" else "utf-16-be"
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError:
        text = data.decode("cp1252", errors="replace")
        notes.append(
            f"{path} is not in UTF-8; it was read as Windows-1252. Check the names; if they are wrong, "
            "save it as 'CSV UTF-8'."
        )
    return unicodedata.normalize("NFC", text.lstrip("\ufeff")), notes


def _marked(text: str) -> tuple[str, str, int]:
    """The separator of cells, the text without Excel's line about it, and the number of lines that this line took."""
    first, _, rest = text.partition("\n")
    if first.lower().startswith("sep=") and first[4:5] in DELIMITERS and first[4:].strip(DELIMITERS + "\r") == "":
        return first[4:5] or ",", rest, 1
    return delimiter_of(text), text, 0


def delimiter_of(text: str) -> str:
    """The separator between the cells of a table."""
    return max(DELIMITERS, key=lambda mark: _fit(text, mark))


def _fit(text: str, delimiter: str) -> tuple[bool, int]:
    """How well a mark cuts the first rows: whether into as many cells each, and into how many."""
    reader = csv.reader(StringIO(text, newline=""), delimiter=delimiter)
    try:
        widths = [len(row) for row in itertools.islice(filter(any, reader), TRIED)]
    except csv.Error:
        return False, 0
    return len(set(widths)) == 1 and widths[0] > 1, widths[0] if widths else 0


def _rows(text: str, delimiter: str, skipped: int) -> Iterator[tuple[int, list[str]]]:
    """Each row that is not blank, with the line it begins in. Raises csv.Error, which names the line."""
    reader = csv.reader(StringIO(text, newline=""), delimiter=delimiter, strict=True)
    while True:
        line = reader.line_num + 1 + skipped
        try:
            row = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            raise csv.Error(f"in the row that starts in line {line} a quote is missing ({error})") from error
        if any(cell.strip() for cell in row):
            yield line, row


def csv_text(columns: Iterable[str], rows: Iterable[Iterable], end: str = "\n", exact: bool = False) -> str:
    """A table as CSV, in which no text is a formula to a spreadsheet, and none is hidden; each row ends with ``end``.

    It is ``exact`` for who finds people by these texts, and knows no mark before them.
    """
    text, lines = StringIO(newline=""), []
    writer = csv.writer(text)  # which puts quotes only around those ends of lines that it writes itself
    for row in itertools.chain([columns], rows):
        writer.writerow(
            plaintext.guarded(plaintext.shown(cell)) if isinstance(cell, str) and not exact else cell for cell in row
        )
        lines.append(text.getvalue().removesuffix("\r\n") + end)
        text.seek(0)
        text.truncate()
    return "".join(lines)


def listed(names: tuple[str, ...], most: int = 12) -> str:
    """The names of columns in a sentence."""
    shown = ", ".join(plaintext.quoted(name) for name in names[:most] if name)
    return shown + (f" and {len(names) - most} more" if len(names) > most else "")
