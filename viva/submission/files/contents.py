"""The bytes of a file that was submitted, or of a member of a zip: at most MOST_BYTES, and nothing unpacked to disk."""

from __future__ import annotations

import gzip
import io
import os
import stat
import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO

from viva.folder import MOST_FILES
from viva.verdict import SubmissionError
from viva.wording import refusal

MOST_BYTES = 50 * 2**20
FLAGS = os.O_RDONLY
for _flag in ("O_NOFOLLOW", "O_NONBLOCK", "O_CLOEXEC", "O_BINARY"):  # Windows has the last alone
    FLAGS |= getattr(os, _flag, 0)
PACKED, ZIP = b"\x1f\x8b", b"PK\x03\x04"
"""How files of gzip and zips begin."""
_RAR = b"Rar!"


def read_file(path: Path) -> bytes:
    """A regular file's bytes; raises SubmissionError when it is none, too large or not readable."""
    with _opened(path) as file:
        return _limited(file, os.fstat(file.fileno()).st_size)


def _opened(path: Path) -> io.BufferedReader:
    try:
        # Without waiting: what was a file a moment ago may be a pipe that nobody writes to.
        descriptor = os.open(path, FLAGS)
    except OSError as error:
        if path.is_symlink():
            raise refusal("file_link") from error
        raise refusal("unreadable_file", str(error.strerror)) from error
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise refusal("not_regular")
    return os.fdopen(descriptor, "rb")


def first_bytes(path: Path, size: int) -> bytes:
    """Nothing of what cannot be read."""
    try:
        with _opened(path) as file:
            return file.read(size)
    except (SubmissionError, OSError):
        return b""


def _limited(file: IO[bytes] | gzip.GzipFile, size: int) -> bytes:
    data = file.read(MOST_BYTES + 1) if size <= MOST_BYTES else b""
    if size > MOST_BYTES or len(data) > MOST_BYTES:
        megabytes = max(size, len(data)) / 2**20
        raise refusal("too_large", f"{megabytes:.0f}", str(MOST_BYTES // 2**20))
    return data


def unpacked(data: bytes) -> bytes:
    """The contents of a gzip file. Raises SubmissionError if they are too large."""
    try:
        with gzip.open(io.BytesIO(data)) as file:
            return _limited(file, 0)
    except (OSError, EOFError, zlib.error) as error:
        raise refusal("not_unpacked", str(error)) from error


def opened_zip(path: Path) -> zipfile.ZipFile:
    data = read_file(path)
    if data.startswith(_RAR):
        raise refusal("rar_for_zip")
    # The number of members that a zip claims can be a lie; each has one of these marks.
    if data.count(b"PK\x01\x02") > MOST_FILES:
        raise refusal("zip_of_many", str(MOST_FILES))
    try:
        return zipfile.ZipFile(io.BytesIO(data))
    except (zipfile.BadZipFile, ValueError, OSError, NotImplementedError, OverflowError) as error:
        raise refusal("zip_damaged", str(error)) from error


def first_of_member(archive: zipfile.ZipFile, info: zipfile.ZipInfo, size: int) -> bytes:
    """Nothing of what cannot be unpacked."""
    try:
        with archive.open(info) as file:
            return file.read(size)
    except Exception:  # zlib, lzma and bz2 each raise their own
        return b""


def read_member(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> bytes:
    if info.flag_bits & 1:
        raise refusal("zip_locked")
    try:
        with archive.open(info) as file:
            return _limited(file, info.file_size)
    except SubmissionError:
        raise
    except Exception as error:  # zlib, lzma and bz2 each raise their own
        raise refusal("not_unpacked", str(error)) from error


# One file that was submitted, in the submission's folder or in a zip there.

KEPT = ".ipynb_checkpoints"
"""Files that Jupyter saved by itself. They count if no other file holds answers."""


@dataclass(frozen=True)
class Handed:
    """A file that may be a notebook; ``member`` is its name inside the zip at ``path``."""

    path: Path
    name: str
    member: str = ""

    def read(self) -> bytes:
        """Raises SubmissionError when it cannot be read or is too large."""
        data = self._bytes()
        return unpacked(data) if data.startswith(PACKED) else data

    def head(self, size: int) -> bytes:
        """The first bytes; nothing of what cannot be read."""
        if not self.member:
            return first_bytes(self.path, size)
        try:
            return self._bytes()[:size]
        except SubmissionError:
            return b""

    def _bytes(self) -> bytes:
        if not self.member:
            return read_file(self.path)
        with opened_zip(self.path) as archive:
            return read_member(archive, archive.getinfo(self.member))

    @property
    def kept(self) -> bool:
        """Whether it is a copy that Jupyter made."""
        return KEPT in PurePosixPath(self.name).parts
