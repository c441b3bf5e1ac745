"""Feedback pages as the zip that Moodle and Canvas take back, by the names that each reads in it.

Moodle reads ``x_<participant>_assignfeedback_file/<page>``, Canvas the name of a file that it gave, up to the file's
number: ``<name>_<user>_<file>_<page>``. Of a zip from Canvas nothing is read but its names.
"""

from __future__ import annotations

import re
import zipfile
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import BinaryIO

from viva.cleaning import plaintext
from viva.course.course import Course
from viva.course.gradebook.standing import Status
from viva.term.sheets.export import Line, Plan
from viva.term.sheets.marks import WAITS, Mark, Marks
from viva.verdict import CourseError

GIVEN = re.compile(
    r"""
    (?P<prefix>
        [^_/\\]* (?: _(?!\d+_) [^_/\\]* )*      # the student's name, of tokens that are not digits alone
        _ (?P<user>\d+) _ (?P<file>\d+)
    )
    _ [^/\\]+
    """,
    re.VERBOSE,
)
"""A file that Canvas gave, up to its number: the first two tokens of digits alone are the user's and the file's."""
ANONYMOUS = re.compile(r"(?:LATE_)?anon_")
BEGINNING = (1980, 1, 1, 0, 0, 0)
"""The time of every page, so that the same pages are the same zip."""


def moodle_pages(students: Mapping[str, str], course: Course, marks: Marks, plan: Plan) -> None:
    """Plan a zip with a folder for each participant. ``students`` has the participants' numbers."""
    folders = {student: f"student_{number}_assignfeedback_file/" for student, number in students.items()}
    _plan(folders, course, marks, plan, "the worksheet")


def answer_archive(path: Path, course: Course, marks: Marks, plan: Plan) -> None:
    """Plan a zip that answers one of Canvas's. Raises CourseError, and OSError."""
    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
    except FileNotFoundError as error:
        raise CourseError(f"There is no file {path}. Name the zip that Canvas gave with --archive=FILE.") from error
    except (zipfile.BadZipFile, IsADirectoryError) as error:
        raise CourseError(f"{path} is no zip. Download the submissions in Canvas again.") from error
    by_number: dict[str, list[str]] = {}
    for entry in marks.entries.values():
        if entry.lms_user_id:
            by_number.setdefault(entry.lms_user_id, []).append(entry.id)
    prefixes: dict[str, str] = {}
    for name in names:
        match = None if ANONYMOUS.match(name) else GIVEN.fullmatch(name)
        students = by_number.get(match["user"], []) if match else []
        if match and len(students) == 1:
            prefixes.setdefault(students[0], match["prefix"] + "_")
        elif not name.endswith("/"):
            plan.strangers.append(Line("", plaintext.line(name), _unknown(match, students)))
    if not prefixes:
        raise CourseError(
            f"No file in {path} is a known student's. Canvas's numbers of students are in the gradebook it "
            "exports: read that with 'viva roster'. Archives of anonymous assignments, or of text, have no answer."
        )
    _plan(prefixes, course, marks, plan, "the archive")


def _unknown(match: re.Match | None, students: list[str]) -> str:
    """Why pages cannot go beside a file."""
    if match is None:
        return "is no name that pages can go beside"
    return f"{'several students have' if students else 'nobody in the course has'} the number {match['user']}"


def _plan(beginnings: Mapping[str, str], course: Course, marks: Marks, plan: Plan, where: str) -> None:
    """Plan the zip; each page's name begins as its student's pages do."""
    members: dict[str, Path] = {}
    for mark in marks.by.values():
        pages = sorted(course.path("feedback", plan.assignment, mark.student).glob("*.html"))
        if why := _held_back(mark, pages):
            plan.left.append(Line(mark.student, mark.entry.name, why))
        elif mark.student not in beginnings:
            plan.absent.append(Line(mark.student, mark.entry.name, f"is not in {where}"))
        else:
            members |= {beginnings[mark.student] + page.name: page for page in pages}
            plan.written.append(Line(mark.student, mark.entry.name, ", ".join(page.name for page in pages)))
    if not members:
        most = Counter(line.what for line in (*plan.left, *plan.absent)).most_common(1)
        told = f"What most often keeps one back: {most[0][0]}" if most else "Write them with 'viva feedback' first"
        raise CourseError(f"There is no page of {plan.assignment} to hand back. {told}.")
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
