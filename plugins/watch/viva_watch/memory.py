"""The memory of the watcher, and its state: ``watch.json`` in the course folder."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import msgspec

from viva.course.processes import leftovers
from viva.verdict import CourseError
from viva_watch.schedule import Key, Past
from viva_watch.sights import Seen

NAME = "watch.json"
LAST = 10
"""The most submissions, and the most errors, that are listed."""


class Event(msgspec.Struct, omit_defaults=True):
    """One line of what happened last."""

    at: datetime
    what: str
    assignment: str = ""
    student: str = ""
    seconds: float = 0.0
    """From when it was seen to when its page was there."""


class TrialClock(msgspec.Struct):
    """A trial's clock: when it begins, how fast it runs, and when it was started (in seconds, by the machine's)."""

    begins: datetime
    speed: float
    started: float


class Memory(msgspec.Struct, omit_defaults=True):
    """Everything that outlives a watcher."""

    students: dict[str, dict[str, Past]] = msgspec.field(default_factory=dict)
    """By assignment and student."""
    reported: dict[str, datetime] = msgspec.field(default_factory=dict)
    """By assignment, for which due time its report was written."""
    trial: TrialClock | None = None
    """It goes on when the watcher is started again."""
    pid: int = 0
    started: datetime | None = None
    looked: datetime | None = None
    """When the watcher looked last, by the clock of the machine."""
    waiting: int = 0
    """Submissions that are to be graded now."""
    later: datetime | None = None
    """When there is more to do."""
    graded: int = 0
    """Since it was started."""
    last: list[Event] = msgspec.field(default_factory=list)
    errors: list[Event] = msgspec.field(default_factory=list)
    exchange: Seen = msgspec.field(default_factory=Seen)
    passed: dict[str, Event] = msgspec.field(default_factory=dict)
    """What is passed over in the exchange, by name, and why."""
    dated_back: list[Event] = msgspec.field(default_factory=list)
    """Submissions whose own time does not count."""

    @classmethod
    def read(cls, root: Path) -> Memory:
        """That of a course; empty where there is none. Raises CourseError for what is none."""
        path = root / NAME
        try:
            return msgspec.json.decode(path.read_bytes(), type=cls)
        except FileNotFoundError:
            return cls()
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise CourseError(
                f"{path} cannot be read: {error}. Delete it; then the watcher checks all submissions again."
            ) from error

    def write(self, root: Path) -> None:
        leftovers.write(root / NAME, msgspec.json.format(msgspec.json.encode(self)).decode() + "\n")

    def past(self, key: Key) -> Past:
        """That of a student for an assignment, to be changed."""
        return self.students.setdefault(key[0], {}).setdefault(key[1], Past())

    def pasts(self) -> dict[Key, Past]:
        return {
            (assignment, student): past
            for assignment, students in self.students.items()
            for student, past in students.items()
        }

    def tell(self, event: Event, among: list[Event] | None = None) -> None:
        events = self.last if among is None else among
        events.append(event)
        del events[:-LAST]

    def a_minute(self) -> float:
        """Submissions a minute, over the last ones."""
        if len(self.last) < 2 or (span := (self.last[-1].at - self.last[0].at).total_seconds()) <= 0:
            return 0.0
        return 60 * (len(self.last) - 1) / span


def now() -> datetime:
    """By the clock of the machine, to the second."""
    return datetime.now(UTC).replace(microsecond=0)
