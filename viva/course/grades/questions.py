"""Points by question and check as a table: a row for each student, columns for each question and its checks."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from nbgrader.api import Gradebook

from viva.cleaning import plaintext
from viva.course.course import Course
from viva.course.gradebook import classbook
from viva.course.gradebook.results import Results
from viva.course.grades import export
from viva.course.processes import leftovers
from viva.course.table import csv_text
from viva.notebook.cell import grade_id

NAME = "questions.csv"
ABOUT = ("student_id", "last_name", "first_name", "email")
TITLE = 200
"""Characters of a check's title."""
Place = tuple[str, str, str, str]
"""Assignment, notebook, graded cell, and the title of a check; empty for the whole cell."""


def table(
    course: Course, gradebook: Gradebook, assignments: Sequence[str], student: str | list[str] = "*"
) -> tuple[list[str], list[list[object]]]:
    """The names of the columns and the rows, for the chosen students of some assignments.

    A question has the points that count, a grader's where there are some; its checks have what they earned
    automatically. Late penalties are not subtracted. A cell is empty where nothing was graded, or a grader has
    not decided.
    """
    people: dict[str, list[object]] = {}
    graded = set()
    for row in export.scores(course, gradebook, assignments, student):
        people[row["student_id"]] = [row[name] for name in ABOUT]
        if row["score"] is not None:
            graded.add((row["assignment"], row["student_id"]))
    points: dict[str, dict[Place, object]] = {who: {} for who in people}
    most: dict[Place, float] = {}
    for name in assignments:
        for who, column, earned, worth in _cells(course, gradebook, name):
            most.setdefault(column, worth)
            if (name, who) in graded:
                points[who][column] = earned
    places = _in_order(course, most)
    notebooks = {(column[0], column[1]) for column in places}
    alone = {name for name in assignments if sum(name_of == name for name_of, _ in notebooks) < 2}
    header = [_title(column, most[column], column[0] in alone) for column in places]
    rows = [[*people[who], *(points[who].get(column) for column in places)] for who in people]
    return [*ABOUT, *header], rows


def write(path: Path, header: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    leftovers.write(path, csv_text(header, rows))


def _cells(course: Course, gradebook: Gradebook, name: str) -> Iterator[tuple[str, Place, float | None, float]]:
    """What each student earned with each question and check of an assignment, and the maximum."""
    books = {book.id: book for book in classbook.notebooks(gradebook, name)}
    records = {
        who: record for (assignment, who), record in Results.of(course.directory).read().items() if assignment == name
    }
    grades, _ = classbook.marked(gradebook, name)
    for key, rows in grades.items():
        who, notebook = books[key].student, books[key].name
        record = records[who].notebooks.get(notebook) if who in records else None
        for cell, score, worth, waits, by_hand in rows:
            checks = record.checks.get(cell, []) if record else []
            decided = by_hand is not None or not waits or bool(checks)
            yield who, (name, notebook, cell, ""), score if decided else None, float(worth)
            for check in checks if len(checks) > 1 else ():
                title = plaintext.line(check.title, TITLE)
                yield who, (name, notebook, cell, title), check.earned, float(check.points)


def _in_order(course: Course, places: Iterable[Place]) -> list[Place]:
    """As the cells stand in the released notebooks, the checks as they ran."""
    places, names_of = list(places), {}
    for assignment, notebook in {column[:2] for column in places}:
        names_of[assignment, notebook] = list[str]()
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError, AttributeError):
            text = (course.path("release", assignment) / f"{notebook}.ipynb").read_bytes()
            cells = json.loads(text)["cells"]
            names_of[assignment, notebook] = [grade_id(cell) for cell in cells]

    def key(column: Place) -> tuple:
        assignment, notebook, cell, title = column
        names = names_of[assignment, notebook]
        return notebook, names.index(cell) if cell in names else len(names), cell, bool(title)

    assignments = list(dict.fromkeys(column[0] for column in places))
    return sorted(places, key=lambda column: (assignments.index(column[0]), *key(column)))


def _title(column: Place, most: float, alone: bool) -> str:
    """The name of a column: assignment, notebook where there are several, question and check, with the points."""
    assignment, notebook, cell, check = column
    parts = [assignment, "" if alone else notebook, cell, check]
    return f"{' / '.join(filter(None, parts))} [{most:g}]"
