"""The workers of a Dask cluster, in place of those of this machine: the same ``map``.

Theory of operation. This process decides which worker does what, a few jobs ahead, and names the worker in
each task. Dask would choose by itself; but where a worker is lost, it could not tell the job that ended it from
those that waited behind it. Here those that a lost worker was at are *suspects*, and tried once more, each with nothing
else on its worker. One with which two workers were lost that were at nothing else comes back without a result. All
else that a lost worker had goes to the next.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import uuid
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import msgspec
from distributed import Client
from distributed.scheduler import KilledWorker

from viva.course.processes.workers import TRIES
from viva.scale import worker as there
from viva.scale.clusteraddress import Cluster
from viva.scale.clusterworkers import CONNECTION, ClusterWorkers, Seat
from viva.scale.scheduler import connected, first_line
from viva.scale.workerprocess import ClusterTask, Known, Settings, Told

AHEAD = 1
"""Jobs that wait at a worker, beside those that it does."""
MOST_FAULTS = 5
"""So many connections may break off over a job."""


@dataclass(eq=False)
class Errand:
    """A job on its way."""

    job: object
    suspect: bool = False
    """A worker was lost while it was at it, and maybe at others."""
    losses: int = 0
    """So many were lost while they were at nothing else."""
    faults: int = 0
    """So many connections broke off."""
    refusals: int = 0
    """So many said that they cannot grade it, and may be at fault themselves."""


class Pool:
    """Use it in a ``with`` block, which raises ClusterError where no scheduler answers, and where no worker is of use.

    What jobs are is the matter of a ``task``; ``tell`` is given a sentence for each worker that is not used.
    """

    def __init__(
        self,
        cluster: Cluster,
        settings: Settings,
        libraries: tuple[str, ...],
        task: ClusterTask[Any],
        tell: Callable[[str], object],
    ) -> None:
        self.cluster, self.settings, self.libraries = cluster, settings, libraries
        self.task, self.tell = task, tell
        self.todo: deque[Errand] = deque()
        self.suspects: deque[Errand] = deque()
        self.done: deque[tuple[object, object]] = deque()

    def __enter__(self) -> Pool:
        with contextlib.ExitStack() as stack:
            self.client: Client = self.cluster.client or stack.enter_context(connected(self.cluster))
            workers = ClusterWorkers(
                self.cluster, self.client, self.settings.no_sandbox, self.libraries, self._lose, self.tell
            )
            self.workers = stack.enter_context(contextlib.closing(workers))
            self.workers.wait()
            self.stack = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self.stack.close()

    def map(self, jobs: Iterable) -> Iterator[tuple[object, object]]:
        """Each job with what came of it, as they are finished; None for one with which two workers were lost.

        Raises ClusterError when no worker is left, or the scheduler, and Stopped.
        """
        for job in jobs:
            if refusal := self.task.refusal(job):
                self.done.append((job, self.task.problem(job, refusal)))
            else:
                self.todo.append(Errand(job))
        while True:
            while self.done:
                yield self.done.popleft()
            if not (self.todo or self.suspects or any(seat.busy for seat in self.workers.seats.values())):
                return
            self._hand_out()
            self.workers.wait()
            self.workers.hear()

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
        for seat in sorted(self.workers.seats.values(), key=lambda seat: len(seat.busy) / seat.threads):
            if seat.closed:
                continue
            if self.suspects and not seat.busy:
                seat.alone = True
                self._send(seat, self.suspects.popleft())
            while self.todo and not seat.alone and len(seat.busy) < seat.threads + AHEAD:
                self._send(seat, self.todo.popleft())

    def _send(self, seat: Seat, errand: Errand) -> None:
        job, task = errand.job, self.task
        asking = self._ask(seat, task.known(job), task.limit(job), task.package(job))
        seat.busy[errand] = running = asyncio.run_coroutine_threadsafe(asking, self.workers.loop)
        running.add_done_callback(lambda running: self.workers.events.put((self._hear_of, seat, errand, running)))

    async def _ask(self, seat: Seat, known: Known, limit: float, package: bytes) -> Told:
        """In Dask's thread: what a worker says of a package."""
        told = Told(lacking=True)
        while told.lacking:
            if known.digest not in seat.taught:
                sending = self.client._run(there.keep, known.digest, known.data, workers=[seat.address])
                seat.taught[known.digest] = asyncio.ensure_future(sending)
            await asyncio.shield(seat.taught[known.digest])
            future = self.client.submit(
                there.grade_there,
                *(msgspec.structs.astuple(self.settings), known.digest, limit, package),
                key=f"viva-grade-{uuid.uuid4().hex}",  # no student's name is on a dashboard
                workers=[seat.address],
                pure=False,
            )
            told = Told(*await future)
            if told.lacking:  # it has forgotten it for others
                seat.taught.pop(known.digest, None)
        return told

    def _hear_of(self, seat: Seat, errand: Errand, running: concurrent.futures.Future) -> None:
        """What has become of an errand."""
        if seat.busy.get(errand) is not running:
            return  # the worker was lost in between
        try:
            told = running.result()
        except KilledWorker:  # at one address, more often than Dask allows
            done = None
        except CONNECTION:  # who it was is seen with the next look
            self.workers.forget(seat)
            errand.faults += 1
            if errand.faults < MOST_FAULTS:
                self._lose(seat, blame=False)
                return
            broken = "the connection to its worker was lost repeatedly; grade it here"
            done = self.task.problem(errand.job, broken)
        except Exception as error:
            sentence = f"it could not be graded: {first_line(error)} ({type(error).__name__})"
            done = self.task.problem(errand.job, sentence)
        else:
            errand.refusals += bool(told.unfit)
            if told.unfit and (not told.marked or errand.refusals < TRIES):
                seat.closed = True
                self.workers.refuse(seat.address, told.unfit)
                self._drop(seat, errand)
                self.todo.appendleft(errand)
                return
            done = self.task.kept(errand.job, told.marked) if told.marked else None  # it killed two worker processes
        self._drop(seat, errand)
        self.done.append((errand.job, done))
        if seat is not self.workers.seats.get(seat.address):
            self._lose(seat, blame=False)

    def _drop(self, seat: Seat, errand: Errand) -> None:
        del seat.busy[errand]
        seat.alone = seat.alone and bool(seat.busy)
