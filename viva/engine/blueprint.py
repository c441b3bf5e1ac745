"""The blueprint of an assignment: its cells in order, their points, and the checks in them."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode

from viva.engine.checks import Check, computed_from_hidden, marked_as_cut, split_checks, visible_and_hidden
from viva.notebook.cell import Purpose, grade_id, is_locked, purpose_of
from viva.notebook.names import definitions_of, imports_of, names_of, rebound_of
from viva.notebook.programming import PYTHON, kernel_name, language_of
from viva.verdict import BlueprintError

MOST_SECONDS = 10**9
"""A limit of more seconds is not meant."""
SOLUTION_MARK = re.compile(r"^\s*#.*(?:BEGIN|END) SOLUTION")


@dataclass(frozen=True)
class Cell:
    """One cell of an instructor notebook."""

    id: str
    purpose: Purpose
    source: str
    points: float = 0.0
    prelude: str = ""
    checks: tuple[Check, ...] = ()
    inside: bool = False
    """Whether the author says that a grade cell is a single-process cell."""
    seconds: float | None = None
    """The author's time limit for this cell, or for the notebook."""
    code: bool = True
    locked: bool = True
    """Whether nbgrader puts the released text back, whatever a student made of it."""

    @functools.lru_cache(maxsize=1024)  # noqa: B019 (cells are values, and few)
    def visible_names(self) -> set[str]:
        """The names that the visible lines of a grade cell bind, and that tell nothing of its hidden lines.

        Those neither bind nor change them, and nothing that they bind has a part in their values."""
        shown, lines = visible_and_hidden(self.source)
        visible, hidden = names_of(shown), names_of(lines)
        if not visible or not hidden:
            return set()
        again = imports_of(shown) - rebound_of(lines)  # what is imported twice is the same
        return visible.bound - rebound_of(lines) - (hidden.bound - again) - computed_from_hidden(self.source)

    @functools.lru_cache(maxsize=1024)  # noqa: B019
    def used_names(self) -> list[str]:
        """The names that a grade cell uses, in its functions too."""
        names = names_of(self.source)
        return sorted(names.needed) if names else []

    @functools.lru_cache(maxsize=1024)  # noqa: B019
    def definitions(self) -> tuple[str, ...]:
        """The imports and definitions in the visible lines of a grade cell, for the cells below it."""
        visible = self.visible_names()
        texts = definitions_of(visible_and_hidden(self.source)[0])
        return tuple(text for text in texts if (names := names_of(text)) and names.bound <= visible)


@dataclass(frozen=True)
class Blueprint:
    """The cells of one instructor notebook, in order."""

    name: str
    cells: tuple[Cell, ...]
    widened: tuple[str, ...] = ()
    """Paths of answers, as in ``model.fit()``, for which the author accepts any kind of thing."""
    budget: float | None = None
    """The author's limit of seconds for the whole notebook."""
    language: str = PYTHON
    """The language of its code."""
    kernel: str = ""
    """The name of the kernel that it asks for."""

    @property
    def is_python(self) -> bool:
        return self.language == PYTHON

    @property
    def automatic_points(self) -> float:
        return sum(cell.points for cell in self.cells if cell.purpose == Purpose.TESTS)

    @property
    def manual_points(self) -> float:
        return sum(cell.points for cell in self.cells if cell.purpose in (Purpose.MANUAL, Purpose.TASK))

    @property
    def points(self) -> float:
        return self.automatic_points + self.manual_points

    def checks(self) -> Iterator[tuple[Cell, Check]]:
        """Every check of the notebook with the grade cell it stands in, in order."""
        for cell in self.cells:
            for check in cell.checks:
                yield cell, check

    def solutions(self) -> dict[str, str]:
        """The instructor's answer to each answer cell, by cell id, without the solution markers."""
        return {
            cell.id: "\n".join(line for line in cell.source.splitlines() if not SOLUTION_MARK.match(line))
            for cell in self.cells
            if cell.purpose == Purpose.ANSWER
        }


def read_blueprint(
    path: Path, released: Mapping[str, str] | None = None, points: Mapping[str, float] | None = None
) -> Blueprint:
    """The blueprint of the instructor notebook at ``path``.

    ``released`` maps grade ids to the texts with which locked cells were released, hidden lines included:
    they are what nbgrader grades with, and hold the tests that it wrote for ``### AUTOTEST`` lines. ``points`` are
    those of test cells as they were released.

    Raises BlueprintError when a check cannot run on its own, when two checks of a cell share a
    title, when the checks of a cell do not add up to its points, when points or limits of time are not numbers,
    or when a kind is widened to anything but "any".
    """
    notebook = read_notebook(path)
    originals = [cell.source for cell in notebook.cells]
    for cell in notebook.cells:
        name = grade_id(cell)
        cell.source = (released or {}).get(name, cell.source)
        if points and name in points:
            cell.metadata.nbgrader["points"] = points[name]
    settings = notebook.metadata.get("viva", {})
    seconds, language = _time(settings, "seconds", f"{path}"), language_of(notebook.metadata)
    read = (
        _cell(cell, name, path, seconds, language)
        for cell, name in zip(notebook.cells, _names(notebook.cells), strict=True)
    )
    cells = tuple(
        replace(cell, checks=marked_as_cut(cell.checks, original)) if cell.source != original else cell
        for cell, original in zip(read, originals, strict=True)
    )
    kinds, budget = _widened(settings.get("kinds", {}), path), _time(settings, "budget", f"{path}")
    return Blueprint(path.stem, cells, kinds, budget, language, kernel_name(notebook.metadata))


def read_notebook(path: Path) -> NotebookNode:
    """The instructor notebook at ``path``, of any format that nbformat reads. Raises BlueprintError."""
    try:
        return nbformat.read(path, as_version=4)
    except Exception as error:  # nbformat raises whatever a broken file leads to
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise BlueprintError(
            f"{path} cannot be read as a notebook: {reason}. Open it in Jupyter, and save it."
        ) from error


def _names(cells: list[NotebookNode]) -> list[str]:
    """The name of each cell: its grade id, its own id, or its number if it has neither or another cell has it too.

    Notebooks of format 4.4 and older have no ids.
    """
    graded = [grade_id(cell) for cell in cells]
    names = [name for name in graded if name]
    for number, name in enumerate(graded, start=1):
        if not name:
            cell_id = cells[number - 1].get("id")
            graded[number - 1] = cell_id if cell_id and cell_id not in names else f"cell-{number}"
            names.append(graded[number - 1])
    return graded


def is_time(seconds: Any) -> bool:
    """Whether a limit of time is a number of seconds that a machine can wait."""
    return type(seconds) in (int, float) and 0 < seconds <= MOST_SECONDS


def _time(settings: dict, name: str, where: str) -> float | None:
    """A limit of time that metadata give, if they do."""
    if (seconds := settings.get(name)) is not None and not is_time(seconds):
        raise BlueprintError(
            f"{where}: '{name}' in the metadata is {seconds!r}, which is not a number. "
            f'Write, for example: {{"{name}": 60}}.'
        )
    return seconds


def _widened(kinds: object, path: Path) -> tuple[str, ...]:
    """The paths whose kind the notebook's metadata widen; ``f(...)`` means the same as ``f()``."""
    if not isinstance(kinds, dict) or not all(kind == "any" for kind in kinds.values()):
        raise BlueprintError(
            f"{path}: metadata.viva.kinds is not valid. It can only allow more types, for example: "
            '{"viva": {"kinds": {"model.fit()": "any"}}}.'
        )
    return tuple(str(name).replace("(...)", "()").replace("[...]", "[]") for name in kinds)


def _cell(cell: NotebookNode, name: str, path: Path, seconds: float | None, language: str) -> Cell:
    nbgrader = cell.metadata.get("nbgrader", {})
    purpose = purpose_of(cell)
    points = nbgrader.get("points", 0) if purpose in (Purpose.TESTS, Purpose.MANUAL, Purpose.TASK) else 0
    if not isinstance(points, int | float):
        way = f" Or run: viva adopt --in-place {path}" if isinstance(points, str) else ""
        raise BlueprintError(f"{path}, cell '{name}': its points are not a number: {points!r}. Correct them.{way}")
    prelude, checks = "", tuple[Check, ...]()
    if purpose == Purpose.TESTS:
        prelude, checks = split_checks(cell.source, name, float(points), f"{path}, cell '{name}'", language)
    settings = cell.metadata.get("viva", {})
    own_seconds = _time(settings, "seconds", f"{path}, cell '{name}'")
    return Cell(
        name,
        purpose,
        cell.source,
        float(points),
        prelude,
        checks,
        inside=settings.get("where") == "candidate",
        seconds=own_seconds or seconds,
        code=cell.cell_type == "code",
        locked=is_locked(cell),
    )
