"""A real PostgreSQL server in a folder of its own, for as long as tests need it."""

from __future__ import annotations

import contextlib
import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path


def programs() -> Path | None:
    """Where Debian, or whoever installed it, keeps PostgreSQL's server; None where there is none."""
    known = [Path(found).resolve().parent] if (found := shutil.which("postgres")) else []
    known += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    return next((folder for folder in known if (folder / "initdb").exists()), None)


@dataclass
class Server:
    """A server that listens in a folder, to whoever may enter that."""

    folder: Path

    def address(self, name: str) -> str:
        return f"postgresql+psycopg://viva@/{name}?host={self.folder}"

    def create(self, name: str) -> str:
        """A new, empty database; its address."""
        self.run("createdb", "-U", "viva", "-h", str(self.folder), name)
        return self.address(name)

    def start(self) -> None:
        options = f"-k {self.folder} -c listen_addresses='' -c fsync=off"
        self.run(
            "pg_ctl", "-D", str(self.folder / "data"), "-o", options, "-l", str(self.folder / "log"), "-w", "start"
        )

    def stop(self) -> None:
        self.run("pg_ctl", "-D", str(self.folder / "data"), "-m", "immediate", "-w", "stop")

    def run(self, program: str, *arguments: str) -> None:
        user = _user()
        command = [str(programs() / program), *arguments]
        done = subprocess.run(command, user=user, cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        assert done.returncode == 0, done.stderr.decode()


@contextlib.contextmanager
def server() -> Iterator[Server]:
    """A server that runs; its socket lies in a short path, as the system wants that."""
    folder = Path(tempfile.mkdtemp(prefix="viva-pg-", dir="/tmp"))
    made = Server(folder)
    try:
        if (user := _user()) is not None:
            shutil.chown(folder, user)
        folder.chmod(0o755)
        made.run("initdb", "-D", str(folder / "data"), "-U", "viva", "-A", "trust", "-N", "--no-locale", "-E", "UTF8")
        made.start()
        yield made
    finally:
        with contextlib.suppress(AssertionError):
            made.stop()
        shutil.rmtree(folder)


def _user() -> int | None:
    """PostgreSQL serves no root; Debian brings a user for it."""
    if os.geteuid():
        return None
    return pwd.getpwnam("postgres").pw_uid
