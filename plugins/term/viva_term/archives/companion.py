"""The file that completes an archive: it has the times of submission, and the names behind numbers.

Moodle's grading worksheet, Gradescope's submission_metadata.yml, Brightspace's index.html, and any CSV with a column
that names students and one with times. Only what stands there is used.
"""

from __future__ import annotations

import functools
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import yaml

from viva.cleaning import plaintext
from viva.course.table import Table, listed
from viva.verdict import CourseError
from viva_term.archives import moments
from viva_term.archives.layouts import Piece, Sender
from viva_term.lms.personname import squeezed
from viva_term.lms.systems import SYSTEMS, plain

METADATA = ("submission_metadata.yml", "submission_metadata.yaml")
MOST_BYTES = 200 * 2**20
"""Gradescope's metadata holds what its autograder printed."""
MOST_LEVELS = 100
"""Of lists in lists in such metadata."""
IDENTIFIER = re.compile(r"(?P<word>[^\d]*[^\d\s])\s?(?P<number>\d+)")
"""``Participant 12345`` in Moodle's worksheet, ``Teilnehmer/in12345`` in a German one."""
TIMES = ("timestamp", "time", "submission time", "submission_timestamp", "submitted at", "submitted", "handed in")
"""What the column with times is called, where no system is known by the others."""
NONE = {"", "-", "\N{EN DASH}", "n/a"}
"""What stands where nothing was submitted."""
PEOPLE = {
    "id": ("id", "student_id", "student", "roster_identifier", "identifier"),
    "login": ("login", "username", "github_username", "sis login id"),
    "lms": ("lms_user_id", "sid", "orgdefinedid", "id number"),
    "email": ("email", "email address", "e-mail"),
    "name": ("name", "full name"),
}


@dataclass(frozen=True)
class Known:
    """Who submitted, and when, as the companion writes it; ``group`` is the group's name."""

    sender: Sender
    time: str = ""
    group: str = ""
    line: int = 0


@dataclass
class Companion:
    """What a companion tells, by number or label, and by whatever else a person is known by."""

    path: Path
    system: str = ""
    """Whose archives it is about; empty for a list that may be about any."""
    by_label: dict[str, Known] = field(default_factory=dict)
    rows: list[Known] = field(default_factory=list)
    word: str = ""
    """What Moodle calls a participant whose name is not to be known."""

    def completed(self, piece: Piece) -> Piece:
        """The piece, completed from the companion."""
        if entry := self._of(piece):
            sender = entry.sender
            if sender is not piece.sender:
                values = {name: getattr(sender, name) or getattr(piece.sender, name) for name in _TOLD}
                anonymous = not any(values.values()) and not sender.others
                sender = replace(piece.sender, **values, anonymous=anonymous, others=sender.others)
            if entry.time and not moments.read(piece.time):
                return replace(piece, sender=sender, time=entry.time, listed=True)
            return replace(piece, sender=sender)
        return piece

    def _of(self, piece: Piece) -> Known | None:
        for label in (piece.attempt, piece.sender.label):
            if label and (entry := self.by_label.get(label)):
                return entry
        if self.by_label:
            entry = self.by_label.get(piece.sender.label.rpartition("_")[2])
            # Behind a team's name stands the number of the team, which may be a participant's too.
            names = {squeezed(self.word), squeezed(entry.sender.name)} if entry else set()
            fits = entry and (not entry.sender.name or squeezed(piece.sender.name) in names)
            return entry if fits else self._of_group(piece.sender.name)
        for name in KEYS if not piece.sender.anonymous else ():
            entries = self._by_key[name].get(squeezed(getattr(piece.sender, name)), [])
            if len(entries) == 1:
                return entries[0]
        return None

    @functools.cached_property
    def _by_key(self) -> dict[str, dict[str, list[Known]]]:
        """The rows, by what tells a person, and by the value without what does not count."""
        index: dict[str, dict[str, list[Known]]] = {name: defaultdict(list) for name in KEYS}
        for entry in self.rows:
            for name in KEYS:
                if value := squeezed(getattr(entry.sender, name)):
                    index[name][value].append(entry)
        return index

    def _of_group(self, name: str) -> Known | None:
        """What the worksheet knows about a team: its members, and the latest time of one."""
        members = self._by_group.get(name.casefold(), []) if name else []
        if not members:
            return None
        time = moments.latest(entry.time for entry in members)
        return Known(Sender(name, name, others=tuple(entry.sender for entry in members)), time)

    @functools.cached_property
    def _by_group(self) -> dict[str, list[Known]]:
        index = defaultdict(list)
        for entry in self.rows:
            if entry.group:
                index[entry.group.casefold()].append(entry)
        return index

    def times_of_people(self) -> list[Known]:
        """The rows that name a person and a time."""
        return [entry for entry in (*self.rows, *self.by_label.values()) if entry.time]


_TOLD = ("name", "lms", "login", "email")
KEYS = ("email", "lms", "login", "name")
"""What tells a person, the surest first."""


def read(path: Path) -> Companion:
    """Read a companion, whichever it is. Raises CourseError when it is none, and OSError."""
    if not path.is_file():
        raise CourseError(f"The file {path} does not exist. Name the file with the times with --times.")
    if path.suffix.lower() in (".yml", ".yaml"):
        return _gradescope(path)
    if path.suffix.lower() in (".html", ".htm"):
        return _brightspace(path)
    return _table(path)


def inside(paths: Iterable[tuple[str, Path]]) -> Iterator[Companion]:
    """The companions among an archive's files, given by name and where they lie."""
    for name, path in paths:
        if name.rpartition("/")[2] in METADATA:
            yield _gradescope(path, name)
        elif name.rpartition("/")[2].lower() in ("index.html", "index.htm"):
            companion = _brightspace(path)
            if companion.rows:
                yield companion


def _gradescope(path: Path, name: str = "") -> Companion:
    """Gradescope's metadata: plain texts, lists and mappings, whatever tags of Ruby it holds. Raises CourseError.

    ``name`` is what an archive calls it.
    """
    name = plaintext.line(name or path.name)
    if path.stat().st_size > MOST_BYTES:
        raise CourseError(f"{name} has more than {MOST_BYTES // 2**20} MB, so it is not Gradescope's metadata.")
    try:
        # BaseLoader makes texts of all scalars, and nothing else; a key keeps its colon.
        loader = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
        data = path.read_bytes()
        _require_shallow(data, loader)
        submissions = yaml.load(data, Loader=loader)
    except (yaml.YAMLError, UnicodeDecodeError, ValueError, RecursionError) as error:
        raise CourseError(
            f"{name} cannot be read as YAML ({plaintext.line(str(error))}). Export the submissions again."
        ) from error
    companion = Companion(path, "gradescope")
    for label, submission in submissions.items() if isinstance(submissions, dict) else ():
        if not isinstance(label, str) or not isinstance(submission, dict):
            continue
        people = [
            _submitter(label, person) for person in _field(submission, "submitters") or () if isinstance(person, dict)
        ]
        sender = people[0] if len(people) == 1 else Sender(label, others=tuple(people))
        time = _field(submission, "created_at")
        companion.by_label[label] = Known(sender, time if isinstance(time, str) else "")
    if not companion.by_label:
        raise CourseError(f"{name} lists no submissions, so it is not Gradescope's metadata.")
    return companion


def _require_shallow(data: bytes, loader: type) -> None:
    """Raises YAMLError for what is nested so deep that to build it would end the process, as libyaml calls itself."""
    depth = 0
    for event in yaml.parse(data, Loader=loader):
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > MOST_LEVELS:
            raise yaml.YAMLError(f"it is nested more than {MOST_LEVELS} levels deep")


def _field(mapping: dict[Any, Any], name: str) -> Any:
    return mapping.get(f":{name}", mapping.get(name))


def _submitter(label: str, mapping: dict[Any, Any]) -> Sender:
    values = {name: _field(mapping, name) for name in ("name", "sid", "email")}
    name, sid, email = (
        value if isinstance(value, str) and value not in ("null", "~") else "" for value in values.values()
    )
    return Sender(label, name, sid, sid, email)


class _Rows(HTMLParser):
    """The rows of the tables of a page, each as its texts and the addresses in it."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: list[list[str]] = []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        if tag == "tr" or not self.rows:
            self.rows.append([])
        if tag in ("td", "th", "br", "div", "p", "li"):
            self.rows[-1].append("")

    def handle_data(self, data: str) -> None:
        if self.rows:
            self.rows[-1] = self.rows[-1] or [""]
            self.rows[-1][-1] += data


def _brightspace(path: Path) -> Companion:
    """Brightspace's index: a row that holds one time names who submitted in the cells before it."""
    parser = _Rows()
    parser.feed(path.read_bytes()[:MOST_BYTES].decode("utf-8", "replace"))
    companion, name = Companion(path, "brightspace"), ""
    for row in parser.rows:
        cells = [" ".join(cell.split()) for cell in row]
        when = [number for number, cell in enumerate(cells) if moments.read(cell)]
        name = next((cell for cell in cells[: when[0] if when else None] if _is_name(cell)), name)
        if len(when) == 1 and name:
            companion.rows.append(Known(Sender(name, name), cells[when[0]]))
    return companion


def _is_name(text: str) -> bool:
    return " " in text and len(text) < 200 and not any(letter.isdecimal() or letter in ":/\\" for letter in text)


def _table(path: Path) -> Companion:
    """A worksheet of Moodle, or any list of people and times. Raises CourseError."""
    table = Table.read(path)
    header = [plain(name) for name in table.header]
    time = next((header.index(title) for title in TIMES if title in header), None)
    # Not where a column is called as in a list: ids such as s01 look like a worksheet's participants.
    column = _identifiers(table) if time is None else None
    time = time if column is None else _modified(table)
    if time is None:
        raise CourseError(
            f"{path} has no submission times. Its columns are {listed(table.header)}. Viva reads Moodle's grading "
            "worksheet ('Last modified (submission)'), Gradescope's grades ('Submission Time'), GitHub Classroom's "
            "('submission_timestamp'), and any CSV with the columns student_id,timestamp."
        )
    names = SYSTEMS["moodle"].columns if column is not None else PEOPLE
    places = {
        ours: next((header.index(plain(title)) for title in entry if plain(title) in header), None)
        for ours, entry in names.items()
    }
    companion = Companion(path, "moodle" if column is not None else "")
    first = next(iter(table.rows.values()), None)
    if column is not None and first and (match := IDENTIFIER.fullmatch(first[column].strip())):
        companion.word = match["word"]
    for line, row in table.rows.items():
        cells = {ours: row[number].strip() for ours, number in places.items() if number is not None}
        if column is None and not any(cells.values()):
            raise CourseError(f"Line {line} of {path} does not name a student.")
        name = cells.get("name") or f"{cells.get('first', '')} {cells.get('last', '')}".strip()
        lms = cells.get("sis") or cells.get("lms") or cells.get("id", "")
        sender = Sender(name, name, lms, cells.get("login") or cells.get("id", ""), cells.get("email", ""))
        text = row[time].strip()
        entry = Known(sender, "" if text.casefold() in NONE else text, cells.get("group", ""), line)
        if column is not None and (match := IDENTIFIER.fullmatch(row[column].strip())):
            companion.by_label[match["number"]] = entry
        companion.rows.append(entry)
    return companion


def _identifiers(table: Table) -> int | None:
    """The column with Moodle's participants, in whatever language: one word, and a number in each row."""
    for number in range(len(table.header)):
        matches = [IDENTIFIER.fullmatch(row[number].strip()) for row in table.rows.values()]
        words = {match["word"] if match else None for match in matches}
        if len(words) == 1 and None not in words:
            return number
    return None


def _modified(table: Table) -> int | None:
    """The column that says when a submission was changed: the first of two that differ in their brackets."""
    begun = defaultdict(list)
    for number, name in enumerate(table.header):
        if "(" in name:
            begun[name.partition("(")[0].strip().casefold()].append(number)
    pairs = [places for places in begun.values() if len(places) > 1]
    dated = [
        number for number in range(len(table.header)) if any(moments.read(row[number]) for row in table.rows.values())
    ]
    for places in pairs:
        if set(places) & set(dated) or not dated:
            return places[0]
    return pairs[0][0] if pairs else None
