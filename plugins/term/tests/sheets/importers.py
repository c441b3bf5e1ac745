"""Second readers: each reads a file as the importer of one system does, by what is known of it and not by our code.

What an importer passes over in silence is in ``skipped`` with the reason; what it would refuse raises RefusedError.
"""

from __future__ import annotations

import csv
import re
import zipfile
from dataclasses import dataclass, field
from datetime import datetime
from io import BytesIO, StringIO
from xml.etree import ElementTree


class RefusedError(Exception):
    """The system refuses the whole file."""


@dataclass
class Canvas:
    """A course in Canvas: students by number with (SIS id, login, name), titles by number, and what stands there."""

    students: dict[str, tuple[str, str, str]]
    titles: dict[str, str]
    grades: dict[tuple[str, str], float | str] = field(default_factory=dict)
    skipped: list[tuple[str, str]] = field(default_factory=list)
    new: list[str] = field(default_factory=list)

    def take(self, data: bytes) -> dict[tuple[str, str], float | str | None]:
        """What changes, by student and assignment; None where a grade is taken away."""
        text = data.decode("utf-8-sig")
        lines = text.splitlines()[:3]
        mark = ";" if sum(line.count(";") for line in lines) > sum(line.count(",") for line in lines) else ","
        header, *rows = csv.reader(StringIO(text, newline=""), delimiter=mark)
        if len(header) <= 3 or "Student" not in header[0] or "ID" not in header[1] or "Section" not in header:
            raise RefusedError("not a gradebook")
        known = {name: place for place, name in enumerate(header)}
        columns = {}
        for place in range(header.index("Section") + 1, len(header)):
            if re.search("(Final|Current|Override) (Score|Points|Grade)", header[place]):
                continue
            number = re.search(r" \((\d+)\)$", header[place])
            titled = [one for one, title in self.titles.items() if title == header[place]]
            if number and number[1] in self.titles:
                columns[place] = number[1]
            elif titled:
                columns[place] = titled[0]
            else:
                self.new.append(header[place])
        changes = {}
        for row in rows:
            if not row or "Points Possible" in row[0] or "Manual Posting" in row:
                continue
            student = self._student(row, known)
            if student is None:
                self.skipped.append((row[0], "unknown student"))
                continue
            for place, assignment in columns.items():
                before, after = self.grades.get((student, assignment)), self._value(row[place])
                if after == "N/A":
                    continue
                if isinstance(before, float) and isinstance(after, float) and abs(before - after) < 0.01:
                    continue
                if before != after:
                    changes[student, assignment] = after
        return changes

    def _student(self, row: list[str], known: dict[str, int]) -> str | None:
        for column, of in (("ID", None), ("SIS User ID", 0), ("SIS Login ID", 1), ("Student", 2)):
            cell = row[known[column]] if column in known else ""
            cell = cell[2:-1] if cell.startswith('="') else cell
            for number, about in self.students.items():
                if cell and cell == (number if of is None else about[of]):
                    return number
        return None

    @staticmethod
    def _value(cell: str) -> float | str | None:
        cell = cell.strip()
        if cell.upper() in ("EX", "N/A"):
            return cell.upper()
        if not cell:
            return None
        whole, mark, decimals = re.fullmatch(r"([\d.,]*?)(?:([.,])(\d*))?", cell).groups()
        return float(re.sub("[.,]", "", whole) + ("." + decimals if mark else ""))


def php_rows(text: str, mark: str = ",") -> list[list[str]]:
    """What PHP's fgetcsv reads, with its escape character; one letter after the other."""
    rows, row, cell, place = [], [], "", 0
    inside = False
    while place < len(text):
        one = text[place]
        if inside:
            if one == "\\" and place + 1 < len(text):
                cell += text[place : place + 2]
                place += 1
            elif one == '"' and text[place + 1 : place + 2] == '"':
                cell += '"'
                place += 1
            elif one == '"':
                inside = False
            else:
                cell += one
        elif one == '"' and not cell:
            inside = True
        elif one == mark:
            row.append(cell)
            cell = ""
        elif one == "\n":
            rows.append([*row, cell])
            row, cell = [], ""
        elif one != "\r":
            cell += one
        place += 1
    if cell or row:
        rows.append([*row, cell])
    return [one for one in rows if one != [""]]


@dataclass
class Moodle:
    """An assignment in Moodle, seen by a teacher with a language."""

    identifier: str
    grade: str
    modified: str
    decimal: str
    maximum: float
    participants: set[str]
    grades: dict[str, float] = field(default_factory=dict)
    locked: set[str] = field(default_factory=set)
    graded_at: dict[str, datetime] = field(default_factory=dict)
    ignore_modified: bool = False
    skipped: dict[str, str] = field(default_factory=dict)

    def take(self, data: bytes) -> dict[str, float]:
        header, *rows = php_rows(data.decode("utf-8-sig").replace("\r\n", "\n"))
        for name in (self.identifier, self.grade, self.modified):
            if name not in header:
                raise RefusedError(f"no column {name}")
        if any(len(row) != len(header) for row in rows):
            raise RefusedError("a row of another width")
        taken = {}
        for row in rows:
            cells = dict(zip(header, row, strict=True))
            number = re.sub(r"\D", "", cells[self.identifier])
            score = self._number(cells[self.grade])
            why = (
                "unknown" if number not in self.participants
                else "blank" if score is None
                else "negative" if score < 0
                else "over" if score > self.maximum
                else "locked" if number in self.locked
                else "stale" if self._stale(number, cells[self.modified])
                else ""
            )  # fmt: skip
            if why:
                self.skipped[number] = why
            elif self.grades.get(number) != score:
                taken[number] = score
        return taken

    def _number(self, cell: str) -> float | None:
        if not cell.strip():
            return None
        match = re.match(r"\s*-?\d+(\.\d+)?", cell.replace(self.decimal, "."))
        return float(match[0]) if match else None

    def _stale(self, number: str, cell: str) -> bool:
        if self.ignore_modified or number not in self.graded_at:
            return False
        try:
            shown = datetime.strptime(cell, "%A, %d %B %Y, %I:%M %p")
        except ValueError:
            shown = datetime(1970, 1, 1)
        return (self.graded_at[number] - shown).total_seconds() > 60


@dataclass
class Brightspace:
    """A course in Brightspace: students as (OrgDefinedId, Username), and the maximum of each item."""

    students: set[tuple[str, str]]
    items: dict[str, float]
    skipped: list[str] = field(default_factory=list)

    def take(self, data: bytes) -> dict[tuple[str, str], float]:
        """By username and item."""
        header, *rows = csv.reader(StringIO(data.decode("utf-8-sig"), newline=""))
        header = [name.lstrip("#") for name in header]
        if header[-1] != "End-of-Line Indicator" or not {"Username", "OrgDefinedId"} & set(header):
            raise RefusedError("not a list of grades")
        known, taken = {}, {}
        for place, name in enumerate(header[:-1]):
            if name in ("Username", "OrgDefinedId"):
                known[place] = name
            elif (match := re.fullmatch("(.+) Points Grade", name)) and match[1] in self.items:
                known[place] = match[1]
            else:
                raise RefusedError(f"column {name}")
        for row in rows:
            if len(row) != len(header) or row[-1] != "#":
                raise RefusedError("a line without its end")
            cells = {known[place]: cell for place, cell in enumerate(row[:-1])}
            org, user = (cells.pop(name, "").removeprefix("#") for name in ("OrgDefinedId", "Username"))
            found = [one for one in self.students if (not org or one[0] == org) and (not user or one[1] == user)]
            if len(found) != 1 or not (org or user):
                self.skipped.append(org or user)
                continue
            for item, cell in cells.items():
                taken[found[0][1], item] = min(float(cell), self.items[item])
        return taken


def gradescope(data: bytes) -> dict[str, tuple[float | None, str]]:
    """By SID the score and the status, as what reads Gradescope's lists finds them."""
    found = {}
    for row in csv.DictReader(StringIO(data.decode(), newline="")):
        assert {"First Name", "Last Name", "Email"} <= row.keys() and float(row["Max Points"]) > 0
        hours, minutes, seconds = map(int, row["Lateness (H:M:S)"].split(":"))
        assert minutes < 60 and seconds < 60 and hours >= 0
        if row["Submission Time"]:
            datetime.strptime(row["Submission Time"], "%Y-%m-%d %H:%M:%S %z")
        found[row["SID"]] = float(row["Total Score"]) if row["Total Score"] else None, row["Status"]
    return found


SPREADSHEET = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"


def workbook(data: bytes) -> list[list[tuple[str, str]]]:
    """The cells of the first sheet with their types (ECMA-376): n a number, s text, b true or false, f a formula."""
    with zipfile.ZipFile(BytesIO(data)) as book:
        names = book.namelist()
        shared = []
        if "xl/sharedStrings.xml" in names:
            strings = ElementTree.fromstring(book.read("xl/sharedStrings.xml"))
            shared = ["".join(one.itertext()) for one in strings.iter(f"{SPREADSHEET}si")]
        sheet = ElementTree.fromstring(book.read("xl/worksheets/sheet1.xml"))
    rows = []
    for row in sheet.iter(f"{SPREADSHEET}row"):
        cells = []
        for cell in row.iter(f"{SPREADSHEET}c"):
            cell_type = cell.get("t", "n")
            text = "".join(cell.itertext())
            if cell.find(f"{SPREADSHEET}f") is not None:
                cell_type = "f"
            elif cell_type in ("s", "inlineStr"):
                cell_type, text = "s", shared[int(text)] if cell_type == "s" else text
            cells += [("n", "")] * (_column(cell.get("r")) - len(cells)) + [(cell_type, text)]
        rows.append(cells)
    return rows


def _column(place: str) -> int:
    """Which column a cell such as AB7 is in, the first being 0; blank ones are not written."""
    number = 0
    for letter in re.match("[A-Z]+", place)[0]:
        number = 26 * number + ord(letter) - ord("A") + 1
    return number - 1


def moodle_pages(data: bytes) -> dict[tuple[str, str], bytes]:
    """What Moodle's feedback zip gives whom: by participant's number and file name."""
    found = {}
    with zipfile.ZipFile(BytesIO(data)) as archive:
        for name in archive.namelist():
            *folders, last = name.split("/")
            for part in (*folders, last):
                pieces = part.split("_", 4)
                if len(pieces) >= 4 and pieces[1].isdigit() and pieces[2:4] == ["assignfeedback", "file"]:
                    file = pieces[4] if len(pieces) > 4 and pieces[4] else last
                    if not file.startswith((".", "~")):
                        found[pieces[1], file] = archive.read(name)
                    break
    return found


def canvas_comments(data: bytes, files: dict[str, str]) -> tuple[dict[str, list[str]], list[str]]:
    """Whom Canvas gives which page, by number, and what it ignores; ``files`` has the owner of each file's number."""
    given, ignored = {}, []
    with zipfile.ZipFile(BytesIO(data)) as archive:
        for name in archive.namelist():
            tokens = name.replace("_LATE_", "_").removeprefix("LATE_").split("_")
            digits = [token for token in tokens if token.isdigit()]
            if tokens[0] == "anon" and len(tokens) > 3:
                digits = [tokens[1], tokens[2]]
            if tokens[-1].startswith("link"):
                ignored.append(name)
            elif len(digits) >= 2 and files.get(digits[1]) == digits[0]:
                given.setdefault(digits[0], []).append(name.partition(f"_{digits[1]}_")[2])
            else:
                ignored.append(name)
    return given, ignored
