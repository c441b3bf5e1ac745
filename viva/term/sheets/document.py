"""All scores as JSON: a list with an object for each row of grades.csv, numbers as numbers, times in ISO 8601."""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path

from viva.course.gradebook.export import CsvExport
from viva.course.processes import leftovers


class JsonExport(CsvExport):
    """The rows of ``scores`` as JSON, for the ``--exporter`` of ``nbgrader export``."""

    name = "grades.json"

    def write(self, rows: Iterable[dict], path: Path) -> None:
        leftovers.write(path, json.dumps(list(rows), indent=1, ensure_ascii=False, default=_text) + "\n")


def _text(value: object) -> str:
    return value.isoformat() if isinstance(value, datetime) else str(value)
