"""Conflicts that a merge left in a file or in a cell, as git and nbdime write them: both sides are read.

Which side a student meant is not guessed here. Where one is as released the other counts, as with any cell that
stands twice; of two answers that before the merge does, and a human is told.
"""

from __future__ import annotations

import json

_NEXT = {"<<<<<<<": ("both", "ours"), "|||||||": ("ours", "base"), ">>>>>>>": ("theirs", "both")}
"""By mark, where in a conflict it stands, and what follows it."""


def sides(text: str) -> tuple[str, str] | None:
    """A text with conflicts as it was before the merge, and as the merged one was; None when it has no whole one."""
    ours, theirs, where, conflicts = [], [], "both", 0
    for line in text.splitlines(keepends=True) if "<<<<<<<" in text else ():
        mark = line[:7] if not line[7:8].strip() else ""
        if mark == "=======" and where in ("ours", "base"):
            where = "theirs"
        elif mark in _NEXT and _NEXT[mark][0] == where:
            where = _NEXT[mark][1]
            conflicts += mark == ">>>>>>>"
        else:
            ours += [line] if where in ("both", "ours") else []
            theirs += [line] if where in ("both", "theirs") else []
    return ("".join(ours), "".join(theirs)) if conflicts and where == "both" else None


def joined(ours: list, theirs: list) -> list:
    """The cells of both sides; what only the other one has stands above what has its place, so that this one counts."""
    cells, keys, place = list(ours), [_key(cell) for cell in ours], 0
    known = set(keys)
    for cell in theirs:
        key = _key(cell)
        if key not in known:
            cells.insert(place, _second(cell))
            keys.insert(place, key)
            place += 1
        elif key in keys[place:]:
            place = keys.index(key, place) + 1
    return cells


def _second(cell: object) -> object:
    """A cell with its id where Colab keeps it, as two cells of a file may not share one."""
    if not isinstance(cell, dict) or "id" not in cell:
        return cell
    metadata = cell.get("metadata")
    known = metadata if isinstance(metadata, dict) else {}
    return {name: value for name, value in cell.items() if name != "id"} | {"metadata": {"id": cell["id"]} | known}


def _key(cell: object) -> str:
    """What a student sees of a cell; outputs and counts differ with every run."""
    seen = [cell.get("cell_type"), cell.get("source", cell.get("input"))] if isinstance(cell, dict) else cell
    return json.dumps(seen)
