"""What collecting does to each student's submission: planned first, and then written.

Theory of operation. Every attempt that ever came is a row of the ledger. What lies in ``submitted/`` and is in no row,
such as what nbgrader's exchange brought, becomes one. Of a student's rows the newest counts, unless --attempt said
otherwise, and its files go to ``submitted/``; those of all others to ``attempts/``. What lies where is read from the
disk, so that a command which was killed is finished by the next.
"""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path

from viva.cleaning import plaintext
from viva.course.course import Course
from viva.course.gradebook.results import Results
from viva.course.processes import leftovers, stopping
from viva.folder import remove
from viva.submission.files.handin import name_problem
from viva.verdict import CourseError
from viva_term.archives import moments
from viva_term.archives.attempt import TIMESTAMP, Attempt, digest_in, files_in, text_of, timestamp
from viva_term.archives.ledger import BY_HAND, YES, Ledger, Row, cell, written

NEWEST, FIRST = "newest", "first"


class Status(StrEnum):
    """What collecting does to a student's submission."""

    NEW = "new"
    NEWER = "newer"
    """Another attempt counts now."""
    BESIDE = "kept beside"
    """An attempt came that does not count."""
    TIME = "time set"
    """The same files have another time of submission, or another group."""
    UNCHANGED = "unchanged"
    REFUSED = "refused"


@dataclass
class Plan:
    """What is to be done for one student; ``files`` are those of the attempts that came, by number."""

    student: str
    status: Status
    rows: list[Row] = field(default_factory=list)
    row: Row | None = None
    """The attempt that counts."""
    current: Row | None = None
    """The attempt that lies in submitted/."""
    files: dict[int, dict[str, Path]] = field(default_factory=dict)
    stamped: bool = False
    """Whether timestamp.txt is to be written anew."""
    notes: list[str] = field(default_factory=list)
    graded: bool = False
    """Whether what was there before had been graded, and something changes."""


class Collection:
    """Plans and writes what attempts of an assignment do to ``submitted/``."""

    def __init__(self, course: Course, assignment: str, choice: str = "") -> None:
        """``choice`` is what --attempt says. Raises CourseError when that is nothing, or the ledger cannot be read."""
        if choice and choice not in (NEWEST, FIRST) and not re.fullmatch(r"[1-9]\d{0,5}", choice):
            raise CourseError(
                f"--attempt={plaintext.line(choice)} is not an attempt. Write {NEWEST}, {FIRST}, or a number "
                "from the table or from attempts/."
            )
        self.course, self.assignment, self.choice = course, assignment, choice
        self.ledger = Ledger(course, assignment)
        results = Results.of(course.directory).keys()
        self.graded = {student for name, student in results if name == assignment}

    def place(self, student: str) -> Path:
        return self.course.path("submitted", self.assignment, student)

    def known(self, attempt: Attempt, student: str) -> Row | None:
        """The row of an attempt that came before."""
        source = cell(attempt.source)
        return next((row for row in self.ledger.rows.get(student, ())
                     if row.sha256 == attempt.digest and row.sender == source), None)  # fmt: skip

    def plan(self, student: str, attempts: list[tuple[Attempt, str]]) -> Plan:
        """What attempts, each with the name of the group that sent it, do to a submission; nothing is written."""
        if problem := self._problem(student):
            return Plan(student, Status.REFUSED, notes=[problem])
        place, before = self.place(student), self.ledger.rows.get(student, [])
        here = digest_in(place) if place.is_dir() else None
        plan = Plan(student, Status.UNCHANGED, [replace(row) for row in before])
        if here is not None and here not in {row.sha256 for row in before} | {one.digest for one, _ in attempts}:
            # It came in another way. It is older than what comes now, unless its time tells otherwise.
            when, told = timestamp(place / TIMESTAMP, self.course.zones), cell(text_of(place / TIMESTAMP))
            row = self._new_row(plan, timestamp=when, sha256=here, told=told)
            row.attempt = self._written_before(plan, here) or row.attempt
            plan.rows.append(row)
        for attempt, group in sorted(attempts, key=lambda one: one[0].rank):
            self._enter(plan, attempt, group, here)
        plan.current = _lying(plan.rows, here)
        self._choose(plan)
        self._judge(plan, before, here)
        return plan

    def _problem(self, student: str) -> str:
        """Why nothing can be written for a student; empty when it can."""
        place = self.place(student)
        if "/" in student or student.startswith(".") or name_problem(student):
            return f"{plaintext.quoted(student)} is not a valid folder name; nothing was collected for this student."
        for folder in (place, place.parent):
            if folder.name in (student, self.assignment) and folder.is_symlink():
                return f"{folder} is a link, and links are not followed; nothing was collected for '{student}'."
        if place.exists() and not place.is_dir():
            return f"{place} is not a folder; move it away, then collect again."
        return ""

    def _new_row(self, plan: Plan, **values: str) -> Row:
        numbers = [row.attempt for row in plan.rows]
        folder = self.ledger.folder / plan.student
        numbers += [int(one.name) for one in folder.iterdir() if one.name.isdecimal()] if folder.is_dir() else []
        return Row(plan.student, max(numbers, default=0) + 1, **values)

    def _enter(self, plan: Plan, attempt: Attempt, group: str, here: str | None) -> None:
        """Find the attempt's row, or make one; what is newly known of it is entered."""
        source = cell(attempt.source)
        same = [row for row in plan.rows if row.sha256 == attempt.digest]
        row = next((row for row in same if row.sender == source), None)
        row = row or next((row for row in same if not row.sender), None)
        if row is None:
            row = self._new_row(plan, sha256=attempt.digest)
            row.attempt = self._written_before(plan, attempt.digest) or row.attempt
            if attempt.digest == here and not same and not attempt.moment:
                row.timestamp = timestamp(self.place(plan.student) / TIMESTAMP, self.course.zones)
            plan.rows.append(row)
        row.sender, row.archive, row.group = source, row.archive or cell(attempt.archive), cell(group)
        if attempt.moment:
            row.timestamp, row.told = written(attempt.moment), cell(attempt.told)
        plan.files[row.attempt] = attempt.files

    def _written_before(self, plan: Plan, digest: str) -> int:
        """The number under which a command that was killed wrote an attempt; 0 for none."""
        folder, known = self.ledger.folder / plan.student, {str(row.attempt) for row in plan.rows}
        for place in sorted(folder.iterdir()) if folder.is_dir() else ():
            if place.name.isdecimal() and place.name not in known and digest_in(place) == digest:
                return int(place.name)
        return 0

    def _there(self, plan: Plan) -> list[Row]:
        """The attempts whose files there still are."""
        return [row for row in plan.rows
                if row.attempt in plan.files or row is plan.current or self.ledger.place(row).is_dir()]  # fmt: skip

    def _choose(self, plan: Plan) -> None:
        """Find the attempt that counts."""
        there = self._there(plan)
        by_hand = next((row for row in there if row.counts == BY_HAND), None)
        newest = max(there, key=_rank, default=None)
        plan.row, how = (by_hand, BY_HAND) if by_hand else (newest, YES)
        if plan.row is None or newest is None:
            if self.choice:
                plan.notes.append(f"'{plan.student}': the files of all attempts are missing, so none was selected.")
        elif self.choice:
            if self.choice in (NEWEST, FIRST):
                plan.row = newest if self.choice == NEWEST else min(there, key=_rank_of_first)
                how = YES if self.choice == NEWEST else BY_HAND
            elif wanted := [row for row in there if row.attempt == int(self.choice)]:
                plan.row, how = wanted[0], BY_HAND
            else:
                plan.notes.append(f"'{plan.student}' has no attempt {self.choice}; attempt {plan.row.attempt} counts.")
        elif by_hand and newest is not by_hand and newest.attempt in plan.files:
            plan.notes.append(
                f"'{plan.student}': attempt {by_hand.attempt} counts, because --attempt selected it; attempt "
                f"{newest.attempt} is newer. To select it: --attempt={NEWEST} --student={plan.student}"
            )
        for row in plan.rows:
            row.counts = how if row is plan.row else ""

    def _judge(self, plan: Plan, before: list[Row], here: str | None) -> None:
        """Say what the plan comes to."""
        if plan.row is None:
            return
        old = {row.attempt: row for row in before}
        known = old.get(plan.row.attempt)
        place = self.place(plan.student)
        if plan.row is plan.current:
            told = timestamp(place / TIMESTAMP, self.course.zones)
            changed = known is None or known.timestamp != plan.row.timestamp
            plan.stamped = changed and moments.read(told) != plan.row.moment and bool(plan.row.moment)
            if plan.stamped and told and not moments.read(told):
                plan.notes.append(
                    f"'{plan.student}': {place / TIMESTAMP} contained {plaintext.quoted(told, 40)}, which is not a "
                    f"clear time; it was replaced by {plan.row.timestamp}."
                )
        if here is None:
            plan.status = Status.NEW
        elif plan.row is not plan.current:
            plan.status = Status.NEWER
        elif any(row.attempt not in old and row is not plan.current for row in plan.rows):
            plan.status = Status.BESIDE
        elif plan.stamped or (known and (known.timestamp, known.group) != (plan.row.timestamp, plan.row.group)):
            plan.status = Status.TIME
        came = [row for row in plan.rows if row.attempt in plan.files and row.attempt not in old]
        if came and not plan.row.sender and plan.row is plan.current:
            when = f", submitted at {plan.row.timestamp}," if plan.row.timestamp else ""
            plan.notes.append(
                f"'{plan.student}': the files in {place}{when} were not collected by Viva, and are not older. They "
                f"are kept; the collected files are attempt {came[-1].attempt}."
            )
        autograded = self.course.path("autograded", self.assignment, plan.student)
        changes = plan.stamped or (here is not None and plan.row is not plan.current)
        plan.graded = changes and (plan.student in self.graded or autograded.is_dir())

    def write(self, plan: Plan) -> None:
        """Do what was planned for a student; what lies in submitted/ and is to go is kept first."""
        if plan.row is None or plan.status is Status.REFUSED:
            return
        place = self.place(plan.student)
        for row in plan.rows:
            kept = self.ledger.place(row)
            if row is plan.row or kept.is_dir():
                continue
            if row is plan.current:
                write_folder(files_in(place), kept, row.timestamp)
            elif row.attempt in plan.files:
                write_folder(plan.files[row.attempt], kept, row.timestamp)
        beside = self.ledger.place(plan.row)
        if plan.row is not plan.current:
            write_folder(plan.files.get(plan.row.attempt) or files_in(beside), place, plan.row.timestamp)
        elif plan.stamped:
            stamp(place, plan.row.timestamp)
        if beside.is_dir():
            remove(beside)
            if not any(beside.parent.iterdir()):
                beside.parent.rmdir()
        self.ledger.rows[plan.student] = plan.rows


def _lying(rows: list[Row], here: str | None) -> Row | None:
    """The row of what lies in submitted/: of several with the same bytes the one that counts."""
    found = [row for row in rows if row.sha256 == here]
    return next((row for row in found if row.counts), found[-1] if found else None)


def _rank(row: Row) -> tuple:
    moment = row.moment
    return moment is not None, moment.timestamp() if moment else 0.0, row.attempt


def _rank_of_first(row: Row) -> tuple:
    dated, *when = _rank(row)
    return not dated, *when


# A folder that is written whole: built beside its place, and moved there when it is complete.


def write_folder(files: Mapping[str, Path], place: Path, timestamp: str = "") -> None:
    """Copy files to ``place``, with nbgrader's timestamp.txt where a time is given; what was there before goes.

    A command that is killed leaves the old folder, or the new one, or what ``leftovers.finish_builds`` fixes.
    """
    place.parent.mkdir(parents=True, exist_ok=True)
    with stopping.postponed():
        build = Path(tempfile.mkdtemp(prefix=leftovers.BUILD, dir=place.parent))
        try:
            fresh = build / "new"
            fresh.mkdir()
            for name, path in files.items():
                target = fresh.joinpath(*name.split("/"))
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(path, target, follow_symlinks=False)
            if timestamp:
                (fresh / TIMESTAMP).write_text(f"{timestamp}\n", encoding="utf-8")
            if os.path.lexists(place):
                (build / "old").mkdir()
                place.rename(build / "old" / place.name)
            fresh.rename(place)
        finally:
            if not os.path.lexists(place) and (old := build / "old" / place.name).exists():
                old.rename(place)
            try:
                build.rmdir()  # mostly nothing is left in it
            except OSError:
                remove(build)


def stamp(place: Path, timestamp: str) -> None:
    """Write another time of submission into a folder that is there already."""
    leftovers.write(place / TIMESTAMP, f"{timestamp}\n")
