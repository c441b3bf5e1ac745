"""The instructor's own solution, run in one process, as a kernel runs it: what it does there, cell by cell."""

from __future__ import annotations

import contextlib
import hashlib
import os
import signal
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from viva.engine.blueprint import ANSWERS, Cell
from viva.engine.grading import Grader
from viva.engine.names import names_of
from viva.engine.session import Died, Session
from viva.verdict import Verdict

TOO_LONG = (
    "the instructor's own cell '{cell}' does not finish in {seconds:g} s; give it more in its metadata, "
    'as in {{"viva": {{"seconds": {more:g}}}}}, or all cells with c.Execute.timeout in nbgrader_config.py'
)
TOO_LARGE = (
    "the instructor's own cell '{cell}' needs more memory than a process may have; allow more with "
    "c.Examine.memory in nbgrader_config.py"
)
EXITED = "its cell '{cell}' ends the process that it runs in, with status {status}; take out what does so"
CRASHED = (
    "its cell '{cell}' crashes the process that it runs in ({name}), as code does that gets no more memory; allow more "
    "with c.Examine.memory in nbgrader_config.py, or mend the cell"
)
BUSY = (
    "up to its cell '{cell}' it computes longer than a whole notebook may; give every cell more time with "
    "c.Execute.timeout in nbgrader_config.py, of which a notebook gets six times as much"
)


class Ended(Exception):  # noqa: N818
    """A cell of the solution ended its process."""


@contextlib.contextmanager
def watching(session: Session, cell: Cell, seconds: float) -> Iterator[None]:
    """Raises Ended, with a sentence that says which cell it was and how it came, where the candidate dies."""
    try:
        yield
    except Died as death:
        status = session.status()
        if death.verdict is Verdict.TIMEOUT:
            sentence = TOO_LONG.format(cell=cell.id, seconds=seconds, more=4 * seconds)
        elif status is None:
            sentence = f"its cell '{cell.id}': {death}"
        elif not os.WIFSIGNALED(status):
            sentence = EXITED.format(cell=cell.id, status=os.WEXITSTATUS(status))
        elif os.WTERMSIG(status) == signal.SIGXCPU:
            sentence = BUSY.format(cell=cell.id)
        else:
            number = os.WTERMSIG(status)
            name = next((known.name for known in signal.Signals if known == number), f"signal {number}")
            sentence = CRASHED.format(cell=cell.id, name=name)
        raise Ended(sentence) from death


@dataclass
class Solo:
    """What running the solution in one process showed, by cell."""

    changed: dict[str, set[str]] = field(default_factory=dict)
    """The names that an answer changes in place."""
    raised: dict[str, dict | None] = field(default_factory=dict)
    """What a grade cell raises."""
    files: dict[str, frozenset[str]] = field(default_factory=dict)
    """The files that were there before, and that it writes."""
    cut: dict[str, str] = field(default_factory=dict)
    """Why a cell could not finish."""


def run_alone(cells: list[Cell], grader: Grader, data: Path | None) -> Solo:
    """Run the solution, and its tests, in one process."""
    solo = Solo()
    given: set[str] = set()
    with Session(grader.candidates, grader.examiners, data) as session:
        for cell in cells:
            seconds = cell.seconds or grader.seconds
            with watching(session, cell, seconds):
                _run_one(session, cell, seconds, solo, given)
    return solo


def _run_one(session: Session, cell: Cell, seconds: float, solo: Solo, given: set[str]) -> None:
    """Run one cell, with the names of ``given`` cells before it known, and note what it does."""
    names = names_of(cell.source)
    before = _digests(session, given) if cell.purpose in ANSWERS else {}
    files = files_of(session)
    raised = session.candidate(seconds, do="run", source=cell.source).get("raised")
    if changed := written(files, files_of(session)):
        solo.files[cell.id] = changed
    if cut := _cut(cell, raised, seconds):
        solo.cut[cell.id] = cut
    if cell.purpose == "tests":
        solo.raised[cell.id] = raised
    elif cell.purpose in ANSWERS:
        after = _digests(session, given)
        solo.changed[cell.id] = {name for name in before if before[name] != after.get(name)}
    elif names:
        given |= names.bound


def _cut(cell: Cell, raised: dict | None, seconds: float) -> str:
    """Why a cell could not finish, if the limits are to blame."""
    name = raised["name"] if raised else ""
    if name == "KeyboardInterrupt":
        return TOO_LONG.format(cell=cell.id, seconds=seconds, more=4 * seconds)
    return TOO_LARGE.format(cell=cell.id) if name.endswith("MemoryError") else ""


def files_of(session: Session) -> dict[str, tuple]:
    """What tells by name whether a file of the candidate's has changed."""
    return session.candidate(60, do="digest", names=[])["files"]


def written(before: dict[str, tuple], after: dict[str, tuple]) -> frozenset[str]:
    """The files that were there before and are others now. One that is gone stays: a test may ask whether it is."""
    return frozenset(name for name, about in after.items() if name in before and before[name] != about)


def _digests(session: Session, names: set[str]) -> dict[str, bytes | None]:
    found = session.candidate(60, do="digest", names=sorted(names))["digests"]
    return {name: value and hashlib.sha256(value).digest() for name, value in found.items()}
