"""What a watcher does, told at a terminal and on a page: report/watch.html."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from viva.course.processes import leftovers
from viva.pages.page import template
from viva.verdict import CourseError
from viva_watch.memory import Memory, Told
from viva_watch.watcher import LOCK

PAGE = "watch.html"


def is_watched(root: Path) -> bool:
    """Whether a watcher works on a course."""
    try:
        lock = os.open(root / LOCK, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        return not leftovers.take(lock, root / LOCK, shared=True)
    except CourseError:  # no file can be locked there, so that no watcher works there either
        return False
    finally:
        os.close(lock)


def state(root: Path, known: Memory) -> str:
    if not is_watched(root):
        return "No watcher runs"
    waits = f"{known.waiting} wait" if known.waiting else "nothing waits"
    return f"The watcher runs; {waits}"


def lines(known: Memory) -> Iterator[str]:
    """Sentences about its work."""
    if known.started:
        yield f"Started at {known.started:%Y-%m-%d %H:%M:%S} UTC (process {known.pid}), graded {known.graded} since."
    if known.looked:
        yield f"Looked last at {known.looked:%Y-%m-%d %H:%M:%S} UTC."
    if rate := known.a_minute():
        yield f"{rate:.1f} submissions a minute, over the last {len(known.last)}."
    if known.later:
        yield f"The next round begins at {known.later:%Y-%m-%d %H:%M:%S} UTC."


def tables_of(known: Memory) -> Iterator[tuple[str, list[Told]]]:
    """What it tells, by title; what has to do with the exchange only where there is some."""
    yield "last submissions", known.last
    yield "last errors", known.errors
    if known.passed:
        yield "passed over in the exchange", list(known.passed.values())
    if known.dated_back:
        yield "claimed times that do not count", known.dated_back


def rows(told: list[Told]) -> list[tuple[str, str, str, str]]:
    """Newest first."""
    return [
        (
            f"{one.at:%Y-%m-%d %H:%M:%S}",
            one.assignment,
            one.student,
            one.what + (f", {one.seconds:.1f} s" if one.seconds else ""),
        )
        for one in reversed(told)
    ]


def write(root: Path, known: Memory) -> None:
    tables = [(title[:1].upper() + title[1:], rows(some)) for title, some in tables_of(known)]
    page = template("watch.html").render(
        course=str(root), state=state(root, known), lines=list(lines(known)), tables=tables
    )
    leftovers.write(root / "report" / PAGE, page)
