"""Opens the submissions of a course; the released notebooks of an assignment are read once for all of them."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable

from nbgrader.api import MissingEntry

from viva.course.course import Course
from viva.course.examining.links import Links
from viva.course.gradebook.recording import Expected
from viva.course.grading.material import handed_out
from viva.course.releasing import contract
from viva.course.releasing.variants import seeds_of
from viva.submission.cells.handout import Shipped
from viva.submission.cells.places import Released
from viva.submission.reading import Opened, open_submission
from viva.submission.submission import Submission
from viva.submission.variant import Seeds


class Inbox:
    """Opens the submissions of assignments that the gradebook ``expected``, by name."""

    def __init__(self, course: Course, expected: dict[str, Expected], nameless: bool = False) -> None:
        """``nameless`` problems are for students, and name no other student."""
        self.course, self.expected = course, expected
        self.notebooks: dict[str, tuple[dict[str, Released], Shipped]] = {}
        self.seeds: dict[str, dict[str, int] | None] = {}
        self.links = Links(course, nameless)

    @classmethod
    def of(cls, course: Course, assignments: Iterable[str], nameless: bool = False) -> Inbox:
        """The inbox for the named assignments that the gradebook knows."""
        expected = {}
        with course.gradebook() as gradebook:
            for name in assignments:
                with contextlib.suppress(MissingEntry):
                    expected[name] = Expected.of(gradebook, name)
        return cls(course, expected, nameless)

    def open(self, submission: Submission) -> Opened:
        """The repaired notebooks in a submission, or the reason why there are none.

        Raises CourseError when an assignment has neither release nor source, or has variants and no key.
        """
        if reason := self.links.reason(submission):
            return Opened(reasons=(reason,))
        name = submission.assignment
        if name not in self.notebooks:
            kept = contract.current(self.course, name)
            self.notebooks[name] = handed_out(self.course, name, self.expected[name], kept)
            self.seeds[name] = seeds_of(self.course, name)
        seeds = self.seeds[name]
        student_seeds = None if seeds is None else Seeds(submission.student, seeds)
        return open_submission(submission, *self.notebooks[name], student_seeds)
