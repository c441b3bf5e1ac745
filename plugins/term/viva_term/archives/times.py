"""The times of attempts: from the archive, else from a companion, else from an option; never invented."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime

from traitlets import Unicode
from traitlets.config import Config, Configurable

from viva import clock
from viva.cleaning import plaintext
from viva.verdict import CourseError
from viva_term.archives import moments
from viva_term.archives.attempt import Attempt
from viva_term.archives.companion import Companion
from viva_term.archives.layouts import Sender
from viva_term.archives.ledger import cell

SHOWN = 5
ASK = {
    "canvas": "Canvas archives have no times. Give a CSV with the columns student_id,timestamp: --times=FILE",
    "moodle": "Moodle archives have no times. Download the assignment's grading worksheet and give it: --times=FILE",
    "brightspace": "Download the submissions again as one zip, whose folder names contain the times. Or give its "
    "index.html or a CSV with the columns name,timestamp: --times=FILE",
    "gradescope": "The times are in submission_metadata.yml of the exported submissions: --times=FILE",
    "blackboard": "The times are in Blackboard's own file names. Or give a CSV with the columns "
    "student_id,timestamp: --times=FILE",
    "github": "GitHub Classroom has the times in its exported grades (submission_timestamp): --times=FILE",
    "nbgrader": "nbgrader keeps the times in timestamp.txt in each folder. Or give a CSV with the columns "
    "student_id,timestamp: --times=FILE",
}
"""Where the times of a system are."""
ANY = "Give the times as a CSV with the columns student_id,timestamp: --times=FILE"


class Collect(Configurable):
    """How a course collects what was submitted."""

    zone = Unicode(help="The time zone of times without one, by continent and city, as in Europe/Berlin.").tag(
        config=True
    )


def zone_of(config: Config) -> moments.Zone:
    """The zone of a course: its own, else that of its late policy. Raises CourseError when there is no such zone."""
    zone = Collect(config=config).zone
    if not zone and "LatePolicy" in config and isinstance(config.LatePolicy.get("zone"), str):
        zone = config.LatePolicy.zone
    return moments.Zone(zone, clock.of_course(config))


@dataclass
class Times:
    """Finds the moments of attempts; what it cannot find it remembers, and asks for at once."""

    zone: moments.Zone
    companions: list[Companion] = field(default_factory=list)
    for_all: str = ""
    """What --time says."""
    restated: bool = False
    """Whether --zone was typed: then it says anew what the times in these archives mean."""
    without: bool = False
    """Whether attempts without a time are taken, as --no-times says."""
    who: Callable[[Sender], tuple[str, ...]] = lambda sender: ()
    """The students that a sender is."""
    missing: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    """By system, the senders of whom no time is known."""
    unread: list[str] = field(default_factory=list)
    zoneless: list[str] = field(default_factory=list)
    unsaid: list[str] = field(default_factory=list)
    """Times that an older Viva collected, and did not keep the zone of."""
    settled: list[tuple[str, str]] = field(default_factory=list)
    """Senders and texts whose moments stay as an earlier command found them, although the zone is another now."""

    def __post_init__(self) -> None:
        self.given = moments.read(self.for_all, self.zone.names) if self.for_all else None
        if self.for_all and self.given is None:
            raise CourseError(
                f"--time={plaintext.line(self.for_all)} is not a readable time. Write it as "
                "--time='2026-10-05 23:59', or with an offset: --time='2026-10-05 23:59+02:00'"
            )
        self._people: dict[tuple[str, str], set[str]] | None = None

    def set(self, attempt: Attempt, students: Collection[str], system: str, dated: bool, came: bool = True) -> None:
        """Give an attempt its moment. What is ``dated`` from before need not have one.

        A text without a zone keeps the moment that an earlier command found, unless the attempt ``came`` in an archive
        for which --zone was typed.
        """
        texts = [text for text in (attempt.time, *self._of_people(students, system)) if text]
        read = ((text, moments.read(text, self.zone.names)) for text in texts)
        text, moment = next((pair for pair in read if pair[1]), ("", None))
        if moment:
            attempt.told = text
            in_utc = attempt.in_utc and text == attempt.time and moment.tzinfo is None
            zoneless = moment.tzinfo is None and not in_utc
            if zoneless and self._stays(attempt, moment, came):
                return
            if zoneless and attempt.unsaid and not came and not self.restated:
                if students:
                    self.unsaid.append(f"{moment:%Y-%m-%d %H:%M}")
                return
            self._place(attempt, moment.replace(tzinfo=UTC) if in_utc else moment, dated)
            return
        if attempt.earlier:
            attempt.moment = attempt.earlier[1]
            return
        if self.given:
            if not dated:
                self._place(attempt, self.given, dated)
        elif not dated and not self.without:
            if texts:
                self.unread.append(texts[0])
            else:
                self.missing[system].append(attempt.sender.label)

    def _place(self, attempt: Attempt, moment: datetime, dated: bool) -> None:
        attempt.moment = self.zone.utc(moment)
        if attempt.moment is None:
            attempt.order = moment
            if not dated and not self.without:
                self.zoneless.append(f"{moment:%Y-%m-%d %H:%M}")

    def _stays(self, attempt: Attempt, read: datetime, came: bool) -> bool:
        """Whether a text that was read before means the moment that it meant then, whatever the zone is now."""
        text, moment = attempt.earlier or ("", None)
        if moment is None or text != cell(attempt.told) or (self.restated and came):
            return False
        if (now := self.zone.utc(read)) and now != moment:
            self.settled.append((attempt.sender.label, attempt.told))
        attempt.moment = moment
        return True

    def notes(self) -> Iterator[str]:
        """What is odd about times, a sentence each."""
        yield from self.zone.odd
        if self.settled:
            shown = plaintext.some([*map(plaintext.quoted, dict.fromkeys(label for label, _ in self.settled))], SHOWN)
            yield (
                f"{shown}: these were collected before with another time zone, so they keep their old times. To "
                "compute their times again, collect their archive with --zone=Europe/Berlin or the right zone."
            )

    def _of_people(self, students: Collection[str], system: str) -> list[str]:
        """The times of these students in the companions; none for a student with several."""
        if self._people is None:
            self._people = defaultdict(set)
            for companion in self.companions:
                for entry in companion.times_of_people():
                    for student in self.who(entry.sender):
                        self._people[student, companion.system].add(entry.time)
        systems = {"", system} if system else {entry for _, entry in self._people}
        moments_of = [self._people.get((student, entry), set()) for student in students for entry in systems]
        times = [time for choices in moments_of for time in choices if len(choices) == 1]
        return [moments.latest(times, self.zone.names) or times[0]] if times else []

    def require(self) -> None:
        """Raises CourseError, with all that is to be asked for, when a time or the zone is not known."""
        sentences = []
        if self.unread:
            shown = ", ".join(plaintext.quoted(text) for text in dict.fromkeys(self.unread[:SHOWN]))
            sentences.append(
                f"{_times(self.unread)} no clear day, hour and minute, such as {shown}. Write them as 2026-10-05 "
                "23:59 into a CSV with the columns student_id,timestamp: --times=FILE"
            )
        for system, labels in self.missing.items():
            shown = plaintext.some([*map(plaintext.quoted, labels)], SHOWN)
            sentences.append(f"These have no submission time: {shown}. {ASK.get(system, ANY)}")
        if self.missing or self.unread:
            sentences.append(
                "Or name one time for all of them (--time='2026-10-05 23:59'), or collect without times; then "
                "nothing is late (--no-times)."
            )
        if self.zoneless:
            sentences.append(
                f"{_times(self.zoneless)} no time zone, such as {self.zoneless[0]}. Set it with "
                '--zone=Europe/Berlin, or permanently in nbgrader_config.py: c.Collect.zone = "Europe/Berlin"'
            )
        if self.unsaid:
            sentences.append(
                f"{_times(self.unsaid)} been collected by an older Viva without a time zone, such as "
                f"{self.unsaid[0]}. Name their time zone, as in --zone=Europe/Berlin"
            )
        if sentences:
            raise CourseError("\n".join(["Nothing was written.", *sentences]))


def _times(texts: list[str]) -> str:
    return f"{len(texts)} times have" if len(texts) > 1 else "1 time has"
