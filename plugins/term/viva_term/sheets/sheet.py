"""A sheet as a learning system exported it: chosen cells change, and every other byte stays.

Theory of operation. The text is cut into cells that know where they begin and end in it; what was changed is put there
in place of the old, in quotes where the old was. Byte order mark, delimiter, line ends, quotes, order and blank lines
stay, since nothing is written again that was not changed.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from viva.course.table import content, delimiter_of
from viva.verdict import CourseError
from viva_term.lms.systems import plain, systems

QUOTED = r'"[^"]*+(?:""[^"]*+)*+"'
ESCAPED = r'"[^"\\]*+(?:(?:""|\\[\s\S])[^"\\]*+)*+"[^{mark}\r\n]*+'
"""As PHP reads it, and so Moodle: a quote behind a backslash does not end the cell, what follows the end is in it."""


@dataclass(frozen=True)
class Cell:
    """A cell, and where it stands in the text, its quotes included."""

    start: int
    end: int
    text: str
    quoted: bool = False


@dataclass(frozen=True)
class Sheet:
    """A sheet by its lines; a row is known by the line that it begins in."""

    path: Path
    text: str
    bom: bool
    delimiter: str
    cells: dict[int, list[Cell]]
    """The rows that are not blank; the first is the header."""

    @classmethod
    def read(cls, path: Path, escapes: bool = False) -> Sheet:
        """Read a sheet; with ``escapes`` as PHP does. Raises CourseError for another file, and OSError."""
        data = content(path)
        bom = data.startswith(codecs.BOM_UTF8)
        try:
            text = data.removeprefix(codecs.BOM_UTF8).decode()
        except UnicodeDecodeError as error:
            raise CourseError(
                f"{path} is not in UTF-8, so another program saved it after the export. That program may also have "
                "changed numbers and dates. Export it again, and do not open it in another program."
            ) from error
        delimiter = delimiter_of(text)
        cells = dict(_rows(text, delimiter, escapes, path))
        if escapes:
            _require_one_reading(text, delimiter, path, cells)
        if not cells:
            raise CourseError(f"{path} is empty. Export the sheet again.")
        return cls(path, text, bom, delimiter, cells)

    @cached_property
    def header(self) -> list[str]:
        return self._texts(next(iter(self.cells)))

    @cached_property
    def rows(self) -> dict[int, list[str]]:
        """The rows below the header, by the line that each begins in."""
        return {line: self._texts(line) for line in list(self.cells)[1:]}

    def _texts(self, line: int) -> list[str]:
        return [cell.text for cell in self.cells[line]]

    def place(self, names: frozenset[str] | set[str]) -> int | None:
        """Which column has one of these names, written as ``systems.plain`` does; None where none has."""
        return next((position for position, name in enumerate(self.header) if plain(name) in names), None)

    def places(self, system: str, wanted: Iterable[str]) -> dict[str, int | None]:
        """By our names of a system's columns, which column each is."""
        names = systems()[system].columns
        return {ours: self.place({plain(name) for name in names[ours]}) for ours in wanted}

    def require_width(self) -> None:
        """Raises CourseError when a row has more or fewer cells than the header, as importers refuse that."""
        width = len(self.header)
        for line, row in self.cells.items():
            if len(row) != width:
                raise CourseError(
                    f"Line {line} of {self.path} has {len(row)} cells, but the first line has {width}. The system "
                    "would not import the file correctly. Perhaps a cell has a backslash before a quote: then remove "
                    "it. Otherwise export the sheet again."
                )

    def changed(self, column: int, cells: Mapping[int, str]) -> bytes:
        """The sheet with other texts, by line, in one column."""
        parts, done = [], 0
        for line in sorted(cells):
            cell = self.cells[line][column]
            parts += [self.text[done : cell.start], self._as_cell(cells[line], cell.quoted)]
            done = cell.end
        text = "".join([*parts, self.text[done:]])
        return codecs.BOM_UTF8 * self.bom + text.encode()

    def _as_cell(self, text: str, quoted: bool) -> str:
        quoted = quoted or any(sign in text for sign in (self.delimiter, '"', "\n", "\r"))
        return '"' + text.replace('"', '""') + '"' if quoted else text


def _rows(text: str, delimiter: str, escapes: bool, path: Path) -> Iterator[tuple[int, list[Cell]]]:
    """Each row that is not blank, with its line. Raises CourseError when quotes do not match."""
    mark = re.escape(delimiter)
    quoted = ESCAPED.replace("{mark}", mark) if escapes else QUOTED
    inside, end = rf'(?P<quoted>{quoted})|(?!")(?P<bare>[^{mark}\r\n]*+)', rf"{mark}|\r\n|\r|\n|\Z"
    cell = re.compile(rf"(?:{inside})(?P<end>{end})")
    row: list[Cell] = []
    position, line, begun = 0, 1, 1
    while position < len(text) or row:
        match = cell.match(text, position)
        if not match:
            raise CourseError(
                f"{path} is damaged: in the row that starts in line {begun} a quote is missing. Export it again."
            )
        inside = match["quoted"]
        content = _unquoted(inside) if inside is not None else match["bare"]
        row.append(Cell(match.start(), match.start("end"), content, inside is not None))
        line += len(re.findall(r"\r\n|\r|\n", match[0]))
        position = match.end()
        if match["end"] != delimiter:
            if any(item.text.strip() for item in row):
                yield begun, row
            row, begun = [], line


def _require_one_reading(text: str, delimiter: str, path: Path, cells: Mapping[int, list[Cell]]) -> None:
    """Raises CourseError where PHP takes several cells for one, as one that ends with a backslash goes on."""
    try:
        readings = dict(_rows(text, delimiter, False, path))
    except CourseError:  # an older Moodle wrote it so, with single quotes behind backslashes
        return
    for line, row in readings.items():
        if [(cell.start, cell.end) for cell in cells.get(line, ())] != [(cell.start, cell.end) for cell in row]:
            raise CourseError(
                f"Line {line} of {path} has a backslash before a quote, so Moodle's importer would continue "
                "into the next cell. Remove that backslash in a text editor, then try again."
            )


def _unquoted(cell: str) -> str:
    inside, _, behind = cell[1:].rpartition('"')
    return inside.replace('""', '"') + behind
