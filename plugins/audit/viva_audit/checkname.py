"""The names by which an audit tells checks apart, and the result of one check in one trial."""

from __future__ import annotations

from typing import NamedTuple

from viva.engine.blueprint import Blueprint
from viva.verdict import Verdict


class CheckName(NamedTuple):
    """A grade cell's id and the title of one of its checks; the title alone may stand in several cells."""

    cell: str
    title: str

    def __str__(self) -> str:
        return f"{self.cell}: {self.title}"

    @classmethod
    def read(cls, text: str) -> CheckName:
        """The name in a line of a file; no grade id holds a colon, but a title may."""
        cell, _, title = text.partition(": ")
        return cls(cell, title)


def names_of_checks(blueprint: Blueprint) -> list[CheckName]:
    """Every check of a notebook, in order."""
    return [CheckName(cell.id, check.title) for cell, check in blueprint.checks()]


# What one trial says of one check.


class Ruling(NamedTuple):
    """A verdict with its reason: all that an audit of thousands of trials keeps of an engine's CheckResult."""

    verdict: Verdict
    reason: str = ""

    def __str__(self) -> str:
        return f"{self.verdict}: {self.reason}" if self.reason else str(self.verdict)
