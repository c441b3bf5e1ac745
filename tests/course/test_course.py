from __future__ import annotations

import shutil

import pytest

from tests.conftest import PROJECT, SHORT, hand_in, load
from viva.course.course import Course
from viva.course.gradebook import releases
from viva.location import course_above
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
    with pytest.raises(CourseError, match="'ps' is the beginning of several assignments: ps1_general_attention, "):
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
    with pytest.raises(CourseError, match="'ps' is the beginning of several assignments: ps1_first, ps2_second, "):
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
        releases.notebooks(opened, SHORT)
    assert not (course / "gradebook.db").exists()


def test_where_work_was_graded_and_the_gradebook_is_gone_a_copy_is_asked_for(course):
    (course / "gradebook.db").unlink()
    (course / "results.jsonl").touch()
    opened, _ = load(course)
    with pytest.raises(CourseError, match="Restore a copy of the gradebook"):
        releases.notebooks(opened, SHORT)
    assert not (course / "gradebook.db").exists()


@pytest.mark.parametrize("name", ["ready?", "term [1]", "a*b"])
def test_a_folder_whose_path_is_a_pattern_to_nbgrader_is_refused(tmp_path, course, name):
    folder = tmp_path / name
    folder.mkdir()
    opened, _ = load(course)
    opened.require_writable()
    opened.directory.root = str(folder)
    with pytest.raises(CourseError, match=r"has a \[, \* or \?.*Rename the folder"):
        Course(opened.directory).require_writable()


def test_submissions_of_an_assignment_whose_name_is_a_pattern_are_found_and_no_others(course):
    for name in ("hw [1]", "hw 1"):
        (course / "submitted" / "bo" / name).mkdir(parents=True)
    opened, _ = load(course)
    for student in ("*", "bo", "b?"):
        assert [one.folder.name for one in opened.submissions(["hw [1]"], student)] == ["hw [1]"]
