"""The command that grades again after an assignment was corrected."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from nbgrader.apps.baseapp import nbgrader_aliases
from nbgrader.converters import BaseConverter, GenerateAssignment
from nbgrader.preprocessors import Execute
from rich.table import Table
from traitlets import Bool

from viva.cleaning import plaintext
from viva.commands.command import NEEDS_GRADER, NO_SANDBOX, WORKERS, VivaCommand, documents
from viva.commands.terminal import shortened
from viva.course.examining.autograde import Autograde, Examine
from viva.course.gradebook import journal, releases
from viva.course.grading import remote
from viva.course.regrade.changes import TOTAL, Change, grouped, write_csv
from viva.course.regrade.regrading import Comparison, Regrade
from viva.course.regrade.trialcopy import shadow
from viva.course.releasing import contract, proof
from viva.submission.submission import Ending
from viva.verdict import CourseError
from viva.wording import folded

MOST_NAMES = 20
"""The number of students in a row of a regrade's table."""
VERBOSE = {
    "verbose": ({"RegradeCommand": {"verbose": True}}, "Print a row for each student and check, with the reason.")
}
WHAT_IF = {"what-if": ({"RegradeCommand": {"what_if": True}}, "Only show what would change; write nothing.")}
REGRADE_ANYWAY = {"no-audit": ({"RegradeCommand": {"no_audit": True}}, "Release the correction without an audit.")}


def _untold(step: str) -> None:
    """Of a trial nobody is told."""


def _noted(outcomes: Iterator[Ending], passed: Callable[[str], object]) -> Iterator[Ending]:
    """Each submission that was graded again, also as a step that passed."""
    for outcome in outcomes:
        passed(f"the submission of {outcome.submission.student}")
        yield outcome


class RegradeCommand(VivaCommand):
    name = "viva-regrade"
    arguments = "ASSIGNMENT"
    description = "Release a corrected assignment, grade its submissions again, and list changed scores."
    examples = """
        viva regrade ps3_scaled_attention --what-if             list scores that would change; write nothing
        viva regrade ps3_scaled_attention --what-if --verbose   the same, with every reason
        viva regrade ps3_scaled_attention                       do it; manual grades and comments are kept
    """
    aliases = nbgrader_aliases | WORKERS | remote.aliases()
    flags = VivaCommand.flags | WHAT_IF | REGRADE_ANYWAY | NO_SANDBOX | VERBOSE | remote.flags()
    what_if = Bool(False, help="Only show what would change.").tag(config=True)
    verbose = Bool(False, help="Print every change.").tag(config=True)
    no_audit = Bool(False, help="Also release an assignment that failed its audit.").tag(config=True)
    settings = (BaseConverter, GenerateAssignment, Autograde, Execute, Examine, *remote.settings())

    def stays_outside(self) -> bool:
        """--what-if works in a copy of the course."""
        return self.what_if

    def run(self) -> int:
        if len(self.extra_args) != 1:
            raise CourseError("Name one assignment, as in: viva regrade ps3_scaled_attention --what-if")
        (assignment,) = self.chosen_assignments()
        releases.notebooks(self.course, assignment)
        if not (
            self.what_if
            or self.no_audit
            or contract.is_as_released(self.course, assignment)  # who released it decided about the audit
            or proof.stands(self.course, assignment)
            or proof.prove(self.course, [assignment], self.config, self.console, self.workers or None)[assignment]
        ):
            self._say(
                f"Nothing was graded: {assignment} does not pass its audit. Fix the errors, or list the scores "
                "that would change with --what-if, or grade without the audit: --no-audit."
            )
            return NEEDS_GRADER
        with shadow(self.course, assignment, self.config) if self.what_if else self.alone() as trial:
            course, config = trial if isinstance(trial, tuple) else (self.course, self.config)
            graders, regrade = remote.chosen(config), Regrade(course, assignment, config)
            if regrade.resumed:
                then = f"The regrade of {regrade.resumed} was stopped"
                self._say(f"{then}. This run continues it, and compares with the scores before it.")
            intent = journal.Intent("regrade", f"viva regrade {assignment}", {"assignment": assignment}, waits=True)
            passed = _untold if self.what_if else partial(journal.passed, self.course, intent)
            if not self.what_if:
                journal.begin(self.course, intent)
            remarks = [*self._release(regrade, intent, passed), *regrade.remarks()]
            self._say(*folded(remarks))
            total = len(regrade.submissions())
            outcomes = _noted(regrade.grade(self.workers or None, self._say, graders), passed)
            collected = self.watch(outcomes, total, "grading") if total else []
            comparison = regrade.finish(partial(self._keep, assignment, passed=passed))
            if not self.what_if:
                passed("its last messages are in the log")
                journal.end(self.course, intent)
        changes = comparison.changes
        status = self.report(collected, "graded", document=False, notes=False)
        self._show(changes, len(collected))
        self._say(*folded(comparison.suspects))
        if comparison.look_again:
            self._say(
                "Check these manual grades. They were kept, but the test, its result or the points of the question "
                "changed:"
            )
        self._say(*(f"  {sentence}" for sentence in shortened(comparison.look_again)))
        path, writable = self._csv(assignment), self.course.is_writable()
        if not changes:
            where = "No score changes."
            if path.is_file() and not self.what_if:
                where += f" {path} still lists the changes of an earlier regrade."
        elif writable:
            where = f"All changes, with their reasons, are in {path}."
        else:
            where = "The course folder is read-only, so no list was written. --verbose prints every change."
        self._say(where)
        if self.what_if:
            self._say(f"Nothing was changed. To change the scores, run: viva regrade {assignment}")
        else:
            self._say(f"Old and new scores are in {regrade.log}. Now run: viva feedback {assignment}")
        self.show_document(
            assignment=assignment,
            applied=not self.what_if,
            remarks=remarks,
            submissions=documents(collected),
            changes=[vars(change) for change in changes],
            look_again=comparison.look_again,
            suspects=comparison.suspects,
            csv=path if writable else None,
        )
        return status

    def _release(self, regrade: Regrade, intent: journal.Intent, passed: Callable[[str], object]) -> list[str]:
        """Release the correction; one that is refused is not begun. Raises as ``release`` does."""
        try:
            return regrade.release(passed)
        except CourseError:
            if not self.what_if and not regrade.resumed:
                journal.end(self.course, intent)
            raise

    def _csv(self, assignment: str) -> Path:
        return self.course.root / "report" / "regrade" / ("what-if" if self.what_if else ".") / f"{assignment}.csv"

    def _keep(self, assignment: str, comparison: Comparison, passed: Callable[[str], object]) -> None:
        """Write the list of changes; one of an earlier regrade stays where nothing changes."""
        passed("the marks for graders")
        path = self._csv(assignment)
        if self.course.is_writable() and (comparison.changes or self.what_if or not path.is_file()):
            write_csv(comparison.changes, path)
        passed("the list of changes")

    def _show(self, changes: list[Change], total: int) -> None:
        if self.verbose:
            table = Table("student", "cell", "check", "old", "new", "why")
            for change in changes:
                old, new = ("-" if number is None else f"{number:g}" for number in (change.old, change.new))
                table.add_row(change.student, change.cell, change.check, old, new, change.why)
        else:
            table = Table("cell", "check", "change", "students")
            for group in grouped(changes):
                who = f"{len(group.students)}: {plaintext.some(group.students, MOST_NAMES)}"
                table.add_row(group.cell, group.check, group.change, who)
        if changes:
            self.console.print(table)
        sums = [change.gain for change in changes if change.check == TOTAL and not change.cell]
        up, down = sum(number > 0 for number in sums), sum(number < 0 for number in sums)
        self._say(
            f"Scores: {up} higher, {down} lower, {total - up - down} the same; "
            f"{sum(sums):+g} point{'s' * (abs(sum(sums)) != 1)} in total."
        )  # fmt: skip
