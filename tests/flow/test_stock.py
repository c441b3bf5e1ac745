"""nbgrader's own commands work on this course, its notebooks work without ours, and ours on nbgrader's example."""

from __future__ import annotations

import csv
import json
import shutil
import subprocess
from pathlib import Path

import pytest
from nbgrader.api import Gradebook

from tests.conftest import PROJECT, SHORT, hand_in
from viva.engine.blueprint import read_blueprint
from viva_audit.answers import read_answer

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
