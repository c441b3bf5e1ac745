"""The command that hands scores on: export; and the scores of a class as tables."""

from __future__ import annotations

import math
from collections import Counter
from pathlib import Path

from nbgrader.apps.baseapp import nbgrader_aliases
from rich.console import Console
from rich.measure import Measurement
from rich.table import Table
from traitlets import Bool, Unicode

from viva.cleaning import plaintext
from viva.commands import plantable
from viva.commands.command import VivaCommand, not_released
from viva.commands.terminal import figures, whole
from viva.course.gradebook import agreement, health, releases
from viva.course.grades import export, questions
from viva.course.grades.export import CsvExport
from viva.course.grades.sheetplan import SheetExport, format_of, formats
from viva.course.grades.standing import Status
from viva.verdict import CourseError
from viva.wording import counted


class ExportCommand(VivaCommand):
    name = "viva-export"
    description = "Write all scores to a CSV file or a learning system's file, and print them as a table."
    examples = """
        viva export                                grades.csv
        viva export --as=csv --points=questions    questions.csv, by question and check
        viva export ps1 --as=canvas --into=gradebook.csv --column='Problem set 1 (1234)' --dry-run
        viva export ps1 --as=moodle --into=worksheet.csv --feedback
    """
    aliases = nbgrader_aliases | {
        "as": "ExportCommand.form",
        "to": "ExportCommand.to",
        "into": "SheetExport.into",
        "column": "SheetExport.column",
        "archive": "SheetExport.archive",
        "points": "ExportCommand.points",
    }
    flags = VivaCommand.flags | {
        "dry-run": ({"ExportCommand": {"dry_run": True}}, "Only show what would be written; write nothing."),
        "raw": ({"SheetExport": {"raw": True}}, "Write scores without late penalties."),
        "unfinished": (
            {"SheetExport": {"unfinished": True}},
            "Also write scores of students whose grading is not finished.",
        ),
        "feedback": ({"SheetExport": {"feedback": True}}, "Write the feedback pages as a zip, instead of the scores."),
    }
    form = Unicode("csv", help=f"What to write: {', '.join(formats())}.").tag(config=True)
    to = Unicode(help="The file to write; a relative path is in the course folder.").tag(config=True)
    points = Unicode(help="--points=questions with --as=csv: the points of each question and check.").tag(config=True)
    dry_run = Bool(False, help="Only show what would be written.").tag(config=True)
    settings = (SheetExport,)

    def run(self) -> int:
        exporter = format_of(self.form)
        of_one = issubclass(exporter, SheetExport)
        assignments = self.chosen_assignments()
        agreement.require_kept(self.course, assignments)
        assignments = self._released(assignments)
        self.tell_of_halves()
        if of_one and len(assignments) != 1:
            raise CourseError(
                f"--as={self.form} writes one assignment at a time. Name one of: {', '.join(assignments)}."
            )
        if self.to:
            self.target(self.to)
        self.part = self.coursedir.student_id != "*" and not self.to
        health.settle(self.course)
        if self.points:
            self._write_questions(assignments)
        elif of_one:
            self._write_sheet(assignments[0], exporter(parent=self, to=self.to))
        else:
            self._write_table(assignments, exporter(parent=self))
        return 0

    def _write_table(self, assignments: list[str], exporter: CsvExport) -> None:
        """All scores in one file, and the class on the terminal."""
        if options := sorted(self.cli_config.get("SheetExport", ())):
            raise CourseError(
                f"--{options[0]} works only with a learning system, as in --as=canvas. --as={self.form} always "
                "writes the scores with and without late penalties."
            )
        path = self.target(self.to or exporter.name)
        with self.course.gradebook() as gradebook:
            rows = list(export.scores(self.course, gradebook, assignments, self.coursedir.student_id))
            unchosen = {assignment.name for assignment in gradebook.assignments} - set(assignments)
        if not self.dry_run and not self.part:
            exporter.write(rows, path)
        for table in class_tables(rows, assignments, self.console):
            self.console.print(table)
        alone = f", only of {', '.join(assignments)}" if unchosen and not self.to else ""
        done = f"{counted(len(rows), 'row')} {'are' if len(rows) != 1 else 'is'} in {path}{alone}."
        message = self._unwritten(path) or done
        self._say(f"Brackets: not final. *: late. -: not submitted. {message}")
        self.show_document(file=None if self.part else path, dry_run=self.dry_run, scores=rows)

    def _write_questions(self, assignments: list[str]) -> None:
        """The points by question and check in one file."""
        if self.points != "questions" or self.form != "csv":
            raise CourseError("--points needs a CSV file: --as=csv --points=questions.")
        path = self.target(self.to or questions.NAME)
        with self.course.gradebook() as gradebook:
            header, rows = questions.table(self.course, gradebook, assignments, self.coursedir.student_id)
        if not self.dry_run and not self.part:
            questions.write(path, header, rows)
        columns = len(header) - len(questions.ABOUT)
        done = f"{path} has the points of {counted(len(rows), 'student')} in {columns} columns, without late penalties."
        self._say(self._unwritten(path) or done)
        self.show_document(file=None if self.part else path, dry_run=self.dry_run, columns=header, rows=rows)

    def _write_sheet(self, assignment: str, exporter: SheetExport) -> None:
        """Export one assignment for a learning system, and list what happens to each student's row."""
        with self.console.status(f"reading {assignment}"), self.course.gradebook() as gradebook:
            plan = exporter.plan(self.course, gradebook, assignment, self.coursedir.student_id)
        if not self.dry_run and not self.part:
            plan.save()
        self.console.print(plantable.counts(plan))
        people = plantable.people(plan)
        if people.row_count:
            self.console.print(people)
        self._say(*plan.warnings)
        if plan.absent:
            self._say("Absent: students of the course who are not in the file.")
        self._say(self._unwritten(plan.path) or f"Written: {plan.path}. {plan.following}")
        parts = plantable.document(plan)
        self.show_document(
            file=None if self.part else plan.path,
            system=exporter.key,
            assignment=assignment,
            column=plan.column,
            dry_run=self.dry_run,
            warnings=plan.warnings,
            following=plan.following,
            **parts,
        )

    def _unwritten(self, path: Path) -> str:
        """That nothing was written, and what to do; empty where something was."""
        if self.part:
            return (
                f"Nothing was written, because {path.name} has the scores of the whole class, and --student "
                "selects only some. To write only these scores, name another file with --to."
            )
        return "Nothing was written. Run the same command without --dry-run to write it." if self.dry_run else ""

    def _released(self, assignments: list[str]) -> list[str]:
        """The assignments that are in the gradebook. Raises CourseError when none is.

        A sentence says which were never released, and one of each other assignment that is not in the gradebook.
        """
        released, refusals, future = [], [], set(releases.unreleased(self.course, assignments))
        for assignment in assignments:
            try:
                releases.notebooks(self.course, assignment)
            except CourseError as refusal:
                refusals.append((assignment, refusal))
            else:
                released.append(assignment)
        if not released:
            raise refusals[0][1]
        self._say(*(str(refusal) for assignment, refusal in refusals if assignment not in future))
        if future:
            self._say(not_released([name for name in assignments if name in future]))
        return released


# The scores of a class as tables on a terminal.

MARKS = ("score", "max_score")
UNLIMITED = 10_000
"""More columns of letters than any screen has."""


def class_tables(rows: list[dict], assignments: list[str], console: Console) -> list[Table]:
    """The class as one table, or as several where the screen is too narrow for all of its columns."""
    wide = console.options.update(max_width=UNLIMITED)
    for parts in range(1, len(assignments) + 1):
        count = math.ceil(len(assignments) / parts)
        shares = [assignments[start : start + count] for start in range(0, len(assignments), count)]
        tables = [_class_table(rows, share, assignments if share is shares[-1] else []) for share in shares]
        if all(Measurement.get(console, wide, table).maximum <= console.width for table in tables):
            break
    return tables


def _class_table(rows: list[dict], assignments: list[str], summed: list[str]) -> Table:
    """A column for each of some assignments, and, where some are to be ``summed``, one for their total."""
    numbers = figures(*(name.partition("_")[0] for name in assignments), *(["total"] if summed else []))
    names = {row["student_id"]: _name(row) for row in rows}
    named = any(names.values())  # the rows are in the order of these names
    table = Table(whole("student"), *(["name"] if named else []), *numbers)
    by_place = {(row["student_id"], row["assignment"]): row for row in rows}
    for student in dict.fromkeys(row["student_id"] for row in rows):
        cells = [by_place[student, name] for name in summed]
        total, counted = (sum(row[key] or 0 for row in cells if row["status"] != Status.EXCUSED) for key in MARKS)
        of = f" of {counted:g}" if any(row["status"] == Status.EXCUSED for row in cells) else ""
        scores = [_score(by_place[student, name]) for name in assignments]
        together = _waiting(f"{total:.4g}", any(row["needs_manual_grade"] for row in cells)) + of
        who = [plaintext.line(student), *([names[student]] if named else [])]
        table.add_row(*who, *scores, *([together] if summed else []))
    table.add_section()
    maxima: Counter[str] = Counter()
    for row in rows:
        maxima[row["assignment"]] = max(maxima[row["assignment"]], row["max_score"])
    most = [f"{sum(maxima[name] for name in summed):g}"] if summed else []
    table.add_row("maximum", *([""] if named else []), *(f"{maxima[name]:g}" for name in assignments), *most)
    return table


def _name(row: dict) -> str:
    return plaintext.line(", ".join(filter(None, (row.get("last_name"), row.get("first_name")))))


def _score(row: dict) -> str:
    if row["score"] is None:
        return "-" if row["status"] == Status.MISSING else row["status"]
    late = "*" if row["seconds_late"] else ""
    return _waiting(f"{row['score']:.4g}{late}", row["needs_manual_grade"])


def _waiting(score: str, waits: bool) -> str:
    return f"({score})" if waits else score
