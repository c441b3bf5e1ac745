"""A person with all ids and addresses in the course, and the places where a text mentions this person.

A row or a folder is somebody's by an exact id or address. A text only mentions somebody: there an id counts as a whole
word, and not where it is a part of another student's id.
"""

from __future__ import annotations

import functools
import html
import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from viva.cleaning import plaintext
from viva.cleaning.plaintext import quoted
from viva.course.course import Course
from viva.course.gradebook import joined
from viva.course.gradebook.identities import Identities
from viva.verdict import CourseError
from viva_term.lms.personname import words
from viva_term.lms.rosterfile import ROSTER, Entry, Roster
from viva_term.lms.systems import SYSTEMS, System, plain

OURS = ("id", "login", "sis", "lms", "email", "github", "name")
"""What a column may say of who somebody is."""
SHORTEST = 5
"""Digits of a number that is looked for in texts: a shorter one stands everywhere."""
AROUND = 200
"""Letters around a mention that may be another student's longer id or name."""
ENCODED = re.compile(r"(?:[a-z0-9+/]|\\n){150,}")
"""Around a mention, a part of a picture in a notebook: any short word may stand in one."""


def _columns(systems: Iterable[System]) -> dict[str, set[str]]:
    columns = defaultdict(set)
    for system in systems:
        for name in OURS:
            for column in system.columns.get(name, ()):
                columns[plain(column)].add(name)
    return columns


@functools.lru_cache(maxsize=64)
def writers(header: tuple[str, ...]) -> list[System]:
    """The systems that may have written a list with this header."""
    names = {*map(plain, header)}
    return [system for system in SYSTEMS.values() if system.wrote(names)]


@functools.lru_cache(maxsize=64)
def meanings(header: tuple[str, ...]) -> dict[str, set[str]]:
    """By the name of a column, what it may say of who somebody is: as the system of this header has it, or any.

    In a table that is no system's a name alone says nothing: it may be data of an assignment.
    """
    if systems := writers(header):
        return _columns(systems)
    columns = {column: parts - {"name"} for column, parts in _columns(SYSTEMS.values()).items()}
    return columns | {"student_id": {"id"}, "student": {"id"}, "sender": {"id", "login", "email", "name"}}


FIRST, LAST = ({plain(column) for system in SYSTEMS.values() for column in system.columns.get(name, ())}
               for name in ("first", "last"))  # fmt: skip


@dataclass(frozen=True)
class Person:
    """A student of a course, with every id that was joined with theirs."""

    id: str
    ids: frozenset[str]
    entries: tuple[Entry, ...] = ()
    others: Mapping[str, Entry] = field(default_factory=dict)
    """The other students, by id."""
    numbers: frozenset[str] = frozenset()
    """Those of all learning systems."""

    @classmethod
    def of(cls, course: Course, student: str, extra_ids: Iterable[str] = ()) -> Person:
        """The student with an id; ``more`` are ids that only folders or records have.

        Raises CourseError for an id that nobody has.
        """
        roster = Roster.of(course)
        main = roster.joined.get(student, student)
        if main not in roster.entries and main not in {*extra_ids, *roster.joined.values()}:
            raise CourseError(
                f"There is no student {quoted(student)} in the gradebook, in {ROSTER} or in the folders of the course. "
                "Name the id as the gradebook has it."
            )
        ids = frozenset({main, *(joined_id for joined_id, owner in roster.joined.items() if owner == main)})
        entries = tuple(roster.entries[name] for name in sorted(ids) if name in roster.entries)
        others = {name: entry for name, entry in roster.entries.items() if name not in ids}
        others |= {name: Entry(name) for name in {*extra_ids, *joined.read(course.root)} - {*others, *ids}}
        identities = roster.identities or Identities(course.root)
        numbers = frozenset(number for name in ids for number in identities.all(name))
        return cls(main, ids, entries, others, numbers)

    @property
    def called(self) -> str:
        """The person in a sentence."""
        name = next((entry.name for entry in self.entries if entry.name), "")
        return f"{quoted(self.id)} ({plaintext.line(name)})" if name else quoted(self.id)

    @cached_property
    def values(self) -> dict[str, set[str]]:
        """By what a column may say, what it says of this person, without case."""
        values = _values([*self.entries, *(Entry(name) for name in self.ids)])
        values["lms"] = values["lms"] | {number.casefold() for number in self.numbers}
        return defaultdict(set, values)

    @cached_property
    def _theirs(self) -> dict[str, set[str]]:
        return defaultdict(set, _values(self.others.values()))

    def owns(self, header: list[str], row: list[str]) -> bool:
        """Whether a row is this person's: by an id, address or name in its column, and nobody else's by another."""
        matched, names = False, {"first": "", "last": ""}
        columns = meanings(tuple(header))
        for column, cell in zip(map(plain, header), row, strict=False):
            text = plaintext.bare(cell).strip()
            if not text:
                continue
            names |= {"first": text} if column in FIRST else {"last": text} if column in LAST else {}
            for meaning in columns.get(column, ()):
                owned = self._whose(meaning, text)
                if owned is False and meaning in ("id", "login", "email"):
                    return False
                matched = matched or owned is True
        if writers(tuple(header)) and all(names.values()):
            matched = matched or self._whose("name", " ".join(names.values())) is True
        return matched

    def _whose(self, meaning: str, text: str) -> bool | None:
        """Whether a text is this person's, or another student's; None where it is nobody's, or may be both's."""
        if meaning == "id" and (text in self.ids or text in self.others):
            return text in self.ids  # two ids may differ in capital letters alone
        value = " ".join(words(text)) if meaning == "name" else text.casefold()
        matched, theirs = value in self.values[meaning], value in self._theirs[meaning]
        return None if matched == theirs else matched

    def has_key(self, text: str) -> bool:
        """Whether a key of a JSON object is one of the ids, or the name of a submission in an exchange of theirs."""
        if text in self.ids:
            return True
        sent = [name for name in self.ids if text.startswith(f"{name}+")]
        return bool(sent) and not any(text.startswith(f"{name}+") for name in self.others if name.startswith(sent[0]))

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        ways = [re.escape(entry.email.lower()) for entry in self.entries if entry.email]
        ways += [rf"(?<![^\W_]){re.escape(name.lower())}(?![^\W_])" for name in self._words]
        ways += [
            rf"(?<![^\W_]){_name(entry)}(?![^\W_])"
            for entry in self.entries
            if words(entry.first_name) and words(entry.last_name)
        ]
        return re.compile("|".join(ways) or r"(?!)")

    @cached_property
    def _longer(self) -> list[re.Pattern[str]]:
        """The others' ids, addresses and names that contain one of this person's."""
        matched = {value for values in self.values.values() for value in values}
        theirs = {value for name in ("id", "login", "email") for value in self._theirs[name]} - matched
        longer = [re.escape(value) for value in theirs if any(part in value for part in matched)]
        names = [{*words(entry.name)} for entry in self.entries if entry.name]
        longer += [
            _name(entry)
            for entry in self.others.values()
            if words(entry.first_name) and words(entry.last_name) and any(name < {*words(entry.name)} for name in names)
        ]
        return [re.compile(rf"(?<![^\W_]){way}(?![^\W_])") for way in longer]

    @cached_property
    def _anchors(self) -> list[tuple[str, ...]]:
        """All texts of one of these stand in every readable text that mentions the person: they are found quickly."""
        texts = [(text.lower(),) for text in (*self._words, *(entry.email for entry in self.entries)) if text]
        names = [re.findall(r"\w+", f"{entry.first_name} {entry.last_name}".lower()) for entry in self.entries]
        return [*texts, *(tuple(name) for name in names if name)]

    @cached_property
    def _words(self) -> set[str]:
        """The ids and numbers that are looked for as whole words."""
        ids = {*self.ids, *self.numbers}
        for entry in self.entries:
            ids |= {entry.login, entry.sis, entry.lms_user_id} - {""}
        return {name for name in ids if not name.isdigit() or len(name) >= SHORTEST}

    @cached_property
    def _is_escaped(self) -> bool:
        """Whether JSON or HTML writes something of the person otherwise than it is."""
        texts = [text for entry in self.entries for text in (entry.name, entry.email, entry.login)]
        return any(json.dumps(text)[1:-1] != text or html.escape(text) != text for text in (*texts, *self._words))

    def _prepared(self, text: str) -> str:
        """A text in small letters, with the letters that JSON and HTML escape where the person has such."""
        text = text.lower()
        return _readable(text) if self._is_escaped else text

    def is_mentioned(self, text: str) -> bool:
        """Whether a text mentions this person."""
        return next(self._mentions(text), None) is not None

    def names_file(self, path: str) -> bool:
        """Whether a file in an archive is this person's by its path: nobody else's id or name stands before theirs."""
        text = self._prepared(path)
        start = next(self._mentions(path), None)
        if start is None or " ".join(words(next((match.name for match in self.entries), ""))) in self._theirs["name"]:
            return start is not None and any(part in self.ids for part in path.split("/"))
        for entry in self.others.values():
            ways = [re.escape(entry.id.lower()), *([_name(entry)] if entry.first_name and entry.last_name else [])]
            if any(re.search(rf"(?<![^\W_]){way}(?![^\W_])", text[:start]) for way in ways):
                return False
        return True

    def _mentions(self, text: str) -> Iterator[int]:
        """Where a text mentions this person: the places in it, in small letters and readable."""
        text = self._prepared(text)
        if not any(all(part in text for part in parts) for parts in self._anchors):
            return
        for match in self._pattern.finditer(text):
            begin = max(0, match.start() - AROUND)
            around, span = text[begin : match.end() + AROUND], (match.start() - begin, match.end() - begin)
            covers = [match.span() for pattern in (ENCODED, *self._longer) for match in pattern.finditer(around)]
            if not any(start <= span[0] and span[1] <= end for start, end in covers):
                yield match.start()


def _name(entry: Entry) -> str:
    """A pattern of somebody's name in both orders."""
    parts = [[re.escape(part) for part in re.findall(r"\w+", name.lower())]
             for name in (entry.first_name, entry.last_name)]  # fmt: skip
    orders = (parts, [*reversed(parts)])
    return "(?:" + "|".join(r"[\W_]{1,3}".join([*first, *last]) for first, last in orders) + ")"


def _values(entries: Iterable[Entry]) -> dict[str, set[str]]:
    values = defaultdict(set)
    for entry in entries:
        pairs = {"id": entry.id, "login": entry.login, "sis": entry.sis, "lms": entry.lms_user_id}
        for name, value in (pairs | {"email": entry.email}).items():
            values[name].add(value.casefold())
        values["name"].add(" ".join(words(entry.name)))
    return {name: texts - {""} for name, texts in values.items()}


def _readable(text: str) -> str:
    """A text in small letters with the letters that JSON and HTML escape."""
    if "\\u0" in text:
        text = re.sub(r"\\u([0-9a-f]{4})", lambda match: chr(int(match[1], 16)), text).lower()
    return html.unescape(text).lower() if "&" in text else text
