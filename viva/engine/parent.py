"""Fork servers, as the grading process sees them: started, spoken to, ended.

What they are themselves is in ``forkserver``.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from viva.engine import libraries
from viva.folder import remove
from viva.sandbox import bubblewrap
from viva.sandbox.confinement import USUAL, Limits, Sandbox
from viva.sandbox.privileges import USER
from viva.verdict import SandboxError

REQUEST_BYTES = 1 << 20
AT_ONCE, HOUR = 4, 3600
"""The threads that a process may keep busy for all of its time, and the longest such time in seconds."""


@dataclass(frozen=True)
class Effort:
    """The work of a process until now: the seconds that it ``worked``, all threads together, and those that each thread
    ``waited`` for a processor; none if the kernel does not count."""

    pid: int
    worked: float
    waited: dict[str, float]


def effort_of(pid: int) -> tuple[float, dict[str, float]]:
    """Seconds that a process worked, and by thread those that it waited for a processor."""
    waited: dict[str, float] = {}
    try:
        # The name of the program, which may hold anything, ends at the last bracket.
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        worked = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
        for thread in os.listdir(f"/proc/{pid}/task"):
            with contextlib.suppress(OSError):  # it has ended meanwhile
                waited[thread] = int(Path(f"/proc/{pid}/task/{thread}/schedstat").read_text().split()[1]) / 1e9
    except (OSError, ValueError, IndexError):
        return 0.0, {}
    return worked, waited


class Channel:
    """A fork server, seen from a process that has forks made.

    Several processes can share a fork server: each has a channel of its own. What was forked through a channel ends
    when that channel is closed, and everything when the parent is.
    """

    def __init__(
        self, role: str, sandbox: Sandbox | None, slot: int, limits: Limits, folder: Path, connection: socket.socket
    ) -> None:
        """``connection`` leads to the fork server, ``folder`` is that of its scratch folders."""
        self.role, self.sandbox, self.slot, self.limits = role, sandbox, slot, limits
        self.folder, self.socket = folder, connection

    @property
    def _boxed(self) -> bool:
        return self.sandbox is not None and self.sandbox.bubblewrap

    @property
    def place(self) -> str:
        """The name of the folder of the scratch folders for the processes in it."""
        return bubblewrap.PLACE if self._boxed else str(self.folder)

    def channel(self, slot: int) -> Channel:
        """Another channel to the same fork server, for another process and with a slot of its own."""
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            try:
                socket.send_fds(self.socket, [b'{"do": "attach"}'], [theirs.fileno()])
            except OSError as error:
                ours.close()
                raise SandboxError(
                    f"the grading process stopped (fork server of the {self.role}s). Run the same command again"
                ) from error
        return Channel(self.role, self.sandbox, slot, self.limits, self.folder, ours)

    def scratch(self) -> Path:
        """A new folder for a child to work in."""
        try:
            return Path(tempfile.mkdtemp(prefix="viva-scratch-", dir=self.folder))
        except FileNotFoundError as error:
            raise SandboxError(
                f"the grading process stopped (fork server of the {self.role}s). Run the same command again"
            ) from error

    def fork(self, descriptors: list[int], scratch: Path, seconds: float = math.inf) -> int:
        """The process number of a new child, which gets copies of ``descriptors`` as 0, 1, 2, ...

        It runs on the caller's processors, and may use them for ``seconds`` at least: its caller ends it by then.
        It is the number that the fork server knows it by. In bubblewrap ``scratch`` must come from ``scratch()``.
        """
        folder = bubblewrap.inside(scratch) if self._boxed else scratch
        limits = self.sandbox.limits if self.sandbox else self.limits
        limits = replace(limits, cpu_seconds=max(limits.cpu_seconds, AT_ONCE * math.ceil(min(seconds, HOUR))))
        sandbox = None if self.sandbox is None else asdict(replace(self.sandbox, limits=limits))
        request = {
            "do": "fork",
            "scratch": str(folder),
            "sandbox": sandbox,
            "limits": asdict(limits) if self.sandbox is None else None,
            "slot": self.slot,
            "processors": sorted(os.sched_getaffinity(0)),
        }
        return self._ask(json.dumps(request).encode(), descriptors)

    def end(self, pid: int) -> int:
        """Kill a child, wait for it, and return its wait status."""
        return self._ask(json.dumps({"do": "end", "pid": pid}).encode())

    def signal(self, pid: int, number: int) -> None:
        """Send a signal to a child."""
        self._ask(json.dumps({"do": "signal", "pid": pid, "number": number}).encode())

    def effort(self, pid: int) -> Effort:
        """The work of a child until now."""
        return Effort(pid, *self._ask(json.dumps({"do": "effort", "pid": pid}).encode()))

    def absent(self) -> dict[str, str]:
        """The libraries that were to be loaded and are not, with the reason: an error's text, or the threads that they
        start. Who imports them does so anew for each submission."""
        return self._ask(b'{"do": "absent"}')

    def learn(self, source: str, title: str) -> None:
        """Have test code compiled in the parent of the examiners, for all that it forks from now on."""
        assert self.role == "examiner", "no test code comes near the candidates"
        self._ask(json.dumps({"do": "learn", "source": source, "title": title}).encode())

    def _tell(self, request: bytes, descriptors: Sequence[int] = ()) -> None:
        try:
            socket.send_fds(self.socket, [request], descriptors)
        except (BrokenPipeError, ConnectionResetError) as error:
            raise SandboxError(
                f"the grading process stopped (fork server of the {self.role}s). Run the same command again"
            ) from error

    def _ask(self, request: bytes, descriptors: Sequence[int] = ()) -> Any:
        self._tell(request, descriptors)
        try:
            data = self.socket.recv(65536)
        except ConnectionResetError:
            data = b""
        if not data:
            raise SandboxError(
                f"the grading process stopped (fork server of the {self.role}s). Run the same command again"
            )
        return json.loads(data)

    def close(self) -> None:
        self.socket.close()


HOME = "home"
"""The folder beside the scratch folders to which a fork server and its libraries write."""
ORIGIN = ("-sP", "-m", "viva.engine.forkserver")
"""The arguments of Python for it. Not -I, which would ignore PYTHONHASHSEED; the environment is clean already."""
ENVIRONMENT = {
    "PATH": os.defpath,
    "LANG": "C.UTF-8",
    "USER": USER,
    "LOGNAME": USER,
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "OMP_THREAD_LIMIT": "1",  # also for who asks for more, as torch.set_num_threads(4) does
    "MKL_NUM_THREADS": "1",
    "JE_ARROW_MALLOC_CONF": "background_thread:false",  # pyarrow's thread, which pandas would start; none can be forked
    "JOBLIB_MULTIPROCESSING": "0",  # n_jobs=-1 of scikit-learn works in the one process that there is
    "MALLOC_ARENA_MAX": "2",
    "PYTHONHASHSEED": "0",
    "NBGRADER_EXECUTION": "autograde",
}
"""The environment of a parent and all its children: it tells them nothing of the outside but their folder."""


@dataclass(frozen=True)
class Role:
    """The role of a fork server, ``candidate`` or ``examiner``; without ``sandbox`` each child's ``limits``."""

    name: str
    sandbox: Sandbox | None = None
    slot: int = 0
    limits: Limits = USUAL


class Parent(Channel):
    """A fork server, and the channel of the process that has started it."""

    def __init__(self, role: Role, folder: Path, connection: socket.socket, process: subprocess.Popen) -> None:
        """``process`` is the one that was started: with it ends every parent that it has forked."""
        super().__init__(role.name, role.sandbox, role.slot, role.limits, folder, connection)
        self.process = process

    @property
    def pid(self) -> int:
        """Its own number, or what it is called where bubblewrap gives it another."""
        return self._ask(b'{"do": "pid"}')

    def load(self, names: Sequence[str]) -> None:
        """Have more libraries loaded in this parent alone, before the next fork."""
        with contextlib.suppress(SandboxError):  # it has ended: whoever asks for a fork is told
            self._tell(json.dumps({"do": "load", "names": list(names)}).encode())

    def close(self) -> None:
        """End this parent, and those that were started with it."""
        self.process.kill()
        self.process.wait()
        with contextlib.suppress(OSError):  # what it forked ends a moment later, as in bubblewrap it does itself
            while self.socket.recv(REQUEST_BYTES):
                pass
        super().close()
        remove(self.folder)


class Origin:
    """A process that fork servers come from, started and not yet told which."""

    def __init__(
        self, likely: Sequence[str] = (), box: Sandbox | None = None, environment: dict[str, str] | None = None
    ) -> None:
        """Libraries that are ``likely`` it loads meanwhile; in the sandbox ``box`` it is in bubblewrap."""
        self.likely, self.maker = likely, os.getpid()
        self.folder = Path(tempfile.mkdtemp(prefix="viva-"))
        self.folder.chmod(0o711)  # root's children, who are other users, pass through to their scratch folders
        (self.folder / HOME).mkdir()
        around = bubblewrap.command(box.readable, self.folder) if box else ()
        folder, maker = (bubblewrap.PLACE, bubblewrap.INIT) if box else (str(self.folder), self.maker)
        self.control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self.process = subprocess.Popen(
                [*around, sys.executable, *ORIGIN, str(theirs.fileno()), str(maker), folder, *likely],
                pass_fds=[theirs.fileno()],
                env=ENVIRONMENT | (environment or {}),
                cwd="/",
                stdin=subprocess.DEVNULL,
                start_new_session=True,
            )

    def become(self, roles: Sequence[Role], loaded: Sequence[str]) -> list[Parent]:
        """A fork server for each of the ``roles``."""
        ours, theirs = zip(*(socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET) for _ in roles), strict=True)
        order = json.dumps({"roles": [role.name for role in roles], "loaded": loaded, "absent": {}})
        with self.control, contextlib.suppress(OSError):  # it has ended: whoever asks the parents is told
            socket.send_fds(self.control, [order.encode()], [connection.fileno() for connection in theirs])
        for connection in theirs:
            connection.close()
        return [
            Parent(role, self.folder, connection, self.process) for role, connection in zip(roles, ours, strict=True)
        ]

    def end(self) -> None:
        """End a process that nobody needs."""
        self.control.close()
        self.process.kill()
        self.process.wait()
        remove(self.folder)


_early: list[Origin] = []
"""The prepared process that is not taken yet: one at the most."""


def prepare(likely: Sequence[str] = ()) -> None:
    """Start the process that this one's next fork servers come from, while it loads what it needs itself.

    That loads what is ``likely`` to be wanted; where not all of it is, its time was lost.
    """
    _early[:] = [Origin(likely)]


def abandon() -> None:
    """End what was prepared and is not needed."""
    while _early:
        origin = _early.pop()
        if origin.maker == os.getpid():
            origin.end()


def begin(
    roles: Sequence[Role], loaded: Sequence[str] = libraries.COMMON, environment: dict[str, str] | None = None
) -> list[Parent]:
    """A fork server for each of the ``roles``, with these libraries ``loaded``."""
    boxes = [role.sandbox for role in roles if role.sandbox is not None and role.sandbox.bubblewrap]
    if boxes and len(roles) > 1:
        return [parent for role in roles for parent in begin([role], loaded, environment)]
    if boxes:
        return Origin(box=boxes[0], environment=environment).become(roles, loaded)
    fits = environment is None and all(
        origin.maker == os.getpid() and set(origin.likely) <= set(loaded) for origin in _early
    )
    origin = _early.pop() if _early and fits else Origin(environment=environment)
    abandon()
    return origin.become(roles, loaded)
