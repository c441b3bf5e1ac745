"""The state of a watcher, at a terminal and on a page: report/watch.html."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from viva.course.processes import leftovers
from viva.pages.page import template
from viva.verdict import CourseError
from viva_watch.memory import Event, Memory
from viva_watch.watcher import LOCK

PAGE = "watch.html"
ERRORS = "last errors"
COLUMNS = ("time (UTC)", "assignment", "student", "result")
"""The columns of each table."""


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


def state(root: Path, memory: Memory) -> str:
    if not is_watched(root):
        return "No watcher is running"
    waits = f"{memory.waiting} wait" if memory.waiting else "nothing waits"
    return f"The watcher is running; {waits}"


def to_do(root: Path, memory: Memory) -> tuple[str, str, str] | None:
    """What somebody must act on: a number, what it counts, and the next action; None where there is nothing."""
    if not is_watched(root):
        waiting = "submission waits" if memory.waiting == 1 else "submissions wait"
        what = (str(memory.waiting), f"{waiting}, and no watcher is running")
        return *(what if memory.waiting else ("No watcher", "is running")), "Start it: viva watch"
    if unsolved := len(list(unsolved_errors(memory))):
        return str(unsolved), "error" if unsolved == 1 else "errors", ERRORS
    return None


def unsolved_errors(memory: Memory) -> Iterator[Event]:
    """The errors since the watcher started, but those of submissions that were graded later."""
    graded = {(event.assignment, event.student): event.at for event in memory.last}
    for error in memory.errors:
        later = graded.get((error.assignment, error.student))
        if (memory.started is None or error.at >= memory.started) and (later is None or later <= error.at):
            yield error


def lines(memory: Memory) -> Iterator[str]:
    """Sentences about its work."""
    if memory.started:
        yield f"Started at {memory.started:%Y-%m-%d %H:%M:%S} UTC (process {memory.pid}), graded {memory.graded} since."
    if memory.looked:
        yield f"Last look for submissions: {memory.looked:%Y-%m-%d %H:%M:%S} UTC."
    if rate := memory.a_minute():
        yield f"{rate:.1f} submissions a minute (of the last {len(memory.last)})."
    if memory.later:
        yield f"Next submission at {memory.later:%Y-%m-%d %H:%M:%S} UTC."


def tables_of(memory: Memory) -> Iterator[tuple[str, list[Event]]]:
    """What it tells, by title; what has to do with the exchange only where there is some."""
    yield "last submissions", memory.last
    yield ERRORS, memory.errors
    if memory.passed:
        yield "skipped in the exchange", list(memory.passed.values())
    if memory.dated_back:
        yield "submission times that do not count", memory.dated_back


def rows(events: list[Event]) -> list[tuple[str, str, str, str]]:
    """Newest first."""
    return [
        (
            f"{event.at:%Y-%m-%d %H:%M:%S}",
            event.assignment,
            event.student,
            event.what.rstrip(".") + (f", {event.seconds:.1f} s" if event.seconds else ""),
        )
        for event in reversed(events)
    ]


def write(root: Path, memory: Memory) -> None:
    tables = [(title[:1].upper() + title[1:], rows(events)) for title, events in tables_of(memory)]
    page = template("watch.html").render(
        course=str(root),
        state=state(root, memory),
        watched=is_watched(root),
        to_do=to_do(root, memory),
        lines=list(lines(memory)),
        columns=COLUMNS,
        tables=tables,
    )
    leftovers.write(root / "report" / PAGE, page)
