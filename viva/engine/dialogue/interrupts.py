"""An interrupt of the candidate: it says that the time is over, and is let through only while student code runs.

Between a question and its answer it would leave half a message, or an answer that nobody waits for.
"""

from __future__ import annotations

import contextlib
import signal


@contextlib.contextmanager
def interruptible(yes: bool = True):
    """Let interrupts through, or hold them back, for a while."""
    ways = (signal.SIG_BLOCK, signal.SIG_UNBLOCK)
    try:
        signal.pthread_sigmask(ways[yes], {signal.SIGINT})
        yield
    finally:
        signal.pthread_sigmask(ways[not yes], {signal.SIGINT})


def forget_interrupt() -> None:
    """Drop an interrupt that was held back."""
    signal.sigtimedwait({signal.SIGINT}, 0)
