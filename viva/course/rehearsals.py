"""What rehearsing a solution showed, kept beside the course: ``.rehearsals/``, which may be removed at any time.

A file is named by a hash of all that a rehearsal depends on: the notebook's code, the files beside it, limits,
libraries, Python, this machine and Viva's own code. It holds names, paths and kinds, and no code: tests are
read from the notebook each time. It is validated when it is read, and believed only where nobody but the course's
owners could write it. Anything else is rehearsed anew.

A rehearsal that met a limit of time or memory is not kept: it may come out otherwise on a machine that is less busy.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import platform
import stat
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import msgspec
from msgspec import Struct
from nbgrader.coursedir import CourseDirectory
from traitlets.config import Config

import viva
from viva import ENGINE
from viva.engine import ownership
from viva.engine.blueprint import Blueprint, read_blueprint
from viva.engine.dialogue.expected import expected_of
from viva.engine.examination import Examination, dice_of
from viva.engine.grading import Grader
from viva.engine.rehearsal import rehearse
from viva.folder import walk
from viva.record import Note

NAME = ".rehearsals"
MOST = 200
"""The most that are kept; the oldest go first."""
MOST_BYTES = 1 << 20
"""A file that is larger was not written here."""
LARGE = 50 * 2**20
"""A data file that is larger counts by its time."""
DIGEST = hashlib.sha256().digest_size


class Kept(Struct, frozen=True, forbid_unknown_fields=True):
    """What a file holds."""

    given: frozenset[str]
    owned: dict[str, frozenset[str]]
    kinds: dict[str, str]
    single_process: dict[str, Note]
    failing: dict[str, Note]
    broken: frozenset[str]
    files: dict[str, frozenset[str]]
    seconds: float

    @classmethod
    def of(cls, known: Examination) -> Kept:
        plan, single, failing = known.plan, dict(known.single_process), dict(known.failing)
        return cls(plan.given, plan.owned, known.kinds, single, failing, known.broken, known.files, known.seconds)

    def examination(self, blueprint: Blueprint) -> Examination:
        """Raises ValueError where this is about another notebook, or where a kind is none."""
        cells = {cell.id for cell in blueprint.cells}
        about = [*self.given, *self.owned, *self.single_process, *self.failing, *self.broken, *self.files]
        if not cells.issuperset(about) or self.seconds < 0:
            raise ValueError("it is about other cells")
        for kind in self.kinds.values():
            expected_of(kind)
        plan = ownership.Plan(self.given, self.owned)
        known = Examination(blueprint, plan, self.kinds, self.single_process, seconds=self.seconds)
        return replace(known, failing=self.failing, broken=self.broken, files=self.files, dice=dice_of(blueprint))


class Rehearsals:
    """Those of an assignment: beside the source folder of its course."""

    def __init__(
        self, folder: Path | None = None, shared: bool = False, submitted: frozenset[str] = frozenset()
    ) -> None:
        """Without a ``folder`` none is kept; ``shared`` says whether graders of one group work on the course.

        The files ``submitted``, by path, are the students' own (see ``submitted_files``).
        """
        self.folder, self.shared, self.submitted = folder, shared, submitted

    @classmethod
    def of(cls, directory: CourseDirectory, assignment: str) -> Rehearsals:
        submitted = submitted_files(directory.config, assignment)
        return cls(Path(directory.root, NAME), directory.groupshared, submitted)

    def examination(
        self,
        source: Path,
        grader: Grader,
        released: Mapping[str, str] | None = None,
        points: Mapping[str, float] | None = None,
    ) -> Examination:
        """The examination of an instructor's notebook, as ``rehearse`` gives and raises it; the files beside it are
        its data."""
        if self.folder is None:
            return rehearse(source, grader, source.parent, released, points, self.submitted)
        blueprint = read_blueprint(source, released, points)
        path = self.folder / _key(blueprint, source.parent, grader, self.submitted)
        with contextlib.suppress(Exception):  # whatever a damaged or foreign file leads to: it is rehearsed anew
            return msgspec.msgpack.decode(self._read(path), type=Kept).examination(blueprint)
        known = rehearse(source, grader, source.parent, released, points, self.submitted)
        if known.repeatable:
            with contextlib.suppress(OSError, ValueError):  # a course that cannot be written to, or a full disk
                self._write(path, msgspec.msgpack.encode(Kept.of(known)))
        return known

    def _read(self, path: Path) -> bytes:
        """Raises OSError and ValueError for what somebody else could have written, or what was cut off."""
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(descriptor, "rb") as file:
            self._require_own(path.parent, os.lstat(path.parent), stat.S_ISDIR)
            self._require_own(path.parent, os.fstat(descriptor), stat.S_ISREG)
            data = file.read(MOST_BYTES)
        digest, content = data[:DIGEST], data[DIGEST:]
        if hashlib.sha256(content).digest() != digest:
            raise ValueError("it was cut off, or changed")
        return content

    def _require_own(self, folder: Path, about: os.stat_result, kind: Callable[[int], bool]) -> None:
        course = folder.parent.stat()
        foreign = stat.S_IWOTH if self.shared else stat.S_IWOTH | stat.S_IWGRP
        theirs = about.st_uid in (os.geteuid(), course.st_uid) or (self.shared and about.st_gid == course.st_gid)
        if not kind(about.st_mode) or not theirs or about.st_mode & foreign:
            raise ValueError("somebody else could have written it")

    def _write(self, path: Path, content: bytes) -> None:
        """Raises OSError and ValueError; what was there stays."""
        folder = path.parent
        if not folder.exists():
            folder.mkdir()
            folder.chmod(0o2770 if self.shared else 0o700)  # whatever the umask says
        self._require_own(folder, os.lstat(folder), stat.S_ISDIR)
        descriptor, fresh = tempfile.mkstemp(dir=folder, prefix="new-")
        try:
            with os.fdopen(descriptor, "wb") as file:
                os.fchmod(descriptor, 0o660 if self.shared else 0o600)
                file.write(hashlib.sha256(content).digest() + content)
            os.replace(fresh, path)
        except BaseException:
            os.unlink(fresh)
            raise
        # The oldest go where there are too many, and with them what a killed command was writing.
        found = sorted(folder.iterdir(), key=lambda path: path.lstat().st_mtime_ns, reverse=True)
        for old in found[MOST:]:
            old.unlink(missing_ok=True)


def submitted_files(config: Config | None, assignment: str) -> frozenset[str]:
    """The files beside an assignment's notebooks that students submit, and that the course's do not replace.

    These are nbgrader's ``c.Autograde.exclude_overwriting``.
    """
    chosen = (config or Config()).get("Autograde", {}).get("exclude_overwriting", {})
    return frozenset(os.path.normpath(name) for name in chosen.get(assignment, ()))


def _key(blueprint: Blueprint, data: Path, grader: Grader, submitted: frozenset[str]) -> str:
    cells = [cell for cell in blueprint.cells if cell.code]
    about = [ENGINE, grader.seconds, grader.sandboxed, grader.limits, grader.examiners.limits, cells, blueprint.widened]
    about.append(sorted(submitted))
    digest = hashlib.sha256(repr([*about, surroundings()]).encode("utf-8", "surrogatepass"))
    add_files(digest, data)
    return digest.hexdigest()


def add_files(digest: hashlib._Hash, data: Path) -> None:
    """Add the data files beside a notebook to a hash, by name and content."""
    for path in sorted(path for path in walk(data) if path.suffix != ".ipynb"):
        about_file = path.lstat()
        if stat.S_ISREG(about_file.st_mode) and about_file.st_size <= LARGE:
            content = hashlib.sha256(path.read_bytes()).digest()
        else:
            content = f"{about_file.st_mode} {about_file.st_size} {about_file.st_mtime_ns}".encode()
        digest.update(os.fsencode(path.relative_to(data)) + b"\0" + content)


def _installed() -> Iterator[str]:
    """What tells which libraries can be imported: the names that packages are installed under, with their versions."""
    for place in sys.path:
        with contextlib.suppress(OSError), os.scandir(place or ".") as entries:
            known = [entry for entry in entries if entry.name.endswith((".dist-info", ".egg-info", ".pth"))]
            for entry in sorted(known, key=lambda entry: entry.name):
                yield f"{entry.path} {entry.stat().st_mtime_ns}"


def _own_code() -> Iterator[str]:
    """Viva's own files, with their times: a developer changes them between two versions."""
    for place, folders, names in os.walk(os.path.dirname(viva.__file__)):
        folders[:] = sorted(name for name in folders if name != "__pycache__")
        for name in sorted(names):
            about = os.stat(os.path.join(place, name))
            yield f"{name} {about.st_size} {about.st_mtime_ns}"


@functools.cache
def surroundings() -> str:
    """A hash of this machine, its Python, what is installed, and Viva's own code."""
    digest = hashlib.sha256()
    for name in (platform.node(), platform.release(), sys.version, sys.prefix, *_installed(), *_own_code()):
        digest.update(f"{name}\0".encode("utf-8", "surrogateescape"))
    return digest.hexdigest()
