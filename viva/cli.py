"""The `viva` command: one subcommand per step of the flow, configured by nbgrader_config.py."""

from __future__ import annotations

import contextlib
import os
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from nbgrader.apps.baseapp import NbGrader, nbgrader_aliases, nbgrader_flags
from nbgrader.converters import BaseConverter, GenerateAssignment, GenerateFeedback
from nbgrader.preprocessors import Execute
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table
from sqlalchemy.exc import DBAPIError
from traitlets import Bool, Int, Unicode, default

import viva
from viva import batch, demo, doctor, export, leftovers, stopping
from viva.adoption import adopt
from viva.auditpage import proven
from viva.autograde import Autograde, Examine
from viva.batch import Outcome, Status
from viva.course import Course
from viva.prove import prove
from viva.record import AGAIN, trouble
from viva.regrade import TOTAL, Change, Regrade, shadow, write_csv
from viva.release import release
from viva.skeleton import write_assignment
from viva.verdict import CourseError, VivaError

FORCE = {"force": ({"BaseConverter": {"force": True}}, "Do it again, also where it was done before.")}
FORCE["f"] = FORCE["force"]
NO_WALL = {"no-wall": ({"Examine": {"no_wall": True}}, "Grade also where student code cannot be walled in.")}
NO_AUDIT = {"no-audit": ({"ReleaseCommand": {"no_audit": True}}, "Release without the audit's proof.")}
WHAT_IF = {"what-if": ({"RegradeCommand": {"what_if": True}}, "Only say what would change; nothing is written.")}
REGRADE_ANYWAY = {"no-audit": ({"RegradeCommand": {"no_audit": True}}, "Release the correction without proof.")}
WORKERS = {"workers": "VivaCommand.workers"}

# Statuses of `viva` itself: 0 done or explained, 1 the grader is needed, 2 the request or the course is at fault.
# 130 stopped by Ctrl-C (128 and the number of the signal); what was finished is kept.
NEEDS_GRADER, BAD_REQUEST = 1, 2


class VivaCommand(NbGrader):
    """A step of the flow. Positional arguments are assignments; none means all of them."""

    version = viva.__version__
    aliases = nbgrader_aliases
    flags = nbgrader_flags
    writes = True
    """Whether the step writes into the course folder."""
    workers = Int(0, min=0, help="Submissions handled at the same time; 0 means one per core.").tag(config=True)

    @default("log_level")
    def _log_level_default(self) -> int:
        return 30

    def initialize(self, argv: list[str] | None = None, root: str = "") -> None:
        super().initialize(argv, root)
        self.course = Course(self.coursedir)
        self.console = Console(soft_wrap=not sys.stdout.isatty())

    def excepthook(self, etype, evalue, tb) -> None:
        sys.__excepthook__(etype, evalue, tb)

    def start(self) -> None:
        super().start()
        with stopping.orderly():
            status = self._try()
        if status:
            self.exit(status)

    def _try(self) -> int:
        """Do the step; the exit status, with a sentence where it is not the step's own."""
        try:
            if self.writes:
                self.course.require_writable()
            with leftovers.temporary_folder():
                return self.run()
        except VivaError as error:
            self._say_error(str(error))
        except KeyboardInterrupt as stopped:
            sentence, status = stopping.sentence(stopped)
            self._say_error(sentence)
            return status
        except DBAPIError as error:
            self._say_error(trouble(error, self.coursedir.db_url))
        except OSError as error:
            name = error.filename or self.course.root
            self._say_error(f"Cannot write or read {name}: {error.strerror}. {AGAIN}")
        return BAD_REQUEST

    def run(self) -> int:
        """Do the step and return the exit status."""
        raise NotImplementedError

    def chosen_assignments(self) -> list[str]:
        """The assignments named on the command line or with --assignment, all when none is named."""
        named = list(self.extra_args) or ([self.coursedir.assignment_id] if self.coursedir.assignment_id else [])
        return self.course.chosen(named)

    def prove(self, assignments: list[str]) -> dict[str, bool]:
        """Audit assignments; which of them passed."""
        no_wall, workers = Examine(config=self.config).no_wall, self.workers or None
        return prove(
            self.course, assignments, config=self.config, console=self.console, no_wall=no_wall, workers=workers
        )

    def watch(self, outcomes: Iterator[Outcome], total: int, title: str) -> list[Outcome]:
        """Collect the outcomes behind a progress bar (no bar when this is not a terminal)."""
        columns = (
            *(TextColumn(title), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TimeRemainingColumn()),
            TextColumn("{task.fields[rate]}  {task.fields[checks]}"),
        )
        with Progress(*columns, console=self.console, disable=not self.console.is_terminal) as progress:
            task = progress.add_task(title, total=total, rate="", checks="")
            collected, checks = [], Counter()
            for outcome in outcomes:
                collected.append(outcome)
                checks.update(outcome.verdicts)
                shown = ", ".join(f"{count} {verdict}" for verdict, count in checks.most_common())
                speed = progress.tasks[task].speed
                progress.update(task, advance=1, checks=shown, rate=f"{60 * speed:.0f} a minute" if speed else "")
        return sorted(collected, key=lambda outcome: (outcome.submission.assignment, outcome.submission.student))

    def report(self, outcomes: list[Outcome], verb: str) -> int:
        """Print a table by assignment and a sentence for each submission that needs one."""
        table = Table("assignment", *(_heading(status, verb) for status in Status))
        table.columns[0].footer = "together"
        counts = Counter((outcome.submission.assignment, outcome.status) for outcome in outcomes)
        for assignment in sorted({outcome.submission.assignment for outcome in outcomes}):
            table.add_row(assignment, *(str(counts[assignment, status] or "") for status in Status))
        self.console.print(table)
        for outcome in outcomes:
            place = f"{outcome.submission.assignment}, {outcome.submission.student}"
            for sentence in filter(None, (outcome.reason, *outcome.notes)):
                self.console.print(f"{place}: {sentence}", markup=False, highlight=False)
        failed = [outcome for outcome in outcomes if outcome.status is Status.FAILED]
        for outcome in failed:
            if outcome.log:
                path = self._write_log(outcome)
                self.console.print(
                    f"The log of {outcome.submission.student} is in {path}", markup=False, highlight=False
                )
        return NEEDS_GRADER if failed else 0

    def say_nothing_handed_in(self) -> None:
        where = self.course.path("submitted", "<assignment>", "<student>")
        self.console.print(f"Nothing was handed in: there is no folder {where}.", markup=False, highlight=False)

    def _write_log(self, outcome: Outcome) -> Path:
        path = self.course.root / "report" / "log" / f"{outcome.submission.assignment}-{outcome.submission.student}.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(outcome.log, encoding="utf-8")
        return path

    def _say(self, sentence: str) -> None:
        self.console.print(sentence, markup=False, highlight=False)

    def _say_error(self, sentence: str) -> None:
        Console(stderr=True, soft_wrap=True).print(sentence, style="bold red", markup=False, highlight=False)


class ReleaseCommand(VivaCommand):
    name = "viva-release"
    description = "Compile assignments that pass their audit into release/ and enter them into the gradebook."
    examples = """
        viva release                        all assignments
        viva release ps3_scaled_attention   one of them
        viva release --no-audit             without proof
    """
    aliases = nbgrader_aliases | WORKERS
    flags = nbgrader_flags | NO_WALL | NO_AUDIT
    no_audit = Bool(False, help="Release also what was not proven.").tag(config=True)

    @default("classes")
    def _classes_default(self) -> list[type]:
        return [*super()._classes_default(), BaseConverter, GenerateAssignment, Execute, Examine]

    def run(self) -> int:
        assignments = self.chosen_assignments()
        unproven = [assignment for assignment in assignments if not proven(self.course, assignment)]
        if self.no_audit:
            refused = set()
            if unproven:
                self.console.print(f"Released without an audit: {', '.join(unproven)}.", highlight=False)
        else:
            refused = {name for name, passed in self.prove(unproven).items() if not passed} if unproven else set()
        self._release([assignment for assignment in assignments if assignment not in refused])
        if refused:
            self.console.print(
                f"Not released: {', '.join(sorted(refused))}. Mend what the audit found, excuse it with a reason in "
                "answers/<assignment>/excused.toml, or override the audit with --no-audit.",
                markup=False,
                highlight=False,
            )
        return NEEDS_GRADER if refused else 0

    def _release(self, assignments: list[str]) -> None:
        table = Table("assignment", "automatic", "by hand", "points")
        for column in table.columns[1:]:
            column.justify = "right"
        for assignment in assignments:
            done = release(self.course, assignment, config=self.config)
            points = done.automatic_points, done.manual_points, done.automatic_points + done.manual_points
            table.add_row(assignment, *(f"{number:g}" for number in points))
            if done.extra_files:
                self.console.print(f"{assignment}: also released: {', '.join(done.extra_files)}", markup=False)
        self.console.print(table)


class NewCommand(VivaCommand):
    name = "viva-new"
    description = "Write a small assignment to start from: a notebook, a right answer, two wrong ones."
    examples = """
        viva new ps9_my_topic    then: viva audit ps9_my_topic
    """

    def run(self) -> int:
        if len(self.extra_args) != 1:
            raise CourseError("Name one new assignment, as in: viva new ps9_my_topic")
        for path in write_assignment(self.course, self.extra_args[0]):
            self.console.print(f"written: {path}", markup=False, highlight=False)
        return 0


class AdoptCommand(VivaCommand):
    name = "viva-adopt"
    description = "Make an existing nbgrader notebook one of this course, and say what its audit will miss."
    examples = """
        viva adopt ~/old/ps1/problem1.ipynb                  into source/ps1/
        viva adopt ~/old/ps1/problem1.ipynb --as=ps9_squares into source/ps9_squares/
    """
    aliases = nbgrader_aliases | {"as": "AdoptCommand.called"}
    called = Unicode("", help="The name of the assignment; by default that of the notebook's folder.").tag(config=True)

    def run(self) -> int:
        if len(self.extra_args) != 1:
            raise CourseError("Name one notebook, as in: viva adopt ~/old/ps1/problem1.ipynb")
        adopted = adopt(self.course, Path(self.extra_args[0]), self.called)
        sentences = [*(f"written: {path}" for path in adopted.written), *adopted.changes]
        if adopted.missing:
            sentences += ["", "Before it passes its audit:", *(f"- {sentence}" for sentence in adopted.missing)]
        sentences += ["", f"Then prove it: viva audit {adopted.assignment}"]
        for sentence in sentences:
            self.console.print(sentence, markup=False, highlight=False)
        return 0


class AuditCommand(VivaCommand):
    name = "viva-audit"
    description = "Prove that right answers earn every point, and that wrong ones, mutants among them, do not."
    examples = """
        viva audit                        all assignments
        viva audit ps3_scaled_attention   one of them; see report/audit/ps3_scaled_attention.html
    """
    aliases = nbgrader_aliases | WORKERS
    flags = nbgrader_flags | NO_WALL

    @default("classes")
    def _classes_default(self) -> list[type]:
        return [*super()._classes_default(), BaseConverter, GenerateAssignment, Execute, Examine]

    def run(self) -> int:
        return 0 if all(self.prove(self.chosen_assignments()).values()) else NEEDS_GRADER


class DemoCommand(VivaCommand):
    name = "viva-demo"
    description = "Write a class of artificial students, drawn from the known answers, into submitted/."
    examples = """
        viva demo                  24 students, all assignments
        viva demo --students=3     a small class
    """
    aliases = nbgrader_aliases | {"students": "DemoCommand.students"}
    students = Int(24, min=1, max=99, help="How many students the demo class has.").tag(config=True)

    def run(self) -> int:
        counts = demo.write_class(self.course, self.chosen_assignments(), self.students)
        for assignment, count in counts.items():
            self.console.print(f"{assignment}: {count} submissions by {self.students} demo students", highlight=False)
        return 0


class GradeCommand(VivaCommand):
    name = "viva-grade"
    description = "Grade submissions automatically; what was graded before and has not changed is left alone."
    examples = """
        viva grade                                     all assignments, all students
        viva grade ps3_scaled_attention                one assignment
        viva grade --student=demo-03 --force           one student, again
    """
    aliases = nbgrader_aliases | WORKERS
    flags = nbgrader_flags | FORCE | NO_WALL

    @default("classes")
    def _classes_default(self) -> list[type]:
        return [*super()._classes_default(), BaseConverter, Autograde, Execute, Examine]

    def run(self) -> int:
        assignments = self.chosen_assignments()
        submissions = self.course.submissions(assignments, self.coursedir.student_id)
        for folder in self.course.strangers():
            self.console.print(f"No assignment of this course: {folder} was left alone.", markup=False, highlight=False)
        if not submissions:
            for assignment in assignments:
                self.course.released_notebooks(assignment)
            self.say_nothing_handed_in()
            return 0
        outcomes = batch.autograde(
            self.course, submissions, config=self.config, workers=self.workers or None, tell=self._say
        )
        collected = self.watch(outcomes, len(submissions), "grading")
        if Examine(config=self.config).no_wall:
            self.console.print(
                "Graded WITHOUT A WALL: student code could read and change your files.", style="bold red"
            )
        return self.report(collected, "graded")


class RegradeCommand(VivaCommand):
    name = "viva-regrade"
    description = "Release a corrected assignment over its graded submissions, grade them again, say who changes."
    examples = """
        viva regrade ps3_scaled_attention --what-if   say who would change, and touch nothing
        viva regrade ps3_scaled_attention             do it; grades and comments given by hand stay
    """
    aliases = nbgrader_aliases | WORKERS
    flags = nbgrader_flags | WHAT_IF | REGRADE_ANYWAY | NO_WALL
    what_if = Bool(False, help="Only say what would change.").tag(config=True)
    no_audit = Bool(False, help="Release also what was not proven.").tag(config=True)

    @default("classes")
    def _classes_default(self) -> list[type]:
        return [*super()._classes_default(), BaseConverter, GenerateAssignment, Autograde, Execute, Examine]

    def run(self) -> int:
        if len(self.extra_args) != 1:
            raise CourseError("Name one assignment, as in: viva regrade ps3_scaled_attention --what-if")
        (assignment,) = self.chosen_assignments()
        self.course.released_notebooks(assignment)
        may = self.what_if or self.no_audit or proven(self.course, assignment) or self.prove([assignment])[assignment]
        if not may:
            self._say(
                f"Not regraded: {assignment} does not pass its audit. Mend what the audit found, see what would "
                "change with --what-if, or override the audit with --no-audit."
            )
            return NEEDS_GRADER
        real = contextlib.nullcontext((self.course, self.config))
        with shadow(self.course, assignment, self.config) if self.what_if else real as (course, config):
            regrade = Regrade(course, assignment, config)
            if regrade.resumed:
                self._say("An earlier regrade was stopped; this one goes on, and compares with what stood before it.")
            for sentence in (*regrade.release(), *regrade.remarks()):
                self._say(sentence)
            total = len(regrade.submissions())
            collected = self.watch(regrade.grade(self.workers or None), total, "grading") if total else []
            changes, marked = regrade.finish()
        status = self.report([replace(outcome, notes=()) for outcome in collected], "graded")
        self._show(changes, len(collected))
        if marked:
            self._say(f"Cells with a grade by hand that a human should look at again: {marked}. The grades stand.")
        path = self.course.root / "report" / "regrade" / f"{assignment}.csv"
        write_csv(changes, path)
        self._say(f"Every change is in {path}.")
        if self.what_if:
            self._say(f"Nothing was touched. To apply it: viva regrade {assignment}")
        else:
            self._say(f"Old and new are in {regrade.log.path}. Now: viva feedback {assignment}")
        return status

    def _show(self, changes: list[Change], total: int) -> None:
        table = Table("student", "cell", "check", "old", "new", "why")
        for change in changes:
            old, new = ("-" if number is None else f"{number:g}" for number in (change.old, change.new))
            table.add_row(*map(escape, (change.student, change.cell, change.check, old, new, change.why)))
        if changes:
            self.console.print(table)
        sums = [change.new - change.old for change in changes if change.check == TOTAL and not change.cell]
        up, down = sum(number > 0 for number in sums), sum(number < 0 for number in sums)
        self._say(
            f"Scores: {up} higher, {down} lower, {total - up - down} the same; "
            f"all together {sum(sums):+g} points."
        )  # fmt: skip

    def _say(self, sentence: str) -> None:
        self.console.print(sentence, markup=False, highlight=False, soft_wrap=True)


class FeedbackCommand(VivaCommand):
    name = "viva-feedback"
    description = "Write a page for each graded submission, for the student to read."
    examples = """
        viva feedback                          all that was graded
        viva feedback ps1_general_attention    one assignment
    """
    aliases = nbgrader_aliases | WORKERS

    @default("classes")
    def _classes_default(self) -> list[type]:
        return [*super()._classes_default(), BaseConverter, GenerateFeedback]

    def run(self) -> int:
        submissions = self.course.submissions(self.chosen_assignments(), self.coursedir.student_id)
        if not submissions:
            self.say_nothing_handed_in()
            return 0
        outcomes = batch.write_feedback(self.course, submissions, config=self.config, workers=self.workers or None)
        return self.report(self.watch(outcomes, len(submissions), "feedback"), "written")


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
        students = [] if self.coursedir.student_id == "*" else self.course.students(self.coursedir.student_id)
        path = self.course.root / self.to
        with self.course.gradebook() as gradebook:
            export.CsvExport(to=str(path), assignment=assignments, student=students).export(gradebook)
            rows = list(export.scores(gradebook, assignments, students))
        self.console.print(_class_table(rows, assignments))
        self.console.print(
            "A score in brackets waits for a grader; * is late. "
            f"{len(rows)} rows are in {path}.", markup=False, highlight=False, soft_wrap=True
        )  # fmt: skip
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


class DoctorCommand(VivaCommand):
    name = "viva-doctor"
    description = "Say what this machine or this course lacks, and the command that mends it."
    examples = """
        viva doctor
    """
    writes = False

    def run(self) -> int:
        sick = False
        for diagnosis in doctor.examine(self.course, self.config):
            mark = "ok      " if diagnosis.healthy else "MISSING " if diagnosis.needed else "optional"
            remedy = "" if diagnosis.healthy else f": {diagnosis.remedy}"
            self.console.print(f"{mark}  {diagnosis.what}{remedy}", markup=False, highlight=False, soft_wrap=True)
            sick |= diagnosis.needed and not diagnosis.healthy
        return NEEDS_GRADER if sick else 0


class Viva(NbGrader):
    name = "viva"
    description = "An autograded course on attention: release, grade, give feedback."
    version = viva.__version__
    subcommands = {
        command.name.removeprefix("viva-"): (command, command.description)
        for command in (
            NewCommand,
            AdoptCommand,
            AuditCommand,
            ReleaseCommand,
            DemoCommand,
            GradeCommand,
            RegradeCommand,
            FeedbackCommand,
            ExportCommand,
            DoctorCommand,
        )
    }

    def start(self) -> None:
        if self.subapp is None:
            print("Usage: viva COMMAND [ASSIGNMENT ...] [OPTIONS]; 'viva COMMAND --help' says more.\n")
            for name, (_, description) in self.subcommands.items():
                print(f"  {name:9}  {description}")
            if self.extra_args:
                print(f"\nThere is no command '{self.extra_args[0]}'.", file=sys.stderr)
            self.exit(BAD_REQUEST if self.extra_args else 0)
        super().start()


def _heading(status: Status, verb: str) -> str:
    return verb if status is Status.DONE else str(status)


def _class_table(rows: list[dict], assignments: list[str]) -> Table:
    table = Table("student", *(name.partition("_")[0] for name in assignments), "total")
    for column in table.columns[1:]:
        column.justify = "right"
    students = list(dict.fromkeys(row["student_id"] for row in rows))
    by_place = {(row["student_id"], row["assignment"]): row for row in rows}
    for student in students:
        cells = [by_place[student, name] for name in assignments]
        table.add_row(student, *map(_score, cells), f"{sum(row['score'] for row in cells):.4g}")
    table.add_section()
    maxima = [max((row["max_score"] for row in rows if row["assignment"] == name), default=0) for name in assignments]
    table.add_row("maximum", *(f"{points:g}" for points in maxima), f"{sum(maxima):g}")
    return table


def _score(row: dict) -> str:
    if row["needs_manual_grade"] == "":
        return "-"
    late = "*" if row["late_submission_penalty"] else ""
    score = f"{row['score']:.4g}{late}"
    return f"({score})" if row["needs_manual_grade"] else score


def main() -> None:
    # nbgrader calls alembic by name; workers are processes, so one thread each is enough for NumPy.
    os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"
    for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(variable, "1")
    Viva.launch_instance()
