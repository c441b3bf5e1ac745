"""The door ``viva.proofs``: what a release asks of the audit."""

from __future__ import annotations

from rich.console import Console
from traitlets.config import Config

from viva.course.course import Course
from viva.course.grading import remote
from viva_audit import auditpage


class AuditProof:
    """An assignment is proven that passed its audit (``viva.course.releasing.proof.Proof``)."""

    def stands(self, course: Course, assignment: str) -> bool:
        return auditpage.proven(course, assignment)

    def single_process(self, course: Course, assignment: str) -> list[str]:
        return auditpage.single_process(course, assignment)

    def prove(
        self, course: Course, assignments: list[str], config: Config, console: Console, workers: int | None
    ) -> dict[str, bool]:
        from viva_audit.audits import prove  # a release of what is proven does not load it

        return prove(course, assignments, config, console, [], workers=workers, remote=remote.chosen(config))


PROOF = AuditProof()
