"""The limits of a student's notebook: its size, and the time for reading it.

What takes a notebook apart takes time that grows with the square of a text's length: an f-string of 600 kB keeps
Python's own parser busy for minutes. The largest cell of the course's known answers has 7,000 characters, the largest
notebook 45,000; ten times that is far more than anybody writes by hand. Outputs and pictures are not read as text, and
do not count.
"""

from __future__ import annotations

import contextlib
import re
import signal
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

from nbformat import NotebookNode

from viva.wording import refusal

with contextlib.suppress(ModuleNotFoundError):  # Windows has none; `viva check` gets along without
    import resource

MOST_IN_CELL, MOST_CODE, MOST_TEXT = 100_000, 500_000, 1_000_000
"""Characters of one code cell, of all of them, and of all texts."""
MOST_LINES = 20_000
"""Lines of all code."""
MOST_SECONDS = 60.0
"""Seconds of the processor for the reading of a submission, and again for each step that cleans it."""
MOST_MEMORY = 2 << 30
"""Bytes that the same may take."""
_PICTURE = re.compile(r"data:[\w/+.-]{1,50};base64,[\w+/=%]*")
"""Some programs write pictures into the text."""


class _TooLong(BaseException):
    """The time is over; no ``except Exception`` on the way keeps it to itself."""


def limit_sizes(notebook: NotebookNode) -> None:
    """Raises SubmissionError for what nobody writes by hand."""
    code = [(number, cell.source) for number, cell in enumerate(notebook.cells, 1) if cell.cell_type == "code"]
    texts = sum(
        len(cell.source) if len(cell.source) < MOST_TEXT // 100 else len(_PICTURE.sub("", cell.source))
        for cell in notebook.cells
        if cell.cell_type != "code"
    )
    for number, source in code:
        if len(source) > MOST_IN_CELL:
            raise refusal("cell_too_long", f"{len(source):,}", f"{MOST_IN_CELL:,}", numbers=(number,))
    for size, most, kind in (
        (sum(len(source) for _, source in code), MOST_CODE, "code_too_long"),
        (sum(source.count("\n") + 1 for _, source in code), MOST_LINES, "too_many_lines"),
        (texts, MOST_TEXT, "text_too_long"),
    ):
        if size > most:
            raise refusal(kind, f"{size:,}", f"{most:,}")


@contextlib.contextmanager
def limited(seconds: float = 0.0, memory: int = MOST_MEMORY) -> Iterator[None]:
    """Inside, reading may keep the processor busy for so long and take so many bytes more, else SubmissionError.

    Only a main thread is stopped, and only on Linux.
    """
    if threading.current_thread() is not threading.main_thread() or sys.platform != "linux":
        yield
        return

    def stop(*_: object) -> None:
        raise _TooLong

    before, (soft, hard) = signal.signal(signal.SIGVTALRM, stop), resource.getrlimit(resource.RLIMIT_AS)
    in_use = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    most = min(limit for limit in (in_use + memory, soft, hard) if limit != resource.RLIM_INFINITY)
    try:
        resource.setrlimit(resource.RLIMIT_AS, (most, hard))
        signal.setitimer(signal.ITIMER_VIRTUAL, seconds or MOST_SECONDS)
        yield
    except (_TooLong, MemoryError) as error:
        if isinstance(error, _TooLong):
            raise refusal("slow_to_read", amount=seconds or MOST_SECONDS) from None
        raise refusal("large_to_read", str(memory >> 20)) from None
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
