"""What one student handed in for one assignment: a folder."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Submission:
    """What one student handed in for one assignment."""

    assignment: str
    student: str
    folder: Path
    zones: tuple[str, ...] = ()
    """The course's time zones, by name, which say what an abbreviation in its timestamp.txt means."""
