"""An archive or a folder, unpacked into files with safe names.

Theory of operation. Nothing is extracted by its own name: each member that is a plain file is copied, in pieces that
are counted, into a temporary folder under a number, and what it was called is kept beside. So no name can lead
anywhere, and nothing is in the course before all of the archive could be read. A member that is not a plain file, or
whose name leads out of the archive, is left out and listed. An archive that is a bomb, or cannot be read to its end, is
refused.
"""

from __future__ import annotations

import hashlib
import re
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from viva.cleaning import plaintext
from viva.course.processes import stopping
from viva_term.archives import membername
from viva_term.archives.listing import (
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
"""Names of what nobody means to submit."""


@dataclass(frozen=True)
class Member:
    """A plain file of an archive: what it is called there, and the copy of it that is ours."""

    parts: tuple[str, ...]
    path: Path
    size: int
    digest: str
    linked: object = None
    """The same for all names of one file; None where it has one name."""
    since: int = 0
    """When something was last entered into the folder that it lies in, in nanoseconds; 0 where that is not known."""

    @property
    def name(self) -> str:
        return "/".join(self.parts)


@dataclass(frozen=True)
class LeftOut:
    """A member that is not collected: what it is called, why, and its bytes in a zip where they can be read."""

    parts: tuple[str, ...]
    problem: str
    path: Path | None = None
    limited: bool = False
    """Whether only a limit leaves it out: it is an honest file otherwise."""

    @property
    def name(self) -> str:
        return "/".join(self.parts)


@dataclass
class Unpacked:
    """What an archive holds, and what was left out of it, with a sentence about each."""

    members: list[Member] = field(default_factory=list)
    left: list[LeftOut] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)


def unpack(
    path: Path, into: Path, limits: Limits = CLASS, progress: Callable[[int, int], object] = lambda done, all: None
) -> Unpacked:
    """Copy what an archive holds into files below ``into``.

    ``progress`` is told how many members are done, of how many. Raises CourseError when the archive is none, cannot be
    read to its end or is a bomb; then nothing of it may be used.
    """
    result, total, read = Unpacked(), 0, 0
    into.mkdir(parents=True, exist_ok=True)
    with opened(path, limits) as members:
        for number, raw in enumerate(members):
            stopping.check()
            progress(number, len(members))
            parts, problem = _parts(raw.name)
            if LITTER & set(parts) or parts[-1].startswith("._"):
                continue
            limited = not problem and not raw.problem
            if problem := problem or raw.problem or too_much(raw, parts, limits):
                result.left_out.append(f"{plaintext.quoted(raw.name)} was skipped: {problem}.")
                read += 0 if raw.problem else raw.size
                readable = not raw.problem and read <= limits.total
                packed = _packed(raw, parts, into / str(number), path) if readable else None
                result.left.append(LeftOut(parts, problem, packed, limited))
                continue
            member = _copied(raw, parts, into / str(number), path)
            total += member.size
            if total > limits.total:
                raise bomb(path, limits)
            result.members.append(member)
    return result


def _parts(name: str) -> tuple[tuple[str, ...], str]:
    """The parts of a member's name, and why it is not a name for a file; then the parts that are names for one."""
    try:
        return membername.parts(name), ""
    except ValueError as error:
        plain = tuple(part for part in re.split(r"[/\\]", name) if part not in ("", ".", ".."))
        return plain or ("a file without a name",), str(error)


def _copied(raw: Listed, parts: tuple[str, ...], target: Path, path: Path) -> Member:
    """Raises CourseError when a member ends too early, or holds another number of bytes than is said."""
    digest = hashlib.sha256()
    with target.open("xb") as copy:
        for piece in _pieces(raw, path):
            digest.update(piece)
            copy.write(piece)
    return Member(parts, target, raw.size, digest.hexdigest(), raw.linked, raw.since)


def _packed(raw: Listed, parts: tuple[str, ...], target: Path, path: Path) -> Path:
    """The bytes of a member that is left out, in a zip of its own, where zeros take no room. Raises as ``_copied``."""
    with zipfile.ZipFile(target, "x", zipfile.ZIP_DEFLATED) as packed:
        info = zipfile.ZipInfo(membername.safe(parts[-1]))  # without a time, so that the same is the same again
        info.compress_type = zipfile.ZIP_DEFLATED
        with packed.open(info, "w", force_zip64=True) as copy:
            for piece in _pieces(raw, path):
                copy.write(piece)
    return target


def _pieces(raw: Listed, path: Path) -> Iterator[bytes]:
    size = 0
    try:
        with raw.open() as source:
            while piece := source.read(PIECE):
                stopping.check()
                size += len(piece)
                if size > raw.size:
                    raise zipfile.BadZipFile("it is larger than declared")
                yield piece
        if size != raw.size:
            raise EOFError("it is not complete")
    except (OSError, *DAMAGED) as error:
        if is_of_the_machine(error):
            raise
        raise damaged(path, f"{plaintext.quoted(raw.name)}: {plaintext.line(str(error))}") from error
