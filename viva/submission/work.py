"""One notebook on its way through nbgrader's steps: the input and the findings of each.

nbgrader hands a dictionary from step to step; ours find one ``Work`` in it. Where it is given nothing, as in nbgrader's
own commands, a step looks into the course for what it needs.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
import nbformat
from nbformat import NotebookNode
from nbformat.v4.rwbase import split_lines, strip_transient
from nbformat.validator import normalize
from traitlets.config import Config

from viva.engine.examination import Examination
from viva.engine.grading import Grader
from viva.engine.outcome import Outcome
from viva.record import Fault, NotebookRecord


@dataclass(frozen=True)
class Forms:
    """The cells of header and footer that a student may edit: texts by id, code by field."""

    texts: dict[str, str] = field(default_factory=dict)
    codes: dict[str, str] = field(default_factory=dict)


@dataclass
class Work:
    """The data that the steps share.

    `viva grade` sets the first five fields before the first step (``course/pipeline``). In nbgrader's own commands they
    are None: ``Examine`` calls ``prepare``, which sets the first three, and ``sanitize`` fetches the texts. A field
    that a new step needs is set in ``pipeline.go_through`` and in ``exporter.RepairingExporter``.
    """

    grader: Grader | None = None
    examination: Examination | None = None
    data: Path | None = None
    instructor_texts: frozenset[str] | None = None
    """The Markdown cells of the instructor's notebook."""
    forms: Forms | None = None
    seed: int | None = None
    """That of the variant which the notebook is graded as."""
    record: NotebookRecord = field(default_factory=NotebookRecord)
    outcome: Outcome | None = None
    sandboxed: bool = True
    prepare: Callable[[Work, Config], None] | None = None
    """Sets grader, examination and data, where nbgrader's own converter runs the steps."""

    @property
    def faults(self) -> list[Fault]:
        """Failures of the grader itself."""
        return self.outcome.faults if self.outcome else []

    @classmethod
    def of(cls, resources: dict) -> Work:
        """The one among nbgrader's resources; put there when there is none."""
        return resources.setdefault("nbgrader", {}).setdefault("viva", cls())


# A graded notebook as text.


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
    except ValueError:  # NaN is not JSON, but nbformat writes it
        text = json.dumps(notebook, indent=1, separators=(",", ": "), **usual)
    return f"{text}\n"
