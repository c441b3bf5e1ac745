"""The command that packs an assignment for grading on another system: package."""

from __future__ import annotations

from pathlib import Path

from nbgrader.apps.baseapp import nbgrader_aliases
from nbgrader.converters import BaseConverter
from nbgrader.preprocessors import Execute
from traitlets import Bool, Unicode

from viva.commands.command import NO_SANDBOX, VivaCommand
from viva.commands.terminal import explained, figures
from viva.course.examining.autograde import Autograde, Examine
from viva.course.processes import leftovers
from viva.sandbox.protection import protection
from viva.verdict import CourseError
from viva.wording import counted
from viva_gradescope.bundle import VISIBILITIES, Bundle
from viva_gradescope.trial import Trial, try_out

SYSTEM = "gradescope"
HOW = "Name the system and one assignment, as in: viva package gradescope ps3_scaled_attention"
MB = 10**6
MEANINGS = (
    "automatic: points by checks. by hand: points by a grader. hidden checks: when students see them. no sandbox: "
    "what happens if Gradescope's container has no sandbox."
)
"""What the heads of the table mean."""


class PackageCommand(VivaCommand):
    name = "viva-package"
    arguments = "gradescope ASSIGNMENT"
    heading = "Grade"
    description = "Make an autograder zip, so that Gradescope grades an assignment with Viva."
    examples = """
        viva package gradescope ps3_scaled_attention --dry-run      try it and list its contents; write nothing
        viva package gradescope ps3_scaled_attention                ps3_scaled_attention-gradescope.zip in the course
        viva package gradescope ps3_scaled_attention --visibility=after_published
    """
    aliases = nbgrader_aliases | {"to": "PackageCommand.to", "visibility": "PackageCommand.visibility"}
    flags = (
        VivaCommand.flags
        | NO_SANDBOX
        | {"dry-run": ({"PackageCommand": {"dry_run": True}}, "Only list its contents; write nothing.")}
    )
    to = Unicode("", help="The file to write.").tag(config=True)
    visibility = Unicode(
        VISIBILITIES[0], help=f"When students see hidden checks: {', '.join(VISIBILITIES)}."
    ).tag(config=True)  # fmt: skip
    dry_run = Bool(False, help="Only list its contents.").tag(config=True)
    settings = (BaseConverter, Autograde, Execute, Examine)

    def run(self) -> int:
        if len(self.extra_args) != 2 or self.extra_args[0] != SYSTEM:
            raise CourseError(HOW)
        (assignment,) = self.course.chosen(self.extra_args[1:])
        path = self.target(self.to or f"{assignment}-{SYSTEM}.zip")
        with self.console.status(f"packing {assignment}"):
            bundle = Bundle.of(self.course, assignment, self.config, self.visibility)
            data = bundle.to_bytes()
        with self.console.status(f"testing it with the released notebook of {assignment}"):
            trial = self._trial(bundle)
        if not self.dry_run:
            with leftovers.whole(path, 0o600) as file:  # for its owner alone
                file.buffer.write(data)
        self._show(bundle, len(data), trial, path)
        return 0

    def _trial(self, bundle: Bundle) -> Trial | None:
        """The result of trying the bundle; None without a sandbox here. Raises CourseError where it failed."""
        if protection().level == "none" and not bundle.settings.no_sandbox:
            return None
        trial = try_out(bundle)
        if trial.score is None:
            reasons = [line.removeprefix("viva: ") for line in trial.told.splitlines() if line.startswith("viva: ")]
            raise CourseError(
                "The zip was not written, because it could not grade the released notebook: "
                f"{(reasons or trial.told.splitlines() or ['without a message'])[-1]}"
            )
        return trial

    def _show(self, bundle: Bundle, size: int, trial: Trial | None, path: Path) -> None:
        settings = bundle.settings
        numbers = figures("automatic", "by hand", "files", "MB")
        table = explained(MEANINGS, "assignment", *numbers, "hidden checks", "no sandbox")
        points = f"{settings.automatic_points:g}", f"{settings.manual_points:g}"
        sandboxed = "graded" if settings.no_sandbox else "not graded"
        table.add_row(
            settings.assignment, *points, str(len(bundle.files)), f"{size / MB:.1f}", settings.hidden_checks, sandboxed
        )
        self.console.print(table)
        self._say(*self._sentences(settings, trial, path))
        self.show_document(
            assignment=settings.assignment,
            file=path,
            dry_run=self.dry_run,
            bytes=size,
            files=sorted(bundle.files),
            automatic_points=settings.automatic_points,
            manual_points=settings.manual_points,
            hidden_checks=settings.hidden_checks,
            no_sandbox=settings.no_sandbox,
            trial=trial and trial.results,
        )

    def _sentences(self, settings, trial: Trial | None, path: Path) -> list[str]:
        sentences = [
            "The zip was not tested, because the sandbox does not work on this machine. 'viva doctor' lists "
            "what is missing."
        ]
        points = counted(settings.automatic_points, "point")
        if trial:
            sentences = [f"The zip was tested: the released notebook earns {trial.score:g} of {points}."]
        sentences.append(f"In Gradescope, set the autograder points to {points}, and choose Ubuntu 24.04.")
        if settings.manual_points:
            by_hand = counted(settings.manual_points, "point")
            sentences.append(f"Enable manual grading there for the written answers: {by_hand}.")
        if settings.no_sandbox:
            sentences.append(
                "Where the sandbox does not work, student code can read the hidden tests and write its own score."
            )
        if self.dry_run:
            return [*sentences, "Nothing was written. Run the same command without --dry-run to write it."]
        return [*sentences, f"Written: {path}. It contains solutions and hidden tests. Upload it, and do not share it."]
