"""Facts from the roster and the archives about the students of a course, for its report."""

from __future__ import annotations

from functools import partial

from viva.course.course import Course
from viva.pages.reporting.findings import People
from viva_term.archives import ledger
from viva_term.lms.rosterfile import Roster


def people_of(course: Course) -> People:
    """Raises CourseError for a roster.csv that cannot be read, and, when asked for groups, for a ledger."""
    return People(frozenset(Roster.of(course).left), partial(ledger.groups, course))
