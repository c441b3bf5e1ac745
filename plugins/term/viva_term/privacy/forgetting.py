"""The traces of a person, moved into ``.forgotten/<id>/``; back from there, or erased.

Theory of operation. Each run writes a manifest with all that it is about to take away, into a numbered folder of its
own, and then takes it away. So a run that was killed is finished by the next, and what both have is put back once. A
restore goes through the runs from the last to the first. What has no place any more stays there, and is counted.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import sqlite3
import stat
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from viva.cleaning.plaintext import quoted
from viva.course.course import Course
from viva.course.database import with_retries
from viva.course.processes import leftovers
from viva.folder import remove
from viva.verdict import CourseError
from viva_term.lms.rosterfile import Entry
from viva_term.privacy import bookrows, records
from viva_term.privacy.bookrows import Rows
from viva_term.privacy.person import Person
from viva_term.privacy.records import Cuts
from viva_term.privacy.traces import STORE, Traces, without

MANIFEST, FILES = "manifest.json", "files"
SERVER = ""
"""How a manifest names the gradebook where that is on a server."""
WATCHING = "watch.lock"


class Manifest(msgspec.Struct):
    """What one run takes away; paths are relative to the course, where they lie in it."""

    ids: list[str]
    entries: list[dict[str, str]] = []
    whole: list[str] = []
    pages: list[str] = []
    cuts: dict[str, Cuts] = {}
    archives: dict[str, list[str]] = {}
    digests: dict[str, str] = {}
    """Of archives without the person's files."""
    books: dict[str, Rows] = {}

    @property
    def person(self) -> Person:
        entries = tuple(Entry(**entry) for entry in self.entries)
        return Person(self.ids[0], frozenset(self.ids), entries)


class Store:
    """The place for one student's traces."""

    def __init__(self, course: Course, student: str) -> None:
        self.course, self.folder = course, course.root / STORE / student

    @property
    def runs(self) -> list[Path]:
        """The folder of each run, the last first."""
        numbers = [path for path in self.folder.glob("*") if path.name.isdecimal() and (path / MANIFEST).is_file()]
        return sorted(numbers, key=lambda path: -int(path.name))

    def path(self, name: str) -> Path:
        return self.course.root / name

    def name(self, path: Path) -> str:
        return str(path.relative_to(self.course.root) if path.is_relative_to(self.course.root) else path)

    def forget(self, traces: Traces) -> None:
        """Take the traces away; who calls this is alone with the course. Raises CourseError, OSError and DBAPIError."""
        _require_no_watcher(self.course)
        person = traces.person
        manifest = Manifest([person.id, *sorted(person.ids - {person.id})])
        manifest.entries = [{key: value for key, value in _fields(entry) if value} for entry in person.entries]
        manifest.whole, manifest.pages = ([self.name(path) for path in paths] for paths in (traces.whole, traces.pages))
        manifest.cuts = {self.name(path): cuts for path, cuts in traces.cuts.items()}
        manifest.books = {self.name(path) if path else SERVER: rows for path, rows in traces.books.items() if rows}
        manifest.archives = {self.name(path): names for path, names in traces.archives.items()}
        run = self._new_run()
        slim = {path: without(path.read_bytes(), names, person) for path, names in traces.archives.items()}
        manifest.digests = {self.name(path): hashlib.sha256(data).hexdigest() for path, data in slim.items()}
        _replace(run / MANIFEST, msgspec.json.encode(manifest))
        for name, rows in manifest.books.items():
            with self._book(name) as connect:
                with_retries(partial(connect, partial(bookrows.remove, rows=rows)))
        for name, cuts in manifest.cuts.items():
            path = self.path(name)
            data, now = records.cut(path.name, path.read_bytes(), person)
            if now.cuts == cuts.cuts:
                _replace(path, data)
            else:
                raise CourseError(f"{path} was changed meanwhile. Run the same command again.")
        for path, data in slim.items():
            shutil.copy2(path, self._place(run, self.name(path)))
            _replace(path, data)
        for path in (*traces.whole, *traces.pages):
            _move(path, self._place(run, self.name(path)))
        self._compact([name for name in manifest.books if name != SERVER])

    def restore(self) -> int:
        """Put everything back, and return how many parts have no place any more; those stay in the store.

        Raises CourseError where the course has new work of the student.
        """
        _require_no_watcher(self.course)
        if not self.runs:
            raise CourseError(f"{quoted(self.folder.name)} is not in {self.course.root / STORE}. {listed(self.course)}")
        manifests = {run: msgspec.json.decode((run / MANIFEST).read_bytes(), type=Manifest) for run in self.runs}
        for run, manifest in manifests.items():
            for name in manifest.whole:
                if os.path.lexists(self._place(run, name)) and os.path.lexists(self.path(name)):
                    raise CourseError(
                        f"Nothing was restored: {self.path(name)} exists again. Move it away, then run the same "
                        "command again."
                    )
        lost = 0
        for run, manifest in manifests.items():
            if (missing := self._put_back(run, manifest)) == 0:
                remove(run)
            lost += missing
        self._tidy()
        return lost

    def _put_back(self, run: Path, manifest: Manifest) -> int:
        lost = 0
        for name in manifest.whole:
            if os.path.lexists(stored := self._place(run, name)):
                self.path(name).parent.mkdir(parents=True, exist_ok=True)
                _move(stored, self.path(name))
        for name in manifest.pages:
            stored = self._place(run, name)
            if stored.exists() and not self.path(name).exists():
                self.path(name).parent.mkdir(parents=True, exist_ok=True)
                _move(stored, self.path(name))
        for name, digest in manifest.digests.items():
            stored, path = self._place(run, name), self.path(name)
            if not stored.exists():
                continue
            if path.exists() and hashlib.sha256(path.read_bytes()).hexdigest() != digest:
                lost += 1
                continue
            _replace(path, stored.read_bytes())
        for name, cuts in manifest.cuts.items():
            path = self.path(name)
            path.parent.mkdir(parents=True, exist_ok=True)
            old = path.read_bytes() if path.exists() else b""
            data, missing = records.mended(path.name, old, cuts, manifest.person)
            lost += missing
            if data != old:
                _replace(path, data)
        for name, rows in manifest.books.items():
            with self._book(name) as connect:
                lost += with_retries(partial(connect, partial(bookrows.enter, rows=rows)))
        return lost

    def erase(self) -> None:
        """Erase what was taken away, for good."""
        remove(self.folder)
        self._tidy()

    def _tidy(self) -> None:
        for folder in (self.folder, self.folder.parent):
            with contextlib.suppress(OSError):
                folder.rmdir()

    def _new_run(self) -> Path:
        self.folder.mkdir(parents=True, exist_ok=True)
        self.folder.parent.chmod(stat.S_IRWXU)  # it holds what a person wants to have gone
        number = max((int(path.name) for path in self.folder.glob("*") if path.name.isdecimal()), default=0) + 1
        run = self.folder / str(number)
        run.mkdir()
        (run / FILES).mkdir()
        return run

    def _place(self, run: Path, name: str) -> Path:
        """Where something lies in the store: a name says nothing of its length or depth."""
        return run / FILES / hashlib.sha256(os.fsencode(name)).hexdigest()[:32]

    @contextlib.contextmanager
    def _book(self, name: str) -> Iterator[Callable]:
        """A function that runs another one in a transaction of a gradebook."""
        path = self.path(name) if name != SERVER else None
        if path is None or path == self.course.gradebook_file:
            with self.course.gradebook() as gradebook:
                yield _transaction(gradebook.engine)
            return
        with bookrows.opened(path) as engine:
            yield _transaction(engine)

    def _compact(self, names: list[str]) -> None:
        for path in map(self.path, names):
            try:
                bookrows.compact(path)
            except sqlite3.Error as error:
                raise CourseError(
                    f"{path} could not be written anew: {error}. Deleted rows may still be in the file. Close the "
                    "programs that use it, then run the same command again."
                ) from error

    def compact(self) -> None:
        """Write the gradebook's file anew, also where an earlier run deleted the rows."""
        if (path := self.course.gradebook_file) and path.exists():
            self._compact([self.name(path)])


def waiting(course: Course) -> list[str]:
    """The students whose traces were taken away and not erased yet."""
    return sorted(path.name for path in (course.root / STORE).glob("*") if path.is_dir())


def listed(course: Course) -> str:
    """A sentence that names them."""
    students = ", ".join(map(quoted, waiting(course)))
    return f"Forgotten, and not erased yet: {students}." if students else "No student is waiting to be erased."


def _transaction(engine: bookrows.Engine) -> Callable:
    def run(work: Callable) -> Any:
        with engine.begin() as connection:
            return work(connection)

    return run


def _fields(entry: Entry) -> list[tuple[str, str]]:
    return list(vars(entry).items())


def _require_no_watcher(course: Course) -> None:
    """Raises CourseError while `viva watch` works: it has its memory in its process, and would write it again."""
    path = course.root / WATCHING
    if not path.exists():
        return
    lock = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        if not leftovers.take(lock, path, shared=True):
            raise CourseError("Nothing was done: 'viva watch' is running here. Stop it, then run this command again.")
    finally:
        os.close(lock)


def _replace(path: Path, data: bytes) -> None:
    """Write a file, whole or not at all; it keeps its mode, and a link stays one."""
    target = Path(os.path.realpath(path))
    fresh = target.with_name(f"{leftovers.BUILD}{target.name}"[:200])
    with contextlib.suppress(FileNotFoundError):
        fresh.unlink()
    mode = stat.S_IMODE(target.stat().st_mode) if target.exists() else 0o600
    descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(descriptor)
    fresh.chmod(mode)
    fresh.replace(target)


def _move(path: Path, target: Path) -> None:
    """Move a file, a link or a folder, also a folder without write permission, and also to another disk."""
    if not os.path.lexists(path):
        return
    mode = path.lstat().st_mode
    if stat.S_ISDIR(mode):
        path.chmod(stat.S_IMODE(mode) | stat.S_IRWXU)
    try:
        path.rename(target)
    except OSError:
        shutil.move(path, target)
    if stat.S_ISDIR(mode):
        target.chmod(stat.S_IMODE(mode))
