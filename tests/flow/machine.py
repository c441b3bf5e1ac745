"""A machine of its own for programs that need accounts: what is done to /etc, /home, /srv and /tmp is nowhere else.

Namespaces of mounts and processes: what is mounted below is seen inside alone, and all that runs there ends at once.
Only root can have one. The network stays this machine's: a browser outside reaches the servers inside.

/etc is a copy, in which accounts can be made; /home and /srv are empty folders that can be looked into from outside;
/tmp and what programs write into /var are empty too. Folders that are closed to other users, such as /root, are
covered, and what programs need of them is put back: the interpreter, its environment, and of this project the package
alone, so that nobody inside reads the course here.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

KEPT = ("/etc", "/home", "/srv")
EMPTY = ("/tmp", "/var/tmp", "/var/log", "/var/mail", "/run")

LIMIT = 600
"""Seconds that a command may take on a busy machine."""


class Machine:
    """One that runs; its /etc, /home and /srv lie in ``folder``."""

    def __init__(self, folder: Path, init: int, path: str) -> None:
        self.folder, self.init, self.path = folder, init, path

    def start(self, *command: str, user: str = "root", cwd: str = "/", **how: object) -> subprocess.Popen:
        """Start a command as a user of the machine."""
        home = "/root" if user == "root" else f"/home/{user}"
        enter = ["nsenter", f"--target={self.init}", "--mount", "--pid"]
        become = ["setpriv", f"--reuid={user}", f"--regid={user}", "--init-groups", "env", f"--chdir={cwd}"]
        env = {"PATH": self.path, "HOME": home, "USER": user, "LANG": "C.UTF-8", "OPENBLAS_NUM_THREADS": "1"}
        return subprocess.Popen([*enter, *become, *command], env=env, text=True, **how)

    def run(self, *command: str, **how: object) -> str:
        """What a command says, which must succeed."""
        with self.start(*command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **how) as process:
            try:
                said, _ = process.communicate(timeout=LIMIT)
            except subprocess.TimeoutExpired:
                process.kill()
                raise
        assert process.returncode == 0, f"{command}: {said}"
        return said


@contextlib.contextmanager
def running(folder: Path, needed: list[Path], covered: list[Path], path: str) -> Iterator[Machine]:
    """A machine, its parts in a fresh ``folder``.

    ``needed`` are the folders that have to stay where they are, ``covered`` those of which nothing else may be seen,
    ``path`` is where its users find programs.
    """
    order = {"folder": str(folder), "needed": list(map(str, needed)), "covered": list(map(str, covered))}
    alone = ["setpriv", "--pdeathsig=KILL", "unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"]
    process = subprocess.Popen([*alone, sys.executable, __file__, json.dumps(order)])
    try:
        yield Machine(folder, _init(process), path)
    finally:
        process.kill()  # and with it all that runs inside
        process.wait()


def _init(process: subprocess.Popen) -> int:
    """The number here of the machine's first process, once that has furnished it."""
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    for _ in range(300):
        assert process.poll() is None, "the machine could not be furnished"
        if (found := children.read_text().split()) and Path(f"/proc/{found[0]}/comm").read_text() == "sleep\n":
            return int(found[0])
        time.sleep(0.1)
    raise TimeoutError("the machine was not furnished in half a minute")


def furnish(folder: Path, needed: list[Path], covered: list[Path]) -> None:
    """Mount all of it, from the inside."""
    shutil.copytree("/etc", folder / "etc", symlinks=True)
    (folder / "home").mkdir()
    (folder / "srv").mkdir()
    inside = {Path(kept): folder / kept[1:] for kept in KEPT} | {place: place for place in needed}
    closed = [parent for place in needed for parent in place.parents if not parent.stat().st_mode & stat.S_IXOTH]
    hidden = {place for place in [*covered, *closed, *map(Path, (*EMPTY, *KEPT))] if place.is_dir()}

    stage = folder / "stage"
    for number, place in enumerate(inside.values()):
        (stage / str(number)).mkdir(parents=True)
        mount("--bind", place, stage / str(number))
    os.chdir(stage)  # from here on the way to it may be covered
    for place in sorted(hidden):
        if not hidden.intersection(place.parents):
            mount("-t", "tmpfs", "-o", f"mode={'1777' if place.name == 'tmp' else '0755'}", "tmpfs", place)
    for number, place in enumerate(inside):
        if place in hidden or hidden.intersection(place.parents):
            place.mkdir(parents=True, exist_ok=True)
            mount("--no-canonicalize", "--bind", number, place)


def mount(*words: object) -> None:
    subprocess.run(["mount", *map(str, words)], check=True)


if __name__ == "__main__":
    order = json.loads(sys.argv[1])
    os.umask(0o022)
    furnish(Path(order["folder"]), list(map(Path, order["needed"])), list(map(Path, order["covered"])))
    os.chdir("/")
    os.execvp("sleep", ["sleep", "infinity"])
