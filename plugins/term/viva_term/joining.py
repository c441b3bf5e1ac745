"""Two ids of one student become one: attempts, grades and extensions move to the id that stays, and are listed.

Nothing is taken away: where both ids have work of an assignment, each keeps its own, and a sentence says so. It is a
change in the course's journal: a command that was killed is finished by the next one.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import astuple, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from nbgrader.api import Assignment, Gradebook, Student, SubmittedAssignment

from viva.cleaning.plaintext import quoted
from viva.course.course import Course
from viva.course.database import with_retries
from viva.course.deadlines import concessions
from viva.course.gradebook import identities, joined, journal
from viva.course.gradebook.identities import Identities
from viva.course.gradebook.joined import Joined
from viva.course.gradebook.journal import Step
from viva.course.gradebook.results import Results
from viva.course.processes import leftovers
from viva.course.table import csv_text
from viva.verdict import CourseError
from viva_term.archives.ledger import ATTEMPTS, HAND, Ledger
from viva_term.lms.rosterfile import COLUMNS, DEMO, KEPT_BY_NBGRADER, ROSTER, Entry, Roster

STEPS = ("submitted", "autograded", "feedback")


@dataclass(frozen=True)
class Joining:
    """What joining ``new`` into ``old`` moves, and what it leaves since both have it, by assignment."""

    old: str
    new: str
    moved: tuple[str, ...] = ()
    both: tuple[str, ...] = ()

    def sentences(self) -> Iterator[str]:
        if self.moved:
            yield f"{quoted(self.old)} now has: {', '.join(self.moved)}."
        for assignment in self.both:
            yield (
                f"{assignment}: both ids have a submission. Each id keeps its own submission. Compare the two in "
                "formgrader, and enter the right scores there."
            )
        yield f"From now on, {quoted(self.new)} in lists and archives is read as {quoted(self.old)}."


def plan(course: Course, old: str, new: str) -> Joining:
    """What would be moved. Raises CourseError for an id that nobody has, or that is another's already."""
    roster = Roster.of(course)
    for name in (old, new):
        if name not in roster.entries and name not in roster.joined:
            raise CourseError(f"There is no student {quoted(name)} in the course. 'viva roster' reads the roster.")
        if DEMO.fullmatch(name):
            raise CourseError(f"{quoted(name)} belongs to 'viva demo', so it cannot be joined.")
    if old == new:
        raise CourseError("Name two ids: the id that keeps the grades, then the id to remove.")
    if old in roster.joined or roster.joined.get(new, old) != old:
        name = old if old in roster.joined else new
        raise CourseError(f"{quoted(name)} was joined with {quoted(roster.joined[name])} before, in {joined.SAME}.")
    theirs, ours = (_work(course, name) for name in (new, old))
    begun = set(_recorded(joined.read(course.root).get(new)))  # by a command that was stopped, or done before
    return Joining(old, new, tuple(sorted(theirs - ours | begun)), tuple(sorted(theirs & ours - begun)))


def _recorded(joined_row: Joined | None) -> list[str]:
    return list(filter(None, joined_row.moved.split(", "))) if joined_row else []


def join(course: Course, joining: Joining) -> None:
    """Do what was planned; whoever calls this is alone with the course. Raises OSError and CourseError."""
    about = {"student": joining.new, "old": joining.old, "moved": list(joining.moved), "both": list(joining.both)}
    called = f"viva roster --same {joining.old} {joining.new}"
    journal.carry_out(course, journal.Intent("same", called, about), steps(course, about))


def steps(course: Course, about: dict[str, Any]) -> Iterator[Step]:
    """The steps of ``viva roster --same``, for the journal."""
    joining = Joining(about["old"], about["student"], tuple(about["moved"]), tuple(about["both"]))
    yield Step(joined.SAME, partial(_record, course, joining))
    for assignment in joining.moved:
        for source, target in _folders(course, assignment, joining):
            yield Step(f"move {source}", partial(_move, source, target))
        yield Step(f"attempts of {assignment}", partial(_attempts, course, assignment, joining))
    places = {(name, joining.new): joining.old for name in joining.moved}
    yield Step("results", lambda: Results.of(course.directory).hand_over(places))
    for name in (concessions.EXCUSED, concessions.EXTENSIONS):
        yield Step(name, partial(_granted, course.root / name, joining))
    yield Step(identities.FILE, partial(_numbers, course, joining))
    # roster.csv is read for both: the row of the newer id goes last
    yield Step("gradebook", lambda: with_retries(lambda: _enter(course, joining, Roster.of(course))))
    yield Step(ROSTER, lambda: _list(course, joining, Roster.of(course)))


def _record(course: Course, joining: Joining) -> None:
    rows_of_all = joined.read(course.root)
    moved = ", ".join(dict.fromkeys([*_recorded(rows_of_all.get(joining.new)), *joining.moved]))
    joined.write(course.root, (rows_of_all | {joining.new: Joined(joining.new, joining.old, moved)}).values())


def _move(source: Path, target: Path) -> None:
    if source.is_dir() and not target.exists():
        target.parent.mkdir(parents=True, exist_ok=True)
        source.rename(target)
        with contextlib.suppress(OSError):  # another assignment is still in it
            source.parent.rmdir()


def _attempts(course: Course, assignment: str, joining: Joining) -> None:
    ledger = Ledger(course, assignment)
    if rows := ledger.rows.pop(joining.new, []):
        ledger.rows[joining.old] += [replace(row, student_id=joining.old, by=HAND) for row in rows]
        ledger.write()


def _numbers(course: Course, joining: Joining) -> None:
    numbers = Identities.read(course.root)
    numbers.hand_over(joining.new, joining.old)
    numbers.write()


def _work(course: Course, student: str) -> set[str]:
    """The assignments of which something of a student is there."""
    names = {entry.assignment for step in STEPS for entry in course.folders(step) if entry.student == student}
    names |= {path.parent.name for path in (course.root / ATTEMPTS).glob("*/*") if path.name == student}
    names |= {assignment for assignment, entry in Results.of(course.directory).read() if entry == student}
    if course.has_gradebook():
        with course.gradebook() as gradebook:
            names |= {assignment.name for assignment in _submissions(gradebook, student)}
    return names


def _submissions(gradebook: Gradebook, student: str) -> list[SubmittedAssignment]:
    query = gradebook.db.query(SubmittedAssignment).join(Assignment, SubmittedAssignment.assignment)
    return query.filter(SubmittedAssignment.student_id == student).all()


def _folders(course: Course, assignment: str, joining: Joining) -> Iterator[tuple[Path, Path]]:
    """Where work lies, and where it is to lie."""
    for step in STEPS:
        yield course.path(step, assignment, joining.new), course.path(step, assignment, joining.old)
    attempts = course.root / ATTEMPTS / assignment
    yield attempts / joining.new, attempts / joining.old


def _granted(path: Path, joining: Joining) -> None:
    """Let excuses and more time that stand under one id stand under the other, where that has none."""
    rows = concessions.rows(path)
    moved = {key: cells for key, cells in rows.items() if key[1] == joining.new}
    if moved:
        rest = {key: cells for key, cells in rows.items() if key not in moved}
        fresh = {(name, joining.old): cells | {"student_id": joining.old} for (name, _), cells in moved.items()}
        concessions.write(path, fresh | rest)


def _enter(course: Course, joining: Joining, roster: Roster) -> None:
    """Move the grades in one transaction; penalties follow. An id that is left with nothing goes."""
    entry = _known(roster, joining)
    with course.gradebook() as gradebook:
        if gradebook.db.get(Student, joining.old) is None:
            gradebook.db.add(Student(id=joining.old))
            gradebook.db.flush()
        theirs = {submitted.name for submitted in _submissions(gradebook, joining.old)}
        for submission in _submissions(gradebook, joining.new):
            if submission.name in joining.moved and submission.name not in theirs:
                submission.student_id = joining.old
        gradebook.db.flush()
        gradebook.db.expire_all()
        for name in KEPT_BY_NBGRADER:
            setattr(gradebook.db.get(Student, joining.old), name, getattr(entry, name) or None)
        rest = gradebook.db.get(Student, joining.new)
        if rest is not None and not _submissions(gradebook, joining.new):
            gradebook.db.delete(rest)
        gradebook.db.commit()


def _list(course: Course, joining: Joining, roster: Roster) -> None:
    """Leave the one id in roster.csv, if one of both is in it."""
    if not (course.root / ROSTER).exists():
        return
    listed = {student: roster.entries[student] for student in roster.listed}
    if {joining.old, joining.new} & listed.keys():
        listed.pop(joining.new, None)
        listed[joining.old] = _known(roster, joining)
    leftovers.write(course.root / ROSTER, csv_text(COLUMNS, (astuple(listed[student]) for student in sorted(listed))))


def _known(roster: Roster, joining: Joining) -> Entry:
    """The student, completed with the data of the newer id."""
    old = roster.entries.get(joining.old)
    new = roster.entries.get(joining.new)
    if old is None or new is None:
        return replace(old or new or Entry(joining.old), id=joining.old)
    return replace(old, **{name: getattr(new, name) or getattr(old, name) for name in COLUMNS if name != "id"})
