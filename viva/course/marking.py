"""One submission, graded by a worker of a batch, and put into ``autograded/`` in one piece."""

from __future__ import annotations

import contextlib
import io
import logging
import stat
import tempfile
from dataclasses import dataclass
from pathlib import Path

from traitlets.config import Config

from viva.course.autograde import Autograde
from viva.course.course import Course
from viva.course.gradebook.database import AGAIN
from viva.course.gradebook.record import Expected
from viva.course.material import Material
from viva.course.pipeline import Passed, go_through
from viva.course.processes import leftovers
from viva.engine.grading import Grader
from viva.submission.files.handin import Finding
from viva.submission.submission import Submission
from viva.verdict import SubmissionError, VivaError


@dataclass
class Marked:
    """What a worker says of a submission; ``problem`` is why the grader is needed."""

    passed: Passed | None = None
    problem: str = ""
    log: str = ""


@dataclass(frozen=True)
class Job:
    """A submission with what was found in it, and the file that holds its assignment's material."""

    submission: Submission
    finding: Finding
    material: Path | VivaError
    """Or why the assignment cannot be graded."""


class Marker:
    """Reads assignments and grades submissions, in a process of its own."""

    def __init__(
        self, course: Course, config: Config, expected: dict[str, Expected], folder: str, grader: Grader
    ) -> None:
        self.course, self.config, self.expected = course, config, expected
        self.folder, self.grader = folder, grader
        self.known: dict[Path, Material] = {}

    def __call__(self, job: str | Job) -> bytes | VivaError | Marked:
        """The material of an assignment, or what came of a submission."""
        tempfile.tempdir = self.folder  # removed with the batch, so that nothing is left behind however this ends
        with contextlib.chdir(self.course.root):
            return self._read(job) if isinstance(job, str) else self._try(job)

    def let_go(self) -> None:
        self.grader.close()

    def _read(self, assignment: str) -> bytes | VivaError:
        try:
            material = Material.of(self.course, assignment, self.config, self.expected[assignment], self.grader)
            return material.to_bytes()
        except VivaError as error:
            return error
        except OSError as error:
            return VivaError(_trouble(error))

    def _try(self, job: Job) -> Marked:
        log, stream = memory_log(f"{job.submission.assignment}/{job.submission.student}")
        try:
            if isinstance(job.material, VivaError):
                raise job.material
            return self._grade(job, log)
        except SubmissionError as error:
            return Marked(Passed(f"what was handed in {error}"))
        except VivaError as error:
            return Marked(problem=str(error), log=stream.getvalue())
        except OSError as error:
            log.exception("The submission could not be graded.")
            return Marked(problem=_trouble(error), log=stream.getvalue())
        except Exception as error:
            log.exception("The submission could not be graded.")
            sentence = f"it could not be graded: {str(error).splitlines()[0] if str(error) else ''}"
            return Marked(problem=f"{sentence} ({type(error).__name__})", log=stream.getvalue())

    def _grade(self, job: Job, log: logging.Logger) -> Marked:
        if job.material not in self.known:
            self.known[job.material] = Material.from_bytes(job.material.read_bytes(), self.config)
        submission, material = job.submission, self.known[job.material]
        target = self.course.path("autograded", submission.assignment, submission.student)
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=leftovers.BUILD, dir=target.parent) as folder:
            build = Path(folder, "graded")
            passed = go_through(submission, job.finding, material, self.grader, build, log)
            if passed.notebooks:
                for name, text in passed.notebooks.items():
                    (build / f"{name}.ipynb").write_text(text, encoding="utf-8")
                converter = Autograde(coursedir=self.course.directory, config=self.config)
                _protect(build, int(str(converter.permissions), 8))
                _replace(build, target)
        passed.notebooks.clear()  # they are where they belong
        return Marked(passed)


def _trouble(error: OSError) -> str:
    return f"it could not be graded: {error.strerror or error}. {AGAIN}"


def _protect(folder: Path, permissions: int) -> None:
    for path in folder.rglob("*"):
        if path.is_file():
            path.chmod(permissions)


def _replace(build: Path, target: Path) -> None:
    """Put a finished folder in the place of the old one."""
    if target.exists():
        old = build.with_name("old") / target.name  # named, so that finish_builds can put it back
        old.parent.mkdir()
        target.rename(old)
        for path in old.rglob("*"):
            if path.is_dir() and not path.is_symlink():
                path.chmod(path.stat().st_mode | stat.S_IRWXU)
    build.rename(target)


def memory_log(name: str) -> tuple[logging.Logger, io.StringIO]:
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(logging.Formatter("[%(levelname)s] %(message)s"))
    log = logging.Logger(name, logging.INFO)
    log.addHandler(handler)
    return log, stream
