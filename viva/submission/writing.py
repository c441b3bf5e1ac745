"""A graded notebook as text."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import nbformat
from nbformat import NotebookNode
from nbformat.v4.rwbase import split_lines, strip_transient
from nbformat.validator import normalize


def as_text(notebook: NotebookNode) -> str:
    """What ``nbconvert.NotebookExporter`` and ``nbformat.writes`` make of a notebook, which is used up.

    They copy it four times, and with an indent Python's JSON does without its C code. Raises nbformat.ValidationError.
    """
    ids = [cell.get("id") for cell in notebook.cells]
    if None in ids or len(set(ids)) < len(ids):
        _, notebook = normalize(notebook)
    nbformat.validate(notebook, relax_add_props=True)
    notebook = strip_transient(split_lines(notebook))
    usual: dict[str, Any] = {"sort_keys": True, "ensure_ascii": False}
    try:
        text = msgspec.json.format(json.dumps(notebook, separators=(",", ":"), **usual), indent=1)
    except ValueError:  # NaN is no JSON, but nbformat writes it
        text = json.dumps(notebook, indent=1, separators=(",", ": "), **usual)
    return f"{text}\n"
