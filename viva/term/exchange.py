"""nbgrader's exchange, collected from as a place into which any student can put anything.

Theory of operation. Everybody can write into an exchange, under any name, and whoever collects may read what students
may not. nbgrader warns of a folder in another student's name, and takes it; it follows links, so that a notebook which
is a link to the solution is collected as one. Here a submission counts if its student owns it, and
it is copied file by file: each is opened without following a link, looked at when it is open, and then read. What was
left out is said in a sentence. A forged submission does not hide the student's own, whatever its time.
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
from pathlib import Path
from typing import BinaryIO

from nbgrader.exchange import ExchangeError
from nbgrader.exchange.default import ExchangeCollect

from viva import clock
from viva.cleaning.plaintext import quoted
from viva.course import overrides  # noqa: F401  (an exchange of the user's own is made)
from viva.course.processes.leftovers import BUILD
from viva.folder import MOST_FILES, MOST_LEVELS
from viva.submission.files import timestamp
from viva.verdict import CourseError, SubmissionError

KB = 1000
NEVER = datetime.datetime.max


class Collect(ExchangeCollect):
    """nbgrader's, which takes what its student owns, and files and folders alone."""

    src_records: list[dict]

    def start(self) -> None:
        """Collect; what is copied waits in a folder of its own until all of it was looked at."""
        with tempfile.TemporaryDirectory(prefix="viva-collect-") as folder:
            self.local = Path(folder)
            self.coursedir.get_existing_timestamp = self._existing
            super().start()

    def init_src(self) -> None:
        """Choose the newest submission of each student, and copy it; refused ones do not count."""
        super().init_src()
        self.src_records = [record for record in self.src_records if self._taken(record)]

    def do_copy(self, src: str, dest: str, log: object = None) -> None:
        """Go on from the copy; it takes its place in submitted/ at once."""
        with tempfile.TemporaryDirectory(prefix=BUILD, dir=Path(dest).parent) as folder:
            whole = Path(folder, Path(dest).name)
            super().do_copy(str(self.local / Path(src).name), str(whole), log)
            whole.rename(dest)

    def _path_to_record(self, path: str) -> dict:
        """Whose a submission is and of when; a refused one has no owner and no order."""
        try:
            record = super()._path_to_record(path)
            record["timestamp"] = self._moment(record["filename"].rsplit("+", 3)[2])
            self._require_owner(path, record["username"])
        except (ExchangeError, CourseError, ValueError, OverflowError) as error:
            return self._refused(path, f"its name is not an nbgrader name: {quoted(str(error))}")
        except SubmissionError as error:
            return self._refused(path, str(error))
        return record

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
        """The time of what was collected before. Raises SubmissionError where it is not certain."""
        return timestamp.read(Path(folder, timestamp.NAME), self._zones())

    def _sort_by_timestamp(self, records: list[dict]) -> list[dict]:
        """Newest first, the refused ones last."""
        return sorted(super()._sort_by_timestamp(records), key=lambda record: record["timestamp"] == NEVER)

    def _require_owner(self, path: str, student: str) -> None:
        about = os.lstat(path)
        if not stat.S_ISDIR(about.st_mode):
            raise SubmissionError("it is not a folder")
        if self.check_owner:
            with contextlib.suppress(KeyError):
                if pwd.getpwuid(about.st_uid).pw_name == student:
                    return
            raise SubmissionError(f"it is named after {quoted(student)}, but owned by another user")

    def _refused(self, path: str, why: str) -> dict:
        name = Path(path).name
        self.log.error(f"{quoted(name, 200)} in the exchange was not collected: {why}.")
        return {"username": name.split("+")[0], "filename": name, "timestamp": NEVER}

    def _taken(self, record: dict) -> bool:
        """Whether a submission could be copied to this machine."""
        if record["timestamp"] == NEVER:
            return False
        path = Path(self.inbound_path, record["filename"])
        owner = path.lstat().st_uid if self.check_owner else None
        place = self.coursedir.submitted_directory, record["username"], self.coursedir.assignment_id
        try:
            self._existing(self.coursedir.format_path(*place))  # nobody knows whether what came is newer
            take(path, self.local / path.name, owner, self.coursedir.max_dir_size * KB)
            _complete(self.local / path.name, record["timestamp"])
        except (SubmissionError, OSError) as error:
            self._refused(str(path), str(error))
            return False
        return True


def _complete(folder: Path, time: datetime.datetime) -> None:
    """Write what nbgrader adds to a submission, where a student did not: it releases no feedback to anybody without."""
    (folder / "timestamp.txt").write_text(f"{time:%Y-%m-%d %H:%M:%S.%f} UTC", encoding="utf-8")
    secret = folder / "submission_secret.txt"
    if not (secret.exists() and re.fullmatch(rb"[0-9a-f]{32,128}", secret.read_bytes())):
        secret.write_text(secrets.token_hex(64), encoding="utf-8")


def take(folder: Path, to: Path, owner: int | None, most: int) -> None:
    """Copy a folder into which somebody may write meanwhile, at most ``most`` bytes.

    Raises SubmissionError for a link, for what is neither file nor folder or (``owner``) somebody else's, and for more,
    or deeper, than is looked into; OSError for what cannot be read.
    """
    files = 0
    for place, folders, names, descriptor in os.fwalk(folder, follow_symlinks=False):
        below = to / Path(place).relative_to(folder)
        below.mkdir()
        files += len(names) + len(folders)
        if files > MOST_FILES or len(below.relative_to(to).parts) > MOST_LEVELS:
            raise SubmissionError(f"it holds more than {MOST_FILES} files, or folders in {MOST_LEVELS} others")
        _require_own(os.fstat(descriptor), owner, Path(place).name)
        for name in folders:
            _require_own(os.stat(name, dir_fd=descriptor, follow_symlinks=False), owner, name)
        for name in names:
            with _opened(name, descriptor) as file:
                about = os.fstat(file.fileno())
                if not stat.S_ISREG(about.st_mode):
                    raise SubmissionError(f"{quoted(name)} in it is not a file")
                _require_own(about, owner, name)
                if (most := most - about.st_size) < 0:
                    raise SubmissionError("it is larger than this course allows (c.CourseDirectory.max_dir_size)")
                (below / name).write_bytes(file.read(about.st_size))


def _opened(name: str, folder: int) -> BinaryIO:
    try:
        return os.fdopen(os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder), "rb")
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise SubmissionError(f"{quoted(name)} in it is a link, and links are not followed") from error
        raise


def _require_own(about: os.stat_result, owner: int | None, name: str) -> None:
    if stat.S_ISLNK(about.st_mode):
        raise SubmissionError(f"{quoted(name)} in it is a link, and links are not followed")
    if owner is not None and about.st_uid != owner:
        raise SubmissionError(f"{quoted(name)} in it is not owned by the student")
