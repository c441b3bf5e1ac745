"""A command that proves assignments on its way."""

from __future__ import annotations

from viva.author.auditresult import Audit
from viva.author.audits import prove
from viva.commands.command import VivaCommand
from viva.course import remote


class ProvingCommand(VivaCommand):
    """One that audits; the others do without the package of authors, which takes a while to load."""

    def prove(self, assignments: list[str], audits: list[Audit] | None = None) -> dict[str, bool]:
        """Audit assignments; by name, whether no error was found. ``audits`` gets the audit of each notebook."""
        audits = [] if audits is None else audits
        graders = remote.chosen(self.config)
        return prove(self.course, assignments, self.config, self.console, self.workers or None, audits, graders)
