"""The graders of this process, with the sandbox unless an option turns it off, and their rehearsals."""

from __future__ import annotations

import atexit
import contextlib
import hashlib
import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from viva.cleaning import plaintext
from viva.course.examining.rehearsals import Rehearsals
from viva.course.source.machine import NOTHING, Provided
from viva.engine import everyday
from viva.engine.examination import Examination
from viva.engine.grading import Grader
from viva.engine.libraries import CODECS, COMMON, THREADS
from viva.engine.session import examiners_limits
from viva.notebook.cell import Purpose
from viva.sandbox.confinement import MB, USUAL, Limits, Sandbox
from viva.sandbox.protection import protection
from viva.verdict import CourseError

with contextlib.suppress(ModuleNotFoundError):  # Windows has none; `viva check` gets along without
    import resource

_graders: dict[tuple, Grader] = {}
_examinations: dict[tuple, Examination] = {}
_tried: set[int] = set()
"""The processes in which ``require_everyday`` was content."""


def examination(
    source: Path,
    grader: Grader,
    locked: dict[str, str],
    stubs: dict[str, str],
    tests: Mapping[str, float],
    rehearsals: Rehearsals,
    data: Path | None = None,
) -> Examination:
    """The examination of an instructor notebook, learnt once for each version of it; ``data`` holds its files.

    ``locked`` and ``stubs`` are the texts of its cells as they were released, ``tests`` the points of test cells that
    were: the source may have been corrected since. Raises CourseError when the notebook lacks one of those.
    """
    digest, released = hashlib.sha256(source.read_bytes()).digest(), (locked.items(), tests.items())
    key = (str(source), digest, grader.seconds, *map(frozenset, released))
    if key not in _examinations:
        _examinations[key] = rehearsals.examination(source, grader, locked, tests, data)
    result = replace(_examinations[key], stubs=stubs)
    test_names = {cell.id for cell in result.blueprint.cells if cell.purpose == Purpose.TESTS}
    if lost := [name for name in tests if name not in test_names]:
        raise CourseError(
            f"{source} does not have the released test {plaintext.some(sorted(lost), 5)} any more, so nothing was "
            "graded. Restore the notebook as it was released."
        )
    return result


def warm_grader(
    seconds: float, no_sandbox: bool, memory: int, budget: float = 0.0, machine: Provided = NOTHING
) -> Grader:
    """This process's grader; its fork servers live as long as the process.

    Raises CourseError when the machine cannot sandbox student code, unless told ``no_sandbox``.
    """
    key = (os.getpid(), seconds, no_sandbox, memory, budget, machine.readable, *machine.environment.items())
    if key not in _graders:
        _graders[key] = grader = new_grader(seconds, no_sandbox, memory, budget, machine=machine)
        atexit.register(grader.close)
    return _graders[key]


def limits_of(seconds: float, megabytes: int) -> Limits:
    """Limits of a candidate whose cells may take so many ``seconds`` each: together as much as twenty of them."""
    return Limits(cpu_seconds=max(USUAL.cpu_seconds, int(20 * seconds)), memory_bytes=megabytes * MB)


def new_grader(
    seconds: float,
    no_sandbox: bool,
    memory: int,
    budget: float = 0.0,
    libraries: tuple[str, ...] = COMMON,
    hidden: tuple[str, ...] = (),
    machine: Provided = NOTHING,
) -> Grader:
    """A grader whose caller closes it; ``libraries`` and ``hidden`` as in Grader. Raises CourseError as warm_grader."""
    require_files()
    sandboxes, limits = None, limits_of(seconds, memory)
    if not no_sandbox:
        require_sandbox()
        sandboxes = (
            Sandbox.for_candidate(machine.readable, limits),
            Sandbox.for_examiner(machine.readable, examiners_limits(limits)),
        )
    environment = machine.environment or None
    return Grader(seconds, sandboxes, libraries, hidden, environment, budget, limits)


FEWEST_FILES, ENOUGH_FILES = 128, 1024
"""The number of files that a process must be allowed to open, and the number that it asks for."""


def require_files() -> None:
    """Allow this process as many open files as grading needs. Raises CourseError where its user set a lower limit."""
    allowed, highest = resource.getrlimit(resource.RLIMIT_NOFILE)
    if allowed == resource.RLIM_INFINITY or allowed >= ENOUGH_FILES:
        return
    most = ENOUGH_FILES if highest == resource.RLIM_INFINITY else min(ENOUGH_FILES, highest)
    if most < FEWEST_FILES:
        raise CourseError(
            f"On this machine a process can open only {most} files ('ulimit -n'), and grading needs "
            f"{FEWEST_FILES}. Nothing was graded or run. Run 'ulimit -n {ENOUGH_FILES}' or open another terminal, "
            "then run the same command again."
        )
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, highest))


def require_sandbox() -> None:
    """Raises CourseError when the machine cannot sandbox student code."""
    if protection().level == "none":
        raise CourseError(
            "The sandbox for student code does not work on this machine, so nothing was graded or run. 'viva "
            "doctor' lists what is missing. --no-sandbox runs the code without a sandbox; then it can read and "
            "change your files."
        )


def require_everyday(grader: Grader) -> None:
    """Raises CourseError when the sandbox stops everyday student code; tried once in a process."""
    if grader.sandboxed and os.getpid() not in _tried:
        if failures := everyday.failures(grader):
            listed = "; ".join(f"{activity} ({error})" for activity, error in failures.items())
            raise CourseError(
                f"The sandbox of this machine stops student code from doing this: {listed}. Right answers would "
                "lose points, so nothing was graded. Details: viva doctor"
            )
        _tried.add(os.getpid())


def absent_libraries(grader: Grader) -> list[str]:
    """Sentences about the libraries that could not be loaded once for all submissions.

    Raises CourseError for a library whose codecs are broken.
    """
    sentences = []
    for name, why in sorted(grader.absent().items()):
        if why.startswith(CODECS):
            raise CourseError(f"{why.removeprefix(CODECS)} Right answers could lose points, so nothing was graded.")
        sentences.append(
            f"{name} starts {why} when it is imported, so it is imported again for each submission. Grading is "
            "correct, but slower"
            if why.startswith(THREADS)
            else f"{name} cannot be imported in grading ({plaintext.line(why)}). Tests and answers that need it fail. "
            "Install it again"
        )
    return sentences
