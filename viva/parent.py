"""Warm parents: processes with the libraries loaded, forked once per submission.

Theory of operation. There are two of them, one for candidates and one for examiners, which the workers
of a batch share.
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
import random
import select
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
from viva.wall import LARGER, Limits, Wall, begin_session, enter, limit

REQUEST_BYTES = 1 << 20
PR_SET_PDEATHSIG, PR_SET_DUMPABLE = 1, 4
LIBRARIES = ("numpy", "scipy.special", "scipy.stats", "scipy.linalg", "pandas", "matplotlib.pyplot")


class Parent:
    """A warm parent, seen from a process that has forks made.

    Several processes can share one: each has a ``channel`` of its own. What was forked through a
    channel ends when that channel is closed, and everything when the parent is.
    """

    def __init__(
        self,
        role: str,
        wall: Wall | None,
        slot: int = 0,
        libraries: tuple[str, ...] = LIBRARIES,
        environment: dict[str, str] | None = None,
    ) -> None:
        self.role, self.wall, self.slot = role, wall, slot
        self.home: Path | None = Path(tempfile.mkdtemp(prefix="viva-"))
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.socket = ours
        with theirs:
            self.process: subprocess.Popen | None = subprocess.Popen(
                [sys.executable, "-I", "-m", "viva.parent", role, str(theirs.fileno()), str(os.getpid()), *libraries],
                pass_fds=[theirs.fileno()],
                env=self._environment() | (environment or {}),
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

    def channel(self, slot: int) -> Parent:
        """Another handle on the same warm parent, for another process and with a slot of its own."""
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            try:
                socket.send_fds(self.socket, [b'{"do": "attach"}'], [theirs.fileno()])
            except OSError as error:
                ours.close()
                raise WallError(f"the warm parent of the {self.role}s has ended") from error
        other = object.__new__(Parent)
        other.role, other.wall, other.slot, other.socket = self.role, self.wall, slot, ours
        other.home = other.process = None
        return other

    def fork(self, descriptors: list[int], scratch: Path) -> int:
        """The process number of a new child, which gets copies of ``descriptors`` as 0, 1, 2, ..."""
        wall = None if self.wall is None else asdict(self.wall)
        limits = asdict(LARGER if self.role == "examiner" else Limits()) if self.wall is None else None
        request = {"do": "fork", "scratch": str(scratch), "wall": wall, "limits": limits, "slot": self.slot}
        request = json.dumps(request).encode()
        return self._ask(request, descriptors)

    def end(self, pid: int) -> int:
        """Kill a child, wait for it, and return its wait status."""
        return self._ask(json.dumps({"do": "end", "pid": pid}).encode())

    def learn(self, source: str, title: str) -> None:
        """Have test code compiled in the parent of the examiners, for all that it forks from now on."""
        assert self.role == "examiner", "no test code comes near the candidates"
        self._ask(json.dumps({"do": "learn", "source": source, "title": title}).encode())

    def _ask(self, request: bytes, descriptors: list[int] = ()) -> int:
        try:
            socket.send_fds(self.socket, [request], descriptors)
            data = self.socket.recv(65536)
        except (BrokenPipeError, ConnectionResetError):
            data = b""
        if not data:
            raise WallError(f"the warm parent of the {self.role}s has ended")
        return json.loads(data)

    def close(self) -> None:
        self.socket.close()
        if self.process:
            self.process.kill()
            self.process.wait()
            shutil.rmtree(self.home, ignore_errors=True)


def main(role: str, number: str, maker: str, *libraries: str) -> None:
    """The life of a warm parent, which ends with the process ``maker``."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != int(maker):
        return
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    requests = socket.socket(fileno=int(number))
    for name in libraries:
        __import__(name)
    serve = _warm_candidate() if role == "candidate" else _warm_examiner()
    _seed()
    libc.prctl(PR_SET_DUMPABLE, 0)
    assert threading.active_count() == 1, threading.enumerate()
    gc.collect()
    gc.freeze()
    channels: dict[socket.socket, set[int]] = {requests: set()}
    while requests in channels:
        for channel in select.select(list(channels), [], [])[0]:
            descriptors: list[int] = []
            try:
                data, descriptors, _, _ = socket.recv_fds(channel, REQUEST_BYTES, 16)
                if data:
                    _answer(json.loads(data), descriptors, channel, channels, serve)
            except OSError:  # whoever asked was killed before the answer; the others go on
                data = b""
            for descriptor in descriptors:
                os.close(descriptor)
            if not data:
                for pid in channels.pop(channel):
                    _end(pid)
                channel.close()


def _seed() -> None:
    """What draws random numbers without a seed draws the same in every batch, so that results can be compared."""
    import numpy as np

    random.seed(0)
    np.random.seed(0)


def _answer(request: dict, descriptors: list[int], channel: socket.socket, channels: dict, serve) -> None:
    match request["do"]:
        case "attach":
            channels[socket.socket(fileno=os.dup(descriptors[0]))] = set()
        case "learn":
            from viva.dialogue.namespace import UnknownMagicError
            from viva.dialogue.testcode import compiled

            with contextlib.suppress(SyntaxError, ValueError, UnknownMagicError):  # told when a check runs
                compiled(request["source"], request["title"])
            channel.send(b"0")
        case "end":
            channels[channel].discard(request["pid"])
            channel.send(json.dumps(_end(request["pid"])).encode())
        case "fork":
            parent = os.getpid()
            pid = os.fork()
            if pid == 0:
                _child(serve, descriptors, request, parent)
            channels[channel].add(pid)
            channel.send(json.dumps(pid).encode())


def _end(pid: int) -> int:
    os.kill(pid, signal.SIGKILL)
    return os.waitpid(pid, 0)[1]


def _child(serve, descriptors: list[int], request: dict, parent: int) -> None:
    """Wall this process in, say whether that worked, and serve."""
    _into_place(descriptors)
    try:
        scratch = Path(request["scratch"])
        if request["wall"] is None:
            begin_session(parent)
            os.chdir(scratch)
            limit(Limits(**request["limits"]))
        else:
            wall = Wall(**request["wall"] | {"limits": Limits(**request["wall"]["limits"])})
            enter(wall, scratch, range(len(descriptors)), slot=request["slot"], parent=parent)
        wire.write(4, wire.encode({"ready": True}))
    except BaseException as error:
        with contextlib.suppress(OSError):
            wire.write(4, wire.encode({"fault": str(error)}))
        os._exit(1)
    with contextlib.suppress(BaseException):
        serve()
    os._exit(0)


def _into_place(descriptors: list[int]) -> None:
    """Make ``descriptors`` the numbers 0, 1, 2, ..., whatever they were."""
    high = [os.dup2(descriptor, 100 + place) for place, descriptor in enumerate(descriptors)]
    for place, descriptor in enumerate(high):
        os.dup2(descriptor, place)
    os.closerange(len(descriptors), 1024)


def _warm_candidate():
    from viva.candidate import Candidate
    from viva.dialogue.integrity import Snapshot
    from viva.dialogue.shell import make_shell

    shell = make_shell()
    snapshot = Snapshot(shell)
    return lambda: Candidate(shell, snapshot).serve()


def _warm_examiner():
    from viva.examiner import Examiner

    return lambda: Examiner().serve()


if __name__ == "__main__":
    main(*sys.argv[1:])
