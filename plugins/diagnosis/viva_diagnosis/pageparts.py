"""The sentences of the diagnosis on pages of students, graders and the report (door ``viva.pages``)."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterable
from pathlib import Path

from nbgrader.api import MissingEntry

from viva.course.course import Course
from viva.course.gradebook.results import Results
from viva.pages.additions import GRADER, REPORT, Addition, Asked
from viva.wording import counted
from viva_diagnosis import diagnoses
from viva_diagnosis.diagnoses import Diagnoses, Diagnosis
from viva_diagnosis.recognition import Finding, Unnamed
from viva_diagnosis.writtengroups import Group

Behaving = tuple[str, Unnamed, list[str]]
"""A notebook, a behaviour without a name, and the students whose answers have it."""
_latest: dict[tuple[Path, str], tuple[tuple, object]] = {}
"""By file and kind of reading, what was read of it last, and in which state it was."""


def parts(course: Course, asked: Asked) -> list[Addition]:
    """The sentences for a page. Nothing where `viva diagnose` did not run, or the submission was graded since."""
    entries, unnamed, written = _current(course, asked.assignment)
    if asked.reader == REPORT:
        return _for_report(entries, unnamed, written)
    if asked.reader == GRADER:
        return _for_grader(entries, unnamed, written, asked)
    sentences = [
        Addition(finding.sentence(finding.students, "Your "), finding.cells[0], asked.notebook)
        for entry in entries
        if (entry.student, entry.notebook) == (asked.student, asked.notebook)
        for finding in entry.findings
        if finding.students
    ]
    return sentences if sentences and is_over(course, asked.assignment) else []


def _for_grader(
    entries: list[Diagnosis], unnamed: list[Behaving], written: list[Group], asked: Asked
) -> list[Addition]:
    """The findings about one notebook, each with the other students who have the same."""
    entries = [entry for entry in entries if entry.notebook == asked.notebook]
    additions = []

    def others(students: Iterable[str]) -> tuple[str, ...]:
        return tuple(student for student in dict.fromkeys(students) if student != asked.student)

    for finding in (finding for entry in entries if entry.student == asked.student for finding in entry.findings):
        same = others(entry.student for entry in entries for other in entry.findings if _is_same(finding, other))
        text = finding.sentence(finding.graders) + (
            f" The same in {counted(len(same), 'other answer')}." if same else ""
        )
        additions.append(Addition(text, finding.cells[0], asked.notebook, same, finding.answer))
    for notebook, behaviour, students in unnamed:
        if notebook == asked.notebook and asked.student in students:
            same = others(students)
            text = f"{behaviour.name} gives the same wrong results in {counted(len(same), 'other answer')}."
            additions.append(Addition(text, behaviour.cell, asked.notebook, same, behaviour.answer))
    for alike in written:
        students = [member.student for member in alike.members]
        if alike.notebook == asked.notebook and asked.student in students:
            same = others(students)
            text = f"This answer is similar to {counted(len(same), 'other answer')}."
            additions.append(Addition(text, alike.cell, asked.notebook, same, alike.cell))
    return additions


def _is_same(one: Finding, other: Finding) -> bool:
    return (one.names, one.mistakes) == (other.names, other.mistakes)


def _for_report(entries: list[Diagnosis], unnamed: list[Behaving], written: list[Group]) -> list[Addition]:
    """One sentence for all students with the same finding."""
    groups: dict[tuple[str, str, str], list[str]] = {}
    for entry in entries:
        for finding in entry.findings:
            key = finding.sentence(finding.graders), finding.cells[0], entry.notebook
            groups.setdefault(key, []).append(entry.student)
    additions = [Addition(*key, tuple(dict.fromkeys(students))) for key, students in groups.items()]
    for notebook, behaviour, students in unnamed:
        text = f"{behaviour.name} gives the same wrong results here. No known mistake gives them. Add it to answers/."
        additions.append(Addition(text, behaviour.cell, notebook, tuple(dict.fromkeys(students))))
    for group in written:
        students = [member.student for member in group.members]
        additions.append(Addition("These written answers are similar.", group.cell, group.notebook, tuple(students)))
    return additions


def _current(course: Course, assignment: str) -> tuple[list[Diagnosis], list[Behaving], list[Group]]:
    """The diagnoses, and the groups by unnamed behaviour and of written answers, without the submissions that were
    graded since."""
    path, results = diagnoses.path_of(course, assignment), Results.of(course.directory)
    read: Diagnoses | None = _once(path, lambda: diagnoses.read(path))
    if read is None:
        return [], [], []
    alike: list[Behaving] = _once(path, lambda: diagnoses.alike(diagnoses.read(path).entries), "alike") or []
    keys = _once(results.path, results.keys) or {}

    def is_current(student: str, graded: str) -> bool:
        return bool(graded) and keys.get((assignment, student)) == graded

    groups = [
        Group(
            group.notebook,
            group.cell,
            [member for member in group.members if is_current(member.student, member.graded)],
        )
        for group in read.written
    ]
    entries = [entry for entry in read.entries if is_current(entry.student, entry.graded)]
    graded = {(entry.notebook, entry.student) for entry in entries}
    unnamed = [
        (notebook, behaviour, [student for student in students if (notebook, student) in graded])
        for notebook, behaviour, students in alike
    ]
    several = [group for group in unnamed if len(group[2]) > 1]
    return entries, several, [group for group in groups if len(group.members) > 1]


def _once(path: Path, read: Callable, kind: str = ""):
    """What is read of a file, once for each state of it; None where it is not there."""
    try:
        status = path.stat()
    except OSError:
        return None
    state = status.st_ino, status.st_mtime_ns, status.st_size
    if (path, kind) not in _latest or _latest[path, kind][0] != state:
        _latest[path, kind] = state, read()
    return _latest[path, kind][1]


def is_over(course: Course, assignment: str) -> bool:
    """Whether the deadline of an assignment is over. One without a deadline is never over: it may be submitted again,
    and the sentences would help with hidden checks."""
    try:
        due = course.ask(lambda gradebook: gradebook.find_assignment(assignment).duedate)
    except MissingEntry:
        return False
    return due is not None and due <= datetime.datetime.now(datetime.UTC).replace(tzinfo=None)
