"""A submission's folder as bytes for grading on another machine, or as a copy that nobody changes.

What counts is kept: names, contents, which entries are links or no files. A file that is too large to be read stands
with its size alone, one that cannot be read as such. Nothing is followed, on no level, whoever puts a link in the place
of a folder meanwhile: each file is opened from its folder's descriptor, that from the folder's above, and so on.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import stat
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import msgspec
from msgspec import Struct, field

from viva.folder import MOST_FILES, walk
from viva.submission.files.contents import MOST_BYTES
from viva.submission.submission import Submission

FILE, LINK, OTHER, CLOSED = "file", "link", "other", "closed"
"""The kinds of entries of a folder; CLOSED is a file that cannot be read."""


class Entry(Struct, frozen=True, omit_defaults=True):
    """One entry of the folder: its ``name`` below it as the file system has it, and what it is."""

    name: bytes
    type: str = field(name="kind")  # as it crosses
    data: bytes = b""
    size: int = 0
    """Of a file whose data are left out."""


class Package(Struct, frozen=True):
    """What one student submitted for one assignment."""

    assignment: str
    student: str
    entries: list[Entry]
    zones: tuple[str, ...] = ()


def pack(submission: Submission) -> bytes:
    """The submission as bytes."""
    return msgspec.msgpack.encode(
        Package(submission.assignment, submission.student, list(_entries(submission)), submission.zones)
    )


def copy(submission: Submission, folder: Path, most: int = MOST_BYTES, ignored: Collection[str] = ()) -> Submission:
    """The submission in a folder that is made for it, without names that are ``ignored``, which may be globs.

    A file of more than ``most`` bytes has its size alone.
    """
    return _laid_out(replace(submission, folder=folder), _entries(submission, most, ignored))


def _entries(submission: Submission, most: int = MOST_BYTES, ignored: Collection[str] = ()) -> Iterator[Entry]:
    """Nothing of a folder that is a link, or lies in one."""
    paths = itertools.islice(walk(submission.folder, ignored), MOST_FILES)
    names = [os.path.relpath(path, submission.folder) for path in paths]
    above = submission.folder
    while above.name in (submission.student, submission.assignment):
        above = above.parent  # the instructor's own links, such as submitted/ on another disk, lie there
    parts = submission.folder.relative_to(above).parts
    with contextlib.suppress(OSError), _opened(above, os.O_DIRECTORY) as root, _below(root, parts) as folder:
        for name in names:
            yield _entry(folder, name, most)


def _entry(folder: int, name: str, most: int) -> Entry:
    """The entry of this name, which may lie deeper, in the folder of a descriptor."""
    *parts, last = Path(name).parts
    try:
        with _below(folder, parts) as parent:
            status = os.stat(last, dir_fd=parent, follow_symlinks=False)
            if stat.S_ISLNK(status.st_mode):
                return Entry(os.fsencode(name), LINK, os.fsencode(os.readlink(last, dir_fd=parent)))
            if not stat.S_ISREG(status.st_mode):
                return Entry(os.fsencode(name), OTHER)
            with _opened(last, dir_fd=parent) as descriptor, open(descriptor, "rb", closefd=False) as file:
                status = os.fstat(descriptor)
                if not stat.S_ISREG(status.st_mode):
                    return Entry(os.fsencode(name), OTHER)
                if status.st_size > most:
                    return Entry(os.fsencode(name), FILE, size=status.st_size)
                return Entry(os.fsencode(name), FILE, file.read(status.st_size))
    except OSError:
        return Entry(os.fsencode(name), CLOSED)


@contextlib.contextmanager
def _opened(path: str | Path, flags: int = 0, dir_fd: int | None = None) -> Iterator[int]:
    """A descriptor of a file, not of what a link leads to; nobody waits for what turns out to be a pipe."""
    flags |= os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | (os.O_NOFOLLOW if dir_fd is not None else 0)
    descriptor = os.open(path, flags, dir_fd=dir_fd)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def _below(folder: int, parts: Sequence[str]) -> Iterator[int]:
    """A descriptor of the folder that is reached by these names, none of which may be a link."""
    with contextlib.ExitStack() as stack:
        for part in parts:
            folder = stack.enter_context(_opened(part, os.O_DIRECTORY, folder))
        yield folder


def unpack(data: bytes, folder: Path) -> Submission:
    """The submission in a folder that is made for it. Raises msgspec.DecodeError for what is not a package."""
    package = msgspec.msgpack.decode(data, type=Package)
    return _laid_out(Submission(package.assignment, package.student, folder, package.zones), package.entries)


def _laid_out(submission: Submission, entries: Iterable[Entry]) -> Submission:
    submission.folder.mkdir(parents=True)
    for entry in entries:
        _write(entry, submission.folder)
    return submission


def _write(entry: Entry, folder: Path) -> None:
    path = folder / os.fsdecode(entry.name)
    if not path.resolve().parent.is_relative_to(folder.resolve()):
        return  # nobody packed that
    path.parent.mkdir(parents=True, exist_ok=True)
    if entry.type == LINK:
        path.symlink_to(os.fsdecode(entry.data))
    elif entry.type == OTHER:
        os.mkfifo(path)
    else:
        path.write_bytes(entry.data)
        os.truncate(path, max(entry.size, len(entry.data)))
        path.chmod(0o000 if entry.type == CLOSED else 0o600)
