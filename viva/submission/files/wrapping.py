"""Wrappings of a notebook: a web page, a letter's base64, another JSON document, a Python program's ``print``.

A browser that saves what it shows, the servers of GitHub and Jupyter, and ``str()`` of a notebook write these. Only
what is a notebook once it is taken out counts; nothing is executed. The time is linear in the length of the text.
"""

from __future__ import annotations

import base64
import html
import json
import re
from collections.abc import Callable

from viva.record import Note

WRAPPED, MOST_INSIDE = 3, 100
"""A notebook is looked for so deep inside another document, among so many values."""

_BASE64 = re.compile(r"\A\s*e[w-z][A-Za-z0-9+/\s]*+[=\s]*")
"""Of a text that begins with a brace."""
_QUOTED = re.compile("cell_type&(?:quot|#34|#x22);")
# Every quote opens a string that ends at the next quote or with the text, so that no place is looked at twice.
_PYTHON = re.compile(
    r"""
    ' ( (?: [^'\\] | \\. )*+ ) '?
    | " ( (?: [^"\\] | \\. )*+ ) "?
    | \b (?: None | True | False ) \b
    """,
    re.DOTALL | re.VERBOSE,
)
_WORDS = {"None": "null", "True": "true", "False": "false"}
_ESCAPE = re.compile(
    r"""
    \\ (?: x (?P<code>[0-9a-f]{2}) | U (?P<long>[0-9a-f]{8}) | (?P<same>.) )
    | (?P<quote>")                                                            # which JSON would take for an end
    """,
    re.DOTALL | re.VERBOSE,
)


def bare(text: str, repairs: list[Note]) -> str:
    """The text without a web page around it, or what makes it fit to stand in one or in a letter."""
    if '"cell_type"' not in text and _QUOTED.search(text):
        repairs.append(Note("as_page"))
        return _unescaped(text)
    if _BASE64.fullmatch(text) and "cell_type" in (inside := _decoded(text)):
        repairs.append(Note("as_letter"))
        return inside
    return text


def in_page(text: str) -> str:
    """The notebook that a web page shows as it is: what a browser saves of a page without HTML; or nothing."""
    begin, end = text.find("<pre"), text.rfind("</pre>")
    shown = _unescaped(text[text.find(">", begin) + 1 : end]) if -1 < begin < end else ""
    return shown if shown.lstrip().startswith("{") and '"cell_type"' in shown else ""


def _unescaped(text: str) -> str:
    try:
        return html.unescape(text)
    except ValueError:  # a number of a character with thousands of digits
        return text


def unwrapped(content: object, is_notebook: Callable[[object], bool], repairs: list[Note]) -> object:
    """A notebook that is the only one inside another document, as Jupyter's own server and other programs send it."""
    notebooks: list[object] = []
    layer: list[dict | list] = [[content]]
    if is_notebook(content) or (isinstance(content, list) and any(map(_is_cell, content))):
        return content
    for _ in range(1 + WRAPPED):
        inner = [value for item in layer for value in (item.values() if isinstance(item, dict) else item)]
        layer = [value for value in map(_opened, inner[:MOST_INSIDE]) if isinstance(value, dict | list)]
        notebooks += [value for value in layer if is_notebook(value)]
        if notebooks:
            break
    if len(notebooks) != 1:
        return content
    repairs.append(Note("inside_json"))
    return notebooks[0]


def _is_cell(value: object) -> bool:
    return isinstance(value, dict) and "cell_type" in value


def _opened(value: object) -> object:
    """JSON that is a text in JSON, as it is or as base64."""
    for _ in range(WRAPPED):
        if not isinstance(value, str):
            break
        text = _decoded(value) if _BASE64.fullmatch(value) else value
        if not text.startswith(("{", '"')):
            return None
        try:
            value = DECODER.raw_decode(text)[0]
        except (ValueError, RecursionError):
            return None
    return value


def _decoded(text: str) -> str:
    try:
        return base64.b64decode(text).decode("utf-8")
    except ValueError:
        return ""


def from_python(text: str) -> str:
    """JSON of what Python prints of a dictionary; no other text begins like that."""
    return _PYTHON.sub(_as_json, text) if re.match(r"\s*\{\s*'", text) else ""


def _as_json(match: re.Match) -> str:
    word = _WORDS.get(match[0])
    body = match[2] if match[1] is None else match[1]
    return word or f'"{_ESCAPE.sub(_as_escape, body)}"'


def _as_escape(match: re.Match) -> str:
    if code := match["code"] or match["long"]:
        number = int(code, 16)
        return json.dumps(chr(number))[1:-1] if number <= 0x10FFFF else "\\ufffd"
    return "'" if match["same"] == "'" else f"\\{match['same'] or match['quote']}"


DECODER = json.JSONDecoder(strict=False, parse_int=lambda digits: int(digits) if len(digits) < 100 else 0)


# Conflicts that a merge left in a file or in a cell, as git and nbdime write them: both sides are read.
#
# Which side a student meant is not guessed here. Where one is as released the other counts, as with any cell that
# stands twice; of two answers that before the merge does, and a grader is told.

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
    cells, keys, position = list(ours), [_key(cell) for cell in ours], 0
    key_set = set(keys)
    for cell in theirs:
        key = _key(cell)
        if key not in key_set:
            cells.insert(position, _second(cell))
            keys.insert(position, key)
            position += 1
        elif key in keys[position:]:
            position = keys.index(key, position) + 1
    return cells


def _second(cell: object) -> object:
    """A cell with its id where Colab keeps it, as two cells of a file may not share one."""
    if not isinstance(cell, dict) or "id" not in cell:
        return cell
    metadata = cell.get("metadata")
    mapping = metadata if isinstance(metadata, dict) else {}
    return {name: value for name, value in cell.items() if name != "id"} | {"metadata": {"id": cell["id"]} | mapping}


def _key(cell: object) -> str:
    """The part of a cell that a student wrote; outputs and counts differ with every run."""
    seen = [cell.get("cell_type"), cell.get("source", cell.get("input"))] if isinstance(cell, dict) else cell
    return json.dumps(seen)
