"""The demo class: artificial students whose submissions are drawn from the known answers.

The same course gives the same class, byte for byte. Only folders of demo students are written.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import nbformat
from nbformat import NotebookNode

from viva.answers import Answer, fill_in, read_answers
from viva.blueprint import Blueprint, read_blueprint
from viva.course import Course
from viva.verdict import CourseError

FIRST_DUE = datetime(2026, 9, 14, 23, 59, tzinfo=UTC)
BETWEEN = timedelta(days=14)
UNFINISHED = ("untouched", "only_the_first_answers")


@dataclass(frozen=True)
class Assignment:
    """What the demo class needs of an assignment."""

    name: str
    due: datetime
    blueprint: Blueprint
    release: NotebookNode
    answers: list[Answer]


def write_class(course: Course, assignments: list[str], size: int = 24) -> dict[str, int]:
    """Write ``size`` students' submissions into submitted/ and enter them, and due dates, into the gradebook.

    Returns the number of submissions by assignment. Raises CourseError when an assignment was not
    released or has no known answers.
    """
    every = course.assignments()
    prepared = [_prepare(course, name, FIRST_DUE + every.index(name) * BETWEEN) for name in assignments]
    students = [f"demo-{number:02d}" for number in range(1, size + 1)]
    counts = dict.fromkeys(assignments, 0)
    for student in students:
        for assignment, answer, submitted in _choices(student, prepared):
            _write(course, student, assignment, answer, submitted)
            counts[assignment.name] += 1
    with course.gradebook() as gradebook:
        for student in students:
            gradebook.update_or_create_student(student, first_name="Demo", last_name=student.removeprefix("demo-"))
        for assignment in prepared:
            if gradebook.find_assignment(assignment.name).duedate is None:
                gradebook.update_or_create_assignment(assignment.name, duedate=assignment.due.replace(tzinfo=None))
    return counts


def _prepare(course: Course, name: str, due: datetime) -> Assignment:
    course.released_notebooks(name)
    answers = read_answers(course.root / "answers" / name)
    if not answers:
        raise CourseError(f"The demo class draws on known answers, and {course.root / 'answers' / name} has none.")
    (source, *_) = course.source_notebooks(name)
    path = course.path("release", name) / source.name
    if not path.is_file():
        raise CourseError(f"{path} does not exist. Run 'viva release {name}' first.")
    return Assignment(name, due, read_blueprint(source), nbformat.read(path, as_version=4), answers)


def _choices(student: str, assignments: list[Assignment]) -> Iterator[tuple[Assignment, Answer, datetime]]:
    """Which answer a student hands in for each assignment, and when; some hand nothing in."""
    dice = random.Random(student)
    skill = dice.uniform(0.25, 1.0)
    for assignment in assignments:
        dice = random.Random(f"{student} {assignment.name}")
        if dice.random() < 0.06:
            continue
        right = [answer for answer in assignment.answers if answer.right]
        wrong = [answer for answer in assignment.answers if not answer.right]
        unfinished = [answer for answer in wrong if answer.name in UNFINISHED]
        kind = dice.random()
        pool = right if kind < skill else wrong if kind < 0.9 else unfinished or wrong
        late = dice.random() < 0.15
        lateness = dice.uniform(0.1, 60) if late else -dice.uniform(0.05, 120)
        yield assignment, dice.choice(pool), assignment.due + timedelta(seconds=round(lateness * 3600))


def _write(course: Course, student: str, assignment: Assignment, answer: Answer, submitted: datetime) -> None:
    notebook = fill_in(answer, assignment.release, assignment.blueprint)
    for cell in notebook.cells:
        if cell.source.startswith('NAME = ""'):
            cell.source = cell.source.replace('NAME = ""', f'NAME = "{student}"')
    folder = course.path("submitted", assignment.name, student)
    folder.mkdir(parents=True, exist_ok=True)
    nbformat.write(notebook, folder / f"{assignment.blueprint.name}.ipynb")
    (folder / "timestamp.txt").write_text(f"{submitted:%Y-%m-%d %H:%M:%S.%f} UTC\n", encoding="utf-8")
