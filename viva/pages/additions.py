"""Sentences of other packages on pages (door ``viva.pages``), each plain text about a test cell.

They stand on a student's page below the checks of that cell, on a grader's page in formgrader, and in the report with
the students whom they are about. Nothing of them changes a score. A student's page with a hidden line of the
assignment in such a sentence is withheld, as any other.

On a grader's page a sentence can name the ``students`` whose ``answer`` cells are alike, as 7 that make the same
mistake. Then the grader can give the comment at this cell to all of them (``viva.pages.groupcomment``).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import chain

from viva import doors
from viva.cleaning import plaintext
from viva.course.course import Course

STUDENT, GRADER, REPORT = "student", "grader", "report"
"""The readers of pages."""
LONGEST = 2000
"""Characters of a sentence."""


@dataclass(frozen=True)
class Asked:
    """The page that is being made."""

    reader: str
    """``student``, ``grader`` or ``report``."""
    assignment: str
    notebook: str = ""
    student: str = ""
    """Whose notebook it is; the report is about all."""


@dataclass(frozen=True)
class Addition:
    """A sentence about a test cell; in the report with the students whom it is about."""

    text: str
    cell: str
    notebook: str = ""
    students: tuple[str, ...] = field(default=())
    answer: str = ""
    """For graders: the cell with the answers that are alike."""


@doors.of_functions("viva.pages")
def page_sentences(*, course: Course, asked: Asked) -> list[Addition]:
    """sentences about test cells on pages"""
    raise NotImplementedError


def additions(course: Course, asked: Asked) -> list[Addition]:
    """What installed packages add to a page. Raises CourseError where one of them fails."""
    return list(chain.from_iterable(page_sentences.ask_all(course=course, asked=asked)))


def by_cell(parts: list[Addition]) -> dict[str, list[str]]:
    """The sentences by test cell, each as one line."""
    texts: dict[str, list[str]] = {}
    for part in parts:
        texts.setdefault(part.cell, []).append(plaintext.line(part.text, LONGEST))
    return texts
