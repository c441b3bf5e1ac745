"""What lies in submitted/, and whether it is complete.

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

from viva.course import fingerprint
from viva.course.course import Course
from viva.course.exchange import is_cut
from viva.folder import MOST_FILES, walk
from viva.submission.submission import Submission
from viva_watch.schedule import Handed, Place

LONGER = 15
"""So many times as long a notebook may be incomplete before it is taken as it is."""


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
        found, more, there = {}, False, set(folders)
        self.seen = {folder: one for folder, one in self.seen.items() if folder in there}
        for folder in sorted(there):
            state, changed = _state(folder)
            if not state:
                continue
            known = self.seen.get(folder)
            if known is None or known.state != state:
                known = self.seen[folder] = _Seen(state, self.monotonic(), now)
            if not known.digest and self._is_complete(folder, known, changed):
                known.digest = fingerprint.key(b"", folder)
                if _state(folder)[0] != state:  # it changed while it was read
                    known.digest = ""
            if known.digest:
                found[folder] = known.digest, known.since
            else:
                more = True
        return found, more

    def _is_complete(self, folder: Path, known: _Seen, changed: float) -> bool:
        # What was there long before the watcher came need not wait; a clock that is wrong makes it wait all the same.
        quiet = max(self.monotonic() - known.at, time.time() - changed)
        return quiet >= self.settle * (LONGER if is_cut(folder) else 1)


def _state(folder: Path) -> tuple[tuple, float]:
    """What its files are like, and when the last of them changed."""
    found, last = [], 0.0
    for path in itertools.islice(walk(folder), MOST_FILES):
        with contextlib.suppress(OSError):
            about = path.lstat()
            found.append((str(path), about.st_size, about.st_mtime_ns, about.st_ctime_ns, about.st_ino))
            last = max(last, about.st_ctime)
    return tuple(found), last


def handed(
    course: Course, assignments: list[str], arrivals: Arrivals, now: datetime
) -> tuple[dict[Place, Submission], list[Handed], bool]:
    """By place the submissions, those that are complete, and whether there are others."""
    submissions = {(one.assignment, one.student): one for one in course.submissions(assignments)}
    by_folder = {one.folder: place for place, one in submissions.items() if not one.folder.is_symlink()}
    complete, more = arrivals.complete(by_folder, now)
    links = [Handed(place, "link", now) for place, one in submissions.items() if one.folder.is_symlink()]
    return submissions, [Handed(by_folder[one], *known) for one, known in complete.items()] + links, more
