"""The `viva` command: one subcommand per step of the flow, configured by nbgrader_config.py.

The commands are named here and loaded when they are called: nbgrader takes seconds to load.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from traitlets.config import Application

import viva
from viva.commands.terminal import BAD_REQUEST

FLOW = {
    "Write assignments": {
        "new": (
            "author.NewCommand",
            "Write a small assignment to start from: a notebook, a right answer, two wrong ones.",
        ),
        "adopt": (
            "author.AdoptCommand",
            "Make an existing nbgrader notebook one of this course, and say what its audit will miss.",
        ),
        "audit": (
            "author.AuditCommand",
            "Prove that right answers earn every point, and that wrong ones, mutants among them, do not.",
        ),
        "release": (
            "author.ReleaseCommand",
            "Compile assignments that pass their audit into release/ and enter them into the gradebook.",
        ),
    },
    "Class": {
        "demo": (
            "course.DemoCommand",
            "Write a class of artificial students, drawn from the known answers, into submitted/.",
        ),
        "check": (
            "check.CheckCommand",
            "For students: grade the visible checks of a notebook, as they will be graded.",
        ),
    },
    "Grade": {
        "grade": (
            "grade.GradeCommand",
            "Grade submissions automatically; what was graded before and has not changed is left alone.",
        ),
        "regrade": (
            "grade.RegradeCommand",
            "Release a corrected assignment over its graded submissions, grade them again, say who changes.",
        ),
    },
    "Hand back": {
        "feedback": ("hand_back.FeedbackCommand", "Write a page for each graded submission, for the student to read."),
        "report": (
            "hand_back.ReportCommand",
            "Write a page about the class: scores, checks, who needs a human, integrity, similar answers.",
        ),
        "export": ("hand_back.ExportCommand", "Write every score to a CSV file and print the class as a table."),
    },
    "Course and machine": {
        "doctor": (
            "course.DoctorCommand",
            "Say what this machine or this course lacks, and the command that mends it.",
        ),
        "completion": ("completion.CompletionCommand", "Print what completes viva's commands in bash, zsh or fish."),
    },
}
"""The commands by part of the flow: where each stands below viva.commands, and what it does."""
STATUSES = (
    "Exit status: 0 done or explained; 1 something needs you (for check: some visible check does not pass);\n"
    "2 the request or the course is at fault; 130 stopped. 'viva COMMAND --help' says more, with examples."
)


class Viva(Application):
    name = "viva"
    description = "An autograded course on attention: release, grade, give feedback."
    version = viva.__version__
    subcommands = {
        name: (f"viva.commands.{place}", description)
        for commands in FLOW.values()
        for name, (place, description) in commands.items()
    }

    def print_help(self, classes: bool = False) -> None:
        print("Usage: viva COMMAND [ASSIGNMENT ...] [OPTIONS]")
        width = max(map(len, self.subcommands))
        for part, commands in FLOW.items():
            print(f"\n{part}")
            for name, (_, description) in commands.items():
                print(f"  {name:{width}}  {description}")
        print(f"\n{STATUSES}")

    def start(self) -> None:
        if self.subapp is None:
            self.print_help()
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
