"""The answers that graders have open, so that two who work at once get different ones.

For each open notebook a file lies in ``.open/`` of the course, named after the notebook's id in the gradebook; it holds
the grader's key, and its time says when the page was last there. All servers that show one course read the same folder.
Nothing depends on it but who gets which answer: what a grader saves is compared with the gradebook. Where
the folder cannot be written to, answers are given as if nobody else worked.
"""

from __future__ import annotations

import contextlib
import os
import time
from pathlib import Path

from nbgrader.coursedir import CourseDirectory

from viva.course.grading.groupshared import FOLDER as SHARED

FOLDER = ".open"
SECONDS = 90.0
"""So long an answer stays a grader's after the last sign of the page, which gives one each 30 seconds."""


class OpenAnswers:
    """The open answers of a course, for one grader."""

    def __init__(self, directory: CourseDirectory, grader: str) -> None:
        """``grader`` is a key that other graders do not have."""
        self.folder, self.grader = Path(directory.root) / FOLDER, grader
        self.shared = bool(directory.groupshared)

    def take(self, submission: str) -> bool:
        """Whether a submitted notebook, by its id in the gradebook, is this grader's from now on."""
        try:
            self._prepare()
            path = self.folder / submission
            if self._is_left(path):
                path.unlink(missing_ok=True)
            try:
                with path.open("x") as file:
                    file.write(self.grader)
            except FileExistsError:
                if path.read_bytes() != self.grader.encode():
                    return False
                os.utime(path)
        except OSError:
            pass
        return True

    def leave(self, submission: str) -> None:
        """Another grader may have it."""
        path = self.folder / submission
        with contextlib.suppress(OSError):
            if path.read_bytes() == self.grader.encode():
                path.unlink()

    def _prepare(self) -> None:
        """The folder is there, and holds no file of a page that was left."""
        if not self.folder.is_dir():
            self.folder.mkdir(exist_ok=True)
            if self.shared:
                self.folder.chmod(SHARED)
        for path in self.folder.iterdir():
            with contextlib.suppress(OSError):  # a folder, or another user's file
                if self._is_left(path):
                    path.unlink(missing_ok=True)

    def _is_left(self, path: Path) -> bool:
        try:
            return time.time() - path.stat().st_mtime > SECONDS
        except FileNotFoundError:
            return False
