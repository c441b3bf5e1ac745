"""What graders on other machines have to be, so that a batch and an audit can use them without knowing them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Protocol

from viva.course.filing import Filing

Settings = tuple[float, bool, int, float]
"""Of a grader: seconds for a cell, whether there is no sandbox, megabytes, seconds for a notebook."""


class Pool(Protocol):
    """Workers of this machine or of others."""

    def map(self, jobs: Iterable) -> Iterator[tuple[Any, Any]]:
        """Each job with its result, as they finish; None for a job with which two workers were lost."""


class RemoteGraders(Protocol):
    """Graders on other machines, in place of this machine's workers; a command provides them (``viva.scale``)."""

    insecure: bool
    """Whether hidden tests travel without TLS."""

    def connected(self) -> AbstractContextManager[None]:
        """One connection for all pools of this block. Raises ClusterError."""

    def for_batch(
        self, settings: Settings, loaded: dict[str, tuple[str, ...]], filing: Filing, tell: Callable[[str], object]
    ) -> AbstractContextManager[Pool]:
        """A pool that grades jobs of ``viva.course.marking`` and puts the graded notebooks away with ``filing``."""

    def for_audit(
        self, path: Path, settings: Settings, wanted: tuple[str, ...], tell: Callable[[str], object]
    ) -> AbstractContextManager[Pool]:
        """A pool for the trials of an audit of the instructor's notebook at ``path``."""
