"""Solution notebooks: the students' version with the instructor's answers, to give out after the deadline."""

from __future__ import annotations

from pathlib import Path

import nbformat
from nbgrader import utils
from nbgrader.preprocessors import ClearSolutions

from viva.course.compiler import compiled
from viva.course.course import Course
from viva.course.markers import marker_in
from viva.engine.blueprint import SOLUTION_MARK
from viva.folder import fill
from viva.verdict import CourseError

FOLDER = "solutions"


def write_solutions(course: Course, assignment: str) -> list[Path]:
    """Write the solution notebooks of an assignment, and the files that were released with it, into solutions/.

    They hold neither hidden tests nor marking schemes. release/ and the gradebook stay as they are.
    Raises CourseError where the assignment was not released, or a marker is left; then nothing is written.
    """
    released, folder = course.path("release", assignment), course.root / FOLDER / assignment
    sources = course.source_notebooks(assignment)
    if missing := [path.name for path in sources if not (released / path.name).is_file()]:
        raise CourseError(
            f"{', '.join(missing)} of {assignment} is not in {released}, so it was never released. Solutions are "
            f"only for released notebooks. Run 'viva release {assignment}' first."
        )
    solved = {path.name: _solved(course, assignment, path.stem) for path in sources}
    beside = {str(path.relative_to(released)): path for path in released.rglob("*") if path.is_file()}
    fill(folder, solved | {name: path.read_bytes() for name, path in beside.items() if name not in solved})
    return [folder / name for name in solved]


def _solved(course: Course, assignment: str, notebook: str) -> bytes:
    """A solution notebook. Raises CourseError."""
    node = compiled(course, assignment, notebook, left_out=ClearSolutions)
    for cell in node.cells:
        if utils.is_solution(cell):
            cell.source = "\n".join(line for line in cell.source.splitlines() if not SOLUTION_MARK.match(line))
    text = f"{nbformat.writes(node)}\n"
    if marker := marker_in(text, course.directory.config):
        raise CourseError(
            f"The solution notebook of {notebook}.ipynb still has '{marker}', so nothing was written. Write this "
            "marker on a line of its own, in a cell of the right type."
        )
    return text.encode()
