"""``--cluster=ADDRESS``: the cluster that grades, and the protection of the connection to it."""

from __future__ import annotations

import importlib.util
import ipaddress
import json
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

from traitlets import Bool, Float, Unicode
from traitlets.config import Configurable

from viva import doors
from viva.verdict import ClusterError

if TYPE_CHECKING:
    from distributed import Client
    from distributed.security import Security

FORMS = (
    "Write --cluster=tls://grader.example:8786, --cluster=scheduler.json (the file that 'dask scheduler "
    "--scheduler-file=scheduler.json' writes), or --cluster=local:4 for four processes of this machine."
)
EXTRA = f"Grading on a cluster needs Dask: {doors.install('nbviva-scale')}"
LEAST_TIMEOUT = 60.0
_LOCAL = re.compile(r"local(?::(\d+))?")
_ADDRESS = re.compile(r"(?:(tcp|tls)://)?(\[[0-9a-fA-F:.]+\]|[^\s:/\[\]]+):(\d{1,5})")


class Cluster(Configurable):
    """Where a batch is graded."""

    address = Unicode("", help="The Dask cluster for grading: tls://HOST:PORT, a scheduler file, or local:N.").tag(
        config=True
    )
    tls_ca = Unicode("", help="File of the cluster's certificate authority (PEM).").tag(config=True)
    tls_cert = Unicode("", help="File of this machine's certificate (PEM).").tag(config=True)
    tls_key = Unicode("", help="File of the certificate's key (PEM), if it is not in the certificate's file.").tag(
        config=True
    )
    insecure = Bool(
        False, help="Allow a cluster without TLS; hidden tests and submissions are then sent unencrypted."
    ).tag(config=True)
    timeout = Float(
        0.0,
        min=0.0,
        help="If a worker's grading process does not answer for so many seconds, it counts as stopped; 0 means a "
        "minute plus twice the time limit of a submission's notebooks.",
    ).tag(config=True)
    wait = Float(30.0, min=0.0, help="Seconds to wait for a worker before giving up.").tag(config=True)

    client: Client | None = None
    """The way to its scheduler, while that is open."""

    @property
    def wanted(self) -> bool:
        """Whether a cluster is to grade at all."""
        return bool(self.address)

    @property
    def processes(self) -> int:
        """How many of this machine were asked for; 0 for a cluster that is there already."""
        local = _LOCAL.fullmatch(self.address)
        return max(1, int(local[1] or len(os.sched_getaffinity(0)))) if local else 0

    def check(self) -> None:
        """Raises ClusterError where a cluster is wanted that cannot be, before anything is begun."""
        if not self.wanted:
            return
        if importlib.util.find_spec("distributed") is None:
            raise ClusterError(EXTRA)
        if not self.processes:
            self.security(self.url())

    def limit(self, seconds: float) -> float:
        """After how many seconds a worker process counts as hung with a job that may take so many ``seconds``."""
        return self.timeout or LEAST_TIMEOUT + 2 * seconds

    def url(self) -> str:
        """The scheduler's address as Dask writes it. Raises ClusterError for what is none, or not safe to use."""
        address = _from_file(Path(self.address)) if self.address.endswith(".json") else self.address
        match = _ADDRESS.fullmatch(address)
        if not match or not 0 < int(match[3]) < 65536:
            raise ClusterError(f"'{address}' is not the address of a cluster. {FORMS}")
        scheme = match[1] or ("tcp" if is_here(match[2]) and not self.tls_ca else "tls")
        url = f"{scheme}://{match[2]}:{match[3]}"
        if not self.safe(url):
            raise ClusterError(
                f"{url} is another machine. Without TLS others could read hidden tests, submissions and results on "
                "the network. Start the cluster with TLS (docs/cluster.md) and use "
                f"--cluster=tls://{match[2]}:{match[3]}, or use --insecure on a private network. Nothing was sent."
            )
        return url

    def safe(self, url: str) -> bool:
        """Whether hidden tests may go to this address of a scheduler or a worker."""
        match = _ADDRESS.fullmatch(url)
        return self.insecure or bool(match and (match[1] == "tls" or is_here(match[2])))

    def security(self, url: str) -> Security | None:
        """What Dask has to know about TLS: these settings, and where they say nothing, Dask's own configuration.

        Raises ClusterError where files are missing.
        """
        from distributed.security import Security

        if not url.startswith("tls://"):
            return None
        names = {"tls_ca_file": self.tls_ca, "tls_client_cert": self.tls_cert, "tls_client_key": self.tls_key}
        for path in filter(None, names.values()):
            if not Path(path).expanduser().is_file():
                raise ClusterError(
                    f"The file {path}, which the connection to the cluster needs, does not exist. Nothing was sent."
                )
        settings = {name: str(Path(path).expanduser()) for name, path in names.items() if path}
        security = Security(require_encryption=True, **settings)
        # Dask sets these by their names.
        if not getattr(security, "tls_ca_file", None) or not getattr(security, "tls_client_cert", None):
            raise ClusterError(
                f"{url} uses TLS and needs certificates. Use --tls-ca=ca.pem --tls-cert=cert.pem "
                "--tls-key=key.pem, or set c.Cluster.tls_ca and the others. How to create them: docs/cluster.md. "
                "Nothing was sent."
            )
        return security


def is_here(host: str) -> bool:
    """Whether a host is this machine for sure."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def _from_file(path: Path) -> str:
    try:
        return str(json.loads(path.read_text(encoding="utf-8"))["address"])
    except OSError as error:
        raise ClusterError(
            f"The scheduler file {path} cannot be read: {error.strerror}. 'dask scheduler --scheduler-file={path}' "
            "writes it when it starts."
        ) from None
    except (ValueError, KeyError, TypeError):
        raise ClusterError(f"{path} is not a scheduler file of 'dask scheduler --scheduler-file'. {FORMS}") from None
