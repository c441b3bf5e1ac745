"""An interrupt ends what it was meant for, and nothing else."""

from __future__ import annotations

import os
import threading

import pytest

from viva.engine.parent import Effort
from viva.engine.session import Session, time_taken


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


ALONE = len(os.sched_getaffinity(0))


@pytest.mark.parametrize(
    ("worked", "waited", "taken"),
    [
        (0.0, {"1": 0.0}, 10.0),  # it slept
        (2.0, {"1": 8.0}, 2.0),  # others had the processor
        (2.0, {"1": 0.0, "2": 8.0}, 2.0),  # it waited for a thread of its own, which waited
        (ALONE * 10.0, {"1": 9.5, "2": 9.5}, 10.0),  # its own threads had the processor
        (ALONE * 10.0, {"1": 0.0}, 10.0),  # its threads worked beside each other
    ],
)
def test_time_counts_in_which_a_process_did_not_wait_for_others_to_leave_the_processor(worked, waited, taken):
    before = [Effort(7, 1.0, {"1": 3.0})]
    after = [Effort(7, 1.0 + worked, waited | {"1": 3.0 + waited["1"]})]
    assert time_taken(10.0, before, after) == pytest.approx(taken)
