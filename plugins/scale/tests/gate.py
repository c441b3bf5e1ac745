"""A step of a course's own that holds submissions, so that a test can do what it wants while a worker is at one.

Nothing here goes by the clock: a test waits until somebody has come to the gate, does its deed, and opens it. Every
course of these tests has the step, as a course with another list of steps is graded anew; where nobody has said where
the gate is, it stands open. A pace makes a batch last: so many seconds every submission takes.
"""

from __future__ import annotations

import os
import time
from pathlib import Path

from nbgrader.preprocessors import NbGraderPreprocessor

PLACE, PACE = "VIVA_TEST_GATE", "VIVA_TEST_PACE"
LONGEST = 250.0
"""Seconds after which the gate opens by itself, so that a test that failed leaves nobody behind it."""
LINES = """
from viva.course.examining.autograde import Autograde as _Autograde

c.Autograde.sanitize_preprocessors = [*_Autograde().sanitize_preprocessors, "plugins.scale.tests.gate.Held"]
"""


class Held(NbGraderPreprocessor):
    """Says which worker a student's submission is at, by files in the folder PLACE, and waits there."""

    def preprocess(self, notebook, resources):
        time.sleep(float(os.environ.get(PACE, 0)))
        if place := os.environ.get(PLACE):
            student = resources["nbgrader"]["student"]
            Path(place, f"{student}@{os.getppid()}").touch()
            end = time.monotonic() + LONGEST
            while not (Path(place, "open").exists() or Path(place, f"{student}.open").exists()):
                if time.monotonic() > end:
                    break
                time.sleep(0.02)
        return notebook, resources


def stand_before(course: Path) -> None:
    """Every submission of this course has to go through the gate."""
    with (course / "nbgrader_config.py").open("a") as file:
        file.write(LINES)


class Gate:
    """The same, as a test sees it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir()

    def environment(self) -> dict[str, str]:
        """What a worker needs to know of it."""
        return {PLACE: str(self.folder)}

    def at(self, pid: int) -> set[str]:
        """The students whose submissions have come to a worker's worker processes."""
        return {path.name.partition("@")[0] for path in self.folder.glob(f"*@{pid}")}

    def open(self, *students: str) -> None:
        """Let them through, or everybody."""
        for name in [f"{student}.open" for student in students] or ["open"]:
            (self.folder / name).touch()
