"""A stranger's folder: walked, measured and removed, however deep, wide, closed or large it is; and ours, filled.

Python's own ways into a folder call themselves at each level, and end with a RecursionError in a thousand of them.
Here nothing recurses, no link is followed, and what cannot be listed is passed over.
"""

from __future__ import annotations

import contextlib
import fnmatch
import os
import stat
import tempfile
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

from viva.verdict import CourseError

MOST_LEVELS = 20
"""Folders in folders, below which nobody looks: a thousand make a path that no system call takes."""
FOR_TESTS = ".viva-tests"
"""In a folder of an assignment's files, the folder of those that only its tests get."""
SOLVED = ".viva-solved"
"""In the same folder, the folder of the author's graded notebooks that another notebook runs or reads."""
OURS = (FOR_TESTS, SOLVED)
MOST_FILES = 5000
"""Files of a submission, and members of a zip, beyond which nobody looks."""


def walk(folder: str | Path, ignored: Collection[str] = (), closed: list[str] | None = None) -> Iterator[Path]:
    """All that is in a folder except folders, in order; links and pipes too.

    ``ignored`` are patterns of names, of folders too; as in a shell, only ``.*`` matches a name that begins with a dot.
    The folders that cannot be listed, or lie too deep, are added to ``closed``.
    """
    todo = [(os.fspath(folder), 0)]
    while todo:
        directory, level = todo.pop()
        folders = []
        for entry in _entries(directory, closed):
            if any(matches(entry.name, pattern) for pattern in ignored):
                continue
            if entry.is_dir(follow_symlinks=False):
                folders.append((entry.path, level + 1))
            else:
                yield Path(entry.path)
        if level < MOST_LEVELS:
            todo += reversed(folders)
        elif closed is not None:
            closed += [inner for inner, _ in folders]


def state(folder: str | Path) -> dict[str, tuple[int, int, int]]:
    """The state of every file in a folder, by relative path: writing to a file changes it, also with the same bytes.

    What Python keeps there for itself is left out.
    """
    files = [(path, path.lstat()) for path in walk(folder, ("__pycache__",))]
    return {os.path.relpath(path, folder): (it.st_ino, it.st_size, it.st_mtime_ns) for path, it in files}


def _entries(directory: str | Path, closed: list[str] | None = None) -> list[os.DirEntry]:
    try:
        with os.scandir(directory) as entries:
            return sorted(entries, key=lambda entry: entry.name)
    except OSError:
        if closed is not None:
            closed.append(os.fspath(directory))
        return []


def matches(name: str, pattern: str) -> bool:
    """Whether a name is one of a pattern, as in a shell."""
    return fnmatch.fnmatchcase(name, pattern) and (name[:1] != "." or pattern[:1] == ".")


def holds_more(folder: str | Path, size: int, files: int) -> bool:
    """Whether a folder takes more than ``size`` bytes on disk or ``files`` entries, or cannot be looked into."""
    todo = [os.fspath(folder)]
    while todo:
        try:
            with os.scandir(todo.pop()) as entries:
                for entry in entries:
                    with contextlib.suppress(FileNotFoundError):
                        status = entry.stat(follow_symlinks=False)
                        size, files = size - status.st_blocks * 512, files - 1
                        if stat.S_ISDIR(status.st_mode):
                            todo.append(entry.path)
        except FileNotFoundError:
            continue
        except OSError:  # too deep, or closed to us
            return True
        if size < 0 or files < 0:
            return True
    return False


def fill(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write files into a folder, by their paths in it."""
    for name, data in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def remove(folder: Path) -> None:
    """Remove a folder with all that is in it, also what was made unreadable or too deep, as far as we may.

    Until the end all of it lies in that folder, so that a removal which was cut off can be done again. Of a link the
    link is removed, and nothing that it leads to.
    """
    with contextlib.suppress(OSError):
        if folder.is_symlink():
            folder.unlink()
            return
        os.chmod(folder, stat.S_IRWXU)
        heap = Path(tempfile.mkdtemp(dir=folder))
        _empty(folder, heap)
        heap.rmdir()
        folder.rmdir()


def _empty(folder: Path, heap: Path) -> None:
    """Move the folders in a folder, and those in them, onto a heap, where no path is long, and remove them there."""
    todo = [inner for inner in _unlinked(folder) if inner != os.fspath(heap)]
    places: list[str] = []
    while todo:
        inner, target = todo.pop(), f"{heap}/{len(places)}"
        with contextlib.suppress(OSError):
            os.chmod(inner, stat.S_IRWXU)
            os.rename(inner, target)
            places.append(target)
            todo += _unlinked(target)
    for target in reversed(places):
        with contextlib.suppress(OSError):
            os.rmdir(target)


def _unlinked(folder: str | Path) -> list[str]:
    """The folders in a folder, when all else in it was removed."""
    folders = []
    for entry in _entries(folder):
        if entry.is_dir(follow_symlinks=False):
            folders.append(entry.path)
        else:
            with contextlib.suppress(OSError):
                os.unlink(entry.path)
    return folders


def read_utf8(path: Path, newline: str | None = None) -> str:
    """The text of a file that an instructor wrote; ``newline`` is that of ``open``.

    Raises CourseError where it is not UTF-8, and OSError.
    """
    try:
        with path.open(encoding="utf-8", newline=newline) as file:
            return file.read()
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise CourseError(f"{path}, line {line}: the file is not in UTF-8. Save it in that encoding.") from error
