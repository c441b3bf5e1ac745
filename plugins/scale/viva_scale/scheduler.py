"""The connection to a scheduler: found or started, checked, and closed."""

from __future__ import annotations

import contextlib
import logging
import signal
import tempfile
import warnings
from collections.abc import Iterator
from multiprocessing import resource_tracker

import dask
from distributed import Client, LocalCluster
from distributed.security import Security
from distributed.versions import VersionMismatchWarning

from viva.verdict import ClusterError
from viva_scale.clusteraddress import EXTRA, Cluster
from viva_scale.versions import difference, versions

CONNECT = 10.0
"""Seconds to reach a scheduler."""
UNWATCHED = {
    "distributed.worker.profile.enabled": False,
    "distributed.admin.system-monitor.interval": "5s",
    "distributed.admin.tick.interval": "500ms",
    "distributed.worker.memory.monitor-interval": "1s",
}
"""What Dask measures of itself for its dashboard takes some hundredths of each core."""
QUIET = ("distributed", "distributed.client", "distributed.core", "distributed.comm", "distributed.batched")


@contextlib.contextmanager
def connected(cluster: Cluster) -> Iterator[Client]:
    """A client of the cluster's scheduler. Raises ClusterError where none answers, or it is not one for this Viva."""
    with contextlib.ExitStack() as stack:
        for name in QUIET:  # what matters is said in sentences
            log = logging.getLogger(name)
            stack.callback(log.setLevel, log.level)
            log.setLevel(logging.CRITICAL)
        stack.enter_context(dask.config.set({"distributed.admin.large-graph-warning-threshold": "10GB"}))
        url, security = _started(cluster, stack) if cluster.processes else (cluster.url(), None)
        security = security or cluster.security(url)
        try:
            with warnings.catch_warnings(action="ignore", category=VersionMismatchWarning):  # ``difference`` says it
                client = Client(url, security=security, timeout=CONNECT, set_as_default=False, name="viva")
        except (OSError, TimeoutError, ValueError, RuntimeError) as error:
            raise ClusterError(
                f"No cluster answers at {url} ({first_line(error)}). Start 'dask scheduler' there, and 'dask "
                "worker' on each machine (docs/cluster.md), or use the address that the scheduler printed. Nothing "
                "was sent."
            ) from None
        stack.callback(client.close, timeout=2)
        _require_same(client, url)
        yield client


def _started(cluster: Cluster, stack: contextlib.ExitStack) -> tuple[str, Security]:
    """A scheduler and workers on this machine, which speak TLS: other users could have their code run here else."""
    try:
        security = Security.temporary()
    except ImportError:
        raise ClusterError(EXTRA) from None
    folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="viva-dask-", ignore_cleanup_errors=True))
    stack.enter_context(dask.config.set(UNWATCHED))
    # Ctrl-C reaches all processes of a terminal and is heard by this one; the others inherit that it is blocked.
    resource_tracker.ensure_running()  # it would unblock it again
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        local = LocalCluster(
            n_workers=cluster.processes,
            threads_per_worker=1,
            host="127.0.0.1",
            dashboard_address="127.0.0.1:0",  # without one it takes a port that another cluster may have
            security=security,
            silence_logs=logging.CRITICAL,
            local_directory=folder,
        )
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    stack.callback(local.close, timeout=10)
    return local.scheduler_address, security


def _require_same(client: Client, url: str) -> None:
    """Dask unpacks tasks at the scheduler, too. Raises ClusterError where it cannot."""
    ours = versions(())
    try:
        theirs = client.run_on_scheduler(versions, ())
    except Exception as error:  # whatever it is that keeps it
        raise ClusterError(
            f"The scheduler at {url} cannot load this Viva ({first_line(error)}). Install the same versions of "
            "nbviva and nbviva_scale there, and restart it. Nothing was sent."
        ) from None
    if different := difference(ours, theirs):
        raise ClusterError(
            f"The scheduler at {url} has other versions: {different}. Install the same versions there, and restart it. "
            "Nothing was sent."
        )


def first_line(error: BaseException) -> str:
    """What an exception says, or its class where it says nothing."""
    return next(iter(str(error).splitlines()), "") or type(error).__name__
