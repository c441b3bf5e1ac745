"""Submissions without a student: ``unmatched/<assignment>/<sender>/<number>/``, and a list of them.

They wait for a line in ``matches.csv``, or for a newer list of the class; the archive need not be there again.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from viva.cleaning import plaintext
from viva.course.course import Course
from viva.course.grades.standing import UNMATCHED
from viva.course.processes import leftovers
from viva.course.table import Table, csv_text, own_rows
from viva.folder import remove
from viva_term.archives import collected, membername, moments
from viva_term.archives.attempt import Attempt, digest_in, files_in
from viva_term.archives.layouts import Sender
from viva_term.archives.ledger import cell, written

COLUMNS: tuple[str, ...] = (
    *("folder", "sender", "name", "lms", "login", "email", "anonymous", "source", "time", "in_utc", "archive"),
    *("sha256", "others"),
)
SINCE = ("reason", "student", "moment", "system")
"""Columns that an older list lacks: why something was left out, and of whom, where its sender is known; what its time
came to, in UTC, in the zone of the command that collected it; and whose the sender's number is."""
UNSAID = "-"
"""In place of a moment: an older list did not keep in which zone its time was meant."""
WHY = "left out.txt"
"""The file that says so, beside what was left out."""


class Unmatched:
    """What waits, of one assignment."""

    def __init__(self, course: Course, assignment: str) -> None:
        """Raises CourseError when the list cannot be read."""
        self.folder = course.root / UNMATCHED / assignment
        self.path = course.root / UNMATCHED / f"{assignment}.csv"
        self.rows = list(own_rows(self.path, (*COLUMNS, *SINCE), COLUMNS).values())
        if self.rows and "moment" not in Table.read(self.path).header:
            self.rows = [row | {"moment": UNSAID} for row in self.rows]

    def attempts(self) -> list[Attempt]:
        """Those whose files are still there, in the order in which they came."""
        attempts = []
        for number, row in enumerate(self.rows):
            folder = self._place(row["folder"])
            if folder is None or not folder.is_dir():
                continue
            sender = Sender(row["sender"], row["name"], row["lms"], row["login"], row["email"], bool(row["anonymous"]))
            sender = replace(sender, others=_others(row["others"], row.get("system", "")), system=row.get("system", ""))
            files = files_in(folder)
            attempt = Attempt(sender, row["source"], files, digest_in(folder), row["time"])
            if files.pop(WHY, None):
                attempt.problem, attempt.digest = row.get("reason") or "left out", row["sha256"]
            attempt.in_utc, attempt.archive, attempt.kept = bool(row["in_utc"]), row["archive"], folder
            attempt.place = number - len(self.rows)
            if moment := moments.read(row["moment"]):
                attempt.earlier = cell(row["time"]), moment
            attempt.unsaid = row["moment"] == UNSAID
            attempts.append(attempt)
        return attempts

    def _place(self, name: str) -> Path | None:
        """The folder of that name below ours; None for a name that leads elsewhere."""
        try:
            parts = membername.parts(name)
        except ValueError:
            return None
        return self.folder.joinpath(*parts)

    def keep(self, attempt: Attempt, students: Iterable[str] = ()) -> None:
        """Write an attempt into a folder of its own, unless it is there; ``students`` sent what was left out."""
        columns = {"reason": attempt.problem or attempt.refused, "student": "/".join(students)}
        columns["moment"] = written(attempt.moment) or (UNSAID if attempt.unsaid else "")
        columns["system"] = attempt.sender.system
        if attempt.kept:
            name = attempt.kept.relative_to(self.folder).as_posix()
            for row in self.rows:
                row |= columns if row["folder"] == name else {}
            return
        label, number = membername.safe(attempt.sender.label), 1
        while (self.folder / label / str(number)).exists():
            number += 1
        folder = self.folder / label / str(number)
        collected.write_folder(attempt.files, folder)
        if attempt.problem:
            (folder / WHY).write_text(f"{plaintext.line(attempt.archive)}: {attempt.problem}\n", encoding="utf-8")
        sender = attempt.sender
        row = {"folder": f"{label}/{number}", "sender": sender.label, "name": sender.name, "lms": sender.lms}
        row |= {"login": sender.login, "email": sender.email, "anonymous": "yes" if sender.anonymous else ""}
        row |= {"source": attempt.source, "time": attempt.time or attempt.told}
        row["in_utc"] = "yes" if attempt.in_utc else ""
        members = json.dumps(
            [[member.label, member.name, member.lms, member.login, member.email] for member in sender.others]
        )
        self.rows.append(row | {"archive": attempt.archive, "sha256": attempt.digest, "others": members} | columns)

    def settle(self, attempts: Iterable[Attempt]) -> None:
        """Remove what became somebody's."""
        for attempt in attempts:
            if attempt.kept:
                name = attempt.kept.relative_to(self.folder).as_posix()
                self.rows = [row for row in self.rows if row["folder"] != name]
                remove(attempt.kept)
                if not any(attempt.kept.parent.iterdir()):
                    attempt.kept.parent.rmdir()

    def write(self) -> None:
        """Write the list; without a row there is none. A row goes when its folder was removed."""
        self.rows = [row for row in self.rows if (kept_folder := self._place(row["folder"])) and kept_folder.is_dir()]
        if not self.rows:
            self.path.unlink(missing_ok=True)
            for folder in (self.folder, self.path.parent):
                if folder.is_dir() and not any(folder.iterdir()):
                    folder.rmdir()
            return
        columns = (*COLUMNS, *SINCE)
        leftovers.write(self.path, csv_text(columns, ([row.get(name, "") for name in columns] for row in self.rows)))


def _others(text: str, system: str) -> tuple[Sender, ...]:
    """The members of a group; nobody where the cell is no longer ours."""
    try:
        rows = [[str(word) for word in member] for member in json.loads(text or "[]")]
        return tuple(Sender(label, name, lms, login, email, system=system) for label, name, lms, login, email in rows)
    except (ValueError, TypeError):
        return ()
