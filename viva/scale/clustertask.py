"""What a cluster does at a time: what worker processes are sent, what they do with it, what becomes of their answers.

A batch has one task and an audit another; the pool, the workers and the worker processes know neither. A task stays
with the planner. Its *service* is the class that does it at a worker process, and goes there by name.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol, TypeVar

from viva.scale.workerprocess import Request, Settings, Told


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
        """What came of a job, from a worker process's answer, after what there is to keep was put away."""

    def problem(self, job: Job, sentence: str) -> object:
        """What came of a job that no worker process could do; or raises, where nothing can go on without it."""


class Service(Protocol):
    """What a worker process keeps for a batch or an audit; VivaError or OSError: the machine is not fit for it."""

    def __init__(self, settings: Settings) -> None: ...

    def __call__(self, request: Request) -> Told: ...

    def close(self) -> None: ...
