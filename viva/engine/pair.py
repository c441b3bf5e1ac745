"""The two warm parents of a process that grades."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Self, TypeVar

from viva.engine.libraries import COMMON
from viva.engine.parent import Role, begin
from viva.engine.patience import Patience
from viva.engine.session import ExaminerFault, Session
from viva.sandbox.confinement import LARGER, USUAL, Limits, Wall
from viva.sandbox.slots import Claims
from viva.verdict import WallError

Found = TypeVar("Found")

OWN_PAIR = -1
"""The number of this process's own slots, beside those of its workers."""


def examiners_limits(limits: Limits) -> Limits:
    """The limits of an examiner, which computes what its candidate does and holds what that answers."""
    names = ("cpu_seconds", "memory_bytes")
    return replace(LARGER, **{name: max(getattr(LARGER, name), getattr(limits, name)) for name in names})


class Pair:
    """A warm parent for candidates and one for examiners: started, shared, replaced."""

    def __init__(
        self,
        seconds: float = 30.0,
        walls: tuple[Wall, Wall] | None = None,
        libraries: tuple[str, ...] = COMMON,
        hidden: tuple[str, ...] = (),
        environment: dict[str, str] | None = None,
        budget: float = 0.0,
        limits: Limits = USUAL,
    ) -> None:
        """``walls`` stand around candidate and examiner; without them ``limits`` are those of the candidate.

        ``libraries`` are loaded before the first submission comes, and for the examiners ``hidden`` too;
        others when they are imported. The variables of ``environment`` are set for all.
        A cell may take so many ``seconds``, and a notebook ``budget`` where it does not say itself.
        """
        self.seconds, self.walls, self.budget = seconds, walls, budget
        self.libraries, self.hidden, self.environment = libraries, hidden, environment
        self.walled, self.limits = walls is not None, limits
        self.claims = Claims()
        self._start()

    def _start(self) -> None:
        candidate_wall, examiner_wall = self.walls or (None, None)
        slot, known = self.claims.pair(OWN_PAIR), self.environment
        roles = (
            Role("candidate", candidate_wall, slot, self.limits),
            Role("examiner", examiner_wall, slot + 1, examiners_limits(self.limits)),
        )
        self.candidates, self.examiners = begin(roles, self.libraries, known)
        if more := [name for name in self.hidden if name not in self.libraries]:
            self.examiners.load(more)

    def __deepcopy__(self, memo: dict) -> Self:
        return self  # a handle on processes

    def close(self) -> None:
        self._stop()
        self.claims.close()

    def _stop(self) -> None:
        self.candidates.close()
        self.examiners.close()

    def allow(self, memory: int) -> None:
        """New warm parents, without a wall, whose children may use so many bytes."""
        self.limits = replace(self.limits, memory_bytes=memory)
        self.restart()

    def restart(self) -> None:
        """Replace the warm parents by new ones."""
        self._stop()
        self._start()

    def session(self, data: Path | None, files: Path | None, patience: Patience) -> Session:
        """A candidate and an examiner for one submission, or what takes their place."""
        return Session(self.candidates, self.examiners, data, files, patience)

    def twice(self, work: Callable[[], Found]) -> Found:
        """What ``work`` returns; with new warm parents where the first attempt met a fault of the grader."""
        try:
            return work()
        except (ExaminerFault, WallError):
            self.restart()
            return work()

    def share(self, number: int) -> Self:
        """A pair for another process, with the same warm parents; new ones if those have died.

        No two processes that live at the same time have the same ``number``.
        """
        try:
            return self._share(number)
        except WallError:
            self.restart()
            return self._share(number)

    def _share(self, number: int) -> Self:
        slot = self.claims.pair(number)
        other = copy.copy(self)  # it owns neither the warm parents nor the claims
        other.claims = Claims()
        other.candidates, other.examiners = self.candidates.channel(slot), self.examiners.channel(slot + 1)
        return other
