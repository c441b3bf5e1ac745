"""What a release asks of the audit: the door ``viva.proofs``, a module with ``viva.course.releasing.proof.Proof``."""

from __future__ import annotations

from rich.console import Console
from traitlets.config import Config

from viva.course.course import Course
from viva.course.grading import remote
from viva_audit import auditpage

stands = auditpage.proven
single_process = auditpage.single_process


def prove(
    course: Course, assignments: list[str], config: Config, console: Console, workers: int | None
) -> dict[str, bool]:
    """Audit assignments as ``Proof.prove`` says."""
    from viva_audit.audits import prove as audited  # a release of what is proven does not load it

    return audited(course, assignments, config, console, [], workers=workers, remote=remote.chosen(config))
