"""Graders in place of this machine's workers: their protocol, and the choice that a configuration makes.

A package adds graders through the door ``viva.graders``. A batch and an audit use them without knowing them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Protocol, Self

from traitlets.config import Config, Configurable

from viva import doors
from viva.course.grading.filing import Filing
from viva.verdict import CourseError

GRADERS = doors.Door(
    "viva.graders",
    adds="machines that grade",
    entry="a class with the protocol `viva.course.grading.remote.RemoteGraders`",
    packages={"cluster": "nbviva-scale"},
)
Settings = tuple[float, bool, int, float]
"""Of a grader: seconds for a cell, whether there is no sandbox, megabytes, seconds for a notebook."""


class Pool(Protocol):
    """Workers of this machine or of others."""

    def map(self, jobs: Iterable) -> Iterator[tuple[Any, Any]]:
        """Each job with its result, as they finish; None for a job with which two workers were lost."""


class RemoteGraders(Protocol):
    """Graders on other machines, in place of this machine's workers (``viva_scale`` has those of a Dask cluster)."""

    settings: tuple[type[Configurable], ...]
    """The settings that a course can make."""
    aliases: dict[str, str]
    """The options of commands that grade, by name, and the settings that they set."""
    flags: dict[str, tuple[dict, str]]
    """The options without a value, as traitlets writes them."""
    insecure: bool
    """Whether hidden tests travel without TLS."""

    @classmethod
    def of(cls, config: Config) -> Self | None:
        """The graders of a configuration, or None where it asks for none. Raises CourseError for unusable ones."""

    def connected(self) -> AbstractContextManager[None]:
        """One connection for all pools of this block. Raises ClusterError."""

    def for_batch(
        self, settings: Settings, loaded: dict[str, tuple[str, ...]], filing: Filing, tell: Callable[[str], object]
    ) -> AbstractContextManager[Pool]:
        """A pool that grades jobs of ``marking`` and puts the graded notebooks away with ``filing``."""

    def for_audit(
        self,
        path: Path,
        data: Path,
        settings: Settings,
        wanted: tuple[str, ...],
        submitted: frozenset[str],
        tell: Callable[[str], object],
    ) -> AbstractContextManager[Pool]:
        """A pool for the trials of an audit of the complete notebook at ``path``, with the libraries ``wanted``.

        The folder ``data`` has the files beside it; those ``submitted`` are the students' own
        (``viva.course.examining.rehearsals.submitted_files``)."""


def kinds() -> list[type[RemoteGraders]]:
    """The kinds of graders that packages add. Raises CourseError."""
    return list(GRADERS.load_all().values())


def settings() -> tuple[type[Configurable], ...]:
    """The settings that a course can make for all kinds of graders."""
    return tuple(setting for kind in kinds() for setting in kind.settings)


def aliases() -> dict[str, str]:
    """The options with a value of all kinds of graders, for a command that grades."""
    return {name: option for kind in kinds() for name, option in kind.aliases.items()}


def flags() -> dict[str, tuple[dict, str]]:
    """The options without a value of all kinds of graders, for a command that grades."""
    return {name: flag for kind in kinds() for name, flag in kind.flags.items()}


def chosen(config: Config) -> RemoteGraders | None:
    """The graders that a configuration selects; None for this machine's workers. Raises CourseError for two kinds."""
    selected = [graders for kind in kinds() if (graders := kind.of(config))]
    if len(selected) > 1:
        names = " and ".join(type(graders).__name__ for graders in selected)
        raise CourseError(f"Select one of these for grading, not both: {names}.")
    return selected[0] if selected else None
