"""The workers of a Dask cluster, in place of those of this machine: the same ``map``.

Theory of operation. This process decides which worker grades what, a few submissions ahead, and names the worker in
each task. Dask would choose by itself; but where a worker is lost, it could not tell the submission that ended it from
those that waited behind it. Here those that a lost worker was at are *suspects*, and tried once more, each with nothing
else on its worker. One with which two workers were lost that were at nothing else comes back without a result. All
else that a lost worker had goes to the next.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import hashlib
import uuid
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import msgspec
from distributed import Client
from distributed.scheduler import KilledWorker

from viva.course.cluster import worker as there
from viva.course.cluster.address import Cluster
from viva.course.cluster.crew import CONNECTION, Crew, Seat
from viva.course.cluster.desk import Settings, Told
from viva.course.cluster.scheduler import connected, first_line
from viva.course.filing import Filing
from viva.course.marking import Job, Marked, attempt
from viva.course.material import Material
from viva.course.processes.workers import TRIES
from viva.engine.examination import Examination
from viva.submission.package import pack
from viva.verdict import VivaError

AHEAD = 1
"""Submissions that wait at a worker, beside those that it grades."""
LEAST_PATIENCE = 60.0
MOST_FAULTS = 5
"""So many connections may break off over a submission."""


@dataclass(eq=False)
class Errand:
    """A job on its way."""

    job: Job
    suspect: bool = False
    """A worker was lost while it was at it, and maybe at others."""
    losses: int = 0
    """So many were lost while they were at nothing else."""
    faults: int = 0
    """So many connections broke off."""
    refusals: int = 0
    """So many said that they cannot grade it, and may be at fault themselves."""


@dataclass(frozen=True)
class Known:
    """What workers have to know of an assignment, and how many seconds a submission may take there."""

    digest: str
    data: bytes
    material: Material
    limit: float


class Pool:
    """Use it in a ``with`` block, which raises CourseError where no scheduler answers, and where no worker is of use.

    What came of a job is put away by ``filing``; ``tell`` is given a sentence for each worker that is not used.
    """

    def __init__(
        self,
        cluster: Cluster,
        settings: Settings,
        libraries: tuple[str, ...],
        filing: Filing,
        tell: Callable[[str], object],
    ) -> None:
        self.cluster, self.settings, self.libraries = cluster, settings, libraries
        self.filing, self.tell = filing, tell
        self.todo: deque[Errand] = deque()
        self.suspects: deque[Errand] = deque()
        self.done: deque[tuple[Job, Marked | None]] = deque()
        self.known: dict[Path, Known] = {}

    def __enter__(self) -> Pool:
        with contextlib.ExitStack() as stack:
            self.client: Client = stack.enter_context(connected(self.cluster))
            crew = Crew(self.cluster, self.client, self.settings.no_wall, self.libraries, self._lose, self.tell)
            self.crew = stack.enter_context(contextlib.closing(crew))
            self.crew.wait()
            self.stack = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self.stack.close()

    def map(self, jobs: Iterable[Job]) -> Iterator[tuple[Job, Marked | None]]:
        """Each job with what came of it, as they are finished; None for one with which two workers were lost.

        Raises CourseError when no worker is left, or the scheduler, and Stopped.
        """
        for job in jobs:
            if isinstance(job.material, VivaError):
                self.done.append((job, Marked(problem=str(job.material))))
            else:
                self.todo.append(Errand(job))
        while True:
            while self.done:
                yield self.done.popleft()
            if not (self.todo or self.suspects or any(seat.busy for seat in self.crew.seats.values())):
                return
            self._hand_out()
            self.crew.wait()
            self.crew.hear()

    def _lose(self, seat: Seat, blame: bool = True) -> None:
        """What a worker has gone with is tried by others; to ``blame`` are those submissions that it was at."""
        errands = list(seat.busy.items())
        seat.busy.clear()
        for place, (errand, running) in reversed(list(enumerate(errands))):
            running.cancel()
            suspect = blame and place < seat.threads
            errand.losses += suspect and (seat.threads == 1 or len(errands) == 1)  # no other can have done it
            errand.suspect |= suspect
            if errand.losses >= TRIES:
                self.done.append((errand.job, None))
            else:
                (self.suspects if errand.suspect else self.todo).appendleft(errand)

    def _hand_out(self) -> None:
        """Give every worker enough to do."""
        for seat in sorted(self.crew.seats.values(), key=lambda seat: len(seat.busy) / seat.threads):
            if seat.closed:
                continue
            if self.suspects and not seat.busy:
                seat.alone = True
                self._send(seat, self.suspects.popleft())
            while self.todo and not seat.alone and len(seat.busy) < seat.threads + AHEAD:
                self._send(seat, self.todo.popleft())

    def _send(self, seat: Seat, errand: Errand) -> None:
        self._learn(errand.job.material)
        asking = self._ask(seat, errand, pack(errand.job.submission))
        seat.busy[errand] = running = asyncio.run_coroutine_threadsafe(asking, self.crew.loop)
        running.add_done_callback(lambda running: self.crew.events.put((self._hear_of, seat, errand, running)))

    async def _ask(self, seat: Seat, errand: Errand, package: bytes) -> Told:
        """In Dask's thread: what a worker says of a package."""
        known = self.known[errand.job.material]
        told = Told(lacking=True)
        while told.lacking:
            if known.digest not in seat.taught:
                sending = self.client._run(there.keep, known.digest, known.data, workers=[seat.address])
                seat.taught[known.digest] = asyncio.ensure_future(sending)
            await asyncio.shield(seat.taught[known.digest])
            future = self.client.submit(
                there.grade_there,
                *(msgspec.structs.astuple(self.settings), known.digest, known.limit, package),
                key=f"viva-grade-{uuid.uuid4().hex}",  # no student's name is on a dashboard
                workers=[seat.address],
                pure=False,
            )
            told = Told(*await future)
            if told.lacking:  # it has forgotten it for others
                seat.taught.pop(known.digest, None)
        return told

    def _learn(self, path: Path) -> None:
        """Have an assignment's material at hand."""
        if path not in self.known:
            data = path.read_bytes()
            material = Material.from_bytes(data)
            examinations = [one for one in material.examinations.values() if isinstance(one, Examination)]
            needed = sum(one.budget(self.settings.seconds, self.settings.budget) for one in examinations)
            limit = self.cluster.patience or LEAST_PATIENCE + 2 * needed
            self.known[path] = Known(hashlib.sha256(data).hexdigest(), data, material, limit)

    def _hear_of(self, seat: Seat, errand: Errand, running: concurrent.futures.Future) -> None:
        """What has become of an errand."""
        if seat.busy.get(errand) is not running:
            return  # the worker was lost in between
        try:
            told = running.result()
        except KilledWorker:  # at one address, more often than Dask allows
            done = None
        except CONNECTION:  # who it was is seen with the next look
            self.crew.forget(seat)
            errand.faults += 1
            if errand.faults < MOST_FAULTS:
                self._lose(seat, blame=False)
                return
            done = Marked(problem="the connection to its worker broke off again and again; grade it here")
        except Exception as error:
            done = Marked(problem=f"it could not be graded: {first_line(error)} ({type(error).__name__})")
        else:
            errand.refusals += bool(told.unfit)
            if told.unfit and (not told.marked or errand.refusals < TRIES):
                seat.closed = True
                self.crew.refuse(seat.address, told.unfit)
                self._drop(seat, errand)
                self.todo.appendleft(errand)
                return
            done = self._kept(errand.job, told)
        self._drop(seat, errand)
        self.done.append((errand.job, done))
        if seat is not self.crew.seats.get(seat.address):
            self._lose(seat, blame=False)

    def _drop(self, seat: Seat, errand: Errand) -> None:
        del seat.busy[errand]
        seat.alone = seat.alone and bool(seat.busy)

    def _kept(self, job: Job, told: Told) -> Marked | None:
        """What a worker told, after the graded notebooks are put where they belong; None where it killed two desks."""
        if not told.marked:
            return None
        try:
            marked = msgspec.msgpack.decode(told.marked, type=Marked)
        except msgspec.DecodeError as error:
            return Marked(problem=f"its worker gave an answer that cannot be read: {error}")
        if marked.passed is None or marked.passed.explained:
            return marked
        about, material, graded = job.submission, self.known[job.material].material, marked.passed.graded
        places = {(one.assignment, one.student) for one in (marked.passed.record, graded)}
        if (
            places != {(about.assignment, about.student)}
            or not marked.passed.notebooks.keys() <= material.released.keys()
        ):
            return Marked(problem="its worker gave an answer to something else")
        return attempt(f"{about.assignment}/{about.student}", lambda _: self.filing.add(about, marked.passed, material))
