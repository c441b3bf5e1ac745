"""Warm parents: processes with the libraries loaded, forked once per submission.

Theory of operation. A grading process keeps two of them, one for candidates and one for examiners.
Each is started by exec with a clean environment, so that it has never seen a source notebook, the
gradebook or a token; it imports the libraries, draws one throw-away plot, has a single thread, and
waits on a socket. A request to fork comes with the descriptors for the child, which walls itself in
and then serves. A child is killed and reaped only when the grading process says so: until then its
number cannot be given to another process.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from dataclasses import asdict
from pathlib import Path

from viva import wire
from viva.verdict import WallError
from viva.wall import Limits, Wall, enter

PR_SET_PDEATHSIG, PR_SET_DUMPABLE = 1, 4
LIBRARIES = ("numpy", "scipy.special", "scipy.stats", "scipy.linalg", "pandas", "matplotlib.pyplot")


class Parent:
    """A warm parent, seen from the grading process."""

    def __init__(self, role: str, wall: Wall | None, slot: int = 0) -> None:
        self.role, self.wall, self.slot = role, wall, slot
        self.home = Path(tempfile.mkdtemp(prefix="viva-"))
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.socket = ours
        with theirs:
            self.process = subprocess.Popen(
                [sys.executable, "-I", "-m", "viva.parent", role, str(theirs.fileno())],
                pass_fds=[theirs.fileno()],
                env=self._environment(),
                cwd=self.home,
                stdin=subprocess.DEVNULL,
                start_new_session=True,
            )

    def _environment(self) -> dict[str, str]:
        """What the parent and all its children know of the outside: nothing."""
        return {
            "PATH": os.defpath,
            "HOME": str(self.home),
            "LANG": "C.UTF-8",
            "MPLCONFIGDIR": str(self.home),
            "IPYTHONDIR": str(self.home),
            "MPLBACKEND": "module://matplotlib_inline.backend_inline" if self.role == "candidate" else "agg",
            "OPENBLAS_NUM_THREADS": "1",
            "OMP_NUM_THREADS": "1",
            "MKL_NUM_THREADS": "1",
            "MALLOC_ARENA_MAX": "2",
            "PYTHONHASHSEED": "0",
            "NBGRADER_EXECUTION": "autograde",
        }

    def fork(self, descriptors: list[int], scratch: Path) -> int:
        """The process number of a new child, which gets copies of ``descriptors`` as 0, 1, 2, ..."""
        wall = None if self.wall is None else asdict(self.wall)
        request = json.dumps({"do": "fork", "scratch": str(scratch), "wall": wall, "slot": self.slot}).encode()
        socket.send_fds(self.socket, [request], descriptors)
        return self._reply()

    def end(self, pid: int) -> int:
        """Kill a child, wait for it, and return its wait status."""
        self.socket.send(json.dumps({"do": "end", "pid": pid}).encode())
        return self._reply()

    def _reply(self) -> int:
        data = self.socket.recv(65536)
        if not data:
            raise WallError(f"the warm parent of the {self.role}s has ended")
        return json.loads(data)

    def close(self) -> None:
        self.socket.close()
        self.process.kill()
        self.process.wait()
        shutil.rmtree(self.home, ignore_errors=True)


def main(role: str, number: str) -> None:
    """The life of a warm parent."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    requests = socket.socket(fileno=int(number))
    serve = _warm_candidate() if role == "candidate" else _warm_examiner()
    libc.prctl(PR_SET_DUMPABLE, 0)
    assert threading.active_count() == 1, threading.enumerate()
    gc.collect()
    gc.freeze()
    while True:
        data, descriptors, _, _ = socket.recv_fds(requests, 65536, 16)
        if not data:
            return
        request = json.loads(data)
        if request["do"] == "end":
            os.kill(request["pid"], signal.SIGKILL)
            _, status = os.waitpid(request["pid"], 0)
            requests.send(json.dumps(status).encode())
            continue
        parent = os.getpid()
        pid = os.fork()
        if pid == 0:
            _child(serve, descriptors, request, parent)
        for descriptor in descriptors:
            os.close(descriptor)
        requests.send(json.dumps(pid).encode())


def _child(serve, descriptors: list[int], request: dict, parent: int) -> None:
    """Wall this process in, say whether that worked, and serve."""
    answer = descriptors[4]
    try:
        scratch = Path(request["scratch"])
        if request["wall"] is None:
            os.chdir(scratch)
            _into_place(descriptors)
        else:
            wall = Wall(**request["wall"] | {"limits": Limits(**request["wall"]["limits"])})
            enter(wall, scratch, descriptors, slot=request["slot"], parent=parent)
        answer = 4
        wire.write(4, wire.encode({"ready": True}))
    except BaseException as error:
        with contextlib.suppress(OSError):
            wire.write(answer, wire.encode({"fault": str(error)}))
        os._exit(1)
    try:
        serve()
    except BaseException:
        pass
    os._exit(0)


def _into_place(descriptors: list[int]) -> None:
    """Make ``descriptors`` the numbers 0, 1, 2, ..., whatever they were."""
    high = [os.dup2(descriptor, 100 + place) for place, descriptor in enumerate(descriptors)]
    for place, descriptor in enumerate(high):
        os.dup2(descriptor, place)
    os.closerange(len(descriptors), 1024)


def _load() -> None:
    for name in LIBRARIES:
        __import__(name)


def _warm_candidate():
    _load()
    from viva.candidate import Candidate, make_shell

    shell = make_shell()
    return lambda: Candidate(shell).serve()


def _warm_examiner():
    _load()
    from viva.examiner import Examiner

    return lambda: Examiner().serve()


if __name__ == "__main__":
    main(*sys.argv[1:])
