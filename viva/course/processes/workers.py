"""A pool of worker processes that survives the death of any of them.

Each worker is a fork that serves one job at a time over a pipe. When one dies, its job is given to a
new worker once more; when it dies again, the job comes back without a result. Workers ignore Ctrl-C
and die with the process that made them.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import multiprocessing
import os
import signal
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any, cast

from viva.course.processes import stopping

PR_SET_PDEATHSIG = 1
TRIES = 2
LISTEN = 0.2
"""Seconds until a request to stop is heard."""


class Workers:
    """``count`` processes. Before each fork, ``make(number)`` returns the function that the worker calls for each job.

    If that has a method ``let_go``, it is called here after the fork, to close what is now the worker's. When the
    workers are as many as the processors, each keeps to one: worker, candidate and examiner take turns, and to wake
    the next on another processor costs more than its answer.
    """

    def __init__(self, count: int, make: Callable[[int], Callable]) -> None:
        self.make = make
        processors = sorted(os.sched_getaffinity(0))
        self.processors = (
            [{processor} for processor in processors] if count == len(processors) else [set(processors)] * count
        )
        self.busy: dict[Connection, tuple] = {}
        self.slots: dict[Connection, int] = {}
        self.processes: dict[Connection, BaseProcess] = {}
        for slot in range(count):
            self._begin(slot)

    def _begin(self, slot: int) -> None:
        context = multiprocessing.get_context("fork")  # forks have nbgrader loaded; importing it takes seconds
        ours, theirs = context.Pipe()
        inherited = [ours, *self.processes]
        work = self.make(slot)
        process = context.Process(target=_serve, args=(work, theirs, inherited, os.getpid(), self.processors[slot]))
        process.start()
        getattr(work, "let_go", lambda: None)()
        theirs.close()
        self.processes[ours], self.slots[ours] = process, slot

    def map(self, jobs: Iterable) -> Iterator[tuple[Any, Any]]:
        """Each job with its result, as they are finished; None as the result of a job that killed two workers."""
        for finished in self.follow(jobs):
            yield from finished

    def follow(self, jobs: Iterable) -> Iterator[list[tuple[Any, Any]]]:
        """Yields finished jobs in groups, each as ``map`` yields it; an empty list after LISTEN seconds without one.

        A job is taken when a worker is free. A job that is None stands for none: while others are at work, the next
        one is asked for again.
        """
        coming, again = iter(jobs), deque[tuple]()
        while True:
            stopping.check()
            for connection in self.processes:
                if connection not in self.busy:
                    job, tries = again.popleft() if again else (next(coming, None), TRIES)
                    if job is None:
                        break
                    self.busy[connection] = job, tries
                    with contextlib.suppress(BrokenPipeError):  # noticed below
                        connection.send(job)
            if not self.busy:
                return
            finished = []
            for connection in cast(list[Connection], wait(list(self.busy), LISTEN)):  # of those that it was given
                job, tries = self.busy.pop(connection)
                try:
                    finished.append((job, connection.recv()))
                except (EOFError, OSError):
                    self._replace(connection)
                    if tries > 1:
                        again.append((job, tries - 1))
                    else:
                        finished.append((job, None))
            yield finished

    def _replace(self, connection: Connection) -> None:
        slot = self.slots.pop(connection)
        process = self.processes.pop(connection)
        connection.close()
        process.kill()
        process.join()
        self._begin(slot)

    def close(self) -> None:
        """End all workers: ask the idle ones, kill the others."""
        for connection, process in self.processes.items():
            if connection in self.busy:
                process.kill()
            connection.close()
            process.join(10)
            if process.is_alive():
                process.kill()
                process.join()
        self.processes.clear()
        self.busy.clear()

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _serve(work: Callable, jobs: Connection, inherited: list, parent: int, processors: set[int]) -> None:
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        return
    stopping.forget()
    gc.freeze()  # else a collection copies every page that the fork shares, which takes a tenth of a second
    with contextlib.suppress(OSError):  # one of them may have been taken away by now
        os.sched_setaffinity(0, processors)
    for connection in inherited:
        connection.close()
    with contextlib.suppress(EOFError, ConnectionError):  # reset, where the maker was killed before it read an answer
        while True:
            jobs.send(work(jobs.recv()))
