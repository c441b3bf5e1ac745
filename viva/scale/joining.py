"""Joining a cluster: the way to it held open, and its workers as a pool. Dask is loaded where one is wanted."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from viva.scale.address import Cluster
from viva.scale.desk import Settings
from viva.scale.duty import Duty

if TYPE_CHECKING:
    from viva.scale.pool import Pool


@contextlib.contextmanager
def connected(cluster: Cluster) -> Iterator[None]:
    """The way to a cluster, if one is wanted, stays open for all pools of this block. Raises ClusterError."""
    if not cluster.wanted:
        yield
        return
    from viva.scale import scheduler

    with scheduler.connected(cluster) as cluster.client:
        try:
            yield
        finally:
            cluster.client = None


def pool_of(
    cluster: Cluster, settings: tuple, loaded: dict[str, tuple[str, ...]], duty: Duty, tell: Callable[[str], object]
) -> Pool:
    """Its workers, to do a ``duty`` as the ``settings`` of a grader say, with the libraries ``loaded``."""
    from viva.scale.pool import Pool
    from viva.scale.versions import distributions

    names = distributions({*loaded["libraries"], *loaded["hidden"]})
    return Pool(cluster, Settings(duty.service, *settings, **loaded), names, duty, tell)
