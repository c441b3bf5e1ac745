"""What asks the gradebook is tried again while that may help, within one time limit, whoever asks within whom."""

from __future__ import annotations

import psycopg.errors
import pytest
from nbgrader.api import InvalidEntry
from sqlalchemy.exc import OperationalError

from viva.course.gradebook import database
from viva.course.gradebook.database import passing, telling, with_retries
from viva.verdict import CourseError


def lost() -> OperationalError:
    """What psycopg says of a connection that the server ended."""
    said = psycopg.errors.AdminShutdown("terminating connection due to administrator command")
    return OperationalError("SELECT 1", {}, said)


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
