"""nbgrader's exchange, collected from as a place into which any student can put anything.

Theory of operation. Everybody can write into an exchange, under any name, and whoever collects may read what students
may not. nbgrader warns of a folder in another student's name, and takes it; it follows links, so that a notebook which
is a link to the solution is collected as one. Here one rule comes before all collecting: a submission counts if its
student owns it and it is complete (``Collect.entry``, ``survey``). Then it is copied file by file: each is opened
without following a link, looked at when it is open, and then read. What is passed over is said in a sentence, and hides
no other submission of the student's, whatever its time.

The name of a submission has a time that its student wrote. The kernel of the machine with the exchange writes when a
file changed, which no student can set (``st_ctime``). Where the two differ by more than SLACK a note tells the grader.
`viva watch` knows more, and says from when a submission counts (``Collect.counted``).
"""

from __future__ import annotations

import contextlib
import datetime
import errno
import os
import pwd
import re
import secrets
import stat
import tempfile
import time
from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from nbgrader.exchange.default import ExchangeCollect

from viva import clock, wording
from viva.cleaning.plaintext import quoted
from viva.course.grading import overrides  # noqa: F401  (an exchange of the user's own is made)
from viva.course.processes.leftovers import BUILD
from viva.folder import MOST_FILES, MOST_LEVELS
from viva.submission.files import claim, timestamp
from viva.submission.files.claim import Claim
from viva.verdict import CourseError, SubmissionError

KB = 1000
NEVER = datetime.datetime.max
ADDED = ("timestamp.txt", "submission_secret.txt")
"""The files that nbgrader writes into a submission after all others."""
SLACK = datetime.timedelta(seconds=30)
"""How much earlier a submission's own time may be than its files' times: clocks differ a little, disks are slow."""
COPYING = datetime.timedelta(minutes=10)
"""The time that copying a submission into the exchange may take."""
QUIET = 30.0
"""Seconds after which a copy that ends in the middle was interrupted."""
TAIL = 64
INTERRUPTED = "its notebook is not complete, so the student's upload was interrupted"


@dataclass(frozen=True)
class Entry:
    """A folder in the exchange that its student owns, by its name."""

    path: Path
    student: str
    assignment: str
    claimed: datetime.datetime
    """When it says that it was submitted, in UTC and without a zone."""
    about: os.stat_result


@dataclass(frozen=True)
class Contents:
    """The contents of a submission in the exchange; only the ends of notebooks were read."""

    state: tuple
    """Something else after each change."""
    changed: float
    """When the file system says that something in it changed last, in seconds."""
    interrupted: bool
    """Whether nbgrader did not come to the end when it was submitted."""


class Collect(ExchangeCollect):
    """nbgrader's collector, restricted to files and folders that the submission's student owns."""

    src_records: list[dict]
    only: Container[str] | None = None
    """The names of the submissions that may be collected; None means all."""
    counted: Mapping[str, Claim] = {}
    """By name, from when a submission counts, where that is not the time that it claims."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.passed: dict[str, str] = {}
        """By name, why a submission was passed over."""
        self.logins: dict[int, str] = {}
        """By user id; a directory of users may be slow to ask."""

    def start(self) -> None:
        """Collect; a copy waits in a folder of its own until all of it was checked."""
        with tempfile.TemporaryDirectory(prefix="viva-collect-") as folder:
            self.local = Path(folder)
            self.coursedir.get_existing_timestamp = self._existing
            super().start()

    def init_src(self) -> None:
        """Choose the newest submission of each student, and copy it; refused ones do not count."""
        self.records: list[dict] = []
        super().init_src()
        chosen = {record["filename"] for record in self.src_records}
        for record in self.records:
            if record["interrupted"] and record["filename"] not in chosen:
                self._pass(record["filename"], INTERRUPTED)
        self.src_records = [record for record in self.src_records if self._taken(record)]

    def do_copy(self, src: str, dest: str, log: object = None) -> None:
        """Go on from the copy; it takes its place in submitted/ at once."""
        with tempfile.TemporaryDirectory(prefix=BUILD, dir=Path(dest).parent) as folder:
            whole = Path(folder, Path(dest).name)
            super().do_copy(str(self.local / Path(src).name), str(whole), log)
            whole.rename(dest)

    def _path_to_record(self, path: str) -> dict:
        """Whose a submission is and of when; a refused one has no owner and no order."""
        name = Path(path).name
        refused = {"username": name.split("+")[0], "filename": name, "timestamp": NEVER, "interrupted": False}
        if self.only is not None and name not in self.only:
            return refused
        try:
            entry = self.entry(Path(path))
            contents = self.survey(entry)
            if contents.interrupted and time.time() - contents.changed < QUIET:
                raise SubmissionError("it is still being copied; collect again in a minute")
        except (SubmissionError, OSError) as error:
            self._pass(name, why(error))
            return refused
        if entry.assignment != self.coursedir.assignment_id:
            return refused
        record = {"username": entry.student, "filename": name, "timestamp": entry.claimed}
        record |= {"claimed": entry.claimed, "changed": contents.changed, "interrupted": contents.interrupted}
        if (doubted := self.counted.get(name)) and doubted.counted:
            record["timestamp"] = timestamp.in_utc(doubted.counted).replace(tzinfo=None)
        self.records.append(record)
        return record

    def entry(self, path: Path) -> Entry:
        """Whose a folder in the exchange is, and what its name says. Raises SubmissionError for one that counts for
        nobody, and OSError."""
        try:
            student, assignment, when = path.name.rsplit("+", 3)[:3]
            claimed = self._moment(when)
        except (CourseError, ValueError, OverflowError) as error:
            raise SubmissionError("its name does not have nbgrader's form, or its time is not clear") from error
        status = os.lstat(path)
        if not stat.S_ISDIR(status.st_mode):
            raise SubmissionError("it is not a folder")
        if self.check_owner and self._login(status.st_uid) != student:
            raise SubmissionError(f"it has the name of {quoted(student)}, but another user owns it")
        return Entry(path, student, assignment, claimed, status)

    def _login(self, user: int) -> str:
        """The name of a user; empty for an unknown id."""
        if user not in self.logins:
            self.logins[user] = ""
            with contextlib.suppress(KeyError):
                self.logins[user] = pwd.getpwuid(user).pw_name
        return self.logins[user]

    def survey(self, entry: Entry) -> Contents:
        """The contents of a submission, by names and sizes. Raises SubmissionError for one that cannot be collected."""
        return survey(entry.path, entry.about.st_uid if self.check_owner else None, self._most())

    def _most(self) -> int:
        return self.coursedir.max_dir_size * KB

    def _moment(self, text: str) -> datetime.datetime:
        """When something was submitted, in UTC and without a zone; nbgrader drops most abbreviations of zones.

        Raises CourseError and ValueError.
        """
        if clock.is_dated(text):
            when = clock.parse(text, self._zones())
        else:
            when = datetime.datetime.strptime(text, self.timestamp_format)
        return timestamp.in_utc(when).replace(tzinfo=None)

    def _zones(self) -> tuple[str, ...]:
        return self.timezone, *clock.of_course(self.config)

    def _existing(self, folder: str) -> datetime.datetime | None:
        """The time of the submission that was collected before. Raises SubmissionError where it is not certain."""
        return timestamp.read(Path(folder, timestamp.NAME), self._zones())

    def _sort_by_timestamp(self, records: list[dict]) -> list[dict]:
        """A sort key: newest submissions first, then interrupted ones, refused ones last."""
        newest = super()._sort_by_timestamp(records)
        return sorted(newest, key=lambda record: (record["timestamp"] == NEVER, record["interrupted"]))

    def _pass(self, name: str, reason: str) -> None:
        self.passed[name] = reason
        self.log.error(f"{quoted(name, 200)} in the exchange was not collected: {reason}.")

    def _taken(self, record: dict) -> bool:
        """Whether a submission could be copied to this machine."""
        if record["timestamp"] == NEVER:
            return False
        path = Path(self.inbound_path, record["filename"])
        names = self.coursedir.submitted_directory, record["username"], self.coursedir.assignment_id
        try:
            recorded = self._existing(self.coursedir.format_path(*names))  # nobody knows whether what came is newer
            if recorded == record["claimed"]:  # a grader believes it, or it was collected before anybody doubted it
                record["timestamp"] = recorded
            owner = path.lstat().st_uid if self.check_owner else None
            take(path, self.local / path.name, owner, self._most())
            self._complete(self.local / path.name, record)
        except (SubmissionError, OSError) as error:
            self._pass(record["filename"], why(error))
            return False
        return True

    def _complete(self, folder: Path, record: dict) -> None:
        """Write what nbgrader adds to a submission, where a student did not: it releases no feedback to anybody
        without; and what is known against the time that it claims."""
        (folder / timestamp.NAME).write_text(f"{record['timestamp']:%Y-%m-%d %H:%M:%S.%f} UTC", encoding="utf-8")
        secret = folder / "submission_secret.txt"
        if not (secret.exists() and re.fullmatch(rb"[0-9a-f]{32,128}", secret.read_bytes())):
            secret.write_text(secrets.token_hex(64), encoding="utf-8")
        doubted = self.counted.get(record["filename"]) or _by_the_disk(record)
        (folder / claim.NAME).unlink(missing_ok=True)
        if doubted:
            doubted.write(folder)
            self.log.warning(f"{quoted(record['filename'], 200)} in the exchange {wording.sentence(doubted.note())}.")


def why(error: SubmissionError | OSError) -> str:
    """Why a submission was passed over."""
    return f"it cannot be read ({error.strerror})" if isinstance(error, OSError) else str(error)


def _by_the_disk(record: dict) -> Claim | None:
    """The file system's evidence against the time that a submission claims; copying may be slow."""
    claimed = record["claimed"].replace(tzinfo=datetime.UTC)
    changed = datetime.datetime.fromtimestamp(record["changed"], datetime.UTC).replace(microsecond=0)
    return Claim(claimed, changed) if changed > claimed + SLACK else None


def survey(folder: Path, owner: int | None, most: int) -> Contents:
    """The contents of a folder that others may write to meanwhile; only notebooks are opened, to read their ends.

    Raises SubmissionError for what ``take`` refuses, and for a folder that holds nothing of its student's.
    """
    state: list[tuple] = []
    changed, names = 0.0, set()
    for name, status in _inside(folder, owner):
        state.append((name, status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino))
        changed = max(changed, status.st_ctime)
        if not stat.S_ISDIR(status.st_mode):
            names.add(name)
            if (most := most - status.st_size) < 0:
                raise SubmissionError(TOO_LARGE)
    if names <= {*ADDED, claim.NAME}:
        raise SubmissionError("it is empty, so the student's upload was interrupted")
    return Contents(tuple(sorted(state)), changed, timestamp.NAME not in names and is_cut(folder))


TOO_MANY = f"it has more than {MOST_FILES} files, or more than {MOST_LEVELS} levels of folders"
TOO_LARGE = "it is larger than this course allows (c.CourseDirectory.max_dir_size)"


def _inside(folder: Path, owner: int | None) -> Iterator[tuple[str, os.stat_result]]:
    """The entries of a folder by relative path, and the folder itself as "."; listing stops at the largest number.

    Raises SubmissionError as ``take`` does, and OSError.
    """
    todo, count = [("", 0)], 0
    while todo:
        inner, level = todo.pop()
        descriptor = os.open(folder / inner, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            if not inner:
                yield ".", os.fstat(descriptor)
            with os.scandir(descriptor) as entries:
                for entry in entries:
                    status, path = entry.stat(follow_symlinks=False), os.path.join(inner, entry.name)
                    _require_own(status, owner, entry.name)
                    if stat.S_ISDIR(status.st_mode):
                        todo.append((path, level + 1))
                    elif not stat.S_ISREG(status.st_mode):
                        raise SubmissionError(f"{quoted(entry.name)} in it is not a file")
                    if (count := count + 1) > MOST_FILES or level >= MOST_LEVELS:
                        raise SubmissionError(TOO_MANY)
                    yield path, status
        finally:
            os.close(descriptor)


def is_cut(folder: Path) -> bool:
    """Whether a notebook ends before its JSON does."""
    for path in folder.glob("*.ipynb"):
        with contextlib.suppress(OSError):  # a link, or a pipe
            descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
            with os.fdopen(descriptor, "rb") as file:
                file.seek(max(0, os.fstat(descriptor).st_size - TAIL))
                if not file.read(TAIL).rstrip().endswith(b"}"):
                    return True
    return False


def take(folder: Path, to: Path, owner: int | None, most: int) -> None:
    """Copy a folder into which somebody may write meanwhile, at most ``most`` bytes.

    Raises SubmissionError for a link, for what is neither file nor folder or (``owner``) somebody else's, and for more,
    or deeper, than is looked into; OSError for what cannot be read.
    """
    files = 0
    for folder_path, folders, names, descriptor in os.fwalk(folder, follow_symlinks=False):
        below = to / Path(folder_path).relative_to(folder)
        below.mkdir()
        files += len(names) + len(folders)
        if files > MOST_FILES or len(below.relative_to(to).parts) > MOST_LEVELS:
            raise SubmissionError(TOO_MANY)
        _require_own(os.fstat(descriptor), owner, Path(folder_path).name)
        for name in folders:
            _require_own(os.stat(name, dir_fd=descriptor, follow_symlinks=False), owner, name)
        for name in names:
            with _opened(name, descriptor) as file:
                status = os.fstat(file.fileno())
                if not stat.S_ISREG(status.st_mode):
                    raise SubmissionError(f"{quoted(name)} in it is not a file")
                _require_own(status, owner, name)
                if (most := most - status.st_size) < 0:
                    raise SubmissionError(TOO_LARGE)
                (below / name).write_bytes(file.read(status.st_size))


def _opened(name: str, folder: int) -> BinaryIO:
    try:
        return os.fdopen(os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder), "rb")
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise SubmissionError(f"{quoted(name)} in it is a link, and links are not followed") from error
        raise


def _require_own(status: os.stat_result, owner: int | None, name: str) -> None:
    if stat.S_ISLNK(status.st_mode):
        raise SubmissionError(f"{quoted(name)} in it is a link, and links are not followed")
    if owner is not None and status.st_uid != owner:
        raise SubmissionError(f"{quoted(name)} in it is not owned by the student")
