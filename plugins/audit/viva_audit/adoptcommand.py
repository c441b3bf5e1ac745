"""`viva adopt`."""

from __future__ import annotations

from pathlib import Path

from nbgrader.apps.baseapp import nbgrader_aliases
from nbgrader.converters import BaseConverter, GenerateAssignment
from nbgrader.preprocessors import Execute
from traitlets import Bool, Unicode

from viva.commands.command import NEEDS_GRADER, NO_SANDBOX, WORKERS, VivaCommand
from viva.commands.terminal import OF_SUBMISSIONS
from viva.course.examining.autograde import Examine
from viva.course.grading import remote
from viva.verdict import CourseError
from viva.wording import folded
from viva_audit.adoption import adopt
from viva_audit.auditcommand import ACCEPT, WRITE, ProvingCommand
from viva_audit.auditresult import Audit


class AdoptCommand(ProvingCommand):
    name = "viva-adopt"
    heading = "Write assignments"
    without = OF_SUBMISSIONS
    arguments = "NOTEBOOK"
    completes = "notebooks"
    description = "Add an existing nbgrader notebook to this course, and list what its audit will need."
    examples = """
        viva adopt ~/old/ps1/problem1.ipynb                  into source/ps1/
        viva adopt ~/old/ps1/problem1.ipynb --as=ps9_squares into source/ps9_squares/
        viva adopt --in-place source/ps1/problem1.ipynb      correct it there, with a copy in backup/
        viva adopt --from=otter ~/hw1/hw1.ipynb              convert a notebook of otter-grader
        viva adopt --prove ~/old/ps1/problem1.ipynb          audit it, and propose check lines
    """
    aliases = nbgrader_aliases | WORKERS | ACCEPT | {"as": "AdoptCommand.called", "from": "AdoptCommand.origin"}
    flags = (
        VivaCommand.flags
        | NO_SANDBOX
        | WRITE
        | {
            "prove": (
                {"AdoptCommand": {"proving": True}},
                "then audit it, and propose check lines for what no check notices",
            ),
            "in-place": (
                {"AdoptCommand": {"in_place": True}},
                "correct a notebook of the course, and keep a copy of it",
            ),
        }
    )
    settings = (BaseConverter, GenerateAssignment, Execute, Examine, *remote.settings())
    proving = Bool(False, help="Audit the assignment, and propose check lines.").tag(config=True)
    called = Unicode("", help="The name of the assignment, if not that of the notebook's folder.").tag(config=True)
    in_place = Bool(False, help="Correct a notebook in source/, and keep a copy in backup/.").tag(config=True)
    origin = Unicode("", help="The tool that the notebook comes from, if it is not nbgrader: otter.").tag(config=True)

    def run(self) -> int:
        if len(self.extra_args) != 1:
            raise CourseError("Name one notebook, as in: viva adopt ~/old/ps1/problem1.ipynb")
        if (self.write or self.accept) and not self.proving:
            raise CourseError("--write and --accept need --prove, which proposes the lines that they write.")
        adopted = adopt(self.course, Path(self.extra_args[0]), self.called, self.in_place, self.origin)
        sentences = [*(f"written: {path}" for path in adopted.written), *adopted.changes]
        lists = {
            "Errors, to fix before the release:": adopted.missing,
            "Warnings, which do not stop the release:": adopted.style,
            "Optional, for a stronger audit:": adopted.advice,
        }
        for heading, things in lists.items():
            sentences += ["", heading, *(f"- {sentence}" for sentence in folded(things))] if things else []
        if not self.proving:
            sentences += ["", f"Then run: viva audit {adopted.assignment}"]
        self._say(*sentences)
        if not self.proving:
            self.show_document(**vars(adopted))
            return 0
        audits: list[Audit] = []
        sound = self.prove([adopted.assignment], audits)
        results = self.propose(audits)
        self.show_document(
            **vars(adopted),
            audits=[audit.summary() for audit in audits],
            proposals=[proposed.record() for proposed in results],
        )
        return 0 if all(sound.values()) else NEEDS_GRADER
