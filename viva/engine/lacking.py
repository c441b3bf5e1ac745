"""Libraries that a student's cells import and that are not installed where they are graded, so that nothing below ran.

The student's own machine may have them, as tqdm for a bar of progress, and the answer may be right: a human looks at
it, and is told what to install. That a library is not there is said by the student's process, and is believed only of
what a cell's text imports and nobody here finds; it gives no points.
"""

from __future__ import annotations

import ast
import importlib.util
import re

from nbformat import NotebookNode

from viva.engine.examination import Examination
from viva.engine.names import NOTHING, nodes_of, parsed
from viva.engine.outcome import Outcome
from viva.record import Note, note
from viva.verdict import Verdict

MISSING = "ModuleNotFoundError"
NO_MODULE = re.compile(r"No module named '(\w{1,60})(?:\.[\w.]*)?'")
FOR_WANT = frozenset({"NameError", MISSING})
"""What a test ends with that uses what a cell below such an import would have given."""
LONGEST = 200_000
"""A longer cell is not looked at."""


def libraries_lacking(outcome: Outcome, notebook: NotebookNode, examination: Examination) -> list[Note]:
    """A doubt for each library and cell; it concerns the checks below that ended for want of a name or a module."""
    ended = [
        cell
        for cell, results in outcome.checks.items()
        if any(one.verdict is Verdict.ERROR and one.exception in FOR_WANT for one in results)
    ]
    told = {match[1] for text in _told(outcome) for match in NO_MODULE.finditer(text)} if ended else set()
    told = {name for name in told if not _is_here(name)}
    tests = {cell.id for cell in examination.blueprint.cells if cell.purpose == "tests"}
    found = []
    for index, cell in enumerate(notebook.cells if told else ()):
        name = cell.metadata.get("nbgrader", {}).get("grade_id", "")
        if cell.cell_type != "code" or name in tests or len(cell.source) > LONGEST:
            continue
        below = {other.metadata.get("nbgrader", {}).get("grade_id") for other in notebook.cells[index:]}
        if concerned := tuple(test for test in ended if test in below):
            for library in sorted(told & _imported(cell.source)):
                kind, cells = ("library", (name,)) if name else ("own_library", ())
                found.append(note(kind, library, cells=cells, tests=concerned, doubt=True))
    return list(dict.fromkeys(found))


def _told(outcome: Outcome) -> list[str]:
    """What was said about modules, by cells and by checks."""
    outputs = [item for items, _ in outcome.outputs.values() for item in items if item["output_type"] == "error"]
    cells = [item["evalue"] for item in outputs if item["ename"] == MISSING]
    results = [one for results in outcome.checks.values() for one in results]
    return cells + [one.message for one in results if one.exception == MISSING]


def _is_here(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is not None
    except (ImportError, ValueError):
        return False


def _imported(source: str) -> set[str]:
    """The libraries that a cell imports, also in its functions."""
    found = set()
    for node in nodes_of(parsed(source) or NOTHING):
        match node:
            case ast.Import(names=aliases):
                found |= {alias.name.partition(".")[0] for alias in aliases}
            case ast.ImportFrom(module=str(module), level=0):
                found.add(module.partition(".")[0])
    return found
