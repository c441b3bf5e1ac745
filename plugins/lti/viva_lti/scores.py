"""Scores, and the columns that they go into, whichever way they travel."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Protocol

import msgspec

CHANGED = 409
"""The status that says: somebody changed it meanwhile."""


class Column(msgspec.Struct, frozen=True):
    id: str
    label: str = ""
    score_maximum: float | None = msgspec.field(default=None, name="scoreMaximum")
    resource_id: str | int | None = msgspec.field(default=None, name="resourceId")


class Result(msgspec.Struct, frozen=True):
    """What a student has in a column, whoever entered it."""

    user_id: str | int = msgspec.field(name="userId")
    score: float | None = msgspec.field(default=None, name="resultScore")
    maximum: float | None = msgspec.field(default=None, name="resultMaximum")

    @property
    def state(self) -> tuple:
        """What a person changes there."""
        return self.score, self.maximum

    @property
    def is_empty(self) -> bool:
        """Whether nothing was entered or decided."""
        return self.score is None

    @property
    def status(self) -> str:
        """What somebody decided about the student in place of a score; empty where nothing was."""
        return ""

    @property
    def held(self) -> str:
        """Why no score may go there, whatever was there before; empty where one may."""
        return ""


@dataclass(frozen=True)
class Score:
    """A score as it is sent."""

    user: str
    points: Decimal
    maximum: Decimal
    comment: str = ""
    student: str = ""
    """The student's id in the course, which the system does not get."""


class Grades(Protocol):
    """A learning system's columns."""

    @property
    def refusals(self) -> Mapping[int, str]:
        """By the status with which the system refuses one score, what it means; another status ends the export."""

    @property
    def host(self) -> str: ...

    def column(self, assignment: str, earlier: Collection[str] = ()) -> Column | None: ...

    def make(self, assignment: str, maximum: Decimal) -> Column: ...

    def results(self, column: Column) -> dict[str, Result]: ...

    def remarks(self, column: Column | None, scores: list[Score]) -> list[str]:
        """What else a person should read before scores are sent."""

    def present(self, column: Column, user: str) -> Result | None:
        """What one user has in a column now."""

    def send(self, column: Column, score: Score) -> Result | None:
        """Send one score; what the user has there then."""
