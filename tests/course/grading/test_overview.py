"""`viva` alone shows the state of a course and the next command, and tells others how to begin."""

from __future__ import annotations

import contextlib
import os
import shutil
import sqlite3
import subprocess
import sys

import pytest

from tests.commands.test_founding import run
from tests.conftest import BIN, SHORT, hand_in
from viva import cli
from viva.course.grading import seen
from viva.course.grading.overview import overview

pytestmark = pytest.mark.usefixtures("processes")


def next_of(course) -> str:
    return overview(course).splitlines()[-2]


def test_outside_of_a_course_it_says_how_to_begin(tmp_path):
    said = overview(tmp_path)
    assert said.startswith("This folder is not in a course.")
    for command in ("viva init my_course", "viva demo", "viva check NOTEBOOK", "viva --help"):
        assert command in said


def test_it_loads_no_nbgrader(tmp_path):
    program = (
        "import sys\nfrom viva.__main__ import main\nsys.argv[1:] = []\n"
        "try: main()\nexcept SystemExit: pass\n"
        "print([name for name in ('nbgrader', 'numpy', 'sqlalchemy', 'rich') if name in sys.modules])"
    )
    done = subprocess.run([f"{BIN}/python", "-c", program], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_each_state_of_a_course_has_its_next_command(course, viva):
    for folder in (course / "source").iterdir():
        if folder.is_dir() and folder.name != SHORT:
            shutil.rmtree(folder)
    assert next_of(course).startswith(f"Next: viva grade {SHORT}    (once there are submissions")
    hand_in(course, "anna", answer="right/einsum")
    hand_in(course, "ben")
    stamp = course / "submitted" / "ben" / SHORT / "timestamp.txt"
    stamp.write_text("2026-08-01 10:00:00 UTC")
    assert next_of(course) == f"Next: viva grade {SHORT}    (2 submissions wait)"
    assert viva("grade").status == 0
    assert next_of(course).startswith("Next: jupyter lab --LabApp.default_url=/formgrader    (")
    assert "2 submissions, " in overview(course / "submitted" / "anna") and "to grade" not in overview(course)
    notebook = course / "submitted" / "ben" / SHORT / "scaled_attention.ipynb"
    text = notebook.read_text()
    notebook.write_text(f"{text}\n")
    assert next_of(course) == f"Next: viva grade {SHORT}    (1 submission waits)"
    notebook.write_text(text)
    os.utime(notebook, (later := notebook.stat().st_mtime + 1000, later))
    assert "to grade" not in overview(course), "the times of files say nothing"
    stamp.write_text("2026-09-01 10:00:00 UTC")
    os.utime(stamp, (0, 0))
    assert next_of(course) == f"Next: viva grade {SHORT}    (1 submission waits)", "a later attempt with older files"
    stamp.write_text("2026-08-01 10:00:00 UTC")
    os.utime(stamp, (0, 0))
    (course / "gradebook.db").unlink()
    assert next_of(course) == f"Next: viva feedback {SHORT}    (2 feedback pages must be written)"
    shutil.rmtree(course / "release" / SHORT)
    assert "not released" in overview(course)


def test_a_page_that_is_older_than_grades_points_or_comments_is_to_be_written(course, viva, monkeypatch):
    hand_in(course, "anna", answer="right/einsum")
    viva("grade")
    assert "1 feedback page to write" in overview(course)
    for change in ("UPDATE grade SET manual_score = 2, needs_manual_grade = 0 WHERE needs_manual_grade = 1",
                   "UPDATE comment SET manual_comment = 'See page 3'",
                   "UPDATE comment SET manual_comment = 'See page 4'"):  # fmt: skip
        viva("feedback")
        assert "to write" not in overview(course), change
        with contextlib.closing(sqlite3.connect(course / "gradebook.db")) as book, book:
            book.execute(change)
        assert "1 feedback page to write" in overview(course), change
    viva("feedback")
    viva("grade", "--force")
    assert "1 feedback page to write" in overview(course)
    viva("feedback")
    assert "to write" not in overview(course), "the page came out the same"
    subprocess.run([BIN / "nbgrader", "autograde", SHORT, "--force"], cwd=course, check=True, capture_output=True)
    assert "1 to grade" in overview(course), "viva grade will grade again what nbgrader graded"
    viva("grade")
    assert "to grade" not in overview(course)
    monkeypatch.setattr(seen, "ENGINE", "the next")
    assert "1 to grade" in overview(course), "another engine grades all again"


def test_what_a_course_has_elsewhere_is_not_guessed(tmp_path):
    (tmp_path / "source" / "ps1").mkdir(parents=True)
    (tmp_path / "source" / "ps1" / "ps1.ipynb").write_text("{}")
    (tmp_path / "nbgrader_config.py").write_text("c = get_config()\nc.CourseDirectory.submitted_directory = 'in'\n")
    (tmp_path / "in" / "anna" / "ps1").mkdir(parents=True)
    assert "1 submission, 1 to grade" in overview(tmp_path)
    structure = "c.CourseDirectory.directory_structure = '{nbgrader_step}/{assignment_id}/{student_id}'\n"
    (tmp_path / "nbgrader_config.py").write_text(structure)
    assert overview(tmp_path) == f"Course {tmp_path}\n\nAll commands: viva --help"


SMALL = "import sys\nsys.modules['nbgrader'] = None\nfrom viva.__main__ import main\nmain()"
"""As where only the check is installed."""


@pytest.mark.parametrize("arguments", [[], ["--help"]], ids=["alone", "help"])
def test_the_small_distribution_lists_what_it_has(arguments, tmp_path):
    program = SMALL.replace("main()", f"sys.argv[1:] = {arguments}\nmain()")
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=False)
    listed = [line.split()[0] for line in done.stdout.splitlines() if line.startswith("  ")]
    assert {"completion", "check"} <= set(listed), done.stderr
    core = {name for commands in cli.FLOW.values() for name in commands}
    assert core.intersection(listed) == {"completion"}


def test_a_demo_in_an_empty_folder_makes_a_course_with_a_class(tmp_path):
    folder = tmp_path / "play"
    folder.mkdir()
    said = run(folder, "demo", "--students=3")
    assert "A new course was written" in said and "Next: viva grade" in said
    assert next_of(folder) == "Next: viva grade ps1    (3 submissions wait)"
    run(folder, "grade")
    assert "Next: viva grade" not in overview(folder)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "letter.txt").write_text("")
    run(tmp_path / "mine", "demo", status=2)
    assert not (tmp_path / "mine" / "source").exists()


@pytest.mark.parametrize("place", ["grades/book.db", "sqlite:///grades/book.db", None])
def test_the_gradebook_is_read_where_the_configuration_says_it_is(course, viva, tmp_path, place):
    url = place or f"sqlite:///{tmp_path / 'elsewhere.db'}"
    url = url if "://" in url else f"sqlite:///{course / place}"
    (course / "grades").mkdir()
    (course / "gradebook.db").unlink()
    with (course / "nbgrader_config.py").open("a") as file:
        file.write(f"c.CourseDirectory.db_url = {url!r}\n")
    assert viva("release", SHORT, "--no-audit").status == 0
    hand_in(course, "anna", answer="right/einsum")
    assert viva("grade").status == 0
    assert "for a grader to read" in overview(course)
    assert next_of(course).startswith("Next: jupyter lab --LabApp.default_url=/formgrader    (1 notebook needs")


def test_a_gradebook_that_this_does_not_read_is_not_said_to_have_no_work(course, viva):
    assert viva("release", SHORT, "--no-audit").status == 0
    with (course / "nbgrader_config.py").open("a") as file:
        file.write("c.CourseDirectory.db_url = 'postgresql+psycopg://somebody@host/course'\n")
    assert "everything is graded" not in overview(course)


def test_a_refused_submission_does_not_ask_for_grading_again(course, viva):
    for folder in (course / "source").iterdir():
        if folder.is_dir() and folder.name != SHORT:
            shutil.rmtree(folder)
    path = hand_in(course, "anna")
    path.write_text("%PDF-1.7")
    viva("grade")
    for _ in range(2):
        os.utime(path.parent, (9_999_999_999, 9_999_999_999))
        path.chmod(0o600)  # as a backup does: only the times of the folder change
        assert "1 not gradable" in overview(course) and "viva grade" not in next_of(course)
    path.write_text("%PDF-1.8")
    assert next_of(course) == f"Next: viva grade {SHORT}    (1 submission waits)"
