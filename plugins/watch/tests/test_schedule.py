"""Whose turn it is, and what is done: rules without folders and clocks."""

from __future__ import annotations

import itertools
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from viva_watch.schedule import AGAIN, FULL, LONGEST, Arrival, Past, over, plan, task_of
from viva_watch.terms import BEFORE, Terms

NOW = datetime(2026, 10, 1, 12, tzinfo=UTC)
DUE = NOW + timedelta(days=7)
HOUR = timedelta(hours=1)


def handed(student: str = "ada", digest: str = "a", since: datetime = NOW) -> Arrival:
    return Arrival(("ps1", student), digest, since)


def done(digest: str, kind: str = "visible", attempts: int = 1, at: datetime = NOW, **more) -> Past:
    return Past(attempts, digest, kind, at, **more)


@pytest.mark.parametrize("before", BEFORE)
def test_before_the_due_date_students_read_what_the_course_says_and_afterwards_everything(before):
    terms = Terms(before)
    first = task_of(handed(), Past(), terms, DUE, NOW)
    assert (first.kind, first.at) == (("", DUE) if before == "nothing" else (before, None))
    assert task_of(handed(), done("a", before), terms, DUE, DUE).kind == ("" if before == FULL else FULL)
    assert task_of(handed(), Past(), terms, DUE, DUE).kind == FULL


def test_what_was_done_is_not_done_again_and_a_new_attempt_is():
    assert task_of(handed(), done("a"), Terms("visible"), None, NOW).kind == ""
    assert task_of(handed(digest="b"), done("a"), Terms("visible"), None, NOW).kind == "visible"


def test_after_so_many_attempts_the_next_waits_for_the_due_date():
    terms = Terms("score", attempts=2)
    assert task_of(handed(digest="b"), done("a", attempts=1), terms, DUE, NOW).kind == "score"
    waits = task_of(handed(digest="c"), done("b", attempts=2), terms, DUE, NOW)
    assert (waits.kind, waits.at) == ("", DUE)
    assert task_of(handed(digest="c"), done("b", attempts=2), terms, DUE, DUE).kind == FULL


def test_attempts_are_so_far_apart_but_the_due_date_waits_for_nobody():
    terms = Terms("full", apart=HOUR)
    soon = task_of(handed(digest="b"), done("a", "full"), terms, DUE, NOW + HOUR / 2)
    assert (soon.kind, soon.at) == ("", NOW + HOUR)
    assert task_of(handed(digest="b"), done("a", "full"), terms, DUE, NOW + HOUR).kind == "full"
    late = done("a", "full", at=DUE - HOUR / 2)
    assert task_of(handed(digest="b"), late, terms, DUE, DUE - HOUR / 3).at == DUE
    assert task_of(handed(digest="b"), late, terms, DUE, DUE).kind == FULL


def test_what_the_grader_failed_at_is_tried_again_later_and_later_and_counts_as_no_attempt():
    past = Past()
    waits = []
    for _ in range(9):
        past.note_failure(NOW)
        one = task_of(handed(), past, Terms("full", attempts=1), DUE, NOW)
        assert one.kind == "" and one.at is not None
        waits.append(one.at - NOW)
    assert waits[:3] == [AGAIN, 2 * AGAIN, 4 * AGAIN] and waits[-1] == LONGEST
    assert task_of(handed(), past, Terms("full", attempts=1), DUE, NOW + LONGEST).kind == "full"
    past.note("a", "full", NOW, due=False)
    assert (past.attempts, past.failures) == (1, 0)


def test_a_tenth_attempt_does_not_stand_before_anothers_first():
    eager = [handed("eager", "x", NOW - HOUR)]
    others = [handed(name, "x", NOW) for name in ("bert", "cara")]
    past = {("ps1", "eager"): done("w", "full", attempts=9), ("ps1", "cara"): done("w", "full", attempts=1)}
    order = plan(eager + others, past, {"ps1": Terms()}, {}, NOW)
    assert [one.arrival.key[1] for one in order.todo] == ["bert", "cara", "eager"]


def test_what_did_not_finish_before_comes_last():
    past = {("ps1", "loop"): done("w", "full", attempts=0, slow=True), ("ps1", "ada"): done("w", "full", attempts=3)}
    order = plan([handed("loop", "x"), handed("ada", "x")], past, {"ps1": Terms()}, {}, NOW)
    assert [one.arrival.key[1] for one in order.todo] == ["ada", "loop"]


def test_a_plan_knows_when_there_is_more_to_do_and_leaves_other_assignments_alone():
    other = Arrival(("ps2", "ada"), "a", NOW)
    found = plan([handed(), other], {}, {"ps1": Terms("nothing")}, {("ps1", "ada"): DUE}, NOW)
    assert (found.todo, found.at) == ([], DUE)


def test_an_assignment_is_over_when_all_of_it_was_graded_fully():
    both = [handed("ada"), handed("bert")]
    past = {("ps1", "ada"): done("a", FULL)}
    assert not over("ps1", both, past) and not over("ps1", [], past)
    assert over("ps1", both, past | {("ps1", "bert"): done("a", FULL)})
    assert not over("ps1", both, past | {("ps1", "bert"): done("older", FULL)})


EVENTS = st.lists(st.tuples(st.sampled_from("abc"), st.integers(1, 90)), min_size=1, max_size=40)


@given(EVENTS, st.sampled_from(BEFORE), st.integers(0, 3), st.integers(0, 60))
def test_a_week_of_attempts_keeps_every_promise(events, before, attempts, apart):
    """A student hands in again and again, until after the due date; the clock is simulated."""
    terms, due = Terms(before, attempts, timedelta(minutes=apart)), NOW + timedelta(minutes=600)
    past, now, told = Past(), NOW, []
    for digest, minutes in [*events, (events[-1][0], 1000)]:
        now += timedelta(minutes=minutes)
        one = task_of(handed(digest=digest), past, terms, due, now)
        if one.kind:
            told.append((now, one.kind, digest))
            past.note(digest, one.kind, now, due=now >= due)
    early = [(when, kind) for when, kind, _ in told if when < due]
    assert {kind for _, kind in early} <= {before} - {"nothing"}
    assert not attempts or len(early) <= attempts
    assert all(after[0] - first[0] >= terms.apart for first, after in itertools.pairwise(early))
    assert (past.digest, past.kind) == (events[-1][0], FULL), "the last attempt is graded fully"
