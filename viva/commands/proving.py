"""A command that proves assignments on its way."""

from __future__ import annotations

from traitlets import Bool, Unicode

from viva.author.auditresult import Audit
from viva.author.audits import propose, prove, show_mutant
from viva.author.proposals import Proposals, write
from viva.commands.command import VivaCommand
from viva.course.grading import remote
from viva.verdict import CourseError

WRITE = {
    "write": ({"ProvingCommand": {"write": True}}, "Write the proposed check lines into the source notebook."),
}
ACCEPT = {"accept": "ProvingCommand.accept"}


class ProvingCommand(VivaCommand):
    """One that audits; the others do without the package of authors, which takes a while to load."""

    write = Bool(False, help="Write the proposed check lines into the source notebook.").tag(config=True)
    accept = Unicode("", help="The numbers of the proposals to write, as in --accept=1,3; all by default.").tag(
        config=True
    )

    def propose(self, audits: list[Audit]) -> list[Proposals]:
        """Propose check lines for what these audits found, and write those that are accepted.

        Raises CourseError where --accept cannot be read, or names a proposal that there is not.
        """
        accepted = self.accepted()
        if accepted and len(audits) != 1:
            raise CourseError("--accept needs an assignment of one notebook: viva audit ps1 --propose --accept=1,3")
        results = propose(self.course, audits, self.config, self.console, self.workers or None)
        if not (self.write or accepted):
            if any(proposed.lines for proposed in results):
                self._say("Nothing was written. To write all proposals, add --write; to write some, --accept=1,3.")
            return results
        with self.alone():
            for proposed in results:
                if lines := write(self.course, proposed, accepted):
                    path = self.course.path("source", proposed.assignment) / f"{proposed.notebook}.ipynb"
                    numbers = ", ".join(str(line.number) for line in lines)
                    self._say(
                        f"{path}: wrote the proposals {numbers}. Read them, then run: viva audit {proposed.assignment}"
                    )
        return results

    def accepted(self) -> list[int]:
        """The numbers of the proposals to write. Raises CourseError."""
        parts = [part.strip() for part in self.accept.split(",") if part.strip()]
        if not all(part.isascii() and part.isdigit() for part in parts):
            raise CourseError("--accept needs the numbers of proposals, as in --accept=1,3.")
        return [int(part) for part in parts]

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
