"""What one trial says of one check."""

from __future__ import annotations

from typing import NamedTuple

from viva.verdict import Verdict


class Ruling(NamedTuple):
    """A verdict with its reason: all that an audit of thousands of trials keeps of an engine's CheckResult."""

    verdict: Verdict
    reason: str = ""

    def __str__(self) -> str:
        return f"{self.verdict}: {self.reason}" if self.reason else str(self.verdict)
