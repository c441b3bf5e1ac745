"""Sending scores, whichever way they travel: what each command for it has in common."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager

from traitlets import Bool

from viva.cleaning import plaintext
from viva.commands import plantable
from viva.commands.command import VivaCommand
from viva.course.gradebook import agreement, health
from viva.verdict import CourseError
from viva.wording import counted
from viva_lti import scoreplan
from viva_lti.members import Member
from viva_lti.scoreplan import ScorePlan, Wishes
from viva_lti.scores import Column, Grades
from viva_lti.sent import Sent
from viva_lti.settings import LmsSettings
from viva_lti.transport import PlatformError


class ScoresCommand(VivaCommand):
    """A command that can send scores into a learning system's gradebook."""

    flags = VivaCommand.flags | {
        "dry-run": ({"ScoresCommand": {"dry_run": True}}, "Only show what would be sent; send and write nothing."),
        "overwrite": (
            {"ScoresCommand": {"overwrite": True}},
            "Also replace grades that somebody entered or removed in the learning system.",
        ),
        "raw": ({"ScoresCommand": {"raw": True}}, "Send scores without late penalties."),
    }
    dry_run = Bool(False, help="Only show what would be sent.").tag(config=True)
    overwrite = Bool(False, help="Also replace grades that somebody entered or removed there.").tag(config=True)
    raw = Bool(False, help="Send scores without late penalties.").tag(config=True)

    def export(
        self,
        names: list[str],
        settings: LmsSettings,
        members: Callable[[], list[Member]],
        opened: Callable[[], AbstractContextManager[Grades]],
    ) -> int:
        """Send the scores of some assignments, or of all. Raises CourseError, among them PlatformError."""
        assignments = self._graded(self.course.chosen(names))
        documents, host = [], ""
        with self.alone(self.dry_run):
            agreement.require_kept(self.course, assignments)
            health.settle(self.course)
            with self.console.status("reading the members"):
                people = members()
            with opened() as grades:
                host = grades.host
                for assignment in assignments:
                    documents.append(self._export_one(assignment, grades, people, settings))
        self.show_document(system=settings.title.lower(), platform=host, dry_run=self.dry_run, assignments=documents)
        return 0

    def _graded(self, names: list[str]) -> list[str]:
        """Those in the gradebook. Raises CourseError when none is."""
        with self.course.gradebook() as gradebook:
            entered = {assignment.name for assignment in gradebook.assignments}
        if graded := [name for name in names if name in entered]:
            return graded
        raise CourseError(f"Not in the gradebook: {plaintext.some(names, 20)}. Run 'viva release' first.")

    def _export_one(self, assignment: str, grades: Grades, people: list[Member], settings: LmsSettings) -> dict:
        wishes = Wishes(self.coursedir.student_id, self.overwrite, self.raw)
        with self.console.status(f"comparing {assignment}"), self.course.gradebook() as gradebook:
            plan = scoreplan.planned(self.course, gradebook, assignment, grades, people, settings, wishes)
            plan.warnings += grades.remarks(plan.existing, plan.scores)
        refused = {} if self.dry_run else self._send(plan, grades, settings)
        self.console.print(plantable.counts(plan))
        table = plantable.people(plan)
        if table.row_count:
            self.console.print(table)
        self._say(*plan.warnings)
        if plan.absent:
            self._say(f"Absent: students who are not in the course on {grades.host}.")
        for user, why in list(refused.items())[: plantable.SHOWN]:
            self._say(f"Not accepted, member {plaintext.line(user)}: {why}")
        sent = len(plan.scores) - len(refused)
        if self.dry_run:
            self._say("Nothing was sent. Run the same command without --dry-run to send it.")
        else:
            self._say(f"{assignment}: {counted(sent, 'score')} sent to {grades.host}.")
        return {
            "assignment": assignment,
            "column": plan.column,
            "sent": 0 if self.dry_run else sent,
            "refused": refused,
            "warnings": plan.warnings,
        } | plantable.document(plan)

    def _send(self, plan: ScorePlan, grades: Grades, settings: LmsSettings) -> dict[str, str]:
        """Send what is planned; by user why a score was refused. Raises PlatformError, with how far it came."""
        sent = Sent(self.course, settings.sent, plan.assignment)
        refused: dict[str, str] = {}
        column: Column | None = plan.existing
        for score in plan.arrived:
            assert column is not None
            sent.note(column.id, score, done=True)
        if plan.scores and column is None:
            column = grades.make(plan.assignment, plan.maximum)
        with self.console.status("") as status:
            for number, score in enumerate(plan.scores):
                assert column is not None
                status.update(f"sending {plan.assignment}: {number + 1} of {len(plan.scores)}")
                sent.note(column.id, score, done=False)
                try:
                    grades.send(column, score)
                except PlatformError as error:
                    if error.status not in grades.refusals:
                        done = f"{number - len(refused)} of {len(plan.scores)} scores of {plan.assignment} were sent."
                        again = "The same command goes on where it stopped."
                        raise PlatformError(f"{done} {error} {again}", error.status) from error
                    refused[score.user] = f"{grades.refusals[error.status]} (status {error.status})."
                    continue
                sent.note(column.id, score, done=True)
        return refused
