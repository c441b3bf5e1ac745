"""What pages show of the diagnoses: a student's after the deadline, a grader's, the report (door ``viva.pages``)."""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from pathlib import Path

from nbgrader.api import MissingEntry

from viva.course.course import Course
from viva.course.gradebook.results import Results
from viva.pages.additions import REPORT, STUDENT, Addition, Asked
from viva_diagnosis import diagnoses
from viva_diagnosis.diagnoses import Diagnoses, Diagnosis

_latest: dict[Path, tuple[tuple, object]] = {}
"""By file, what was read of it last, and in which state it was."""


def parts(course: Course, asked: Asked) -> list[Addition]:
    """The sentences for a page. Nothing where `viva diagnose` did not run, or the submission was graded since."""
    entries = list(_current(course, asked.assignment))
    if asked.reader == REPORT:
        return _for_report(entries)
    mine = [entry for entry in entries if (entry.student, entry.notebook) == (asked.student, asked.notebook)]
    if not mine or (asked.reader == STUDENT and not is_over(course, asked.assignment)):
        return []
    additions = []
    for finding in (finding for entry in mine for finding in entry.findings):
        sentences, whose = (finding.students, "Your ") if asked.reader == STUDENT else (finding.graders, "")
        if sentences:
            additions.append(Addition(finding.sentence(sentences, whose), finding.cells[0], asked.notebook))
    return additions


def _for_report(entries: list[Diagnosis]) -> list[Addition]:
    """One sentence for all students with the same finding."""
    groups: dict[tuple[str, str, str], list[str]] = {}
    for entry in entries:
        for finding in entry.findings:
            key = finding.sentence(finding.graders), finding.cells[0], entry.notebook
            groups.setdefault(key, []).append(entry.student)
    additions = [Addition(*key, tuple(dict.fromkeys(students))) for key, students in groups.items()]
    for notebook, one, students in diagnoses.alike(entries):
        text = f"{one.name} gives the same wrong results. No known mistake gives them: add one to answers/."
        additions.append(Addition(text, one.cell, notebook, tuple(dict.fromkeys(students))))
    return additions


def _current(course: Course, assignment: str) -> Iterator[Diagnosis]:
    """The diagnoses of submissions that were not graded since."""
    path, results = diagnoses.path_of(course, assignment), Results.of(course.directory)
    read: Diagnoses | None = _once(path, lambda: diagnoses.read(path))
    if read is None:
        return
    keys = _once(results.path, results.keys) or {}
    for entry in read.entries:
        if entry.graded and keys.get((assignment, entry.student)) == entry.graded:
            yield entry


def _once(path: Path, read):
    """What is read of a file, once for each state of it; None where it is not there."""
    try:
        status = path.stat()
    except OSError:
        return None
    state = status.st_ino, status.st_mtime_ns, status.st_size
    if path not in _latest or _latest[path][0] != state:
        _latest[path] = state, read()
    return _latest[path][1]


def is_over(course: Course, assignment: str) -> bool:
    """Whether the deadline of an assignment is over. One without a deadline is never over: it may be submitted again,
    and the sentences would help with hidden checks."""
    try:
        due = course.ask(lambda gradebook: gradebook.find_assignment(assignment).duedate)
    except MissingEntry:
        return False
    return due is not None and due <= datetime.datetime.now(datetime.UTC).replace(tzinfo=None)
