"""The workers of a cluster as they come and go: who is there is asked every second, and each newcomer what it has.

A worker is used when its address, its versions and its sandbox are right; otherwise a sentence says what is not. Dask's
client runs in a thread of its own. What it has to say comes through a queue, so that Ctrl-C is heard as ever.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import queue
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from distributed import Client
from tornado.platform.asyncio import BaseAsyncIOLoop

from viva.course.processes import stopping
from viva.course.processes.workers import LISTEN
from viva.scale import worker as there
from viva.scale.clusteraddress import Cluster
from viva.scale.scheduler import CONNECT, first_line
from viva.scale.versions import difference, versions
from viva.verdict import ClusterError

LOOK, SILENT = 1.0, 5
"""Seconds from one look at the workers to the next; looks without an answer, until the scheduler counts as gone."""
AGAIN = "Finished work is kept; run the same command again to continue."
CONNECTION = (OSError, TimeoutError, asyncio.CancelledError, concurrent.futures.CancelledError)
"""What Dask raises where a connection is at fault, and no submission."""


@dataclass(eq=False)
class Seat:
    """A worker that is in use, and what it is busy with, in the order in which it was sent."""

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
                    found = await asyncio.wait_for(self.client.scheduler.ncores(), CONNECT)
                except Exception:  # Dask has many for a connection that is no more
                    silent += 1
                else:
                    silent = 0
                    for address in found.keys() - self.asked:
                        asking.create_task(self._admit(address, found[address]))
                    self.asked = set(found)
                    self.events.put((self._look, set(found)))
                await asyncio.sleep(LOOK)
            self.events.put((self._end,))

    async def _admit(self, address: str, threads: int) -> None:
        """Ask a worker what it has, if it may be spoken to."""
        answer: dict | Exception
        if not self.cluster.safe(address):
            answer = ClusterError("it is another machine without TLS; start it with TLS, or use --insecure")
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
            what, *about = self.events.get(timeout=LISTEN)
            while True:
                what(*about)
                what, *about = self.events.get_nowait()

    def wait(self) -> None:
        """Wait until somebody can do something. Raises ClusterError when that does not happen."""
        end = time.monotonic() + self.cluster.wait
        while not any(not seat.closed or seat.busy for seat in self.seats.values()):
            if not self.used and self.present and self.present <= self.refused.keys():
                raise ClusterError(f"No worker of the cluster can be used, for the reasons above. {AGAIN}")
            if time.monotonic() > end:
                raise ClusterError(
                    f"The cluster has no usable worker, and none connected in {self.cluster.wait:.0f} s. Start one "
                    "with "
                    f"'dask worker {self.client.scheduler.address}', or check the workers' logs. {AGAIN}"
                )
            self.hear()

    def _look(self, found: set[str]) -> None:
        self.present = found
        for address in self.seats.keys() - found:
            self.lose(self.seats.pop(address))
        for address in self.refused.keys() - found:
            del self.refused[address]

    def _judge(self, address: str, threads: int, answer: dict | Exception) -> None:
        """Have a seat for a worker, or say why not."""
        if isinstance(answer, ClusterError):
            self.refuse(address, str(answer))
        elif isinstance(answer, Exception):
            self.refuse(address, f"it cannot load this Viva ({first_line(answer)}); install the same version there")
        elif different := difference(self.here, answer):
            self.refuse(address, f"it has other versions: {different}; install the same versions there, and restart it")
        elif answer[there.SANDBOX] == "none" and not self.no_sandbox:
            self.refuse(address, "it cannot sandbox student code; run 'viva doctor' there to see what is missing")
        elif address not in self.seats:
            self.seats[address], self.used = Seat(address, threads), True

    def refuse(self, address: str, fault: str) -> None:
        if address not in self.refused:
            self.refused[address] = fault
            self.tell(f"The worker {address} is not used: {fault.rstrip('.')}.")

    def _end(self) -> None:
        raise ClusterError(f"The scheduler of the cluster stopped answering. {AGAIN}")

    def forget(self, seat: Seat) -> None:
        """Ask once more what there is at its address."""
        self.seats.pop(seat.address, None)
        self.loop.call_soon_threadsafe(self.asked.discard, seat.address)
