"""A student whose folder's name is a pattern to nbgrader is graded, and reads a page, as everybody else is."""

from __future__ import annotations

import json
import shutil
import subprocess

import pytest
from nbgrader.converters import Autograde, GenerateFeedback, NbGraderException
from nbgrader.coursedir import CourseDirectory

from tests.conftest import BIN, load
from tests.doubling import NOTEBOOK, RIGHT, SMALL, hand_in_small, released_small

WRONG = "def twice(x):\n    return x\n"
NAMES = {"a[b]": WRONG, "ab": RIGHT, "x*": WRONG, "xx": RIGHT, "?": WRONG, "*": WRONG, "[!b]": WRONG, "a[1": RIGHT}
"""Whom a pattern would take for another, each with an answer that the other has not."""


def run(root, *command):
    result = subprocess.run([BIN / "viva", *command], cwd=root, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    root = tmp_path_factory.mktemp("literal") / "course"
    released_small(root)
    for student, answer in NAMES.items():
        hand_in_small(root, student, answer)
        (root / "submitted" / student / SMALL / "data.txt").write_text(student)
    run(root, "grade")
    return root


@pytest.fixture
def course(graded, tmp_path):
    return shutil.copytree(graded, tmp_path / "course")


def stock(course, converter, student="*", **more) -> None:
    """What one of nbgrader's commands does, by this course's configuration alone."""
    _, config = load(course)
    config.CourseDirectory.assignment_id, config.CourseDirectory.student_id = SMALL, student
    config[converter.__name__] |= more
    converter(coursedir=CourseDirectory(config=config), config=config).start()


def fed_back(course) -> dict[str, set[str]]:
    """By student, the names of what lies in feedback/."""
    folders = (course / "feedback").iterdir()
    return {folder.name: {path.name for path in (folder / SMALL).iterdir()} for folder in folders}


@pytest.mark.slow
def test_everybody_has_a_page_of_their_own_and_nothing_of_the_graded_notebook(course, viva):
    result = viva("feedback", "--json", "--workers=1")
    assert result.status == 0, result.text
    written = {one["student"]: one["status"] for one in json.loads(result.out)["submissions"]}
    assert written == dict.fromkeys(NAMES, "done"), "the page of the student called * is one page, not everybody's"
    assert fed_back(course) == {name: {f"{NOTEBOOK}.html"} for name in NAMES}
    for student, answer in NAMES.items():
        page = (course / "feedback" / student / SMALL / f"{NOTEBOOK}.html").read_text()
        assert ("twice(2) is 2, not 4." in page) == (answer == WRONG), student
    again = json.loads(viva("feedback", "--json").out)
    assert {one["student"]: one["status"] for one in again["submissions"]} == dict.fromkeys(NAMES, "unchanged")


@pytest.mark.thorough
def test_nbgraders_own_command_writes_the_same_and_leaves_hidden_tests_where_they_are(course):
    stock(course, GenerateFeedback)
    assert fed_back(course) == {name: {f"{NOTEBOOK}.html"} for name in NAMES}


@pytest.mark.thorough
@pytest.mark.parametrize("student", ["a[b]", "x*", "?"])
def test_who_is_named_is_no_pattern(course, viva, student):
    stock(course, GenerateFeedback, student)
    assert fed_back(course) == {student: {f"{NOTEBOOK}.html"}}
    assert [one.student for one in load(course)[0].submissions([SMALL], student)] == [student]
    shown = viva("export", "--to=one.csv", f"--student={student}")
    assert shown.status == 0
    lines = (course / "one.csv").read_text().splitlines()
    assert len(lines) == 2 and student in lines[1]


@pytest.mark.slow
def test_nbgraders_autograder_grades_whom_it_is_told_to(course):
    before = {path: path.stat().st_mtime_ns for path in course.glob(f"autograded/*/{SMALL}/*.ipynb")}
    stock(course, Autograde, "a[b]", force=True)
    after = {path: path.stat().st_mtime_ns for path in course.glob(f"autograded/*/{SMALL}/*.ipynb")}
    assert [path.parts[-3] for path in before if before[path] != after[path]] == ["a[b]"]


@pytest.mark.slow
def test_a_pattern_that_is_nobodys_name_still_means_whom_it_matches(course):
    assert [one.student for one in load(course)[0].submissions([SMALL], "[ax][bx]")] == ["ab", "xx"]
    stock(course, GenerateFeedback, "[ax][bx]")
    assert fed_back(course).keys() == {"ab", "xx"}
    with pytest.raises(NbGraderException, match="No notebooks were matched"):
        stock(course, GenerateFeedback, "nobody")


@pytest.mark.slow
def test_a_folder_without_a_notebook_is_not_the_one_that_its_name_would_match(course):
    (course / "autograded" / "a[b]" / SMALL / f"{NOTEBOOK}.ipynb").unlink()
    with pytest.raises(NbGraderException, match=r"No notebooks were matched by '.*a\[b\]"):
        stock(course, GenerateFeedback, "a[b]")
    assert not (course / "feedback").exists()
