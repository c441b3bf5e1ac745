"""The `viva` command: one subcommand per step of the flow, configured by nbgrader_config.py."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from nbgrader.apps.baseapp import NbGrader

import viva
from viva.commands.author import AdoptCommand, AuditCommand, NewCommand, ReleaseCommand
from viva.commands.command import BAD_REQUEST
from viva.commands.course import DemoCommand, DoctorCommand
from viva.commands.grade import GradeCommand, RegradeCommand
from viva.commands.hand_back import ExportCommand, FeedbackCommand, ReportCommand


class Viva(NbGrader):
    name = "viva"
    description = "An autograded course on attention: release, grade, give feedback."
    version = viva.__version__
    subcommands = {
        command.name.removeprefix("viva-"): (command, command.description)
        for command in (
            NewCommand,
            AdoptCommand,
            AuditCommand,
            ReleaseCommand,
            DemoCommand,
            GradeCommand,
            RegradeCommand,
            FeedbackCommand,
            ReportCommand,
            ExportCommand,
            DoctorCommand,
        )
    }

    def start(self) -> None:
        if self.subapp is None:
            print("Usage: viva COMMAND [ASSIGNMENT ...] [OPTIONS]; 'viva COMMAND --help' says more.\n")
            for name, (_, description) in self.subcommands.items():
                print(f"  {name:9}  {description}")
            if self.extra_args:
                print(f"\nThere is no command '{self.extra_args[0]}'.", file=sys.stderr)
            self.exit(BAD_REQUEST if self.extra_args else 0)
        super().start()


def main() -> None:
    # nbgrader calls alembic by name; workers are processes, so one thread each is enough for NumPy.
    os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"
    for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(variable, "1")
    Viva.launch_instance()
