"""A line on the terminal for what takes long, so that nobody takes it for hung."""

from __future__ import annotations

import contextlib
import sys
import threading
from collections.abc import Iterator

from viva.cleaning import plaintext

QUIET = 2.0
"""Seconds before it is printed."""


@contextlib.contextmanager
def told(doing: str) -> Iterator[None]:
    """Print what the block is ``doing`` on standard error, if that is a terminal and the block takes long."""
    if not sys.stderr.isatty():
        yield
        return
    timer = threading.Timer(QUIET, _tell, [doing])
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _tell(doing: str) -> None:
    # Not by rich: this goes through the stream that a progress bar puts in place of standard error, above the bar.
    print(f"{plaintext.line(doing)} ...", file=sys.stderr, flush=True)
