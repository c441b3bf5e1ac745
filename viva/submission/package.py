"""A submission's folder as bytes, so that another machine can grade it.

What counts is kept: names, contents, which entries are links or no files. A file that is too large to be read stands
with its size alone, one that cannot be read as such. Nothing is followed.
"""

from __future__ import annotations

import itertools
import os
import stat
from pathlib import Path

import msgspec
from msgspec import Struct

from viva.folder import MOST_FILES, walk
from viva.submission.files.contents import MOST_BYTES
from viva.submission.submission import Submission

FILE, LINK, OTHER, CLOSED = "file", "link", "other", "closed"
"""What an entry of a folder is; CLOSED for a file that cannot be read."""


class Entry(Struct, frozen=True, omit_defaults=True):
    """One entry of the folder: its ``name`` below it as the file system has it, and what it is."""

    name: bytes
    kind: str
    data: bytes = b""
    size: int = 0
    """Of a file whose data are left out."""


class Package(Struct, frozen=True):
    """What one student handed in for one assignment."""

    assignment: str
    student: str
    entries: list[Entry]


def pack(submission: Submission) -> bytes:
    """The submission as bytes."""
    paths = itertools.islice(walk(submission.folder), MOST_FILES)
    entries = [_entry(path, os.fsencode(os.path.relpath(path, submission.folder))) for path in paths]
    return msgspec.msgpack.encode(Package(submission.assignment, submission.student, entries))


def _entry(path: Path, name: bytes) -> Entry:
    try:
        about = path.lstat()
        if stat.S_ISLNK(about.st_mode):
            return Entry(name, LINK, os.fsencode(os.readlink(path)))
        if not stat.S_ISREG(about.st_mode):
            return Entry(name, OTHER)
        if about.st_size > MOST_BYTES:
            return Entry(name, FILE, size=about.st_size)
        return Entry(name, FILE, path.read_bytes())
    except OSError:
        return Entry(name, CLOSED)


def unpack(data: bytes, folder: Path) -> Submission:
    """The submission in a folder that is made for it. Raises msgspec.DecodeError for what is no package."""
    package = msgspec.msgpack.decode(data, type=Package)
    folder.mkdir(parents=True)
    for entry in package.entries:
        path = folder / os.fsdecode(entry.name)
        if not path.resolve().parent.is_relative_to(folder.resolve()):
            continue  # nobody packed that
        path.parent.mkdir(parents=True, exist_ok=True)
        if entry.kind == LINK:
            path.symlink_to(os.fsdecode(entry.data))
        elif entry.kind == OTHER:
            os.mkfifo(path)
        else:
            path.write_bytes(entry.data)
            os.truncate(path, max(entry.size, len(entry.data)))
            path.chmod(0o000 if entry.kind == CLOSED else 0o600)
    return Submission(package.assignment, package.student, folder)
