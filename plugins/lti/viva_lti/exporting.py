"""Sending scores, whichever way they travel: what each command for it has in common."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext

from traitlets import Bool

from viva.cleaning import plaintext
from viva.commands import plantable
from viva.commands.command import NEEDS_GRADER, VivaCommand
from viva.course.gradebook import agreement, health, journal
from viva.course.grading import busy
from viva.verdict import CourseError
from viva.wording import counted
from viva_lti import scoreplan
from viva_lti.members import Member
from viva_lti.scoreplan import ScorePlan, There, Wishes
from viva_lti.scores import Column, Grades, Result, Score
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
        issuer: str,
        members: Callable[[], list[Member]],
        opened: Callable[[], AbstractContextManager[Grades]],
    ) -> int:
        """Send the scores of some assignments, or of all; ``issuer`` is whose the members' numbers are.

        The course's lock is held to read the course, and never while the network is waited for. Raises CourseError,
        among them PlatformError.
        """
        assignments = self._graded(self.course.chosen(names))
        agreement.require_kept(self.course, assignments)
        documents, host = [], ""
        with nullcontext() if self.dry_run else busy.sending(self.course):
            with self.console.status("reading the members"):
                people = members()
            with opened() as grades:
                host = grades.host
                for assignment in assignments:
                    sent = Sent(self.course, settings.sent, assignment)
                    with self.console.status(f"reading the scores of {assignment}"):
                        there = There.read(grades, issuer, people, sent)
                    documents.append(self._export_one(sent, grades, there, settings))
        self.show_document(system=settings.title.lower(), platform=host, dry_run=self.dry_run, assignments=documents)
        return NEEDS_GRADER if any(document["refused"] for document in documents) else 0

    def _graded(self, names: list[str]) -> list[str]:
        """Those in the gradebook. Raises CourseError when none is."""
        with self.course.gradebook() as gradebook:
            entered = {assignment.name for assignment in gradebook.assignments}
        if graded := [name for name in names if name in entered]:
            return graded
        raise CourseError(f"Not in the gradebook: {plaintext.some(names, 20)}. Run 'viva release' first.")

    def _export_one(self, sent: Sent, grades: Grades, there: There, settings: LmsSettings) -> dict:
        assignment, wishes = sent.assignment, Wishes(self.coursedir.student_id, self.overwrite, self.raw)
        with self.alone(self.dry_run):
            if not self.dry_run:
                journal.require_whole(self.course, assignment)
            health.settle(self.course)
            with self.course.gradebook() as gradebook:
                plan = scoreplan.planned(self.course, gradebook, sent, there, settings, wishes)
        plan.warnings += grades.remarks(plan.existing, plan.scores)
        refused = {} if self.dry_run else self._send(plan, grades, sent)
        self.console.print(plantable.counts(plan))
        table = plantable.people(plan)
        if table.row_count:
            self.console.print(table)
        self._say(*plan.warnings)
        if plan.absent:
            self._say(f"Absent: students who are not in the course on {grades.host}.")
        for user, why in list(refused.items())[: plantable.SHOWN]:
            self._say(f"Not accepted, member {plaintext.line(user)}: {why}")
        count = len(plan.scores) - len(refused)
        if self.dry_run:
            self._say("Nothing was sent. Run the same command without --dry-run to send it.")
        else:
            self._say(f"{assignment}: {counted(count, 'score')} sent to {grades.host}.")
        return {
            "assignment": assignment,
            "column": plan.column,
            "sent": 0 if self.dry_run else count,
            "refused": refused,
            "warnings": plan.warnings,
        } | plantable.document(plan)

    def _send(self, plan: ScorePlan, grades: Grades, sent: Sent) -> dict[str, str]:
        """Send what is planned, one by one; by user why a score did not arrive.

        Raises PlatformError, with how far it came.
        """
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
                try:
                    if why := _sent_one(grades, column, score, plan.there.get(score.user), sent):
                        refused[score.user] = why
                except PlatformError as error:
                    if error.status not in grades.refusals:
                        done = f"{number - len(refused)} of {len(plan.scores)} scores of {plan.assignment} were sent."
                        again = "Run the same command again to send the others."
                        raise PlatformError(f"{done} {error} {again}", error.status) from error
                    refused[score.user] = f"{grades.refusals[error.status]} (status {error.status})."
        return refused


def _sent_one(grades: Grades, column: Column, score: Score, before: Result | None, sent: Sent) -> str:
    """Read, compare, send, read again; why the score is not there then, empty where it is. Raises PlatformError."""
    now = grades.present(column, score.user)
    if _state(now) != _state(before):
        return "somebody changed this score there at the same time; run the same command again to see it."
    sent.note(column.id, score, done=False)
    after = grades.send(column, score)
    if not scoreplan.has(after, score.points, score.maximum):
        return "the score was sent, but the column shows another one; run the same command again to see it."
    sent.note(column.id, score, done=True)
    return ""


def _state(result: Result | None) -> tuple:
    """What is there; nothing is the same as an entry without a score."""
    return () if result is None or result.is_empty else result.state
