"""Written answers that read alike: a grader comments once for all of them.

Texts are compared by letters and digits, without capitals. Two are alike from 85 of 100 in rapidfuzz's ratio on, where
the same numbers stand in both. Each text joins the first one that it is like, so no chain of small steps leads from one
text to another. A likeness says nothing about right or wrong: the grader sees the texts and takes answers out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from msgspec import Struct
from nbformat import NotebookNode
from rapidfuzz import fuzz

from viva.course.course import Course
from viva.course.examining import writtenanswers
from viva.engine.blueprint import read_notebook
from viva.record import SubmissionRecord
from viva.verdict import BlueprintError

ALIKE = 85
SHORTEST, LONGEST = 20, 4000
"""Characters of a text that is compared. Shorter ones are often the same by accident."""
NUMBER = re.compile(r"\d+(?:[.,]\d+)?")
SIGNS = re.compile(r"[\W_]+")


class Member(Struct, frozen=True):
    """A student, and the key of the graded submission."""

    student: str
    graded: str


class Group(Struct):
    """Answers to one question that read alike."""

    notebook: str
    cell: str
    members: list[Member]


def groups_of(course: Course, release: NotebookNode, name: str, records: Iterable[SubmissionRecord]) -> list[Group]:
    """The groups among the graded submissions of a notebook, by question, the largest first."""
    given = {cell.source for cell in release.cells}
    untouched = writtenanswers.answers(release, given)
    texts: dict[str, dict[Member, str]] = {cell: {} for cell in untouched}
    for record in records:
        path = course.path("autograded", record.assignment, record.student) / f"{name}.ipynb"
        if name not in record.notebooks or not record.key or not texts:
            continue
        try:
            written = writtenanswers.answers(read_notebook(path), given)
        except BlueprintError:
            continue
        for cell in untouched.keys() & written.keys():
            if written[cell] != untouched[cell]:
                texts[cell][Member(record.student, record.key)] = written[cell]
    return [
        Group(name, cell, members)
        for cell, by_student in texts.items()
        for members in sorted(alike(by_student), key=len, reverse=True)
    ]


def alike(texts: Mapping[Member, str]) -> list[list[Member]]:
    """The groups of two and more texts that read alike, each in the order of the texts."""
    leaders: dict[tuple[str, ...], list[tuple[str, list[Member]]]] = {}
    for member, text in texts.items():
        plain = SIGNS.sub(" ", text[:LONGEST].lower()).strip()
        if len(plain) < SHORTEST:
            continue
        numbers = tuple(sorted(NUMBER.findall(text)))
        for leader, members in leaders.setdefault(numbers, []):
            if fuzz.ratio(leader, plain, score_cutoff=ALIKE):
                members.append(member)
                break
        else:
            leaders[numbers].append((plain, [member]))
    return [members for group in leaders.values() for _, members in group if len(members) > 1]
