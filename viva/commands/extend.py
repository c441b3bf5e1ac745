"""The command that gives students more time, or excuses them: extend."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from nbgrader.api import Gradebook
from nbgrader.apps.baseapp import nbgrader_aliases
from rich.table import Table
from traitlets import Bool, Unicode

from viva.cleaning import plaintext
from viva.commands.command import VivaCommand
from viva.commands.deadlines import LateCommand, Reckonings
from viva.course.deadlines import concessions, moment
from viva.course.deadlines.concessions import EXCUSED, EXTENSIONS, Concessions
from viva.course.deadlines.policy import LatePolicy
from viva.course.deadlines.rule import number
from viva.course.gradebook import health, lateness
from viva.verdict import CourseError


@dataclass(frozen=True)
class _Grant:
    """A row of a file that is added, changed or taken away."""

    file: str
    assignment: str
    student: str
    row: dict[str, str] | None


class ExtendCommand(LateCommand):
    name = "viva-extend"
    arguments = "STUDENT ... ASSIGNMENT"
    description = "Give students an extension for an assignment, or excuse them from it; or undo that."
    examples = """
        viva extend demo-07 ps3 --until='2026-10-09 23:59' --reason=ill
        viva extend demo-07 demo-08 ps3 --until='3 days'        after the deadline
        viva extend demo-07 ps3 --excuse --reason='ill until November'
        viva extend demo-07 ps3 --remove                        no extension, not excused
    """
    aliases = nbgrader_aliases | {"until": "ExtendCommand.until", "reason": "ExtendCommand.reason"}
    flags = VivaCommand.flags | {
        "excuse": ({"ExtendCommand": {"excuse": True}}, "The assignment does not count for these students."),
        "remove": ({"ExtendCommand": {"remove": True}}, "Undo an extension or an excuse."),
        "dry-run": ({"ExtendCommand": {"dry_run": True}}, "Only show what would change; write nothing."),
    }
    until = Unicode(help="The new deadline: a time, or a time after the old deadline, as '3 days'.").tag(config=True)
    reason = Unicode(help="The reason; only instructors and graders see it.").tag(config=True)
    excuse = Bool(False, help="Excuse them.").tag(config=True)
    remove = Bool(False, help="Undo it.").tag(config=True)
    dry_run = Bool(False, help="Only show what would change.").tag(config=True)

    def run(self) -> int:
        if len(self.extra_args) < 2 or sum(map(bool, (self.until, self.excuse, self.remove))) != 1:
            raise CourseError(
                "Name students, an assignment, and one of --until, --excuse and --remove, as in: "
                "viva extend demo-07 ps3 --until='2026-10-09 23:59'"
            )
        *students, name = self.extra_args
        (assignment,) = self.course.chosen([name])
        self.require_released()
        health.settle(self.course)
        with self.course.gradebook() as gradebook:
            rules = self.rules(gradebook)
            self._known(gradebook, students)
            before = lateness.reckonings(gradebook.db(), rules)
            due = {entry.name: entry.duedate for entry in gradebook.assignments}.get(assignment)
            extensions = _own_extensions(gradebook, rules)
            grants = self._grants(rules, assignment, students, due and due.replace(tzinfo=UTC), extensions)
            after = lateness.reckonings(gradebook.db(), rules, granted=self._granted(rules, grants, extensions))
        if not self.dry_run:
            with self.alone(), self.course.writing() as gradebook:
                self._write(grants, extensions)
                lateness.settle(gradebook.db())
        self._show(assignment, students, grants, before, after)
        return 0

    def _known(self, gradebook: Gradebook, students: list[str]) -> None:
        """Raises CourseError for a student whom the course does not know."""
        enrolled = self.students(gradebook)
        for student in students:
            if student not in enrolled:
                near = difflib.get_close_matches(student, sorted(enrolled), n=1)
                meant = f" Did you mean {plaintext.quoted(near[0])}?" if near else ""
                raise CourseError(
                    f"There is no student {plaintext.quoted(student)} in this course; nothing was written.{meant}"
                )

    def _grants(
        self, rules: LatePolicy, assignment: str, students: list[str], due: datetime | None, extensions: dict
    ) -> list[_Grant]:
        """The grants to write. Raises CourseError for a time that cannot be read, or that is not later."""
        if self.remove:
            undone = [
                _Grant(name, assignment, student, None)
                for name, rows in self._rows([], extensions).items()
                for student in students
                if (assignment, student) in rows
            ]
            if not undone:
                raise CourseError(
                    f"{', '.join(students)} {'has' if len(students) == 1 else 'have'} no extension or excuse for "
                    f"{assignment}; nothing was written."
                )
            return undone
        row = {"assignment": assignment, "reason": plaintext.line(self.reason)}
        if self.excuse:
            return [_Grant(EXCUSED, assignment, student, row | {"student_id": student}) for student in students]
        if due is None:
            raise CourseError(f"{assignment} has no deadline, so it cannot be extended; nothing was written.")
        until = self._until(rules, due)
        if until <= due:
            raise CourseError(
                f"{moment.local(until, rules.place)} is not after {moment.local(due, rules.place)}, the deadline of "
                f"{assignment} ({rules.zone}); nothing was written."
            )
        row["until"] = f"{moment.local(until, rules.place)} {rules.zone}"
        return [_Grant(EXTENSIONS, assignment, student, row | {"student_id": student}) for student in students]

    def _until(self, rules: LatePolicy, due: datetime) -> datetime:
        try:
            days, rest = divmod(moment.duration(self.until), moment.DAY)
        except CourseError:
            return moment.parse(self.until, rules.place)
        return moment.after_days(due, days, rules.place) + rest

    def _rows(self, grants: list[_Grant], extensions: dict) -> dict[str, dict]:
        """By file, its rows after the grants are written."""
        rows = {name: concessions.rows(self.course.root / name) for name in (EXCUSED, EXTENSIONS)}
        rows[EXTENSIONS] = extensions | rows[EXTENSIONS]
        for grant in grants:
            rows[grant.file].pop((grant.assignment, grant.student), None)
            if grant.row is not None:
                rows[grant.file][grant.assignment, grant.student] = grant.row
        return rows

    def _granted(self, rules: LatePolicy, grants: list[_Grant], extensions: dict) -> Concessions:
        """What counts once the grants are written."""
        rows = self._rows(grants, extensions)
        extended = {pair: moment.parse(row["until"], rules.place) for pair, row in rows[EXTENSIONS].items()}
        return Concessions(extended, {pair: row["reason"] for pair, row in rows[EXCUSED].items()})

    def _write(self, grants: list[_Grant], extensions: dict) -> None:
        rows = self._rows(grants, extensions)
        for name in {grant.file for grant in grants}:
            concessions.write(self.course.root / name, rows[name])

    def _show(
        self, assignment: str, students: list[str], grants: list[_Grant], before: Reckonings, after: Reckonings
    ) -> None:
        table = Table("student", "assignment", "granted", "score now", "score then")
        affected = [(of, who) for of, who in before if who in students and of != assignment]
        rows = []
        for student in students:
            granted = "; ".join(_said(grant) for grant in grants if grant.student == student)
            rows.append((assignment, student, granted or "nothing to undo"))
        rows += [(*pair, "") for pair in affected if _left(before, pair) != _left(after, pair)]
        for of, student, granted in rows:
            scores = _left(before, (of, student)), _left(after, (of, student))
            cells = plaintext.line(student), of, granted or "the free late days are used for other assignments"
            table.add_row(*cells, *scores)
        self.console.print(table)
        paths = ", ".join(str(Path(self.course.root, name)) for name in sorted({grant.file for grant in grants}))
        if self.dry_run:
            self._say("Nothing was written. Run the same command without --dry-run to write it.")
        else:
            self._say(
                f"Written to {paths}; the gradebook was updated. To update existing feedback pages, run: viva feedback"
            )
        self.show_document(
            dry_run=self.dry_run,
            grants=[vars(grant) for grant in grants],
            scores=[
                {"assignment": of, "student": who}
                | {"now": _score(before, (of, who)), "then": _score(after, (of, who))}
                for of, who, _ in rows
            ],
        )


def _own_extensions(gradebook: Gradebook, rules: LatePolicy) -> dict[tuple[str, str], dict[str, str]]:
    """The extensions that the gradebook has of its own, as rows; they move into the file when the first is written."""
    extensions = {}
    for assignment in gradebook.assignments:
        for submission in assignment.submissions:
            if submission.extension and assignment.duedate:
                until = (assignment.duedate + submission.extension).replace(tzinfo=UTC)
                row = {"assignment": assignment.name, "student_id": submission.student_id, "reason": ""}
                row["until"] = f"{moment.local(until, rules.place)} {rules.zone}"
                extensions[assignment.name, submission.student_id] = row
    return extensions


def _said(grant: _Grant) -> str:
    label = "excused" if grant.file == EXCUSED else "extension"
    if grant.row is None:
        return f"{label}: undone"
    return label if grant.file == EXCUSED else f"until {grant.row['until']}"


def _score(reckonings: Reckonings, pair: tuple[str, str]) -> float | None:
    return reckonings[pair].left if pair in reckonings else None


def _left(reckonings: Reckonings, pair: tuple[str, str]) -> str:
    return number(reckonings[pair].left) if pair in reckonings else "-"
