"""The submissions to collect, from archives and from ``unmatched/``, each with its sender.

Nothing is written into the course here.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from viva.cleaning import plaintext
from viva.verdict import CourseError
from viva_term.archives import archive, companion, membername
from viva_term.archives.attempt import Attempt, attempts, without
from viva_term.archives.companion import Companion
from viva_term.archives.layouts import About, Laid, Sender, blind, lay, layouts, sent_from, shared
from viva_term.archives.ledger import Row, cell
from viva_term.archives.sendermatching import MATCHES, Class, Match, shown
from viva_term.archives.times import Times
from viva_term.archives.unmatched import Unmatched

SHOWN = 5
FEWEST = 3
"""The fewest submissions that show that an archive belongs to another assignment."""
_COPY = re.compile(r"(-|\s?\()\d{1,3}\)?$")


@dataclass
class Source:
    """One archive: what system made it, and how much is in it."""

    path: Path
    system: str = ""
    members: int = 0
    left_out: list[str] = field(default_factory=list)
    """A sentence for each member that was left out."""
    attempts: list[Attempt] = field(default_factory=list)
    left: list[Attempt] = field(default_factory=list)
    """What was left out and names a sender; each has its ``problem``."""


@dataclass
class Intake:
    """All submissions, by student, and the unidentified ones."""

    sources: list[Source] = field(default_factory=list)
    companions: list[Companion] = field(default_factory=list)
    """Those that --times names."""
    students: dict[str, list[tuple[Attempt, Match]]] = field(default_factory=lambda: defaultdict(list))
    """By student, the attempts, each with what its sender was found to be."""
    unmatched: list[tuple[Attempt, Match]] = field(default_factory=list)
    left: list[tuple[Attempt, Match]] = field(default_factory=list)
    """What was left out or refused, here or earlier, and whose it is."""
    replaced: list[Attempt] = field(default_factory=list)
    """What was left out earlier, and its sender has sent something else since."""
    nobody: list[Attempt] = field(default_factory=list)
    """Those of whom matches.csv says that they are not students."""
    notes: list[str] = field(default_factory=list)
    of_files: list[str] = field(default_factory=list)
    """What was done with single files: unpacked, renamed."""
    blind: set[str] = field(default_factory=set)
    shared: dict[str, int] = field(default_factory=dict)
    """By label, how many senders of the archive have its name."""

    def read(
        self,
        path: Path,
        expected: About,
        room: Path,
        notebooks: set[str],
        system: str = "",
        progress: Callable[[int, int], object] = lambda done, all: None,
    ) -> None:
        """Unpack and understand one archive. Raises CourseError when that cannot be."""
        room = room / str(len(self.sources))
        unpacked = archive.unpack(path, room / "members", progress=progress)
        if not unpacked.members:
            why = "".join(f"\n  {sentence}" for sentence in unpacked.left_out[:SHOWN])
            raise CourseError(f"{path} has no file that can be unpacked. Nothing was written.{why}")
        laid = lay(unpacked.members, expected, system)
        self.shared |= shared(laid)
        self.blind |= blind(laid)
        for listing in (*self._own_companions(laid, path), *self.companions):
            laid.pieces = [listing.completed(piece) for piece in laid.pieces]
        laid.pieces = [sent_from(piece, laid.system) for piece in laid.pieces]
        source = Source(path, laid.system, len(unpacked.members), unpacked.left_out)
        first = sum(len(entry.attempts) for entry in self.sources)
        source.attempts = attempts(laid, path, room / "inner", notebooks, first)
        left = [(piece, entry) for entry in unpacked.left if (piece := laid.read(entry.parts, expected))]
        left = [(sent_from(piece, laid.system), entry) for piece, entry in left]
        source.left = without(left, path)
        self.sources.append(source)
        self._say(source, laid)

    def require_about(self, assignment: str, notebooks: Mapping[str, Collection[str]]) -> None:
        """Raises CourseError for an archive in which every notebook is called as another assignment's is.

        ``notebooks`` are the names of each assignment's. A few who took the wrong file are told when they are graded.
        """
        expected = {name: set(map(membername.folded, books)) for name, books in notebooks.items()}
        for source in self.sources:
            called = [names for attempt in source.attempts if (names := _notebooks(attempt))]
            if len(called) < FEWEST or any(names & expected[assignment] for names in called):
                continue
            for candidate in expected:
                if all(names & expected[candidate] for names in called):
                    raise CourseError(
                        f"Nothing was written. {len(called)} submissions in {source.path} have notebooks of "
                        f"{candidate}, and none has notebooks of {assignment}. Download the archive of "
                        f"{assignment}, or use --assignment={candidate}."
                    )

    def _own_companions(self, laid: Laid, path: Path) -> list[Companion]:
        """What tells times and people inside an archive or, of Gradescope, beside it; of this archive alone."""
        inside = [(member.name, member.path) for member in laid.others if _is_own(laid, member.parts[-1])]
        companions = list(companion.inside(inside))
        if laid.system == "gradescope" and not companions:
            around = path if path.is_dir() else path.parent
            beside = [around / name for name in companion.METADATA if (around / name).is_file()]
            companions = [companion.read(path_beside) for path_beside in beside[:1]]
            if not companions and not self.companions:
                self.notes.append(
                    f"{path.name} does not contain submission_metadata.yml, which has the students' names. Name "
                    "that file with --times=FILE"
                )
        return companions

    def _say(self, source: Source, laid: Laid) -> None:
        name = source.path.name
        strangers = [member.name for member in laid.others if not _is_own(laid, member.parts[-1])]
        if strangers:
            shown = plaintext.some([*map(plaintext.quoted, strangers)], SHOWN)
            self.notes.append(f"Skipped in {name}, because these are not submissions: {shown}.")
        late = sorted({attempt.sender.label for attempt in source.attempts if attempt.late})
        if late:
            shown = ", ".join(map(plaintext.quoted, late))
            self.notes.append(f"Canvas says that these submissions are late, but gives no time ({name}): {shown}.")
        for attempt in source.attempts:
            self.of_files += [f"{plaintext.line(attempt.sender.label)}: {note}" for note in attempt.notes]

    def match(self, people: Class, waiting: Unmatched) -> None:
        """Find whose each attempt is, also of those that wait. A note says what is odd."""
        came = {_key(piece): piece for source in self.sources for piece in (*source.attempts, *source.left)}
        earlier = waiting.attempts()
        for piece in earlier:
            if again := came.get(_key(piece)):
                again.kept, again.earlier = piece.kept, piece.earlier
        sent = {cell(piece.sender.label) for piece in came.values() if not piece.problem}
        matches: dict[Sender, Match] = {}
        for attempt in [*(piece for piece in earlier if _key(piece) not in came), *came.values()]:
            if attempt.problem and _key(attempt) not in came and cell(attempt.sender.label) in sent:
                self.replaced.append(attempt)  # its sender has sent something else since
                continue
            sender = attempt.sender
            if sender not in matches:
                matches[sender] = people.found(sender, self.blind, self.shared)
                self.notes += [matches[sender].note] if matches[sender].note else []
            match = matches[sender]
            if match.nobody:
                self.nobody.append(attempt)
            elif attempt.problem:
                self.left.append((attempt, match))
            elif not match.students:
                self.unmatched.append((attempt, match))
            for student in match.students if not attempt.problem else ():
                self.students[student].append((attempt, match))
        self._say_several(matches, people)
        if self.nobody:
            who = ", ".join(plaintext.quoted(piece.sender.label) for piece in self.nobody)
            self.notes.append(f"Skipped, because {MATCHES} says that they are not students: {who}.")

    def _say_several(self, matches: dict[Sender, Match], people: Class) -> None:
        """Two who send as one student, and are called otherwise, may be two people."""
        names = defaultdict(set)
        for sender, match in matches.items():
            for student in match.students if sender.name and not match.group else ():
                names[student].add("" if people.is_called(sender, student) else sender.name)
        for student, senders in sorted(names.items()):
            if len(senders) > 1:
                called = " and ".join(map(plaintext.quoted, sorted(senders - {""})))
                self.notes.append(
                    f"'{student}' has submissions from several names in the archive ({called}). The newest "
                    "attempt counts."
                )

    def before(self, rows_of: Callable[[Attempt, set[str]], list[Row]]) -> Iterator[tuple[Attempt, Row]]:
        """Each attempt that somebody else has from an earlier command, with the row that says so."""
        owners: dict[int, tuple[Attempt, set[str]]] = {id(piece): (piece, set()) for piece in self.nobody}
        for student, pairs in self.students.items():
            for attempt, _ in pairs:
                owners.setdefault(id(attempt), (attempt, set()))[1].add(student)
        for attempt, students in owners.values():
            yield from ((attempt, row) for row in rows_of(attempt, students))

    @property
    def packed(self) -> list[Attempt]:
        """Those in which an archive stays packed that may have to be unpacked."""
        return [attempt for source in self.sources for attempt in source.attempts if attempt.packed]

    def settled(self, students: Collection[str]) -> list[Attempt]:
        """Those that lie in unmatched/, and became the submissions of some of these students, and of nobody else."""
        waiting = {id(attempt): attempt for pairs in self.students.values() for attempt, _ in pairs if attempt.kept}
        foreign = {
            id(attempt) for student, pairs in self.students.items() if student not in students for attempt, _ in pairs
        }
        return [*(attempt for number, attempt in waiting.items() if number not in foreign), *self.replaced]

    def refuse_links(self, released: Collection[str]) -> None:
        """Of several senders with one file, leave out all but who had it first; all, where nothing tells that.

        ``released`` are the hashes of the files that everybody was given: programs that save room link what is equal.
        """
        for source in self.sources:
            linked: dict[object, list[Attempt]] = defaultdict(list)
            for attempt in source.attempts:
                for key, (_, member) in attempt.links.items():
                    if member.digest not in released:
                        linked[key].append(attempt)
            for key, having in linked.items():
                having = [owner for owner in having if not owner.problem]
                if len({owner.sender.label for owner in having}) < 2:
                    continue
                order = _order(having, key)
                first = [owner for owner, when in zip(having, order, strict=True) if when == min(order)]
                owners = {owner.sender.label for owner in first}
                for attempt in having:
                    if len(owners) > 1 or attempt.sender.label not in owners:
                        rest = owners - {attempt.sender.label}
                        self._leave_out(attempt, _linked(attempt, key, rest, len(owners) > 1))

    def refuse(self, student: str, problem: str) -> None:
        """Leave out all that was sent for a student."""
        for attempt, _ in self.students.get(student, []):
            attempt.refused = problem
            self.left.append((attempt, Match((student,))))

    def _leave_out(self, attempt: Attempt, problem: str) -> None:
        senders = [name for name, pairs in self.students.items() if any(attempt is candidate for candidate, _ in pairs)]
        for student in senders:
            self.students[student] = [pair for pair in self.students[student] if pair[0] is not attempt]
        attempt.problem = problem
        self.unmatched = [(name, match) for name, match in self.unmatched if name is not attempt]
        self.left.append((attempt, Match(tuple(senders))))

    def date(self, times: Times, row_of: Callable[[Attempt, str], Row | None]) -> None:
        """Give every attempt its moment. Raises CourseError where that of somebody's has to be asked for.

        An unidentified one has it where the archive, an option or an earlier command told it: another command may
        not know the zone any more.
        """
        systems = {id(name): source.system for source in self.sources for name in source.attempts}
        owners: dict[int, tuple[Attempt, list[str]]] = {}
        for student, pairs in self.students.items():
            for attempt, _ in pairs:
                owners.setdefault(id(attempt), (attempt, []))[1].append(student)
        for attempt, students in owners.values():
            rows = [row for name in students if (row := row_of(attempt, name)) and row.moment]
            for row in rows[:1]:
                attempt.earlier = (row.told, row.moment) if row.moment else None
            before = len(rows) == len(students)
            times.set(attempt, students, systems.get(id(attempt), ""), before, id(attempt) in systems)
        times.require()
        for attempt, match in (*self.unmatched, *self.left):
            if id(attempt) not in owners:
                times.set(attempt, match.students, systems.get(id(attempt), ""), False, id(attempt) in systems)
        self.notes += times.notes()


def _key(attempt: Attempt) -> tuple[str, str]:
    """What tells an attempt from all others."""
    return cell(attempt.source), attempt.digest


def _order(attempts: list[Attempt], key: object) -> list[Any]:
    """What tells which of some attempts had a file first: when they were sent, else when their folders changed."""
    moments = [attempt.moment for attempt in attempts]
    if None not in moments and len(set(moments)) > 1:
        return moments
    return [attempt.links[key][1].since for attempt in attempts]


def _notebooks(attempt: Attempt) -> set[str]:
    """What the notebooks of an attempt are called, folded, without the number of a copy."""
    stems = {PurePosixPath(name).stem for name in attempt.files if name.lower().endswith(".ipynb")}
    return {membername.folded(name_of_stem) for stem in stems for name_of_stem in (stem, _COPY.sub("", stem))}


def _is_own(laid: Laid, name: str) -> bool:
    """Whether a file is the system's own, and nobody's submission."""
    return name.lower() in layouts()[laid.system].extra


def _linked(attempt: Attempt, key: object, holders: Collection[str], unknown: bool) -> str:
    """Why an attempt with another's file is left out."""
    name, _ = attempt.links[key]
    names = " and ".join(map(plaintext.quoted, sorted(holders)))
    doubt = "; it is unknown which student had it first" if unknown else ""
    return f"{plaintext.quoted(name)}: it is the same file on disk as the file of {names} (a hard link){doubt}"


def unnamed(pairs: Iterable[tuple[Attempt, Match]]) -> list[tuple[str, Match]]:
    """Each sender once, with why nobody is known to be it, by the name that a line in matches.csv may have."""
    labels: dict[str, Match] = {}
    for attempt, match in pairs:
        labels.setdefault(shown(attempt.sender), match)
    return list(labels.items())
