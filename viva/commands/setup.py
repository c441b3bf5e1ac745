"""Commands about the course and the machine: init, doctor."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

from traitlets import Bool

from viva.commands import doctor
from viva.commands.command import NEEDS_GRADER, VivaCommand
from viva.commands.configfile import PyFile, Read, ReadPlain, without_unknown_plugins
from viva.commands.founding import CONFIG, add_repository, found, plan
from viva.commands.terminal import OF_SUBMISSIONS
from viva.configuration import LINES
from viva.doors import wheel
from viva.verdict import CourseError

LATE_WORK = (
    "Late penalties: the lines below add no new penalty. With them, the late penalties of this course are computed "
    "again whenever a score changes, also after manual grading. nbgrader does not do this. c.LatePolicy sets other "
    "rules."
)
MACHINE = {
    "machine": ({"DoctorCommand": {"machine": True}}, "Check this machine only, and no course."),
    "run-config": ({"DoctorCommand": {"run_config": True}}, "Run nbgrader_config.py, as every other command does."),
}


class InitCommand(VivaCommand):
    name = "viva-init"
    without = OF_SUBMISSIONS
    arguments = "[FOLDER]"
    description = "Create a course in a folder, with a first assignment; or list what an nbgrader course lacks."
    examples = """
        viva init my_course           a new course: configuration, folders, an assignment, a README
        cd old_course && viva init    list the settings that an nbgrader course lacks; change nothing
        viva init --write             the same, and add the two lines for them
        viva init my_course --git     also what a course on git needs
    """
    flags = VivaCommand.flags | {
        "write": ({"InitCommand": {"write": True}}, "Add the missing lines to an existing course."),
        "git": ({"InitCommand": {"git": True}}, "Also write .gitignore and a GitHub job that audits each change."),
        "dry-run": ({"InitCommand": {"dry_run": True}}, "Show what would be written; write nothing."),
    }
    writes = False
    python_config_loader_class = Read  # somebody else may have written the course: nothing of it is run or imported

    write = Bool(False, help="Add the missing lines to an existing course.").tag(config=True)
    git = Bool(False, help="Also write what a course on git needs.").tag(config=True)
    dry_run = Bool(False, help="Write nothing.").tag(config=True)

    def initialize(self, argv: list[str] | None = None, root: str = "") -> None:
        super().initialize(argv, root)
        without_unknown_plugins(self.config)

    def run(self) -> int:
        if len(self.extra_args) > 1:
            raise CourseError("Name one folder, as in: viva init my_course")
        founding = plan(Path(*self.extra_args), self.git)
        added = [founding.folder / name for name in founding.repository] if self.dry_run else add_repository(founding)
        self._say(*(f"{'would be written' if self.dry_run else 'written'}: {path}" for path in added))
        will_be = self.write and founding.exists and not self.dry_run
        if not will_be:
            self._say(
                *(
                    f"{rule.without[:1].upper()}{rule.without[1:]} (missing: {rule.setting})."
                    for rule in founding.lacking
                )
            )
        self._say(*founding.ignored)
        lacking = [rule.setting for rule in founding.lacking]
        if lacking and founding.exists:
            self._say(LATE_WORK)
        if founding.exists and not (lacking and self.write):
            advice = f"Add these lines to {founding.folder / CONFIG} (or run 'viva init --write'):\n{LINES}"
            self._say(advice if lacking else f"{founding.folder} is a complete course.")
            self.show_document(folder=founding.folder, lacking=lacking, written=added)
            return NEEDS_GRADER if lacking else 0
        written = [founding.folder / name for name in founding.files] if self.dry_run else found(founding)
        self._say(*(f"{'would be written' if self.dry_run else 'written'}: {path}" for path in written))
        if founding.exists and not self.dry_run:
            self._say(
                f"The file had none of these {len(lacking)} settings, and has them now: {', '.join(lacking)}. To check "
                "this machine too, run: viva doctor"
            )
        if self.git and not self.dry_run:
            wheels = " and ".join(f"wheels/{wheel(name)}" for name in ("nbviva", "nbviva-audit"))
            self._say(f"For the job on GitHub, commit the wheels of Viva as {wheels}.")
        if not founding.exists and not self.dry_run:
            self._say(f"Now: cd {shlex.quote(str(founding.folder))} && viva audit && viva release")
        self.show_document(folder=founding.folder, lacking=lacking, written=[*added, *written])
        return 0


class DoctorCommand(VivaCommand):
    name = "viva-doctor"
    arguments = ""
    completes = ""
    description = "List what this machine or course lacks, with the command that fixes it."
    examples = """
        viva doctor
        viva doctor --machine      only check whether this machine can be a worker of a cluster
        viva doctor --run-config   also check what nbgrader_config.py computes; the file is code, so read it first
    """
    flags = VivaCommand.flags | MACHINE
    writes = False
    machine = Bool(False, help="Do not check a course.").tag(config=True)
    run_config = Bool(False, help="Run nbgrader_config.py, and import from its folder.").tag(config=True)

    def load_config_file(self, **options: Any) -> None:  # type: ignore[override]  # as nbgrader has it
        """The configuration is read as text, as somebody else may have written it, unless told otherwise."""
        cls = type(self)  # traitlets asks the class, not the instance
        cls.python_config_loader_class = PyFile if self.run_config else ReadPlain
        ReadPlain.left_out.clear()
        super().load_config_file(**options)

    def initialize(self, argv: list[str] | None = None, root: str = "") -> None:
        super().initialize(argv, root)
        self.plugins = [] if self.run_config else without_unknown_plugins(self.config)

    def run(self) -> int:
        sick, diagnoses = False, []
        unread = {} if self.run_config else ReadPlain.left_out
        subjects = self.course, self.config, unread, self.plugins
        for diagnosis in doctor.machine() if self.machine else doctor.examine(*subjects):
            diagnoses.append(vars(diagnosis) | {"remedy": "" if diagnosis.healthy else diagnosis.remedy})
            mark = "ok      " if diagnosis.healthy else "MISSING " if diagnosis.needed else "optional"
            remedy = f": {diagnosis.remedy}" if diagnosis.remedy and not diagnosis.healthy else ""
            self._say(f"{mark}  {diagnosis.what}{remedy}")
            sick |= diagnosis.needed and not diagnosis.healthy
        self.show_document(diagnoses=diagnoses)
        return NEEDS_GRADER if sick else 0
