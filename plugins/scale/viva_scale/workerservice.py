"""A worker process from within: it does what arrives over a pipe, and ends with its Dask worker."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import sys
import tempfile
from multiprocessing.connection import Connection
from pathlib import Path

import msgspec
from traitlets.utils.importstring import import_item

from viva.course.grading.material import trouble
from viva.course.processes import leftovers, stopping
from viva.course.processes.workers import PR_SET_PDEATHSIG
from viva.verdict import VivaError
from viva_scale.workerprocess import Recent, Reply, Request, Service

MOST_SERVICES = 2
"""The most services that are kept: two batches may take turns."""


class WorkerService:
    """Services by what batches and audits want of them."""

    def __init__(self) -> None:
        self.services: Recent[Service] = Recent(MOST_SERVICES, lambda service: service.close())

    def __call__(self, request: Request) -> Reply:
        try:
            leftovers.require_room(Path(tempfile.gettempdir()))
            settings = request.settings
            return self.services.of(settings, lambda: import_item(settings.service)(settings))(request)
        except VivaError as error:
            return Reply(unfit=str(error))
        except OSError as error:
            return Reply(unfit=trouble(error))

    def close(self) -> None:
        self.services.close()


def main(number: str, maker: str) -> None:
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != int(maker):
        return
    stopping.forget()
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})  # candidates are interrupted with it
    requests = Connection(int(number))
    with contextlib.suppress(EOFError, OSError):  # the worker has ended, or has no use for this worker process any more
        try:
            with leftovers.temporary_folder(), contextlib.closing(WorkerService()) as work:
                requests.send_bytes(b"")
                _serve(requests, work)
        except VivaError as error:
            requests.send_bytes(str(error).encode())


def _serve(requests: Connection, work: WorkerService) -> None:
    while True:
        request = msgspec.msgpack.decode(requests.recv_bytes(), type=Request)
        requests.send_bytes(msgspec.msgpack.encode(work(request)))


if __name__ == "__main__":
    main(*sys.argv[1:])
