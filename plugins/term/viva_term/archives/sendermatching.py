"""The student that a sender is: by certain signs, in order, and never by a guess.

A line in ``matches.csv`` comes first, then the number of the learning system, the login or id, the address, and at
last the name, where one student alone has it.
"""

from __future__ import annotations

import functools
import re
from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from rapidfuzz import fuzz, process

from viva.cleaning import plaintext
from viva.course.gradebook.identities import Identities
from viva.course.table import own_rows
from viva.verdict import CourseError
from viva_term.archives.layouts import Sender
from viva_term.archives.ledger import HAND
from viva_term.archives.membername import folded, safe
from viva_term.lms.personname import squeezed, variants
from viva_term.lms.rosterfile import DEMO, SECTIONS, Entry, Roster
from viva_term.lms.systems import issuer_of

SCHOOLS = ("gradescope", "moodle", "brightspace", "folder", "")
"""The layouts whose number is the one that the school gives: Gradescope's SID, Moodle's ID number, an OrgDefinedId."""
MATCHES = "matches.csv"
COLUMNS = ("sender", "student_id", "assignment")
NOBODY = "-"
"""In matches.csv, for a sender who is not a student, such as a teacher who tried it."""
NEAREST = 3
NUMBER, LOGIN, ADDRESS, NAME, GROUP = "number", "login", "address", "name", "group"
"""The rules by which a sender is found; otherwise it is said in matches.csv, or by a hand that joined two ids."""
ALIKE = 65
"""In percent, how much of the shorter of two names the other has, where they may be one person's."""


@dataclass(frozen=True)
class Match:
    """The students that a sender is, their group where they submitted together, or why there are none."""

    students: tuple[str, ...] = ()
    group: str = ""
    problem: str = ""
    nearest: tuple[str, ...] = ()
    note: str = ""
    by: str = ""
    """By whom the students were found: matches.csv, or one of the rules."""
    nobody: bool = False
    """Whether matches.csv says that the sender is not a student."""


@dataclass
class Matches:
    """What matches.csv settles: by sender, the students."""

    lines: dict[tuple[str, str], list[str]] = field(default_factory=dict)
    """By sender, folded, and assignment, which is empty where all are meant."""

    @classmethod
    def read(cls, path: Path, roster: Roster, strangers: bool = False) -> Matches:
        """Raises CourseError for a file that cannot be read and, unless there may be ``strangers``, for a student whom
        nobody knows."""
        students = defaultdict(list)
        for line, row in own_rows(path, COLUMNS, {"sender", "student_id"}).items():
            sender, student, assignment = (row[name].strip() for name in COLUMNS)
            student = roster.joined.get(student, student)
            if not sender or not student:
                raise CourseError(f"Line {line} of {path} has no sender or no student.")
            if student != NOBODY and student not in roster.entries and not strangers:
                near = process.extractOne(student, sorted(roster.entries), scorer=fuzz.WRatio)
                hint = f" Did you mean '{near[0]}'?" if near else " Read the roster first: viva roster FILE"
                raise CourseError(f"Line {line} of {path}: {plaintext.quoted(student)} is not enrolled.{hint}")
            students[_key(sender), assignment].append(student)
        return cls(dict(students))

    def of(self, sender: Sender, assignment: str) -> list[str]:
        """The students that a sender was said to be, none where nothing was said."""
        written = sender.label, safe(sender.label), shown(sender), sender.name
        for name in dict.fromkeys((*written, *map(plaintext.line, written))):
            for where in (assignment, ""):
                if name and (students := self.lines.get((_key(name), where))):
                    return students
        return []


def shown(sender: Sender) -> str:
    """A sender as a table shows it, with the name where the label does not tell it."""
    is_named = not sender.name or squeezed(sender.name) in squeezed(sender.label)
    return sender.label if is_named else f"{sender.label} ({sender.name})"


def _key(name: str) -> str:
    return folded(" ".join(name.split()))


class Class:
    """The students of a course, found by an archive's data about them."""

    def __init__(self, roster: Roster, matches: Matches, assignment: str) -> None:
        self.roster, self.matches, self.assignment = roster, matches, assignment
        self.entries = [
            entry for entry in roster.entries.values() if not DEMO.fullmatch(entry.id) and entry.id not in roster.joined
        ]
        self.by: dict[str, dict[str, set[str]]] = {
            name: defaultdict(set) for name in ("lms", "login", "email", "name", "group")
        }
        joined_ids: dict[str, list[str]] = defaultdict(list)
        for entry_id, student in roster.joined.items():
            joined_ids[student].append(entry_id)
        identities = roster.identities or Identities(Path())
        for (student, system), (number, _) in identities.numbers.items():
            if student in roster.entries and student not in roster.joined:
                for name in {f"lms of {issuer_of(system)}", "lms"}:
                    self.by.setdefault(name, defaultdict(set))[_folded("lms", number)].add(student)
        for entry in self.entries:
            self._enter("login", entry, [entry.id, entry.login, *joined_ids[entry.id]])
            self._enter("email", entry, [entry.email, entry.id if "@" in entry.id else ""])
            self._enter("name", entry, variants(entry.first_name, entry.last_name))
            self._enter("group", entry, {entry.group, *SECTIONS.split(entry.group)} if entry.group else ())

    def _enter(self, attribute: str, entry: Entry, values: Collection[str]) -> None:
        for value in values:
            if key := _folded(attribute, value):
                self.by[attribute][key].add(entry.id)

    @property
    def known(self) -> frozenset[str]:
        """Ids, logins and numbers, for layouts that have to tell them from other words."""
        ids = (value.casefold() for row in self.entries for value in (row.id, row.login, row.lms_user_id) if value)
        return frozenset({*ids, *self.by["lms"]})

    @property
    def names(self) -> frozenset[str]:
        """The names of students and groups, squeezed."""
        return frozenset((*self.by["name"], *self.by["group"]))

    def students(self, sender: Sender) -> tuple[str, ...]:
        """Who a sender is; nobody where that is not certain."""
        return self.match(sender, near=False).students

    def found(self, sender: Sender, blind: Collection[str], shared: Mapping[str, int], *, near: bool = True) -> Match:
        """Who a sender is in an archive of which the ``blind`` labels and the ``shared`` names are known."""
        is_blind = sender.label in blind and sender.label.startswith(sender.name)
        return self.match(sender, blind=is_blind, shared=shared.get(sender.label, 1), near=near)

    def match(self, sender: Sender, *, blind: bool = False, shared: int = 1, near: bool = True) -> Match:
        """Who a sender is; a ``blind`` one's name is not a student's, and ``shared`` senders have it in one archive.

        Where it is nobody, ``near`` says whether those are looked for who are called most alike.
        """
        if answers := self.matches.of(sender, self.assignment):
            students = tuple(dict.fromkeys(student for student in answers if student != NOBODY))
            return Match(students, sender.label if len(students) > 1 else "", by=MATCHES, nobody=not students)
        if sender.others:
            return self._together(sender)
        rule, certain = self._certain(sender)
        if len(certain) == 1:
            return self._checked(sender, next(iter(certain)), rule)
        if len(certain) > 1:
            return Match(problem="it may be " + _listed(certain), nearest=tuple(sorted(certain)))
        if sender.anonymous or blind:
            return Match(problem="the archive does not identify the sender")
        if shared > 1:
            problem = f"{shared} people in the archive have that name, and none has a number from the roster"
            return Match(problem=problem, nearest=tuple(self.nearest(sender)) if near else ())
        return self._named(sender, near)

    def _certain(self, sender: Sender) -> tuple[str, set[str]]:
        """Those with the number in the sender's system, or else the login, or else the address; and which it was."""
        # A folder that somebody named is called by whichever number they know.
        number = "lms" if sender.system == "folder" else f"lms of {issuer_of(sender.system)}"
        ways = (NUMBER, number, sender.lms), (LOGIN, "login", sender.login), (ADDRESS, "email", sender.email)
        for rule, attribute, value in ways:
            kind = attribute.partition(" ")[0]
            if ids := self.by.get(attribute, {}).get(_folded(kind, value), set()) if value else set():
                return rule, ids
        # A number that the school gives: a roster of another system may have it for the id or the login.
        school = sender.lms if sender.system in SCHOOLS else ""
        return NUMBER, self.by["login"].get(_folded("login", school), set()) if school else set()

    def _checked(self, sender: Sender, student: str, rule: str) -> Match:
        """A certain match; of a group the archive may name one member only."""
        if len(members := self._group(sender.name)) > 1 and student in members and not self.is_called(sender, student):
            return Match(tuple(sorted(members)), sender.name, by=rule)
        named = self.by["name"].get(squeezed(sender.name), set())
        if named and student not in named and not self._is_key(sender):
            problem = f"its number, login or address belongs to '{student}', but its name belongs to {_listed(named)}"
            return Match(problem=problem, nearest=(student, *sorted(named)))
        entry = self.roster.entries[student]
        rule = HAND if sender.login in self.roster.joined else rule
        if sender.name and entry.name and not self._is_key(sender) and self._is_another(sender.name, entry):
            problem = (
                f"its number, login or address belongs to '{student}', but the roster has the name "
                f"{plaintext.quoted(entry.name)}. It may be a group or another student"
            )
            return Match(problem=problem, nearest=(student,))
        addresses = {_folded("email", text) for text in (entry.email, entry.id)}
        another = bool(sender.email and entry.email) and _folded("email", sender.email) not in addresses
        if another and not self._is_key(sender) and not self.is_called(sender, student):
            problem = f"its number or login belongs to '{student}', who has another address and another name"
            return Match(problem=problem, nearest=(student,))
        return Match((student,), by=rule)

    def is_called(self, sender: Sender, student: str) -> bool:
        return student in self.by["name"].get(squeezed(sender.name), ())

    def _is_another(self, name: str, entry: Entry) -> bool:
        """Whether a name is not even like a student's; nicknames and lost accents are."""
        spellings = variants(entry.first_name, entry.last_name)
        return all(fuzz.partial_ratio(squeezed(name), spelling) < ALIKE for spelling in spellings)

    def _is_key(self, sender: Sender) -> bool:
        """Whether the name is a number or a login, as that of a folder may be."""
        return sender.name in (sender.lms, sender.login, sender.email)

    def _named(self, sender: Sender, near: bool) -> Match:
        ids = self.by["name"].get(squeezed(sender.name), set()) if sender.name else set()
        ids = ids & self.roster.listed or ids  # who left does not submit any more
        if len(ids) == 1:
            return Match(tuple(ids), by=NAME)
        members = self._group(sender.name) or self._group(sender.login)
        if not ids and members:
            return Match(tuple(sorted(members)), sender.name or sender.login, by=GROUP)
        if ids:
            return Match(problem=f"{len(ids)} students have that name: {_listed(ids)}", nearest=tuple(sorted(ids)))
        nearest = tuple(self.nearest(sender)) if near else ()
        return Match(problem="no enrolled student has that name or number", nearest=nearest)

    def _group(self, name: str) -> set[str]:
        return self.by["group"].get(_folded("group", name), set()) if name else set()

    def _together(self, sender: Sender) -> Match:
        """All members of a group; one who is not found leaves the rest their submission, and a note."""
        matches = {member: self.match(member) for member in sender.others}
        students = tuple(dict.fromkeys(student for match in matches.values() for student in match.students))
        lost = [member.name or member.email or member.lms for member, match in matches.items() if not match.students]
        if not students:
            return Match(problem=f"none of these is enrolled: {', '.join(map(plaintext.quoted, lost))}")
        note = ""
        if lost:
            who = ", ".join(map(plaintext.quoted, lost))
            note = (
                f"In the group {plaintext.quoted(sender.label)}, {who} is not enrolled. The other members have the "
                "submission."
            )
        by = " and ".join(sorted({match.by for match in matches.values() if match.students}))
        return Match(students, sender.label if len(sender.others) > 1 else "", note=note, by=by)

    @functools.cached_property
    def _spellings(self) -> dict[tuple[str, str], str]:
        """By student and spelling, what each may be called."""
        return {
            (entry.id, text): text
            for entry in self.entries
            for text in (*variants(entry.first_name, entry.last_name), squeezed(entry.id))
        }

    def nearest(self, sender: Sender) -> list[str]:
        """The ids of those who are called most alike."""
        wanted = squeezed(sender.name or sender.login or sender.email or sender.label)
        choices = process.extract(wanted, self._spellings, scorer=fuzz.ratio, limit=3 * NEAREST)
        return list(dict.fromkeys(student for _, _, (student, _) in choices))[:NEAREST]


def _folded(attribute: str, value: str) -> str:
    if attribute == "name":
        return value
    if attribute == "group":
        return squeezed(value)
    return re.sub(r"\s+", "", value).removeprefix("#").casefold()


def _listed(ids: Collection[str]) -> str:
    return " or ".join(plaintext.quoted(student) for student in sorted(ids))
