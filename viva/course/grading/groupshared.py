"""nbgrader's option ``CourseDirectory.groupshared``: graders of one group share a course's files.

nbgrader gives its converters' files to the group. Here all that a command makes is the group's: the gradebook, which
SQLite makes for its owner alone, results, lists, locks, pages. Folders hand their group on (setgid), as nbgrader's do.
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterator
from pathlib import Path

from viva.course.course import Course

FOLDERS = ("submitted", "release", "autograded", "feedback")
OURS = ("attempts", "unmatched", "variants", "report", ".rehearsals", ".open")
MADE = (".db", ".lock", ".jsonl", ".csv", ".xlsx", ".json", ".zip", ".key")
"""How files end that commands make in the course folder itself."""
FILE, FOLDER = 0o060, 0o2770
OTHERS = 0o007


@contextlib.contextmanager
def shared(course: Course) -> Iterator[None]:
    """Inside, new files belong to the group too, if the course is configured so."""
    if not course.directory.groupshared:
        yield
        return
    before = os.umask(0o007)
    os.umask(before & OTHERS)
    try:
        yield
    finally:
        os.umask(before)
        share(course)


def share(course: Course) -> None:
    """Let the group write to this user's files. Files of other users stay as they are."""
    for path in course.root.iterdir():
        if path.name.endswith(MADE) and path.is_file():
            _give(path, FILE)
    for folder in (*(course.path(step, ".") for step in FOLDERS), *(course.root / name for name in OURS)):
        for parent, _, files in os.walk(folder):
            _give(Path(parent), FOLDER)
            for name in files:
                _give(Path(parent, name), FILE)


def _give(path: Path, rights: int) -> None:
    with contextlib.suppress(OSError):
        status = path.lstat()
        mode = stat.S_IMODE(status.st_mode)
        if status.st_uid == os.geteuid() and not stat.S_ISLNK(status.st_mode) and mode & rights != rights:
            path.chmod(mode | rights)
