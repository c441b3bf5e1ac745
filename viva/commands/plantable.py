"""The plan of an export as tables on a terminal, and as JSON knows it."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import asdict, replace
from functools import partial

from rich.table import Table

from viva.cleaning import plaintext
from viva.commands.terminal import explained, figures, whole
from viva.course.grades.sheetplan import Line, Plan

SHOWN = 20
"""The number of students that each part names; --json names all."""
PARTS = {
    "written": "written",
    "replaced": "replaced",
    "unchanged": "unchanged",
    "left": "left",
    "absent": "absent",
    "strangers": "unclear",
}
"""The parts of a plan, and their names in tables."""
LEGEND = (
    "left: scores that are not changed; the reasons are below. absent: students of the gradebook who are not in the "
    "other list. unclear: rows of that list whose student is not known."
)
"""What the heads of the tables mean."""
TOLD = ("replaced", "left", "absent", "strangers")
"""The parts whose students are named."""


def document(plan: Plan) -> dict[str, list[dict]]:
    """By part, its students."""
    return {part: [asdict(line) for line in getattr(plan, part)] for part in PARTS}


def counts(plan: Plan) -> Table:
    """How many students are in each part."""
    table = explained(LEGEND, whole(plan.title), *figures(*PARTS.values()))
    table.add_row(plaintext.line(plan.column), *(str(len(getattr(plan, part))) for part in PARTS))
    return table


def people(plan: Plan) -> Table:
    """A table of the students who do not simply get a new score."""
    table = Table("", whole("student"), "name", "what")
    for part in TOLD:
        row, lines = partial(table.add_row, PARTS[part]), getattr(plan, part)
        lines_by_reason = defaultdict(list)
        for line in lines:
            lines_by_reason[line.what].append(line)
        # In a class most are left for one of a few reasons; a list of the first students would hide the other ones.
        if part == "left" and len(lines) > SHOWN:
            lines = [replace(same[0], name=_counted(same), what=reason) for reason, same in lines_by_reason.items()]
            lines.sort(key=lambda line: -len(lines_by_reason[line.what]))
        for line in lines[:SHOWN]:
            row(*(plaintext.line(text) for text in (line.student, line.name, line.what)))
        if len(lines) > SHOWN:
            row("", "", f"and {len(lines) - SHOWN} more")
    return table


def _counted(lines: list[Line]) -> str:
    """The first student of a group, and the number of the others."""
    return lines[0].name + (f" and {len(lines) - 1} more" if len(lines) > 1 else "")
