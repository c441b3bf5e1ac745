"""The changes that collecting makes to each student's submission: first planned, then written.

Theory of operation. Every attempt that ever came is a row of the ledger. What lies in ``submitted/`` and is in no row,
such as what nbgrader's exchange brought, becomes one. Of a student's rows the newest counts, unless --attempt said
otherwise, and its files go to ``submitted/``; those of all others to ``attempts/``. What lies where is read from the
disk, so that a command which was killed is finished by the next.
"""

from __future__ import annotations

import functools
import re
import shutil
import tempfile
from collections import defaultdict
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
from viva_term.archives.sendermatching import Match

NEWEST, FIRST = "newest", "first"


class Status(StrEnum):
    """What collecting does to a student's submission."""

    NEW = "new"
    NEWER = "newer"
    """Another attempt counts now."""
    BESIDE = "not counted"
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

    def of_others(self, attempt: Attempt, students: set[str]) -> list[Row]:
        """The rows of an attempt that came before, and was somebody else's then."""
        rows = self._by_sender.get((cell(attempt.source), attempt.digest), [])
        return [row for row in rows if row.student_id not in students]

    @functools.cached_property
    def _by_sender(self) -> dict[tuple[str, str], list[Row]]:
        """What came before, by the sender and the hash of its files."""
        index = defaultdict(list)
        for row in (row for rows in self.ledger.rows.values() for row in rows):
            index[row.sender, row.sha256].append(row)
        return index

    def plan(self, student: str, attempts: list[tuple[Attempt, Match]]) -> Plan:
        """What attempts, each with what its sender was found to be, do to a submission; nothing is written."""
        if problem := self._problem(student):
            return Plan(student, Status.REFUSED, notes=[problem])
        folder, before = self.place(student), self.ledger.rows.get(student, [])
        current = digest_in(folder) if folder.is_dir() else None
        plan = Plan(student, Status.UNCHANGED, [replace(row) for row in before])
        if current is not None and current not in {row.sha256 for row in before} | {
            pair.digest for pair, _ in attempts
        }:
            # It came in another way. It is older than what comes now, unless its time tells otherwise.
            when, text = timestamp(folder / TIMESTAMP, self.course.zones), cell(text_of(folder / TIMESTAMP))
            row = self._new_row(plan, timestamp=when, sha256=current, told=text)
            row.attempt = self._written_before(plan, current) or row.attempt
            plan.rows.append(row)
        for attempt, match in sorted(attempts, key=lambda pair: pair[0].rank):
            self._enter(plan, attempt, match, current)
        plan.current = _lying(plan.rows, current)
        self._choose(plan)
        self._judge(plan, before, current)
        return plan

    def _problem(self, student: str) -> str:
        """Why nothing can be written for a student; empty when it can."""
        target = self.place(student)
        if "/" in student or student.startswith(".") or name_problem(student):
            return f"{plaintext.quoted(student)} is not a valid folder name; nothing was collected for this student."
        for folder in (target, target.parent):
            if folder.name in (student, self.assignment) and folder.is_symlink():
                return f"{folder} is a link, and links are not followed; nothing was collected for '{student}'."
        if target.exists() and not target.is_dir():
            return f"{target} is not a folder; move it away, then collect again."
        return ""

    def _new_row(self, plan: Plan, **values: str) -> Row:
        numbers = [row.attempt for row in plan.rows]
        folder = self.ledger.folder / plan.student
        numbers += [int(path.name) for path in folder.iterdir() if path.name.isdecimal()] if folder.is_dir() else []
        return Row(plan.student, max(numbers, default=0) + 1, **values)

    def _enter(self, plan: Plan, attempt: Attempt, match: Match, current: str | None) -> None:
        """Find the attempt's row, or make one; what is newly known of it is entered."""
        source = cell(attempt.source)
        same = [row for row in plan.rows if row.sha256 == attempt.digest]
        row = next((row for row in same if row.sender == source), None)
        row = row or next((row for row in same if not row.sender), None)
        if row is None:
            row = self._new_row(plan, sha256=attempt.digest)
            row.attempt = self._written_before(plan, attempt.digest) or row.attempt
            if attempt.digest == current and not same and not attempt.moment:
                row.timestamp = timestamp(self.place(plan.student) / TIMESTAMP, self.course.zones)
            plan.rows.append(row)
        row.sender, row.archive, row.group = source, row.archive or cell(attempt.archive), cell(match.group)
        row.by = match.by
        if attempt.moment:
            row.timestamp, row.told = written(attempt.moment), cell(attempt.told)
        plan.files[row.attempt] = attempt.files

    def _written_before(self, plan: Plan, digest: str) -> int:
        """The number under which a command that was killed wrote an attempt; 0 for none."""
        folder, numbers = self.ledger.folder / plan.student, {str(row.attempt) for row in plan.rows}
        for path in sorted(folder.iterdir()) if folder.is_dir() else ():
            if path.name.isdecimal() and path.name not in numbers and digest_in(path) == digest:
                return int(path.name)
        return 0

    def _there(self, plan: Plan) -> list[Row]:
        """The attempts whose files there still are."""
        return [row for row in plan.rows
                if row.attempt in plan.files or row is plan.current or self.ledger.place(row).is_dir()]  # fmt: skip

    def _choose(self, plan: Plan) -> None:
        """Find the attempt that counts."""
        present = self._there(plan)
        by_hand = next((row for row in present if row.counts == BY_HAND), None)
        newest = max(present, key=_rank, default=None)
        plan.row, how = (by_hand, BY_HAND) if by_hand else (newest, YES)
        if plan.row is None or newest is None:
            if self.choice:
                plan.notes.append(f"'{plan.student}': the files of all attempts are missing, so no attempt counts.")
        elif self.choice:
            if self.choice in (NEWEST, FIRST):
                plan.row = newest if self.choice == NEWEST else min(present, key=_rank_of_first)
                how = YES if self.choice == NEWEST else BY_HAND
            elif wanted := [row for row in present if row.attempt == int(self.choice)]:
                plan.row, how = wanted[0], BY_HAND
            else:
                plan.notes.append(f"'{plan.student}' has no attempt {self.choice}; attempt {plan.row.attempt} counts.")
        elif by_hand and newest is not by_hand and newest.attempt in plan.files:
            plan.notes.append(
                f"'{plan.student}': attempt {by_hand.attempt} counts, because you selected it with --attempt. "
                f"Attempt {newest.attempt} is newer. To select the newer one: --attempt={NEWEST} "
                f"--student={plan.student}"
            )
        for row in plan.rows:
            row.counts = how if row is plan.row else ""

    def _judge(self, plan: Plan, before: list[Row], current: str | None) -> None:
        """Say what the plan comes to."""
        if plan.row is None:
            return
        old = {row.attempt: row for row in before}
        earlier = old.get(plan.row.attempt)
        folder = self.place(plan.student)
        if plan.row is plan.current:
            stamp_text = timestamp(folder / TIMESTAMP, self.course.zones)
            changed = earlier is None or earlier.timestamp != plan.row.timestamp
            plan.stamped = changed and moments.read(stamp_text) != plan.row.moment and bool(plan.row.moment)
            if plan.stamped and stamp_text and not moments.read(stamp_text):
                plan.notes.append(
                    f"'{plan.student}': {folder / TIMESTAMP} had the text {plaintext.quoted(stamp_text, 40)}, "
                    f"which is not a clear time. It was replaced by {plan.row.timestamp}."
                )
        if current is None:
            plan.status = Status.NEW
        elif plan.row is not plan.current:
            plan.status = Status.NEWER
        elif any(row.attempt not in old and row is not plan.current for row in plan.rows):
            plan.status = Status.BESIDE
        elif plan.stamped or (earlier and (earlier.timestamp, earlier.group) != (plan.row.timestamp, plan.row.group)):
            plan.status = Status.TIME
        came = [row for row in plan.rows if row.attempt in plan.files and row.attempt not in old]
        if came and not plan.row.sender and plan.row is plan.current:
            when = f", submitted at {plan.row.timestamp}," if plan.row.timestamp else ""
            plan.notes.append(
                f"'{plan.student}': {folder} already has files{when} from another source. They are not older, so "
                f"they count. The collected files were saved as attempt {came[-1].attempt}."
            )
        autograded = self.course.path("autograded", self.assignment, plan.student)
        changes = plan.stamped or (current is not None and plan.row is not plan.current)
        plan.graded = changes and (plan.student in self.graded or autograded.is_dir())

    def write(self, plan: Plan) -> None:
        """Do what was planned for a student; what lies in submitted/ and is to go is kept first."""
        if plan.row is None or plan.status is Status.REFUSED:
            return
        folder = self.place(plan.student)
        for row in plan.rows:
            target = self.ledger.place(row)
            if row is plan.row or target.is_dir():
                continue
            if row is plan.current:
                write_folder(files_in(folder), target, row.timestamp)
            elif row.attempt in plan.files:
                write_folder(plan.files[row.attempt], target, row.timestamp)
        beside = self.ledger.place(plan.row)
        if plan.row is not plan.current:
            write_folder(plan.files.get(plan.row.attempt) or files_in(beside), folder, plan.row.timestamp)
        elif plan.stamped:
            stamp(folder, plan.row.timestamp)
        if beside.is_dir():
            remove(beside)
            if not any(beside.parent.iterdir()):
                beside.parent.rmdir()
        self.ledger.rows[plan.student] = plan.rows


def _lying(rows: list[Row], current: str | None) -> Row | None:
    """The row of what lies in submitted/: of several with the same bytes the one that counts."""
    same = [row for row in rows if row.sha256 == current]
    return next((row for row in same if row.counts), same[-1] if same else None)


def _rank(row: Row) -> tuple:
    moment = row.moment
    return moment is not None, moment.timestamp() if moment else 0.0, row.attempt


def _rank_of_first(row: Row) -> tuple:
    dated, *when = _rank(row)
    return not dated, *when


# A folder that is written whole: built beside its place, and moved there when it is complete.


def write_folder(files: Mapping[str, Path], target_folder: Path, timestamp: str = "") -> None:
    """Copy files to ``target_folder``, with nbgrader's timestamp.txt where a time is given; what was there before goes.

    A command that is killed leaves the old folder, or the new one, or what ``leftovers.finish_builds`` fixes.
    """
    target_folder.parent.mkdir(parents=True, exist_ok=True)
    with stopping.postponed():
        build = Path(tempfile.mkdtemp(prefix=leftovers.BUILD, dir=target_folder.parent))
        try:
            fresh = build / "new"
            fresh.mkdir()
            for name, path in files.items():
                target = fresh.joinpath(*name.split("/"))
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(path, target, follow_symlinks=False)
            if timestamp:
                (fresh / TIMESTAMP).write_text(f"{timestamp}\n", encoding="utf-8")
            leftovers.put(fresh, target_folder)
        finally:
            remove(build)


def stamp(folder: Path, timestamp: str) -> None:
    """Write another time of submission into a folder that is there already."""
    leftovers.write(folder / TIMESTAMP, f"{timestamp}\n")
