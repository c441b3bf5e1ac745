"""What is known of the time that a submission claims is told as a fact, whoever wrote it down."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

from viva.submission.files.claim import NAME, Claim, facts

NOON = datetime(2026, 11, 28, 12, tzinfo=timezone(timedelta(hours=1)))


def test_a_claimed_time_is_told_in_one_zone_and_what_is_no_claim_is_nothing(tmp_path):
    assert facts(tmp_path) == []
    Claim(NOON, datetime(2026, 11, 28, 13)).write(tmp_path)
    (before,) = facts(tmp_path)
    assert (before.kind, before.names) == ("dated_before", ("2026-11-28 11:00:00 UTC", "2026-11-28 13:00:00 UTC"))
    Claim(NOON, NOON, datetime(2026, 11, 28, 14, tzinfo=UTC)).write(tmp_path)
    (back,) = facts(tmp_path)
    assert (back.kind, back.names[2]) == ("dated_back", "2026-11-28 14:00:00 UTC")
    (tmp_path / NAME).write_text("{")
    assert facts(tmp_path) == []
