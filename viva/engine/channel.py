"""What a process that has forks made asks of a warm parent: a fork, its end, a signal."""

from __future__ import annotations

import json
import math
import os
import socket
import tempfile
from dataclasses import asdict, replace
from pathlib import Path

from viva.sandbox import bubblewrap
from viva.sandbox.confinement import Limits, Wall
from viva.verdict import WallError

REQUEST_BYTES = 1 << 20
AT_ONCE, HOUR = 4, 3600
"""So many threads may a process keep busy for all of its time, and the most that this is."""


class Channel:
    """A warm parent, seen from a process that has forks made.

    Several processes can share a warm parent: each has a channel of its own. What was forked through a channel ends
    when that channel is closed, and everything when the parent is.
    """

    def __init__(
        self, role: str, wall: Wall | None, slot: int, limits: Limits, folder: Path, connection: socket.socket
    ) -> None:
        """``connection`` leads to the warm parent, ``folder`` is that of its scratch folders."""
        self.role, self.wall, self.slot, self.limits = role, wall, slot, limits
        self.folder, self.socket = folder, connection

    @property
    def _boxed(self) -> bool:
        return self.wall is not None and self.wall.bubblewrap

    @property
    def place(self) -> str:
        """What the folder of the scratch folders is called by the processes in it."""
        return bubblewrap.PLACE if self._boxed else str(self.folder)

    def channel(self, slot: int) -> Channel:
        """Another channel to the same warm parent, for another process and with a slot of its own."""
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            try:
                socket.send_fds(self.socket, [b'{"do": "attach"}'], [theirs.fileno()])
            except OSError as error:
                ours.close()
                raise WallError(f"the warm parent of the {self.role}s has ended") from error
        return Channel(self.role, self.wall, slot, self.limits, self.folder, ours)

    def scratch(self) -> Path:
        """A new folder for a child to work in."""
        try:
            return Path(tempfile.mkdtemp(prefix="viva-scratch-", dir=self.folder))
        except FileNotFoundError as error:
            raise WallError(f"the warm parent of the {self.role}s has ended") from error

    def fork(self, descriptors: list[int], scratch: Path, seconds: float = math.inf) -> int:
        """The process number of a new child, which gets copies of ``descriptors`` as 0, 1, 2, ...

        It runs on the caller's processors, and may use them for ``seconds`` at least: its caller ends it by then.
        It is the number that the warm parent knows it by. In bubblewrap ``scratch`` must come from ``scratch()``.
        """
        scratch = bubblewrap.inside(scratch) if self._boxed else scratch
        limits = self.wall.limits if self.wall else self.limits
        limits = replace(limits, cpu_seconds=max(limits.cpu_seconds, AT_ONCE * math.ceil(min(seconds, HOUR))))
        wall = None if self.wall is None else asdict(replace(self.wall, limits=limits))
        limits = asdict(limits) if self.wall is None else None
        request = {"do": "fork", "scratch": str(scratch), "wall": wall, "limits": limits, "slot": self.slot}
        request["processors"] = sorted(os.sched_getaffinity(0))
        request = json.dumps(request).encode()
        return self._ask(request, descriptors)

    def end(self, pid: int) -> int:
        """Kill a child, wait for it, and return its wait status."""
        return self._ask(json.dumps({"do": "end", "pid": pid}).encode())

    def signal(self, pid: int, number: int) -> None:
        """Send a signal to a child."""
        self._ask(json.dumps({"do": "signal", "pid": pid, "number": number}).encode())

    def kept_waiting(self, pid: int) -> float:
        """Seconds that a child could have worked while others had the processor; 0 where the kernel does not count."""
        return self._ask(json.dumps({"do": "kept waiting", "pid": pid}).encode())

    def learn(self, source: str, title: str) -> None:
        """Have test code compiled in the parent of the examiners, for all that it forks from now on."""
        assert self.role == "examiner", "no test code comes near the candidates"
        self._ask(json.dumps({"do": "learn", "source": source, "title": title}).encode())

    def _tell(self, request: bytes, descriptors: list[int] = ()) -> None:
        try:
            socket.send_fds(self.socket, [request], descriptors)
        except (BrokenPipeError, ConnectionResetError) as error:
            raise WallError(f"the warm parent of the {self.role}s has ended") from error

    def _ask(self, request: bytes, descriptors: list[int] = ()) -> int | float:
        self._tell(request, descriptors)
        try:
            data = self.socket.recv(65536)
        except ConnectionResetError:
            data = b""
        if not data:
            raise WallError(f"the warm parent of the {self.role}s has ended")
        return json.loads(data)

    def close(self) -> None:
        self.socket.close()
