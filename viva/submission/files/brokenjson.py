"""The text of a file -> JSON, or as much of it as there is.

Theory of operation. Most files are read at once. Else, in this order: what Python printed is made JSON; commas too
many, and blanks that JSON does not know, are left out; where git could not merge, both sides are read (``conflict``);
and each cell that is whole is read on its own, so that only a cell that is cut in two is lost, and said so. The time
is linear in the length of the text.
"""

from __future__ import annotations

import json
import re
from typing import TypeGuard

from viva.cleaning import plaintext
from viva.record import Note, note
from viva.submission.files import wrapping
from viva.submission.files.wrapping import DECODER, bare, from_python, unwrapped
from viva.wording import refusal

MOST_BEHIND = 5
"""The most notebooks that are read behind the first one in a file."""
MOST_BREAKS = 20
"""The most broken places that are stepped over."""
SHOWN = 40
"""Characters that are shown of what is not a notebook."""

# Every quote opens a string that ends at the next quote or with the text, so that no place is looked at twice.
_COMMA = re.compile(r'("(?:[^"\\]|\\.)*+"?)|,(?=\s*[\]}])|[^\S \t\r\n]|[\0\ufeff]', re.DOTALL)
_PADDING = "\0 \t\r\n\x1a"
_NOTHING = re.compile(f"[{_PADDING}]*")
_CELLS = re.compile(r'"(?:cells|worksheets)"\s*:\s*\[')
_KEYS = "cell_type|id|metadata|attachments|execution_count|source|outputs|input|collapsed|language|level"
_CELL = re.compile(rf'\{{\s*"(?:{_KEYS})"\s*:')
_CONFLICT = re.compile(r"^<{7} ", re.MULTILINE)


class Damaged(dict):
    """JSON of which a part is lost."""


class _BrokenError(Exception):
    """JSON ends at a place."""

    def __init__(self, text: str, offset: int, reason: str) -> None:
        self.reason, self.where = reason, (text.count("\n", 0, offset) + 1, offset - text.rfind("\n", 0, offset))
        """A line and a column."""
        super().__init__(f"invalid JSON at line {self.where[0]}, column {self.where[1]} ({reason})")


def _value(text: str, start: int) -> tuple[object, int]:
    try:
        return DECODER.raw_decode(text, start)
    except json.JSONDecodeError as error:
        raise _BrokenError(text, error.pos, error.msg) from error
    except StopIteration as error:
        raise _BrokenError(text, start, "nothing follows") from error
    except RecursionError as error:
        raise _BrokenError(text, start, "it is nested too deeply") from error


def parsed(text: str, repairs: list[Note]) -> object:
    """The JSON of a file, or as much of it as there is."""
    text = bare(text, repairs)
    try:
        content = _whole(text, repairs)
        return unwrapped(content, has_cells, repairs)
    except _BrokenError as error:
        broken = error
    if content := _notebook_in(from_python(text), repairs):
        repairs.append(Note("as_python"))
        return content
    mended = _COMMA.sub(lambda match: match[1] or "", text)
    if mended != text:
        try:
            content = _whole(mended, repairs)
            too_much = "comma_too_many" if mended.count(",") < text.count(",") else "odd_blank"
            repairs.append(Note(too_much, numbers=broken.where))
            return unwrapped(content, has_cells, repairs)
        except _BrokenError as error:
            broken = error
    if content := _of_both_sides(text, repairs):
        return content
    cells, lost = _whole_cells(mended)
    if not cells:
        shown = plaintext.line(text.strip(), SHOWN)
        raise refusal("invalid_json", broken.reason, shown, numbers=broken.where)
    kind = "json_breaks_lost" if lost else "json_breaks"
    repairs.append(note(kind, broken.reason, numbers=broken.where, amount=len(cells)))
    if _CONFLICT.search(text):
        repairs.append(Note("json_conflict"))
    return Damaged(nbformat=4, cells=cells)


def _of_both_sides(text: str, repairs: list[Note]) -> dict | None:
    """A file that git could not merge: the cells of both sides, or of that before the merge when it alone is whole."""
    notes: list[Note] = []
    before, merged = (_notebook_in(side, notes) for side in wrapping.sides(text) or ("", ""))
    if before is None:
        return None
    repairs += dict.fromkeys(notes)
    lists = [side["cells"] for side in (before, merged or {}) if isinstance(side.get("cells"), list)]
    if not merged or len(lists) < 2:
        repairs.append(Note("conflict_before"))
        return Damaged(before)
    repairs.append(Note("conflict_both"))
    return before | {"cells": wrapping.joined(*lists)}


def _notebook_in(text: str, repairs: list[Note]) -> dict | None:
    try:
        content = _whole(text, repairs)
    except _BrokenError:
        return None
    return content if has_cells(content) else None


def _whole(text: str, repairs: list[Note]) -> object:
    content, end = _value(text, len(text) - len(text.lstrip()))
    end = _past_nothing(text, end)
    if end < len(text):
        if not has_cells(content):
            raise _BrokenError(text, end, "the JSON ends here, but more text follows")
        end = _joined_with_others(content, text, end, repairs)
    if text.find('"cell_type"', end) > -1:
        raise _BrokenError(text, end, "the JSON ends here, but more text follows")
    if end < len(text):
        repairs.append(Note("more_behind", amount=len(text[end:].rstrip(_PADDING))))
    return content


def _past_nothing(text: str, offset: int) -> int:
    """Behind the blanks and zeros that may follow a document."""
    padding = _NOTHING.match(text, offset)
    return padding.end() if padding else offset


def _joined_with_others(content: dict, text: str, end: int, repairs: list[Note]) -> int:
    """Add the cells of the notebooks that stand behind the first, but for the same again; where the last one ends."""
    notebooks: list[list] = []
    while isinstance(content.get("cells"), list) and len(notebooks) < MOST_BEHIND and text.startswith("{", end):
        try:
            value, behind = _value(text, end)
        except _BrokenError:
            break
        if not isinstance(value, dict) or not isinstance(value.get("cells"), list):
            break
        notebooks.append(value["cells"])
        end = _past_nothing(text, behind)
    if different := [cells for cells in notebooks if cells != content.get("cells")]:
        repairs.append(Note("two_notebooks"))
        for cells in different:
            content["cells"] = wrapping.joined(cells, content["cells"])
    return end


def has_cells(content: object) -> TypeGuard[dict]:
    return isinstance(content, dict) and ("cells" in content or "worksheets" in content)


def _whole_cells(text: str) -> tuple[list[dict], bool]:
    """The cells that are whole, and whether something between them is not."""
    # Inside a string of JSON a quote has a backslash, so that this finds no cell that a student only printed.
    begin = _CELLS.search(text)
    offset, cells, breaks = begin.end() if begin else 0, [], 0
    while breaks < MOST_BREAKS and (match := _CELL.search(text, offset)):
        try:
            cell, offset = _value(text, match.start())
        except _BrokenError:
            breaks += 1
            offset = match.end()
            continue
        if isinstance(cell, dict) and "cell_type" in cell and ("source" in cell or "input" in cell):
            cells.append(cell)
    return cells, breaks > 0 or not begin
