"""Feedback pages as a zip for Moodle and Canvas, with the file names that each of them reads.

Moodle reads ``x_<participant>_assignfeedback_file/<page>``. Canvas reads the name of a file that it gave, up to its
number: ``<name>_<user>_<file>_<page>``, or ``anon_<number>_<file>_<page>`` in anonymous assignments. Canvas ignores a
name whose last part behind a ``_`` begins with ``link``, and shows a page to its student under the name of the file
that it answers. So no ``_`` stands in a page's part of the name, which begins with ``feedback-``, and each page answers
the notebook that it is about. Of a zip from Canvas nothing is read but its names.
"""

from __future__ import annotations

import re
import zipfile
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from operator import add
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from viva.cleaning import plaintext
from viva.course.course import Course
from viva.course.grades.standing import Status
from viva.verdict import CourseError
from viva_term.archives.ledger import Ledger
from viva_term.sheets.marks import WAITS, Mark, Marks
from viva_term.sheets.sheetexport import Line, Plan

GIVEN = re.compile(
    r"""
    (?P<prefix>
        [^_/\\]* (?: _(?!\d+_) [^_/\\]* )*      # the student's name, of tokens that are not digits alone
        _ (?P<user>\d+) _ (?P<file>\d+)
    )
    _ (?P<name>[^/\\]+)
    """,
    re.VERBOSE,
)
"""A file that Canvas gave, up to its number: the first two tokens of digits alone are the user's and the file's."""
ANONYMOUS = re.compile(
    r"""
    (?P<prefix> (?:LATE_)? (?P<sender>anon_[^_/\\]+) _ \d+ )
    _ (?P<name>[^/\\]+)
    """,
    re.VERBOSE,
)
"""The same in an anonymous assignment."""
_COPY = re.compile(r"-\d{1,3}$")
BEGINNING = (1980, 1, 1, 0, 0, 0)
"""The time of every page, so that the same pages are the same zip."""


def moodle_pages(students: Mapping[str, str], course: Course, marks: Marks, plan: Plan) -> None:
    """Plan a zip with a folder for each participant. ``students`` has the participants' numbers."""
    folders = {student: f"student_{number}_assignfeedback_file/" for student, number in students.items()}
    _plan(
        {student_id: partial(add, folder) for student_id, folder in folders.items()},
        course,
        marks,
        plan,
        "the worksheet",
    )


def answer_archive(path: Path, course: Course, marks: Marks, plan: Plan) -> None:
    """Plan a zip that answers one of Canvas's. Raises CourseError, and OSError."""
    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
    except FileNotFoundError as error:
        raise CourseError(f"The file {path} does not exist. Name the zip from Canvas with --archive=FILE.") from error
    except (zipfile.BadZipFile, IsADirectoryError) as error:
        raise CourseError(f"{path} is not a zip. Download the submissions in Canvas again.") from error
    by_number: dict[str, list[str]] = {}
    for entry in marks.entries.values():
        if entry.lms_user_id:
            by_number.setdefault(entry.lms_user_id, []).append(entry.id)
    collected = _collected(course, plan.assignment)
    files_of: dict[str, list[re.Match]] = {}
    for name in names:
        anonymous = ANONYMOUS.fullmatch(name)
        match = anonymous or (None if name.startswith(("anon_", "LATE_anon_")) else GIVEN.fullmatch(name))
        if anonymous:
            students = collected.get(anonymous["sender"], [])
        else:
            students = by_number.get(match["user"], []) if match else []
        if match and len(students) == 1:
            files_of.setdefault(students[0], []).append(match)
        elif not name.endswith("/"):
            plan.strangers.append(Line("", plaintext.line(name), _unknown(match, bool(anonymous), students)))
    if not files_of:
        raise CourseError(
            f"No file in {path} belongs to a known student. Canvas's student numbers are in its gradebook export: "
            "read that file with 'viva roster'. If the assignment is anonymous, collect the archive first: viva "
            "collect. An archive of text submissions cannot contain pages."
        )
    _plan({student: partial(_answer, files) for student, files in files_of.items()}, course, marks, plan, "the archive")


def _collected(course: Course, assignment: str) -> dict[str, list[str]]:
    """By the sender in an archive, the students whose attempts ``viva collect`` took."""
    students: dict[str, list[str]] = {}
    for student, rows in Ledger(course, assignment).rows.items():
        for sender in {row.sender for row in rows if row.sender}:
            students.setdefault(sender, []).append(student)
    return students


def _answer(files: Iterable[re.Match], page: str) -> str:
    """The name under which a page answers the file that it is about, of those that Canvas gave of its student."""

    def rank(file: re.Match) -> tuple[bool, bool]:
        name = PurePosixPath(file["name"])
        return _COPY.sub("", name.stem) == Path(page).stem, name.suffix == ".ipynb"

    return f"{max(files, key=rank)['prefix']}_feedback-{page.replace('_', '-')}"


def _unknown(match: re.Match | None, anonymous: bool, students: list[str]) -> str:
    """Why pages cannot go beside a file."""
    if match is None:
        return "does not have the file name of a submission"
    if anonymous:
        return (
            "is anonymous, and several students have this number"
            if students
            else "is anonymous; collect the archive first"
        )
    return f"{'several students have' if students else 'no enrolled student has'} the number {match['user']}"


def _plan(names: Mapping[str, Callable[[str], str]], course: Course, marks: Marks, plan: Plan, where: str) -> None:
    """Plan the zip; ``names`` give each student's pages their names in it."""
    members: dict[str, Path] = {}
    for mark in marks.by.values():
        pages = sorted(course.path("feedback", plan.assignment, mark.student).glob("*.html"))
        if why := _held_back(mark, pages):
            plan.left.append(Line(mark.student, mark.entry.name, why))
        elif mark.student not in names:
            plan.absent.append(Line(mark.student, mark.entry.name, f"is not in {where}"))
        else:
            members |= {names[mark.student](page.name): page for page in pages}
            plan.written.append(Line(mark.student, mark.entry.name, ", ".join(page.name for page in pages)))
    if not members:
        most = Counter(line.what for line in (*plan.left, *plan.absent)).most_common(1)
        reason = f"The most frequent reason: {most[0][0]}" if most else "Write them with 'viva feedback' first"
        raise CourseError(f"No page of {plan.assignment} can be returned. {reason}.")
    plan.write = lambda file: _zip(file, members.items())


def _held_back(mark: Mark, pages: list[Path]) -> str:
    """Why a student gets no page; empty when they do."""
    if mark.row["status"] == Status.EXCUSED or mark.why == WAITS:
        return mark.why
    if pages:
        return ""
    return mark.why or "has no page; run 'viva feedback' first"


def _zip(file: BinaryIO, members: Iterable[tuple[str, Path]]) -> None:
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, page in members:
            info = zipfile.ZipInfo(name, BEGINNING)
            info.compress_type, info.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
            archive.writestr(info, page.read_bytes())
