"""A desk from within: it does what comes over a pipe, and ends with the Dask worker that started it."""

from __future__ import annotations

import contextlib
import ctypes
import importlib
import os
import signal
import sys
import tempfile
from collections import OrderedDict
from multiprocessing.connection import Connection
from pathlib import Path

import msgspec

from viva.course.cluster.desk import Request, Settings, Told
from viva.course.cluster.duty import Service
from viva.course.marking import trouble
from viva.course.processes import leftovers, stopping
from viva.course.processes.workers import PR_SET_PDEATHSIG
from viva.verdict import VivaError

MOST_SERVICES = 2
"""So many are kept: two batches may take turns."""


class DeskWork:
    """Services by what batches and audits want of them."""

    def __init__(self) -> None:
        self.services: OrderedDict[Settings, Service] = OrderedDict()

    def __call__(self, request: Request) -> Told:
        try:
            leftovers.require_room(Path(tempfile.gettempdir()))
            return self._service(request.settings)(request)
        except VivaError as error:
            return Told(unfit=str(error))
        except OSError as error:
            return Told(unfit=trouble(error))

    def _service(self, settings: Settings) -> Service:
        if settings not in self.services:
            while len(self.services) >= MOST_SERVICES:
                self.services.popitem(last=False)[1].close()
            module, name = settings.service.split(":")
            self.services[settings] = getattr(importlib.import_module(module), name)(settings)
        self.services.move_to_end(settings)
        return self.services[settings]

    def close(self) -> None:
        for service in self.services.values():
            service.close()


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
