"""Warm parents: processes with the libraries loaded, forked once per submission.

Theory of operation. There are two of them, one for candidates and one for examiners, which the workers
of a batch share.
Each is started by exec with a clean environment (inside bubblewrap, where there is no Landlock), so that it
has never seen a source notebook, the gradebook or a token; it imports the libraries, draws one throw-away
plot, has a single thread, and waits on a socket. A request to fork comes with the descriptors for the child,
which walls itself in and then serves. A child is killed and reaped only when the grading process says so,
and by its parent, who may be alone in knowing its number: until then that is given to no other process.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import json
import os
import random
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import warnings
from pathlib import Path

from viva.engine import libraries, pipe, wire
from viva.engine.channel import Channel
from viva.engine.values.plain import learn_pandas
from viva.folder import remove
from viva.wall import bubblewrap
from viva.wall.confinement import USUAL, Limits, Wall, begin_session, enter, limit

HOME = "home"
"""What the folder is called, beside the scratch folders, that a warm parent and its libraries write to."""
REQUEST_BYTES = 1 << 20
PR_SET_PDEATHSIG, PR_SET_DUMPABLE = 1, 4


class Parent(Channel):
    """A warm parent, and the channel of the process that has started it."""

    def __init__(
        self,
        role: str,
        wall: Wall | None,
        slot: int = 0,
        loaded: tuple[str, ...] = libraries.COMMON,
        environment: dict[str, str] | None = None,
        limits: Limits = USUAL,
    ) -> None:
        """Without a ``wall`` the ``limits`` are those of each child."""
        folder = Path(tempfile.mkdtemp(prefix="viva-"))
        folder.chmod(0o711)  # root's children, who are other users, pass through to their scratch folders
        (folder / HOME).mkdir()
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        super().__init__(role, wall, slot, limits, folder, ours)
        around, maker = [], os.getpid()
        if self._boxed:
            around, maker = bubblewrap.command(wall.readable, self.folder), bubblewrap.INIT
        # Not -I, which would ignore PYTHONHASHSEED too; the environment is clean already.
        command = [*around, sys.executable, "-sP", "-m", "viva.engine.parent", role, str(theirs.fileno()), str(maker)]
        with theirs:
            self.process = subprocess.Popen(
                [*command, *loaded],
                pass_fds=[theirs.fileno()],
                env=self._environment() | (environment or {}),
                cwd=self.folder,
                stdin=subprocess.DEVNULL,
                start_new_session=True,
            )

    def _environment(self) -> dict[str, str]:
        """What the parent and all its children know of the outside: nothing."""
        home = f"{self.place}/{HOME}"
        return {
            "PATH": os.defpath,
            "HOME": home,
            "LANG": "C.UTF-8",
            "MPLCONFIGDIR": home,
            "IPYTHONDIR": home,
            "MPLBACKEND": "module://matplotlib_inline.backend_inline" if self.role == "candidate" else "agg",
            "OPENBLAS_NUM_THREADS": "1",
            "OMP_NUM_THREADS": "1",
            "MKL_NUM_THREADS": "1",
            "MALLOC_ARENA_MAX": "2",
            "PYTHONHASHSEED": "0",
            "NBGRADER_EXECUTION": "autograde",
        }

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        with contextlib.suppress(OSError):  # in bubblewrap it ends a moment after the process around it
            while self.socket.recv(REQUEST_BYTES):
                pass
        super().close()
        remove(self.folder)


def main(role: str, number: str, maker: str, *loaded: str) -> None:
    """The life of a warm parent, which ends with the process ``maker``."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != int(maker):
        return
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for place, name in enumerate(loaded):
        libraries.load(name)
        if name not in libraries.COMMON and libraries.threads() > 1:  # it cannot be forked: again, without it
            command = sys.orig_argv[: len(sys.orig_argv) - len(loaded)]
            os.execv(sys.executable, [*command, *loaded[:place], *loaded[place + 1 :]])
    requests = socket.socket(fileno=int(number))
    serve = _warm_candidate() if role == "candidate" else _warm_examiner()
    _seed()  # loads numpy.random, which NumPy itself does at its first use: else every fork would
    if "pandas" in sys.modules:
        learn_pandas()
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
    """What draws random numbers without a seed draws the same in every batch, so that results can be compared.

    In each fork, as ``random`` seeds itself anew in every child.
    """
    import numpy as np

    random.seed(0)
    np.random.seed(0)


def _answer(request: dict, descriptors: list[int], channel: socket.socket, channels: dict, serve) -> None:
    match request["do"]:
        case "attach":
            channels[socket.socket(fileno=os.dup(descriptors[0]))] = set()
        case "learn":
            from viva.engine.dialogue.namespace import UnknownMagicError
            from viva.engine.dialogue.testcode import compiled

            with (
                contextlib.suppress(SyntaxError, ValueError, UnknownMagicError),  # told when a check runs
                warnings.catch_warnings(action="ignore"),  # no user's terminal is the place for Python's opinion
            ):
                compiled(request["source"], request["title"])
            channel.send(b"0")
        case "signal":
            os.kill(request["pid"], request["number"])
            channel.send(b"0")
        case "kept waiting":
            channel.send(json.dumps(_kept_waiting(request["pid"])).encode())
        case "end":
            channels[channel].discard(request["pid"])
            channel.send(json.dumps(_end(request["pid"])).encode())
        case "fork":
            parent = os.getpid()
            pid = os.fork()
            if pid == 0:
                try:
                    _child(serve, descriptors, request, parent)
                finally:
                    os._exit(1)  # or it would go on as a second warm parent, and take the first one's requests
            channels[channel].add(pid)
            channel.send(json.dumps(pid).encode())


def _kept_waiting(pid: int) -> float:
    try:
        return int(Path(f"/proc/{pid}/schedstat").read_text().split()[1]) / 1e9
    except (OSError, ValueError, IndexError):
        return 0.0


def _end(pid: int) -> int:
    os.kill(pid, signal.SIGKILL)
    return os.waitpid(pid, 0)[1]


def _child(serve, descriptors: list[int], request: dict, parent: int) -> None:
    """Wall this process in, say whether that worked, and serve."""
    _into_place(descriptors)
    with contextlib.suppress(OSError):
        os.sched_setaffinity(0, request["processors"])
    try:
        scratch = Path(request["scratch"])
        if request["wall"] is None:
            begin_session(parent)
            os.chdir(scratch)
            limit(Limits(**request["limits"]))
        else:
            wall = Wall(**request["wall"] | {"limits": Limits(**request["wall"]["limits"])})
            enter(wall, scratch, range(len(descriptors)), slot=request["slot"], parent=parent)
        sys.path.insert(0, "")  # as in a kernel: a module beside the notebook can be imported
        _seed()
        pipe.write(4, wire.encode({"ready": True}))
    except BaseException as error:
        with contextlib.suppress(OSError):
            pipe.write(4, wire.encode({"fault": str(error)}))
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
    from viva.engine.candidate import Candidate
    from viva.engine.dialogue.integrity import Snapshot
    from viva.engine.dialogue.shell import make_shell

    shell = make_shell()
    snapshot = Snapshot(shell)
    return lambda: Candidate(shell, snapshot).serve()


def _warm_examiner():
    from viva.engine.examiner import Examiner

    return lambda: Examiner().serve()


if __name__ == "__main__":
    main(*sys.argv[1:])
