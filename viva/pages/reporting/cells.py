"""The cells of graded notebooks as the report reads them, and where formgrader shows them."""

from __future__ import annotations

import json
from pathlib import Path


def read_cells(path: Path) -> list[dict]:
    """The cells of a graded notebook; none when it cannot be read. Validation would take most of the report's time."""
    try:
        cells = json.loads(path.read_bytes())["cells"]
        return [
            {
                "type": cell["cell_type"],
                "source": "".join(cell["source"]),
                "nbgrader": cell.get("metadata", {}).get("nbgrader", {}),
            }
            for cell in cells
        ]
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return []


def answers_in(cells: list[dict]) -> dict[str, str]:
    """The code that a student wrote, by answer cell."""
    own = (cell for cell in cells if cell["type"] == "code" and cell["nbgrader"].get("solution"))
    return {str(cell["nbgrader"].get("grade_id", "")): cell["source"] for cell in own}


def code_in(path: Path) -> dict[str, str]:
    """The code of a notebook that students were given, by place."""
    return {str(place): cell["source"] for place, cell in enumerate(read_cells(path)) if cell["type"] == "code"}


def focus(cells: list[dict], name: str) -> int:
    """The number by which formgrader's address puts a cell's score in focus: of what Tab reaches, from 1.

    On its page a graded cell has two boxes for points, an answer or a question one for a comment; the arrow to the
    next submission is the first of all.
    """
    place = 1
    for cell in cells:
        about = cell["nbgrader"]
        if name and about.get("grade_id") == name:
            return place
        place += 2 * bool(about.get("grade") or about.get("task")) + bool(about.get("solution") or about.get("task"))
    return 0
