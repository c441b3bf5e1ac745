"""One submission, graded by a worker of a batch."""

from __future__ import annotations

import contextlib
import io
import logging
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from traitlets.config import Config

from viva.course.course import Course
from viva.course.examining.links import Links
from viva.course.gradebook.recording import Expected
from viva.course.grading.filing import Filing
from viva.course.grading.material import Material, trouble
from viva.course.grading.pipeline import Passed, go_through
from viva.engine.grading import Grader
from viva.submission.files.handin import Finding, find
from viva.submission.submission import Submission
from viva.verdict import SubmissionError, VivaError


@dataclass
class Marked:
    """The answer of a worker about a submission; ``problem`` tells why it could not be graded."""

    passed: Passed | None = None
    problem: str = ""
    log: str = ""


@dataclass(frozen=True)
class Job:
    """A submission, the files found in it, and the file with its assignment's material."""

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
        self.folder, self.grader, self.filing = folder, grader, Filing(course, config)
        self.materials: dict[Path, Material] = {}
        self.links = Links(course)

    def __call__(self, job: str | Job) -> bytes | VivaError | Marked:
        """The material of an assignment, or the result of a submission."""
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
            return VivaError(trouble(error))
        except Exception as error:
            return VivaError(f"{assignment} could not be read: {_first_line(error)}")

    def _try(self, job: Job) -> Marked:
        return attempt(f"{job.submission.assignment}/{job.submission.student}", lambda log: self._grade(job, log))

    def _grade(self, job: Job, log: logging.Logger) -> Passed:
        if isinstance(job.material, VivaError):
            raise job.material
        if job.material not in self.materials:
            self.materials[job.material] = Material.from_bytes(job.material.read_bytes(), self.config)
        material = self.materials[job.material]
        if problem := self.links.problem(job.submission):  # it had no link when the batch began
            return Passed(problem)
        with self.filing.build(job.submission) as build:
            submission = self.filing.copy(job.submission, build)
            finding = find(submission, set(material.released))
            passed = go_through(submission, finding, material, self.grader, build, log)
            self.filing.keep(job.submission, passed, build)
        return passed


def attempt(name: str, work: Callable[[logging.Logger], Passed]) -> Marked:
    """The result of the submission ``name``, or a sentence for the error that its grading raised."""
    log, stream = memory_log(name)
    try:
        return Marked(work(log))
    except SubmissionError as error:
        return Marked(Passed(f"the submission {error}"))
    except VivaError as error:
        return Marked(problem=str(error), log=stream.getvalue())
    except OSError as error:
        log.exception("The submission could not be graded.")
        return Marked(problem=trouble(error), log=stream.getvalue())
    except Exception as error:
        log.exception("The submission could not be graded.")
        return Marked(problem=f"it could not be graded: {_first_line(error)}", log=stream.getvalue())


def _first_line(error: Exception) -> str:
    return f"{str(error).splitlines()[0] if str(error) else ''} ({type(error).__name__})"


def memory_log(name: str) -> tuple[logging.Logger, io.StringIO]:
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(logging.Formatter("[%(levelname)s] %(message)s"))
    log = logging.Logger(name, logging.INFO)
    log.addHandler(handler)
    return log, stream
