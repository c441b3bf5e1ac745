"""What asks the gradebook is tried again while that may help, within one time limit, whoever asks within whom."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from datetime import datetime
from pathlib import Path

import psycopg.errors
import pytest
from nbgrader.api import Gradebook, InvalidEntry
from nbgrader.coursedir import CourseDirectory
from sqlalchemy import create_engine, event, text
from sqlalchemy.engine import Engine
from sqlalchemy.exc import OperationalError, PendingRollbackError
from traitlets.config import Config

from tests.conftest import load
from viva.course import database
from viva.course.database import passing, telling, with_retries
from viva.course.gradebook import lateness
from viva.course.gradebook.recording import Graded, Writer
from viva.verdict import CourseError


def lost() -> OperationalError:
    """What psycopg says of a connection that the server ended."""
    said = psycopg.errors.AdminShutdown("terminating connection due to administrator command")
    return OperationalError("SELECT 1", {}, said)


@pytest.mark.parametrize(
    "url",
    [
        "postgresql+psycopg://viva:SECRET@127.0.0.1:1/course",
        "postgresql+psycopg://127.0.0.1:1/course?password=SECRET&user=viva",
        "postgresql+psycopg://viva@127.0.0.1:1/course?sslpassword=SECRET",
        "postgresql+psycopg://viva:p@SECRET@127.0.0.1:1/course",
        "postgresql+psycopg://viva:SECRET/course",  # the host is forgotten, so the password is read as a port
        "postgresql+psycopg://127.0.0.1:1/course;password=SECRET",
        " postgresql+psycopg://viva:SECRET@127.0.0.1:1/course",
        "host=127.0.0.1 port=1 password=SECRET dbname=course",
    ],
)
def test_no_command_shows_a_password_whatever_form_the_address_has(viva, monkeypatch, url):
    monkeypatch.setattr(database, "RETRY_SECONDS", 0.0)
    said = viva("export", f"--db={url}")
    assert said.status == 2 and "SECRET" not in said.text and "Traceback" not in said.text
    assert "gradebook" in said.err


def test_an_address_is_shown_so_that_its_reader_knows_it():
    assert (
        database.shown("postgresql+psycopg://viva:x@host:5432/course?a=b")
        == "postgresql+psycopg://viva@host:5432/course"
    )
    assert database.shown("sqlite:////home/me/a=b.db") == "sqlite:////home/me/a=b.db"


class Failing:
    """Raises some errors, one at each call, and then says how often it was called."""

    def __init__(self, *errors: BaseException) -> None:
        self.errors, self.calls = list(errors), 0

    def __call__(self) -> int:
        self.calls += 1
        if self.errors:
            raise self.errors.pop(0)
        return self.calls


def wrapped() -> InvalidEntry:
    """As nbgrader makes it of whatever the database says."""
    try:
        try:
            raise lost()
        except OperationalError as error:
            raise InvalidEntry(*error.args)  # noqa: B904
    except InvalidEntry as error:
        return error


def test_a_connection_that_was_lost_in_the_middle_of_a_transaction_is_tried_again():
    """PostgreSQL, cut at random: the second question on the lost connection is refused by SQLAlchemy itself."""
    with create_engine("sqlite://").connect() as connection:
        connection.begin()
        connection.invalidate()

        def ask() -> int | None:
            try:
                return connection.execute(text("SELECT 1")).scalar()
            except PendingRollbackError:
                connection.rollback()
                raise

        assert with_retries(ask) == 1


def test_a_lost_connection_is_tried_again_whatever_nbgrader_calls_it():
    assert with_retries(Failing(lost(), wrapped(), lost())) == 4


def test_what_will_not_pass_is_not_tried_again():
    for error in (CourseError("no"), ValueError("no"), OperationalError("", {}, ValueError("no such table: grade"))):
        failing = Failing(error)
        with pytest.raises(type(error)):
            with_retries(failing)
        assert failing.calls == 1


def test_a_sentence_of_ours_is_no_cause_to_try_again():
    try:
        try:
            raise lost()
        except OperationalError as error:
            raise CourseError("Another command works on this course now.") from error
    except CourseError as error:
        assert passing(error) is None


def test_the_time_limit_of_one_within_another_is_not_added_up(monkeypatch):
    monkeypatch.setattr(database, "RETRY_SECONDS", 0.3)
    tried = []

    def ask() -> None:
        tried.append(1)
        raise lost()

    outer = []

    def command() -> None:
        outer.append(1)
        with_retries(ask)

    with pytest.raises(OperationalError):
        with_retries(command)
    assert len(outer) == 1 and len(tried) > 2


def test_who_waits_is_told_once(monkeypatch):
    clock = iter(range(100))
    monkeypatch.setattr("time.monotonic", lambda: float(next(clock)))
    monkeypatch.setattr("time.sleep", lambda seconds: None)
    told = []
    with telling(told.append):
        assert with_retries(Failing(*(lost() for _ in range(6)))) == 7
    assert len(told) == 1


def test_a_failure_long_after_another_has_a_time_limit_of_its_own(monkeypatch):
    clock = iter((0.0, 1000.0, 1001.0))
    monkeypatch.setattr("time.monotonic", lambda: next(clock))
    monkeypatch.setattr("time.sleep", lambda seconds: None)
    assert with_retries(Failing(lost(), lost(), lost())) == 4


pytestmark = pytest.mark.xdist_group("record")

QUERIES = {
    "grade": "SELECT * FROM grade WHERE notebook_id = 'x'",
    "comment": "SELECT * FROM comment WHERE notebook_id = 'x'",
    "submitted_notebook": "SELECT * FROM submitted_notebook WHERE assignment_id = 'x'",
    "submitted_assignment": "SELECT * FROM submitted_assignment WHERE student_id = 'x'",
}
DUE = datetime(2026, 9, 14, 12)


@pytest.fixture
def root(tmp_path) -> Path:
    """A course whose gradebook knows an assignment and nobody yet."""
    with book(tmp_path) as gradebook:
        gradebook.add_assignment("a1", duedate=DUE)
        gradebook.add_notebook("one", "a1")
        gradebook.add_grade_cell("tests", "one", "a1", max_score=8, cell_type="code")
        gradebook.add_solution_cell("answer", "one", "a1")
    return tmp_path


def book(root: Path) -> Gradebook:
    return Gradebook(f"sqlite:///{root / 'gradebook.db'}", "viva")


def plan(gradebook: Gradebook, query: str) -> str:
    with gradebook.engine.connect() as connection:
        return str(connection.execute(text(f"EXPLAIN QUERY PLAN {query}")).all())


def test_each_table_that_is_asked_for_one_submission_has_an_index_for_it(root):
    with book(root) as gradebook:
        assert all("SCAN" in plan(gradebook, query) for query in QUERIES.values())
        assert len(database.ensure_indexes(gradebook)) == len(QUERIES)
        for table, query in QUERIES.items():
            assert f"USING INDEX viva_{table}" in plan(gradebook, query)


def test_indexes_that_are_there_are_not_made_again(root):
    with book(root) as gradebook:
        database.ensure_indexes(gradebook)
        assert database.ensure_indexes(gradebook) == []


@pytest.mark.slow
def test_a_gradebook_that_another_program_has_locked_stays_as_it_is(root):
    with book(root) as gradebook, book(root) as other:
        other.db.execute(text("BEGIN EXCLUSIVE"))
        assert database.ensure_indexes(gradebook) == []
        other.db.rollback()


def test_a_gradebook_on_a_server_gets_them_too(postgres):
    with Gradebook(postgres.create("indexes"), "viva") as gradebook:
        assert len(database.ensure_indexes(gradebook)) == len(QUERIES)
        assert database.ensure_indexes(gradebook) == []


def recorded(root: Path, first: int, last: int) -> Counter:
    """Record the submissions of students; how many statements it took, and how many values went with them."""
    config, directory, spent = Config(), CourseDirectory(), Counter()
    directory.root, directory.course_id = str(root), "viva"
    directory.db_url = f"sqlite:///{root / 'gradebook.db'}"
    config.AssignLatePenalties.plugin_class = "viva.course.deadlines.policy.LatePolicy"
    config.LatePolicy.per_day = 0.1

    def count(_connection, _cursor, _statement, parameters, _context, _many) -> None:
        spent.update(statements=1, values=len(parameters))

    writer = Writer(directory, config)
    event.listen(Engine, "before_cursor_execute", count)
    try:
        for number in range(first, last):
            scores = {"one": {"tests": (4.0, False)}}
            writer.record([Graded("a1", f"s{number}", datetime(2026, 9, 15), scores, {"one": {"answer": None}})])
    finally:
        event.remove(Engine, "before_cursor_execute", count)
        writer.close()
        lateness._followed.clear()
    return spent


@pytest.mark.slow
def test_to_record_one_more_costs_the_same_however_many_are_recorded(root):
    recorded(root, 0, 2)
    few = recorded(root, 2, 4)
    recorded(root, 4, 60)
    assert recorded(root, 60, 62) == few
    with book(root) as gradebook:
        penalties = [one.late_submission_penalty for one in gradebook.assignment_submissions("a1")]
    assert penalties == [pytest.approx(0.4)] * 62


ASKED = "from nbgrader.api import get_alembic_version; print(get_alembic_version())"


@pytest.mark.slow
def test_a_new_gradebook_has_the_revision_that_nbgrader_starts_a_process_for(tmp_path, monkeypatch):
    (tmp_path / "nbgrader_config.py").touch()
    with monkeypatch.context() as without:
        without.setenv("PATH", "")  # nor is alembic looked for
        gradebook = load(tmp_path)[0].gradebook()
    with gradebook:
        (revision,) = gradebook.db.execute(text("SELECT version_num FROM alembic_version")).one()
    assert revision == subprocess.run([sys.executable, "-c", ASKED], capture_output=True, text=True).stdout.strip()
