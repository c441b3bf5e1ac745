"""Two kernels of a language: one runs the notebook, another one the tests, and a package brings what they say.

A package adds a subclass of KernelDialogue for a language (the door ``viva.kernels``). The session of a notebook in
that language is of this class. Tests run in its second kernel, but for those of single-process cells.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from viva import doors
from viva.engine.dialogue.expected import ANY
from viva.engine.kernelsession import KernelSession
from viva.record import Note
from viva.sandbox.confinement import Limits

KERNELS = doors.Door(
    "viva.kernels",
    adds="a second kernel, for tests in a language such as `r`",
    entry="a subclass of `viva.engine.kerneldialogue.KernelDialogue`",
    packages={"r": "nbviva-r"},
)
NOTED = ANY
"""What stands in ``KernelDialogue.kinds`` under a key of a package's own."""


@dataclass(frozen=True)
class Second:
    """Where the second kernel works; ``data``, ``readable`` and ``slot`` as in KernelSession."""

    folder: Path
    data: Path | None
    limits: Limits
    readable: tuple[str, ...]
    slot: int | None


@dataclass(frozen=True)
class Slip:
    """A wrong version of a solution, with one small ``mistake`` at a ``line`` of it.

    ``source`` is written as ``original`` is, which does the same as the solution; ``owner`` is the name to which the
    line gives a value.
    """

    mistake: str
    line: int
    owner: str
    original: str
    source: str


@dataclass(frozen=True)
class Degenerate:
    """A version of a solution whose functions and values have nothing in them, whatever they should be: ``form``.

    In ``only_right`` they are missing, or raise, where the solution has something in them.
    """

    form: str
    source: str
    only_right: str


@dataclass(frozen=True)
class Probe:
    """What shows that tests run apart: an ``answer`` that gives ``names`` values and spoils its own kernel for tests, a
    test that it ``passes``, and one that it ``fails`` only out of its reach."""

    answer: str
    names: tuple[str, ...]
    passes: str
    fails: str


class KernelDialogue(KernelSession):
    """The session of a notebook; without a ``second`` kernel all tests run in the first one.

    Of the requests that ``candidate`` gets, those with ``test`` are of a test cell, which that names; those that are
    not of a single-process cell run in the second kernel. ``examiner`` gets those that an examiner of Python gets
    beside its tests: ``prepare`` (but not in a rehearsal), ``own``, ``ran``, ``given`` and ``finish``, here with the
    visible lines of a test cell.
    """

    probe: Probe
    """What 'viva doctor' tries."""

    def __init__(self, *place: Any, single: frozenset[str] = frozenset(), second: Second | None = None) -> None:
        self.single, self.second = single, second
        self.doubts: list[Note] = []
        """What a grader should look at."""
        self.kinds: dict[str, str] = {}
        """What a rehearsal learns, as ``Examination.kinds`` keeps it."""
        super().__init__(*place)

    def changed(self) -> set[str]:
        """The names in the first kernel whose values are others than when this was asked last, by its solution."""
        raise NotImplementedError

    def why_single(self, source: str) -> Note | None:
        """Why a test cell is a single-process cell, if its text says so."""
        raise NotImplementedError

    def mistakes(self, solution: str) -> tuple[list[Slip], list[Degenerate]]:
        """Wrong versions of a solution, of which an audit sees whether the tests notice them."""
        return [], []

    def why_beside(self, seconds: float) -> str:
        """Why tests do not run apart here; empty where they do. The session must be a new one, with two kernels."""
        self.candidate(seconds, do="run", source=self.probe.answer)
        self.examiner(seconds, do="prepare", kinds={})
        self.examiner(seconds, do="own", names=list(self.probe.names))
        for source, passes in ((self.probe.passes, True), (self.probe.fails, False)):
            raised = self.candidate(seconds, do="run", source=source, test="probe")["raised"]
            if passes is bool(raised):
                said = raised["message"] if raised else "a test passed that must fail"
                return f"the second kernel of {self.spec.language} does not work: {said}"
        return ""


def dialogue_of(language: str) -> type[KernelDialogue] | None:
    """What an installed package brings for a language. Raises CourseError."""
    name = language.lower()
    return KERNELS.load(name) if name in KERNELS.entries() else None
