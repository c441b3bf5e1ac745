"""Hashes by which the next batch knows what has not changed since it was graded."""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import stat
from pathlib import Path

from viva.course.gradebook.record import Expected
from viva.folder import MOST_FILES, walk
from viva.submission.files.contents import MOST_BYTES, read_file
from viva.submission.files.handed import KEPT
from viva.verdict import SubmissionError


def ground(source: Path, settings: str, expected: Expected) -> bytes:
    """Of what the verdicts depend on beside the submission."""
    digest = hashlib.sha256(settings.encode())
    _hash_folder(source, digest)
    digest.update(repr(expected).encode())
    return digest.digest()


def key(ground: bytes, folder: Path, seed: str = "") -> str:
    """Of that, of what was handed in, and of the seed of a variant where there are any."""
    digest = hashlib.sha256(ground)
    _hash_folder(folder, digest, MOST_FILES, ignored=())
    digest.update(seed.encode())
    return digest.hexdigest()[:32]


def _hash_folder(folder: Path, digest, most: int | None = None, ignored: tuple[str, ...] = (KEPT,)) -> None:
    for path in sorted(itertools.islice(walk(folder, ignored), most)):
        with contextlib.suppress(OSError, SubmissionError):  # nobody can read it
            about = path.lstat()
            if stat.S_ISREG(about.st_mode):
                large = about.st_size > MOST_BYTES
                content = f"changed at {about.st_mtime_ns}".encode() if large else read_file(path)
                digest.update(f"{path.relative_to(folder)} {len(content)} ".encode("utf-8", "surrogateescape"))
                digest.update(content)
