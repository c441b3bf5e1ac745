"""What the commands say and return; each runs on a real course."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

import pytest

from tests.conftest import BIN, SHORT, hand_in


def test_grading_says_what_became_of_each_submission(course, viva):
    hand_in(course, "anna", answer="right/einsum")
    (course / "submitted" / "bo" / SHORT).mkdir(parents=True)
    result = viva("grade", SHORT)
    assert result.status == 0
    assert "bo: no scaled_attention.ipynb was handed in (found: nothing)" in result.out
    assert "anna:" not in result.out


def test_what_needs_the_grader_makes_the_status_non_zero(course, viva):
    source = course / "source" / SHORT / "scaled_attention.ipynb"
    magic = "today = !date\\nassert today\\n### BEGIN HIDDEN TESTS"
    source.write_text(source.read_text().replace("### BEGIN HIDDEN TESTS", magic, 1))
    assert viva("release", "--no-audit", SHORT).status == 0
    hand_in(course, "anna", answer="right/einsum")
    result = viva("grade", SHORT)
    assert result.status == 1
    assert "anna: the check" in result.out
    assert "is ungraded: the test cell uses !date, which the grader cannot run" in result.out


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["grade", "ps9"], "There is no assignment 'ps9'"),
        (["grade", "--assignment=ps9"], "There is no assignment 'ps9'"),
        (["grade", "--student=nobody"], "by a student 'nobody'"),
        (["release", "ps3"], "Did you mean 'ps3_"),
        (["export", "ps9"], "There is no assignment 'ps9'"),
        (["export", "--student=nobody"], "There is no student 'nobody' in the gradebook"),
        (["grade", "--course-dir=/nonexistent"], "There is no folder /nonexistent"),
        (["export", "--db=nonsense"], "'nonsense' is not the address of a gradebook"),
        (["export", "--db=firebird://here/grades"], "'firebird://here/grades' is not the address of a gradebook"),
    ],
)
def test_a_request_that_cannot_be_met_is_answered_in_a_sentence(course, viva, arguments, sentence):
    result = viva(*arguments)
    assert result.status == 2
    assert sentence in result.err
    assert "Traceback" not in result.text


def test_grading_before_release_says_to_release(course, viva):
    (course / "gradebook.db").unlink()
    hand_in(course, "anna")
    result = viva("grade", SHORT)
    assert result.status == 2
    assert f"Run 'viva release {SHORT}' first" in result.err


@pytest.mark.parametrize("command", ["grade", "feedback"])
def test_nothing_handed_in_is_no_error(course, viva, command):
    result = viva(command)
    assert result.status == 0
    assert "Nothing was handed in" in result.out


def test_an_assignment_that_is_still_written_on_does_not_stop_the_export_of_the_others(course, viva):
    shutil.copytree(course / "source" / SHORT, course / "source" / "ps9_draft")
    result = viva("export")
    assert result.status == 0
    assert "The gradebook does not know ps9_draft yet" in result.out
    assert viva("export", "ps9_draft").status == 2


def test_the_students_to_export_may_be_named_by_a_pattern(course, viva):
    assert viva("demo", "--students=12", SHORT).status == 0
    result = viva("export", "--student=demo-0*", SHORT)
    assert result.status == 0
    assert "9 rows are in" in result.out


def test_a_folder_without_source_is_no_course(course, viva):
    shutil.rmtree(course / "source")
    for command in ("audit", "release", "grade", "demo", "export", "feedback"):
        result = viva(command)
        assert result.status == 2
        assert "is not a course" in result.err


def test_a_broken_gradebook_is_said_to_be_one(course, viva):
    (course / "gradebook.db").write_bytes(b"not a database" * 100)
    hand_in(course, "anna")
    result = viva("grade", SHORT)
    assert result.status == 2
    assert "gradebook.db cannot be used" in result.err


def shell(*command, cwd, **options):
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=120, check=False, **options)


def test_a_read_only_course_is_refused_in_a_sentence_and_stays_as_it_was(course):
    hand_in(course, "anna")
    before = (course / "gradebook.db").read_bytes()
    command = f"{BIN}/viva grade {SHORT}"
    if os.geteuid() == 0:
        # chmod does not stop root; a read-only mount in a namespace of its own does.
        script = f"mount --bind {course} {course} && mount -o remount,ro,bind {course} && cd {course} && {command}"
        result = shell("unshare", "--mount", "sh", "-c", script, cwd=course)
        if "unshare failed" in result.stderr:
            pytest.skip("this root may not make mount namespaces")
    else:
        course.chmod(0o555)
        (course / "gradebook.db").chmod(0o444)
        result = shell("sh", "-c", command, cwd=course)
        course.chmod(0o755)
    assert result.returncode != 0
    assert "Traceback" not in result.stdout + result.stderr
    assert "read" in (result.stdout + result.stderr).lower()
    assert (course / "gradebook.db").read_bytes() == before


def test_the_command_lists_its_subcommands_and_refuses_an_unknown_one(course):
    result = shell(f"{BIN}/viva", cwd=course)
    assert result.returncode == 0
    for name in ("new", "adopt", "audit", "release", "demo", "grade", "feedback", "export", "doctor"):
        assert f"  {name} " in result.stdout
    result = shell(sys.executable, "-m", "viva", "grad", cwd=course)
    assert result.returncode == 2
    assert "no command 'grad'" in result.stderr


@pytest.mark.parametrize("name", ["new", "adopt", "audit", "release", "demo", "grade", "feedback", "export", "doctor"])
def test_every_command_explains_itself_with_an_example(course, viva, name):
    result = viva(name, "--help")
    assert result.status == 0
    assert f"viva {name}" in result.out
