"""Who works with a course for long without its lock: a watcher between two rounds, an export that waits for a network.

Each holds a lock of its own meanwhile. A command that takes a student's data out of the course refuses until they end:
they have some of it in their memory, and would write it again.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator

from viva.course.course import Course
from viva.course.processes import leftovers
from viva.verdict import CourseError

SENDING = "sending.lock"
OTHERS = {"watch.lock": "'viva watch'", SENDING: "an export to a learning system"}


@contextlib.contextmanager
def sending(course: Course) -> Iterator[None]:
    """Nobody else sends scores meanwhile. Raises CourseError where somebody does."""
    path = course.root / SENDING
    lock = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    try:
        if not leftovers.take(lock, path):
            raise CourseError(
                "Nothing was sent: another export to a learning system is running here. Wait until it ends, then run "
                "the same command again."
            )
        yield
    finally:
        os.close(lock)


def require_nobody(course: Course) -> None:
    """Raises CourseError while one of them works."""
    for name, who in OTHERS.items():
        path = course.root / name
        if not path.exists():
            continue
        lock = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            if not leftovers.take(lock, path, shared=True):
                raise CourseError(f"Nothing was done: {who} is running here. Stop it, then run this command again.")
        finally:
            os.close(lock)
