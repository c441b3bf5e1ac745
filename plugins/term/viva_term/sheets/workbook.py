"""All scores as an Excel workbook: numbers and times are typed, and no text is computed.

Names have the mark before them that they have in grades.csv too, as somebody may save the workbook as CSV.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path
from typing import Any

from openpyxl import Workbook
from openpyxl.cell import Cell, WriteOnlyCell
from openpyxl.styles import Font

from viva.cleaning import plaintext
from viva.course.grades.export import COLUMNS, CsvExport
from viva.course.processes import leftovers

TEXT = "s"


class WorkbookExport(CsvExport):
    """The rows of ``scores`` as a workbook, for the ``--exporter`` of ``nbgrader export``."""

    name = "grades.xlsx"

    def write(self, rows: Iterable[dict], path: Path) -> None:
        book = Workbook(write_only=True)
        sheet = book.create_sheet("grades")
        sheet.freeze_panes = "A2"

        def cell(value: Any) -> Cell:
            if not isinstance(value, str):
                return WriteOnlyCell(sheet, value)
            text = plaintext.lines(value)  # a workbook cannot hold control characters
            built = WriteOnlyCell(sheet, plaintext.guarded(text))
            built.data_type = TEXT  # else text that begins with = would be a formula
            return built

        head = [cell(name) for name in COLUMNS]
        for built in head:
            built.font = Font(bold=True)
        sheet.append(head)
        for row in rows:
            sheet.append([cell(value) for value in map(row.get, COLUMNS)])
        with leftovers.whole(path) as file:
            book.save(file.buffer)


# All scores as JSON: a list with an object for each row of grades.csv, numbers as numbers, times in ISO 8601.


class JsonExport(CsvExport):
    """The rows of ``scores`` as JSON, for the ``--exporter`` of ``nbgrader export``."""

    name = "grades.json"

    def write(self, rows: Iterable[dict], path: Path) -> None:
        leftovers.write(path, json.dumps(list(rows), indent=1, ensure_ascii=False, default=_text) + "\n")


def _text(value: object) -> str:
    return value.isoformat() if isinstance(value, datetime) else str(value)
