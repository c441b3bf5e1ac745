"""A copy of a course's gradebook, for commands that only read a course which cannot be written to.

Theory of operation. Who reads scores first reckons the late penalty, and writes it into the gradebook. On a
read-only disk, or in a snapshot of one, that is done in a copy: gradebook and results lie in a temporary folder, and
all else is read where it is. A gradebook on a server is worked with as ever.
"""

from __future__ import annotations

import contextlib
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from traitlets.config import Config

from viva.course.course import Course
from viva.course.gradebook import lateness
from viva.course.gradebook.results import Results
from viva.course.regrade.trialcopy import LOG


@contextlib.contextmanager
def snapshot(course: Course, config: Config) -> Iterator[None]:
    """Inside, the course's gradebook is a copy. Raises OSError where there is no room for it."""
    if not (book := course.gradebook_file) or not book.exists():
        yield
        return
    directory, before = course.directory, course.directory.db_url
    with tempfile.TemporaryDirectory(prefix="viva-snapshot-") as name:
        results = Results.of(directory).path
        for path in (book, book.with_name(f"{book.name}-journal"), results, results.with_name(LOG)):
            if path.exists():
                shutil.copyfile(path, Path(name, path.name))  # without its rights, which may be read-only
        directory.db_url = f"sqlite:///{Path(name, book.name)}"
        lateness.follow(config, db_url=directory.db_url, root=directory.root)
        try:
            yield
        finally:
            directory.db_url = before
