"""What lateness costs follows the score, whoever changes what; the policy is the course's own."""

from __future__ import annotations

import shutil
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from nbgrader.api import Gradebook
from sqlalchemy import text
from traitlets.config import Config

from viva.course.gradebook import lateness
from viva.course.gradebook.lateness import DailyPenalty

DAY = 24 * 60 * 60
DUE = datetime(2026, 9, 14, 12)


@pytest.mark.parametrize(
    ("seconds", "penalty"),
    [(0, 0), (-5, 0), (1, 2), (DAY, 2), (DAY + 1, 4), (9.5 * DAY, 20), (400 * DAY, 20)],
)
def test_each_day_begun_costs_its_share_and_never_more_than_the_score(seconds, penalty):
    assert DailyPenalty(per_day=0.1).late_submission_penalty("anna", 20.0, seconds) == pytest.approx(penalty)


def test_the_share_is_configurable():
    assert DailyPenalty(per_day=0.5).late_submission_penalty("anna", 8.0, 60) == 4.0


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> Path:
    """A gradebook in which anna handed in two notebooks two days late: 16 and 8 points, a written answer waits."""
    path = tmp_path_factory.mktemp("late") / "gradebook.db"
    with Gradebook(f"sqlite:///{path}") as book:
        book.add_assignment("a1", duedate=DUE)
        for notebook, points in (("one", 16.0), ("two", 8.0)):
            book.add_notebook(notebook, "a1")
            book.add_grade_cell("tests", notebook, "a1", max_score=points, cell_type="code")
        book.add_task_cell("written", "one", "a1", max_score=4, cell_type="markdown")
        book.add_student("anna")
        book.add_student("punctual")
        for student, when in (("anna", DUE + timedelta(days=1, seconds=5)), ("punctual", DUE)):
            book.add_submission("a1", student, timestamp=when)
            for notebook, points in (("one", 16.0), ("two", 8.0)):
                book.find_grade("tests", notebook, "a1", student).auto_score = points
        book.db.commit()
    return path


@pytest.fixture
def address(made, tmp_path) -> str:
    return f"sqlite:///{shutil.copy(made, tmp_path / 'gradebook.db')}"


@pytest.fixture
def followed(address) -> str:
    config = Config()
    config.AssignLatePenalties.plugin_class = "viva.course.gradebook.lateness.DailyPenalty"
    config.DailyPenalty.per_day = 0.1
    lateness.follow(config, db_url=address)
    return address


def penalties(address: str, student: str = "anna") -> list[float | None]:
    with Gradebook(address) as book:
        submission = book.find_submission("a1", student)
        found = {notebook.name: notebook.late_submission_penalty for notebook in submission.notebooks}
        assert submission.late_submission_penalty == pytest.approx(sum(one or 0.0 for one in found.values()))
        return [found["one"], found["two"]]


def by_hand(book: Gradebook) -> None:
    book.find_grade("written", "one", "a1", "anna").manual_score = 4


def extra_credit(book: Gradebook) -> None:
    book.find_grade("tests", "two", "a1", "anna").extra_credit = 2


def automatic(book: Gradebook) -> None:
    book.find_grade("tests", "one", "a1", "anna").auto_score = 0


def handed_in_later(book: Gradebook) -> None:
    book.update_or_create_submission("a1", "anna", timestamp=DUE + timedelta(days=2, seconds=1))


def extension(book: Gradebook) -> None:
    book.find_submission("a1", "anna").extension = timedelta(days=1)


def no_longer_late(book: Gradebook) -> None:
    book.update_or_create_assignment("a1", duedate=DUE + timedelta(days=9))


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (by_hand, [4.0, 1.6]),
        (extra_credit, [3.2, 2.0]),
        (automatic, [0.0, 1.6]),
        (handed_in_later, [4.8, 2.4]),
        (extension, [1.6, 0.8]),
        (no_longer_late, [None, None]),
    ],
)
def test_the_penalty_follows_whatever_it_depends_on_in_the_same_transaction(followed, change, expected):
    with Gradebook(followed) as book:
        lateness.settle(book.db())
    assert penalties(followed) == pytest.approx([3.2, 1.6])
    with Gradebook(followed) as book:
        change(book)
        book.db.commit()
    assert [one and pytest.approx(one) for one in expected] == penalties(followed)
    assert penalties(followed, "punctual") == [None, None]


def test_what_is_rolled_back_changes_no_penalty(followed):
    with Gradebook(followed) as book:
        by_hand(book)
        book.db.flush()
        book.db.rollback()
        extra_credit(book)
        book.db.commit()
    assert penalties(followed) == [None, pytest.approx(2.0)]


def test_who_is_removed_with_all_their_work_is_gone(followed):
    with Gradebook(followed) as book:
        by_hand(book)
        book.remove_student("anna")
        assert [student.id for student in book.students] == ["punctual"]


def test_what_was_changed_behind_the_gradebooks_back_is_settled(followed):
    with Gradebook(followed) as book:
        book.db.execute(text("UPDATE grade SET manual_score = 1"))
        book.db.commit()
        assert lateness.settle(book.db(), ["a2"]) == 0
        assert lateness.settle(book.db(), ["a1"]) == 2
        assert lateness.settle(book.db()) == 0
    assert penalties(followed) == pytest.approx([0.4, 0.2])


def test_the_gradebook_of_a_course_that_did_not_ask_for_it_is_left_alone(address):
    with Gradebook(address) as book:
        book.find_submission("a1", "anna").notebooks[0].late_submission_penalty = 7
        by_hand(book)
        book.db.commit()
        assert lateness.settle(book.db()) == 0
    assert sorted(penalties(address), key=str) == [7, None]


@pytest.mark.parametrize(("method", "expected"), [("zero", [20, 8]), ("none", [None, None])])
def test_the_policies_that_come_with_nbgrader_are_followed_too(address, method, expected):
    config = Config()
    config.LateSubmissionPlugin.penalty_method = method
    lateness.follow(config, db_url=address)
    with Gradebook(address) as book:
        by_hand(book)
        book.db.commit()
        lateness.settle(book.db())
    assert penalties(address) == expected


def test_a_configuration_file_speaks_for_the_course_folder_that_it_lies_in(address, monkeypatch):
    path = Path(address.removeprefix("sqlite:///"))
    monkeypatch.chdir("/")
    config = Config()
    config.AssignLatePenalties.plugin_class = DailyPenalty
    lateness.follow(config, str(path.with_name("nbgrader_config.py")))
    with Gradebook(address) as book:
        by_hand(book)
        book.db.commit()
    assert penalties(address) == [pytest.approx(4.0), None]
