"""`viva audit`, and what it shares with `viva adopt --prove`."""

from __future__ import annotations

from nbgrader.apps.baseapp import nbgrader_aliases
from nbgrader.converters import BaseConverter, GenerateAssignment
from nbgrader.preprocessors import Execute
from traitlets import Bool, Int, Unicode

from viva.commands.command import NEEDS_GRADER, NO_SANDBOX, WORKERS, VivaCommand
from viva.commands.terminal import OF_SUBMISSIONS
from viva.course.examining.autograde import Examine
from viva.course.grading import remote
from viva.verdict import CourseError
from viva_audit.auditresult import Audit
from viva_audit.audits import propose, prove, show_mutant
from viva_audit.certificate import write_certificate
from viva_audit.proposals import Proposals, write

ALL = {"all": ({"AuditCommand": {"everything": True}}, "Run the whole audit again, also what did not change.")}
CERTIFICATE = {
    "certificate": (
        {"AuditCommand": {"certificate": True}},
        "Also write the audit certificate of a released assignment, as a page to print.",
    )
}
PROPOSE = {
    "propose": (
        {"AuditCommand": {"proposing": True}},
        "Also propose lines for visible checks, for mutants that no visible line notices.",
    )
}
WRITE = {
    "write": ({"ProvingCommand": {"write": True}}, "Write the proposed check lines into the source notebook."),
}
ACCEPT = {"accept": "ProvingCommand.accept"}


class ProvingCommand(VivaCommand):
    """One that audits, and writes the check lines that are proposed."""

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


class AuditCommand(ProvingCommand):
    name = "viva-audit"
    heading = "Write assignments"
    without = OF_SUBMISSIONS
    description = "Check that right answers earn every point, and that wrong answers and mutants do not."
    examples = """
        viva audit                        all assignments
        viva audit ps3_scaled_attention   one of them; see report/audit/ps3_scaled_attention.html
        viva audit ps1 --mutant=17        one wrong version again: what notices it, and where it differs
        viva audit ps1 --certificate      also write its certificate, a page for students after the deadline
        viva audit ps1 --propose          also propose check lines for mistakes that no visible line notices
    """
    aliases = nbgrader_aliases | WORKERS | ACCEPT | remote.aliases() | {"mutant": "AuditCommand.mutant"}
    flags = VivaCommand.flags | NO_SANDBOX | ALL | CERTIFICATE | PROPOSE | WRITE | remote.flags()
    proposing = Bool(False, help="Propose check lines for mistakes that no visible line notices.").tag(config=True)
    certificate = Bool(False, help="Write the audit certificate of a released assignment.").tag(config=True)
    everything = Bool(False, help="Run the whole audit again.").tag(config=True)
    mutant = Int(0, min=0, help="Only run the mutant with this number again, and show it.").tag(config=True)
    settings = (BaseConverter, GenerateAssignment, Execute, Examine, *remote.settings())

    def run(self) -> int:
        if self.mutant:
            self.show_mutant(self.chosen_assignments(), self.mutant)
            return 0
        if (self.write or self.accept) and not self.proposing:
            raise CourseError("--write and --accept need --propose, which proposes the lines that they write.")
        audits: list[Audit] = []
        sound = self.prove(self.chosen_assignments(), audits)
        certified = not self.certificate or self.certify(audits)
        results = self.propose(audits) if self.proposing else []
        proposed = {"proposals": [result.record() for result in results]} if self.proposing else {}
        self.show_document(audits=[audit.summary() for audit in audits], **proposed)
        return 0 if certified and all(sound.values()) else NEEDS_GRADER

    def certify(self, audits: list[Audit]) -> bool:
        """Write what is proven of each notebook; whether it could be written for all."""
        complete = True
        for audit in audits:
            try:
                written = write_certificate(self.course, audit)
            except CourseError as error:
                self._say_error(str(error))
                complete = False
            else:
                self._say(*(f"written: {path}" for path in written))
        return complete
