"""The traces of a person as a zip, for the person.

Hidden tests stand in graded notebooks and in the results of the checks. They lie in a folder of their own, so that an
instructor can take it out before the zip goes to the student.
"""

from __future__ import annotations

import contextlib
import json
import os
import stat
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

from nbgrader.api import Gradebook

from viva import folder as folders
from viva.course.course import Course
from viva.course.gradebook.results import NAME as RESULTS
from viva.course.processes import leftovers
from viva_term.privacy import bookrows, records
from viva_term.privacy.traces import Traces

OPEN, HIDDEN = "data", "with hidden tests"
ABOUT = """Everything that the course keeps about {who}.

data/                 submissions, feedback, rows of tables, and the rows of the gradebook
with hidden tests/    graded notebooks and results of single checks. Hidden tests can be read in them. If the tests
                      are used again, delete this folder before you give the zip to the student.

{rest}
Not in this zip: backups, the history of git, nbgrader's exchange, and the learning system.
"""


def write(course: Course, traces: Traces, path: Path) -> int:
    """Write the zip, readable for its owner alone, and return how many files are in it."""
    graded = course.path("autograded", ".", ".")
    descriptor, name = tempfile.mkstemp(prefix=leftovers.BUILD, dir=path.parent)
    try:
        with os.fdopen(descriptor, "wb") as file, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as new:
            for member, data in _parts(course, traces, graded, path):
                new.writestr(_member(member), data)
            new.writestr(_member("about.txt"), ABOUT.format(who=traces.person.called, rest=_rest(traces)))
            count = len(new.namelist())
        Path(name).replace(path)
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(name)
    return count


def _parts(course: Course, traces: Traces, graded: Path, target: Path) -> Iterator[tuple[str, bytes]]:
    for item in traces.whole:
        for path in [item] if item.is_file() or item.is_symlink() else folders.walk(item):
            if path == target or path.is_symlink() or not path.is_file():  # a link may lead anywhere
                continue
            hidden = item.is_relative_to(graded) or "log" in _relative(course, item).parts
            yield f"{HIDDEN if hidden else OPEN}/{_relative(course, path)}", path.read_bytes()
    for path, taken in traces.cuts.items():
        text = taken.header + "".join(records.personal_part(removed, traces.person) for removed in taken.cuts)
        hidden = path.name == RESULTS or path.suffix == ".jsonl"
        yield f"{HIDDEN if hidden else OPEN}/{_relative(course, path)}", text.encode(taken.encoding)
    for path, members in traces.archives.items():
        with zipfile.ZipFile(path) as archive:
            for name in members.whole:
                yield f"{OPEN}/{_relative(course, path)}/{name.replace('..', '_')}", archive.read(name)
    if rows := traces.books.get(course.gradebook_file):

        def ask(gradebook: Gradebook) -> bookrows.Rows:
            return bookrows.legible(gradebook.db.connection(), rows)

        yield f"{OPEN}/gradebook.json", json.dumps(course.ask(ask), indent=2, ensure_ascii=False).encode()


def _relative(course: Course, path: Path) -> Path:
    return path.relative_to(course.root) if path.is_relative_to(course.root) else Path(path.name)


def _member(name: str) -> zipfile.ZipInfo:
    member = zipfile.ZipInfo(name)
    member.compress_type, member.external_attr = zipfile.ZIP_DEFLATED, (stat.S_IFREG | 0o600) << 16
    return member


def _rest(traces: Traces) -> str:
    """What is not in the zip, in numbers: whose files they are is not the person's to know."""
    sentences = [f"Files about the whole class that name this person: {len(traces.pages)}."] if traces.pages else []
    if traces.mentions or traces.comments:
        sentences.append(f"Work of others that mentions this person: {len(traces.mentions) + traces.comments} places.")
    return "\n".join([*sentences, ""])
