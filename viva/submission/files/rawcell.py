"""One cell of a damaged notebook, as JSON gave it -> a cell that nbformat takes."""

from __future__ import annotations

import re
from typing import Any

from nbformat import NotebookNode

Odd = dict[tuple[str, ...], list[int]]
"""By what was put right (the kind of a note, and its names), the numbers of the cells that it was put right in."""
TYPES = ("code", "markdown", "raw")
REFUSALS = ("SyntaxError", "IndentationError", "TabError")
ID = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_CONTROL = re.compile("[\x00-\x08\x0e-\x1f\x7f\ufeff]")
_LINE_END = re.compile("\r*\n|\r|\x0b")
"""As programs of several systems write it one after the other, and as word processors do within a paragraph."""
_SURROGATE = re.compile("[\ud800-\udfff]")


def read_cell(raw: dict, number: int, odd: Odd) -> NotebookNode:
    """A cell without outputs."""
    cell_type = _cell_type(raw, number, odd)
    source = _text(raw, number, odd)
    cleaned = _SURROGATE.sub("\ufffd", _CONTROL.sub("", source))
    if cleaned != source:
        odd["control_characters",].append(number)
    cleaned = _LINE_END.sub("\n", cleaned)
    if raw.get("cell_type") == "heading":
        level: Any = raw.get("level")
        cleaned = f"{'#' * (int(level) if level in range(1, 7) else 1)} {cleaned}"
    cell = NotebookNode(
        cell_type=cell_type, id=_word(raw.get("id")), metadata=_metadata(raw, number, odd), source=cleaned
    )
    if cell_type == "code":
        if not isinstance(raw.get("outputs", []), list):
            odd["outputs_no_list",].append(number)
        elif any(isinstance(one, dict) and one.get("ename") in REFUSALS for one in raw.get("outputs", [])):
            cell.metadata.refused = True
        cell.update(outputs=[], execution_count=None)
    elif pictures := _attachments(raw.get("attachments")):
        cell.attachments = pictures
    return cell


def _cell_type(raw: dict, number: int, odd: Odd) -> str:
    cell_type = raw.get("cell_type")
    if cell_type in TYPES:
        return cell_type
    if cell_type in ("heading", "html"):
        return "markdown"
    if isinstance(cell_type, str) and cell_type.strip().lower() in TYPES:
        return cell_type.strip().lower()
    guess = "code" if any(key in raw for key in ("outputs", "execution_count", "input")) else "markdown"
    odd["unknown_type", guess].append(number)
    return guess


def _text(raw: dict, number: int, odd: Odd) -> str:
    source = raw.get("source", raw.get("input"))
    if isinstance(source, str):
        return source
    if not isinstance(source, list):
        odd["without_text",].append(number)
        return ""
    lines: list[str] = []
    rest: list[object] = [source]
    bad = False
    while rest:  # lists in lists, without recursion
        item = rest.pop()
        if isinstance(item, list):
            bad |= item is not source
            rest.extend(reversed(item))
        elif isinstance(item, str):
            lines.append(item)
        else:
            bad = True
    if bad:
        odd["nested_text",].append(number)
    if len(lines) > 1 and not any("\n" in line for line in lines):
        odd["lines_without_ends",].append(number)
        return "\n".join(lines)
    return "".join(lines)


def _metadata(raw: dict, number: int, odd: Odd) -> NotebookNode:
    metadata = raw.get("metadata", {})
    found = NotebookNode()
    if not isinstance(metadata, dict):
        odd["odd_metadata",].append(number)
        return found
    nbgrader = metadata.get("nbgrader", {})
    if not isinstance(nbgrader, dict) or not isinstance(nbgrader.get("grade_id", ""), str):
        odd["odd_nbgrader",].append(number)
    elif nbgrader.get("grade_id"):
        found.nbgrader = NotebookNode(grade_id=nbgrader["grade_id"])
        if isinstance(nbgrader.get("checksum"), str):
            found.nbgrader.checksum = nbgrader["checksum"]
    if name := _word(metadata.get("id")) or _word(metadata.get("cell_id")):
        found.id = name
    return found


def _word(value: object) -> str:
    return value if isinstance(value, str) and ID.fullmatch(value) else ""


def _attachments(value: object) -> NotebookNode:
    """Pictures in a written answer, by name and type, where they are what they should be."""
    pictures = NotebookNode()
    for name, bundle in value.items() if isinstance(value, dict) else ():
        if isinstance(bundle, dict):
            kept = {key: text for key, text in bundle.items() if isinstance(text, str) and not _SURROGATE.search(text)}
            if kept and not _SURROGATE.search(name):
                pictures[name] = NotebookNode(kept)
    return pictures
