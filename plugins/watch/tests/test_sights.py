"""From when a submission in the exchange counts: what the watcher saw, and what the file system says."""

from __future__ import annotations

import os
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from viva.course.grading.exchange import QUIET, Contents, Entry, survey
from viva.verdict import SubmissionError
from viva_watch.sights import Inbox, Ready, Seen

NOON = datetime(2026, 10, 1, 12, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
PLACE = "ps1", "ada"


class Exchange:
    """One student's inbox, a clock that the test sets, and a file system that says what the test says."""

    def __init__(self, folder: Path, seen: Seen | None = None) -> None:
        self.folder, self.seen = folder, seen or Seen()
        self.inbox = Inbox(0.0)
        self.changed: dict[str, datetime | None] = {}
        self.claimed: dict[str, datetime] = {}
        self.full: dict[tuple[str, str], datetime] = {}

    def put(self, name: str, changed: datetime | None, claimed: datetime | None = None) -> None:
        """A submission ``name``, changed last at a time; None: it is not complete yet."""
        self.changed[name] = changed
        self.claimed[name] = claimed or self.claimed[name]
        (self.folder / name).mkdir(exist_ok=True)
        (self.folder / name / str(time.monotonic_ns())).touch()

    def look(self, now: datetime) -> Ready:
        def contents(entry: Entry) -> Contents:
            changed = self.changed[entry.path.name]
            if changed is None:
                raise SubmissionError("it is empty")
            return Contents((changed,), time.time() - (now - changed).total_seconds(), False)

        entries = [
            Entry(
                self.folder / name,
                PLACE[1],
                PLACE[0],
                self.claimed[name].replace(tzinfo=None),
                os.lstat(self.folder / name),
            )
            for name in sorted(self.changed)
        ]
        ready = self.inbox.look({PLACE: entries}, contents, self.seen, now, self.full)
        return ready.get(PLACE, Ready())

    def counts_from(self, name: str, now: datetime) -> datetime | None:
        """From when it counts, where not from the time that it claims; to five seconds."""
        ready = self.look(now)
        assert name in ready.names
        self.inbox.take(self.seen, PLACE, ready.fresh)
        claim = ready.counted.get(name)
        if claim is None or claim.counted is None:
            return None
        return datetime.fromtimestamp(5 * round(claim.counted.timestamp() / 5), UTC)  # the machine's clock goes on


@pytest.fixture
def exchange(tmp_path) -> Exchange:
    return Exchange(tmp_path)


def test_a_time_before_a_look_that_did_not_see_it_does_not_count(exchange):
    exchange.look(NOON)
    exchange.look(NOON + 10 * MINUTE)
    exchange.put("back", NOON + 11 * MINUTE, claimed=NOON - MINUTE)
    exchange.put("now", NOON + 11 * MINUTE, claimed=NOON + 11 * MINUTE)
    assert exchange.counts_from("back", NOON + 12 * MINUTE) == NOON + 11 * MINUTE
    assert "now" not in exchange.look(NOON + 12 * MINUTE).counted


def test_what_came_while_nobody_looked_keeps_its_time(exchange):
    exchange.put("first", NOON + 9 * MINUTE, claimed=NOON - MINUTE)
    assert exchange.counts_from("first", NOON + 10 * MINUTE) is None, "the first watcher of the course"
    exchange.put("stopped", NOON + 20 * MINUTE, claimed=NOON + 11 * MINUTE)
    restarted = Exchange(exchange.folder, exchange.seen)
    restarted.changed, restarted.claimed = exchange.changed, exchange.claimed
    assert restarted.counts_from("stopped", NOON + 60 * MINUTE) is None


def test_a_restart_keeps_what_was_seen(exchange):
    exchange.look(NOON + 10 * MINUTE)
    exchange.put("back", NOON + 15 * MINUTE, claimed=NOON)
    restarted = Exchange(exchange.folder, exchange.seen)
    restarted.changed, restarted.claimed = exchange.changed, exchange.claimed
    assert restarted.counts_from("back", NOON + 20 * MINUTE) == NOON + 15 * MINUTE
    again = Exchange(exchange.folder, restarted.seen)
    again.changed, again.claimed = exchange.changed, exchange.claimed
    assert again.counts_from("back", NOON + 90 * MINUTE) == NOON + 15 * MINUTE, "the same after another one"


def test_an_exchange_that_was_away_or_moved_makes_nobody_late(exchange):
    exchange.put("before", NOON, claimed=NOON)
    assert exchange.counts_from("before", NOON + MINUTE) is None
    folders, exchange.changed = exchange.changed, {}
    exchange.look(NOON + 10 * MINUTE)
    exchange.look(NOON + 20 * MINUTE)
    exchange.changed = dict.fromkeys(folders, NOON + 20 * MINUTE)  # copied to another disk: all change times are new
    exchange.put("meanwhile", NOON + 2 * MINUTE, claimed=NOON + 2 * MINUTE)
    assert exchange.counts_from("before", NOON + 21 * MINUTE) is None
    assert not exchange.seen.folders["ps1"]["ada"]["meanwhile"].doubted


def test_a_clock_that_was_wrong_makes_nobody_late(exchange):
    exchange.look(NOON + 60 * MINUTE)  # an hour fast
    exchange.put("honest", NOON + MINUTE, claimed=NOON + MINUTE)
    assert exchange.counts_from("honest", NOON + 2 * MINUTE) is None
    exchange.put(
        "later", NOON + 3 * MINUTE, claimed=NOON + 3 * MINUTE - timedelta(seconds=20)
    )  # a student's, 20 s slow
    assert exchange.counts_from("later", NOON + 4 * MINUTE) is None


def test_a_slow_copy_counts_from_its_beginning_and_one_without_end_does_not(exchange):
    exchange.look(NOON)
    for name in ("slow", "endless"):
        exchange.put(name, None, claimed=NOON)
    exchange.look(NOON + MINUTE)
    exchange.look(NOON + 5 * MINUTE)
    exchange.put("slow", NOON + 6 * MINUTE)
    assert exchange.counts_from("slow", NOON + 7 * MINUTE) is None
    exchange.look(NOON + 30 * MINUTE)
    exchange.put("endless", NOON + 31 * MINUTE)
    assert exchange.counts_from("endless", NOON + 32 * MINUTE) == NOON + 31 * MINUTE


@pytest.mark.parametrize("early", [False, True])
def test_after_a_full_page_nothing_of_before_is_believed_be_it_a_folder_that_was_made_early(exchange, early):
    exchange.look(NOON - MINUTE)
    if early:
        exchange.put("back", None, claimed=NOON - MINUTE)
        exchange.look(NOON)
    exchange.full = {PLACE: NOON}
    exchange.look(NOON + timedelta(seconds=1))
    exchange.put("back", NOON + timedelta(seconds=5), claimed=NOON - timedelta(seconds=20))
    assert exchange.counts_from("back", NOON + timedelta(seconds=8)) == NOON + timedelta(seconds=5)


def test_what_was_submitted_while_a_page_was_written_keeps_its_time(exchange):
    exchange.look(NOON)
    exchange.full = {PLACE: NOON + timedelta(seconds=3)}
    exchange.put("honest", NOON + timedelta(seconds=2), claimed=NOON + timedelta(seconds=1))
    assert exchange.counts_from("honest", NOON + timedelta(seconds=6)) is None


def test_limits_are_asked_before_a_byte_is_read_and_a_refused_folder_is_not_walked_again(tmp_path, monkeypatch):
    folder = tmp_path / "back"
    folder.mkdir()
    for number in range(20):
        with (folder / f"{number}.ipynb").open("wb") as file:
            file.truncate(10**9)
    inbox, seen, calls = Inbox(0.0), Seen(), []

    def counted(entry: Entry) -> Contents:
        calls.append(entry)
        return survey(entry.path, None, 10**8)

    monkeypatch.setattr(os, "read", lambda *_: pytest.fail("a file was read"))
    for look in range(3):
        entry = Entry(folder, "ada", "ps1", NOON.replace(tzinfo=None), os.lstat(folder))
        assert inbox.look({PLACE: [entry]}, counted, seen, NOON + look * MINUTE, {}) == {}
    assert len(calls) == 1 and "larger than" in inbox.refused["back"][1]


def test_half_a_notebook_waits_and_then_gives_way_to_a_whole_one(tmp_path):
    inbox, seen = Inbox(0.0, lambda: now), Seen()
    now = 1000.0

    def look() -> dict:
        entries = [
            Entry(path, "ada", "ps1", NOON.replace(tzinfo=None), os.lstat(path)) for path in sorted(tmp_path.iterdir())
        ]
        return inbox.look({PLACE: entries}, lambda entry: survey(entry.path, None, 10**6), seen, NOON, {})

    half = tmp_path / "half"
    half.mkdir()
    (half / "ps1.ipynb").write_text('{"cells": [')
    assert look() == {} and inbox.more
    now += QUIET
    assert look()[PLACE].names == {"half"}, "half a notebook is better than none"
    whole = tmp_path / "whole"
    whole.mkdir()
    (whole / "ps1.ipynb").write_text("{}\n")
    assert look()[PLACE].names == {"whole"}
    assert "interrupted" in inbox.refused["half"][1]
