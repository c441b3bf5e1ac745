"""What all commands have in common."""

from __future__ import annotations

from viva.commands.command import Pace
from viva.submission.submission import Status


def test_the_pace_counts_no_submission_that_was_done_before():
    pace = Pace(110, start=5.0)
    for _ in range(100):
        pace.count(Status.UNCHANGED)
    assert pace.shown(6.0) == ""
    for _ in range(4):
        pace.count(Status.DONE)
    assert pace.shown(17.0) == "20 a minute, 0:18 left"
    pace.count(Status.FAILED)
    assert pace.shown(5.0) == "", "a clock that stands still"
