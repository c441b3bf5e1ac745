"""All traces of a person in a course folder: own files, rows in shared files, and texts that mention the person.

Theory of operation. The folder is walked once. A folder that nbgrader or Viva names after a student is theirs whole; in
shared files and gradebooks their rows are; a page about the class is made again, so it goes. Whatever else mentions
them belongs to somebody else, another student's notebook above all: it is listed and not changed. So what no rule of
ours covers is listed too.
"""

from __future__ import annotations

import contextlib
import glob
import io
import os
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from nbgrader.exchange.default.exchange import Exchange

from viva.course.course import Course
from viva.course.database import with_retries
from viva.course.gradebook.results import Results
from viva.course.grades.standing import UNMATCHED
from viva.course.releasing.variants import FOLDER as VARIANTS
from viva.folder import walk
from viva_term.archives.ledger import ATTEMPTS
from viva_term.archives.senders import Senders
from viva_term.privacy import bookrows, records
from viva_term.privacy.bookrows import Rows
from viva_term.privacy.person import Person
from viva_term.privacy.records import Cuts

STORE = ".forgotten"
"""Where the traces of forgotten students lie until they are erased."""
STEPS = ("submitted", "autograded", "feedback")
INSTRUCTORS = ("source", "release", "answers", "solutions")
"""Folders in which no student's data is expected."""
SKIPPED = {STORE, ".git", ".hg", ".svn", ".venv", "node_modules", "__pycache__"}
MADE = ("report", ".open")
"""Folders whose files are about the class, and are made again."""
MADE_FILES = ("*-feedback.zip", "grades.xlsx")
OWN_ZIP = "-data.zip"
"""How the zip of one person's data is called, behind the id."""
ZIP = b"PK\x03\x04"
PACKED = (b"\x1f\x8b", b"BZh", b"\xfd7zXZ", b"7z\xbc\xaf", b"Rar!", b"\x28\xb5\x2f\xfd")
"""How compressed files begin that are not searched."""
MOST_BYTES, MOST_MEMBERS, LARGEST_ARCHIVE = 200 * 2**20, 50_000, 2**30
"""Bytes of a file that is searched for mentions; members and bytes of an archive from which some are removed."""
UNREADABLE = (zipfile.BadZipFile, RuntimeError, NotImplementedError, ValueError)


@dataclass(frozen=True)
class Members:
    """Members of an archive: a person's own ones, and tables in which some rows are the person's."""

    whole: tuple[str, ...] = ()
    tables: tuple[str, ...] = ()

    @property
    def names(self) -> list[str]:
        return [*self.whole, *self.tables]


@dataclass
class Traces:
    """What a course has of a person, by path."""

    person: Person
    whole: list[Path] = field(default_factory=list)
    """Folders and files that are the person's alone."""
    pages: list[Path] = field(default_factory=list)
    """Files about the class that mention the person, and are made again."""
    cuts: dict[Path, Cuts] = field(default_factory=dict)
    """The person's rows in shared files."""
    archives: dict[Path, Members] = field(default_factory=dict)
    """What is the person's in archives."""
    books: dict[Path | None, Rows] = field(default_factory=dict)
    """Rows in gradebooks; None is the course's own, where that is on a server."""
    mentions: list[Path] = field(default_factory=list)
    """Files of others that mention the person."""
    comments: int = 0
    """Comments on others' work in the gradebook that do."""
    unread: list[Path] = field(default_factory=list)
    """Files that could not be searched."""
    exchange: list[Path] = field(default_factory=list)
    """Submissions in nbgrader's exchange, which is not in the course."""

    @property
    def nothing(self) -> bool:
        """Whether there is nothing to take away."""
        return not (self.whole or self.pages or self.cuts or self.archives or any(self.books.values()))


def gather(course: Course, student: str) -> Traces:
    """The traces of a student. Nothing is written. Raises CourseError for an id that nobody has."""
    person = Person.of(course, student, _everybody(course))
    return _Search(course, Traces(person)).run()


def _everybody(course: Course) -> set[str]:
    """Every id by which something is kept, whether or not the roster has it."""
    ids = {entry.student for step in STEPS for entry in course.folders(step)}
    ids |= {path.name for folder in (ATTEMPTS, VARIANTS) for path in (course.root / folder).glob("*/*")}
    return ids | {record.student for record in Results.of(course.directory).each()}


class _Search:
    def __init__(self, course: Course, traces: Traces) -> None:
        self.course, self.traces, self.person = course, traces, traces.person
        self.senders = Senders(course)
        self.root = course.root

    def run(self) -> Traces:
        theirs = list(dict.fromkeys(path for path in self._own_folders() if os.path.lexists(path)))
        self.traces.whole = [path for path in theirs if not set(path.parents) & set(theirs)]
        self._books()
        for path in self._files():
            self._look(path)
        self.traces.mentions += [path for path in self._unpacked() if path not in self.traces.mentions]
        self.traces.exchange = [path for student in sorted(self.person.ids) for path in self._sent(student)]
        return self.traces

    def _own_folders(self) -> Iterator[Path]:
        for student in sorted(self.person.ids):
            for step in STEPS:
                yield from (entry.folder for entry in self.course.folders(step) if entry.student == student)
                around = self.course.path(step, ".", student)
                if around.name == student:  # a layout with the student's folder above the assignment's
                    yield around
            name = glob.escape(student)
            for folder in (ATTEMPTS, VARIANTS):
                yield from sorted((self.root / folder).glob(f"*/{name}"))
            yield self.root / "report" / "log" / student
            yield self.root / f"{student}{OWN_ZIP}"

    @cached_property
    def _students(self) -> list[Path]:
        """Folders of students' work: what is not the person's there is somebody else's."""
        steps = [self.course.path(step, ".", ".") for step in STEPS]
        return [*steps, *(self.root / name for name in (ATTEMPTS, UNMATCHED, VARIANTS))]

    def _files(self) -> Iterator[Path]:
        """Every file that may mention the person, and is not theirs; rows of shared tables can add more of theirs."""
        results = Results.of(self.course.directory).path
        places = [self.root, *self._students]
        roots = [location for location in dict.fromkeys(places) if location == self.root or self._is_apart(location)]
        if not results.is_relative_to(self.root):
            yield from (path for path in results.parent.glob(f"{results.stem[:2]}*.jsonl") if path.is_file())
        waiting = [self.root / UNMATCHED]
        for root in (*waiting, *roots):  # its lists say whose folders there are
            for parent, folders, files in os.walk(root):
                parent_folder = Path(parent)
                folders[:] = [
                    name
                    for name in sorted(folders)
                    if name not in SKIPPED
                    and parent_folder / name not in self.traces.whole
                    and (root in waiting or parent_folder / name not in waiting)
                ]
                for name in sorted(files, key=lambda name: (not name.endswith(".csv"), name)):
                    if parent_folder / name not in self.traces.whole:
                        yield parent_folder / name

    def _unpacked(self) -> Iterator[Path]:
        """What the person sent, in folders of the course that are unpacked archives to ``viva collect``."""
        ours = {*INSTRUCTORS, *MADE, *SKIPPED}
        for folder in sorted(self.root.iterdir()):
            if folder.is_dir() and not (folder.is_symlink() or folder.name in ours or folder in self._students):
                names = [path.relative_to(folder).as_posix() for path in walk(folder)]
                owners = self.senders.owners(folder, names)
                yield from (folder / name for name in names if owners.get(name, frozenset()) & self.person.ids)

    def _is_apart(self, location: Path) -> bool:
        return location.is_symlink() or not location.is_relative_to(self.root)

    def _books(self) -> None:
        path = self.course.gradebook_file
        if self.course.has_gradebook():

            def ask() -> None:
                with self.course.gradebook() as gradebook:
                    connection = gradebook.db.connection()
                    self.traces.books[path] = bookrows.read(connection, self.person.ids)
                    self.traces.comments = bookrows.mentions(connection, self.person)

            with_retries(ask)

    def _look(self, path: Path) -> None:
        """Find out what is the person's in a file."""
        try:
            if path.is_symlink() or not path.is_file():
                self._mention(path, "")
                return
            if path == self.course.gradebook_file or path.suffix == ".lock":
                return
            if bookrows.is_gradebook(path):
                with bookrows.opened(path) as engine, engine.connect() as connection:
                    if rows := bookrows.read(connection, self.person.ids):
                        self.traces.books[path] = rows
                return
            self._look_into(path)
        except OSError:
            self.traces.unread.append(path)

    def _look_into(self, path: Path) -> None:
        relative = path.relative_to(self.root) if path.is_relative_to(self.root) else path
        strangers = any(path.is_relative_to(location) for location in self._students) and path.parent not in (
            self.root / ATTEMPTS,
            self.root / UNMATCHED,
        )
        derived = relative.parts[0] in MADE or any(relative.match(name) for name in MADE_FILES)
        if strangers or relative.parts[0] in INSTRUCTORS:
            self._search(path, self._mention)
        elif path.name.endswith(records.SHARED):
            self._cut(path)
        elif derived:
            self._search(path, self._page)
        elif _begins(path, ZIP):
            self._archive(path)
        else:
            self._search(path, self._mention)

    def _cut(self, path: Path) -> None:
        waiting = self.senders.waiting(path.stem) if path.parent == self.root / UNMATCHED else {}
        rest, cuts = records.cut(path.name, path.read_bytes(), self.person, waiting)
        if cuts.cuts:
            self.traces.cuts[path] = cuts
        self._mention(path, rest.decode(cuts.encoding, "replace"))
        if path.parent == self.root / UNMATCHED:
            self.traces.whole += self._waiting(path.with_suffix(""), records.cells(path.name, cuts, "folder"))

    def _waiting(self, place: Path, names: list[str]) -> list[Path]:
        """The folders of the person's submissions in unmatched/; a sender's folder in which there is nothing else."""
        theirs = [Path(os.path.normpath(place / name)) for name in names]
        theirs = [folder for folder in theirs if place in folder.parents and folder.is_dir()]
        emptied = {parent for parent in {folder.parent for folder in theirs} if {*parent.iterdir()} <= {*theirs}}
        return [*sorted(emptied - {place}), *(folder for folder in theirs if folder.parent not in emptied - {place})]

    def _search(self, path: Path, tell: Callable[[Path, str], None]) -> None:
        """Search a file, and the files in it if it is a zip."""
        if path.stat().st_size > MOST_BYTES or any(_begins(path, start) for start in PACKED):
            self.traces.unread.append(path)
            return
        tell(path, path.read_bytes().decode("utf-8", "replace"))
        if _begins(path, ZIP) and path not in (*self.traces.mentions, *self.traces.pages):
            with contextlib.suppress(*UNREADABLE), zipfile.ZipFile(path) as archive:
                tell(path, "\n".join(self._text(path, archive, archive.infolist())))

    def _text(self, path: Path, archive: zipfile.ZipFile, members: list[zipfile.ZipInfo]) -> Iterator[str]:
        """The names and the contents of members, up to a limit."""
        left = MOST_BYTES
        for member in members:
            yield member.filename
            if left <= 0:
                self.traces.unread.append(path)
                return
            with archive.open(member) as file:
                data = file.read(left)
            left -= len(data)
            yield data.decode("utf-8", "replace")

    def _archive(self, path: Path) -> None:
        """An archive that somebody keeps: files that are named after the person are theirs, and rows of its tables."""
        try:
            with zipfile.ZipFile(path) as archive:
                members = archive.infolist()
                if len(members) > MOST_MEMBERS or sum(member.file_size for member in members) > LARGEST_ARCHIVE:
                    self.traces.unread.append(path)
                    return
                theirs = self._theirs(path, archive, members)
                rest = [member for member in members if member.filename not in theirs.names]
                self._mention(path, "\n".join(self._text(path, archive, rest)))
        except UNREADABLE:
            self.traces.unread.append(path)
            return
        if theirs.names:
            self.traces.archives[path] = theirs

    def _theirs(self, path: Path, archive: zipfile.ZipFile, members: list[zipfile.ZipInfo]) -> Members:
        """What was sent by the person, as far as that is known, and else what is named after the person."""
        owners = self.senders.owners(path, [member.filename for member in members])
        whole, tables = [], []
        for member in members:
            name = member.filename
            if (students := owners.get(name)) is not None:
                whole += [name] if students <= self.person.ids else []
            elif self.person.names_file(name):
                whole.append(name)
            elif name.endswith(records.TABLES) and records.cut(name, archive.read(member), self.person)[1].cuts:
                tables.append(name)
        return Members(tuple(whole), tuple(tables))

    def _named(self, path: Path) -> str:
        return str(path.relative_to(self.root) if path.is_relative_to(self.root) else path.name)

    def _mention(self, path: Path, text: str) -> None:
        if path not in self.traces.mentions and self.person.is_mentioned(f"{self._named(path)}\n{text}"):
            self.traces.mentions.append(path)

    def _page(self, path: Path, text: str) -> None:
        if path not in self.traces.pages and self.person.is_mentioned(f"{self._named(path)}\n{text}"):
            self.traces.pages.append(path)

    def _sent(self, student: str) -> list[Path]:
        exchange = Exchange(coursedir=self.course.directory, config=self.course.directory.config)
        inbound = Path(exchange.root, self.course.directory.course_id, "inbound")
        return sorted(inbound.glob(f"{glob.escape(student)}+*"))


def without(data: bytes, members: Members, person: Person) -> bytes:
    """A zip without these members and rows."""
    target = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(target, "w") as new:
        new.comment = old.comment
        for member in old.infolist():
            if member.filename in members.whole:
                continue
            content = old.read(member)
            if member.filename in members.tables:
                content = records.cut(member.filename, content, person)[0]
            new.writestr(member, content)
    return target.getvalue()


def _begins(path: Path, start: bytes) -> bool:
    with path.open("rb") as file:
        return file.read(len(start)) == start
