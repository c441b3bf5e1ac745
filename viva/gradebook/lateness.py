"""What a late submission costs."""

from __future__ import annotations

import math

from nbgrader.plugins import LateSubmissionPlugin
from traitlets import Float

DAY = 24 * 60 * 60


class DailyPenalty(LateSubmissionPlugin):
    """A fixed share of the score for each day that has begun since the due date."""

    per_day = Float(0.1, min=0, max=1, help="The share of the score lost for each day begun.").tag(config=True)

    def late_submission_penalty(self, student_id: str, score: float, total_seconds_late: float) -> float:
        """The points to take off ``score``: never more than the score, none when on time."""
        days = math.ceil(max(0.0, total_seconds_late) / DAY)
        return min(score, score * self.per_day * days)
