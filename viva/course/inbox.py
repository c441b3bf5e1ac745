"""What was handed in to a course, opened; the released notebooks of an assignment are read once for all of it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from pathlib import Path

from nbgrader.api import MissingEntry

from viva.course.course import Course
from viva.course.gradebook.record import Expected
from viva.course.links import Links
from viva.course.release import released_notebook
from viva.submission.cells.places import Released
from viva.submission.files.handin import find
from viva.submission.reading import Opened, open_notebooks
from viva.submission.shipped import Shipped
from viva.submission.submission import Submission


class Inbox:
    """Opens the submissions of assignments that the gradebook ``expected``, by name."""

    def __init__(self, course: Course, expected: dict[str, Expected]) -> None:
        self.course, self.expected = course, expected
        self.released: dict[str, dict[str, Released]] = {}
        self.shipped: dict[str, Shipped] = {}
        self.links = Links(course)

    @classmethod
    def of(cls, course: Course, assignments: Iterable[str]) -> Inbox:
        """The inbox of those of some assignments that were released into the gradebook."""
        expected = {}
        with course.gradebook() as gradebook:
            for name in assignments:
                with contextlib.suppress(MissingEntry):
                    expected[name] = Expected.of(gradebook, name)
        return cls(course, expected)

    def open(self, submission: Submission) -> Opened:
        """The notebooks in a submission, repaired, or why there are none.

        Raises CourseError when an assignment has neither release nor source.
        """
        if problem := self.links.problem(submission):
            return Opened(problem=problem)
        finding = find(submission, set(self.expected[submission.assignment].notebooks))
        if finding.problem:
            return Opened(problem=finding.problem)
        notebooks = self._notebooks(submission.assignment)
        return open_notebooks(finding, notebooks, self.shipped[submission.assignment])

    def _notebooks(self, assignment: str) -> dict[str, Released]:
        """An assignment's notebooks as students got them."""
        if assignment not in self.released:
            books = self.expected[assignment].notebooks
            folders = [self.course.path(step, assignment) for step in ("release", "source")]
            folder = next(filter(Path.is_dir, folders), folders[0])
            self.shipped[assignment] = shipped = Shipped(folder, set(books))
            self.released[assignment] = {
                name: Released(released_notebook(self.course, assignment, name, cells), shipped.texts)
                for name, cells in ((name, {cell.name for cell in book.source_cells}) for name, book in books.items())
            }
        return self.released[assignment]
