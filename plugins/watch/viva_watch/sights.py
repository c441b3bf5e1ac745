"""The submissions in the exchange: which are collected, which are left out and why, and from when each counts.

Theory of operation. A submission's name has a time that its student wrote. The watcher remembers of each when it looked
and did not see it, or did not see it complete. Who claims an earlier time than that, and whose files changed later by
the file system's own clock as well, did not submit then: such a submission counts from when it was there. Both have to
say so. A watcher that was stopped saw nothing; an exchange that was away for a while has files of the right time; a
clock that was set back makes what was seen before it worthless; and a copy may take a while (``COPYING``). After a full
page was released to its student there is no such allowance.

Contents are never read here: who collects does it. What was passed over is looked at again when its folder changed.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

import msgspec

from viva.course.grading.exchange import COPYING, INTERRUPTED, QUIET, SLACK, Contents, Entry, why
from viva.submission.files.claim import Claim
from viva.verdict import SubmissionError
from viva_watch.schedule import Key

MOST = 200
"""The most submissions of a student for an assignment that are remembered."""


class Sight(msgspec.Struct, omit_defaults=True):
    """When a submission in the exchange was seen, by the watcher's clock."""

    absent: datetime | None = None
    """The last look at which it was not there; None where nobody had looked."""
    lacking: datetime | None = None
    """The last look at which it was not complete, or would not have been taken."""
    collected: bool = msgspec.field(default=False, name="taken")
    """Whether it was collected, or a newer one in its place: from then on nothing that is seen counts."""
    doubted: Claim | None = None
    """From when it counts, where that is not the time that it claims."""


class Seen(msgspec.Struct, omit_defaults=True):
    """What outlives a watcher of what was seen in the exchange."""

    looked: datetime | None = None
    """When the watcher looked last, by its own clock."""
    folders: dict[str, dict[str, dict[str, Sight]]] = msgspec.field(default_factory=dict)
    """By assignment, student and name."""

    def sight(self, key: Key, name: str, before: datetime | None) -> Sight:
        """That of a submission, which was not there ``before`` if it is new."""
        sights = self.folders.setdefault(key[0], {}).setdefault(key[1], {})
        if name not in sights:
            sights[name] = Sight(absent=before)
            while len(sights) > MOST:
                del sights[next(iter(sights))]
        return sights[name]


@dataclass
class Ready:
    """What can be collected of a student for an assignment."""

    names: set[str] = field(default_factory=set)
    """All that is complete."""
    fresh: set[str] = field(default_factory=set)
    """Those of them that this watcher did not collect yet."""
    counted: dict[str, Claim] = field(default_factory=dict)
    """From when those count that do not count from the time that they claim."""


@dataclass
class _Quiet:
    state: tuple
    at: float
    """When it was first seen in this state, by the monotonic clock."""


class Inbox:
    """The exchange, looked at again and again."""

    def __init__(self, settle: float, monotonic: Callable[[], float] = time.monotonic) -> None:
        """What has not changed for ``settle`` seconds is complete."""
        self.settle, self.monotonic = settle, monotonic
        self.more = False
        """Whether there is something that is not complete yet."""
        self.collected: set[str] = set()
        """Collected since this watcher was started."""
        self.refused: dict[str, tuple[tuple | None, str]] = {}
        """By name, why it is passed over while its folder is in this state."""
        self._quiet: dict[str, _Quiet] = {}

    def look(
        self,
        entries: Mapping[Key, list[Entry]],
        survey: Callable[[Entry], Contents],
        seen: Seen,
        now: datetime,
        full: Mapping[Key, datetime],
        speed: float = 1.0,
    ) -> dict[Key, Ready]:
        """By place, what can be collected of ``entries``; ``now`` is a moment before they were listed.

        ``full`` says when each student's last full page was released. The watcher's clock runs at ``speed``.
        """
        before = seen.looked if seen.looked is None or seen.looked <= now else None  # the clock was set back
        names = {entry.path.name for submissions in entries.values() for entry in submissions}
        self.collected &= names
        self._quiet = {name: quiet for name, quiet in self._quiet.items() if name in names}
        self.refused = {name: refusal for name, refusal in self.refused.items() if name in names}
        self.more, ready = False, {}
        for key, attempts in entries.items():
            chosen, interrupted = Ready(), set()
            for entry in attempts:
                name = entry.path.name
                sight = seen.sight(key, name, before)
                if name not in self.collected:
                    contents = self._complete(entry, survey)
                    if contents is None:
                        sight.lacking = now
                        continue
                    if contents.interrupted:
                        sight.lacking = now  # what is added to it came later
                        interrupted.add(name)
                    changed = now - timedelta(seconds=speed * max(0.0, time.time() - contents.changed))
                    if not sight.collected:
                        sight.doubted = _doubted(entry, sight, changed, full.get(key), now)
                    chosen.fresh.add(name)
                chosen.names.add(name)
                if sight.doubted:
                    chosen.counted[name] = sight.doubted
            if chosen.names > interrupted:  # with nothing else, half a notebook is better than none
                chosen.names, chosen.fresh = chosen.names - interrupted, chosen.fresh - interrupted
                self.refused |= dict.fromkeys(interrupted, (None, INTERRUPTED))
            if chosen.fresh:
                ready[key] = chosen
        seen.looked = now
        return ready

    def take(self, seen: Seen, key: Key, names: Iterable[str]) -> None:
        """Remember that these were collected."""
        for name in names:
            self.collected.add(name)
            seen.sight(key, name, None).collected = True

    def _complete(self, entry: Entry, survey: Callable[[Entry], Contents]) -> Contents | None:
        """What lies in a submission that can be collected, else None."""
        name, status = entry.path.name, entry.about
        folder = status.st_ino, status.st_mtime_ns, status.st_ctime_ns
        if self.refused.get(name, (None, ""))[0] == folder:
            return None
        self.refused.pop(name, None)
        try:
            contents = survey(entry)
        except SubmissionError as error:
            self.refused[name] = folder, why(error)
            return None
        except OSError as error:  # it may be better next time
            self.refused[name] = None, why(error)
            return None
        quiet_state = self._quiet.get(name)
        if quiet_state is None or quiet_state.state != contents.state:
            quiet_state = self._quiet[name] = _Quiet(contents.state, self.monotonic())
        # What was there long before the watcher came need not wait; a clock that is wrong makes it wait all the same.
        quiet = max(self.monotonic() - quiet_state.at, time.time() - contents.changed)
        if quiet < (QUIET if contents.interrupted else self.settle):
            self.more = True
            return None
        return contents


def _doubted(entry: Entry, sight: Sight, changed: datetime, full: datetime | None, now: datetime) -> Claim | None:
    """From when a submission counts that was not there when it says; None where nothing speaks against it."""
    claimed = entry.claimed.replace(tzinfo=UTC)
    without = max((moment for moment in (sight.absent, sight.lacking) if moment), default=None)
    if without is None:
        return None
    late = sight.absent is not None and sight.absent > claimed + SLACK and changed > claimed + SLACK
    slow = sight.lacking is not None and sight.lacking > claimed + COPYING and changed > claimed + COPYING
    after = full is not None and claimed < full and without >= full and changed >= full
    if not (late or slow or after):
        return None
    return Claim(claimed, without, min(now, max(without, changed.replace(microsecond=0))))
