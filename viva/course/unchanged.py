"""`viva grade` with nothing to do, answered before anything is loaded.

Theory of operation. A run that left nothing to do looks once more, in the same process, and keeps what that look says,
with a hash of the *state* of everything that it depends on: every file that it reads, by size, times, owner and inode;
the programs; the environment. The next run of the same command compares, says the same and ends. Nothing is guessed
from parts of the state: whatever differs, the command runs as ever.

Times do not tell a file that was changed twice within one tick of the file system's clock. So of files that had changed
just before they were looked at, the content counts too, as git does it.

What is kept lies in ``.unchanged/`` of the course, may be removed at any time, and is believed where it is the user's
own and nobody else can write it.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import stat
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import viva
from viva.course.location import course_above

NAME = ".unchanged"
MOST = 20
"""So many answers are kept; the oldest go first."""
MOST_BYTES = 1 << 20
TICK = 3 * 10**9
"""Nanoseconds: no file system's clock is coarser."""
OWN_OPTIONS = ("--student=", "--assignment=")
"""The options with which an answer is kept, beside names of assignments."""
PASSING = ("_", "SHLVL", "PWD", "OLDPWD")
"""Variables that say nothing."""
FLEETING = (".lock", NAME, ".rehearsals")
"""How files in the course folder end, and folders are called, that say nothing either."""


asked = ""
"""What the answer to this process's request is kept under, where none was kept; empty where it is of no use."""


class Unclear(Exception):  # noqa: N818
    """Something there has no certain state: a link to a folder, or a file that cannot be read."""


@dataclass
class Scope:
    """What a run depends on: whole ``trees``, ``folders`` with what lies directly in them, and single ``files``.

    Any of them may be absent, which is a state too.
    """

    trees: list[str] = field(default_factory=list)
    folders: list[str] = field(default_factory=list)
    files: list[str] = field(default_factory=list)

    def state(self, racy: int) -> str:
        """A hash; of files that changed at ``racy`` (nanoseconds) or later, their content counts. Raises Unclear."""
        digest = hashlib.sha256()
        try:
            for line in self._lines(racy):
                digest.update(os.fsencode(line) + b"\0")
        except OSError as error:
            raise Unclear(str(error)) from error
        return digest.hexdigest()

    def _lines(self, racy: int) -> Iterator[str]:
        for path in self.files:
            yield _about(path, racy)
        for path in self.folders:
            yield _about(path, racy, directory=True)
            yield from (_about(entry, racy) for entry in _entries(path) if not entry.endswith(FLEETING))
        for path in self.trees:
            todo = [path]
            while todo:
                place = todo.pop()
                yield _about(place, racy, directory=True)
                for entry in _entries(place):
                    if stat.S_ISDIR(os.lstat(entry).st_mode):
                        todo.append(entry)
                    else:
                        yield _about(entry, racy)


def _entries(place: str) -> list[str]:
    try:
        return sorted(entry.path for entry in os.scandir(place))
    except FileNotFoundError:
        return []


def _about(path: str, racy: int, directory: bool = False) -> str:
    """A line about a file, or about a folder that was chosen (``directory``), which may be a link."""
    try:
        about = os.lstat(path)
    except FileNotFoundError:
        return f"{path} is not there"
    known = [path, about.st_mode, about.st_uid, about.st_gid]
    if stat.S_ISLNK(about.st_mode):
        if not directory and os.path.isdir(path):
            raise Unclear(path)
        known += [os.readlink(path), about.st_ino]
        with contextlib.suppress(FileNotFoundError):
            about = os.stat(path)
    if stat.S_ISDIR(about.st_mode):  # what is in it tells
        return " ".join(map(str, known))
    known += [about.st_size, about.st_nlink, about.st_ino, about.st_dev, about.st_mtime_ns, about.st_ctime_ns]
    if stat.S_ISREG(about.st_mode) and about.st_ctime_ns >= racy:
        with open(path, "rb") as file:  # noqa: PTH123
            known.append(hashlib.file_digest(file, "sha256").hexdigest())
    return " ".join(map(str, known))


def told(words: list[str]) -> str | None:
    """What the command with these ``words`` said where nothing was to be done and nothing has changed; None if not.

    Then ``asked`` says what the answer is to be kept under: the command changes its own environment.
    """
    global asked
    root = course_above(Path.cwd())
    if not root or not all(not word.startswith("-") or word.startswith(OWN_OPTIONS) for word in words):
        return None
    try:
        asked = _name(root, words)
        kept = json.loads(_read(os.path.join(root, NAME), asked))
        scope = Scope(**kept["scope"])
        return str(kept["said"]) if scope.state(int(kept["racy"])) == kept["state"] else None
    except (OSError, ValueError, TypeError, LookupError, Unclear, RecursionError):
        return None


class Look:
    """A look at a course whose outcome is worth keeping, if nothing changes until it is kept.

    Raises OSError, ValueError and Unclear where it cannot be kept.
    """

    def __init__(self, root: str, name: str, scope: Scope) -> None:
        """The answer is kept in the course at ``root``, under a ``name``."""
        self.folder, self.scope, self.name = os.path.join(root, NAME), scope, name
        with contextlib.suppress(FileExistsError):
            os.mkdir(self.folder, 0o700)
        _require_own(os.lstat(self.folder))
        self.fresh = os.path.join(self.folder, f"{self.name}.{os.getpid()}.new")
        Path(self.fresh).write_bytes(b"")
        self.racy = os.stat(self.fresh).st_mtime_ns - TICK  # by the clock of the course's own file system
        try:
            self.state = scope.state(self.racy)
        except BaseException:
            self.close()
            raise

    def keep(self, said: str) -> None:
        """Keep what the look said. Raises OSError and Unclear."""
        if self.scope.state(self.racy) != self.state:
            return
        known = {"scope": vars(self.scope), "racy": self.racy, "state": self.state, "said": said}
        descriptor = os.open(self.fresh, os.O_WRONLY | os.O_TRUNC | os.O_CREAT | os.O_NOFOLLOW, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            os.fchmod(descriptor, 0o600)
            json.dump(known, file)
        os.replace(self.fresh, os.path.join(self.folder, self.name))
        found = sorted((entry.stat(follow_symlinks=False).st_mtime_ns, entry.path) for entry in os.scandir(self.folder))
        for _, path in found[:-MOST]:
            os.unlink(path)

    def close(self) -> None:
        with contextlib.suppress(OSError):
            os.unlink(self.fresh)


def _read(folder: str, name: str) -> str:
    """Raises OSError and ValueError."""
    _require_own(os.lstat(folder))
    descriptor = os.open(os.path.join(folder, name), os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(descriptor, encoding="utf-8") as file:
        _require_own(os.fstat(descriptor))
        return file.read(MOST_BYTES)


def _require_own(about: os.stat_result) -> None:
    if about.st_uid != os.geteuid() or about.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise ValueError("somebody else could have written it")


def _name(root: str, words: list[str]) -> str:
    """Of the request, and of what it meets beside the course."""
    umask = os.umask(0)
    os.umask(umask)
    terminal = sys.stdout.isatty()
    size = tuple(os.get_terminal_size(sys.stdout.fileno())) if terminal else ()
    variables = sorted((name, value) for name, value in os.environ.items() if name not in PASSING)
    about = [root, words, variables, terminal, size, umask, os.geteuid(), os.getegid(), os.uname(), sys.version]
    digest = hashlib.sha256(repr(about).encode("utf-8", "surrogateescape"))
    for line in (*installed(), *own_code()):
        digest.update(line.encode("utf-8", "surrogateescape"))
    return digest.hexdigest()[:32]


def installed() -> Iterator[str]:
    """What tells which libraries can be imported: the names that packages are installed under, with their versions."""
    for place in sys.path:
        with contextlib.suppress(OSError), os.scandir(place or ".") as entries:
            known = [entry for entry in entries if entry.name.endswith((".dist-info", ".egg-info", ".pth"))]
            for entry in sorted(known, key=lambda entry: entry.name):
                yield f"{entry.path} {entry.stat().st_mtime_ns}"


def own_code() -> Iterator[str]:
    """Viva's own files, with their times: a developer changes them between two versions."""
    for place, folders, names in os.walk(os.path.dirname(viva.__file__)):
        folders[:] = sorted(name for name in folders if name != "__pycache__")
        for name in sorted(names):
            about = os.stat(os.path.join(place, name))
            yield f"{name} {about.st_size} {about.st_mtime_ns}"


def foreign_modules() -> list[str]:
    """The files of modules that are neither Python's, nor installed, nor Viva's: those that a configuration loads."""
    places = tuple(os.path.join(place, "") for place in (sys.prefix, sys.base_prefix, os.path.dirname(viva.__file__)))
    found = (getattr(module, "__file__", None) for module in list(sys.modules.values()))
    return sorted({path for path in found if isinstance(path, str) and not path.startswith(places)})
