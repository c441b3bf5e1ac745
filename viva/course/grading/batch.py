"""Many submissions: planned, graded by several workers, recorded by one writer.

Theory of operation. This process reads the course, leaves out what cannot be graded or has not changed
since it was, and hands the rest to workers, one per core. A worker takes a submission through nbgrader's
steps with a draft in place of the gradebook, and puts the graded notebooks into autograded/ in one
piece. This process saves the drafts in the gradebook, many in a transaction, and after that adds the
results to ``results.jsonl``. A submission counts as done only when its results are there, so that a
batch which was stopped at any point is finished by running it again.

What is finished is recorded within about a second, also while one submission takes long. Who calls may bring further
submissions while the batch runs, so that no worker waits for the slowest.
"""

from __future__ import annotations

import contextlib
import functools
import logging
import os
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Required, TypedDict, Unpack

from nbgrader.api import InvalidEntry
from sqlalchemy.exc import SQLAlchemyError
from traitlets.config import Config

from viva import ENGINE, wording
from viva.cleaning import plaintext
from viva.course.course import Course
from viva.course.database import concerns_all, with_retries
from viva.course.examining.autograde import Autograde, Examine
from viva.course.examining.fingerprint import ground, key
from viva.course.examining.graders import absent_libraries, new_grader, require_everyday, require_sandbox
from viva.course.examining.links import Links
from viva.course.examining.rehearsals import submitted_files
from viva.course.gradebook import advisory, agreement, health, journal, releases
from viva.course.gradebook.recording import Expected, Writer
from viva.course.gradebook.results import Results
from viva.course.grading import seen
from viva.course.grading.filing import Filing
from viva.course.grading.marking import Job, Marked, Marker
from viva.course.grading.material import Material
from viva.course.grading.pipeline import Passed
from viva.course.grading.remote import RemoteGraders
from viva.course.processes import leftovers, slow, stopping
from viva.course.processes.workers import Workers
from viva.course.releasing import contract
from viva.course.releasing.contract import Contract
from viva.course.releasing.variants import seeds_of
from viva.course.source import machine
from viva.course.source.markers import require_usual_hidden
from viva.course.source.timelimit import seconds_of
from viva.engine import libraries
from viva.engine.examination import Examination
from viva.engine.grading import Grader
from viva.folder import walk
from viva.submission.files import timestamp
from viva.submission.files.handin import Finding, find
from viva.submission.submission import Ending, Status, Submission
from viva.verdict import BlueprintError, CourseError, SubmissionError, Verdict, VivaError

More = Callable[[], list[Submission]]
"""Asks for further submissions."""
IN_ONE_TRANSACTION = 50
"""Submissions, at most; or as many as come in a second."""
SHOWN = 10
"""The number of students that a sentence names."""
LOCK = "gradebook.db.lock"
"""Beside the gradebook, whatever that is called."""


class Way(TypedDict, total=False):
    """How submissions are graded: by ``workers`` of this machine, or by ``remote`` graders; ``tell`` gets sentences."""

    config: Required[Config]
    workers: int | None
    remote: RemoteGraders | None
    tell: Callable[[str], object]


def autograde(course: Course, submissions: list[Submission], **way: Unpack[Way]) -> Iterator[Ending]:
    """Grade submissions as ``grade`` does, ``alone`` with the course."""
    with alone(course, way.get("tell", print)):
        yield from grade(course, submissions, **way)


@contextlib.contextmanager
def alone(course: Course, tell: Callable[[str], object] = print) -> Iterator[list[journal.Intent]]:
    """Nothing else grades or releases in the course; ``tell`` is given a sentence when this has to wait for that.

    A change that was stopped is finished first; the ones that were are what this is entered with. Raises CourseError
    when the gradebook cannot be used, or a change cannot be finished.
    """
    health.require(course)
    address = course.directory.db_url, course.directory.course_id
    with leftovers.alone(Results.of(course.directory).path.with_name(LOCK), tell), advisory.alone(*address, tell):
        yield journal.finish(course, tell)


def grade(course: Course, submissions: list[Submission], **way: Unpack[Way]) -> Iterator[Ending]:
    """Grade submissions, and yield an ending for each when it is recorded; the caller is ``alone`` with the course.

    With ``Autograde.force`` in the config, what was graded before is graded again; grades given by
    hand stay. Raises CourseError when none of the assignments was released, or when this machine
    cannot sandbox student code and ``Examine.no_sandbox`` is not set.
    """
    with contextlib.closing(grade_in_groups(course, submissions, **way)) as groups:
        for endings in groups:
            yield from endings


def grade_in_groups(
    course: Course,
    submissions: list[Submission],
    *,
    config: Config,
    workers: int | None = None,
    remote: RemoteGraders | None = None,
    tell: Callable[[str], object] = print,
    more: More | None = None,
    assignments: Iterable[str] = (),
) -> Generator[list[Ending]]:
    """Grade submissions as ``grade`` does; endings that were recorded together are yielded together.

    While a worker has nothing to do, ``more`` is asked for further submissions, of the same or of these
    ``assignments``, and of students of whom everything is recorded. The batch ends when there are none and all are
    graded.
    """
    with _swept(course):
        names = sorted({submission.assignment for submission in submissions} | set(assignments))
        released, seeds, refused = gradable(course, names)
        if not released:
            raise refused[names[0]]
        batch = with_retries(lambda: _Batch(course, config, released, refused, seeds, remote, tell))
        todo: list[Submission] = []
        try:
            for ending in batch.sort(submissions, todo):
                yield [batch.note(ending)]
            for endings in batch.grade(todo, workers, more) if todo else ():
                yield [*map(batch.note, endings)]
        finally:
            batch.keep_notes()


def gradable(
    course: Course, assignments: Iterable[str]
) -> tuple[dict[str, set[str]], dict[str, dict[str, int] | None], dict[str, VivaError]]:
    """By assignment that can be graded, its notebooks and the seeds of students; and why others cannot be."""
    released, seeds = {}, {}
    refused: dict[str, VivaError] = {}
    for name in assignments:
        try:
            with_retries(partial(agreement.require_kept, course, [name]))
            notebooks = releases.notebooks(course, name)
            seeds[name] = with_retries(partial(seeds_of, course, name))
            released[name] = notebooks
        except (CourseError, BlueprintError) as error:
            refused[name] = error
    return released, seeds, refused


def tell_differing(course: Course, submissions: list[Submission], tell: Callable[[str], object]) -> None:
    """Say which submissions are graded again as the gradebook holds something else than was recorded."""
    students: dict[str, list[str]] = defaultdict(list)
    for submission in submissions:
        students[submission.assignment].append(plaintext.line(submission.student))
    for assignment, names in students.items():
        tell(
            f"{assignment}: {course.book} and {Results.of(course.directory).path} have different scores or times "
            f"for {plaintext.some(names, SHOWN)}. Perhaps the gradebook is an older copy. These students are graded "
            "again. Manual grades that are newer than the copy are lost."
        )


def tell_failing(assignment: str, examinations: list[Examination], tell: Callable[[str], object]) -> None:
    """Say which tests the solution does not pass, as where it runs git: right answers lose their points with it.

    `viva release` says so too, but an assignment may be released with nbgrader.
    """
    if names := sorted(plaintext.quoted(name) for examination in examinations for name in examination.failing):
        tell(
            f"{assignment}: your own solution does not pass {plaintext.some(names, SHOWN)} in grading, so right "
            f"answers may lose points. 'viva audit {assignment}' gives the reason."
        )


@contextlib.contextmanager
def _swept(course: Course) -> Iterator[None]:
    """Before and after, nothing lies around that was being built; in the end the results are in order."""
    leftovers.finish_builds(course.folders_around("autograded"))
    health.quicken(course)
    try:
        yield
        Results.of(course.directory).tidy()
    finally:
        leftovers.finish_builds(course.folders_around("autograded"))


def cores(workers: int | None, most: int) -> int:
    """How many processes share the work: as many as were asked for, else one per core, and no more than ``most``."""
    return max(1, min(workers or len(os.sched_getaffinity(0)), most))


def _without_result(job: Job, marked: Marked | None) -> Ending | None:
    """The ending of a submission that has no result; None where it has one.

    ``marked`` is the answer of the worker; None where its process was killed twice.
    """
    submission, notes = job.submission, job.finding.notes
    if marked is None:
        reason = "its grading process stopped twice. Check this machine (memory, disk), then grade again"
        return Ending(submission, Status.FAILED, reason, notes)
    if marked.passed is None:
        return Ending(submission, Status.FAILED, marked.problem, notes, marked.log)
    if marked.passed.refusal:
        return Ending(submission, Status.REFUSED, marked.passed.refusal, notes)
    return None


class _Batch:
    """The settings and the state that all submissions of a batch share."""

    def __init__(
        self,
        course: Course,
        config: Config,
        released: dict[str, set[str]],
        refused: dict[str, VivaError],
        seeds: dict[str, dict[str, int] | None],
        remote: RemoteGraders | None,
        tell: Callable[[str], object],
    ) -> None:
        self.course, self.config, self.released, self.refused, self.seeds = course, config, released, refused, seeds
        self.remote, self.tell = remote, tell
        assignments = sorted(released)
        require_usual_hidden(config)
        self.converter = Autograde(coursedir=course.directory, config=config, log=logging.getLogger("viva"))
        step = Examine(config=config)
        self.no_sandbox, self.memory, self.budget = step.no_sandbox, step.memory, step.budget
        self.visible_only, self.carries = step.visible_only, step.carries
        if not self.no_sandbox:
            require_sandbox()
        self.seconds = seconds_of(config)
        self.results = Results.of(course.directory)
        self.keys: dict[Submission, str] = {}
        self.findings: dict[Submission, Finding] = {}
        self.digests: dict[Submission, str] = {}
        self.noted: dict[str, seen.Looked] = {}
        with course.gradebook() as gradebook:
            self.expected = {name: Expected.of(gradebook, name) for name in assignments}
            self.held = agreement.held(gradebook, assignments)
        self.contracts = self._contracts()
        self.recorded_keys, self.agreeing = {}, {}
        for record in () if self.converter.force else self.results.each():
            self.recorded_keys[record.place] = None if record.faults else record.key
            self.agreeing[record.place] = record.place in self.held and self.held[record.place].agrees(record)
        steps = (*self.converter.sanitize_preprocessors, *self.converter.autograde_preprocessors)
        self.steps = [step if isinstance(step, str) else f"{step.__module__}.{step.__qualname__}" for step in steps]
        self.grounds = {name: self._ground(name) for name in self.contracts}

    def _contracts(self) -> dict[str, Contract]:
        """By assignment, its contract; an assignment that has none cannot be graded."""
        contracts = {}
        for name, expected in self.expected.items():
            try:
                contracts[name] = contract.of(self.course, name, expected, self.tell)
                self._tell_limits(name, contracts[name].facts.limits)
            except VivaError as error:
                self.refused[name] = error
        return contracts

    def _tell_limits(self, assignment: str, released: dict[str, float]) -> None:
        """Say which limits are others than those of the release, which `viva check` tells students."""
        present = contract.limits_of(self.config)
        for name, unit in (("seconds", "s for a cell"), ("memory", "MB"), ("budget", "s for a whole notebook")):
            if name in released and released[name] != present[name]:
                self.tell(
                    f"{assignment}: released with a limit of {released[name]:g} {unit}, and graded with "
                    f"{present[name]:g} {unit}."
                )

    def _ground(self, assignment: str) -> bytes:
        """A hash of everything beside the submission that its result depends on."""
        settings = f"{ENGINE} {self.seconds} {self.no_sandbox} {self.memory} {self.budget} {self.steps}"
        if self.visible_only:
            settings += " visible"
        if self.carries(assignment):
            settings += " carried"
        if submitted := submitted_files(self.config, assignment):
            settings += f" {sorted(submitted)}"
        kept, release = self.contracts[assignment], self.course.path("release", assignment)
        return ground(kept.folder / contract.NOTEBOOKS, kept.files, release, settings, self.expected[assignment])

    def key(self, submission: Submission) -> str:
        """The key of a submission, computed once before grading: what a student submits meanwhile is graded later."""
        if submission not in self.keys:
            seeds = self.seeds[submission.assignment]
            seed = "" if seeds is None else f"seed {seeds.get(submission.student)}"
            if submission.zones:  # these may have changed since, and with them the meaning of its timestamp.txt
                with contextlib.suppress(SubmissionError):
                    seed += f" at {timestamp.of(submission)}"
            self.keys[submission] = key(self.grounds[submission.assignment], submission.folder, seed)
        return self.keys[submission]

    def note(self, ending: Ending) -> Ending:
        """Note what became of a submission, for ``viva.course.grading.seen``."""
        submission = ending.submission
        done = ending.verdicts or ending.status in (Status.DONE, Status.UNCHANGED)
        status = "graded" if done else str(ending.status)
        key_of_submission = seen.key_of(submission.assignment, submission.student)
        self.noted[key_of_submission] = seen.Looked(status, self.digests.get(submission, ""))
        return ending

    def keep_notes(self) -> None:
        """Write the notes beside the gradebook."""
        seen.note(self.results.path.parent, self.noted)

    def sort(self, submissions: list[Submission], todo: list[Submission]) -> Iterator[Ending]:
        """Put the submissions that are to be graded into ``todo``; yield the endings of all others."""
        differing, links = [], Links(self.course)
        for submission in submissions:
            self.keys.pop(submission, None)
            self.digests[submission] = seen.digest_of(submission.folder)
            if submission.assignment in self.refused:
                yield Ending(submission, Status.FAILED, str(self.refused[submission.assignment]))
                continue
            reason = links.reason(submission)
            finding = Finding((reason,)) if reason else find(submission, self.released[submission.assignment])
            if finding.problem:
                yield Ending(submission, Status.REFUSED, finding.problem, finding.notes)
                continue
            recorded = self.recorded(submission)
            if recorded and self.agrees(submission):
                yield Ending(submission, Status.UNCHANGED, "", finding.notes)
                continue
            if recorded:
                differing.append(submission)
            if warning := self.renamed(submission):
                finding = replace(finding, notes=(*finding.notes, warning))
            self.findings[submission] = finding
            todo.append(submission)
        tell_differing(self.course, differing, self.tell)

    def renamed(self, submission: Submission) -> str:
        """A sentence where a folder holds the graded files of another student whose folder is gone; else empty.

        The points that were given by hand stay with the other name, so a folder that was renamed loses them.
        """
        pair = submission.assignment, submission.student
        if pair in self.held:
            return ""
        for student in self._graded_by_key.get((submission.assignment, self.key(submission)), ()):
            folder = self.course.path("submitted", submission.assignment, student)
            if not folder.exists():
                return (
                    f"it is the submission of {plaintext.quoted(student)}, but the folder {folder} is missing. If "
                    f"you renamed that folder, rename it back to {plaintext.quoted(student)}, because manual "
                    "grades belong to that name"
                )
        return ""

    @functools.cached_property
    def _graded_by_key(self) -> dict[tuple[str, str], list[str]]:
        """By assignment and key of a submission, the students for whom the gradebook has recorded it."""
        students = defaultdict(list)
        for (name, student), recorded_key in self.recorded_keys.items():
            if recorded_key and (name, student) in self.held:
                students[name, recorded_key].append(student)
        return students

    def recorded(self, submission: Submission) -> bool:
        """Whether this was graded, and is there."""
        pair = submission.assignment, submission.student
        graded = self.course.path("autograded", *pair).is_dir()
        return self.recorded_keys.get(pair) == self.key(submission) and graded

    def agrees(self, submission: Submission) -> bool:
        """Whether the gradebook holds what was recorded."""
        pair = submission.assignment, submission.student
        return self.agreeing[pair] and self.held[pair].is_of(submission)

    def _libraries(self, todo: list[Submission], assignments: Iterable[str]) -> dict[str, tuple[str, ...]]:
        """The libraries that the fork servers load; only the examiners' servers load those of the source."""
        released = [path for name in assignments for path in self.course.path("release", name).glob("*.ipynb")]
        complete = [path for name in assignments for path in self.contracts[name].notebooks]
        handed_in = (path for submission in todo for path in libraries.looked_at(submission.folder))
        return {
            "libraries": libraries.wanted(released, handed_in),
            "hidden": libraries.wanted(complete),
        }

    def grade(self, todo: list[Submission], workers: int | None, more: More | None) -> Iterator[list[Ending]]:
        assignments = set(self.contracts) if more else {submission.assignment for submission in todo}
        settings = self.seconds, self.no_sandbox, self.memory, self.budget
        loaded = self._libraries(todo, assignments)
        kept = [self.contracts[name] for name in assignments]
        notebooks, files = [path for each in kept for path in each.notebooks], [each.files for each in kept]
        beside = [path for folder in files for path in walk(folder)]
        given = machine.NOTHING if self.remote else machine.provided(self.config, notebooks, beside)
        count = 1 if self.remote else cores(workers, sys.maxsize if more else len(todo))
        with (
            stopping.postponed(),
            tempfile.TemporaryDirectory(prefix="viva-batch-") as folder,
            contextlib.closing(new_grader(*settings, loaded["libraries"], loaded["hidden"], given)) as grader,
            Workers(
                count,
                lambda number: Marker(self.course, self.config, self.expected, folder, grader.share(number)),
            ) as pool,
            self.remote.for_batch(settings, loaded, Filing(self.course, self.config), self.tell)
            if self.remote
            else contextlib.nullcontext(pool) as graders,
            contextlib.closing(with_retries(lambda: Writer(self.course.directory, self.config))) as writer,
        ):
            waiting: list[tuple[Job, Passed]] = []
            endings: list[Ending] = []
            start = time.monotonic()
            with slow.told(f"Running the solution of {plaintext.some(sorted(assignments), SHOWN)}"):
                material = self._material(pool, assignments, Path(folder), grader)

            def jobs() -> Iterator[Job | None]:
                coming = todo
                while coming or more:
                    for submission in coming:
                        yield Job(submission, self.findings[submission], material[submission.assignment])
                    coming = []
                    if more:
                        endings.extend(self.sort(more(), coming))
                        if not coming:
                            yield None

            groups = pool.follow(jobs()) if graders is pool else ([finished] for finished in graders.map(jobs()))
            for group in groups:
                for job, marked in group:
                    if ending := _without_result(job, marked):
                        endings.append(ending)
                    else:
                        waiting.append((job, marked.passed))
                if len(waiting) >= IN_ONE_TRANSACTION or time.monotonic() - start > 1:
                    endings += self._record(writer, waiting)
                    waiting, start = [], time.monotonic()
                if endings:
                    yield endings.copy()
                    endings.clear()
            if endings := endings + self._record(writer, waiting):
                yield endings

    def _material(
        self, pool: Workers, assignments: set[str], folder: Path, grader: Grader
    ) -> dict[str, Path | VivaError]:
        """By assignment, the file with what workers have to know of it, or why nobody can know that."""
        files: dict[str, Path | VivaError] = {}
        for number, (assignment, data) in enumerate(pool.map(sorted(assignments))):
            files[assignment] = data or BlueprintError(
                "the instructor's notebook stopped Python twice (a crash, exit(), or too much memory)"
            )
            if isinstance(data, bytes):
                files[assignment] = path = folder / f"material-{number}"
                path.write_bytes(data)
                material = Material.from_bytes(data, None if self.remote else self.config)
                examinations = [entry for entry in material.examinations.values() if isinstance(entry, Examination)]
                for examination in examinations:
                    grader.learn(examination)
                tell_failing(assignment, examinations, self.tell)
        if not self.remote:
            require_everyday(grader)
        for sentence in absent_libraries(grader):
            self.tell(f"{sentence}.")
        return files

    def _record(self, writer: Writer, waiting: list[tuple[Job, Passed]]) -> list[Ending]:
        """Save drafts in one transaction; where that fails, each in its own."""
        endings = []
        try:
            writer.record([done.results[1] for _, done in waiting])
        except (SQLAlchemyError, InvalidEntry, VivaError) as error:
            if concerns_all(error):
                raise
            if len(waiting) > 1:
                return [ending for pair in waiting for ending in self._record(writer, [pair])]
            reason = f"the gradebook refused the result: {str(getattr(error, 'orig', error)).splitlines()[0]}"
            return [Ending(job.submission, Status.FAILED, reason, job.finding.notes) for job, _ in waiting]
        if waiting:
            for job, done in waiting:
                done.results[0].key = self.key(job.submission)
                self.recorded_keys.pop(done.results[0].place, None)  # whoever submits again meanwhile is graded again
            self.results.add(done.results[0] for _, done in waiting)
        for job, done in waiting:
            record, _ = done.results
            results = [result for _, _, result in record.results()]
            ungraded = next((result for result in results if result.verdict is Verdict.UNGRADED), None)
            reason = f"the check '{ungraded.title}' is ungraded: {wording.reason(ungraded)}" if ungraded else ""
            status, log = (Status.FAILED if ungraded else Status.DONE), "\n".join(map(str, record.faults))
            notes = (*job.finding.notes, *done.notes)
            verdicts = tuple(result.verdict for result in results)
            repairs = {name: book.repairs for name, book in record.notebooks.items() if book.repairs}
            endings.append(Ending(job.submission, status, reason, notes, log, verdicts, repairs))
        return endings
