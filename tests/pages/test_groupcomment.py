"""A comment for a group of answers: who gets it, what becomes of scores, and how all of it is taken back."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from nbgrader.api import Gradebook, MissingEntry
from nbgrader.coursedir import CourseDirectory
from traitlets.config import Config

from viva.course.course import Course
from viva.course.examining import writtenanswers
from viva.pages.additions import Addition
from viva.pages.groupcomment import LONGEST_TEXT, Change, give, groups, rows, take_back
from viva.pages.sentvalues import RefusedError

MASK, SIGN = "* -1: The mask is missing. [mask]", "* -0.5: The sign is wrong. [sign]"
STUDENTS = ("ada", "bea", "cleo", "dan")


class Desk:
    """A gradebook with one question of 3 points and one answer that tests grade; ada's page is open."""

    def __init__(self, gradebook: Gradebook) -> None:
        self.gradebook = gradebook
        gradebook.add_assignment("ps")
        gradebook.add_notebook("n", "ps")
        gradebook.add_grade_cell("why", "n", "ps", max_score=3, cell_type="markdown")
        gradebook.add_solution_cell("why", "n", "ps")
        gradebook.add_solution_cell("code", "n", "ps")
        for student in STUDENTS:
            gradebook.add_student(student)
            gradebook.add_submission("ps", student)

    def of(self, student: str):
        return self.gradebook.find_submission_notebook("n", "ps", student)

    def comment(self, student: str, text: str | None, score: float | None = None, cell: str = "why") -> None:
        self.gradebook.find_comment(cell, "n", "ps", student).manual_comment = text
        if cell == "why":
            grade = self.gradebook.find_grade(cell, "n", "ps", student)
            grade.manual_score, grade.needs_manual_grade = score, score is None
        self.gradebook.db.commit()

    def saved(self, student: str, cell: str = "why") -> tuple[str | None, float | None]:
        grade = self.gradebook.find_grade("why", "n", "ps", student) if cell == "why" else None
        return self.gradebook.find_comment(cell, "n", "ps", student).manual_comment, grade and grade.manual_score

    def give(self, *students: str, cell: str = "why") -> list[Change]:
        return list(give(self.gradebook, self.of("ada"), cell, [self.of(student).id for student in students]))


@pytest.fixture
def desk(tmp_path) -> Iterator[Desk]:
    with Gradebook(f"sqlite:///{tmp_path}/gradebook.db") as gradebook:
        yield Desk(gradebook)


def test_all_of_the_group_get_the_items_and_the_score_that_these_make(desk):
    desk.comment("ada", MASK, 2)
    assert len(desk.give("bea", "cleo")) == 2
    assert desk.saved("bea") == desk.saved("cleo") == (MASK, 2)
    assert not desk.gradebook.find_grade("why", "n", "ps", "bea").needs_manual_grade
    assert desk.saved("dan") == (None, None)


def test_a_comment_that_was_there_stays_and_its_items_count_too(desk):
    desk.comment("ada", f"{MASK}\nSee page 3.", 2)
    desk.comment("bea", SIGN, 2.5)
    desk.comment("cleo", f"Well written.\n{MASK}", 2)
    desk.give("bea", "cleo")
    assert desk.saved("bea") == (f"{SIGN}\n{MASK}\nSee page 3.", 1.5)
    assert desk.saved("cleo") == (f"Well written.\n{MASK}\nSee page 3.", 2)


def test_a_score_that_a_grader_typed_stays(desk):
    desk.comment("ada", MASK, 2)
    desk.comment("bea", None, 3)
    desk.comment("cleo", SIGN, 1)
    desk.give("bea", "cleo")
    assert desk.saved("bea") == (MASK, 3)
    assert desk.saved("cleo") == (f"{SIGN}\n{MASK}", 1)


def test_words_without_an_item_give_no_score(desk):
    desk.comment("ada", "See page 3.", 2)
    desk.give("bea")
    assert desk.saved("bea") == ("See page 3.", None)
    assert desk.gradebook.find_grade("why", "n", "ps", "bea").needs_manual_grade


def test_an_answer_that_tests_grade_gets_the_comment_too(desk):
    desk.comment("ada", "The mean is missing.", cell="code")
    desk.give("bea", cell="code")
    assert desk.saved("bea", "code")[0] == "The mean is missing."


def test_twice_is_once_and_nothing_is_given_without_a_comment(desk):
    assert desk.give("bea") == []
    desk.comment("ada", MASK, 2)
    desk.give("bea")
    assert desk.give("bea") == []
    assert desk.saved("bea") == (MASK, 2)


def test_all_of_it_is_taken_back_in_one_step_but_for_what_changed_since(desk):
    desk.comment("ada", MASK, 2)
    desk.comment("bea", "Well written.", None)
    changes = desk.give("bea", "cleo", "dan")
    desk.comment("dan", f"{MASK}\nCome and see me.", 2)
    assert take_back(desk.gradebook, changes) == 2
    assert desk.saved("bea") == ("Well written.", None)
    assert desk.saved("cleo") == (None, None)
    assert desk.gradebook.find_grade("why", "n", "ps", "cleo").needs_manual_grade
    assert desk.saved("dan") == (f"{MASK}\nCome and see me.", 2)


@pytest.mark.parametrize("score", [1_000_000.0, -5.0, 3.5])
def test_points_that_a_cell_does_not_have_are_not_taken_back_and_nothing_is_written(desk, score):
    desk.comment("ada", MASK, 2)
    changes = desk.give("bea", "cleo")
    changes[1].score_before = score
    with pytest.raises(RefusedError, match="must be a number from 0 to 3"):
        take_back(desk.gradebook, changes)
    desk.gradebook.db.rollback()
    assert (desk.saved("bea"), desk.saved("cleo")) == ((MASK, 2), (MASK, 2))


def test_a_text_that_no_database_takes_is_taken_back_without_these_characters(desk):
    desk.comment("ada", MASK, 2)
    (change,) = desk.give("bea")
    change.comment_before = "so\0 it\ud800 was"
    assert take_back(desk.gradebook, [change]) == 1 and desk.saved("bea")[0] == "so it was"


def test_only_those_are_in_a_group_whom_a_sentence_names_and_who_submitted(desk):
    parts = [
        Addition("Alike.", "why", "n", ("bea", "ada", "nobody"), "why"),
        Addition("Alike.", "why", "n", ("bea", "cleo"), "why"),
        Addition("No answer cell.", "test", "n", ("dan",)),
    ]
    expected = {"why": {desk.of("bea").id: "bea", desk.of("cleo").id: "cleo"}}
    assert groups(desk.gradebook, desk.of("ada"), parts) == expected


def test_the_page_lists_each_answer_with_its_comment_and_the_beginning_of_its_text(desk, tmp_path):
    desk.comment("cleo", MASK, 2)
    marks = {
        "nbgrader": {"grade_id": "why", "grade": True},
        writtenanswers.KEY: {"answer": "Because\u202e " + "x" * 5000},
    }
    notebook = {"cells": [{"source": "a task"}, {"source": ["a ", "question"], "metadata": marks}], "nbformat": 4}
    for student, text in (("bea", json.dumps(notebook)), ("dan", '{"cells": 5}')):
        path = tmp_path / "autograded" / student / "ps" / "n.ipynb"
        path.parent.mkdir(parents=True)
        path.write_text(text)
    course = Course(CourseDirectory(config=Config({"CourseDirectory": {"root": str(tmp_path)}})))
    alike = {"why": {desk.of(student).id: student for student in ("bea", "cleo", "dan")}}
    listed = rows(course, desk.gradebook, desk.of("ada"), alike)["why"]
    assert [(row.id, row.comment) for row in listed] == [
        (desk.of("bea").id, ""), (desk.of("cleo").id, MASK), (desk.of("dan").id, "")
    ]  # fmt: skip
    assert (
        listed[0].text.startswith("Because") and len(listed[0].text) == LONGEST_TEXT and "\u202e" not in listed[0].text
    )
    assert listed[1].text == listed[2].text == ""


def test_an_answer_that_is_not_in_the_gradebook_is_an_error(desk):
    desk.comment("ada", MASK, 2)
    with pytest.raises(MissingEntry):
        list(give(desk.gradebook, desk.of("ada"), "why", ["nothing"]))
