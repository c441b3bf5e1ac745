"""Whose the members of an archive are: as attempts/ keeps it, else as collecting would find it.

Each row of ``attempts/<assignment>.csv`` has a sender, the student, and by whom that was found. Who forgets a student
asks here, so that no archive keeps what the next ``viva collect`` would bring back.
"""

from __future__ import annotations

import contextlib
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

from nbgrader.plugins import FileNameCollectorPlugin

from viva.course.course import Course
from viva.course.gradebook import joined
from viva.verdict import CourseError
from viva_term.archives.archive import Member
from viva_term.archives.layouts import About, Laid, blind, lay, layouts, sent_from, shared, source
from viva_term.archives.ledger import ATTEMPTS, Ledger, cell
from viva_term.archives.sendermatching import MATCHES, Class, Matches
from viva_term.archives.unmatched import Unmatched
from viva_term.lms.rosterfile import Roster


class Senders:
    """The senders of a course's archives. Raises CourseError for a file of another form."""

    def __init__(self, course: Course) -> None:
        self.course, roster = course, Roster.of(course)
        matches = Matches.read(course.root / MATCHES, roster, strangers=True)
        collected = {path.stem for path in (course.root / ATTEMPTS).glob("*.csv")}
        with contextlib.suppress(CourseError):  # a course may have no source any more
            collected.update(course.assignments())
        self.classes = [Class(roster, matches, assignment) for assignment in sorted(collected) or [""]]
        self.regexp = FileNameCollectorPlugin(config=course.directory.config).named_regexp
        self.students: dict[tuple[str, str], set[str]] = defaultdict(set)
        """By archive and sender the students that were found; by no archive, those of all."""
        same = joined.students(course.root)
        for assignment in collected:
            for student, rows in Ledger(course, assignment).rows.items():
                for row in rows:
                    for archive in {row.archive, ""} if row.sender else ():
                        self.students[archive, row.sender].add(same.get(student, student))

    def owners(self, path: Path, names: Iterable[str]) -> dict[str, frozenset[str]]:
        """By the name of a member, whose it is; a group's member is several students', and one of nobody is left out.

        What was collected from an archive of this name decides, then what was collected from another.
        """
        members = [Member(tuple(name.split("/")), Path(), 0, "") for name in names if not name.endswith("/")]
        found: dict[str, frozenset[str]] = {}
        for people in self.classes:
            expected = About(people.assignment, people.known, people.names, self.regexp)
            for system in ("", *layouts()):
                with contextlib.suppress(CourseError):  # it is no archive of that system
                    laid = lay(members, expected, system)
                    for name, students in self._read(path, laid, people, by_rules=not system):
                        found[name] = found.get(name, frozenset()) | students
        return found

    def waiting(self, assignment: str) -> dict[str, frozenset[str]]:
        """By folder, whose a submission in unmatched/ is for the next ``viva collect``; one of nobody is left out."""
        unmatched, found = Unmatched(self.course, assignment), {}
        for people in self.classes if unmatched.rows else ():
            for attempt in unmatched.attempts() if people.assignment == assignment else ():
                if attempt.kept and (students := people.match(attempt.sender, near=False).students):
                    found[attempt.kept.relative_to(unmatched.folder).as_posix()] = frozenset(students)
        return found

    def _read(self, path: Path, laid: Laid, people: Class, by_rules: bool) -> Iterator[tuple[str, set[str]]]:
        """The students of each member, as one system reads it: who was collected or named, else ``by_rules``."""
        blinded, sharing = blind(laid), shared(laid)
        for piece in laid.pieces:
            sender = cell(source(piece))
            students = self.students.get((path.name, sender)) or self.students.get(("", sender))
            if not students and (by_rules or people.matches.of(piece.sender, people.assignment)):
                match = people.found(sent_from(piece, laid.system).sender, blinded, sharing, near=False)
                students = {*match.students}
            if students:
                yield piece.file.name, students
