"""An interrupt ends what it was meant for, and nothing else."""

from __future__ import annotations

import threading

import pytest

from viva.engine.session import Session


@pytest.fixture
def session(grader):
    with Session(grader.candidates, grader.examiners) as session:
        session.candidate(10, do="run", source="def one(): return 1")
        session.examiner(10, do="prepare", kinds={"one": "", "call": ""}, recording=False)
        session.examiner(10, do="own", names=["one"])
        session.examiner(10, do="begin", cell="test", prelude="", visible=[])
        yield session


def check(session: Session, source: str) -> str:
    return session.examiner(10, do="check", title="check", source=source)["report"]["verdict"]


def test_an_interrupt_that_comes_too_late_costs_the_next_check_nothing(session):
    session._interrupt(session.candidates)
    assert check(session, "assert one() == 1") == "passed"


def test_an_interrupt_that_comes_too_late_costs_the_next_cell_nothing(session):
    session._interrupt(session.candidates)
    assert session.candidate(10, do="run", source="one()")["raised"] is None


def test_an_interrupt_between_two_questions_of_a_check_ends_the_check(session):
    threading.Timer(0.5, session._interrupt, [session.candidates]).start()
    assert check(session, "import time; one(); time.sleep(1); one()") == "timeout"
    assert check(session, "assert one() == 1") == "passed"


def test_an_interrupt_while_a_callback_is_served_ends_the_check(session):
    session.candidate(10, do="run", source="def call(g): return g()")
    session.examiner(10, do="own", names=["call"])
    threading.Timer(0.5, session._interrupt, [session.candidates]).start()
    assert check(session, "import time; call(lambda: time.sleep(1))") == "timeout"
    assert check(session, "assert one() == 1") == "passed"
