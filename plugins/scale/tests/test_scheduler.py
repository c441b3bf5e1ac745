"""The way to a scheduler: over TLS nothing can be read on it, and nobody comes in without a certificate."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from distributed.security import Security

from plugins.scale.tests.cluster import Dask, filed, grade_there
from tests.faults import timeless
from viva.submission.submission import Status
from viva.verdict import CourseError
from viva_scale.clusteraddress import Cluster
from viva_scale.scheduler import connected

HIDDEN = b"double(3) == 6"


@contextlib.contextmanager
def overheard(address: str) -> Iterator[tuple[str, bytearray]]:
    """Another address of the same scheduler, and all that went over it."""
    scheme, _, port = address.rpartition(":")
    heard, ends = bytearray(), []

    def pass_on(source: socket.socket, target: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(1 << 16):
                heard.extend(data)
                target.sendall(data)
        with contextlib.suppress(OSError):
            target.shutdown(socket.SHUT_WR)

    def accept(server: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while True:
                one, other = server.accept()[0], socket.create_connection(("127.0.0.1", int(port)))
                ends.extend((one, other))
                for pair in ((one, other), (other, one)):
                    threading.Thread(target=pass_on, args=pair, daemon=True).start()

    with socket.create_server(("127.0.0.1", 0)) as server:
        threading.Thread(target=accept, args=(server,), daemon=True).start()
        try:
            yield f"{scheme}:{server.getsockname()[1]}", heard
        finally:
            server.shutdown(socket.SHUT_RDWR)
            for end in ends:
                end.close()


def certificates(folder: Path) -> dict[str, str]:
    """The files of a certificate that vouches for itself, as the settings name them."""
    security = Security.temporary()
    texts = {"ca": security.tls_ca_file, "cert": security.tls_client_cert, "key": security.tls_client_key}
    folder.mkdir()
    for name, text in texts.items():
        (folder / f"{name}.pem").write_text(text)
    return {f"tls_{name}": str(folder / f"{name}.pem") for name in texts}


@pytest.mark.slow
@pytest.mark.cluster
def test_over_tls_nothing_can_be_read_and_without_it_everything(course, few, tmp_path):
    files = certificates(tmp_path / "ours")
    with Dask(tmp_path / "dask") as dask:
        names = {"ca": "--tls-ca-file", "cert": "--tls-cert", "key": "--tls-key"}
        dask.security = tuple(part for name, option in names.items() for part in (option, files[f"tls_{name}"]))
        address = dask.schedule("--protocol", "tls")
        assert address.startswith("tls://")
        dask.work()
        with overheard(address) as (way, heard):
            assert {one.status for one in grade_there(course, way, **files)} == {Status.DONE}
        assert timeless(course) == timeless(few[1]) and filed(course) == filed(few[1])
        assert len(heard) > 10_000 and HIDDEN not in heard

        with pytest.raises(CourseError, match="No cluster answers at tls://127"):
            grade_there(course, address, Autograde__force=True, **certificates(tmp_path / "others"))
        with pytest.raises(CourseError, match="uses TLS and needs certificates"):
            grade_there(course, address, Autograde__force=True)
    with Dask(tmp_path / "plain") as dask:
        address = dask.schedule()
        dask.work()
        with overheard(address) as (way, heard):
            grade_there(course, way, Autograde__force=True)
        assert HIDDEN in heard, "if this cannot be heard, nothing was shown above"


@pytest.mark.slow
@pytest.mark.cluster
def test_a_scheduler_of_another_version_or_without_viva_is_refused(dask):
    for lie, sentence in (
        ("viva.ENGINE = 16", "has other versions: Viva's engine 16 there and"),
        (
            "sys.modules['viva_scale.versions'] = None",
            r"cannot load this Viva \(.*Install the same versions of nbviva and nbviva_scale",
        ),
    ):
        address = dask.schedule(lie=lie)
        with pytest.raises(CourseError, match=sentence), connected(Cluster(address=address)):
            raise AssertionError("it was taken")
