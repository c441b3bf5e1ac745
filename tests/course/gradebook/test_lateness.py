"""What lateness costs follows the score, whoever changes what; the policy is the course's own."""

from __future__ import annotations

import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from nbformat.v4 import new_notebook
from nbgrader.api import Gradebook
from nbgrader.plugins import LateSubmissionPlugin
from nbgrader.preprocessors import AssignLatePenalties
from sqlalchemy import text
from traitlets.config import Config

from viva import configuration
from viva.course.deadlines.concessions import Concessions
from viva.course.deadlines.policy import LatePolicy
from viva.course.gradebook import classbook, lateness
from viva.course.gradebook.lateness import DailyPenalty
from viva.verdict import CourseError

DUE = datetime(2026, 9, 14, 12)


def test_what_has_no_time_or_deadline_or_is_excused_is_not_delivered():
    day, marks = timedelta(days=1), {"a": 1.0, "b": None, "c": 1.0}
    submissions = [
        lateness.Submitted(name, "ps", name, DUE, at, more, 5.0, marks)
        for name, at, more in (("anna", DUE, None), ("bo", None, None), ("dee", DUE, None), ("ed", DUE, day))
    ]
    submissions += [lateness.Submitted("fay", "other", "fay", None, DUE, None, 5.0)]
    granted = Concessions(None, {("ps", "dee"): "ill"})
    found = lateness.deliveries(LatePolicy(), granted, submissions, {"a": 2.0, "b": None, "c": -1.0})
    until = DUE.replace(tzinfo=UTC) + day
    assert {student: (one.score, one.until) for (_, student), one in found.items()} == {
        "anna": (2.0, None),
        "ed": (2.0, until),
    }


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
        assert lateness.settle(book.db()) == 2
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


class Halved(LateSubmissionPlugin):
    """A plugin of a course's own."""

    def late_submission_penalty(self, student_id, score, total_seconds_late):
        return None if total_seconds_late < 60 else score / 2


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({}, 0),
        ({"LateSubmissionPlugin": {"penalty_method": "none"}}, 0),
        ({"LateSubmissionPlugin": {"penalty_method": "zero"}}, 24),
        ({"AssignLatePenalties": {"plugin_class": Halved}}, 12),
    ],
    ids=["default", "none", "zero", "own plugin"],
)
def test_a_stock_course_that_adopts_viva_charges_late_work_as_before(address, settings, expected):
    for notebook in ("one", "two"):
        place = {"notebook": notebook, "assignment": "a1", "student": "anna", "db_url": address}
        AssignLatePenalties(config=Config(settings)).preprocess(new_notebook(), {"nbgrader": place})
    stock = [one or 0.0 for one in penalties(address)]
    assert sum(stock) == expected
    config = Config(settings)
    configuration.apply(config, str(Path(address.removeprefix("sqlite:///")).with_name("nbgrader_config.py")))
    settled(address)
    assert [one or 0.0 for one in penalties(address)] == stock


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


# by Viva's policy, which knows whole assignments


def keep(address: str, **settings: object) -> None:
    config = Config(LatePolicy={"per_day": 0.1} | settings)
    config.AssignLatePenalties.plugin_class = "viva.course.deadlines.policy.LatePolicy"
    config.CourseDirectory.root = str(Path(address.removeprefix("sqlite:///")).parent)
    lateness.follow(config, db_url=address)


def settled(address: str) -> int:
    with Gradebook(address) as book:
        return lateness.settle(book.db())


def test_what_an_assignment_costs_is_shared_out_among_its_notebooks_by_their_scores(address):
    keep(address, of="maximum", per_day=0.1)
    assert settled(address) == 2
    assert penalties(address) == pytest.approx([2 * 2.8 * 16 / 24, 2 * 2.8 * 8 / 24])
    with Gradebook(address) as book:
        automatic(book)
        book.db.commit()
    assert penalties(address) == pytest.approx([0, 5.6])  # of 28 points, whichever notebook has them


def test_a_floor_holds_for_the_whole_assignment(address):
    keep(address, of="maximum", per_day=0.4, floor=0.5)
    settled(address)
    assert sum(penalties(address)) == pytest.approx(10)  # 24 less 22.4, but 14 of 28 are left


def test_points_by_hand_and_a_new_time_are_reckoned_in_the_same_transaction(address):
    keep(address, per_day=0.1)
    with Gradebook(address) as book:
        by_hand(book)
        book.db.commit()
    assert sum(penalties(address)) == pytest.approx(5.6)
    with Gradebook(address) as book:
        handed_in_later(book)
    assert sum(penalties(address)) == pytest.approx(8.4)


def test_due_times_of_the_configuration_are_those_of_the_gradebook(address):
    keep(address, zone="Europe/Berlin", per_day=0.1, assignments={"a1": {"due": "2026-09-15 14:00"}})
    assert settled(address) == 2 and settled(address) == 0
    with Gradebook(address) as book:
        assert book.find_assignment("a1").duedate == DUE + timedelta(days=1)
        assert book.find_submission("a1", "anna").total_seconds_late == 5
    assert sum(penalties(address)) == pytest.approx(2.4)


def test_due_times_of_the_configuration_reach_a_gradebook_in_which_nothing_was_handed_in(tmp_path):
    address = f"sqlite:///{tmp_path / 'gradebook.db'}"
    with Gradebook(address) as book:
        book.add_assignment("a1")
    keep(address, assignments={"a1": {"due": "2026-09-14 12:00"}})
    assert settled(address) == 0
    with Gradebook(address) as book:
        assert book.find_assignment("a1").duedate == DUE


def test_a_due_time_of_the_configuration_stands_against_one_that_is_typed_into_formgrader(address):
    keep(address, assignments={"a1": {"due": "2026-09-14 12:00"}})
    settled(address)
    with Gradebook(address) as book:
        no_longer_late(book)
    assert sum(penalties(address)) == pytest.approx(4.8)
    with Gradebook(address) as book:
        assert book.find_assignment("a1").duedate == DUE


def test_extensions_of_the_file_reach_the_gradebook_and_leave_it_with_their_line(address):
    path = Path(address.removeprefix("sqlite:///")).with_name("extensions.csv")
    keep(address)
    path.write_text("assignment,student_id,until\na1,anna,2026-09-15 12:00\na1,later,2026-09-16 12:00\n")
    settled(address)
    assert sum(penalties(address)) == pytest.approx(2.4)
    with Gradebook(address) as book:
        assert book.find_submission("a1", "anna").extension == timedelta(days=1)
        book.add_student("later")
        book.add_submission("a1", "later", timestamp=DUE + timedelta(days=2))
        assert book.find_submission("a1", "later").total_seconds_late == 0
    path.write_text("assignment,student_id,until\n")
    settled(address)
    assert sum(penalties(address)) == pytest.approx(4.8)
    path.unlink()
    with Gradebook(address) as book:
        extension(book)  # as nbgrader grants one
        book.db.commit()
    assert sum(penalties(address)) == pytest.approx(2.4)


def test_an_extension_of_the_gradebooks_own_stays_while_the_class_has_no_deadline(address):
    keep(address)
    with Gradebook(address) as book:
        extension(book)
        book.find_assignment("a1").duedate = None
        book.db.commit()
    settled(address)
    with Gradebook(address) as book:
        assert book.find_submission("a1", "anna").extension == timedelta(days=1)


@pytest.mark.parametrize("days", [-3, 0, 3])
@pytest.mark.parametrize("stored_in", ["file", "gradebook"])
def test_every_part_of_viva_names_the_same_deadline_of_a_student(address, days, stored_in):
    """The watcher's function, the reckoning and the gradebook, where an extension is before or after the deadline."""
    keep(address)
    root = Path(address.removeprefix("sqlite:///")).parent
    own = DUE + timedelta(days=days)
    if stored_in == "file":
        (root / "extensions.csv").write_text(f"assignment,student_id,until\na1,anna,{own:%Y-%m-%d %H:%M}\n")
    else:
        with Gradebook(address) as book:
            book.find_submission("a1", "anna").extension = own - DUE
            book.db.commit()
    settled(address)
    with Gradebook(address) as book:
        session = book.db()
        rules = lateness.policy(session)
        granted = Concessions.of(root, rules.place)
        expected = max(DUE, own)
        of_watcher = lateness.deadlines(session, rules, granted, [("a1", "anna"), ("a1", "nobody")])
        assert of_watcher == {("a1", "anna"): expected.replace(tzinfo=UTC), ("a1", "nobody"): DUE.replace(tzinfo=UTC)}
        assert lateness.reckonings(session, rules)["a1", "anna"].delivery.own_due == of_watcher["a1", "anna"]
        assert {one.due for one in classbook.notebooks(book, "a1", "anna")} == {expected}
        assert book.find_submission("a1", "anna").duedate == expected


def test_who_is_excused_pays_nothing_and_spends_no_free_days(address):
    keep(address)
    settled(address)
    Path(address.removeprefix("sqlite:///")).with_name("excused.csv").write_text("assignment,student_id\na1,anna\n")
    assert settled(address) == 2
    assert penalties(address) == [None, None]


def test_free_late_days_go_to_what_is_due_first_whichever_is_handed_in_first(address):
    keep(address, budget=2)
    settled(address)
    assert sum(penalties(address)) == 0
    with Gradebook(address) as book:
        book.add_assignment("a0", duedate=DUE - timedelta(days=7))
        book.add_notebook("zero", "a0")
        book.add_grade_cell("tests", "zero", "a0", max_score=10, cell_type="code")
        book.add_submission("a0", "anna", timestamp=DUE - timedelta(days=6, hours=1))
        book.find_grade("tests", "zero", "a0", "anna").auto_score = 10
        book.db.commit()
        assert book.find_submission("a0", "anna").late_submission_penalty == 0
    assert sum(penalties(address)) == pytest.approx(2.4)  # one of its two days is free now


def test_a_penalty_that_nbgraders_own_step_sets_is_reckoned_by_the_policy(address):
    keep(address, of="maximum", per_day=0.1)
    settled(address)
    with Gradebook(address) as book:
        book.find_submission_notebook("one", "a1", "anna").late_submission_penalty = 16
        book.db.commit()
    assert sum(penalties(address)) == pytest.approx(5.6)


def test_a_policy_that_is_none_keeps_no_score_from_being_saved_and_is_told(address, caplog):
    keep(address, grace="a bit")
    with Gradebook(address) as book:
        by_hand(book)
        book.db.commit()
        assert book.find_grade("written", "one", "a1", "anna").score == 4
        with pytest.raises(CourseError, match=r"c\.LatePolicy has an invalid 'grace'"):
            lateness.settle(book.db())
    assert "Late penalties were not computed. c.LatePolicy has an invalid 'grace'" in caplog.text
    assert penalties(address) == [None, None]


def test_another_rule_is_reckoned_and_nothing_is_written(address):
    keep(address)
    settled(address)
    with Gradebook(address) as book:
        other = lateness.policy(book.db()).otherwise(["a1"], {"per_day": 0.5})
        found = lateness.reckonings(book.db(), other)
        assert found["a1", "anna"].penalty == 24 and found["a1", "punctual"].penalty == 0
    assert sum(penalties(address)) == pytest.approx(4.8)
