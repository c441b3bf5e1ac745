"""The workers of a cluster as graders for a batch and for audits. Dask is loaded when a connection is made."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from traitlets.config import Config

from viva.course.grading.filing import Filing
from viva.course.grading.remote import Settings
from viva_scale import workerprocess
from viva_scale.clusteraddress import Cluster
from viva_scale.submissions import Submissions
from viva_scale.workerprocess import ClusterTask

if TYPE_CHECKING:
    from viva_scale.pool import Pool


class ClusterGraders:
    """A cluster in place of this machine's workers (``viva.course.grading.remote.RemoteGraders``)."""

    settings = (Cluster,)
    aliases = {"cluster": "Cluster.address"} | {f"tls-{name}": f"Cluster.tls_{name}" for name in ("ca", "cert", "key")}
    flags = {
        "insecure": (
            {"Cluster": {"insecure": True}},
            "Allow a cluster without TLS; hidden tests are then sent unencrypted.",
        )
    }

    def __init__(self, cluster: Cluster) -> None:
        self.cluster, self.insecure = cluster, cluster.insecure

    @classmethod
    def of(cls, config: Config) -> ClusterGraders | None:
        """The cluster of a configuration, or None. Raises ClusterError when it cannot be used."""
        cluster = Cluster(config=config)
        cluster.check()
        return cls(cluster) if cluster.wanted else None

    @contextlib.contextmanager
    def connected(self) -> Iterator[None]:
        """One connection for all pools of this block. Raises ClusterError."""
        from viva_scale import scheduler

        with scheduler.connected(self.cluster) as self.cluster.client:
            try:
                yield
            finally:
                self.cluster.client = None

    def for_batch(
        self, settings: Settings, loaded: dict[str, tuple[str, ...]], filing: Filing, tell: Callable[[str], object]
    ) -> Pool:
        """A pool that grades submissions; ``filing`` puts the graded notebooks away."""
        seconds, _, _, budget = settings
        return self._pool(Submissions(self.cluster, filing, seconds, budget), settings, loaded, tell)

    def for_audit(
        self,
        path: Path,
        data: Path,
        settings: Settings,
        wanted: tuple[str, ...],
        submitted: frozenset[str],
        tell: Callable[[str], object],
    ) -> Pool:
        """A pool for the trials of an audit of the notebook at ``path`` with the files in ``data``, and with the
        libraries ``wanted``; the files ``submitted`` are the students' own."""
        from viva_scale.audittrials import Trials

        seconds, _, _, budget = settings
        task = Trials(self.cluster, path, data, seconds, budget, submitted)
        return self._pool(task, settings, {"libraries": wanted, "hidden": ()}, tell, also=("viva_audit",))

    def _pool(
        self,
        task: ClusterTask[Any],
        settings: Settings,
        loaded: dict[str, tuple[str, ...]],
        tell: Callable[[str], object],
        also: tuple[str, ...] = (),
    ) -> Pool:
        """``also`` are modules beside the libraries that workers need in the same version."""
        from viva_scale.pool import Pool
        from viva_scale.versions import distributions

        names = distributions({*loaded["libraries"], *loaded["hidden"], *also})
        return Pool(
            self.cluster,
            workerprocess.Settings(task.service, *settings, loaded["libraries"], loaded["hidden"]),
            names,
            task,
            tell,
        )
