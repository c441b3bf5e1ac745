"""A desk from within: it grades what comes over a pipe, and ends with the Dask worker that started it."""

from __future__ import annotations

import contextlib
import ctypes
import logging
import os
import signal
import sys
import tempfile
from collections import OrderedDict
from multiprocessing.connection import Connection
from pathlib import Path

import msgspec

from viva.course.cluster.desk import Request, Settings, Told
from viva.course.graders import new_grader
from viva.course.marking import attempt, trouble
from viva.course.material import Material
from viva.course.pipeline import Passed, grade
from viva.course.processes import leftovers, stopping
from viva.course.processes.workers import PR_SET_PDEATHSIG
from viva.engine.examination import Examination
from viva.engine.grading import Grader
from viva.verdict import VivaError

MOST_GRADERS, MOST_MATERIALS = 2, 16
"""So many are kept: two batches may take turns."""


class DeskWork:
    """Warm graders by what batches want of them, and materials."""

    def __init__(self) -> None:
        self.graders: OrderedDict[Settings, tuple[Grader, set[str]]] = OrderedDict()
        self.materials: OrderedDict[str, Material] = OrderedDict()

    def __call__(self, request: Request) -> Told:
        if not request.material and request.digest not in self.materials:
            return Told(lacking=True)
        try:
            leftovers.require_room(Path(tempfile.gettempdir()))
            grader, learnt = self._grader(request.settings)
        except VivaError as error:
            return Told(unfit=str(error))
        except OSError as error:
            return Told(unfit=trouble(error))
        faults: list[OSError | MemoryError] = []
        marked = attempt("submission", lambda log: self._grade(request, grader, learnt, faults, log))
        unfit = ": ".join(filter(None, (type(faults[0]).__name__, str(faults[0])))) if faults else ""
        return Told(msgspec.msgpack.encode(marked), unfit)

    def _grade(self, request: Request, grader: Grader, learnt: set[str], faults: list, log: logging.Logger) -> Passed:
        try:
            material = self._material(request)
            if request.digest not in learnt:
                for known in material.examinations.values():
                    if isinstance(known, Examination):
                        grader.learn(known)
                learnt.add(request.digest)
            return msgspec.msgpack.decode(grade(request.package, material, grader, log), type=Passed)
        except (OSError, MemoryError) as error:
            faults.append(error)
            raise

    def _material(self, request: Request) -> Material:
        if request.digest not in self.materials:
            while len(self.materials) >= MOST_MATERIALS:
                self.materials.popitem(last=False)
            self.materials[request.digest] = Material.from_bytes(request.material)
        self.materials.move_to_end(request.digest)
        return self.materials[request.digest]

    def _grader(self, settings: Settings) -> tuple[Grader, set[str]]:
        """The grader, and the digests of the materials that its warm parents know."""
        if settings not in self.graders:
            while len(self.graders) >= MOST_GRADERS:
                self.graders.popitem(last=False)[1][0].close()
            one = settings
            libraries = {"libraries": one.libraries, "hidden": one.hidden}
            self.graders[one] = new_grader(one.seconds, one.no_wall, one.memory, one.budget, **libraries), set()
        self.graders.move_to_end(settings)
        return self.graders[settings]

    def close(self) -> None:
        for grader, _ in self.graders.values():
            grader.close()


def main(number: str, maker: str) -> None:
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != int(maker):
        return
    stopping.forget()
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})  # candidates are interrupted with it
    requests = Connection(int(number))
    with contextlib.suppress(EOFError, OSError):  # the worker has ended, or has no use for this desk any more
        try:
            with leftovers.temporary_folder(), contextlib.closing(DeskWork()) as work:
                requests.send_bytes(b"")
                _serve(requests, work)
        except VivaError as error:
            requests.send_bytes(str(error).encode())


def _serve(requests: Connection, work: DeskWork) -> None:
    while True:
        request = msgspec.msgpack.decode(requests.recv_bytes(), type=Request)
        requests.send_bytes(msgspec.msgpack.encode(work(request)))


if __name__ == "__main__":
    main(*sys.argv[1:])
