"""An archive, or a folder in its place, unpacked into files of our own names.

Theory of operation. Nothing is extracted by its own name: each member that is a plain file is copied, in pieces that
are counted, into a temporary folder under a number, and what it was called is kept beside. So no name can lead
anywhere, and nothing is in the course before all of the archive could be read. A member that is no plain file, or whose
name leads out of the archive, is left out and said. What makes the whole a bomb, or cannot be read to its end, refuses
the archive.
"""

from __future__ import annotations

import hashlib
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from viva.cleaning import plaintext
from viva.course.processes import stopping
from viva.term.archives import membername
from viva.term.archives.listing import (
    CLASS,
    DAMAGED,
    PIECE,
    Limits,
    Listed,
    bomb,
    damaged,
    is_of_the_machine,
    opened,
    too_much,
)

LITTER = {"__MACOSX", ".git", "__pycache__", ".DS_Store", "Thumbs.db", "desktop.ini"}
"""Names of what nobody means to hand in."""


@dataclass(frozen=True)
class Member:
    """A plain file of an archive: what it is called there, and the copy of it that is ours."""

    parts: tuple[str, ...]
    path: Path
    size: int
    digest: str

    @property
    def name(self) -> str:
        return "/".join(self.parts)


@dataclass
class Unpacked:
    """What an archive holds, and sentences about what was left out."""

    members: list[Member] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)


def unpack(
    path: Path, into: Path, limits: Limits = CLASS, progress: Callable[[int, int], object] = lambda done, all: None
) -> Unpacked:
    """Copy what an archive holds into files below ``into``.

    ``progress`` is told how many members are done, of how many. Raises CourseError when the archive is none, cannot be
    read to its end or is a bomb; then nothing of it may be used.
    """
    result, total = Unpacked(), 0
    into.mkdir(parents=True, exist_ok=True)
    with opened(path, limits) as members:
        for number, raw in enumerate(members):
            stopping.check()
            progress(number, len(members))
            try:
                parts = membername.parts(raw.name)
            except ValueError as error:
                result.left_out.append(f"{plaintext.quoted(raw.name)} was left out: {error}.")
                continue
            if LITTER & set(parts) or parts[-1].startswith("._"):
                continue
            if problem := raw.problem or too_much(raw, parts, limits):
                result.left_out.append(f"{plaintext.quoted(raw.name)} was left out: {problem}.")
                continue
            member = _copied(raw, parts, into / str(number), path)
            total += member.size
            if total > limits.total:
                raise bomb(path, limits)
            result.members.append(member)
    return result


def _copied(raw: Listed, parts: tuple[str, ...], place: Path, path: Path) -> Member:
    """Raises CourseError when a member ends too early, or holds another number of bytes than is said."""
    size, digest = 0, hashlib.sha256()
    try:
        with raw.open() as source, place.open("xb") as copy:
            while piece := source.read(PIECE):
                size += len(piece)
                if size > raw.size:
                    raise zipfile.BadZipFile("it is larger than it says")
                digest.update(piece)
                copy.write(piece)
        if size != raw.size:
            raise EOFError("it ends too early")
    except (OSError, *DAMAGED) as error:
        if is_of_the_machine(error):
            raise
        raise damaged(path, f"{plaintext.quoted(raw.name)}: {plaintext.line(str(error))}") from error
    return Member(parts, place, size, digest.hexdigest())
