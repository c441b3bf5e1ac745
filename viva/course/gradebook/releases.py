"""The assignments in the gradebook: `viva release` enters them."""

from __future__ import annotations

from nbgrader.api import Assignment, Gradebook, Notebook

from viva.course.course import Course
from viva.course.gradebook.results import Results
from viva.verdict import CourseError

KEPT = (
    " graded submissions are in {results}. Restore a copy of the gradebook. A new gradebook from 'viva release' would "
    "have no manual grades. To start again without the old grades, delete {results} first."
)
LOST = "The gradebook {book} is missing, but" + KEPT
EMPTY = "{book} has no submission of {assignment}, but" + KEPT


def notebooks(course: Course, assignment: str) -> set[str]:
    """The names of the assignment's notebooks in the gradebook.

    Raises CourseError when the assignment was not released into it yet, or the gradebook is gone.
    """
    hint = f"{assignment} is not in the gradebook. Run 'viva release {assignment}' first."
    results = Results.of(course.directory)
    if not course.has_gradebook():
        lost = results.path.exists()
        raise CourseError(LOST.format(book=course.gradebook_file, results=results.path) if lost else hint)
    names = course.ask(lambda gradebook: _notebooks(gradebook, assignment))
    if not names:
        lost = any(record.assignment == assignment for record in results.each())
        raise CourseError(EMPTY.format(book=course.book, assignment=assignment, results=results.path) if lost else hint)
    return names


def unreleased(course: Course, assignments: list[str]) -> list[str]:
    """The assignments that were never released: the gradebook does not know them, and nobody submitted them."""
    released = course.ask(_released) if course.has_gradebook() else set()
    return [name for name in assignments if name not in released and not course.submissions([name])]


def _released(gradebook: Gradebook) -> set[str]:
    """The names of the assignments that have a notebook."""
    rows = gradebook.db.query(Assignment.name).join(Notebook, Assignment.id == Notebook.assignment_id)
    return {name for (name,) in rows}


def _notebooks(gradebook: Gradebook, assignment: str) -> set[str]:
    """The names of an assignment's notebooks; none where the gradebook does not know it."""
    rows = gradebook.db.query(Notebook.name).join(Assignment, Assignment.id == Notebook.assignment_id)
    return {name for (name,) in rows.filter(Assignment.name == assignment)}
