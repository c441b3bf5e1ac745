"""A cell on the way through a notebook, and the exceptions that several sources of reasons know."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cached_property

from nbformat import NotebookNode

from viva.engine.blueprint import Cell
from viva.engine.checks import Check
from viva.notebook.cell import ANSWERS, Purpose, grade_id, name_of
from viva.notebook.names import Names, names_in_text
from viva.notebook.syntax import LONGEST
from viva.record import CheckResult
from viva.verdict import Verdict

LOST = (Verdict.FAILED, Verdict.ERROR)
UNDEFINED = re.compile(r"name '(\w+)' is not defined")
MISSING = "ModuleNotFoundError"
NO_MODULE = re.compile(r"No module named '(\w{1,60})(?:\.[\w.]*)?'")


@dataclass(frozen=True)
class Place:
    """A code cell of a notebook that was graded: its index, the assignment's cell that it is, and its ``errors``."""

    index: int
    cell: NotebookNode
    expected: Cell | None
    owned: frozenset[str]
    """The names that it is to give, as the solution does."""
    errors: list[dict] = field(default_factory=list)
    """The outputs with an exception."""

    @cached_property
    def name(self) -> str:
        return name_of(self.cell)

    @cached_property
    def grade_id(self) -> str:
        return grade_id(self.cell)

    @property
    def is_test(self) -> bool:
        return self.expected is not None and self.expected.purpose == Purpose.TESTS

    @property
    def is_answer(self) -> bool:
        return self.expected is not None and self.expected.purpose in ANSWERS

    @cached_property
    def source(self) -> str:
        """The text; none of one that is longer than anybody types."""
        return self.cell.source if len(self.cell.source) <= LONGEST else ""

    @cached_property
    def names(self) -> Names:
        return names_in_text(self.source)


@dataclass(frozen=True)
class Question:
    """A check of a test cell, and the result that it has."""

    cell: Cell
    check: Check
    result: CheckResult

    @property
    def is_lost(self) -> bool:
        return self.result.verdict in LOST

    @cached_property
    def source(self) -> str:
        """The lines that ran for it."""
        return f"{self.cell.prelude}\n{self.check.source}"

    @property
    def undefined(self) -> str:
        """The name for want of which it ended; empty where it did not."""
        return undefined(self.result)


def undefined(result: CheckResult) -> str:
    """The name for want of which a check ended; empty where it did not."""
    match = UNDEFINED.match(result.message.strip()) if result.exception == "NameError" else None
    return match[1] if match else ""
