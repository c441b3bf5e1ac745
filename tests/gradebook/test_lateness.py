from __future__ import annotations

import pytest

from viva.gradebook.lateness import DAY, DailyPenalty


@pytest.mark.parametrize(
    ("seconds", "penalty"),
    [(0, 0), (-5, 0), (1, 2), (DAY, 2), (DAY + 1, 4), (9.5 * DAY, 20), (400 * DAY, 20)],
)
def test_each_day_begun_costs_its_share_and_never_more_than_the_score(seconds, penalty):
    assert DailyPenalty(per_day=0.1).late_submission_penalty("anna", 20.0, seconds) == pytest.approx(penalty)


def test_the_share_is_configurable():
    assert DailyPenalty(per_day=0.5).late_submission_penalty("anna", 8.0, 60) == 4.0
