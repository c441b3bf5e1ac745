"""The members of a zip, a tar or a folder: their sizes, and the reason where one is refused."""

from __future__ import annotations

import bz2
import contextlib
import errno
import gzip
import io
import lzma
import os
import shutil
import stat
import struct
import tarfile
import tempfile
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import IO, Any, BinaryIO

from viva.cleaning import plaintext
from viva.folder import MOST_FILES, MOST_LEVELS, walk
from viva.verdict import CourseError
from viva_term.archives import membername

PIECE = 2**20
"""Bytes copied at a time; no header of a tar is longer."""
FOREIGN = {b"Rar!": "RAR", b"7z\xbc\xaf": "7z"}
DAMAGED = (
    *(zipfile.BadZipFile, tarfile.TarError, zlib.error, lzma.LZMAError, EOFError, ValueError, OverflowError),
    *(NotImplementedError, struct.error, RuntimeError, gzip.BadGzipFile),
)


@dataclass(frozen=True)
class Limits:
    """How much an archive may hold. Sizes are in bytes, unpacked."""

    members: int = 100_000
    """Two thousand students with fifty files each."""
    total: int = 8 * 2**30
    """A thousand students with 8 MB each; a class's archive is packed hardly smaller than it is."""
    member: int = 500 * 2**20
    """Ten times the largest notebook that is read."""
    ratio: int = 200
    """Most notebooks shrink to a tenth. A line that was printed 130,000 times shrinks to a 460th, zeros to a 1000th."""
    small: int = 60 * 2**20
    """What is smaller may shrink as it likes: no notebook that is read is larger, and other limits bound the whole."""
    levels: int = MOST_LEVELS
    """Folders in folders."""


CLASS = Limits()
"""Of an archive that a learning system gives."""
HANDED_IN = Limits(members=MOST_FILES, total=500 * 2**20, member=200 * 2**20, ratio=20, small=16 * 2**20)
"""Of all archives in one submission together. A class of a thousand that sends zeros alone then takes 16 GB; a zip that
stays packed is graded all the same."""


class NoRoomError(CourseError):
    """The disk has too little room; no submission is at fault."""


def of_submission(packed: int) -> Limits:
    """The limits of what one submission may unpack to, whose archives have so many bytes."""
    total = min(HANDED_IN.total, max(HANDED_IN.small, HANDED_IN.ratio * packed))
    return replace(HANDED_IN, total=total)


@dataclass
class Listed:
    """A member as it is listed: how large it is, how much it takes in the archive, why it is none for us."""

    name: str
    size: int
    open: Callable[[], IO[bytes]]
    packed: int = 0
    problem: str = ""
    linked: object = None
    """The same for all names of one file; None where it has one name."""
    since: int = 0
    """When something was last entered into the folder that it lies in, in nanoseconds; 0 where that is not known."""


def too_much(raw: Listed, parts: tuple[str, ...], limits: Limits) -> str:
    """Why a member is not unpacked by its size; empty when it is."""
    if len(parts) > limits.levels:
        return f"it is {len(parts) - 1} folders deep; the limit is {limits.levels}"
    if raw.size > limits.member:
        return f"it has {megabytes(raw.size)}; the limit is {megabytes(limits.member)}"
    if raw.size > limits.small and raw.packed and raw.size > limits.ratio * raw.packed:
        times = raw.size // raw.packed
        return f"it becomes {times} times as large when it is unpacked; the limit is {limits.ratio} times"
    return ""


@contextlib.contextmanager
def opened(path: Path, limits: Limits) -> Iterator[list[Listed]]:
    """The members of an archive or a folder. Raises CourseError."""
    if path.is_dir():
        yield _in_folder(path, limits)
        return
    if not path.exists():
        raise CourseError(f"The file {path} does not exist. Name an archive or an unpacked folder.")
    if not path.is_file():  # to open a pipe would wait for ever
        raise CourseError(f"{path} is not a regular file. Name an archive or an unpacked folder.")
    with path.open("rb") as file, contextlib.ExitStack() as stack:
        start = file.read(8)
        file.seek(0)
        for mark, name in FOREIGN.items():
            if start.startswith(mark):
                raise CourseError(f"{path} is a {name} archive, which Viva cannot read. Unpack it and name the folder.")
        try:
            if start.startswith(b"PK"):
                members = _in_zip(path, stack.enter_context(zipfile.ZipFile(file)), limits)
            else:
                members = _in_tar(path, stack, file, start, limits)
        except (OSError, *DAMAGED) as error:
            if is_of_the_machine(error):
                raise
            raise damaged(path, plaintext.line(str(error))) from error
        _require_room(path, sum(raw.size for raw in members if not raw.problem and not too_much(raw, (), limits)))
        yield members


def _in_zip(path: Path, archive: zipfile.ZipFile, limits: Limits) -> list[Listed]:
    """The files of a zip. Raises CourseError for a bomb, and for one that is locked as a whole."""
    infos = archive.infolist()
    files = [info for info in infos if not info.filename.endswith(("/", "\\"))]
    if len(infos) > limits.members:
        raise bomb(path, limits)
    if sum(info.compress_size for info in infos) > path.stat().st_size:
        raise CourseError(f"{path} is not a normal zip: its files overlap (a zip bomb). Nothing was unpacked.")
    if files and all(info.flag_bits & 1 for info in files):
        raise CourseError(f"{path} is locked with a password. Unpack it with the password, and name the folder.")
    names = membername.decoded((_as_cp437(info), info.flag_bits) for info in files)
    members = []
    for info, name in zip(files, names, strict=True):
        file_type = stat.S_IFMT(info.external_attr >> 16) if info.create_system == 3 else 0
        problem = "it is locked with a password" if info.flag_bits & 1 else _type_problem(file_type)
        if file_type != stat.S_IFDIR:
            packed = max(info.compress_size, 1)
            members.append(
                Listed(_told_name(info) or name, info.file_size, partial(archive.open, info), packed, problem)
            )
    return _limited(path, members, limits)


def _as_cp437(info: zipfile.ZipInfo) -> str:
    """The name to its end; what follows a zero byte hides the ending from some programs."""
    return info.orig_filename.partition("\0")[0]


def _told_name(info: zipfile.ZipInfo) -> str:
    """The name that Info-ZIP keeps beside in UTF-8 (extra field 0x7075), where it is of the same name."""
    extra = info.extra
    while len(extra) >= 4 and not info.flag_bits & membername.UTF8:
        header, length = struct.unpack("<HH", extra[:4])
        if header == 0x7075 and length > 5 and extra[4:5] == b"\1":
            (check,) = struct.unpack("<I", extra[5:9])
            with contextlib.suppress(UnicodeDecodeError):
                if check == zlib.crc32(info.orig_filename.encode("cp437")):
                    return extra[9 : 4 + length].decode("utf-8")
        extra = extra[4 + length :]
    return ""


OUTSIDE = "it is a hard link to a file outside the {}"
CLOSED = f"its folder cannot be read, or is more than {MOST_LEVELS} folders deep"


def _type_problem(file_type: int) -> str:
    if file_type == stat.S_IFLNK:
        return "it is a link, and links are not followed"
    return "it is a device or a pipe, not a file" if file_type not in (0, stat.S_IFREG, stat.S_IFDIR) else ""


class _Bounded(io.RawIOBase):
    """A stream of a tar; a header that claims to be longer than PIECE would be read into memory at once."""

    def __init__(self, file: BinaryIO) -> None:
        self.file = file

    def read(self, size: int = -1) -> bytes:
        if not 0 <= size <= PIECE:
            raise tarfile.ReadError("a header in it is too long")
        return self.file.read(size)

    def seek(self, offset: int, whence: int = 0) -> int:
        return self.file.seek(offset, whence)

    def tell(self) -> int:
        return self.file.tell()


def _in_tar(path: Path, stack: contextlib.ExitStack, file: BinaryIO, start: bytes, limits: Limits) -> list[Listed]:
    """The files of a tar, which may be packed. Raises CourseError for a bomb, and for what is not an archive."""
    packed: dict[bytes, Callable[[BinaryIO], Any]]
    packed = {b"\x1f\x8b": lambda member: gzip.GzipFile(fileobj=member), b"BZ": bz2.BZ2File, b"\xfd7": lzma.LZMAFile}
    unpack = packed.get(start[:2])
    if unpack:
        file = stack.enter_context(unpack(file))
    try:
        tarfile.TarInfo.frombuf(file.read(512), "utf-8", "surrogateescape")
        file.seek(0)
    except (tarfile.HeaderError, OSError) as error:
        raise CourseError(
            f"{path} is not an archive. Name a zip, a tar or a folder; name a file with times with --times."
        ) from error
    archive = stack.enter_context(tarfile.TarFile(fileobj=_Bounded(file), encoding="utf-8"))
    members: list[Listed] = []
    total, entries = 0, 0
    files: dict[str, tarfile.TarInfo] = {}
    folders: dict[str, int] = {}
    most = limits.total if unpack is None else min(limits.total, max(limits.small, limits.ratio * path.stat().st_size))
    while (info := archive.next()) is not None:
        archive.members.clear()  # type: ignore[attr-defined]  # else every entry of any kind would stay in memory
        entries += 1
        target = files.get(info.linkname) if info.islnk() else info
        total += (target or info).size
        if total > most or entries > limits.members:
            raise bomb(path, limits)
        if info.isdir():
            folders[info.name] = int(info.mtime * 10**9)
            continue
        if info.isreg():
            files[info.name] = info
        file_type = stat.S_IFREG if info.isreg() else stat.S_IFLNK if info.issym() else stat.S_IFCHR
        if info.islnk():
            problem = "" if target else OUTSIDE.format("archive")
        else:
            problem = "it is a sparse file" if info.issparse() else _type_problem(file_type)
        name = membername.repaired(info.name.encode("utf-8", "surrogateescape").decode("utf-8", "replace"))
        member, since = target or info, folders.get(os.path.dirname(info.name), 0)
        content = partial(_content, archive, member)
        members.append(Listed(name, member.size, content, 0, problem, member.offset, since))
    _require_whole(file, archive.offset)
    _forget_single(members)
    return _limited(path, members, limits)


def _content(archive: tarfile.TarFile, info: tarfile.TarInfo) -> IO[bytes]:
    """Raises TarError for what is not a file."""
    content = archive.extractfile(info)
    if content is None:
        raise tarfile.ReadError("it is not a file")
    return content


def _forget_single(members: list[Listed]) -> None:
    """Forget of which file a member is a name where it is the only one."""
    names = Counter(raw.linked for raw in members)
    for raw in members:
        if names[raw.linked] == 1:
            raw.linked = None


def _require_whole(file: BinaryIO, end: int) -> None:
    """Raises an error where a tar has no end, as one that was cut between two members; tarfile takes it for whole.

    What is packed tells by a sum at its own end whether it was damaged, so it is read to there.
    """
    file.seek(end)
    rest = file.read(PIECE)
    if len(rest) < 512 or rest[:512].strip(b"\0"):
        raise EOFError("its end is missing")
    if file.read(1):
        raise tarfile.ReadError("there is more data after its end")


def _in_folder(path: Path, limits: Limits) -> list[Listed]:
    """The files in a folder, links and devices with the reason why they are none. Raises CourseError for too many."""
    members: list[Listed] = []
    links: dict[object, int] = {}
    closed: list[str] = []
    for file in walk(path, (".git", "__pycache__", "__MACOSX"), closed):
        status = file.lstat()
        problem = _type_problem(stat.S_IFMT(status.st_mode))
        raw = Listed(_called(file, path), status.st_size, partial(_open, file), 0, problem)
        if status.st_nlink > 1 and not problem:
            raw.linked, raw.since = (status.st_dev, status.st_ino), file.parent.stat().st_mtime_ns
            links[raw.linked] = status.st_nlink
        members.append(raw)
        if len(members) > limits.members:
            raise bomb(path, limits)
    names = Counter(raw.linked for raw in members)
    for raw in members:
        if raw.linked and links[raw.linked] > names[raw.linked]:
            raw.problem = OUTSIDE.format("folder")
    members += [Listed(f"{_called(file, path)}/(all of it)", 0, io.BytesIO, 0, CLOSED) for file in closed]
    return _limited(path, members, limits)


def _called(path: str | Path, folder: Path) -> str:
    return membername.repaired(os.fsencode(os.path.relpath(path, folder)).decode("utf-8", "replace"))


def _open(path: Path) -> BinaryIO:
    return os.fdopen(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb")


def _limited(path: Path, members: list[Listed], limits: Limits) -> list[Listed]:
    """Raises CourseError when what would be unpacked is too much together."""
    if sum(raw.size for raw in members if not raw.problem and not too_much(raw, (), limits)) > limits.total:
        raise bomb(path, limits)
    return members


def _require_room(path: Path, size: int) -> None:
    room = tempfile.gettempdir()
    free = shutil.disk_usage(room).free
    if size > free:
        raise NoRoomError(
            f"Nothing was written: {path} needs {megabytes(size)} unpacked, and {room} has only {megabytes(free)} "
            "free. Free some space, or set another folder in the variable TMPDIR."
        )


def is_of_the_machine(error: Exception) -> bool:
    """Whether an error is a disk's or a network's; what unpacks raises an OSError for damage too."""
    return isinstance(error, OSError) and error.errno not in (None, errno.EINVAL)


class TooLargeError(CourseError):
    """An archive would unpack to more than its limits allow."""


def bomb(path: Path, limits: Limits) -> TooLargeError:
    return TooLargeError(
        f"{path} is too large: the limits for an archive are {limits.members:,} files, {megabytes(limits.total)} "
        f"in total, and {limits.ratio} times its packed size. Nothing was unpacked. If you trust it, unpack it "
        "yourself and collect it in parts."
    )


def damaged(path: Path, why: str) -> CourseError:
    return CourseError(f"{path} is damaged or cut off ({why}). Nothing was written; download it again.")


def megabytes(size: int) -> str:
    return f"{size / 2**20:,.0f} MB"
