"""Whether release/ is what source/ compiles to: the course is released in a copy, and the files are compared.

Neither gradebook nor contracts of the course take part, so that nothing in it changes: a course on git checks each
proposed change so.
"""

from __future__ import annotations

import contextlib
import copy
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from nbgrader.coursedir import CourseDirectory
from traitlets.config import Config

from viva.course.course import Course
from viva.folder import walk

STEPS = ("release", "submitted", "autograded", "feedback")
LEFT_OUT = ("gradebook.db*", "results.jsonl*", "report", "attempts", "unmatched", "variants", "solutions", ".*")
"""What lies in a course and no release reads."""


@contextlib.contextmanager
def course_copy(course: Course, config: Config) -> Iterator[tuple[Course, Config]]:
    """A copy of what a release reads, in a temporary folder, with its configuration. Raises OSError."""
    steps = {course.path(step, "x", "x").relative_to(course.root).parts[0] for step in STEPS}
    patterns = shutil.ignore_patterns(*LEFT_OUT, *steps)

    def left_out(folder: str, names: list[str]) -> set[str]:
        return patterns(folder, names) if Path(folder) == course.root else set()

    with tempfile.TemporaryDirectory(prefix="viva-release-") as name:
        root = Path(name, course.root.name)
        shutil.copytree(course.root, root, symlinks=True, ignore=left_out)
        own = copy.deepcopy(config)
        own.CourseDirectory.root, own.CourseDirectory.db_url = str(root), f"sqlite:///{root / 'gradebook.db'}"
        yield Course(CourseDirectory(config=own)), own


def differences(ours: Path, compiled: Path) -> list[str]:
    """What is different in the folder of a release and in the one that was compiled anew, a sentence for each file."""
    files = [{str(path.relative_to(folder)): path for path in walk(folder)} for folder in (ours, compiled)]
    found = []
    for name in sorted({*files[0], *files[1]}):
        there, made = (part.get(name) for part in files)
        if not there:
            found.append(f"{name} is missing")
        elif not made:
            found.append(f"{name} does not come from source/")
        elif there.is_symlink() or there.read_bytes() != made.read_bytes():
            found.append(f"{name} is different")
    return found
