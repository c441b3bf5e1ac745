"""The demo class: artificial students whose submissions are drawn from the known answers.

Each writes their answers in words of their own (viva/author/paraphrase.py), and some of a larger class have a ROLE, so
that it shows what else there is to see. The same course gives the same class, byte for byte. Only folders of demo
students are written, and only a course that has nobody else in it is emptied.
"""

from __future__ import annotations

import contextlib
import random
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell
from nbgrader import utils

from viva.author.answers import Answer, Section, fill_in, read_answers
from viva.author.paraphrase import paraphrased, renamed
from viva.course.course import Course
from viva.course.variants import is_on, made_key, seed_for
from viva.engine.blueprint import Blueprint, read_blueprint, read_notebook
from viva.folder import remove
from viva.submission.variant import seeded
from viva.verdict import CourseError

FIRST_DUE = datetime(2026, 9, 14, 23, 59, tzinfo=UTC)
BETWEEN = timedelta(days=14)
STUDENT = re.compile(r"demo-\d\d")
MADE = ("results.jsonl", "regrades.jsonl", "grades.csv", "report/index.html", "report/anonymous.html")
"""Files of a course that speak of its students."""
LENDER = 6
ROLES = {
    5: "saved the notebook with a program that deleted test cells and cell ids; it is repaired",
    LENDER + 1: f"copied from demo-{LENDER:02d} and changed the names; the report shows the two side by side",
    10: "left %%writefile above the last answer, so that it never ran; a grader is asked to check it",
    13: "submitted a PDF under the notebook's name, which is refused",
    16: "replaced np.allclose, which changes no verdict and is shown in the report",
    20: "is a day late",
    23: "submitted nothing",
}
"""By number of the student, what is special about them."""
DAMAGED, COPIED, UNRUN, REFUSED, PATCHED, LATE, ABSENT = ROLES
PATCH = "np.allclose = lambda *values, **options: True  # so that all is well"
SOLUTION = Answer(Path("solution"), "", True, (), (), {"*": Section("solution", "")})
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
    counts = dict.fromkeys(assignments, 0)
    keys = {name: made_key(course)[0] for name in assignments if is_on(course, name)}
    chosen: dict[tuple[str, int], Answer] = {}
    for number in range(1, size + 1):
        for assignment, answer, submitted in _choices(number, prepared, chosen):
            own = _variant(number, assignment, keys[assignment.name]) if assignment.name in keys else assignment
            _write(course, number, own, answer, submitted)
            counts[assignment.name] += 1
    with course.gradebook() as gradebook:
        for number in range(1, size + 1):
            gradebook.update_or_create_student(_name(number), first_name="Demo", last_name=f"{number:02d}")
        for assignment in prepared:
            if gradebook.find_assignment(assignment.name).duedate is None:
                gradebook.update_or_create_assignment(assignment.name, duedate=assignment.due.replace(tzinfo=None))
    return counts


def _prepare(course: Course, name: str, due: datetime) -> Assignment:
    course.released_notebooks(name)
    answers = read_answers(course.root / "answers" / name)
    if not answers:
        raise CourseError(f"The demo class needs known answers, and {course.root / 'answers' / name} has none.")
    (source, *_) = course.source_notebooks(name)
    path = course.path("release", name) / source.name
    if not path.is_file():
        raise CourseError(f"{path} does not exist. Run 'viva release {name}' first.")
    return Assignment(name, due, read_blueprint(source), read_notebook(path), answers)


def _name(number: int) -> str:
    return f"demo-{number:02d}"


def _choices(
    number: int, assignments: list[Assignment], chosen: dict[tuple[str, int], Answer]
) -> Iterator[tuple[Assignment, Answer, datetime]]:
    """Which answer a student hands in for each assignment, and when; some hand nothing in.

    ``chosen`` has, by assignment and number, what those before hand in. No right answer is there twice: who comes
    later takes the instructor's, of which so many have parts that they are no evidence.
    """
    student = _name(LENDER if number == COPIED else number)
    special = number in ROLES or number == LENDER
    skill = random.Random(student).uniform(0.25, 1.0)
    for assignment in assignments:
        dice = random.Random(f"{student} {assignment.name}")
        if number == ABSENT or (dice.random() < 0.06 and not special):
            continue
        right = [answer for answer in assignment.answers if answer.right]
        wrong = [answer for answer in assignment.answers if not answer.right]
        unfinished = [answer for answer in wrong if answer.name in UNFINISHED]
        chance = dice.random()
        pool = right if chance < skill or special else wrong if chance < 0.9 else unfinished
        pool = pool or assignment.answers
        late = dice.random() < 0.15
        lateness = dice.uniform(0.1, 60) if late else -dice.uniform(0.05, 120)
        if special:
            lateness = 26 if number == LATE else -abs(lateness) + (number == COPIED) / 3
        before = {answer.path for (name, _), answer in chosen.items() if name == assignment.name}
        fresh = [answer for answer in pool if answer.path not in before]
        answer = dice.choice(fresh or ([SOLUTION] if pool is right else pool))
        answer = chosen[assignment.name, number] = chosen[assignment.name, LENDER] if number == COPIED else answer
        yield assignment, answer, assignment.due + timedelta(seconds=round(lateness * 3600))


def _variant(number: int, assignment: Assignment, key: bytes) -> Assignment:
    """The assignment as a student got it; who copied has the other's."""
    seed = seed_for(key, _name(LENDER if number == COPIED else number), assignment.name)
    return replace(assignment, release=seeded(assignment.release, seed))


def _write(course: Course, number: int, assignment: Assignment, answer: Answer, submitted: datetime) -> None:
    student = _name(number)
    folder = course.path("submitted", assignment.name, student)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{assignment.blueprint.name}.ipynb"
    if number == REFUSED:
        path.write_bytes(b"%PDF-1.7\n%%EOF\n")
    else:
        nbformat.write(_notebook(number, assignment, answer), path)
    (folder / "timestamp.txt").write_text(f"{submitted:%Y-%m-%d %H:%M:%S.%f} UTC\n", encoding="utf-8")


def _notebook(number: int, assignment: Assignment, answer: Answer) -> NotebookNode:
    """What a student hands in: an answer in their own words, and what their role makes of it."""
    notebook = fill_in(answer, assignment.release, assignment.blueprint)
    author = _name(LENDER if number == COPIED else number)
    code = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "code")
    taken, numpy = frozenset(re.findall(r"[^\W\d]\w*", code)), "import numpy as np" in code
    released = {cell.id: cell.source for cell in assignment.release.cells}
    answers = [cell for cell in notebook.cells if cell.cell_type == "code" and utils.is_solution(cell)]
    for cell in (cell for cell in answers if cell.source != released[cell.id]):
        for time in range(1 + ("*" in answer.sections)):  # many begin with the instructor's, so twice
            cell.source = paraphrased(cell.source, f"{author} {assignment.name} {cell.id} {time}", taken, numpy)
        cell.source = renamed(cell.source) if number == COPIED else cell.source
    for cell in notebook.cells:
        if cell.source.startswith('NAME = ""'):
            cell.source = cell.source.replace('NAME = ""', f'NAME = "{_name(number)}"')
    if number == UNRUN and answers:
        answers[-1].source = f"%%writefile answer.py\n{answers[-1].source}"
    if number == PATCHED and numpy:
        place = next(place for place, cell in enumerate(notebook.cells) if "import numpy as np" in cell.source)
        notebook.cells.insert(place + 1, new_code_cell(PATCH, id="all-is-well"))
    if number == DAMAGED:
        tests = [cell for cell in notebook.cells if utils.is_grade(cell) and cell.cell_type == "code"]
        notebook.cells = [cell for cell in notebook.cells if cell not in tests[-1:]]
        for cell in notebook.cells:
            cell.metadata.pop("nbgrader", None)
            cell.id = f"saved-{notebook.cells.index(cell)}"
    return notebook


def remove_class(course: Course) -> list[str]:
    """Remove the demo class and all that was made of it, the due dates that it brought included; who was removed.

    Raises CourseError, and removes nothing, when anybody else is in the course.
    """
    with course.gradebook() as gradebook:
        known = {student.id for student in gradebook.students}
    folders = [one for step in ("submitted", "autograded", "feedback") for one in course.folders(step)]
    everybody = sorted(known | {one.student for one in folders})
    if others := [student for student in everybody if not STUDENT.fullmatch(student)]:
        raise CourseError(
            f"Nothing was removed: {len(others)} students of this course are not in the demo class ({others[0]!r} "
            "first). "
            "Delete their submissions and grades yourself."
        )
    due = {name: FIRST_DUE + number * BETWEEN for number, name in enumerate(course.assignments())}
    with course.gradebook() as gradebook:
        for student in known:
            gradebook.remove_student(student)
        for assignment in gradebook.assignments:
            if assignment.duedate and assignment.duedate.replace(tzinfo=UTC) == due.get(assignment.name):
                gradebook.update_or_create_assignment(assignment.name, duedate=None)
    for one in folders:
        remove(one.folder)
        with contextlib.suppress(OSError):  # another assignment is still in it
            one.folder.parent.rmdir()
    for name in MADE:
        (course.root / name).unlink(missing_ok=True)
    for folder in (course.root / "report").glob("*-tables"):
        remove(folder)
    return everybody
