"""The two fork servers of a process that grades."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Self, TypeVar

from viva.engine.libraries import COMMON
from viva.engine.parent import Channel, Role, begin
from viva.engine.session import ExaminerFault, Session
from viva.engine.timebudget import TimeBudget
from viva.sandbox.confinement import LARGER, USUAL, Claims, Limits, Sandbox
from viva.verdict import SandboxError

Found = TypeVar("Found")

OWN_PAIR = -1
"""The number of this process's own slots, beside those of its workers."""


def examiners_limits(limits: Limits) -> Limits:
    """The limits of an examiner, which computes what its candidate does and holds what that answers."""
    names = ("cpu_seconds", "memory_bytes")
    return replace(LARGER, **{name: max(getattr(LARGER, name), getattr(limits, name)) for name in names})


class Pair:
    """A fork server for candidates and one for examiners: started, shared, replaced."""

    def __init__(
        self,
        seconds: float = 30.0,
        sandboxes: tuple[Sandbox, Sandbox] | None = None,
        libraries: tuple[str, ...] = COMMON,
        hidden: tuple[str, ...] = (),
        environment: dict[str, str] | None = None,
        budget: float = 0.0,
        limits: Limits = USUAL,
    ) -> None:
        """``sandboxes`` stand around candidate and examiner; without them ``limits`` are those of the candidate.

        ``libraries`` are loaded before the first submission comes, and for the examiners ``hidden`` too;
        others when they are imported. The variables of ``environment`` are set for all.
        A cell may take so many ``seconds``, and a notebook ``budget`` where it does not say itself.
        """
        self.seconds, self.sandboxes, self.budget = seconds, sandboxes, budget
        self.libraries, self.hidden, self.environment = libraries, hidden, environment
        self.sandboxed, self.limits = sandboxes is not None, limits
        self.claims = Claims()
        self._start()

    def _start(self) -> None:
        candidate_sandbox, examiner_sandbox = self.sandboxes or (None, None)
        slot, known = self.claims.pair(OWN_PAIR), self.environment
        roles = (
            Role("candidate", candidate_sandbox, slot, self.limits),
            Role("examiner", examiner_sandbox, slot + 1, examiners_limits(self.limits)),
        )
        candidates, examiners = begin(roles, self.libraries, known)
        self.candidates: Channel = candidates
        self.examiners: Channel = examiners
        if more := [name for name in self.hidden if name not in self.libraries]:
            examiners.load(more)

    def __deepcopy__(self, memo: dict) -> Self:
        return self  # a handle on processes

    def close(self) -> None:
        self._stop()
        self.claims.close()

    def _stop(self) -> None:
        self.candidates.close()
        self.examiners.close()

    def allow(self, memory: int) -> None:
        """New fork servers, without a sandbox, whose children may use so many bytes."""
        self.limits = replace(self.limits, memory_bytes=memory)
        self.restart()

    def restart(self) -> None:
        """Replace the fork servers by new ones."""
        self._stop()
        self._start()

    def session(self, data: Path | None, files: Path | None, time_budget: TimeBudget) -> Session:
        """A candidate and an examiner for one submission, or what takes their place."""
        return Session(self.candidates, self.examiners, data, files, time_budget)

    def twice(self, work: Callable[[], Found]) -> Found:
        """What ``work`` returns; with new fork servers where the first attempt met a fault of the grader."""
        try:
            return work()
        except (ExaminerFault, SandboxError):
            self.restart()
            return work()

    def share(self, number: int) -> Self:
        """A pair for another process, with the same fork servers; new ones if those have died.

        No two processes that live at the same time have the same ``number``.
        """
        try:
            return self._share(number)
        except SandboxError:
            self.restart()
            return self._share(number)

    def _share(self, number: int) -> Self:
        slot = self.claims.pair(number)
        other = copy.copy(self)  # it owns neither the fork servers nor the claims
        other.claims = Claims()
        other.candidates, other.examiners = self.candidates.channel(slot), self.examiners.channel(slot + 1)
        return other
