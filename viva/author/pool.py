"""Who does the trials of an audit: workers of this machine, or those of a cluster; both have the same ``map``."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from viva.author.dispatch import Trials
from viva.author.trials import Worker, make_grader
from viva.course.processes.workers import Workers
from viva.scale import joining
from viva.scale.address import Cluster

if TYPE_CHECKING:
    from viva.scale.pool import Pool


@contextlib.contextmanager
def pool_of(
    path: Path,
    settings: tuple[float, bool, int, float],
    wanted: tuple[str, ...],
    workers: int | None,
    cluster: Cluster | None,
    tell: Callable[[str], object],
) -> Iterator[Workers | Pool]:
    """A pool for the instructor's notebook at ``path``, as the ``settings`` (seconds of a cell, whether there is no
    wall, megabytes, seconds of a notebook) say, with the libraries ``wanted``. Raises ClusterError.
    """
    seconds, no_wall, memory, budget = settings
    if cluster and cluster.wanted:
        duty, loaded = Trials(cluster, path, seconds, budget), {"libraries": wanted, "hidden": ()}
        with joining.pool_of(cluster, settings, loaded, duty, tell) as pool:
            yield pool
        return
    with (
        tempfile.TemporaryDirectory(prefix="viva-audit-") as folder,
        _scratch(folder),
        contextlib.closing(make_grader(seconds, no_wall, memory, wanted)) as grader,
        Workers(workers or len(os.sched_getaffinity(0)), lambda number: Worker(grader.share(number), path)) as here,
    ):
        yield here


@contextlib.contextmanager
def _scratch(folder: str) -> Iterator[None]:
    """Temporary folders of the workers go into one, so that nothing is left behind."""
    before, tempfile.tempdir = tempfile.tempdir, folder
    try:
        yield
    finally:
        tempfile.tempdir = before
