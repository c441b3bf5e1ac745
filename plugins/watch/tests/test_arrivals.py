"""What is complete, and what may still be copied; the clock is the test's own."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from viva_watch.arrivals import LONGER, Arrivals

NOW = datetime(2026, 10, 1, tzinfo=UTC)


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def folder(tmp_path) -> Path:
    (tmp_path / "ps1").mkdir()
    (tmp_path / "ps1" / "ps1.ipynb").write_text("{}\n")
    return tmp_path / "ps1"


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def arrivals(clock, monkeypatch) -> Arrivals:
    monkeypatch.setattr("time.time", lambda: 0.0)  # all files are newer: what counts is what was seen
    return Arrivals(2.0, clock)


def test_a_submission_is_complete_when_it_was_quiet_for_a_while(arrivals, clock, folder):
    assert arrivals.complete([folder], NOW) == ({}, True)
    clock.now += 1.9
    assert arrivals.complete([folder], NOW) == ({}, True)
    clock.now += 0.1
    found, more = arrivals.complete([folder], NOW)
    assert list(found) == [folder] and not more
    assert arrivals.complete([folder], NOW) == (found, False)


def test_whatever_changes_begins_the_wait_anew_and_another_text_is_another_attempt(arrivals, clock, folder):
    arrivals.complete([folder], NOW)
    clock.now += 2
    first, _ = arrivals.complete([folder], NOW)
    (folder / "data.csv").write_text("1")
    clock.now += 1.9
    assert arrivals.complete([folder], NOW)[0] == {}
    clock.now += 2
    second, _ = arrivals.complete([folder], NOW)
    assert second[folder][0] != first[folder][0]
    os.utime(folder / "data.csv", (1, 1))
    arrivals.complete([folder], NOW)
    clock.now += 2
    assert arrivals.complete([folder], NOW)[0][folder][0] == second[folder][0], "a new time is no new attempt"


def test_a_notebook_that_ends_in_the_middle_is_waited_for_but_not_for_ever(arrivals, clock, folder):
    (folder / "ps1.ipynb").write_text('{"cells": [{"cell_type": "co')
    arrivals.complete([folder], NOW)
    clock.now += 2 * LONGER - 1
    assert arrivals.complete([folder], NOW) == ({}, True)
    clock.now += 1
    assert list(arrivals.complete([folder], NOW)[0]) == [folder]


def test_what_lay_there_before_need_not_wait(clock, folder, monkeypatch):
    monkeypatch.setattr("time.time", lambda: (folder / "ps1.ipynb").stat().st_ctime + 2)
    assert list(Arrivals(2.0, clock).complete([folder], NOW)[0]) == [folder]


def test_pipes_links_and_empty_folders_hold_nobody_up(arrivals, clock, folder):
    os.mkfifo(folder / "pipe.ipynb")
    (folder / "link.ipynb").symlink_to("/dev/zero")
    (folder.parent / "empty").mkdir()
    folders = [folder, folder.parent / "empty", folder.parent / "gone"]
    arrivals.complete(folders, NOW)
    clock.now += 2
    found, more = arrivals.complete(folders, NOW)
    assert (list(found), more) == ([folder], False)
