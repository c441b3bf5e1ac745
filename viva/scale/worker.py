"""What a Dask worker keeps and does: materials by their hash, and a desk for each of its threads.

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

from viva.sandbox.protection import protection
from viva.scale import versions
from viva.scale.recent import Recent
from viva.scale.workerprocess import Desk, Request, Settings, Told

NAME = "viva-desks"
MOST_MATERIALS = 64
SANDBOX = "wall"
"""Beside the versions in what a worker says of itself: how well it can sandbox student code."""


class Desks(WorkerPlugin):
    """The desks of a worker; they end with it."""

    def setup(self, worker: Worker) -> None:
        self.starter = ThreadPoolExecutor(1, "viva-desks")  # a desk dies with the thread that started it
        self.materials: Recent[bytes] = Recent(MOST_MATERIALS)
        self.all = [Desk(lambda begin: self.starter.submit(begin).result()) for _ in range(worker.state.nthreads)]
        self.free: queue.SimpleQueue[Desk] = queue.SimpleQueue()
        for desk in self.all:
            self.free.put(desk)

    def teardown(self, worker: Worker) -> None:
        for desk in self.all:
            desk.close()
        self.starter.shutdown(wait=False)

    def at_a_desk(self, grade: Callable[[Desk], Told]) -> Told:
        desk = self.free.get()
        try:
            return grade(desk)
        finally:
            self.free.put(desk)


async def prepare(libraries: tuple[str, ...], dask_worker: Worker) -> dict[str, str]:
    """Set up desks, where there are none yet; which versions this worker has, and which SANDBOX."""
    if NAME not in dask_worker.plugins:
        await dask_worker.plugin_add(plugin=Desks(), name=NAME, catch_errors=False)
    level = await asyncio.to_thread(lambda: protection().level)
    return versions.versions(libraries) | {SANDBOX: level}


def _desks(worker: Worker) -> Desks:
    desks = worker.plugins[NAME]
    assert isinstance(desks, Desks)
    return desks


def keep(digest: str, material: bytes, dask_worker: Worker) -> None:
    """Keep an assignment's material for every task that names its hash."""
    _desks(dask_worker).materials.of(digest, lambda: material)


def grade_there(settings: tuple, digest: str, limit: float, package: bytes) -> tuple:
    """Grade a package at a desk of this worker: the fields of a Told."""
    desks = _desks(get_worker())
    material = desks.materials.get(digest)
    if material is None:
        told = Told(lacking=True)
    else:
        request = Request(Settings(*settings), digest, package)
        told = desks.at_a_desk(lambda desk: desk.grade(request, material, limit))
    return told.marked, told.unfit, told.lacking
