"""The files that a killed command leaves behind, and how the next command knows that it may remove them.

Theory of operation. All temporary folders of a command lie in one, which the command holds a lock on (flock). The
kernel gives the lock up when the command and its workers have died, however they did: a folder whose lock can be
taken belongs to nobody. Process numbers are used again, locks are not. Graded notebooks are built in folders
``.viva-*`` beside the place where they go; who holds the lock of the course may remove those.
"""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import shutil
import socket
import stat
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TextIO

from viva.course.processes import stopping
from viva.folder import remove
from viva.verdict import CourseError

with contextlib.suppress(ModuleNotFoundError):  # Windows has none; `viva check` gets along without
    import fcntl

PREFIX = "viva-run-"
BUILD = ".viva-"
ROOM = 1 << 20
"""Bytes that a command's temporary files may need at the least; with less a fork server does not even start."""
QUIET_SECONDS, STEP = 1.0, 0.1
"""Seconds to wait for a lock before a word is said, and between two attempts."""
TRIES = 20
"""The number of attempts to make a folder and lock it: another command may remove it in between as a leftover."""
MOST_LINKS = 40
"""The number of links of a path that are followed."""
SWEEPING = 2.0
"""Seconds that a command spends on what others left."""


@contextlib.contextmanager
def temporary_folder() -> Iterator[Path]:
    """A folder for the temporary files of this process and its children; the folders of dead processes are removed.

    Raises CourseError when its disk is full.
    """
    parent = Path(tempfile.gettempdir())
    sweep(parent)
    require_room(parent)
    before, folder = (tempfile.tempdir, os.environ.get("TMPDIR")), None
    try:
        with stopping.postponed():
            folder, lock = _locked_folder()
        tempfile.tempdir = os.environ["TMPDIR"] = str(folder)
        yield folder
    finally:
        with stopping.postponed():
            tempfile.tempdir = before[0]
            os.environ.pop("TMPDIR", None)
            if before[1] is not None:
                os.environ["TMPDIR"] = before[1]
            if folder:
                remove(folder)
                os.close(lock)


def require_room(folder: Path) -> None:
    """Raises CourseError when next to nothing is free in ``place``."""
    disk = shutil.disk_usage(folder)
    if disk.total and disk.free < ROOM:  # some network drives have no size
        raise CourseError(
            f"The disk for temporary files ({folder}) has only {disk.free / 2**20:.1f} MB left. Free some space, "
            "or set the variable TMPDIR to another folder. Then run the same command again."
        )


def _locked_folder() -> tuple[Path, int]:
    """Raises CourseError where folders cannot be locked."""
    for _ in range(TRIES):
        folder = Path(tempfile.mkdtemp(prefix=PREFIX))
        try:
            folder.chmod(0o711)  # root's forks, who are other users, pass through to their scratch folders
            lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        except FileNotFoundError:  # a sweep came between
            continue
        try:
            if _take(lock) and folder.exists():
                return folder, lock
        except OSError as error:
            remove(folder)
            os.close(lock)
            raise CourseError(
                f"Viva cannot lock folders in {folder.parent}, where temporary files are: {error.strerror}. Set "
                "the variable TMPDIR to a folder on a local disk, then run the same command again."
            ) from error
        os.close(lock)
    raise CourseError(
        f"Another program removes the folders that Viva makes in {folder.parent}, the folder for temporary files "
        f"({TRIES} tries). Set the variable TMPDIR to another folder, then run the same command again."
    )


def sweep(folder: Path, seconds: float = SWEEPING) -> None:
    """Remove the folders in ``place`` that were left by commands that are dead, for some seconds at most.

    A sentence on standard error says so where that was not all.
    """
    end, removed = time.monotonic() + seconds, 0
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if not entry.name.startswith(PREFIX):
                continue
            if time.monotonic() > end:
                sentence = f"Removed {removed:,} folders of stopped commands from {folder}. Some are left. "
                print(f"{sentence}The next commands remove them.", file=sys.stderr)
                return
            removed += _swept(Path(entry.path))


def _swept(folder: Path) -> bool:
    """Remove a folder if its command is dead; whether it was."""
    with contextlib.suppress(OSError):
        lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        try:
            if os.fstat(lock).st_uid == os.geteuid() and _take(lock):
                remove(folder)
                return True
        finally:
            os.close(lock)
    return False


def _take(lock: int) -> bool:
    """Whether a lock could be taken that nobody holds. Raises OSError where there are no locks."""
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def take(lock: int, path: Path, wait: bool = False, shared: bool = False) -> bool:
    """Whether the lock on a file of the course could be taken, ``shared`` with who only looks whether another has it.

    Raises CourseError where files cannot be locked.
    """
    try:
        fcntl.flock(lock, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | (0 if wait else fcntl.LOCK_NB))
    except BlockingIOError:
        return False
    except OSError as error:
        raise CourseError(
            f"Viva cannot lock files in {path.parent}: {error.strerror}. Move the course to a local disk, or mount "
            "the network disk with locks. Then run the same command again. (TMPDIR is only for temporary files.)"
        ) from error
    return True


@contextlib.contextmanager
def whole(
    path: Path, mode: int | None = None, *, newline: str | None = None, errors: str | None = None
) -> Iterator[TextIO]:
    """A text file that takes the place of ``path`` when it is written; before, and after a fault, the old one stands.

    ``newline`` and ``errors`` are those of ``open``. A file that was there keeps its mode, where no ``mode`` is
    given; what is not a file is written to directly. Raises CourseError where another user's link, pipe or device is
    in a folder that others can write to.
    """
    if path.exists() and not path.is_file():  # /dev/stdout, or a pipe
        _followed(path)
        _require_trusted(path, path.stat().st_uid, "pipe or device")
        with _named(path), path.open("w", encoding="utf-8", newline=newline, errors=errors) as file:
            yield file
        return
    target = _followed(path)  # a link stays one
    folder = os.open(target.parent, os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        with _whole(target, folder, mode, newline, errors) as file:
            yield file
    finally:
        os.close(folder)


@contextlib.contextmanager
def _whole(path: Path, folder: int, mode: int | None, newline: str | None, errors: str | None) -> Iterator[TextIO]:
    """The same in the ``folder`` of a descriptor, whatever others put in its place meanwhile."""
    fresh, descriptor = _fresh(path, folder, 0o666 if mode is None else mode)
    try:
        with _named(path), os.fdopen(descriptor, "w", encoding="utf-8", newline=newline, errors=errors) as file:
            with contextlib.suppress(FileNotFoundError):
                before = os.stat(path.name, dir_fd=folder, follow_symlinks=False)
                if mode is None and _is_trusted(before.st_uid, path.parent):
                    os.fchmod(descriptor, stat.S_IMODE(before.st_mode))
            yield file
            file.flush()
            os.fsync(descriptor)
        try:
            os.replace(fresh, path.name, src_dir_fd=folder, dst_dir_fd=folder)
        except OSError as error:
            error.filename = str(path)  # nobody knows the other name
            raise
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(fresh, dir_fd=folder)
        raise


def _fresh(path: Path, folder: int, mode: int) -> tuple[str, int]:
    """The name and the descriptor of a new file in a folder; what is in its way may be another user's."""
    for name in (f"{BUILD}{path.name}", *(f"{BUILD}{secrets.token_hex(8)}" for _ in range(TRIES))):
        with contextlib.suppress(OSError):
            os.unlink(name, dir_fd=folder)
        try:
            return name, os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode, dir_fd=folder)
        except FileExistsError:
            continue
        except OSError as error:
            error.filename = str(path)
            raise
    raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(path))


def _followed(path: Path) -> Path:
    """Where a path leads, with no link in it. Raises CourseError for a link that may be another user's trap."""
    todo, current, links = [*reversed(path.absolute().parts[1:])], Path(path.absolute().anchor), 0
    while todo:
        part = todo.pop()
        if part == os.pardir:
            current = current.parent
            continue
        step = current / part
        try:
            status = step.lstat()
        except FileNotFoundError:
            current = step
            continue
        if not stat.S_ISLNK(status.st_mode):
            current = step
            continue
        if (links := links + 1) > MOST_LINKS:
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path))
        _require_trusted(step, status.st_uid, "link")
        target = Path(os.readlink(step))
        todo += reversed(target.parts[1:] if target.is_absolute() else target.parts)
        current = Path(target.anchor) if target.is_absolute() else current
    return current


def _require_trusted(path: Path, owner: int, kind: str) -> None:
    if not _is_trusted(owner, path.parent):
        raise CourseError(
            f"{path} is a {kind} of another user (user id {owner}), in a folder that others can write to. Nothing "
            "was written. Choose a folder that only you can write to."
        )


def _is_trusted(owner: int, folder: Path) -> bool:
    """Whether what a user put into a folder was not put there to mislead this one: it is our own or root's, or the
    folder is theirs and lies where not everybody can put a folder."""
    if owner in (os.geteuid(), 0):
        return True
    above = [path.stat() for path in (folder, *folder.parents)]
    return above[0].st_uid == owner and not any(status.st_mode & stat.S_IWOTH for status in above)


@contextlib.contextmanager
def _named(path: Path) -> Iterator[None]:
    """Inside, an error of the system that names no file, as of a full disk, names this one."""
    try:
        yield
    except OSError as error:
        if error.errno and not error.filename:
            error.filename = str(path)
        raise


def write(path: Path, text: str, mode: int | None = None) -> None:
    """A text into its file, whole or not at all; a file that holds it already is left alone."""
    if not path.is_file() or path.read_bytes() != text.encode():
        path.parent.mkdir(parents=True, exist_ok=True)
        with whole(path, mode, newline="") as file:
            file.write(text)


def put(built: Path, target: Path) -> None:
    """Put a folder that was built in one of ``BUILD`` beside its place there, instead of the old one.

    After a fault the old one is there again; what is cut off in between, ``finish_builds`` undoes.
    """
    build = next(path for path in built.parents if path.name.startswith(BUILD))
    old = build / "old" / target.name
    old.parent.mkdir(exist_ok=True)
    if os.path.lexists(target):
        target.rename(old)
    try:
        built.rename(target)
    except BaseException:
        if os.path.lexists(old):
            old.rename(target)
        raise
    remove(old)


def finish_builds(parents: Iterable[Path]) -> None:
    """Remove what workers were building when they died; a graded folder that was moved away for it comes back."""
    for parent in parents:
        for build in parent.glob(f"{BUILD}*"):
            for old in build.glob("old/*"):
                if not (parent / old.name).exists():
                    with contextlib.suppress(OSError):
                        old.rename(parent / old.name)
            remove(build)


def wait_for(take: Callable[[], bool], holder: Callable[[], str], tell: Callable[[str], object]) -> None:
    """Wait until a lock can be taken. If that takes a while, ``tell`` gets a sentence that names the holder."""
    start, announced = time.monotonic(), False
    while not take():
        if time.monotonic() - start > QUIET_SECONDS and not announced:
            tell(f"Waiting for {holder() or 'another command'}, which is using this course; press Ctrl-C to stop.")
            announced = True
        time.sleep(STEP)


@contextlib.contextmanager
def alone(path: Path, tell: Callable[[str], object]) -> Iterator[None]:
    """Hold the lock at ``path``, waiting for whoever has it; ``tell`` is given a sentence when that takes a while.

    The file stays, because to remove it would let two have the lock. Raises OSError, and CourseError where no file can
    be locked.
    """
    lock = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    try:
        wait_for(lambda: take(lock, path), lambda: os.pread(lock, 500, 0).decode(errors="replace").strip(), tell)
        os.ftruncate(lock, 0)
        name = " ".join(["viva", *sys.argv[1:]])
        os.pwrite(lock, f"'{name}' (process {os.getpid()} on {socket.gethostname()})\n".encode(), 0)
        try:
            yield
        finally:
            os.ftruncate(lock, 0)  # the command's line may name a student
    finally:
        os.close(lock)
