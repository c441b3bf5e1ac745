"""The results of rehearsals, kept in the course: ``.rehearsals/``, which may be deleted at any time.

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
    """The contents of a file of rehearsals."""

    given: frozenset[str]
    owned: dict[str, frozenset[str]]
    kinds: dict[str, str]
    single_process: dict[str, Note]
    failing: dict[str, Note]
    broken: frozenset[str]
    files: dict[str, frozenset[str]]
    seconds: float

    @classmethod
    def of(cls, examination: Examination) -> Kept:
        plan, single, failing = examination.plan, dict(examination.single_process), dict(examination.failing)
        facts = examination.broken, examination.files, examination.seconds
        return cls(plan.given, plan.owned, examination.kinds, single, failing, *facts)

    def examination(self, blueprint: Blueprint) -> Examination:
        """Raises ValueError where this belongs to another notebook, or where an expected type cannot be read."""
        cells = {cell.id for cell in blueprint.cells}
        cell_names = [*self.given, *self.owned, *self.single_process, *self.failing, *self.broken, *self.files]
        if not cells.issuperset(cell_names) or self.seconds < 0:
            raise ValueError("it is about other cells")
        for kind in self.kinds.values():
            expected_of(kind)
        plan = ownership.Plan(self.given, self.owned)
        examination = Examination(blueprint, plan, self.kinds, self.single_process, seconds=self.seconds)
        return replace(examination, failing=self.failing, broken=self.broken, files=self.files, dice=dice_of(blueprint))


class Rehearsals:
    """The rehearsals of an assignment, in a folder beside the course's source folder."""

    def __init__(
        self, folder: Path | None = None, shared: bool = False, submitted: frozenset[str] = frozenset()
    ) -> None:
        """Without a ``folder`` nothing is saved; ``shared`` tells whether graders of one group work on the course.

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
        data: Path | None = None,
    ) -> Examination:
        """The examination of an instructor's notebook, as ``rehearse`` gives and raises it.

        The folder ``data`` holds the assignment's files; without one they lie beside the notebook.
        """
        data = data or source.parent
        if self.folder is None:
            return rehearse(source, grader, data, released, points, self.submitted)
        blueprint = read_blueprint(source, released, points)
        path = self.folder / _key(blueprint, data, grader, self.submitted)
        with contextlib.suppress(Exception):  # whatever a damaged or foreign file leads to: it is rehearsed anew
            return msgspec.msgpack.decode(self._read(path), type=Kept).examination(blueprint)
        examination = rehearse(source, grader, data, released, points, self.submitted)
        if examination.repeatable:
            with contextlib.suppress(OSError, ValueError):  # a course that cannot be written to, or a full disk
                self._write(path, msgspec.msgpack.encode(Kept.of(examination)))
        return examination

    def _read(self, path: Path) -> bytes:
        """Raises OSError and ValueError for a file that somebody else could have written, or that was cut off."""
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(descriptor, "rb") as file:
            self._require_own(path.parent, os.lstat(path.parent), stat.S_ISDIR)
            self._require_own(path.parent, os.fstat(descriptor), stat.S_ISREG)
            data = file.read(MOST_BYTES)
        digest, content = data[:DIGEST], data[DIGEST:]
        if hashlib.sha256(content).digest() != digest:
            raise ValueError("it is not complete, or was changed")
        return content

    def _require_own(self, folder: Path, status: os.stat_result, kind: Callable[[int], bool]) -> None:
        course = folder.parent.stat()
        foreign = stat.S_IWOTH if self.shared else stat.S_IWOTH | stat.S_IWGRP
        theirs = status.st_uid in (os.geteuid(), course.st_uid) or (self.shared and status.st_gid == course.st_gid)
        if not kind(status.st_mode) or not theirs or status.st_mode & foreign:
            raise ValueError("another user could have written it")

    def _write(self, path: Path, content: bytes) -> None:
        """Raises OSError and ValueError; then the old file stays."""
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
        # The oldest files are removed where there are too many, also unfinished files of killed commands.
        files = sorted(folder.iterdir(), key=lambda path: path.lstat().st_mtime_ns, reverse=True)
        for old in files[MOST:]:
            old.unlink(missing_ok=True)


def submitted_files(config: Config | None, assignment: str) -> frozenset[str]:
    """The files beside an assignment's notebooks that students submit, and that the course's do not replace.

    These are nbgrader's ``c.Autograde.exclude_overwriting``.
    """
    chosen = (config or Config()).get("Autograde", {}).get("exclude_overwriting", {})
    return frozenset(os.path.normpath(name) for name in chosen.get(assignment, ()))


def _key(blueprint: Blueprint, data: Path, grader: Grader, submitted: frozenset[str]) -> str:
    cells = [cell for cell in blueprint.cells if cell.code]
    limits = grader.limits, grader.examiners.limits
    settings = [
        ENGINE,
        blueprint.language,
        blueprint.kernel,
        grader.seconds,
        grader.sandboxed,
        *limits,
        cells,
        blueprint.widened,
        sorted(submitted),
    ]
    digest = hashlib.sha256(repr([*settings, surroundings()]).encode("utf-8", "surrogatepass"))
    add_files(digest, data)
    return digest.hexdigest()


def add_files(digest: hashlib._Hash, data: Path) -> None:
    """Add the data files beside a notebook to a hash, by name and content."""
    for path in sorted(walk(data)):
        about_file = path.lstat()
        if stat.S_ISREG(about_file.st_mode) and about_file.st_size <= LARGE:
            content = hashlib.sha256(path.read_bytes()).digest()
        else:
            content = f"{about_file.st_mode} {about_file.st_size} {about_file.st_mtime_ns}".encode()
        digest.update(os.fsencode(path.relative_to(data)) + b"\0" + content)


def _installed() -> Iterator[str]:
    """What tells which libraries can be imported: the names that packages are installed under, with their versions."""
    for folder in sys.path:
        with contextlib.suppress(OSError), os.scandir(folder or ".") as entries:
            distributions = [entry for entry in entries if entry.name.endswith((".dist-info", ".egg-info", ".pth"))]
            for entry in sorted(distributions, key=lambda entry: entry.name):
                yield f"{entry.path} {entry.stat().st_mtime_ns}"


def _own_code() -> Iterator[str]:
    """Viva's own files, with their times: a developer changes them between two versions."""
    for folder, folders, names in os.walk(os.path.dirname(viva.__file__)):
        folders[:] = sorted(name for name in folders if name != "__pycache__")
        for name in sorted(names):
            status = os.stat(os.path.join(folder, name))
            yield f"{name} {status.st_size} {status.st_mtime_ns}"


@functools.cache
def surroundings() -> str:
    """A hash of this machine, its Python, what is installed, and Viva's own code."""
    digest = hashlib.sha256()
    for name in (platform.node(), platform.release(), sys.version, sys.prefix, *_installed(), *_own_code()):
        digest.update(f"{name}\0".encode("utf-8", "surrogateescape"))
    return digest.hexdigest()
