"""A fork server itself: a process with the libraries loaded, forked once per submission.

Theory of operation. There are two of them, one for candidates and one for examiners, which the workers of a batch
share. One process is started by exec with a clean environment, so that it has never seen a source notebook, the
gradebook or a token, and loads the libraries. It forks the examiners' parent and becomes the candidates', which so
never hears of what only examiners may know. (Where there is no Landlock each is started on its own, inside
bubblewrap.) The candidates' runs some throw-away cells, and draws a plot where plots are drawn. Each has a single
thread, and waits on a socket. A request to fork comes with the descriptors for the child, which sandboxes itself in and
then serves. A child is killed and reaped only when the grading process says so, and by its parent, who may be alone in
knowing its number: until then that is given to no other process.
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
import sys
import threading
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path

from viva.engine import libraries, pipe, wire
from viva.engine.parent import HOME, ORIGIN, REQUEST_BYTES, effort_of
from viva.engine.values import librarycodecs, sharing
from viva.engine.values.plain import learn_pandas
from viva.sandbox import confinement
from viva.sandbox.confinement import Limits, Sandbox, begin_session, enter, limit

PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_NAME = 1, 4, 15
BACKENDS = {"candidate": "module://matplotlib_inline.backend_inline", "examiner": "agg"}
"""The backend of matplotlib, by role."""


def main(number: str, maker: str, folder: str, *likely: str) -> None:
    """The life of a process: of a fork server for each role that is named on the socket with this ``number``.

    It works in the ``folder``, and loads what is ``likely`` to be asked for until the order comes.
    """
    if not _die_with(int(maker)):
        return
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    gc.disable()  # until all is loaded, which stays
    os.chdir(folder)
    for name in ("HOME", "MPLCONFIGDIR", "IPYTHONDIR"):  # unless it was started with another
        os.environ.setdefault(name, f"{folder}/{HOME}")
    _draw_as("candidate")
    early = {name: libraries.load(name) for name in likely}
    with socket.socket(fileno=int(number)) as control:
        data, descriptors, _, _ = socket.recv_fds(control, REQUEST_BYTES, 16)
    if not data:  # whoever started it has no use for it
        return
    order = json.loads(data)
    for descriptor in descriptors:
        os.set_inheritable(descriptor, False)
    (role, requests), *further = zip(order["roles"], descriptors, strict=True)
    _draw_as(role)
    _load(order["loaded"], order | {"loaded": []}, descriptors, early)
    for next_role, its_requests in further:
        parent = os.getpid()
        if os.fork() == 0:
            os.close(requests)
            if not _die_with(parent):
                return
            role, requests = next_role, its_requests
            _draw_as(role)
            break
        os.close(its_requests)
    Forkserver(role, socket.socket(fileno=requests), order).serve()


LAST = ("tensorflow",)
"""Libraries that are loaded after the others and their codecs: PyTorch's compiler crashes where TensorFlow is there."""


def _die_with(maker: int) -> bool:
    """End with the process that has made this one; whether that is still there."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    return os.getppid() == maker


def _load(names: list[str], order: dict, requests: list[int], early: Mapping[str, tuple[list[str], str]] = {}) -> None:
    """Load libraries, and note in ``order`` which are not there. One that starts threads cannot be forked: again from
    the start, without it. ``early`` are the results for those that are loaded."""
    librarycodecs.learn()
    results = {}
    for name in sorted(names, key=lambda name: name.partition(".")[0] in LAST):
        results[name] = early.get(name) or libraries.load(name)
        librarycodecs.learn_late(name.partition(".")[0])
    order["absent"] |= {name: why for name, (_, why) in results.items() if why}
    threads = {libraries.module_of(name): started for name, (started, _) in results.items() if started}
    if threads:
        order["absent"] |= {name: f"{libraries.THREADS}{', '.join(started)}" for name, started in threads.items()}
        wanted = [name for name in (*order["loaded"], *names) if libraries.module_of(name) not in threads]
        order = order | {"loaded": wanted}
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        socket.send_fds(ours, [json.dumps(order).encode()], requests)
        theirs.set_inheritable(True)
        arguments = [str(theirs.fileno()), str(os.getppid()), os.getcwd()]
        os.execv(sys.executable, [sys.executable, *ORIGIN, *arguments])


def _draw_as(role: str) -> None:
    """Have matplotlib draw as if it had been imported for this role."""
    os.environ["MPLBACKEND"] = BACKENDS[role]
    if matplotlib := sys.modules.get("matplotlib"):
        matplotlib.rcParams["backend"] = BACKENDS[role]


class Forkserver:
    """A fork server, serving until the process that asked for it closes its socket."""

    def __init__(self, role: str, requests: socket.socket, order: dict) -> None:
        self.requests, self.order = requests, order | {"roles": [role]}
        self.channels: dict[socket.socket, set[int]] = {requests: set()}
        """The numbers of the children that were forked through a channel, by channel."""
        libc = ctypes.CDLL(None)
        libc.prctl(PR_SET_NAME, f"viva-{role}".encode())  # what ps calls it and its children
        _load_what_numpy_puts_off()
        confinement.prepare()
        self.work = _warm_candidate() if role == "candidate" else _warm_examiner()
        libc.prctl(PR_SET_DUMPABLE, 0)
        self._settle()

    def _settle(self) -> None:
        """Freeze all that was loaded, so that no fork touches it."""
        if "pandas" in sys.modules:
            learn_pandas()
        broken = {name: f"{libraries.CODECS}{problem}" for name, problem in librarycodecs.learn().items()}
        if "candidate" in self.order["roles"]:  # two would say it twice
            for name in broken.keys() - self.order["absent"].keys():  # values of that library cross as objects
                print(broken[name].removeprefix(libraries.CODECS), file=sys.stderr)
        self.order["absent"] |= broken
        assert threading.active_count() == 1, threading.enumerate()
        gc.collect()
        gc.freeze()
        gc.enable()

    def serve(self) -> None:
        while self.requests in self.channels:
            for channel in select.select(list(self.channels), [], [])[0]:
                descriptors: list[int] = []
                try:
                    data, descriptors, _, _ = socket.recv_fds(channel, REQUEST_BYTES, 16)
                    if data:
                        self._answer(json.loads(data), descriptors, channel)
                except OSError:  # whoever asked was killed before the answer; the others go on
                    data = b""
                for descriptor in descriptors:
                    os.close(descriptor)
                if not data:
                    for pid in self.channels.pop(channel):
                        _end(pid)
                    channel.close()

    def _answer(self, request: dict, descriptors: list[int], channel: socket.socket) -> None:
        answer: object
        match request["do"]:
            case "attach":
                self.channels[socket.socket(fileno=os.dup(descriptors[0]))] = set()
                return
            case "load":
                _load(request["names"], self.order, [self.requests.fileno()])
                self.order["loaded"] += request["names"]
                self._settle()
                return
            case "absent":
                answer = self.order["absent"]
            case "pid":
                answer = os.getpid()
            case "learn":
                _learn(request["source"], request["title"])
                answer = 0
            case "signal":
                os.kill(request["pid"], request["number"])
                answer = 0
            case "effort":
                answer = effort_of(request["pid"])
            case "end":
                self.channels[channel].discard(request["pid"])
                answer = _end(request["pid"])
            case "fork":
                answer = pid = self._fork(request, descriptors)
                self.channels[channel].add(pid)
        channel.send(json.dumps(answer).encode())

    def _fork(self, request: dict, descriptors: list[int]) -> int:
        parent = os.getpid()
        pid = os.fork()
        if pid == 0:
            try:
                _live(self.work, descriptors, request, parent)
            finally:
                os._exit(1)  # or it would go on as a second fork server, and take the first one's requests
        return pid


def _load_what_numpy_puts_off() -> None:
    """Load the parts of NumPy that load at their first use: each fork would load them anew."""
    import numpy.ma  # noqa: F401  every question asks whether an answer is a masked array

    seed()  # numpy.random


def seed() -> None:
    """Seed all generators, so that code without a seed draws the same in every batch and results can be compared.

    In each fork, as ``random`` seeds itself anew in every child. Where grading has dice (see Examination), the
    session goes on from another state.
    """
    import numpy as np

    random.seed(0)
    np.random.seed(0)
    sharing.seed(0)


def _learn(source: str, title: str) -> None:
    from viva.engine.dialogue.namespace import UnknownMagicError, compiled

    with (
        contextlib.suppress(SyntaxError, ValueError, UnknownMagicError),  # told when a check runs
        warnings.catch_warnings(action="ignore"),  # no user's terminal is the place for Python's opinion
    ):
        compiled(source, title)


def _end(pid: int) -> int:
    os.kill(pid, signal.SIGKILL)
    return os.waitpid(pid, 0)[1]


def _live(work: Callable[[], None], descriptors: list[int], request: dict, parent: int) -> None:
    """Sandbox this process in, say whether that worked, and serve."""
    _into_place(descriptors)
    with contextlib.suppress(OSError):
        os.sched_setaffinity(0, request["processors"])
    try:
        scratch = Path(request["scratch"])
        if request["sandbox"] is None:
            begin_session(parent)
            os.chdir(scratch)
            limit(Limits(**request["limits"]))
        else:
            sandbox = Sandbox(**request["sandbox"] | {"limits": Limits(**request["sandbox"]["limits"])})
            enter(sandbox, scratch, range(len(descriptors)), slot=request["slot"], parent=parent)
        sys.path.insert(0, "")  # as in a kernel: a module beside the notebook can be imported
        seed()
        pipe.write(4, wire.encode({"ready": True}))
    except BaseException as error:
        with contextlib.suppress(OSError):
            pipe.write(4, wire.encode({"fault": str(error)}))
        os._exit(1)
    with contextlib.suppress(BaseException):
        work()
    os._exit(0)


def _into_place(descriptors: list[int]) -> None:
    """Make ``descriptors`` the numbers 0, 1, 2, ..., whatever they were."""
    high = [os.dup2(descriptor, 100 + number) for number, descriptor in enumerate(descriptors)]
    for number, descriptor in enumerate(high):
        os.dup2(descriptor, number)
    os.closerange(len(descriptors), 1024)


def _warm_candidate() -> Callable[[], None]:
    from viva.engine.candidate import Candidate
    from viva.engine.dialogue.integrity import Snapshot
    from viva.engine.dialogue.shell import make_shell
    from viva.engine.values.randomness import note_seeds

    note_seeds()
    shell = make_shell()
    snapshot = Snapshot(shell)
    return lambda: Candidate(shell, snapshot).serve()


def _warm_examiner() -> Callable[[], None]:
    from viva.engine.examiner import Examiner

    return lambda: Examiner().serve()


if __name__ == "__main__":
    main(*sys.argv[1:])
