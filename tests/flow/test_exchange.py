"""The whole round through nbgrader's exchange, with the commands that the instructor and a student type."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import nbformat
import pytest
from dateutil.parser import parse
from nbgrader.api import Gradebook
from nbgrader.utils import get_username

from tests.conftest import SHORT, load
from viva.engine.blueprint import read_blueprint
from viva_audit.answers import fill_in, read_answer

STUDENT = get_username()
"""nbgrader takes the student's id from the operating system: here both are the user who runs the tests."""


def run(*command: str, cwd: Path, home: Path | None = None) -> str:
    """What a command prints, in a folder and with a home of one's own; it must succeed."""
    env = os.environ | ({"HOME": str(home)} if home else {})
    result = subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True, timeout=120, check=False)
    text = result.stdout + result.stderr
    assert result.returncode == 0, text
    assert "Traceback" not in text
    return text


@pytest.fixture
def as_student(course, tmp_path):
    """Run a command as a student, who knows the course id and where the exchange is, and nothing else."""
    _, config = load(course)
    desk, home = tmp_path / "student", tmp_path / "student_home"
    desk.mkdir()
    home.mkdir()
    (desk / "nbgrader_config.py").write_text(
        "c = get_config()\n"
        f"c.CourseDirectory.course_id = {config.CourseDirectory.course_id!r}\n"
        f"c.Exchange.root = {config.Exchange.root!r}\n"
    )

    def command(*words: str) -> str:
        return run(*words, cwd=desk, home=home)

    command.desk = desk
    return command


def fill_in_answer(course: Path, path: Path) -> None:
    """Replace the notebook that a student fetched by the same one with a right answer in it."""
    (source,) = (course / "source" / SHORT).glob("*.ipynb")
    answer = read_answer(course / "answers" / SHORT / "right" / "einsum.py")
    notebook = fill_in(answer, nbformat.read(path, as_version=4), read_blueprint(source))
    nbformat.write(notebook, path)


@pytest.mark.slow
def test_an_assignment_goes_out_comes_back_is_graded_and_its_feedback_arrives(course, as_student):
    (source,) = (course / "source" / SHORT).glob("*.ipynb")
    fetched = as_student.desk / SHORT / source.name

    run("nbgrader", "release_assignment", SHORT, cwd=course)
    for listed in (run("nbgrader", "list", cwd=course), as_student("nbgrader", "list")):
        assert f"viva {SHORT}" in listed
        assert "WARNING" not in listed

    as_student("nbgrader", "fetch_assignment", SHORT)
    assert fetched.read_bytes() == (course / "release" / SHORT / source.name).read_bytes()
    fill_in_answer(course, fetched)
    as_student("nbgrader", "submit", SHORT)
    assert f"viva {STUDENT} {SHORT}" in run("nbgrader", "list", "--inbound", cwd=course)

    run("nbgrader", "collect", SHORT, cwd=course)
    collected = course / "submitted" / STUDENT / SHORT
    assert (collected / source.name).read_bytes() == fetched.read_bytes()
    run("viva", "grade", cwd=course)
    with Gradebook(f"sqlite:///{course / 'gradebook.db'}") as gradebook:
        submission = gradebook.find_submission(SHORT, STUDENT)
        assert submission.score == submission.max_code_score == read_blueprint(source).automatic_points
        handed_in = parse((collected / "timestamp.txt").read_text())
        assert submission.timestamp == handed_in.replace(tzinfo=None)

    run("viva", "feedback", cwd=course)
    run("nbgrader", "release_feedback", SHORT, cwd=course)
    as_student("nbgrader", "fetch_feedback", SHORT)
    (page,) = (as_student.desk / SHORT / "feedback").glob(f"*/{source.stem}.html")
    assert page.read_bytes() == (course / "feedback" / STUDENT / SHORT / page.name).read_bytes()
    assert "<strong>20</strong> of 25 points" in page.read_text(encoding="utf-8")
