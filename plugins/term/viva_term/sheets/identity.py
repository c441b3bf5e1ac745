"""The student of each row in a system's sheet. An uncertain row is listed, and never guessed.

Numbers, logins and addresses of a row have to agree on one student. A name counts where the row says nothing else that
the course knows, and where one student alone has it. Where nothing but one number, login or address agrees, the names
must have a word in common. Another address or ID number than the course has stops a match. The numbers are those of the
sheet's system alone (``Roster.seen``).
"""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from viva.cleaning import plaintext
from viva_term.lms import personname
from viva_term.lms.participants import unwrapped
from viva_term.lms.rosterfile import Entry

KEYS = {
    "lms": ("lms_user_id", "id"),
    "sis": ("sis", "id", "lms_user_id"),
    "login": ("login", "id", "email"),
    "email": ("email", "id", "login"),
}
"""By our name of a column, what it may be of an entry."""
SAME = {"lms": "lms_user_id", "sis": "lms_user_id", "login": "login", "email": "email"}
"""What is the same thing in both, if both are of one system."""
CALLED = {"lms": "number", "sis": "ID number", "login": "login", "email": "address"}
"""What a reader calls it."""
SHOWN = 5


@dataclass(frozen=True)
class Person:
    """What a row says of somebody, by KEYS and ``name``; what it does not say is empty."""

    keys: Mapping[str, str]
    name: str = ""

    @property
    def called(self) -> str:
        """What to call the row in a table."""
        return plaintext.line(self.name or next(filter(None, self.keys.values()), "-"))


class Identities:
    """The students of a course, to be found by what sheets say of them."""

    def __init__(self, entries: Mapping[str, Entry]) -> None:
        self.entries = entries
        self.exact: dict[tuple[str, str], set[str]] = defaultdict(set)
        self.alike: dict[tuple[str, str], set[str]] = defaultdict(set)
        self.named: dict[tuple[str, ...], set[str]] = defaultdict(set)
        for entry in entries.values():
            for name in {name for names in KEYS.values() for name in names}:
                if value := getattr(entry, name):
                    self.exact[name, _composed(value)].add(entry.id)
                    self.alike[name, _composed(value).casefold()].add(entry.id)
            if words := personname.words(entry.name):
                self.named[words].add(entry.id)

    def of(self, people: Mapping[int, Person]) -> tuple[dict[int, str], dict[int, str]]:
        """By line the student of each row, and for each that is left why: empty where nobody is meant."""
        matched, doubts = {}, {}
        for line, person in people.items():
            student, why = self._who(person)
            if student:
                matched[line] = student
            else:
                doubts[line] = why
        names, lines = defaultdict(list), defaultdict(list)
        for line, person in people.items():
            names[personname.words(person.name)].append(line)
        for line, student in list(matched.items()):
            if not self._keyed(people[line]) and len(names[personname.words(people[line].name)]) > 1:
                doubts[line] = f"has no number, and several rows have the name {plaintext.quoted(student)}"
                del matched[line]
            else:
                lines[student].append(line)
        for student, same in lines.items():
            if len(same) > 1:
                where = " and ".join(map(str, same))
                why = f"is not unique: lines {where} may both be {plaintext.quoted(student)}"
                doubts |= dict.fromkeys(same, why)
        matched = {line: student for line, student in matched.items() if line not in doubts}
        return matched, doubts

    def _keyed(self, person: Person) -> dict[str, set[str]]:
        """By key, whom it may mean; those that mean nobody are left out."""
        matches = {key: self._with(key, value) for key, value in person.keys.items() if value}
        if matches.get("lms") and "sis" in matches:  # the number is another column's, so this one is none
            value = _composed(person.keys["sis"])
            matches["sis"] &= {value} | self.exact.get(("sis", value), set())
        return {key: students for key, students in matches.items() if students}

    def _with(self, key: str, value: str) -> set[str]:
        value = _composed(value)
        for index, text in ((self.exact, value), (self.alike, value.casefold())):
            if students := set().union(*(index.get((name, text), ()) for name in KEYS[key])):
                return students
        return set()

    def _who(self, person: Person) -> tuple[str, str]:
        """The student, or why it is not certain who is meant."""
        keyed, named = self._keyed(person), self.named.get(personname.words(person.name), set())
        if not keyed:
            return self._by_name(person, named)
        students = set.intersection(*keyed.values())
        if not students:
            matches = ", ".join(f"{_listed(who)} by its {CALLED[key]}" for key, who in keyed.items())
            return "", f"is entered as {matches}"
        if len(students) > 1:
            students = students & named or students
        if len(students) > 1:
            return "", f"may be {_listed(students)}"
        (student,) = students
        if other := self._other(person, self.entries[student]):
            return "", (
                f"has the same {CALLED[next(iter(keyed))]} as {plaintext.quoted(student)}, but another {other}. If "
                "this is one student, read a newer list with 'viva roster'"
            )
        words, words_of_entry = set(personname.words(person.name)), set(personname.words(self.entries[student].name))
        if words and words_of_entry and not words & words_of_entry and len(keyed) == 1:
            return "", (
                f"has the {CALLED[next(iter(keyed))]} of {plaintext.quoted(student)}, who is called "
                f"{plaintext.line(self.entries[student].name)}. If this is the same student, read a newer list with "
                "'viva roster'"
            )
        return student, ""

    def _by_name(self, person: Person, named: Iterable[str]) -> tuple[str, str]:
        students = {student for student in named if not self._contradicts(person, self.entries[student])}
        if len(students) > 1:
            return "", f"may be {_listed(students)}, who have the same name"
        if named and not students:
            return "", f"has the name of {_listed(named)}, but another number, login or address"
        return next(iter(students), ""), ""

    def _other(self, person: Person, entry: Entry) -> str:
        """What row and entry both know for certain, and not the same; empty where they know nothing such."""
        pairs = {"sis": "sis", "email": "email"} | ({"lms": "lms_user_id"} if not person.keys.get("sis") else {})
        for key, name in pairs.items():
            here, there = _composed(person.keys.get(key, "")).casefold(), _composed(getattr(entry, name)).casefold()
            if here and there and here != there:
                return CALLED[key]
        return ""

    def _contradicts(self, person: Person, entry: Entry) -> bool:
        """Whether row and entry both know something, and not the same."""
        same = SAME | ({"sis": "sis"} if entry.sis else {})
        pairs = [(person.keys.get(key, ""), getattr(entry, name)) for key, name in same.items()]
        return any(left and right and left.casefold() != right.casefold() for left, right in pairs)


def person_of(row: list[str], places: Mapping[str, int | None]) -> Person:
    """What a row says, by our names of its columns: KEYS, and ``name``, or ``first`` and ``last``."""
    cells = {
        ours: unwrapped(row[position])
        for ours, position in places.items()
        if position is not None and position < len(row)
    }
    name = cells.get("name") or f"{cells.get('first', '')} {cells.get('last', '')}".strip()
    return Person({key: cells[key] for key in KEYS if key in cells}, name)


def _composed(text: str) -> str:
    return unicodedata.normalize("NFC", text.strip())


def _listed(students: Iterable[str]) -> str:
    names = [plaintext.quoted(student) for student in sorted(students)]
    return " or ".join(names[:SHOWN]) + (f" or {len(names) - SHOWN} more" if len(names) > SHOWN else "")
