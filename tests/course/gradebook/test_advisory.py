"""A gradebook on a PostgreSQL server: being alone with it, and what is said when it cannot be used."""

from __future__ import annotations

import itertools
import subprocess
import sys
import threading
from datetime import datetime, timedelta

import pytest
from nbgrader.api import Gradebook
from sqlalchemy import create_engine, event, text
from sqlalchemy.exc import DBAPIError
from traitlets.config import Config

from viva.course import database
from viva.course.database import concerns_all, trouble
from viva.course.gradebook import advisory, lateness
from viva.course.gradebook.advisory import alone, still_alone
from viva.course.gradebook.recording import Graded, Writer
from viva.verdict import CourseError

NAMES = (f"book{number}" for number in itertools.count())
DUE = datetime(2026, 9, 14, 12)


@pytest.fixture
def url(postgres) -> str:
    """The address of a database of the test's own."""
    return postgres.create(next(NAMES))


def held_elsewhere(url: str, course: str = "c") -> subprocess.Popen:
    """Another process that is alone with the course until its input ends."""
    code = (
        "import sys; from viva.course.gradebook.advisory import alone\n"
        f"with alone({url!r}, {course!r}, print): print('held', flush=True); sys.stdin.read()"
    )
    process = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "held\n"
    return process


@pytest.mark.slow
def test_two_machines_are_alone_with_a_course_one_after_the_other_and_are_told_of_each_other(url):
    with held_elsewhere(url) as other:
        told = []

        def tell(sentence: str) -> None:
            told.append(sentence)
            other.stdin.close()

        with alone(url, "c", tell):
            assert other.wait() == 0
    assert len(told) == 1 and told[0].startswith("Waiting for viva (process ")


@pytest.mark.slow
def test_another_course_in_the_same_database_waits_for_nobody(url):
    with held_elsewhere(url) as other:
        with alone(url, "another", pytest.fail):
            pass
        other.stdin.close()


def test_a_process_that_was_killed_leaves_no_lock(url):
    with held_elsewhere(url) as other:
        other.kill()
        other.wait()
        with alone(url, "c", print):
            pass


def test_a_gradebook_in_a_file_has_no_such_lock():
    with alone("sqlite:///nowhere.db", "c", pytest.fail):
        still_alone("sqlite:///nowhere.db", "c")


def cut(url: str, name: str) -> None:
    """End the connections that call themselves so, as a network does that fails."""
    query = text(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
        " WHERE backend_type = 'client backend' AND application_name LIKE :name AND pid <> pg_backend_pid()"
    )
    engine = create_engine(url, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        assert connection.execute(query, {"name": name}).rowcount
    engine.dispose()


@pytest.mark.slow
def test_a_lost_lock_is_taken_again_unless_another_one_has_it_by_now(url):
    with alone(url, "c", pytest.fail):
        cut(url, "viva %")
        still_alone(url, "c")
        still_alone(url, "c")
        cut(url, "viva %")
        with held_elsewhere(url) as other:
            with pytest.raises(CourseError, match=r"was lost, and viva \(process \d+ on .*\) is using this course now"):
                still_alone(url, "c")
            other.stdin.close()


def test_a_connection_that_is_lost_while_the_lock_is_taken_again_is_opened_anew(url):
    """Cut at random, ``viva grade`` once said for 20 seconds that the gradebook cannot be reached, and gave up."""
    lock, cuts = advisory.Alone(url, "c"), iter([cut, cut])

    @event.listens_for(lock.engine, "before_cursor_execute")
    def lose(_connection, _cursor, statement: str, *_: object) -> None:
        if "pg_try_advisory_lock" in statement and (now := next(cuts, None)):
            now(url, "viva %")

    assert database.with_retries(lock.take) and lock.take()
    cuts = iter([cut])
    cut(url, "viva %")
    database.with_retries(lock.held)
    lock.held()
    lock.release()


class Directory:
    """What the writer asks of nbgrader's CourseDirectory."""

    def __init__(self, url: str, root) -> None:
        self.db_url, self.course_id, self.root = url, "c", str(root)


@pytest.fixture
def book(url) -> str:
    """A gradebook in which anna handed in, two days late, what has a test cell and a written answer."""
    with Gradebook(url, "c") as book:
        book.add_assignment("a1", duedate=DUE)
        book.add_notebook("one", "a1")
        book.add_grade_cell("tests", "one", "a1", max_score=16, cell_type="code")
        book.add_task_cell("written", "one", "a1", max_score=4, cell_type="markdown")
        book.add_student("anna")
        book.add_submission("a1", "anna", timestamp=DUE + timedelta(days=1, hours=1))
    return url


def graded(score: float = 16.0) -> list[Graded]:
    scores = {"one": {"tests": (score, False), "written": (None, True)}}
    return [Graded("a1", "anna", DUE + timedelta(days=1, hours=1), scores, {})]


def policy() -> Config:
    config = Config(LatePolicy={"per_day": 0.1})
    config.AssignLatePenalties.plugin_class = "viva.course.deadlines.policy.LatePolicy"
    return config


def found(url: str) -> tuple[float, float]:
    with Gradebook(url, "c") as book:
        submission = book.find_submission("a1", "anna")
        return submission.score, submission.late_submission_penalty


def test_a_connection_that_is_lost_while_a_class_is_recorded_is_made_again(book, tmp_path):
    writer = Writer(Directory(book, tmp_path), policy())
    with alone(book, "c", pytest.fail):
        writer.record(graded(8.0))
        cut(book, "%")
        writer.record(graded())
    writer.close()
    assert found(book) == (16, 3.2)


def test_a_server_that_starts_again_in_the_middle_costs_nothing(postgres, book, tmp_path):
    writer = Writer(Directory(book, tmp_path), policy())
    with alone(book, "c", pytest.fail):
        writer.record(graded(8.0))
        postgres.stop()
        threading.Timer(1.0, postgres.start).start()
        writer.record(graded())
    writer.close()
    assert found(book) == (16, 3.2)


def test_a_server_that_stays_away_is_told_in_a_sentence(postgres, book, tmp_path, monkeypatch):
    writer = Writer(Directory(book, tmp_path), policy())
    monkeypatch.setattr("viva.course.gradebook.recording.RETRY_SECONDS", 0.5)
    postgres.stop()
    try:
        with pytest.raises(DBAPIError) as error:
            writer.record(graded())
    finally:
        postgres.start()
    said = trouble(error.value, book)
    assert "cannot be reached" in said and "Check that its server runs" in said and "run the same command again" in said
    writer.record(graded())
    writer.close()
    assert found(book) == (16, 3.2)


def test_a_grader_who_types_while_a_class_is_recorded_loses_nothing_and_the_penalty_is_that_of_both(book, tmp_path):
    config = policy()
    lateness.follow(config, db_url=book, root=str(tmp_path))
    writer = Writer(Directory(book, tmp_path), config)
    with Gradebook(book, "c") as formgrader:
        grade = formgrader.find_grade("written", "one", "a1", "anna")
        grade.manual_score = 4
        formgrader.db.flush()  # the batch comes in between
        recording = threading.Thread(target=writer.record, args=(graded(),))
        recording.start()
        recording.join(1)
        formgrader.db.commit()
        recording.join()
    writer.close()
    assert found(book) == (20, 4)
    with Gradebook(book, "c") as formgrader:
        assert formgrader.find_grade("written", "one", "a1", "anna").manual_score == 4


@pytest.mark.parametrize(
    ("statement", "sentence"),
    [
        ("ALTER TABLE grade DROP COLUMN manual_score CASCADE", "is from another version of nbgrader"),
        ("REVOKE ALL ON grade FROM viva; SET ROLE reader", "its database user lacks permissions"),
        ("SET default_transaction_read_only = on", "it is read-only"),
    ],
)
def test_what_the_server_refuses_is_said_in_a_sentence(book, statement, sentence):
    engine = create_engine(book)
    with engine.connect() as connection:
        if "reader" in statement:
            connection.execute(text("CREATE ROLE reader"))
        connection.execute(text(statement))
        connection.commit() if "default" in statement else None
        with pytest.raises(DBAPIError) as error:
            connection.execute(text("UPDATE grade SET manual_score = 1"))
        connection.rollback()
    engine.dispose()
    assert sentence in trouble(error.value, book)
    assert concerns_all(error.value), "it is no submission's fault"


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (("@/", "@/not_"), 'cannot be used: connection failed: .*database "not_book'),
        (("?host=", "?host=/nowhere"), "cannot be reached"),
    ],
)
def test_an_address_that_is_wrong_is_said_to_be_so(url, change, sentence):
    wrong = url.replace(*change).replace("viva@", "viva:secret@")
    with pytest.raises(DBAPIError) as error, Gradebook(wrong):
        pass
    said = trouble(error.value, wrong)
    assert "secret" not in said and "Traceback" not in said
    import re

    assert re.search(sentence, said), said


def test_courses_in_one_database_have_locks_of_their_own():
    assert advisory.Alone("sqlite://", "c").key != advisory.Alone("sqlite://", "d").key
