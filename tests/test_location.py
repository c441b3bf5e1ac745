"""A folder that students' files come to is never a course, and no configuration is read from it."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from viva.location import course_above, course_of_students_files, may_be_strangers


def make(root: Path, config: str = "c = get_config()\n", source: str = "source") -> Path:
    (root / source / "hw").mkdir(parents=True)
    (root / "nbgrader_config.py").write_text(config)
    return root


def students(folder: Path) -> Path:
    """A student's folder that pretends to be a course."""
    return make(folder)


@pytest.mark.parametrize(
    ("below", "config"),
    [
        ("submitted/ann/hw", ""),
        ("submitted/ann/hw/deep/er", ""),
        ("autograded/ann/hw", ""),
        ("feedback/ann/hw", ""),
        ("release/hw", ""),
        ("unmatched/archive/hw", ""),
        ("attempts/ann/hw/1", ""),
        (
            "ann/submitted/hw",
            "c.CourseDirectory.directory_structure = '{student_id}/{nbgrader_step}/{assignment_id}'\n",
        ),
        ("eingereicht/ann/hw", "c.CourseDirectory.submitted_directory = 'eingereicht'\n"),
        ("work/in/ann/hw", "c.CourseDirectory.submitted_directory = 'work/in'\n"),
    ],
)
def test_below_a_courses_folders_for_students_files_there_is_no_course_but_itself(tmp_path, below, config):
    course = make(tmp_path / "course", config)
    fake = students(course / below)
    assert course_above(fake) == course_above(fake / "source") == str(course)
    assert course_of_students_files(fake) == course


def test_the_names_that_a_configuration_in_json_gives_are_known_too(tmp_path):
    course = make(tmp_path / "course", source="quellen")
    (course / "nbgrader_config.py").unlink()
    named = {"source_directory": "quellen", "submitted_directory": str(course / "abgaben")}
    (course / "nbgrader_config.json").write_text(json.dumps({"CourseDirectory": named}))
    assert course_above(course) == course_above(course / "quellen") == str(course)
    assert course_of_students_files(students(course / "abgaben" / "ann")) == course


def test_a_course_beside_another_one_or_below_a_folder_called_release_stays_a_course(tmp_path):
    outer = make(tmp_path / "outer")
    inner = make(outer / "kurse" / "inner")
    assert course_above(inner) == str(inner) and course_of_students_files(inner) is None
    flat = make(tmp_path / "flat", "c.CourseDirectory.submitted_directory = '.'\n")
    assert course_of_students_files(flat / "source") is None
    own = make(tmp_path / "release" / "feedback" / "course")
    assert course_above(own) == str(own) and not may_be_strangers(own)


def test_submissions_on_another_disk_belong_to_the_course_that_links_to_them(tmp_path, monkeypatch):
    course = make(tmp_path / "course")
    fake = students(tmp_path / "disk" / "ann" / "hw")
    (course / "submitted").symlink_to(tmp_path / "disk")
    assert course_above(fake) == str(fake), "nothing tells"
    monkeypatch.setenv("PWD", str(course / "submitted" / "ann" / "hw"))
    assert course_above(fake) == str(course)
    monkeypatch.setenv("PWD", str(course))
    assert course_above(fake) == str(fake), "a PWD of another folder"


@pytest.mark.parametrize("place", ["submitted/ann", "inbound/ann+hw+now", "archive/ann"])
def test_where_no_course_is_above_names_and_a_time_of_submission_tell(tmp_path, place):
    fake = students(tmp_path / place)
    (fake.parent / "timestamp.txt").write_text("2026-10-01 12:00:00 UTC") if "archive" in place else None
    assert may_be_strangers(fake) and may_be_strangers(fake / "source")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_in_a_folder_that_everybody_may_write_to_a_configuration_of_another_user_is_a_strangers(tmp_path):
    shared = make(tmp_path / "shared")
    shared.chmod(0o1777)
    (shared / "mine").mkdir()
    assert not may_be_strangers(shared), "it is one's own"
    assert course_above(shared / "mine") == str(shared), "as on a drive where all folders are everybody's"
    os.chown(shared / "nbgrader_config.py", 12345, 12345)
    assert may_be_strangers(shared)
    assert course_above(shared / "mine") == "", "as of /tmp"


def test_a_pipe_is_no_configuration_and_nobody_waits_for_it(tmp_path):
    os.mkfifo(tmp_path / "nbgrader_config.py")
    assert course_above(tmp_path) == "" and course_of_students_files(tmp_path) is None


def test_a_name_that_no_folder_can_have_is_no_error(tmp_path):
    (tmp_path / "nbgrader_config.py").write_text(f"c.CourseDirectory.source_directory = {'a' * 5000!r}\n")
    assert course_above(tmp_path) == ""
