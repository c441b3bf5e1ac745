"""The participants of a course from a learning system's list: read and understood, or refused.

A row is refused that names nobody, or whose id is not a name for a folder, or has been given before. Names are made fit
for pages: what is hidden or reorders goes, and angle brackets become others; a note says so.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from viva.cleaning import plaintext
from viva.course.table import Table, listed
from viva.submission.files.handin import name_problem
from viva.verdict import CourseError
from viva_term.lms import personname
from viva_term.lms.rosterfile import Entry
from viva_term.lms.systems import IDS, NAMES, ROLES, UNKNOWN, System, is_staff, issuer_of, plain, systems, writer_of

LONGEST = 128
"""Letters in a column of nbgrader's gradebook."""
SHOWN = 20
"""The most refused rows, or notes of one kind, that are listed."""
FIELDS = {
    "email": "email",
    "lms": "lms_user_id",
    "login": "login",
    "section": "section",
    "group": "group",
    "sis": "sis",
}
"""Our names of columns, and an entry's; first and last name are a matter of their own."""
SLASHED = re.compile(r"\w[\w.-]*(?:/\w[\w.-]*)+")
"""An id such as 21/CS/045, with which some universities call students."""
CLEANED = ("first_name", "last_name", *FIELDS.values())
MACHINE_MADE = re.compile(r"[0-9a-f]{40}")
"""The login of Canvas's test student, whose name follows the language of the course."""
TEST = ("Student, Test", "Test Student")
POINTS = "Points Possible"
POSTING = re.compile(r"\s*(?:Muted|Manual Posting.*)?\s*", re.IGNORECASE)
"""What stands in the cells of Canvas's second row, which its own importer passes over."""


@dataclass
class Participants:
    """A list of participants: the students by line, and which columns of an entry it has.

    ``name`` is among these where first and last name were cut out of one.
    """

    path: Path
    system: str
    """What --from calls the system; empty when only --columns said what is what."""
    title: str
    issuer: str = ""
    """Whose the systems' own numbers in it are (``gradebook.identities``); empty where it does not say that."""
    entries: dict[int, Entry] = field(default_factory=dict)
    columns: set[str] = field(default_factory=set)
    called: str = ""
    """The column that the ids are from."""
    notes: list[str] = field(default_factory=list)


def read(path: Path, system: str = "", named: str = "", id_from: str = "", section: str = "") -> Participants:
    """Read a list. ``named`` says which column is which, as --columns does.

    Raises CourseError, with a sentence for each row that is refused, and OSError.
    """
    table = Table.read(path)
    return _Reading(path, table, system, named, id_from).participants(section)


def asked(table: Table, system: str, named: str = "", id_from: str = "", section: str = "") -> Participants:
    """The same for a list that a system was asked for, with nbgrader's names of columns. Raises CourseError."""
    reading = _Reading(Path(f"the list of {system}"), table, "nbgrader", named, id_from)
    people = reading.participants(section)
    people.system = people.title = system
    people.issuer = table.issuer
    return people


class _Reading:
    """How one list is read: which system wrote it, and which column is which."""

    def __init__(self, path: Path, table: Table, system: str, named: str, id_from: str) -> None:
        if system and system not in systems():
            raise CourseError(
                f"There is no system '{plaintext.line(system)}'. The systems are: {', '.join(systems())}."
            )
        if id_from and id_from not in IDS:
            raise CourseError(f"--id={plaintext.line(id_from)} is not one of: {', '.join(IDS)}.")
        self.path, self.table = path, table
        self.name = system or writer_of(table.header)
        self.system: System = systems().get(self.name, UNKNOWN)
        if not self.name and not named:
            raise CourseError(
                f"Viva does not know the columns of {path}: {listed(table.header)}. Name the columns, as in: "
                "--columns='id=Matriculation,first=Given name,last=Family name,email=Mail'. "
                f"Viva knows rosters of {', '.join(choice.title for choice in systems().values())}. Moodle's can be "
                "in English, German, French, Spanish, Italian, Dutch or Portuguese; they have columns such as "
                "'First name', 'Last name', and 'ID number', 'Email address' or 'Username'."
            )
        self.places = self._places(named)
        self.ids = (id_from,) if id_from else ("id",) if _names(named).get("id") else self.system.ids
        self.ids = tuple(choice for choice in self.ids if choice in self.places)
        if not self.ids:
            wanted = (id_from,) if id_from else self.system.ids
            needed = [name for choice in wanted for name in self.system.columns.get(choice, ())] or list(wanted)
            raise CourseError(
                f"{path} has no column for student ids. In files of {self.system.title} this column is one of "
                f"{listed(tuple(dict.fromkeys(needed)))}, but the file has the columns {listed(table.header)}. "
                f"Choose another of {', '.join(IDS)} with --id, or name the column, as in: "
                "--columns='id=Matriculation'"
            )

    @property
    def _test_students(self) -> set[int]:
        """The lines of Canvas's test student."""
        rows = {line: self._cells(row) for line, row in self.table.rows.items() if not is_heading(row)}
        return test_students({line: (_name(cells), cells) for line, cells in rows.items()})

    @property
    def cuts(self) -> bool:
        """Whether names stand in one column, in no certain order."""
        return "name" in self.places and not self.places.keys() & {"first", "last"} and self.name != "canvas"

    def _places(self, named: str) -> dict[str, int]:
        """By our name, which column it is. Raises CourseError when a column was named that is not there."""
        header = [plain(name) for name in self.table.header]
        columns = {}
        for ours, names in self.system.columns.items():
            titles = {plain(name) for name in names}
            if places := [number for number, name in enumerate(header) if name in titles]:
                columns[ours] = places[0]
        for ours, name in _names(named).items():
            if plain(name) not in header:
                raise CourseError(
                    f"{self.path} has no column {plaintext.quoted(name)}. --columns names this column, but the "
                    f"columns of the file are {listed(self.table.header)}."
                )
            columns[ours] = header.index(plain(name))
        return columns

    def participants(self, section: str) -> Participants:
        """Those of all sections, or of one. Raises CourseError when a row is refused, or nobody is left."""
        result = Participants(
            self.path, self.name, self.system.title, issuer_of(self.name), notes=list(self.table.notes)
        )
        result.columns = set(self._fields.values())
        result.columns |= {"first_name", "last_name"} if self.places.keys() & {"first", "last", "name"} else set()
        result.columns |= {"name"} if self.cuts else set()
        result.called = self._column(self.ids[0])
        rows = {line: self._cells(row) for line, row in self.table.rows.items()}
        tests = self._test_students if self.name == "canvas" else ()
        for line, row in self.table.rows.items():
            why = "Canvas's test student was skipped." if line in tests else self._nobody(row)
            if why is not None:
                result.notes += [f"Line {line}: {why}"] * bool(why)
                del rows[line]
        result.entries = {line: self._entry(cells) for line, cells in rows.items()}
        result.notes += self._renamed(result.entries)
        self._refuse(result.entries)
        result.notes += self._remarks(rows, result.entries)
        result.entries = {line: _cleaned(entry) for line, entry in result.entries.items()}
        if section:
            self._choose(result, section)
        result.notes += _alike(result.entries)
        return result

    @property
    def _fields(self) -> dict[str, str]:
        """By our name of a column that is there, an entry's; a number that is the system's own is not kept twice."""
        fields = {ours: of for ours, of in FIELDS.items() if ours in self.places}
        if "sis" in fields and self.places["sis"] == self.places.get("lms"):
            del fields["sis"]
        return fields

    def _column(self, ours: str) -> str:
        return self.table.header[self.places[ours]]

    def _cells(self, row: list[str]) -> dict[str, str]:
        """The row by our names."""
        cells = {ours: unwrapped(row[number]) for ours, number in self.places.items()}
        marked = {"lms", "sis", "login"} & cells.keys() if self.name == "brightspace" else ()
        return cells | {ours: cells[ours].removeprefix("#") for ours in marked}

    def _entry(self, cells: dict[str, str]) -> Entry:
        first, last = cells.get("first", ""), cells.get("last", "")
        if not self.places.keys() & {"first", "last"}:
            first, last = personname.parted(" ".join(cells.get("name", "").split()))
        return Entry(cells[self._called(cells)], first, last, **{of: cells[ours] for ours, of in self._fields.items()})

    def _called(self, cells: dict[str, str]) -> str:
        """What the id of a row is from."""
        return next((name for name in self.ids if cells[name]), self.ids[0])

    def _refuse(self, entries: dict[int, Entry]) -> None:
        """Raises CourseError when there is nobody, or something is wrong with a row."""
        if not entries:
            raise CourseError(f"{self.path} has no students after its first line. Export the file again.")
        where = " or ".join(map(self._column, self.ids))
        errors = [f"line {line}: {problem}" for line, entry in entries.items() for problem in _problems(entry, where)]
        errors += _twice(entries)
        if errors:
            things = f"{len(errors)} errors" if len(errors) > 1 else "1 error"
            rest = f"\n  and {len(errors) - SHOWN} more" if len(errors) > SHOWN else ""
            raise CourseError(
                f"Nothing was written, because of {things} in {self.path}. Correct the file, or export it again:"
                + "".join(f"\n  {problem}" for problem in errors[:SHOWN])
                + rest
            )

    def _remarks(self, rows: dict[int, dict[str, str]], entries: dict[int, Entry]) -> Iterator[str]:
        """What was done with some rows that a reader may not expect."""
        for called in self.ids[1:]:
            if lines := [line for line, cells in rows.items() if self._called(cells) == called]:
                first, second = self._column(self.ids[0]), self._column(called)
                yield f"{_lines(lines)}: '{first}' is empty, so '{second}' is used as the id."
        if self.cuts and any(" " in cells["name"] and "," not in cells["name"] for cells in rows.values()):
            yield "First and last names are in one column, so the last word is used as family name."
        if lines := [line for line, entry in entries.items() if _marred(entry)]:
            yield f"{_lines(lines)}: unsafe characters were replaced."

    def _choose(self, result: Participants, section: str) -> None:
        """Leave only who is in one section. Raises CourseError when nobody is."""
        sections = sorted({entry.section or entry.group for entry in result.entries.values()} - {""})
        result.entries = {line: student for line, student in result.entries.items() if student.in_section(section)}
        if not result.entries:
            raise CourseError(
                f"{self.path} has no section or group {plaintext.quoted(section)}. "
                + (f"It has: {listed(tuple(sections))}." if sections else "It has no sections.")
            )

    def _nobody(self, row: list[str]) -> str | None:
        """Why a row is not a student's, empty where nobody need know; None where it is a student's."""
        if self.name == "canvas" and is_heading(row):
            return ""
        role = self._role(row)
        if self.name == "gradescope" and role.casefold() not in ("student", ""):
            return f"{plaintext.quoted(role)} is not a student's role; skipped."
        if self.name == "moodle" and role and is_staff(role):
            return f"{plaintext.quoted(role)} is not a student's role; skipped."
        return None

    def _role(self, row: list[str]) -> str:
        """What the row's column of roles says; empty where there is none."""
        names = ROLES.get(self.name, ())
        cells = (cell for name, cell in zip(self.table.header, row, strict=False) if plain(name) in names)
        return next(cells, "").strip()

    def _renamed(self, entries: dict[int, Entry]) -> list[str]:
        """Call students so that their ids name a folder, where an id such as 21/CS/045 does not; sentences about it."""
        notes = []
        for line, entry in entries.items():
            if SLASHED.fullmatch(entry.id):
                called = entry.id.replace("/", "-")
                entries[line] = replace(entry, id=called, login=entry.login or entry.id)
                notes.append(
                    f"Line {line}: {plaintext.quoted(entry.id)} is not a valid folder name, so the student's id is "
                    f"{plaintext.quoted(called)}."
                )
        return notes


def is_heading(row: list[str]) -> bool:
    """Whether a row of Canvas's gradebook is about assignments and not about a student."""
    return POINTS in row[0] or all(map(POSTING.fullmatch, row))


def test_students(rows: Mapping[int, tuple[str, Mapping[str, str]]]) -> set[int]:
    """The lines of Canvas's test student; ``rows`` have a name, and what else the row says by our names of columns."""
    machine_made, named = set(), set()
    for line, (name, cells) in rows.items():
        login = cells.get("login", "")
        if not cells.get("sis") and (not login or MACHINE_MADE.fullmatch(login)):
            machine_made |= {line} if login else set()
            named |= {line} if name in TEST else set()
    # Where several have such a login it tells nothing: it is how this school calls its students.
    return named | (machine_made if len(machine_made) == 1 < len(rows) else set())


def _name(cells: Mapping[str, str]) -> str:
    return cells.get("name") or f"{cells.get('last')}, {cells.get('first')}"


def _names(named: str) -> dict[str, str]:
    """What --columns says. Raises CourseError."""
    columns = {}
    for part in re.split(rf",(?=\s*(?:{'|'.join(NAMES)})\s*=)", named) if named else ():
        ours, equals, name = (piece.strip() for piece in part.partition("="))
        if ours not in NAMES or not equals or not name:
            raise CourseError(
                f"{plaintext.quoted(part)} in --columns must have the form id=Matriculation. The names are: "
                f"{', '.join(NAMES)}."
            )
        columns[ours] = name
    return columns


def unwrapped(cell: str) -> str:
    """The cell without the ``="..."`` that keeps spreadsheets from computing it."""
    cell = cell.strip()
    return cell[2:-1] if re.fullmatch(r'="[\s\S]*"', cell) else cell


def _cleaned(entry: Entry) -> Entry:
    return replace(entry, **{name: personname.cleaned(getattr(entry, name)) for name in CLEANED})


def _marred(entry: Entry) -> bool:
    """Whether something in an entry has to be replaced."""
    return any(personname.is_marred(getattr(entry, name)) for name in CLEANED)


def _problems(entry: Entry, where: str) -> Iterator[str]:
    """Why a row is refused."""
    if problem := _id_problem(entry.id, where):
        yield problem
    for name in ("first_name", "last_name", "email", "lms_user_id"):
        if len(getattr(entry, name)) > LONGEST:
            yield f"its {name} has more than {LONGEST} letters, which is too long for the gradebook"


def _id_problem(student: str, where: str) -> str:
    """Why nobody can be called that; empty when somebody can."""
    if not student:
        return f"it has no id ({where} is empty); fill it in, or choose another column with --id"
    if len(student.encode("utf-8", "replace")) > LONGEST:
        return f"the id {plaintext.quoted(student)} is longer than {LONGEST} letters"
    if "/" in student or student.startswith("."):
        return f"the id {plaintext.quoted(student)} is not a valid folder name: it contains a '/', or begins with a dot"
    if name_problem(student):
        return (
            f"the id {plaintext.quoted(student)} is unsafe in pages, terminals and "
            'spreadsheets: it contains control characters or <>"\\, or begins with =, +, - or @'
        )
    return ""


def _twice(entries: dict[int, Entry]) -> list[str]:
    """A sentence for each id that several lines have."""
    lines = defaultdict(list)
    for line, entry in entries.items():
        lines[entry.id].append(line)
    return [f"{_lines(same).lower()} have the same id {plaintext.quoted(student)}" for student, same in lines.items()
            if student and len(same) > 1]  # fmt: skip


def _alike(entries: dict[int, Entry]) -> Iterator[str]:
    """Sentences for those who have one name or one address, and are different students."""
    for title, name in (("name", "name"), ("e-mail address", "email")):
        groups: dict[str, dict[int, Entry]] = defaultdict(dict)
        for line, entry in entries.items():
            groups[getattr(entry, name).casefold()][line] = entry
        shared_by = [group for value, group in groups.items() if value and len(group) > 1]
        for group in shared_by[:SHOWN]:
            who = " and ".join(plaintext.quoted(entry.id) for entry in group.values())
            shared = plaintext.line(getattr(next(iter(group.values())), name))
            yield (
                f"{_lines(list(group))} have the same {title}, {shared}; they are treated as different students: {who}."
            )


def _lines(lines: list[int]) -> str:
    return f"Line{'s' * (len(lines) > 1)} {plaintext.some([*map(str, lines)], SHOWN)}"
