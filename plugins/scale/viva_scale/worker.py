"""A Dask worker: it keeps materials by their hash, and a worker process for each of its threads.

All of this is called by Dask, by name, where a batch asks for it; what comes from there is trusted, as everything that
a Dask cluster is asked to do.
"""

from __future__ import annotations

import asyncio
import queue
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from distributed import Worker, get_worker
from distributed.diagnostics.plugin import WorkerPlugin

from viva.sandbox.protection import forget, protection
from viva_scale import versions
from viva_scale.workerprocess import Recent, Reply, Request, Settings, WorkerProcess

NAME = "viva-worker-processes"
MOST_MATERIALS = 64
SANDBOX = "sandbox"
"""Beside the versions in what a worker says of itself: how well it can sandbox student code."""


class WorkerProcesses(WorkerPlugin):
    """The worker processes of a worker; they end with it."""

    def setup(self, worker: Worker) -> None:
        self.starter = ThreadPoolExecutor(1, NAME)  # a worker process dies with the thread that started it
        self.materials: Recent[bytes] = Recent(MOST_MATERIALS)
        self.all = [
            WorkerProcess(lambda begin: self.starter.submit(begin).result()) for _ in range(worker.state.nthreads)
        ]
        self.free: queue.SimpleQueue[WorkerProcess] = queue.SimpleQueue()
        for process in self.all:
            self.free.put(process)

    def teardown(self, worker: Worker) -> None:
        for process in self.all:
            process.close()
        self.starter.shutdown(wait=False)

    def with_process(self, grade: Callable[[WorkerProcess], Reply]) -> Reply:
        process = self.free.get()
        try:
            return grade(process)
        finally:
            self.free.put(process)


async def prepare(libraries: tuple[str, ...], dask_worker: Worker) -> dict[str, str]:
    """Set up worker processes, where there are none yet; which versions this worker has, and which SANDBOX."""
    if NAME not in dask_worker.plugins:
        await dask_worker.plugin_add(plugin=WorkerProcesses(), name=NAME, catch_errors=False)
    forget()  # a machine changes, and a worker lives for long
    level = await asyncio.to_thread(lambda: protection().level)
    return versions.versions(libraries) | {SANDBOX: level}


def _processes(worker: Worker) -> WorkerProcesses:
    processes = worker.plugins[NAME]
    assert isinstance(processes, WorkerProcesses)
    return processes


def keep(digest: str, material: bytes, dask_worker: Worker) -> None:
    """Keep an assignment's material for every task that names its hash."""
    _processes(dask_worker).materials.of(digest, lambda: material)


def grade_there(settings: tuple, digest: str, limit: float, package: bytes) -> tuple:
    """Grade a package at a worker process of this worker: the fields of a Reply."""
    processes = _processes(get_worker())
    material = processes.materials.get(digest)
    if material is None:
        reply = Reply(lacking=True)
    else:
        request = Request(Settings(*settings), digest, package)
        reply = processes.with_process(lambda process: process.grade(request, material, limit))
    return reply.marked, reply.unfit, reply.lacking
