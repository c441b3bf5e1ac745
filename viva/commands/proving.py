"""A command that proves assignments on its way."""

from __future__ import annotations

from viva.author.auditresult import Audit
from viva.author.audits import prove, show_mutant
from viva.commands.command import VivaCommand
from viva.course import remote
from viva.verdict import CourseError


class ProvingCommand(VivaCommand):
    """One that audits; the others do without the package of authors, which takes a while to load."""

    def prove(self, assignments: list[str], audits: list[Audit] | None = None) -> dict[str, bool]:
        """Audit assignments; by name, whether no error was found. ``audits`` gets the audit of each notebook."""
        audits = [] if audits is None else audits
        graders = remote.chosen(self.config)
        return prove(
            self.course,
            assignments,
            self.config,
            self.console,
            audits,
            workers=self.workers or None,
            remote=graders,
            renew=getattr(self, "everything", False),
        )

    def show_mutant(self, assignments: list[str], number: int) -> None:
        """Run one mutant of an assignment again and print what became of it. Raises CourseError for several."""
        if len(assignments) != 1:
            raise CourseError("--mutant needs one assignment: viva audit ps1 --mutant=17")
        show_mutant(self.course, assignments[0], number, self.config, self.console, self.workers or None)
