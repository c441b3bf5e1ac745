"""Ctrl-C and its relatives: a command stops with one sentence, and never in the middle of something.

Theory of operation. A signal may arrive between any two instructions, also between the making of a folder and
the note that it must go. So there are three modes. While the program is loaded next to nothing is held, and it
ends ``at_once``. While a command looks around, the signal raises Stopped wherever it is (``orderly``). While processes,
folders and transactions are held it is ``postponed``, and raises Stopped only where ``check`` is called: wherever
the program waits, and nothing is half done. The kernel ends the processes of a command that could not stop itself.
"""

from __future__ import annotations

import contextlib
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

SIGNALS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))
EARLY = b"Stopped; run the same command again to continue.\n"
AGAIN = 2.0
"""Within so many seconds a second Ctrl-C does not disturb the clean-up that the first one began."""

_pending: list[int] = []
_depth = 0
_last = -AGAIN


class Stopped(KeyboardInterrupt):
    """The user, or the machine, asked the command to stop."""

    def __init__(self, number: int = signal.SIGINT) -> None:
        super().__init__()
        self.status = 128 + number


def at_once(tidy: Callable[[], object] = str) -> None:
    """From now on a request to stop ends this process, once it has called ``tidy``."""

    def end(number: int, _: object) -> None:
        if _is_new():  # else it has been said, and the process is about to end
            os.write(2, EARLY)
            with contextlib.suppress(Exception):
                tidy()
            os._exit(128 + number)

    _handle(end)


def ignored() -> None:
    """From now on a request to stop is not heeded; the process is about to end."""
    _handle(signal.SIG_IGN)


@contextlib.contextmanager
def orderly() -> Iterator[None]:
    """Inside, a request to stop raises Stopped."""

    def stop(number: int, _: object) -> None:
        if _is_new():
            raise Stopped(number)

    with _handled(stop):
        yield


@contextlib.contextmanager
def postponed() -> Iterator[None]:
    """Inside, a request to stop waits for the next ``check``, or for the end."""
    global _depth

    def remember(number: int, _: object) -> None:
        if _is_new():
            _pending.append(number)

    with _handled(remember):
        _depth += 1
        try:
            yield
        finally:
            _depth -= 1
            pending = _pending.copy()
            if not _depth:
                _pending.clear()
    if pending and not _depth:
        raise Stopped(pending[0])


def check() -> None:
    """Raises Stopped when a postponed request to stop is there."""
    if _depth and _pending:
        raise Stopped(_pending[0])


def forget() -> None:
    """In a fork that its maker will stop: Ctrl-C is the maker's business, and the rest is as the system has it."""
    for number in SIGNALS:
        signal.signal(number, signal.SIG_IGN if number == signal.SIGINT else signal.SIG_DFL)


def _is_new() -> bool:
    global _last
    before, _last = _last, time.monotonic()
    return _last - before > AGAIN


@contextlib.contextmanager
def _handled(handler: Callable) -> Iterator[None]:
    before = _handle(handler)
    try:
        yield
    finally:
        for number, previous in before.items():
            signal.signal(number, previous)


def _handle(handler: Callable | signal.Handlers) -> dict[signal.Signals, Any]:
    """What handled the signals before. A signal that was ignored from the start, as under nohup, stays ignored."""
    if threading.current_thread() is not threading.main_thread():
        return {}
    before = {number: signal.getsignal(number) for number in SIGNALS}
    before = {number: previous for number, previous in before.items() if previous not in (signal.SIG_IGN, None)}
    for number in before:
        signal.signal(number, handler)
    return before


def sentence(stopped: KeyboardInterrupt) -> tuple[str, int]:
    """What to tell the user, and the exit status."""
    text = "Stopped. All finished work is kept. To continue, run the same command again."
    return text, getattr(stopped, "status", 128 + signal.SIGINT)
