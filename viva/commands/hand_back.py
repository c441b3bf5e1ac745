"""Commands that tell what came of it: feedback, report, export."""

from __future__ import annotations

import math
from collections import Counter

from nbgrader.apps.baseapp import nbgrader_aliases
from nbgrader.converters import BaseConverter
from rich.console import Console
from rich.markup import escape
from rich.measure import Measurement
from rich.table import Table
from traitlets import Bool, Unicode, default

from viva.cleaning import plaintext
from viva.commands.command import FORCE, WORKERS, VivaCommand
from viva.course.gradebook import export
from viva.course.gradebook.standing import Status
from viva.pages.feedback import GenerateFeedback, PageExporter, write_feedback
from viva.verdict import CourseError

MARKS = ("score", "max_score")
UNLIMITED = 10_000
"""More columns of letters than any screen has."""
SHORT = {Status.MISSING: "-"}
"""How the table of the class calls what takes more than a word."""


class FeedbackCommand(VivaCommand):
    name = "viva-feedback"
    description = "Write a page for each graded submission, for its student; one that has not changed is left alone."
    examples = """
        viva feedback                          all that was graded
        viva feedback ps1_general_attention    one assignment
        viva feedback --force                  also pages that would come out the same
    """
    aliases = nbgrader_aliases | WORKERS
    flags = VivaCommand.flags | FORCE

    @default("classes")
    def _classes_default(self) -> list[type]:
        return [*super()._classes_default(), BaseConverter, GenerateFeedback, PageExporter]

    def run(self) -> int:
        submissions = self.course.submissions(self.chosen_assignments(), self.coursedir.student_id)
        if not submissions:
            self.say_nothing_handed_in()
            return 0
        self.course.require_columns()
        self.course.settle()
        outcomes = write_feedback(self.course, submissions, config=self.config, workers=self.workers or None)
        return self.report(self.watch(outcomes, len(submissions), "feedback"), "written")


class ReportCommand(VivaCommand):
    name = "viva-report"
    description = "Write a page about the class: scores, checks, who needs a human, integrity, similar answers."
    examples = """
        viva report                            report/index.html, all assignments
        viva report ps1_general_attention      one assignment
        viva report --anonymous                report/anonymous.html, with pseudonyms
    """
    aliases = nbgrader_aliases | {"server": "ReportCommand.server"}
    flags = VivaCommand.flags | {
        "anonymous": ({"ReportCommand": {"anonymous": True}}, "Call students by pseudonyms that never change."),
    }
    server = Unicode("http://localhost:8888", help="Where the formgrader runs that the page's links lead to.").tag(
        config=True
    )
    anonymous = Bool(False, help="Call students by pseudonyms.").tag(config=True)

    def run(self) -> int:
        from viva.pages import report  # SciPy and Matplotlib take a second to load

        self.course.settle()
        path, figures = report.write(self.course, self.chosen_assignments(), self.server, self.anonymous)
        self.show_document(**figures)
        self._say(f"{path} says what came of {sum(part['graded'] for part in figures['assignments'])} submissions.")
        waiting = sum(len(kind["rows"]) for part in figures["assignments"] for kind in part["waiting"])
        if waiting:
            self._say(f"{waiting} notebooks need a human; it leads to each of them.")
        return 0


class ExportCommand(VivaCommand):
    name = "viva-export"
    description = "Write every score to a CSV file and print the class as a table."
    examples = """
        viva export                                grades.csv
        viva export --to=ps1.csv ps1_general_attention
    """
    aliases = nbgrader_aliases | {"to": "ExportCommand.to"}
    to = Unicode("grades.csv", help="The file to write.").tag(config=True)

    def run(self) -> int:
        assignments = self._released(self.chosen_assignments())
        student = self.coursedir.student_id
        path = self.course.root / self.to
        self.course.settle()
        with self.course.gradebook() as gradebook:
            rows = list(export.scores(self.course, gradebook, assignments, student))
        export.write(rows, path)
        for table in _class_tables(rows, assignments, self.console):
            self.console.print(table)
        self.console.print(
            "A score in brackets waits for a grader; * is late; - was not handed in. "
            f"{len(rows)} rows are in {path}.", markup=False, highlight=False, soft_wrap=True
        )  # fmt: skip
        self.show_document(file=path, scores=rows)
        return 0

    def _released(self, assignments: list[str]) -> list[str]:
        """Those that are in the gradebook; a sentence for each that is not, CourseError when none is."""
        released, refusals = [], []
        for assignment in assignments:
            try:
                self.course.released_notebooks(assignment)
            except CourseError as refusal:
                refusals.append(refusal)
            else:
                released.append(assignment)
        if not released:
            raise refusals[0]
        for refusal in refusals:
            self.console.print(str(refusal), markup=False, highlight=False, soft_wrap=True)
        return released


def _class_tables(rows: list[dict], assignments: list[str], console: Console) -> list[Table]:
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
    table = Table("student", *(name.partition("_")[0] for name in assignments), *["total"] * bool(summed))
    table.columns[0].overflow = "fold"  # two students may begin alike
    for column in table.columns[1:]:
        column.justify = "right"
    by_place = {(row["student_id"], row["assignment"]): row for row in rows}
    for student in dict.fromkeys(row["student_id"] for row in rows):
        cells = [by_place[student, name] for name in summed]
        total, counted = (sum(row[key] or 0 for row in cells if row["status"] != Status.EXCUSED) for key in MARKS)
        of = f" of {counted:g}" if any(row["status"] == Status.EXCUSED for row in cells) else ""
        scores = [_score(by_place[student, name]) for name in assignments]
        table.add_row(escape(plaintext.line(student)), *scores, *[f"{total:.4g}{of}"] * bool(summed))
    table.add_section()
    maxima: Counter[str] = Counter()
    for row in rows:
        maxima[row["assignment"]] = max(maxima[row["assignment"]], row["max_score"])
    whole = [f"{sum(maxima[name] for name in summed):g}"] * bool(summed)
    table.add_row("maximum", *(f"{maxima[name]:g}" for name in assignments), *whole)
    return table


def _score(row: dict) -> str:
    if row["score"] is None:
        return SHORT.get(row["status"], row["status"])
    late = "*" if row["seconds_late"] else ""
    score = f"{row['score']:.4g}{late}"
    return f"({score})" if row["needs_manual_grade"] else score
