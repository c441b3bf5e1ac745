"""The traces of a person, moved into ``.forgotten/<id>/``; back from there, or erased.

Theory of operation. Each run writes a manifest with all that it is about to take away, into a numbered folder of its
own: the rows, the records of shared files, and each archive as it was and as it will be. Then it is a change in the
course's journal (``gradebook.journal``), of steps that follow from the manifest alone: so a run that was killed is
finished by the next command, whatever stands in the course by then. A restore goes through the runs from the last to
the first, and puts the rows of gradebooks back before the folders: who grades a folder without its rows makes new ones.
What has no place any more stays there, and is counted.
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
from viva.course.gradebook import journal
from viva.course.gradebook.journal import Step
from viva.course.grading import busy
from viva.course.processes import leftovers
from viva.folder import remove
from viva.verdict import CourseError
from viva_term.lms.rosterfile import Entry
from viva_term.privacy import bookrows, records
from viva_term.privacy.bookrows import Rows
from viva_term.privacy.person import Person
from viva_term.privacy.records import Cuts
from viva_term.privacy.traces import STORE, Traces, without

MANIFEST, FILES, LOST = "manifest.json", "files", "lost"
SERVER = ""
"""How a manifest names the gradebook where that is on a server."""


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
    before: dict[str, str] = {}
    """Of archives as they were."""
    books: dict[str, Rows] = {}

    @property
    def person(self) -> Person:
        entries = tuple(Entry(**entry) for entry in self.entries)
        return Person(self.ids[0], frozenset(self.ids), entries)


class Store:
    """The place for one student's traces."""

    def __init__(self, course: Course, student: str) -> None:
        self.course, self.student, self.folder = course, student, course.root / STORE / student

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
        busy.require_nobody(self.course)
        person = traces.person
        manifest = Manifest([person.id, *sorted(person.ids - {person.id})])
        manifest.entries = [{key: value for key, value in _fields(entry) if value} for entry in person.entries]
        manifest.whole, manifest.pages = ([self.name(path) for path in paths] for paths in (traces.whole, traces.pages))
        manifest.cuts = {self.name(path): cuts for path, cuts in traces.cuts.items()}
        manifest.books = {self.name(path) if path else SERVER: rows for path, rows in traces.books.items() if rows}
        manifest.archives = {self.name(path): members.names for path, members in traces.archives.items()}
        run = self._new_run()
        for path, members in traces.archives.items():
            name, old = self.name(path), path.read_bytes()
            slim = without(old, members, person)
            manifest.before[name], manifest.digests[name] = _digest(old), _digest(slim)
            shutil.copy2(path, self._place(run, name))
            _replace(self._slim(run, name), slim)
        _replace(run / MANIFEST, msgspec.json.encode(manifest))
        self._carry_out("forget", f"--forget {self.student}", run=run.name)

    def forget_steps(self, number: str) -> Iterator[Step]:
        """What a run takes away, as its manifest says."""
        run = self.folder / number
        manifest = msgspec.json.decode((run / MANIFEST).read_bytes(), type=Manifest)
        for name, rows in manifest.books.items():
            yield Step(f"rows of {name}", partial(self._remove_rows, name, rows))
        for name, cuts in manifest.cuts.items():
            yield Step(f"records of {name}", partial(self._cut, name, cuts))
        for name in manifest.archives:
            yield Step(f"files in {name}", partial(self._slim_down, run, name, manifest.before[name]))
        for name in (*manifest.whole, *manifest.pages):
            yield Step(f"move {name}", partial(_move, self.path(name), self._place(run, name)))
        for name in manifest.books:
            if name != SERVER:
                yield Step(f"free pages of {name}", partial(self._compact, name))

    def _remove_rows(self, name: str, rows: Rows) -> None:
        with self._book(name) as connect:
            with_retries(partial(connect, partial(bookrows.remove, rows=rows)))

    def _cut(self, name: str, cuts: Cuts) -> None:
        path = self.path(name)
        if path.exists():
            old = path.read_bytes()
            if (data := records.without(path.name, old, cuts)) != old:
                _replace(path, data)

    def _slim_down(self, run: Path, name: str, before: str) -> None:
        """An archive that somebody replaced since stays as it is: the next run looks into it."""
        path = self.path(name)
        if path.exists() and _digest(path.read_bytes()) == before:
            _replace(path, self._slim(run, name).read_bytes())

    def restore(self) -> int:
        """Put everything back, and return how many parts have no place any more; those stay in the store.

        Raises CourseError where the course has new work of the student.
        """
        busy.require_nobody(self.course)
        if not self.runs:
            raise CourseError(f"{quoted(self.folder.name)} is not in {self.course.root / STORE}. {listed(self.course)}")
        for run, manifest in self._manifests():
            (run / LOST).unlink(missing_ok=True)
            for name in manifest.whole:
                if os.path.lexists(self._place(run, name)) and os.path.lexists(self.path(name)):
                    raise CourseError(
                        f"Nothing was restored: {self.path(name)} exists again. Move it away, then run the same "
                        "command again."
                    )
        return self._carry_out("restore", f"--restore {self.student}")

    def _manifests(self) -> list[tuple[Path, Manifest]]:
        return [(run, msgspec.json.decode((run / MANIFEST).read_bytes(), type=Manifest)) for run in self.runs]

    def restore_steps(self) -> Iterator[Step]:
        """What every run took away, the last one first."""
        for run, manifest in self._manifests():
            for title, act in self._put_back(run, manifest):
                yield Step(f"{run.name}: {title}", partial(self._counted, run, act))
            yield Step(f"{run.name}: its folder", partial(self._clear, run))
        yield Step("the store", self._tidy)

    def _put_back(self, run: Path, manifest: Manifest) -> Iterator[tuple[str, Callable[[], int | None]]]:
        for name, rows in manifest.books.items():
            yield f"rows of {name}", partial(self._enter_rows, name, rows)
        for name, cuts in manifest.cuts.items():
            yield f"records of {name}", partial(self._mend, name, cuts, manifest.person)
        for name, digest in manifest.digests.items():
            yield f"files in {name}", partial(self._fill_up, run, name, digest, manifest.before.get(name, ""))
        for name in manifest.whole:
            yield f"move {name}", partial(self._move_back, run, name)
        for name in manifest.pages:
            yield f"page {name}", partial(self._move_back, run, name, unless_there=True)

    def _enter_rows(self, name: str, rows: Rows) -> int:
        with self._book(name) as connect:
            return with_retries(partial(connect, partial(bookrows.enter, rows=rows)))

    def _mend(self, name: str, cuts: Cuts, person: Person) -> int:
        path = self.path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        old = path.read_bytes() if path.exists() else b""
        data, missing = records.mended(path.name, old, cuts, person)
        if data != old:
            _replace(path, data)
        return missing

    def _fill_up(self, run: Path, name: str, slim: str, before: str) -> int:
        stored, path = self._place(run, name), self.path(name)
        if not stored.exists():
            return 0
        if path.exists() and (now := _digest(path.read_bytes())) != slim:
            return int(now != before)
        _replace(path, stored.read_bytes())
        return 0

    def _move_back(self, run: Path, name: str, unless_there: bool = False) -> int:
        stored, path = self._place(run, name), self.path(name)
        if os.path.lexists(stored) and os.path.lexists(path):
            return int(not unless_there)
        if os.path.lexists(stored):
            path.parent.mkdir(parents=True, exist_ok=True)
            _move(stored, path)
        return 0

    def _counted(self, run: Path, act: Callable[[], int | None]) -> int:
        """Put a part back; a mark in the run says where one had no place."""
        if lost := act() or 0:
            (run / LOST).touch()
        return lost

    def _clear(self, run: Path) -> None:
        """Remove a run of which everything is back, the manifest last."""
        if not (run / LOST).exists():
            remove(run / FILES)
            remove(run)

    def erase(self) -> None:
        """Erase what was taken away, for good."""
        self._carry_out("erase", f"--forget {self.student} --now")

    def erase_steps(self) -> Iterator[Step]:
        """The gradebook's file is written anew also where an earlier run deleted the rows."""
        if (path := self.course.gradebook_file) and path.exists():
            yield Step("free pages", partial(self._compact, self.name(path)))
        yield Step("the folder", partial(remove, self.folder))
        yield Step("the store", self._tidy)

    def _carry_out(self, kind: str, options: str, **more: str) -> int:
        about = {"student": self.student, **more}
        steps = STEPS[kind](self.course, about)
        return journal.carry_out(self.course, journal.Intent(kind, f"viva roster {options}", about), steps)

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

    def _slim(self, run: Path, name: str) -> Path:
        """Where an archive lies without the person's files, until it is put into its place."""
        return self._place(run, name).with_suffix(".slim")

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

    def _compact(self, name: str) -> None:
        path = self.path(name)
        try:
            bookrows.compact(path)
        except sqlite3.Error as error:
            raise CourseError(
                f"{path} could not be written again: {error}. Deleted rows may still be in the file. Close the "
                "programs that use it, then run the same command again."
            ) from error


def forget_steps(course: Course, about: dict[str, Any]) -> Iterator[Step]:
    """The steps of ``viva roster --forget``, for the journal."""
    return Store(course, about["student"]).forget_steps(about["run"])


def restore_steps(course: Course, about: dict[str, Any]) -> Iterator[Step]:
    """The steps of ``viva roster --restore``."""
    return Store(course, about["student"]).restore_steps()


def erase_steps(course: Course, about: dict[str, Any]) -> Iterator[Step]:
    """The steps of ``viva roster --forget --now``."""
    return Store(course, about["student"]).erase_steps()


STEPS = {"forget": forget_steps, "restore": restore_steps, "erase": erase_steps}


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


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
