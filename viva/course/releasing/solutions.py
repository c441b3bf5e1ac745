"""Solution notebooks: the students' version with the instructor's answers, to give out after the deadline."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import nbformat
from nbgrader import utils

from viva.course.course import Course
from viva.course.gradebook import releases
from viva.course.releasing import contract
from viva.course.releasing.compiler import without_hidden
from viva.course.releasing.contract import Contract
from viva.course.source.markers import marker_in
from viva.engine.blueprint import SOLUTION_MARK, read_notebook
from viva.folder import fill
from viva.verdict import CourseError

FOLDER = "solutions"


def write_solutions(course: Course, assignment: str, tell: Callable[[str], object] = print) -> list[Path]:
    """Write the solution notebooks of an assignment as it was released, with its files, into solutions/.

    They hold neither hidden tests nor marking schemes. release/ and the gradebook stay as they are; who is to ``tell``
    says where the source is another one by now. Raises CourseError where the assignment was not released, or a marker
    is left; then nothing is written.
    """
    released, folder = course.path("release", assignment), course.root / FOLDER / assignment
    names = releases.notebooks(course, assignment)
    if missing := [f"{name}.ipynb" for name in sorted(names) if not (released / f"{name}.ipynb").is_file()]:
        raise CourseError(
            f"{', '.join(missing)} of {assignment} is not in {released}. Solutions are only for released notebooks. "
            f"Run 'viva release {assignment}' first."
        )
    kept = contract.of_gradebook(course, assignment, tell)
    assert kept is not None  # the gradebook has the notebooks
    when, changed = contract.released_when(course, assignment)
    if changed:
        tell(f"{assignment}: these are the solutions as released on {when}. source/ was changed since.")
    solved = {path.name: _solved(course, kept, path.stem) for path in kept.notebooks}
    beside = {str(path.relative_to(released)): path for path in released.rglob("*") if path.is_file()}
    fill(folder, solved | {name: path.read_bytes() for name, path in beside.items() if name not in solved})
    return [folder / name for name in solved]


def _solved(course: Course, kept: Contract, notebook: str) -> bytes:
    """A solution notebook. Raises CourseError."""
    node = without_hidden(read_notebook(kept.notebook(notebook)), course.directory.config)
    for cell in node.cells:
        if utils.is_solution(cell):
            cell.source = "\n".join(line for line in cell.source.splitlines() if not SOLUTION_MARK.match(line))
    text = f"{nbformat.writes(node)}\n"
    if marker := marker_in(text, course.directory.config):
        raise CourseError(
            f"The solution notebook of {notebook}.ipynb still has '{marker}', so nothing was written. Write this "
            "marker on a separate line, in a cell of the right type."
        )
    return text.encode()
