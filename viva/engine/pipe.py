"""Messages over a pipe, each after its length in four bytes.

After a TimeoutError or a WireError the position in the stream is lost: close the pipe.
"""

from __future__ import annotations

import os
import select
import struct
import time

from viva.engine.values.codec import BYTES as MESSAGE
from viva.verdict import WireError

LENGTH = struct.Struct(">I")
PAGE = 4096  # what a pipe that polls as writable takes without blocking


def write(fd: int, payload: bytes, timeout: float | None = None) -> None:
    """Write one message to a pipe; ``timeout`` is in seconds, for all of it.

    Raises WireError when it is longer than MESSAGE, EOFError when the other side has closed,
    TimeoutError when that does not read in time.
    """
    if len(payload) > MESSAGE:
        raise WireError(f"a message of {len(payload)} bytes is longer than {MESSAGE}")
    left = memoryview(LENGTH.pack(len(payload)) + payload)
    deadline = None if timeout is None else time.monotonic() + timeout
    while left:
        if deadline is not None:
            _wait(fd, select.POLLOUT, deadline)
        try:
            left = left[os.write(fd, left[:PAGE] if timeout is not None else left) :]
        except BlockingIOError:
            _wait(fd, select.POLLOUT, deadline)
        except BrokenPipeError as error:
            raise EOFError("the other side has closed the pipe") from error


def read(fd: int, limit: int = MESSAGE, timeout: float | None = None) -> bytes:
    """Read one message from a pipe; ``timeout`` is in seconds, for all of it.

    Raises EOFError when the other side closed before its end, WireError when it is longer than
    ``limit`` bytes, TimeoutError when it does not come in time.
    """
    deadline = None if timeout is None else time.monotonic() + timeout
    (length,) = LENGTH.unpack(_read(fd, LENGTH.size, deadline))
    if length > limit:
        raise WireError(f"a message of {length} bytes is longer than {limit}")
    return _read(fd, length, deadline)


def _read(fd: int, length: int, deadline: float | None) -> bytes:
    data = bytearray()
    while len(data) < length:
        if deadline is not None:
            _wait(fd, select.POLLIN, deadline)
        try:
            chunk = os.read(fd, min(length - len(data), 2**20))
        except BlockingIOError:
            _wait(fd, select.POLLIN, deadline)
            continue
        if not chunk:
            raise EOFError("the other side has closed the pipe")
        data += chunk
    return bytes(data)


def _wait(fd: int, event: int, deadline: float | None) -> None:
    poll = select.poll()
    poll.register(fd, event)
    left = None if deadline is None else max(0.0, deadline - time.monotonic()) * 1000
    if not poll.poll(left):
        raise TimeoutError("the other side did not answer in time")
