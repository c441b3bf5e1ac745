"""Files that students submit beside their notebooks: the course's replace them unless it says that they are theirs."""

from __future__ import annotations

import shutil

import nbformat
import pytest

from tests.conftest import PROJECT, load
from tests.course.releasing.test_studentversion import answer, graded, write
from tests.handmade import marks
from viva.course.gradebook.results import Results
from viva.course.grading.batch import autograde
from viva.course.releasing.release import release
from viva.wording import sentence

pytestmark = pytest.mark.usefixtures("processes")

STACK = "class Stack:\n    def __init__(self): self.items = []\n    def push(self, x): self.items.append(x)\n"
RIGHT = f"{STACK}    def pop(self): return self.items.pop()\n"
STUDENTS = {
    "right": (RIGHT, 3),
    "wrong": (f"{STACK}    def pop(self): return 7\n", 0),
    "broken": ("class Stack(:\n", 0),
    "missing": (None, 0),
}
STUB = f"{STACK}    def pop(self): raise NotImplementedError\n"
HELPER = "import stack\n\ndef fresh():\n    return stack.Stack()\n"
USED = "s.push(3)\nassert s.pop() == 3"
FORMS = {
    "at the top": ("stack.py", "import stack\nfrom stack import Stack", f"s = Stack()\n{USED}"),
    "in the test": ("stack.py", "n = 1", f"from stack import Stack\ns = Stack()\n{USED}"),
    "by a helper": ("stack.py", "n = 1", f"from helper import fresh\ns = fresh()\n{USED}"),
    "by importlib": ("stack.py", "import importlib", f"s = importlib.import_module('stack').Stack()\n{USED}"),
    "in a package": ("src/stack.py", "n = 1", f"from src import stack\ns = stack.Stack()\n{USED}"),
    "on the path": (
        "src/stack.py",
        "import sys\nsys.path.insert(0, 'src')",
        f"import stack\ns = stack.Stack()\n{USED}",
    ),
    "run": ("src/stack.py", "n = 1", f"exec(open('src/stack.py').read())\ns = Stack()\n{USED}"),
}
"""The submitted file, the given cell, and the test."""


@pytest.fixture
def graded_class(tmp_path):
    """Release and grade a course in which students submit ``stack.py``; the records by student."""

    def grade(file: str, given: str, test: str, course_file: str, own: bool):
        root = tmp_path / "course"
        (root / "source").mkdir(parents=True)
        shutil.copy(PROJECT / "source" / "header.ipynb", root / "source")
        settings = (PROJECT / "nbgrader_config.py").read_text()
        more = f'c.Autograde.exclude_overwriting = {{"ps": ["{file}"]}}\n' if own else ""
        (root / "nbgrader_config.py").write_text(f"{settings}\n{more}")
        test_cell = graded(test)
        test_cell.metadata.nbgrader["points"] = 3
        first = nbformat.v4.new_code_cell(given, id="given", metadata=marks("given", locked=True))
        path = write(root, [first, answer("n = 1"), test_cell])
        (path.parent / file).parent.mkdir(exist_ok=True)
        (path.parent / file).write_text(course_file)
        (path.parent / "helper.py").write_text(HELPER)
        course, config = load(root)
        release(course, "ps", config=config)
        for student, (text, _) in STUDENTS.items():
            folder = root / "submitted" / student / "ps"
            shutil.copytree(root / "release" / "ps", folder)
            (folder / file).unlink()
            if text is not None:
                (folder / file).write_text(text)
        list(autograde(course, course.submissions(["ps"]), config=config))
        return root, {record.student: record for record in Results.of(course.directory).each()}

    return grade


@pytest.mark.slow
@pytest.mark.parametrize(("where", "course_file"), [("at the top", RIGHT), *((where, STUB) for where in FORMS)])
def test_a_file_that_the_course_leaves_to_students_is_theirs_in_both_processes(where, course_file, graded_class):
    root, records = graded_class(*FORMS[where], course_file, own=True)
    earned = {name: record.notebooks["nb"].checks["check"][0].earned for name, record in records.items()}
    assert earned == {name: points for name, (_, points) in STUDENTS.items()}
    assert (root / "autograded" / "wrong" / "ps" / FORMS[where][0]).read_text() == STUDENTS["wrong"][0]
    assert not (root / "autograded" / "missing" / "ps" / FORMS[where][0]).exists()


def test_a_submitted_file_that_the_courses_replaces_is_listed_as_a_repair(graded_class):
    _, records = graded_class(*FORMS["at the top"], RIGHT, own=False)
    assert {record.notebooks["nb"].checks["check"][0].earned for record in records.values()} == {3}
    told = {name: [sentence(one) for one in record.notebooks["nb"].repairs] for name, record in records.items()}
    said = "these submitted files were replaced by the assignment's own: stack.py"
    assert told == {"right": [], "wrong": [said], "broken": [said], "missing": []}
