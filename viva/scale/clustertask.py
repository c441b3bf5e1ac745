"""What a cluster is for at a time: what is sent to desks, what they do with it, and what becomes of their answers.

A batch has one duty and an audit another; the pool, the workers and the desks know neither. A duty stays with the
planner. Its *service* is the class that does it at a desk, and goes there by name.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol, TypeVar

from viva.scale.workerprocess import Request, Settings, Told


@dataclass(frozen=True)
class Known:
    """What desks have to know of many jobs, as bytes; they are sent it once."""

    data: bytes

    @cached_property
    def digest(self) -> str:
        return hashlib.sha256(self.data).hexdigest()


Job = TypeVar("Job", contravariant=True)


class Duty(Protocol[Job]):
    service: str
    """Its Service, as it is imported."""

    def refusal(self, job: Job) -> str:
        """Why nobody can do a job, if so."""

    def known(self, job: Job) -> Known:
        """The same object for all jobs that it is about."""

    def limit(self, job: Job) -> float:
        """After how many seconds a desk counts as hung with it."""

    def package(self, job: Job) -> bytes:
        """What a desk is sent of a job beside that."""

    def kept(self, job: Job, answer: bytes) -> object:
        """What came of a job, from a desk's answer, after what there is to keep was put away."""

    def problem(self, job: Job, sentence: str) -> object:
        """What came of a job that no desk could do; or raises, where nothing can go on without it."""


class Service(Protocol):
    """What a desk keeps for a batch or an audit; it raises VivaError or OSError where the machine is not fit for it."""

    def __init__(self, settings: Settings) -> None: ...

    def __call__(self, request: Request) -> Told: ...

    def close(self) -> None: ...
