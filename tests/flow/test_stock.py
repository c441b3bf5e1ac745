"""nbgrader's own commands work on this course, its notebooks work without ours, and ours on nbgrader's example."""

from __future__ import annotations

import csv
import json
import shutil
import subprocess
from pathlib import Path

import nbgrader
import pytest
from nbgrader.api import Gradebook

from tests.conftest import PROJECT, SHORT, hand_in
from viva.engine.blueprint import read_blueprint
from viva_audit.answers import read_answer

EXAMPLE = Path(nbgrader.__file__).parent / "docs" / "source" / "user_guide" / "source"
(NOTEBOOK,) = (PROJECT / "source" / SHORT).glob("*.ipynb")
HANDED_IN = {"right": "right/einsum", "wrong": "wrong/no_scaling", "untouched": None}
"""Students, and the known answers that they hand in."""


def run(*command: str, cwd: Path) -> str:
    """What a command prints; it must succeed."""
    result = subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=120, check=False)
    text = result.stdout + result.stderr
    assert result.returncode == 0, text
    return text


def expected_scores(*, by_cell: bool = False) -> dict[str, float]:
    """What each student must have; to nbgrader's own engine a test cell is lost with the first of its checks."""
    blueprint = read_blueprint(NOTEBOOK)
    wrong = read_answer(PROJECT / "answers" / SHORT / f"{HANDED_IN['wrong']}.py").lost_checks(blueprint)
    lost = (
        {(cell.id, check.title) for cell, check in blueprint.checks() if cell.id in dict(wrong)} if by_cell else wrong
    )
    partly = sum(check.points for cell, check in blueprint.checks() if (cell.id, check.title) not in lost)
    assert 0 < partly < blueprint.automatic_points
    return {"right": blueprint.automatic_points, "wrong": partly, "untouched": 0}


def scores(root: Path, assignment: str) -> dict[str, float]:
    """The score of each student in the gradebook of a course."""
    with Gradebook(f"sqlite:///{root / 'gradebook.db'}") as gradebook:
        return {submission.student_id: submission.score for submission in gradebook.assignment_submissions(assignment)}


@pytest.mark.slow
def test_nbgraders_generate_assignment_writes_what_viva_release_writes_but_for_the_students_own_check(course):
    path = course / "release" / SHORT / NOTEBOOK.name
    before = json.loads(path.read_bytes())
    path.write_text("{}")
    run("nbgrader", "generate_assignment", SHORT, "--force", cwd=course)
    assert before["metadata"].pop("viva").keys() == {"check"}
    theirs = json.loads(path.read_bytes())
    assert theirs["metadata"].pop("viva").keys() == {"no_surprise"}, "what is the author's alone, Viva leaves out"
    assert theirs == before


@pytest.mark.slow
def test_nbgraders_autograde_feedback_and_export_give_each_answer_the_points_it_earns(course):
    for student, answer in HANDED_IN.items():
        hand_in(course, student, answer=answer)
    run("nbgrader", "autograde", SHORT, cwd=course)
    assert scores(course, SHORT) == expected_scores()

    run("nbgrader", "generate_feedback", SHORT, cwd=course)
    for student, score in expected_scores().items():
        page = course / "feedback" / student / SHORT / f"{NOTEBOOK.stem}.html"
        assert f"<strong>{score:g}</strong> of 25 points" in page.read_text(encoding="utf-8")

    run("nbgrader", "export", cwd=course)
    with (course / "grades.csv").open(newline="", encoding="utf-8") as file:
        rows = {row["student_id"]: float(row["score"]) for row in csv.DictReader(file) if row["assignment"] == SHORT}
    assert rows == expected_scores()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("student", "sentence"),
    [
        ("right", "Success! Your notebook passes all the tests."),
        ("untouched", "VALIDATION FAILED ON 5 CELL(S)!"),
    ],
    ids=["right", "untouched"],
)
def test_nbgraders_validate_tells_a_student_whether_the_visible_tests_pass(course, student, sentence):
    notebook = hand_in(course, student, answer=HANDED_IN[student])
    before = notebook.read_bytes()
    assert sentence in run("nbgrader", "validate", str(notebook), cwd=course)
    assert notebook.read_bytes() == before


@pytest.mark.slow
def test_the_notebook_alone_is_released_and_graded_in_a_course_without_our_configuration(tmp_path):
    (tmp_path / "source" / SHORT).mkdir(parents=True)
    shutil.copy(NOTEBOOK, tmp_path / "source" / SHORT)
    (tmp_path / "nbgrader_config.py").write_text('c = get_config()\nc.CourseDirectory.course_id = "another"\n')
    run("nbgrader", "generate_assignment", SHORT, cwd=tmp_path)
    shutil.copytree(PROJECT / "answers" / SHORT, tmp_path / "answers" / SHORT)
    for student, answer in HANDED_IN.items():
        hand_in(tmp_path, student, answer=answer)
    run("nbgrader", "autograde", SHORT, cwd=tmp_path)
    assert scores(tmp_path, SHORT) == expected_scores(by_cell=True)
    run("nbgrader", "generate_feedback", SHORT, cwd=tmp_path)
    assert len(list((tmp_path / "feedback").glob(f"*/{SHORT}/{NOTEBOOK.stem}.html"))) == len(HANDED_IN)
    handed_in = tmp_path / "submitted" / "right" / SHORT / NOTEBOOK.name
    assert "Success! Your notebook passes all the tests." in run("nbgrader", "validate", str(handed_in), cwd=tmp_path)


@pytest.mark.slow
def test_viva_runs_nbgraders_example_course_with_our_configuration_unchanged(tmp_path):
    shutil.copy(PROJECT / "nbgrader_config.py", tmp_path)
    (tmp_path / "source").mkdir()
    shutil.copy(EXAMPLE / "header.ipynb", tmp_path / "source")
    shutil.copytree(EXAMPLE / "ps1", tmp_path / "source" / "ps1")

    said = run("viva", "release", "--no-audit", cwd=tmp_path)
    shutil.copytree(tmp_path / "release" / "ps1", tmp_path / "submitted" / "untouched" / "ps1")
    shutil.copytree(tmp_path / "source" / "ps1", tmp_path / "submitted" / "solved" / "ps1")
    for command in ("grade", "feedback", "export"):
        said += run("viva", command, cwd=tmp_path)
    assert "Traceback" not in said

    # Of its 13 points 3 stand in test cells; the other 10 wait for a grader.
    assert scores(tmp_path, "ps1") == {"solved": 3, "untouched": 0}
    for student in ("solved", "untouched"):
        pages = {page.name for page in (tmp_path / "feedback" / student / "ps1").glob("*.html")}
        assert pages == {"problem1.html", "problem2.html"}
    with (tmp_path / "grades.csv").open(newline="", encoding="utf-8") as file:
        rows = {row["student_id"]: (row["score"], row["max_score"]) for row in csv.DictReader(file)}
    assert rows == {"solved": ("3.0", "13.0"), "untouched": ("0.0", "13.0")}
