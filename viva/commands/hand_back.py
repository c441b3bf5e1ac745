"""Commands that show results: feedback, report."""

from __future__ import annotations

import os
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from nbgrader.apps.baseapp import nbgrader_aliases
from nbgrader.converters import BaseConverter
from traitlets import Bool, Unicode

from viva.commands.command import FORCE, WORKERS, VivaCommand, not_released
from viva.course.gradebook import agreement, health, releases
from viva.course.gradebook.results import Results
from viva.course.grading import overview, seen
from viva.course.releasing import contract
from viva.pages.feedback import GenerateFeedback, PageExporter, write_feedback
from viva.submission.submission import Status
from viva.verdict import CourseError
from viva.wording import counted


class FeedbackCommand(VivaCommand):
    name = "viva-feedback"
    description = "Write a feedback page for each graded submission; unchanged pages are skipped."
    examples = """
        viva feedback                          all that was graded
        viva feedback ps1_general_attention    one assignment
        viva feedback --force                  also write pages that did not change
    """
    aliases = nbgrader_aliases | WORKERS
    flags = VivaCommand.flags | FORCE
    settings = (BaseConverter, GenerateFeedback, PageExporter)

    def run(self) -> int:
        submissions = self.course.submissions(self.chosen_assignments(), self.coursedir.student_id)
        if not submissions:
            self.say_nothing_handed_in()
            return 0
        agreement.require_kept(self.course, {submission.assignment for submission in submissions})
        self.tell_of_halves()
        self._say(*self._closed())
        health.require_columns(self.course)
        health.settle(self.course)
        assignments, records = {submission.assignment for submission in submissions}, Results.of(self.coursedir).read()
        self._say(*self._early(assignments))
        for name in sorted(assignments):
            if older := contract.older(self.course, name, records):
                self._say(f"{name}: {older} To see which, run: viva regrade {name} --what-if")
        beside, shown = overview.pages(self.course.root)  # a grader may type while pages are written
        endings = write_feedback(self.course, submissions, config=self.config, workers=self.workers or None)
        collected = self.watch(endings, len(submissions), "feedback")
        there = [ending.submission for ending in collected if ending.status in (Status.DONE, Status.UNCHANGED)]
        pairs = [(submission.assignment, submission.student) for submission in there]
        seen.note_pages(beside, {seen.key_of(*pair): shown[pair] for pair in pairs if pair in shown})
        return self.report(collected, "written")

    def _early(self, assignments: set[str]) -> Iterator[str]:
        """A sentence for each assignment whose deadline is still to come: its hidden tests have called student code."""
        if not self.course.has_gradebook():
            return
        with self.course.gradebook() as gradebook:
            due = {
                assignment.name: assignment.duedate
                for assignment in gradebook.assignments
                if assignment.duedate and assignment.name in assignments
            }
        for name, when in sorted(due.items()):
            if when.replace(tzinfo=UTC) > datetime.now(UTC):
                yield (
                    f"The deadline of {name} is {when:%Y-%m-%d %H:%M} UTC. Publish its pages after that. Before the "
                    "deadline, a student could use a page to find the hidden tests: the next submission can print "
                    "their arguments."
                )

    def _closed(self) -> Iterator[str]:
        """A sentence where the folders of pages would be closed to everybody else."""
        umask = os.umask(0)
        os.umask(umask)
        if umask & 0o055 == 0o055:
            yield (
                f"The umask is {umask:03o}, so other users cannot open the folders of feedback pages in "
                f"{self.course.path('feedback', '.')}. If another user publishes the pages, run first: umask 022"
            )


class ReportCommand(VivaCommand):
    name = "viva-report"
    description = "Write a class report: scores, checks, open grading work, integrity, similar answers."
    examples = """
        viva report                            report/index.html, all assignments
        viva report ps1_general_attention      one assignment
        viva report --anonymous                report/anonymous.html, with pseudonyms
        viva report --to=$HOME/report          into another folder, for example for a read-only course
        viva report --for=dolos ps1            the answers as files that Dolos and JPlag compare
    """
    aliases = nbgrader_aliases | {
        "server": "ReportCommand.server",
        "to": "ReportCommand.to",
        "for": "ReportCommand.tool",
    }
    flags = VivaCommand.flags | {
        "anonymous": (
            {"ReportCommand": {"anonymous": True}},
            "Replace student names by pseudonyms, the same in each report.",
        ),
    }
    server = Unicode("http://localhost:8888", help="The address of formgrader, for the links of the report.").tag(
        config=True
    )
    anonymous = Bool(False, help="Replace student names by pseudonyms.").tag(config=True)
    to = Unicode(help="The folder for the report; a relative path is in the course folder.").tag(config=True)
    tool = Unicode(help="Write the answers for a program that compares them, and no report: dolos.").tag(config=True)

    def _folder(self) -> Path | None:
        """The folder that was named. Raises CourseError for one that lies nowhere, or is a file."""
        if not self.to:
            return None
        folder = self.course.root / self.to
        if not folder.parent.is_dir() or (folder.exists() and not folder.is_dir()):
            raise CourseError(f"A report cannot be written into {folder}. Name another folder with --to.")
        return folder

    def _write_code(self, assignments: list[str]) -> int:
        """Write the answers as files of code. Raises CourseError for another program."""
        from viva.pages import report
        from viva.pages.reporting.codefiles import TOOLS

        if self.tool not in TOOLS:
            raise CourseError(f"--for={self.tool} is not one of: {', '.join(TOOLS)}. JPlag reads the same files.")
        zips = report.write_code(self.course, assignments, self.anonymous, self._folder())
        for path, count in zips.items():
            self._say(f"{path} has the code of {counted(count, 'submission')}.")
        self.show_document(files=[{"path": str(path), "submissions": count} for path, count in zips.items()])
        return 0

    def run(self) -> int:
        if not os.access(os.path.expanduser("~"), os.W_OK):  # Matplotlib would complain, and end with a traceback
            os.environ.setdefault("MPLCONFIGDIR", tempfile.gettempdir())
        from viva.pages import report  # SciPy and Matplotlib take a second to load
        from viva.pages.reporting.findings import people_of

        assignments = self.chosen_assignments()
        agreement.require_kept(self.course, assignments)
        self.tell_of_halves()
        if self.tool:
            return self._write_code(assignments)
        future = releases.unreleased(self.course, assignments)
        assignments = [name for name in assignments if name not in future] or assignments
        future = [name for name in future if name not in assignments]
        for reason in list(agreement.unrecorded(self.course, assignments).values())[:1]:
            raise CourseError(reason)
        health.settle(self.course)
        people, folder = people_of(self.course), self._folder()
        path, figures = report.write(self.course, assignments, self.server, self.anonymous, people, folder, future)
        self.show_document(**figures)
        graded = sum(part["graded"] for part in figures["assignments"])
        self._say(f"{path} summarises {counted(graded, 'submission')}.")
        if future:
            self._say(not_released(future))
        self._say(*(f"{part['name']}: {part['older']}" for part in figures["assignments"] if part["older"]))
        if waiting := sum(_waiting(part["waiting"]) for part in figures["assignments"]):
            needs = f"{counted(waiting, 'notebook')} need{'s' * (waiting == 1)}"
            self._say(f"{needs} a grader. The report has links to them.")
        return 0


def _waiting(reasons: list[dict]) -> int:
    """The number of notebooks of an assignment that need a grader; a row without a notebook is about them all."""
    notebooks: dict[str, set[str]] = defaultdict(set)
    for reason in reasons:
        for row in reason["rows"]:
            notebooks[row["student"]].add(row["notebook"])
    return sum(len(names - {""}) or 1 for names in notebooks.values())
