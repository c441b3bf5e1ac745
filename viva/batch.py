"""Many submissions through one of nbgrader's converters, several at a time.

Each submission is converted in a worker process by nbgrader itself, which executes the notebook in
a kernel of its own and writes to autograded/ (or feedback/) and to the gradebook. Whatever happens
to one submission, the others go on; a submission counts as done only when nbgrader finished it, so
that a batch which was stopped is finished by running it again.
"""

from __future__ import annotations

import glob
import io
import logging
import multiprocessing
import os
import re
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from enum import StrEnum

from nbgrader.converters import Autograde, BaseConverter, GenerateFeedback, NbGraderException
from nbgrader.coursedir import CourseDirectory
from sqlalchemy.exc import SAWarning
from traitlets.config import Config

from viva.course import Course, Submission
from viva.submission import inspect

NEVER_STARTED = "Kernel died before replying to kernel_info"


class Status(StrEnum):
    """What became of a submission in a batch."""

    DONE = "done"
    UNCHANGED = "unchanged"
    """Done before, and nothing newer was handed in."""
    EXPLAINED = "explained"
    """It cannot be graded because of what was handed in; the reason says what that is."""
    FAILED = "failed"
    """It needs the grader."""


@dataclass(frozen=True)
class Outcome:
    """What became of one submission, why, and what else is worth knowing about it."""

    submission: Submission
    status: Status
    reason: str = ""
    notes: tuple[str, ...] = ()
    log: str = ""


def autograde(
    course: Course, submissions: list[Submission], *, config: Config, workers: int | None = None
) -> Iterator[Outcome]:
    """Grade submissions, yielding an outcome for each as it is finished.

    With ``Autograde.force`` in the config, what was graded before is graded again; grades given by
    hand stay. Raises CourseError when one of the assignments was not released.
    """
    released = {name: course.released_notebooks(name) for name in sorted({s.assignment for s in submissions})}
    gradable, notes = [], {}
    for submission in submissions:
        finding = inspect(submission, released[submission.assignment])
        if glob.escape(submission.student) != submission.student:
            reason = "nbgrader reads the characters [, * and ? as a pattern; rename the student's folder"
            yield Outcome(submission, Status.FAILED, reason)
        elif finding.problem:
            yield Outcome(submission, Status.EXPLAINED, finding.problem, finding.notes)
        else:
            gradable.append(submission)
            notes[submission] = finding.notes
    job = _Job(_Autograde, config, str(course.root))
    for outcome in _run(job, gradable, workers):
        yield Outcome(outcome.submission, outcome.status, outcome.reason, notes[outcome.submission], outcome.log)


def write_feedback(
    course: Course, submissions: list[Submission], *, config: Config, workers: int | None = None
) -> Iterator[Outcome]:
    """Write the feedback of every submission that was graded, yielding an outcome for each."""
    graded = []
    for submission in submissions:
        if course.path("autograded", submission.assignment, submission.student).is_dir():
            graded.append(submission)
        else:
            yield Outcome(submission, Status.EXPLAINED, "it was not graded, so there is no feedback")
    always = Config(GenerateFeedback={"force": True})
    always.merge(config)
    yield from _run(_Job(_GenerateFeedback, always, str(course.root)), graded, workers)


class _Remembering:
    """Says after a conversion whether nbgrader found something to do."""

    converted = False

    def init_destination(self, assignment_id: str, student_id: str) -> bool:
        self.converted = super().init_destination(assignment_id, student_id)
        return self.converted


class _Autograde(_Remembering, Autograde):
    pass


class _GenerateFeedback(_Remembering, GenerateFeedback):
    pass


@dataclass(frozen=True)
class _Job:
    """One conversion, to be applied to a submission in a worker process."""

    converter: type[BaseConverter]
    config: Config
    root: str

    def __call__(self, submission: Submission) -> Outcome:
        outcome = self._convert(submission)
        if NEVER_STARTED in outcome.log:
            # Two kernels that start at the same moment can pick the same port; the next try picks another.
            outcome = self._convert(submission)
        return outcome

    def _convert(self, submission: Submission) -> Outcome:
        log, stream = _log(f"{submission.assignment}/{submission.student}")
        directory = CourseDirectory(config=self.config, log=log)
        directory.root = self.root
        directory.assignment_id = submission.assignment
        directory.student_id = submission.student
        converter = self.converter(coursedir=directory, config=self.config, log=log)
        # nbgrader builds its rows in an order that SQLAlchemy frowns upon.
        warnings.filterwarnings("ignore", "Object of type .* not in session", SAWarning)
        try:
            converter.start()
        except NbGraderException:
            return Outcome(submission, Status.FAILED, _reason(stream.getvalue()), (), stream.getvalue())
        status = Status.DONE if converter.converted else Status.UNCHANGED
        return Outcome(submission, status)


def _run(job: Callable[[Submission], Outcome], submissions: list[Submission], workers: int | None) -> Iterator[Outcome]:
    workers = min(workers or len(os.sched_getaffinity(0)), len(submissions))
    if workers == 0:
        return
    # Forked workers have nbgrader loaded already; importing it takes seconds.
    pool = ProcessPoolExecutor(workers, mp_context=multiprocessing.get_context("fork"))
    try:
        futures = {pool.submit(job, submission): submission for submission in submissions}
        for future in as_completed(futures):
            try:
                yield future.result()
            except BrokenProcessPool:
                yield Outcome(
                    futures[future], Status.FAILED, "the worker that graded it was killed; grade again to go on"
                )
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _log(name: str) -> tuple[logging.Logger, io.StringIO]:
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(logging.Formatter("[%(levelname)s] %(message)s"))
    log = logging.Logger(name, logging.INFO)
    log.addHandler(handler)
    return log, stream


def _reason(log: str) -> str:
    """A sentence for the error in nbgrader's log."""
    if "DeadKernelError" in log:
        return "the kernel died while the notebook ran: the code ended its process or used up the memory"
    if "UnresponsiveKernelError" in log:
        return "the notebook ran into a time-out and could not be interrupted"
    if "database is locked" in log:
        return "the gradebook is locked by another program; close it and grade again"
    errors = re.findall(r"^(?:\w+\.)*(\w+(?:Error|Exception|Entry)): (.+)$", log, flags=re.MULTILINE)
    if errors:
        kind, message = errors[-1]
        return f"nbgrader could not grade it: {message} ({kind})"
    return "nbgrader could not grade it; the log says more"
