"""The scores of a class as tables on a terminal."""

from __future__ import annotations

import math
from collections import Counter

from rich.console import Console
from rich.measure import Measurement
from rich.table import Table

from viva.cleaning import plaintext
from viva.commands.terminal import figures, whole
from viva.course.gradebook.standing import Status

MARKS = ("score", "max_score")
UNLIMITED = 10_000
"""More columns of letters than any screen has."""


def class_tables(rows: list[dict], assignments: list[str], console: Console) -> list[Table]:
    """The class as one table, or as several where the screen is too narrow for all of its columns."""
    wide = console.options.update(max_width=UNLIMITED)
    for parts in range(1, len(assignments) + 1):
        count = math.ceil(len(assignments) / parts)
        shares = [assignments[start : start + count] for start in range(0, len(assignments), count)]
        tables = [_class_table(rows, share, assignments if share is shares[-1] else []) for share in shares]
        if all(Measurement.get(console, wide, table).maximum <= console.width for table in tables):
            break
    return tables


def _class_table(rows: list[dict], assignments: list[str], summed: list[str]) -> Table:
    """A column for each of some assignments, and, where some are to be ``summed``, one for their total."""
    numbers = figures(*(name.partition("_")[0] for name in assignments), *["total"] * bool(summed))
    table = Table(whole("student"), *numbers)
    by_place = {(row["student_id"], row["assignment"]): row for row in rows}
    for student in dict.fromkeys(row["student_id"] for row in rows):
        cells = [by_place[student, name] for name in summed]
        total, counted = (sum(row[key] or 0 for row in cells if row["status"] != Status.EXCUSED) for key in MARKS)
        of = f" of {counted:g}" if any(row["status"] == Status.EXCUSED for row in cells) else ""
        scores = [_score(by_place[student, name]) for name in assignments]
        together = _waiting(f"{total:.4g}", any(row["needs_manual_grade"] for row in cells)) + of
        table.add_row(plaintext.line(student), *scores, *[together] * bool(summed))
    table.add_section()
    maxima: Counter[str] = Counter()
    for row in rows:
        maxima[row["assignment"]] = max(maxima[row["assignment"]], row["max_score"])
    most = [f"{sum(maxima[name] for name in summed):g}"] * bool(summed)
    table.add_row("maximum", *(f"{maxima[name]:g}" for name in assignments), *most)
    return table


def _score(row: dict) -> str:
    if row["score"] is None:
        return "-" if row["status"] == Status.MISSING else row["status"]
    late = "*" if row["seconds_late"] else ""
    return _waiting(f"{row['score']:.4g}{late}", row["needs_manual_grade"])


def _waiting(score: str, waits: bool) -> str:
    return f"({score})" if waits else score
