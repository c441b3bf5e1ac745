"""The submissions in submitted/, and whether each is complete.

Nobody says when a copy is finished. It is complete when none of its files has changed for a while; and a notebook that
ends in the middle of its JSON is given longer, as a slow connection may have paused.
"""

from __future__ import annotations

import contextlib
import itertools
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from viva.course.course import Course
from viva.course.examining import fingerprint
from viva.course.grading.exchange import is_cut
from viva.folder import MOST_FILES, walk
from viva.submission.submission import Submission
from viva_watch.schedule import Arrival, Key

LONGER = 15
"""An incomplete notebook is waited for this many times as long, and then taken as it is."""


@dataclass
class _Seen:
    state: tuple
    at: float
    """When it was first seen in this state, by the monotonic clock."""
    since: datetime
    digest: str = ""


class Arrivals:
    """The folders of a kind, looked at again and again."""

    def __init__(self, settle: float, monotonic: Callable[[], float] = time.monotonic) -> None:
        """What has not changed for ``settle`` seconds is complete."""
        self.settle, self.monotonic = settle, monotonic
        self.seen: dict[Path, _Seen] = {}

    def complete(self, folders: Iterable[Path], now: datetime) -> tuple[dict[Path, tuple[str, datetime]], bool]:
        """By folder, a hash of what is complete, and since when it was seen; and whether there is more to come."""
        complete, unsettled, current = {}, False, set(folders)
        self.seen = {folder: seen for folder, seen in self.seen.items() if folder in current}
        for folder in sorted(current):
            state, changed = _state(folder)
            if not state:
                continue
            seen_folder = self.seen.get(folder)
            if seen_folder is None or seen_folder.state != state:
                seen_folder = self.seen[folder] = _Seen(state, self.monotonic(), now)
            if not seen_folder.digest and self._is_complete(folder, seen_folder, changed):
                seen_folder.digest = fingerprint.key(b"", folder)
                if _state(folder)[0] != state:  # it changed while it was read
                    seen_folder.digest = ""
            if seen_folder.digest:
                complete[folder] = seen_folder.digest, seen_folder.since
            else:
                unsettled = True
        return complete, unsettled

    def _is_complete(self, folder: Path, folder_state: _Seen, changed: float) -> bool:
        # What was there long before the watcher came need not wait; a clock that is wrong makes it wait all the same.
        quiet = max(self.monotonic() - folder_state.at, time.time() - changed)
        return quiet >= self.settle * (LONGER if is_cut(folder) else 1)


def _state(folder: Path) -> tuple[tuple, float]:
    """What its files are like, and when the last of them changed."""
    files, last = [], 0.0
    for path in itertools.islice(walk(folder), MOST_FILES):
        with contextlib.suppress(OSError):
            status = path.lstat()
            files.append((str(path), status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino))
            last = max(last, status.st_ctime)
    return tuple(files), last


def arrived(
    course: Course, assignments: list[str], arrivals: Arrivals, now: datetime
) -> tuple[dict[Key, Submission], list[Arrival], bool]:
    """By place the submissions, those that are complete, and whether there are others."""
    submissions = {
        (submission.assignment, submission.student): submission for submission in course.submissions(assignments)
    }
    by_folder = {
        submission.folder: key for key, submission in submissions.items() if not submission.folder.is_symlink()
    }
    complete, unsettled = arrivals.complete(by_folder, now)
    links = [Arrival(key, "link", now) for key, submission in submissions.items() if submission.folder.is_symlink()]
    return submissions, [Arrival(by_folder[folder], *state) for folder, state in complete.items()] + links, unsettled
