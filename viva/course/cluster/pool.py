"""The workers of a Dask cluster, in place of those of this machine: the same ``map``.

Theory of operation. This process decides which worker grades what, a few submissions ahead, and names the worker in
each task. Dask would choose by itself; but where a worker is lost, it could not tell the submission that ended it from
those that waited behind it. Here those that a lost worker was at are *suspects*: each is tried once more, with nothing
else on its worker, and one that loses a second worker comes back without a result. All else that a lost worker had
goes to the next. Who is there is asked every second. A worker is used when its address, its versions and its wall are
right; otherwise a sentence says what is not.

Dask's client runs in a thread of its own. What it has to say comes through a queue, so that Ctrl-C is heard as ever.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import hashlib
import queue
import time
import uuid
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import msgspec
from distributed import Client
from distributed.scheduler import KilledWorker

from viva.course.cluster import worker as there
from viva.course.cluster.address import Cluster
from viva.course.cluster.desk import Settings, Told
from viva.course.cluster.scheduler import CONNECT, connected, first_line
from viva.course.cluster.versions import difference, versions
from viva.course.marking import Job, Marked, attempt
from viva.course.material import Material
from viva.course.pipeline import Passed
from viva.course.processes import stopping
from viva.course.processes.workers import LISTEN, TRIES
from viva.engine.examination import Examination
from viva.submission.package import pack
from viva.verdict import CourseError, VivaError

AHEAD = 1
"""Submissions that wait at a worker, beside those that it grades."""
LOOK, SILENT = 1.0, 5
"""Seconds from one look at the workers to the next; looks without an answer, until the scheduler counts as gone."""
LEAST_PATIENCE = 60.0
AGAIN = "What was finished is kept; run the same command again to go on."
CONNECTION = (OSError, TimeoutError, asyncio.CancelledError, concurrent.futures.CancelledError)
"""What Dask raises where a connection is at fault, and no submission."""


@dataclass(eq=False)
class Errand:
    """A job on its way."""

    job: Job
    losses: int = 0
    """So many workers were lost while they were at it."""
    refusals: int = 0
    """So many said that they cannot grade it, and may be at fault themselves."""


@dataclass(eq=False)
class Seat:
    """A worker that is in use, and what it has to do, in the order in which it was sent."""

    address: str
    threads: int
    busy: dict[Errand, concurrent.futures.Future] = field(default_factory=dict)
    closed: bool = False
    """It gets nothing more."""
    alone: bool = False
    """It has a suspect, and gets nothing beside that."""
    taught: dict[str, asyncio.Future] = field(default_factory=dict)
    """By hash, the materials that it was sent."""


class Pool:
    """Use it in a ``with`` block, which raises CourseError where no scheduler answers, and where no worker is of use.

    ``keep`` puts away what came of a job; ``tell`` is given a sentence for each worker that is not used.
    """

    def __init__(
        self,
        cluster: Cluster,
        settings: Settings,
        libraries: tuple[str, ...],
        keep: Callable[[Job, Passed], Passed],
        tell: Callable[[str], object],
    ) -> None:
        self.cluster, self.settings, self.keep, self.tell = cluster, settings, keep, tell
        self.here = versions(libraries)
        self.libraries = libraries
        self.events: queue.SimpleQueue[tuple] = queue.SimpleQueue()
        self.seats: dict[str, Seat] = {}
        self.used = False
        """Whether there was a worker of use: then another may come."""
        self.refused: dict[str, str] = {}
        """By address, why a worker is not used."""
        self.present: set[str] = set()
        """The addresses of all workers; what is not in ``asked`` is looked at with the next look."""
        self.asked: set[str] = set()
        self.jobs: Iterator[Job] = iter(())
        self.todo: deque[Errand] = deque()
        self.suspects: deque[Errand] = deque()
        self.done: deque[tuple[Job, Marked | None]] = deque()
        self.materials: dict[Path, tuple[str, bytes, float]] = {}

    def __enter__(self) -> Pool:
        with contextlib.ExitStack() as stack:
            self.client: Client = stack.enter_context(connected(self.cluster))
            self.loop = self.client.loop.asyncio_loop
            watching = asyncio.run_coroutine_threadsafe(self._watch(), self.loop)
            stack.callback(watching.cancel)
            stack.callback(self._leave)
            self._wait_for_seat()
            self.stack = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self.stack.close()

    def _leave(self) -> None:
        for seat in self.seats.values():
            for running in seat.busy.values():
                running.cancel()

    def map(self, jobs: Iterable[Job]) -> Iterator[tuple[Job, Marked | None]]:
        """Each job with what came of it, as they are finished; None for one with which two workers were lost.

        Raises CourseError when no worker is left, or the scheduler, and Stopped.
        """
        self.jobs = iter(jobs)
        while True:
            more = self._hand_out()
            while self.done:
                yield self.done.popleft()
            if not (more or self.suspects or any(seat.busy for seat in self.seats.values())):
                return
            self._wait_for_seat()
            self._hear()

    # in Dask's thread

    async def _watch(self) -> None:
        """Ask every second who is there, and whether the newcomers may grade."""
        silent = 0
        while silent < SILENT:
            try:
                found = await asyncio.wait_for(self.client.scheduler.ncores(), CONNECT)
            except Exception:
                silent += 1
            else:
                silent = 0
                new = found.keys() - self.asked
                self.asked = set(found)
                self.events.put((self._look, set(found)))
                await asyncio.gather(*(self._admit(address, found[address]) for address in new))
            await asyncio.sleep(LOOK)
        self.events.put((self._end,))

    async def _admit(self, address: str, threads: int) -> None:
        """Ask a worker what it has, if it may be spoken to."""
        answer: dict | Exception
        if not self.cluster.processes and not self.cluster.safe(address):
            answer = CourseError("it is another machine without TLS; start it with TLS, or say --insecure")
        else:
            try:
                asking = self.client._run(there.prepare, self.libraries, workers=[address], on_error="return")
                answer = (await asking)[address]
            except (*CONNECTION, KeyError) as error:  # it has gone again, or the scheduler
                answer = OSError(str(error))
        if isinstance(answer, CONNECTION):
            self.asked.discard(address)
        else:
            self.events.put((self._judge, address, threads, answer))

    async def _ask(self, seat: Seat, errand: Errand, package: bytes) -> Told:
        """What a worker says of a package."""
        digest, material, limit = self.materials[errand.job.material]
        told = Told(lacking=True)
        while told.lacking:
            if digest not in seat.taught:
                sending = self.client._run(there.keep, digest, material, workers=[seat.address])
                seat.taught[digest] = asyncio.ensure_future(sending)
            await asyncio.shield(seat.taught[digest])
            future = self.client.submit(
                there.grade_there,
                *(msgspec.structs.astuple(self.settings), digest, limit, package),
                key=f"viva-grade-{uuid.uuid4().hex}",  # no student's name is on a dashboard
                workers=[seat.address],
                pure=False,
            )
            told = Told(*await future)
            if told.lacking:  # it has forgotten it for others
                seat.taught.pop(digest, None)
        return told

    # what it says, in this one

    def _hear(self) -> None:
        """Take what there is to hear, waiting a moment for it. Raises Stopped."""
        stopping.check()
        with contextlib.suppress(queue.Empty):
            what, *about = self.events.get(timeout=LISTEN)
            while True:
                what(*about)
                what, *about = self.events.get_nowait()

    def _wait_for_seat(self) -> None:
        """Wait until somebody can do something. Raises CourseError when that does not happen."""
        end = time.monotonic() + self.cluster.wait
        while not any(not seat.closed or seat.busy for seat in self.seats.values()):
            if not self.used and self.present and self.present <= self.refused.keys():
                raise CourseError(f"No worker of the cluster can be used, for the reasons above. {AGAIN}")
            if time.monotonic() > end:
                raise CourseError(
                    f"The cluster has no worker of use, and none came in {self.cluster.wait:.0f} s. Start one with 'dask "
                    f"worker {self.client.scheduler.address}', or see in their logs why they ended. {AGAIN}"
                )
            self._hear()

    def _look(self, found: set[str]) -> None:
        self.present = found
        for address in self.seats.keys() - found:
            self._lose(self.seats.pop(address), blame=True)
        for address in self.refused.keys() - found:
            del self.refused[address]

    def _judge(self, address: str, threads: int, answer: dict | Exception) -> None:
        """Use a worker, or say why not."""
        if isinstance(answer, CourseError):
            self._refuse(address, str(answer))
        elif isinstance(answer, Exception):
            self._refuse(address, f"it cannot load this Viva ({first_line(answer)}); install the same there")
        elif different := difference(self.here, answer):
            self._refuse(address, f"it has other versions: {different}; install the same there, and start it again")
        elif answer[there.WALL] == "none" and not self.settings.no_wall:
            self._refuse(address, "it cannot wall student code in; 'viva doctor' says there what is missing")
        elif address not in self.seats:
            self.seats[address], self.used = Seat(address, threads), True

    def _refuse(self, address: str, fault: str) -> None:
        if address not in self.refused:
            self.refused[address] = fault
            self.tell(f"The worker {address} is not used: {fault.rstrip('.')}.")

    def _end(self) -> None:
        raise CourseError(f"The scheduler of the cluster does not answer any more. {AGAIN}")

    def _lose(self, seat: Seat, blame: bool) -> None:
        """What a worker has gone with is tried by others; to ``blame`` are those submissions that it was at."""
        errands = list(seat.busy.items())
        seat.busy.clear()
        for place, (errand, running) in reversed(list(enumerate(errands))):
            running.cancel()
            guilty = blame and place < seat.threads
            errand.losses += guilty
            if errand.losses >= TRIES:
                self.done.append((errand.job, None))
            else:
                (self.suspects if errand.losses else self.todo).appendleft(errand)

    # submissions

    def _hand_out(self) -> bool:
        """Give every worker enough to do; whether anything is left."""
        left = True
        for seat in sorted(self.seats.values(), key=lambda seat: len(seat.busy) / seat.threads):
            if seat.closed:
                continue
            if self.suspects and not seat.busy:
                seat.alone = True
                self._send(seat, self.suspects.popleft())
            while left and not seat.alone and len(seat.busy) < seat.threads + AHEAD:
                if left := (errand := self._next()) is not None:
                    self._send(seat, errand)
        return left

    def _next(self) -> Errand | None:
        if self.todo:
            return self.todo.popleft()
        for job in self.jobs:
            if not isinstance(job.material, VivaError):
                return Errand(job)
            self.done.append((job, Marked(problem=str(job.material))))
        return None

    def _send(self, seat: Seat, errand: Errand) -> None:
        self._learn(errand.job.material)
        asking = self._ask(seat, errand, pack(errand.job.submission))
        seat.busy[errand] = running = asyncio.run_coroutine_threadsafe(asking, self.loop)
        running.add_done_callback(lambda running: self.events.put((self._hear_of, seat, errand, running)))

    def _learn(self, path: Path) -> None:
        """Have an assignment's material at hand, with its hash, and how many seconds a submission may take."""
        if path not in self.materials:
            data = path.read_bytes()
            known = [one for one in Material.from_bytes(data).examinations.values() if isinstance(one, Examination)]
            needed = sum(one.budget(self.settings.seconds, self.settings.budget) for one in known)
            limit = self.cluster.patience or LEAST_PATIENCE + 2 * needed
            self.materials[path] = hashlib.sha256(data).hexdigest(), data, limit

    def _hear_of(self, seat: Seat, errand: Errand, running: concurrent.futures.Future) -> None:
        """What has become of an errand."""
        if seat.busy.get(errand) is not running:
            return  # the worker was lost in between
        try:
            told = running.result()
        except KilledWorker:  # at one address, more often than Dask allows
            done = None
        except CONNECTION:  # who it was is seen with the next look
            self.seats.pop(seat.address, None)
            self.loop.call_soon_threadsafe(self.asked.discard, seat.address)
            self._lose(seat, blame=False)
            return
        except Exception as error:
            done = Marked(problem=f"it could not be graded: {first_line(error)} ({type(error).__name__})")
        else:
            errand.refusals += bool(told.unfit)
            if told.unfit and (not told.marked or errand.refusals < TRIES):
                seat.closed = True
                self._refuse(seat.address, told.unfit)
                self._drop(seat, errand)
                self.todo.appendleft(errand)
                return
            done = self._kept(errand.job, told)
        self._drop(seat, errand)
        self.done.append((errand.job, done))

    def _drop(self, seat: Seat, errand: Errand) -> None:
        del seat.busy[errand]
        seat.alone = seat.alone and bool(seat.busy)

    def _kept(self, job: Job, told: Told) -> Marked | None:
        """What a worker told, after the graded notebooks are put where they belong; None where it killed two desks."""
        if not told.marked:
            return None
        marked = msgspec.msgpack.decode(told.marked, type=Marked)
        if marked.passed is None or marked.passed.explained:
            return marked
        return attempt(f"{job.submission.assignment}/{job.submission.student}", lambda _: self.keep(job, marked.passed))
