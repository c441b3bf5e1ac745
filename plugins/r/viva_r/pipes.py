"""Texts of JSON in named pipes. The other end is a stranger's program: it may write anything, or not read."""

from __future__ import annotations

import contextlib
import json
import os
import select
import time
from pathlib import Path
from typing import Any

MOST = 64 << 20
"""The most bytes of a line."""
CHUNK = 1 << 20
PATIENT = 10.0
"""Seconds in which the other end reads a line."""


class Pipes:
    """A pipe from a program and one to it, in a folder that it shares."""

    def __init__(self, folder: Path) -> None:
        self.open: list[int] = []
        for name in ("said", "told"):
            os.mkfifo(folder / name, 0o600)
            self.open.append(os.open(folder / name, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC))
        self.buffer = bytearray()

    @property
    def said(self) -> int:
        """Where the program writes."""
        return self.open[0]

    def close(self) -> None:
        for descriptor in self.open:
            os.close(descriptor)
        self.open = []

    def read(self) -> bytes | None:
        """A whole line, if one is there. Raises ValueError for one that is too long."""
        with contextlib.suppress(BlockingIOError):
            while chunk := os.read(self.said, CHUNK):
                self.buffer += chunk
                if b"\n" in chunk or len(self.buffer) > MOST:
                    break
        if len(self.buffer) > MOST:
            raise ValueError("a line is too long")
        line, end, rest = self.buffer.partition(b"\n")
        if not end:
            return None
        self.buffer = bytearray(rest)
        return bytes(line)

    def write(self, what: Any) -> None:
        """Write a text after its length; None is an empty one. Raises TimeoutError where nobody reads it."""
        text = b"" if what is None else json.dumps(what).encode()
        left, end = memoryview(b"%010d" % len(text) + text), time.monotonic() + PATIENT
        poll = select.poll()
        poll.register(self.open[1], select.POLLOUT)
        while left:
            try:
                left = left[os.write(self.open[1], left[:CHUNK]) :]
            except BlockingIOError:
                if time.monotonic() > end or not poll.poll((end - time.monotonic()) * 1000):
                    raise TimeoutError("nobody reads") from None
