"""The result of a submission, put into ``autograded/`` at once."""

from __future__ import annotations

import contextlib
import functools
import tempfile
from collections.abc import Iterator
from pathlib import Path

from traitlets.config import Config

from viva.course.course import Course
from viva.course.examining import writtenanswers
from viva.course.examining.autograde import Autograde
from viva.course.grading.material import Material
from viva.course.grading.pipeline import Passed, lay_out
from viva.course.processes import leftovers
from viva.submission.files.beside import remove_shadows
from viva.submission.files.contents import MOST_BYTES
from viva.submission.packing import copy
from viva.submission.submission import Submission

NOTEBOOKS = "*.ipynb"
"""Files that are not copied beside graded notebooks."""


class Filing:
    """The graded notebooks of a course, each with the files that lie beside it."""

    def __init__(self, course: Course, config: Config) -> None:
        self.course, self.config = course, config

    @contextlib.contextmanager
    def build(self, submission: Submission) -> Iterator[Path]:
        """The name of a folder, not yet made, in which a graded submission is put together; then ``keep`` it."""
        parent = self._target(submission).parent
        parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=leftovers.BUILD, dir=parent) as folder:
            yield Path(folder, "graded")

    def copy(self, submission: Submission, build: Path, ignored: tuple[str, ...] = ()) -> Submission:
        """A copy beside ``build``, to be graded: where students may write to submitted/, they may do so meanwhile."""
        most = max(MOST_BYTES, 1000 * self.course.directory.max_file_size)
        return copy(submission, build.with_name("submitted"), most, ignored)

    def keep(self, submission: Submission, passed: Passed, build: Path) -> None:
        """Add the graded notebooks to ``build``, and put it where it belongs; ``passed`` does not hold them longer."""
        if passed.notebooks:
            self._compare(submission, passed)
            for name, text in passed.notebooks.items():
                (build / f"{name}.ipynb").write_text(text, encoding="utf-8")
            remove_shadows(build)
            _protect(build, self._permissions)
            leftovers.put(build, self._target(submission))
        passed.notebooks.clear()

    def _compare(self, submission: Submission, passed: Passed) -> None:
        """Find the written answers with a manual grade: which are the same as before, and which have changed."""
        graded = passed.results[1]
        before = writtenanswers.Before.of(
            self._target(submission), self.course.gradebook, submission.assignment, submission.student
        )
        for name, text in passed.notebooks.items():
            passed.notebooks[name], graded.same[name], graded.changed[name] = before.compare_text(
                name, text, graded.timestamp
            )

    def add(self, submission: Submission, passed: Passed, material: Material) -> Passed:
        """Put notebooks that another machine graded into autograded/, with the files that lie beside them here."""
        with self.build(submission) as build:
            lay_out(self.copy(submission, build, (NOTEBOOKS,)), material, build, self.course.directory)
            self.keep(submission, passed, build)
        return passed

    @functools.cached_property
    def _permissions(self) -> int:
        """The permissions that nbgrader's converter gives to graded files."""
        return int(str(Autograde(coursedir=self.course.directory, config=self.config).permissions), 8)

    def _target(self, submission: Submission) -> Path:
        return self.course.path("autograded", submission.assignment, submission.student)


def _protect(folder: Path, permissions: int) -> None:
    for path in folder.rglob("*"):
        if path.is_file():
            path.chmod(permissions)
