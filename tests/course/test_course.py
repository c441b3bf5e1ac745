from __future__ import annotations

import json
import shutil
import subprocess

import pytest
from nbgrader.converters import Autograde, GenerateFeedback, NbGraderException
from nbgrader.coursedir import CourseDirectory

from tests.conftest import BIN, PROJECT, SHORT, hand_in, load
from tests.doubling import NOTEBOOK, RIGHT, SMALL, hand_in_small, write_small
from viva.course.course import Course, course_above
from viva.verdict import CourseError


def test_assignments_are_the_folders_with_notebooks(course):
    (course / "source" / "empty").mkdir()
    opened, _ = load(course)
    assert SHORT in opened.assignments()
    assert "empty" not in opened.assignments()


def test_no_name_means_every_assignment_and_a_name_twice_means_once(course):
    opened, _ = load(course)
    assert opened.chosen([]) == opened.assignments()
    assert opened.chosen([SHORT, SHORT]) == [SHORT]


def test_an_unknown_assignment_is_answered_with_the_nearest(course):
    opened, _ = load(course)
    with pytest.raises(CourseError, match=f"Did you mean '{SHORT}'"):
        opened.chosen(["ps3_scaled_atention"])


def test_the_beginning_of_a_name_means_the_assignment_unless_several_begin_so(course):
    opened, _ = load(course)
    assert opened.chosen(["ps3"]) == [SHORT]
    with pytest.raises(CourseError, match="'ps' may mean ps1_general_attention, "):
        opened.chosen(["ps"])
    for nothing in ("", "x"):
        with pytest.raises(CourseError, match=f"There is no assignment '{nothing}'"):
            opened.chosen([nothing])


def test_numbers_in_names_count_as_numbers(tmp_path):
    """Two digits came before one, and `ps1` was refused as soon as there was a ps10."""
    shutil.copy(PROJECT / "nbgrader_config.py", tmp_path)
    for name in ("ps1_first", "ps10_last", "ps2_second", "exam"):
        (tmp_path / "source" / name).mkdir(parents=True)
        (tmp_path / "source" / name / "notebook.ipynb").touch()
    opened, _ = load(tmp_path)
    assert opened.assignments() == ["exam", "ps1_first", "ps2_second", "ps10_last"]
    assert opened.chosen(["ps1", "ps10"]) == ["ps1_first", "ps10_last"]
    with pytest.raises(CourseError, match="'ps' may mean ps1_first, ps2_second, "):
        opened.chosen(["ps"])


def test_the_course_is_this_folder_or_the_nearest_above_it_with_a_configuration(course, tmp_path):
    below = course / "source" / SHORT
    assert course_above(course) == course_above(below) == str(course)
    (tmp_path / "source").mkdir()
    (tmp_path / "elsewhere").mkdir()
    assert course_above(tmp_path / "elsewhere") == "", "a folder called source makes no course"
    assert course_above(tmp_path) == str(tmp_path)


def test_an_unknown_student_is_answered_with_the_nearest(course):
    hand_in(course, "anna")
    opened, _ = load(course)
    with pytest.raises(CourseError, match="Did you mean 'anna'"):
        opened.submissions([SHORT], "ana")


def test_submissions_are_found_by_assignment_and_student(course):
    for student in ("zoe", "anna"):
        hand_in(course, student)
    opened, _ = load(course)
    assert [submission.student for submission in opened.submissions(opened.assignments())] == ["anna", "zoe"]
    (submission,) = opened.submissions([SHORT], "z*")
    assert submission.folder == course / "submitted" / "zoe" / SHORT


def test_another_directory_structure_is_followed(course):
    opened, _ = load(course)
    opened.directory.directory_structure = "{nbgrader_step}/{assignment_id}/{student_id}"
    folder = course / "submitted" / SHORT / "anna"
    folder.mkdir(parents=True)
    (submission,) = opened.submissions([SHORT])
    assert (submission.student, submission.folder) == ("anna", folder)


def test_what_belongs_to_no_assignment_is_named_and_of_a_link_not_where_it_leads(course):
    submitted = hand_in(course, "ada").parent.parent.parent
    (submitted / "ada/essay").mkdir()
    for student, target in (("bo", "/"), ("cy", "nowhere"), ("di", "di"), ("eve", "ada")):
        (submitted / student).symlink_to(target)
    assert load(course)[0].strangers() == [submitted / name for name in ("ada/essay", "bo", "cy", "di")]


def test_a_folder_without_source_is_no_course(tmp_path, course):
    opened, _ = load(course)
    opened.directory.root = str(tmp_path)
    with pytest.raises(CourseError, match="is not a course"):
        opened.assignments()


def test_a_source_folder_without_notebooks_is_an_empty_course(tmp_path, course):
    (tmp_path / "source").mkdir(exist_ok=True)
    opened, _ = load(course)
    opened.directory.root = str(tmp_path)
    with pytest.raises(CourseError, match="no assignment in"):
        opened.assignments()


def test_an_assignment_that_was_not_released_is_said_to_be_so_and_no_gradebook_is_made(course):
    (course / "gradebook.db").unlink()
    opened, _ = load(course)
    with pytest.raises(CourseError, match=f"Run 'viva release {SHORT}' first"):
        opened.released_notebooks(SHORT)
    assert not (course / "gradebook.db").exists()


def test_where_work_was_graded_and_the_gradebook_is_gone_a_copy_is_asked_for(course):
    (course / "gradebook.db").unlink()
    (course / "results.jsonl").touch()
    opened, _ = load(course)
    with pytest.raises(CourseError, match="Put a copy of the gradebook back"):
        opened.released_notebooks(SHORT)
    assert not (course / "gradebook.db").exists()


@pytest.mark.parametrize("name", ["ready?", "term [1]", "a*b"])
def test_a_folder_whose_path_is_a_pattern_to_nbgrader_is_refused(tmp_path, course, name):
    folder = tmp_path / name
    folder.mkdir()
    opened, _ = load(course)
    opened.require_writable()
    opened.directory.root = str(folder)
    with pytest.raises(CourseError, match=r"holds a \[, \* or \?.*Rename the folder"):
        Course(opened.directory).require_writable()


def test_submissions_of_an_assignment_whose_name_is_a_pattern_are_found_and_no_others(course):
    for name in ("hw [1]", "hw 1"):
        (course / "submitted" / "bo" / name).mkdir(parents=True)
    opened, _ = load(course)
    for student in ("*", "bo", "b?"):
        assert [one.folder.name for one in opened.submissions(["hw [1]"], student)] == ["hw [1]"]


WRONG = "def twice(x):\n    return x\n"
NAMES = {"a[b]": WRONG, "ab": RIGHT, "x*": WRONG, "xx": RIGHT, "?": WRONG, "*": WRONG, "[!b]": WRONG, "a[1": RIGHT}
"""Whom a pattern would take for another, each with an answer that the other has not."""


def run(root, *command):
    result = subprocess.run([BIN / "viva", *command], cwd=root, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    root = tmp_path_factory.mktemp("literal") / "course"
    (root / "source").mkdir(parents=True)
    shutil.copy(PROJECT / "source" / "header.ipynb", root / "source")
    shutil.copy(PROJECT / "nbgrader_config.py", root)
    write_small(root)
    run(root, "release", "--no-audit")
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


def test_everybody_has_a_page_of_their_own_and_nothing_of_the_graded_notebook(course, viva):
    result = viva("feedback")
    assert result.status == 0, result.text
    assert fed_back(course) == {name: {f"{NOTEBOOK}.html", "data.txt"} for name in NAMES}
    for student, answer in NAMES.items():
        page = (course / "feedback" / student / SMALL / f"{NOTEBOOK}.html").read_text()
        assert ("twice(2) is 2, not 4." in page) == (answer == WRONG), student
    again = json.loads(viva("feedback", "--json").out)
    assert {one["student"]: one["status"] for one in again["submissions"]} == dict.fromkeys(NAMES, "unchanged")


def test_nbgraders_own_command_writes_the_same_and_leaves_hidden_tests_where_they_are(course):
    stock(course, GenerateFeedback)
    assert fed_back(course) == {name: {f"{NOTEBOOK}.html", "data.txt"} for name in NAMES}


@pytest.mark.parametrize("student", ["a[b]", "x*", "?"])
def test_who_is_named_is_no_pattern(course, viva, student):
    stock(course, GenerateFeedback, student)
    assert fed_back(course) == {student: {f"{NOTEBOOK}.html", "data.txt"}}
    assert [one.student for one in load(course)[0].submissions([SMALL], student)] == [student]
    shown = viva("export", "--to=one.csv", f"--student={student}")
    assert shown.status == 0
    lines = (course / "one.csv").read_text().splitlines()
    assert len(lines) == 2 and student in lines[1]


def test_nbgraders_autograder_grades_whom_it_is_told_to(course):
    before = {path: path.stat().st_mtime_ns for path in course.glob(f"autograded/*/{SMALL}/*.ipynb")}
    stock(course, Autograde, "a[b]", force=True)
    after = {path: path.stat().st_mtime_ns for path in course.glob(f"autograded/*/{SMALL}/*.ipynb")}
    assert [path.parts[-3] for path in before if before[path] != after[path]] == ["a[b]"]


def test_a_pattern_that_is_nobodys_name_still_means_whom_it_matches(course):
    assert [one.student for one in load(course)[0].submissions([SMALL], "[ax][bx]")] == ["ab", "xx"]
    stock(course, GenerateFeedback, "[ax][bx]")
    assert fed_back(course).keys() == {"ab", "xx"}
    with pytest.raises(NbGraderException, match="No notebooks were matched"):
        stock(course, GenerateFeedback, "nobody")


def test_a_folder_without_a_notebook_is_not_the_one_that_its_name_would_match(course):
    (course / "autograded" / "a[b]" / SMALL / f"{NOTEBOOK}.ipynb").unlink()
    with pytest.raises(NbGraderException, match=r"No notebooks were matched by '.*a\[b\]"):
        stock(course, GenerateFeedback, "a[b]")
    assert not (course / "feedback").exists()
