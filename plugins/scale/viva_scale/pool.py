"""The workers of a Dask cluster, in place of those of this machine: the same ``map``.

Theory of operation. This process decides which worker does what, a few jobs ahead, and names the worker in
each task. Dask would choose by itself; but where a worker is lost, it could not tell the job that ended it from
others. Here all jobs that a lost worker had are *suspects*: each is tried once more, with nothing else on its worker.
Where that worker is lost too, the job comes back without a result. Which of them the first worker was at, nobody
knows: Dask may begin two tasks in another order than they were sent in.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import queue
import time
import uuid
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import msgspec
from distributed import Client
from distributed.scheduler import KilledWorker
from tornado.platform.asyncio import BaseAsyncIOLoop

from viva.course.processes import stopping
from viva.course.processes.workers import LISTEN, TRIES
from viva.verdict import ClusterError
from viva_scale import worker as there
from viva_scale.clusteraddress import Cluster
from viva_scale.scheduler import CONNECT, connected, first_line
from viva_scale.versions import difference, versions
from viva_scale.workerprocess import ClusterTask, Known, Reply, Settings

# The workers of a cluster as they come and go: who is there is asked every second, and each newcomer what it has.
#
# A worker is used when its address, its versions and its sandbox are right; otherwise a sentence says what is not.
# Dask's client runs in a thread of its own. What it has to say comes through a queue, so that Ctrl-C is heard as
# ever.

LOOK, SILENT = 1.0, 5
"""Seconds from one look at the workers to the next; looks without an answer, until the scheduler counts as gone."""
AGAIN = "Finished work is kept; run the same command again to continue."
CONNECTION = (OSError, TimeoutError, asyncio.CancelledError, concurrent.futures.CancelledError)
"""What Dask raises where a connection is at fault, and no submission."""


@dataclass(eq=False)
class Seat:
    """A worker that is in use, and the jobs that it was sent."""

    address: str
    threads: int
    busy: dict[object, concurrent.futures.Future] = field(default_factory=dict)
    closed: bool = False
    """It gets nothing more."""
    alone: bool = False
    """It has a suspect, and gets nothing beside that."""
    taught: dict[str, asyncio.Future] = field(default_factory=dict)
    """By hash, the materials that it was sent."""


class ClusterWorkers:
    """Those that may be given work, by address, in ``seats``; close it when it is not needed any more.

    ``lose`` is called with each seat whose worker has gone; ``tell`` is given a sentence for each worker of no use.
    """

    def __init__(
        self,
        cluster: Cluster,
        client: Client,
        no_sandbox: bool,
        libraries: tuple[str, ...],
        lose: Callable[[Seat], object],
        tell: Callable[[str], object],
    ) -> None:
        self.cluster, self.client, self.no_sandbox, self.libraries = cluster, client, no_sandbox, libraries
        self.lose, self.tell = lose, tell
        self.here = versions(libraries)
        loop = client.loop
        assert isinstance(loop, BaseAsyncIOLoop)  # Dask's of any kind
        self.loop = loop.asyncio_loop
        self.events: queue.SimpleQueue[tuple] = queue.SimpleQueue()
        self.seats: dict[str, Seat] = {}
        self.used = False
        """Whether there was a worker of use: then another may come."""
        self.refused: dict[str, str] = {}
        """By address, why a worker is not used."""
        self.present: set[str] = set()
        """The addresses of all workers."""
        self.asked: set[str] = set()
        """Those that were asked what they have; it belongs to Dask's thread."""
        self.watching = asyncio.run_coroutine_threadsafe(self._watch(), self.loop)

    def close(self) -> None:
        self.watching.cancel()
        for seat in self.seats.values():
            for running in seat.busy.values():
                running.cancel()

    # in Dask's thread

    async def _watch(self) -> None:
        """Ask every second who is there, and whether the newcomers may grade."""
        silent = 0
        async with asyncio.TaskGroup() as asking:
            while silent < SILENT:
                try:
                    present = await asyncio.wait_for(self.client.scheduler.ncores(), CONNECT)
                except Exception:  # Dask has many for a lost connection
                    silent += 1
                else:
                    silent = 0
                    for address in present.keys() - self.asked:
                        asking.create_task(self._admit(address, present[address]))
                    self.asked = set(present)
                    self.events.put((self._look, set(present)))
                await asyncio.sleep(LOOK)
            self.events.put((self._end,))

    async def _admit(self, address: str, threads: int) -> None:
        """Ask a worker what it has, if it may be spoken to."""
        answer: dict | Exception
        if not self.cluster.safe(address):
            answer = ClusterError(
                "it is on another machine and has no TLS. Start the worker with TLS, or use --insecure on a "
                "private network"
            )
        else:
            try:
                asking = self.client._run(there.prepare, self.libraries, workers=[address], on_error="return")
                answer = (await asking)[address]
            except KeyError:
                answer = OSError("it disconnected")
            except Exception as error:
                answer = error
        if isinstance(answer, CONNECTION):
            self.asked.discard(address)
        else:
            self.events.put((self._judge, address, threads, answer))

    # in this one

    def hear(self) -> None:
        """Take what there is to hear, waiting a moment for it. Raises Stopped."""
        stopping.check()
        with contextlib.suppress(queue.Empty):
            action, *arguments = self.events.get(timeout=LISTEN)
            while True:
                action(*arguments)
                action, *arguments = self.events.get_nowait()

    def wait(self) -> None:
        """Wait until somebody can do something. Raises ClusterError when that does not happen."""
        end = time.monotonic() + self.cluster.wait
        while not any(not seat.closed or seat.busy for seat in self.seats.values()):
            if not self.used and self.present and self.present <= self.refused.keys():
                raise ClusterError(f"No worker can be used. The reasons are above. {AGAIN}")
            if time.monotonic() > end:
                raise ClusterError(
                    f"The cluster has no usable worker, and none connected in {self.cluster.wait:.0f} s. Start one "
                    f"with 'dask worker {self.client.scheduler.address}', or check the workers' logs. {AGAIN}"
                )
            self.hear()

    def _look(self, present: set[str]) -> None:
        self.present = present
        for address in self.seats.keys() - present:
            self.lose(self.seats.pop(address))
        for address in self.refused.keys() - present:
            del self.refused[address]

    def _judge(self, address: str, threads: int, answer: dict | Exception) -> None:
        """Have a seat for a worker, or say why not."""
        if isinstance(answer, ClusterError):
            self.refuse(address, str(answer))
        elif isinstance(answer, Exception):
            self.refuse(
                address, f"it cannot load this version of Viva ({first_line(answer)}). Install the same version there"
            )
        elif different := difference(self.here, answer):
            self.refuse(
                address, f"it has other versions: {different}. Install the same versions there, then restart the worker"
            )
        elif answer[there.SANDBOX] == "none" and not self.no_sandbox:
            self.refuse(address, "its sandbox does not work. Run 'viva doctor' on that machine to see what is missing")
        elif address not in self.seats:
            self.seats[address], self.used = Seat(address, threads), True

    def refuse(self, address: str, fault: str) -> None:
        if address not in self.refused:
            self.refused[address] = fault
            self.tell(f"The worker {address} was not used: {fault.rstrip('.')}.")

    def _end(self) -> None:
        raise ClusterError(f"The scheduler of the cluster stopped answering. {AGAIN}")

    def forget(self, seat: Seat) -> None:
        """Ask once more what there is at its address."""
        self.seats.pop(seat.address, None)
        self.loop.call_soon_threadsafe(self.asked.discard, seat.address)


AHEAD = 1
"""Jobs that wait at a worker, beside those that it does."""
MOST_FAULTS = 5
"""The most connections that may break off over a job."""


@dataclass(eq=False)
class Errand:
    """A job on its way."""

    job: object
    suspect: bool = False
    """A worker was lost that had it, and maybe others."""
    faults: int = 0
    """The number of connections that broke off."""
    refusals: int = 0
    """The number of workers that could not grade it, and may be at fault themselves."""


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
        """Each job with its result, as they are finished; None for one that two lost workers had, the second alone.

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
        """What a worker has gone with is tried by others; ``blame`` says that a job may have ended it."""
        errands = list(seat.busy.items())
        seat.busy.clear()
        for errand, running in reversed(errands):
            running.cancel()
            if blame and errand.suspect:  # it was alone on the worker
                self.done.append((errand.job, None))
            else:
                errand.suspect |= blame
                self._queue(errand)

    def _queue(self, errand: Errand) -> None:
        """Have an errand tried again, a suspect alone on its worker."""
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

    async def _ask(self, seat: Seat, material: Known, limit: float, package: bytes) -> Reply:
        """In Dask's thread: what a worker says of a package."""
        reply = Reply(lacking=True)
        while reply.lacking:
            if material.digest not in seat.taught:
                sending = self.client._run(there.keep, material.digest, material.data, workers=[seat.address])
                seat.taught[material.digest] = asyncio.ensure_future(sending)
            await asyncio.shield(seat.taught[material.digest])
            future = self.client.submit(
                there.grade_there,
                *(msgspec.structs.astuple(self.settings), material.digest, limit, package),
                key=f"viva-grade-{uuid.uuid4().hex}",  # no student's name is on a dashboard
                workers=[seat.address],
                pure=False,
            )
            reply = Reply(*await future)
            if reply.lacking:  # it has forgotten it for others
                seat.taught.pop(material.digest, None)
        return reply

    def _hear_of(self, seat: Seat, errand: Errand, running: concurrent.futures.Future) -> None:
        """What has become of an errand."""
        if seat.busy.get(errand) is not running:
            return  # the worker was lost in between
        try:
            reply = running.result()
        except KilledWorker:  # at one address, more often than Dask allows
            done = None
        except CONNECTION:  # who it was is seen with the next look
            self.workers.forget(seat)
            errand.faults += 1
            if errand.faults < MOST_FAULTS:
                self._lose(seat, blame=False)
                return
            broken = "the connection to its worker was lost several times. Grade it on this machine"
            done = self.task.problem(errand.job, broken)
        except Exception as error:
            sentence = f"it could not be graded: {first_line(error)} ({type(error).__name__})"
            done = self.task.problem(errand.job, sentence)
        else:
            errand.refusals += bool(reply.unfit)
            if reply.unfit and (not reply.marked or errand.refusals < TRIES):
                seat.closed = True
                self.workers.refuse(seat.address, reply.unfit)
                self._drop(seat, errand)
                self._queue(errand)
                return
            done = self.task.kept(errand.job, reply.marked) if reply.marked else None  # it killed two worker processes
        self._drop(seat, errand)
        self.done.append((errand.job, done))
        if seat is not self.workers.seats.get(seat.address):
            self._lose(seat, blame=False)

    def _drop(self, seat: Seat, errand: Errand) -> None:
        del seat.busy[errand]
        seat.alone = seat.alone and bool(seat.busy)
