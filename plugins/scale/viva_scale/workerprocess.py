"""A worker process, as its Dask worker sees it: a grading process beside it.

The process is started by exec, since a Dask worker has threads and must not fork, and dies with the worker. What goes
over the pipe is msgpack, but for the material. A worker process that hangs or dies is replaced, and its submission
tried there once more; then it comes back as one that killed two.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import subprocess
import sys
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from multiprocessing import Pipe
from typing import Any, Generic, Protocol, TypeVar

import msgspec
from msgspec import Struct

from viva.course.processes.workers import TRIES

GRACE = 60.0
"""Seconds more that a worker process may take for its first submission: its fork servers load libraries."""


class Settings(Struct, frozen=True):
    """What a batch or an audit wants of a worker process: its ``service`` (ClusterTask), and what that needs."""

    service: str
    seconds: float
    no_sandbox: bool
    memory: int
    budget: float
    libraries: tuple[str, ...]
    hidden: tuple[str, ...]


class Request(Struct):
    """A package to grade; ``material`` comes where the worker process said that it lacks it."""

    settings: Settings
    digest: str
    package: bytes
    material: bytes = b""


class Reply(Struct):
    """What a worker process says of a package: its service's answer as bytes, or that it killed two worker processes.

    ``unfit`` is a sentence where it may be the machine that is at fault, ``lacking`` says that the material is missing.
    """

    marked: bytes = b""
    unfit: str = ""
    lacking: bool = False


class WorkerProcess:
    """A process that grades one package at a time; it is started when it is first needed."""

    def __init__(self, start: Callable[[Callable], object]) -> None:
        """``start`` calls a function in a thread that lives as long as the worker: the process dies with the thread."""
        self.start = start
        self.process: subprocess.Popen | None = None

    def grade(self, request: Request, material: bytes, limit: float) -> Reply:
        """The result of a package; ``limit`` are the seconds that it may take."""
        for _ in range(TRIES):
            with contextlib.suppress(EOFError, OSError, msgspec.DecodeError):
                return self._ask(request, material, limit)
            self.close()
        return Reply()

    def _ask(self, request: Request, material: bytes, limit: float) -> Reply:
        if self.process is None or self.process.poll() is not None:  # it died between two submissions
            self.close()
            if fault := self._open():
                return Reply(unfit=fault)
        reply = self._answer(request, limit)
        if reply.lacking:
            request.material, limit = material, limit + GRACE
            reply = self._answer(request, limit)
            request.material = b""
        return reply

    def _answer(self, request: Request, limit: float) -> Reply:
        self.pipe.send_bytes(msgspec.msgpack.encode(request))
        if not self.pipe.poll(limit):
            raise EOFError
        return msgspec.msgpack.decode(self.pipe.recv_bytes(), type=Reply)

    def _open(self) -> str:
        """Start the process; why it cannot grade, if so."""
        self.start(self._begin)
        try:
            fault = self.pipe.recv_bytes().decode() if self.pipe.poll(GRACE) else "its grading process did not start"
        except (EOFError, OSError):
            fault = "its grading process stopped at once. See the worker's log"
        if fault:
            self.close()
        return fault

    def _begin(self) -> None:
        self.pipe, theirs = Pipe()
        with theirs:
            number = theirs.fileno()
            command = [sys.executable, "-P", "-m", "viva_scale.workerservice", str(number), str(os.getpid())]
            self.process = subprocess.Popen(
                command, pass_fds=[number], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, start_new_session=True
            )

    def close(self) -> None:
        if self.process:
            self.pipe.close()
            self.process.kill()
            self.process.wait()
            self.process = None


# What a cluster does at a time: what worker processes are sent, what they do with it, what becomes of their answers.
#
# A batch has one task and an audit another; the pool, the workers and the worker processes know neither. A task stays
# with the planner. Its *service* is the class that does it at a worker process, and goes there by name.


@dataclass(frozen=True)
class Known:
    """What worker processes have to know of many jobs, as bytes; they are sent it once."""

    data: bytes

    @cached_property
    def digest(self) -> str:
        return hashlib.sha256(self.data).hexdigest()


Job = TypeVar("Job", contravariant=True)


class ClusterTask(Protocol[Job]):
    service: str
    """Its Service, as it is imported."""

    def refusal(self, job: Job) -> str:
        """Why nobody can do a job, if so."""

    def known(self, job: Job) -> Known:
        """The same object for all jobs that it is about."""

    def limit(self, job: Job) -> float:
        """After how many seconds a worker process counts as hung with it."""

    def package(self, job: Job) -> bytes:
        """What a worker process is sent of a job beside that."""

    def kept(self, job: Job, answer: bytes) -> object:
        """The result of a job, from a worker process's answer, after what there is to keep was put away."""

    def problem(self, job: Job, sentence: str) -> object:
        """The result of a job that no worker process could do; or raises, where nothing can go on without it."""


class Service(Protocol):
    """What a worker process keeps for a batch or an audit; VivaError or OSError: the machine is not fit for it."""

    def __init__(self, settings: Settings) -> None: ...

    def __call__(self, request: Request) -> Reply: ...

    def close(self) -> None: ...


# What was used last, by key: as much as there is room for.

Value = TypeVar("Value")


class Recent(OrderedDict[Any, Value], Generic[Value]):
    """At most so many values by key; the one that was not used for longest is let go for another."""

    def __init__(self, most: int, let_go: Callable[[Value], object] = lambda value: None) -> None:
        super().__init__()
        self.most, self.let_go = most, let_go

    def of(self, key: object, make: Callable[[], Value]) -> Value:
        """The value of a key, made where there is none."""
        if key not in self:
            self._leave(self.most - 1)
            self[key] = make()
        self.move_to_end(key)
        return self[key]

    def close(self) -> None:
        self._leave(0)

    def _leave(self, most: int) -> None:
        while len(self) > most:
            self.let_go(self.popitem(last=False)[1])
