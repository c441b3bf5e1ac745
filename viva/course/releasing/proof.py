"""The proof of an assignment before its release, and the package that brings it: nbviva-audit.

A package proves assignments through the door ``viva.proofs``. A release asks it; without one, it says how to get it.
"""

from __future__ import annotations

from typing import Protocol

from rich.console import Console
from traitlets.config import Config

from viva import doors
from viva.course.course import Course
from viva.verdict import CourseError

PROOFS = doors.Door(
    "viva.proofs",
    adds="what a release asks to prove an assignment",
    entry="a module or an object with the protocol `viva.course.releasing.proof.Proof`",
)


class Proof(Protocol):
    """Who proves assignments, and remembers what it proved."""

    def stands(self, course: Course, assignment: str) -> bool:
        """Whether the assignment was proven as it is now."""

    def single_process(self, course: Course, assignment: str) -> list[str]:
        """What the last proof says of the cells that are graded in one process."""

    def prove(
        self, course: Course, assignments: list[str], config: Config, console: Console, workers: int | None
    ) -> dict[str, bool]:
        """Prove assignments and print what was found; by name, whether no error was found.

        Raises SandboxError where student code cannot be sandboxed, ClusterError for a cluster that cannot be used.
        """


def stands(course: Course, assignment: str) -> bool:
    """Whether an assignment was proven as it is now. Raises CourseError for a package that cannot be loaded."""
    proof = _installed()
    return proof is not None and proof.stands(course=course, assignment=assignment)


def single_process(course: Course, assignment: str) -> list[str]:
    """What the last proof says of the cells that are graded in one process. Raises as ``stands`` does."""
    proof = _installed()
    return proof.single_process(course=course, assignment=assignment) if proof else []


def prove(
    course: Course, assignments: list[str], config: Config, console: Console, workers: int | None
) -> dict[str, bool]:
    """As ``Proof.prove``. Raises CourseError, too, where no package proves assignments."""
    if (proof := _installed()) is None:
        raise CourseError(
            "Nothing was done: the package that audits assignments is not installed. Install its wheel: "
            f"{doors.install('nbviva-audit')}. Or do it without an audit: add --no-audit."
        )
    return proof.prove(course=course, assignments=assignments, config=config, console=console, workers=workers)


def _installed() -> Proof | None:
    return next(iter(PROOFS.load_all().values()), None)
