"""The points by question and check, as a table."""

from __future__ import annotations

import csv

import pytest
from nbgrader.api import Gradebook

from tests.doubling import ANSWERS, NOTEBOOK, RIGHT, SMALL, hand_in_small, released_small
from viva.course.grading.batch import autograde

pytestmark = pytest.mark.usefixtures("processes")


@pytest.fixture
def course(tmp_path, monkeypatch):
    """A course with a small assignment: whose answer is right, wrong, still waits, and who handed in nothing."""
    root = tmp_path / "course"
    opened, config = released_small(root)
    monkeypatch.chdir(root)
    hand_in_small(root, "ada", RIGHT, "Addition.")
    hand_in_small(root, "bea", ANSWERS["own_words"], "Why not?")
    hand_in_small(root, "cleo", RIGHT)
    list(autograde(opened, opened.submissions([SMALL]), config=config))
    with Gradebook(f"sqlite:///{root / 'gradebook.db'}") as gradebook:
        gradebook.update_or_create_student("dora", last_name="=SUM(1)")
        grade = gradebook.find_grade("why", NOTEBOOK, SMALL, "ada")
        grade.manual_score, grade.needs_manual_grade = 2.5, False
        gradebook.db.commit()
    return root


def test_each_question_and_check_is_a_column_and_each_student_a_row(course, viva):
    result = viva("export", "--as=csv", "--points=questions")
    assert result.status == 0 and "4 students" in result.text
    with (course / "questions.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    test, why = f"{SMALL} / test_twice", f"{SMALL} / why [3]"
    checks = [f"{test} / {title} [1]" for title in (
        "two is doubled", "a word is doubled", "other numbers", "an array",
    )]  # fmt: skip
    assert list(rows[0])[4:] == [f"{test} [4]", *checks, why]
    points = {row["student_id"]: [row[name] for name in list(row)[4:]] for row in rows}
    assert points["ada"] == ["4.0", "1.0", "1.0", "1.0", "1.0", "2.5"]
    assert points["bea"] == ["1.0", "1.0", "0.0", "0.0", "0.0", ""]  # the answer waits for a grader
    assert points["cleo"] == ["4.0", "1.0", "1.0", "1.0", "1.0", "0.0"]  # an empty answer waits for nobody
    assert points["dora"] == [""] * 6
    assert rows[-1]["last_name"].startswith("'")


def test_another_form_is_refused_with_the_right_one(course, viva):
    for wrong in (["--points=checks"], ["--points=questions", "--as=xlsx"]):
        result = viva("export", *wrong)
        assert result.status == 2 and "--as=csv --points=questions" in result.text
