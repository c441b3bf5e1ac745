"""The CSV files of a report: in the page itself where they are small, beside it in a large class."""

from __future__ import annotations

import base64
from collections.abc import Iterable
from pathlib import Path
from urllib.parse import quote

from viva.cleaning import plaintext
from viva.course import table
from viva.course.processes import leftovers

MOST_BYTES = 1_000_000
"""Of CSV in a page. A browser reads so much in a moment; where there is more, all of it lies beside the page."""
LONGEST = 1000
"""Characters of a text in a cell."""


class Tables:
    """Gives each table of a page its address; ``write`` what does not stand in the page into ``folder``, if any."""

    def __init__(self, folder: str = "") -> None:
        self.folder = folder
        self.texts: dict[str, bytes] = {}

    @property
    def size(self) -> int:
        """In bytes, of all that were asked for."""
        return sum(map(len, self.texts.values()))

    def address(self, rows: Iterable[dict], name: str) -> str:
        """The address of rows as a file called ``name``: in the page itself, or beside it."""
        self.texts[name] = data = csv_text(rows).encode("utf-8", "replace")
        if self.folder:
            return f"{quote(self.folder)}/{quote(name, safe='')}.csv"
        return f"data:text/csv;charset=utf-8;base64,{base64.b64encode(data).decode()}"

    def write(self, beside: Path) -> None:
        """Write the files that the page names; others of an older page go."""
        folder = beside / self.folder
        folder.mkdir(exist_ok=True)
        for name, data in self.texts.items():
            leftovers.write(folder / f"{name}.csv", data.decode())
        for path in set(folder.glob("*.csv")) - {folder / f"{name}.csv" for name in self.texts}:
            path.unlink()


def csv_text(rows: Iterable[dict]) -> str:
    """Rows as CSV, each text in one line."""
    rows = list(rows)
    columns = list(rows[0]) if rows else ["nothing"]
    cells = (
        [plaintext.line(row[name], LONGEST) if isinstance(row[name], str) else row[name] for name in columns]
        for row in rows
    )
    return table.csv_text(columns, cells)
