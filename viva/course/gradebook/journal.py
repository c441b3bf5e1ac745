"""A journal of changes that concern several files, or files and the gradebook: ``.journal/`` in the course folder.

Theory of operation. What is in one file is written whole or not at all, and what is in the gradebook is one
transaction. A change of both can be killed in between, and the next command would work with half of it. So a change is
written down first: its kind, all that its steps need to know, and what the user typed. Then its steps are done one by
one, each followed by a line that says so; at last the file goes. Each step can be done twice with the same result, as a
command may be killed between a step and its line. Whoever takes the course's lock reads the journal first, does the
steps that are left, and says so.

A change that takes long is only announced, and its steps are written down as they pass: the same command, typed again,
goes on with it. Until then everybody is told, and no score of its assignment is sent to a learning system.

    .journal/restore-alee.jsonl
    {"kind":"restore","called":"viva roster --restore alee","about":{"student":"alee"}}
    {"done":"rows of gradebook.db","lost":0}
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from viva import doors
from viva.cleaning import plaintext
from viva.course.course import Course
from viva.course.processes import leftovers, stopping
from viva.verdict import CourseError

FOLDER, ENDING = ".journal", ".jsonl"


@dataclass(frozen=True)
class Step:
    """A part of a change, whole or not at all: a file, a folder that moves, a transaction."""

    name: str
    act: Callable[[], int | None]
    """Do it; the number of things that it could not do, as there was no place for them any more."""


class Intent(msgspec.Struct, frozen=True):
    """A change, before it is begun."""

    kind: str
    called: str
    """What the user typed."""
    about: dict[str, Any]
    waits: bool = False
    """Whether it is only announced, until its command is run again."""

    @property
    def name(self) -> str:
        return f"{self.kind}-{self.about.get('student') or self.about.get('assignment', '')}"


class _Done(msgspec.Struct, frozen=True):
    done: str
    lost: int = 0


def carry_out(course: Course, intent: Intent, steps: Iterable[Step]) -> int:
    """Do a change, and return how many things had no place; the caller is alone with the course. Raises as steps do."""
    path = _begun(course, intent)
    return _go_on(course, path, steps, {})


def begin(course: Course, intent: Intent) -> None:
    """Write down a change that takes long; ``end`` says that it is done. Raises OSError."""
    _begun(course, intent)


def passed(course: Course, intent: Intent, step: str) -> None:
    """A step of a change that was written down is done; who repeats the change does it again. Raises OSError."""
    note(_path(course, intent), step)


def end(course: Course, intent: Intent) -> None:
    """A change that was written down is done."""
    _forget(course, _path(course, intent))


def finish(course: Course, tell: Callable[[str], object]) -> list[Intent]:
    """Finish the changes that were stopped, and return them; ``tell`` gets a sentence for each.

    The caller holds the lock of the course. Raises CourseError where one cannot be finished.
    """
    finished = []
    for path, intent, done in list(_unfinished(course)):
        called = plaintext.quoted(intent.called)
        if intent.waits:
            tell(f"{called} was stopped before its end. Run it again to finish it.")
            continue
        _go_on(course, path, _steps_of(course, intent), done)
        tell(f"{called} was stopped before its end. It was finished now.")
        finished.append(intent)
    return finished


def pending(course: Course) -> list[Intent]:
    """The changes that were stopped, and are not finished yet."""
    return [intent for _, intent, _ in _unfinished(course)]


def require_whole(course: Course, assignment: str) -> None:
    """Raises CourseError where some of an assignment's scores are those before a change, and some those after it."""
    for intent in pending(course):
        if intent.waits and intent.about.get("assignment") == assignment:
            raise CourseError(
                f"{plaintext.quoted(intent.called)} was stopped before its end, so some scores of {assignment} are "
                "old. Nothing was sent. Run it again, then send the scores."
            )


@doors.of_functions("viva.changes", dict.fromkeys(("forget", "restore", "erase", "same", "roster"), "nbviva-term"))
def changes(*, course: Course, about: dict[str, Any]) -> Iterable[Step]:
    """the steps of a change, from what it is about: they finish one that was stopped"""
    raise NotImplementedError


def _steps_of(course: Course, intent: Intent) -> Iterable[Step]:
    try:
        return changes.ask(intent.kind, course=course, about=intent.about)
    except KeyError:
        package = changes.lacking(intent.kind)
        raise CourseError(
            f"{plaintext.quoted(intent.called)} was stopped before its end. It must be finished first. {package}"
        ) from None


def _path(course: Course, intent: Intent) -> Path:
    return course.root / FOLDER / f"{intent.name}{ENDING}"


def _begun(course: Course, intent: Intent) -> Path:
    path = _path(course, intent)
    leftovers.write(path, msgspec.json.encode(intent).decode() + "\n")
    return path


def _go_on(course: Course, path: Path, steps: Iterable[Step], done: dict[str, int]) -> int:
    lost = sum(done.values())
    with stopping.postponed():  # a request to stop waits for the end of the change
        for step in steps:
            if step.name in done:
                continue
            missing = step.act() or 0
            lost += missing
            note(path, step.name, missing)
        _forget(course, path)
    return lost


def note(path: Path, name: str, lost: int = 0) -> None:
    """Add a line that a step is done, and wait until the disk has it. Raises OSError."""
    with path.open("ab") as file:
        file.write(msgspec.json.encode(_Done(name, lost)) + b"\n")
        file.flush()
        os.fsync(file.fileno())


def _forget(course: Course, path: Path) -> None:
    path.unlink(missing_ok=True)
    with contextlib.suppress(OSError):
        (course.root / FOLDER).rmdir()


def _unfinished(course: Course) -> Iterator[tuple[Path, Intent, dict[str, int]]]:
    """Each change that is written down, in the order of their beginning, with what is done of it by name."""
    paths = [path for path in (course.root / FOLDER).glob(f"*{ENDING}") if not path.name.startswith(leftovers.BUILD)]
    for path in sorted(paths, key=lambda path: (path.stat().st_mtime_ns, path.name)):
        first, *lines = path.read_bytes().splitlines() or [b""]
        try:
            intent = msgspec.json.decode(first, type=Intent)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise CourseError(
                f"{path} is damaged: {error}. This file tells which command was stopped. Restore it from a copy. Or "
                "move it away, and check which results are missing."
            ) from error
        done = {}
        for line in lines:
            with contextlib.suppress(msgspec.DecodeError):  # half a line counts as none
                step = msgspec.json.decode(line, type=_Done)
                done[step.done] = step.lost
        yield path, intent, done
