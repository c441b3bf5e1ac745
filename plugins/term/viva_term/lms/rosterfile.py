"""The roster: the gradebook's students, and a file with the columns that nbgrader does not have.

Ids, names, addresses and the numbers of a learning system are the gradebook's. Login, section and group are kept in
``roster.csv`` in the course folder, which lists who is in the course now: who left is in it no longer, and stays in the
gradebook with every grade. ``nbgrader db student import`` takes the file, too.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import asdict, astuple, dataclass, field, fields, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from nbgrader.api import Student

from viva.cleaning import plaintext
from viva.cleaning.plaintext import quoted
from viva.course.course import Course
from viva.course.database import with_retries
from viva.course.gradebook import identities, joined, journal
from viva.course.gradebook.identities import Identities
from viva.course.gradebook.journal import Step
from viva.course.processes import leftovers
from viva.course.table import csv_text, own_rows
from viva.verdict import CourseError
from viva_term.lms import personname

ROSTER = "roster.csv"
DEMO = re.compile(r"demo-\d\d")
"""Students of `viva demo`, who are in no list and never leave."""
SECTIONS = re.compile(r"\s*(?:;|,\s*and\s|,|\sand\s)\s*")
"""What stands between the sections of one student."""


@dataclass(frozen=True)
class Entry:
    """One student; what is not known is empty."""

    id: str
    first_name: str = ""
    last_name: str = ""
    email: str = ""
    lms_user_id: str = ""
    login: str = ""
    section: str = ""
    group: str = ""
    sis: str = ""
    """The number that the school gives, which stays when name, login and the system's own number change."""

    @property
    def name(self) -> str:
        return f"{self.first_name} {self.last_name}".strip()

    def in_section(self, name: str) -> bool:
        """Whether the student is in it, perhaps among others; Moodle's sections are groups."""
        parts = {part for text in (self.section, self.group) for part in (text, *SECTIONS.split(text))}
        return name.casefold() in {part.casefold() for part in parts}

    def updated(self, new: Entry, columns: Collection[str]) -> Entry:
        """The entry with what a newer one has in these columns; with ``name``, the same name cut otherwise stays."""
        stay = {"id", "first_name", "last_name"} if "name" in columns and new.name == self.name else {"id"}
        return replace(self, **{name: getattr(new, name) for name in COLUMNS if name in columns and name not in stay})

    def changes(self, new: Entry) -> dict[str, tuple[str, str]]:
        """By column, what it was and what it is now."""
        pairs = {name: (getattr(self, name), getattr(new, name)) for name in COLUMNS}
        return {name: pair for name, pair in pairs.items() if pair[0] != pair[1]}


COLUMNS = tuple(one.name for one in fields(Entry))
STABLE = {
    "id": "other id (in same.csv)",
    "sis": "school number",
    "lms_user_id": "learning system number",
    "email": "e-mail address",
}
"""By what a student is known who has another id than before, the surest first; and what a reader calls it."""
NUMBERS = ("sis", "lms_user_id", "email")
"""What tells two people with one id apart, the surest first."""
SHOWN = 10
KEPT_BY_NBGRADER = ("first_name", "last_name", "email", "lms_user_id")


@dataclass(frozen=True)
class Difference:
    """What a newer list changes, each part in order of ids."""

    new: tuple[Entry, ...] = ()
    changed: tuple[tuple[Entry, Entry], ...] = ()
    """Old and new."""
    gone: tuple[Entry, ...] = ()
    """Listed before, and no longer."""
    same: tuple[Entry, ...] = ()
    left: tuple[Entry, ...] = ()
    """In the gradebook only, before and now: they left earlier, or were never listed."""

    @property
    def nothing(self) -> bool:
        return not (self.new or self.changed or self.gone)


@dataclass
class Roster:
    """Who is in a course, by id."""

    entries: dict[str, Entry] = field(default_factory=dict)
    """All that the gradebook or roster.csv knows."""
    listed: set[str] = field(default_factory=set)
    """Those in roster.csv; where there is none yet, all but the demo class."""
    entered: set[str] = field(default_factory=set)
    """Those in the gradebook."""
    joined: dict[str, str] = field(default_factory=dict)
    """By another id, the student who was found to be the same."""
    identities: Identities | None = None
    """The numbers of learning systems, each with its system; None where nothing is known of systems."""
    issuer: str = ""
    """Of which system's list or sheet this is asked about; empty where it has the gradebook's own column."""

    @classmethod
    def of(cls, course: Course, issuer: str = "") -> Roster:
        """The roster, to be compared with what a system says. Nothing is written, and no gradebook made.

        Raises CourseError for a roster.csv or identities.csv that cannot be read.
        """
        path = course.root / ROSTER
        rows = _read(path) if path.exists() else {}
        entered = with_retries(lambda: _students(course))
        students = set(rows) if path.exists() else {student for student in entered if not DEMO.fullmatch(student)}
        entries = {student: replace(rows.get(student, Entry(student)), **values) for student, values in entered.items()}
        numbers = Identities.read(course.root)
        return cls(rows | entries, students, set(entered), joined.students(course.root), numbers, issuer)

    @cached_property
    def seen(self) -> dict[str, Entry]:
        """The entries with the numbers of the ``issuer`` alone, so that nothing is compared across systems."""
        if not self.issuer or self.identities is None:
            return self.entries
        numbers = self.identities.of(self.issuer)
        return {
            student: replace(entry, lms_user_id=numbers.get(student, "")) for student, entry in self.entries.items()
        }

    @property
    def column(self) -> dict[str, str]:
        """nbgrader's column of numbers, by student."""
        return {student: entry.lms_user_id for student, entry in self.entries.items()}

    @property
    def question(self) -> str:
        """What has to be asked for about numbers of which no system is known; empty where nothing has."""
        return self.identities.question(self.column) if self.identities else ""

    @property
    def left(self) -> set[str]:
        """Those in the gradebook whom no list names, or none any more; the demo class never leaves."""
        return {student for student in self.entered - self.listed if not DEMO.fullmatch(student)}

    def recognised(self, people: Mapping[int, Entry]) -> tuple[dict[int, Entry], list[str]]:
        """Entries by line, with the ids that the course has for them already, and a sentence for each such.

        Who has another id in the list is known by ``same.csv``, the number that the school or the learning system
        gives, or else by the address. Raises CourseError when two lines may be one student of the course, and when an
        id of the course is another student's in the list.
        """
        self._require_same_people(people)
        ids = {entry.id for entry in people.values()}
        by = {"id": self.joined} | {name: self._by(name) for name in STABLE if name != "id"}
        result, notes = dict(people), []
        lines: dict[str, int] = {}
        for line, entry in people.items():
            if entry.id in self.entries and entry.id not in self.joined:
                continue
            for name, title in STABLE.items():
                value = getattr(entry, name)
                enrolled = by[name].get(value if name == "id" else value.casefold())
                if not enrolled or enrolled in ids or enrolled not in self.entries:
                    continue
                old = self.seen[enrolled]
                other_number = bool(old.sis and entry.sis and old.sis.casefold() != entry.sis.casefold())
                if name != "id" and (other_number or (name == "email" and _is_another(old, entry))):
                    notes.append(
                        f"Line {line}: {quoted(entry.id)} has the same {title} as {quoted(enrolled)}, but another "
                        f"{'school number' if other_number else 'name'}. So Viva reads them as two students. "
                        f"{quoted(enrolled)} is not in the file. If they are one student: "
                        f"viva roster --same {enrolled} {entry.id}"
                    )
                    continue
                if enrolled in lines:
                    raise CourseError(
                        f"Nothing was written: lines {lines[enrolled]} and {line} both have the {title} of "
                        f"{quoted(enrolled)}, who is already enrolled. Correct the file."
                    )
                lines[enrolled], result[line] = line, replace(entry, id=enrolled)
                notes.append(
                    f"Line {line}: {quoted(entry.id)} has the {title} of {quoted(enrolled)}, who is already "
                    f"enrolled; the id {quoted(enrolled)} and the grades are kept."
                )
                if name != "id" and _is_another(old, entry):
                    notes.append(
                        f"Line {line}: the name {plaintext.line(entry.name)} is not the name of "
                        f"{quoted(enrolled)}, {plaintext.line(old.name)}. If that {title} belongs to another "
                        "student now, correct the file first. Otherwise that student gets the grades."
                    )
                break
        return result, notes

    def _require_same_people(self, people: Mapping[int, Entry]) -> None:
        """Raises CourseError, before anything is written, for ids that are now another student's, as a login passed on.

        The surest number that the course and the list both have decides, else the name of who had left.
        """
        by_number, problems = self._by("sis"), []
        for line, new in people.items():
            if not (old := self.seen.get(self.joined.get(new.id, new.id))):
                continue
            shared = [name for name in NUMBERS if getattr(old, name) and getattr(new, name)]
            of = shared[0] if shared else ""
            if of and getattr(old, of).casefold() == getattr(new, of).casefold():
                continue
            owner = by_number.get(new.sis.casefold()) if of == "sis" else None
            another = _is_another(old, new) or (of == "sis" and _has_another_first_name(old, new))
            if owner or (another and (of or old.id not in self.listed)):
                numbers = [
                    f"the {STABLE[of]} {plaintext.line(getattr(entry, of))}" if of else "" for entry in (old, new)
                ]
                who = [", ".join(filter(None, (plaintext.line(entry.name), number)))
                       for entry, number in zip((old, new), numbers, strict=True)]  # fmt: skip
                problems.append(f"line {line}: {quoted(new.id)} was {who[0]}, and is now {who[1]}")
        if problems:
            rest = f"\n  and {len(problems) - SHOWN} more" if len(problems) > SHOWN else ""
            raise CourseError(
                "Nothing was written. The file gives an id of the course to another student. That student would get "
                "the grades:"
                + "".join(f"\n  {problem}" for problem in problems[:SHOWN])
                + rest
                + "\nIf these are two students: write another id into that line of the file, or choose another "
                "column of ids with --id. If this is one student with a new name: write the old name into that line, "
                "and read the file. Then write the new name, and read it again."
            )

    def _by(self, name: str) -> dict[str, str]:
        """The ids of those who alone have something in a column, by that."""
        index = defaultdict(list)
        for entry in self.seen.values():
            index[getattr(entry, name).casefold()].append(entry.id)
        return {value: ids[0] for value, ids in index.items() if value and len(ids) == 1}

    def compared(self, new: Iterable[Entry], columns: Collection[str] = COLUMNS, section: str = "") -> Difference:
        """What a newer list changes; it has ``columns`` only, and, where one is named, of one section."""
        enrolled, now = self.listed & self.entered, {entry.id: entry for entry in new}
        pairs = [(self.entries.get(student, entry), entry) for student, entry in sorted(now.items())]
        pairs = [(old, old.updated(entry, columns) if old is not entry else entry) for old, entry in pairs]
        away = [self.entries[student] for student in sorted(self.listed - set(now))]
        return Difference(
            new=tuple(entry for _, entry in pairs if entry.id not in enrolled),
            changed=tuple((old, entry) for old, entry in pairs if entry.id in enrolled and old != entry),
            gone=tuple(
                student
                for student in away
                if not section or student.in_section(section) or not (student.section or student.group)
            ),
            same=tuple(entry for old, entry in pairs if entry.id in enrolled and old == entry),
            left=tuple(self.entries[student] for student in sorted(self.left - set(now))),
        )

    def grouped(self, people: Mapping[int, Entry]) -> tuple[Difference, list[str]]:
        """What a list of groups changes, which has no other data; a sentence for each who is not in the course."""
        by = {name: self._by(name) for name in ("sis", "lms_user_id", "login")}
        changed, same, notes = [], [], []
        for line, entry in people.items():
            ids = {by[name].get(getattr(entry, name).casefold(), "") for name in by if getattr(entry, name)}
            matches = {entry.id} if entry.id in self.entries else ids - {""}
            if len(matches & self.listed) != 1:
                notes.append(
                    f"Line {line}: skipped, because it is unclear which enrolled student {quoted(entry.id)} is."
                )
                continue
            old = self.entries[(matches & self.listed).pop()]
            new = replace(old, group=entry.group)
            changed += [(old, new)] if old != new else []
            same += [old] if old == new else []
        return Difference(changed=tuple(changed), same=tuple(same)), notes

    def remarks(self, difference: Difference) -> Iterator[str]:
        """Sentences about people who may be taken for one another."""
        gone = {entry.name.casefold(): entry for entry in difference.gone}
        for entry in difference.new:
            if entry.id in self.entered:
                yield f"{quoted(entry.id)} was already in the gradebook, but not on the roster; all grades are kept."
            elif entry.name and (removed := gone.get(entry.name.casefold())):
                yield (
                    f"{plaintext.line(entry.name)} was added as {quoted(entry.id)}, and {quoted(removed.id)} with the "
                    f"same name was removed. If they are one person: viva roster --same {removed.id} {entry.id}"
                )
        folded = defaultdict(set)
        for student in self.entries.keys() | {entry.id for entry in difference.new}:
            folded[student.casefold()].add(student)
        fresh = {entry.id for entry in difference.new}
        for ids in folded.values():
            if len(ids) > 1 and ids & fresh:
                names = " and ".join(map(quoted, sorted(ids)))
                yield f"The ids {names} differ only in capital letters; they are treated as different students."

    def write(self, course: Course, difference: Difference) -> None:
        """Enter a newer list into the gradebook, in one transaction, into roster.csv, and the numbers into
        identities.csv. What is stopped in between is finished by the next command."""
        fresh = (*difference.new, *(new for _, new in difference.changed), *difference.same)
        gone = {entry.id for entry in difference.gone}
        stay = [self.entries[student] for student in sorted(self.listed - gone - {entry.id for entry in fresh})]
        about: dict[str, Any] = {
            "issuer": self.issuer if self.identities is not None else "",
            "fresh": [asdict(entry) for entry in fresh],
            "stay": [asdict(entry) for entry in stay],
        }
        journal.carry_out(course, journal.Intent("roster", "viva roster", about), steps(course, about))


def steps(course: Course, about: dict[str, Any]) -> Iterator[Step]:
    """The steps of reading a roster, for the journal."""
    fresh, stay = ([Entry(**cells) for cells in about[name]] for name in ("fresh", "stay"))
    yield Step("gradebook", lambda: with_retries(lambda: _enter(course, fresh)))
    rows = [astuple(entry) for entry in sorted([*fresh, *stay], key=lambda entry: entry.id)]
    yield Step(ROSTER, lambda: leftovers.write(course.root / ROSTER, csv_text(COLUMNS, rows)))
    numbers = {entry.id: entry.lms_user_id for entry in fresh}
    yield Step(identities.FILE, partial(_note_numbers, course, about["issuer"], numbers))


def _note_numbers(course: Course, issuer: str, numbers: dict[str, str]) -> None:
    if issuer:
        known = Identities.read(course.root)
        known.note(issuer, numbers, identities.ROSTER)
        known.write()


def _is_another(old: Entry, new: Entry) -> bool:
    """Whether two names have no word in common."""
    first, second = set(personname.words(old.name)), set(personname.words(new.name))
    return bool(first and second and not first & second)


def _has_another_first_name(old: Entry, new: Entry) -> bool:
    """Whether the first names have no word in common, as those of two of a family."""
    first, second = set(personname.words(old.first_name)), set(personname.words(new.first_name))
    return bool(first and second and not first & second)


def _students(course: Course) -> dict[str, dict[str, str]]:
    """What the gradebook knows of each student."""
    if not course.has_gradebook():
        return {}
    with course.gradebook() as gradebook:
        rows = gradebook.db.query(Student.id, *(getattr(Student, name) for name in KEPT_BY_NBGRADER)).all()
    return {row[0]: {name: cell or "" for name, cell in zip(KEPT_BY_NBGRADER, row[1:], strict=True)} for row in rows}


def _enter(course: Course, entries: Iterable[Entry]) -> None:
    with course.gradebook() as gradebook:
        students = {student.id: student for student in gradebook.db.query(Student)}
        for entry in entries:
            values = {name: getattr(entry, name) or None for name in KEPT_BY_NBGRADER}
            if entry.id not in students:
                gradebook.db.add(Student(id=entry.id, **values))
                continue
            for name, value in values.items():
                if (getattr(students[entry.id], name) or None) != value:
                    setattr(students[entry.id], name, value)
        gradebook.db.commit()


def _read(path: Path) -> dict[str, Entry]:
    """The entries of roster.csv by id. Raises CourseError."""
    entries: dict[str, Entry] = {}
    for line, cells in own_rows(path, COLUMNS, {"id"}).items():
        entry = Entry(**cells)
        if not entry.id or entry.id in entries:
            problem = f"names {quoted(entry.id)} again" if entry.id else "has no id"
            raise CourseError(f"Line {line} of {path} {problem}. Correct it, or move the file away.")
        entries[entry.id] = entry
    return entries
