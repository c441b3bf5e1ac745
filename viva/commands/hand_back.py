"""Commands that tell what came of it: feedback, report."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from nbgrader.apps.baseapp import nbgrader_aliases
from nbgrader.converters import BaseConverter
from traitlets import Bool, Unicode

from viva.commands.command import FORCE, WORKERS, VivaCommand, not_released
from viva.course.gradebook import agreement
from viva.pages.feedback import GenerateFeedback, PageExporter, write_feedback
from viva.verdict import CourseError
from viva.wording import counted


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
    settings = (BaseConverter, GenerateFeedback, PageExporter)

    def run(self) -> int:
        submissions = self.course.submissions(self.chosen_assignments(), self.coursedir.student_id)
        if not submissions:
            self.say_nothing_handed_in()
            return 0
        agreement.require_kept(self.course, {one.assignment for one in submissions})
        self._say(*self._closed())
        self.course.require_columns()
        self.course.settle()
        outcomes = write_feedback(self.course, submissions, config=self.config, workers=self.workers or None)
        return self.report(self.watch(outcomes, len(submissions), "feedback"), "written")

    def _closed(self) -> Iterator[str]:
        """A sentence where the folders of pages would be closed to everybody else."""
        umask = os.umask(0)
        os.umask(umask)
        if umask & 0o055 == 0o055:
            yield (
                f"The umask is {umask:03o}, so nobody else can enter the folders that are made for pages in "
                f"{self.course.path('feedback', '.')}. If others hand the pages out, type first: umask 022"
            )


class ReportCommand(VivaCommand):
    name = "viva-report"
    description = "Write a page about the class: scores, checks, who needs a human, integrity, similar answers."
    examples = """
        viva report                            report/index.html, all assignments
        viva report ps1_general_attention      one assignment
        viva report --anonymous                report/anonymous.html, with pseudonyms
        viva report --to=/tmp/report           into another folder, as of a course on a read-only disk
    """
    aliases = nbgrader_aliases | {"server": "ReportCommand.server", "to": "ReportCommand.to"}
    flags = VivaCommand.flags | {
        "anonymous": ({"ReportCommand": {"anonymous": True}}, "Call students by pseudonyms that never change."),
    }
    server = Unicode("http://localhost:8888", help="Where the formgrader runs that the page's links lead to.").tag(
        config=True
    )
    anonymous = Bool(False, help="Call students by pseudonyms.").tag(config=True)
    to = Unicode(help="The folder to write it into, in the course folder unless it says otherwise.").tag(config=True)

    def _folder(self) -> Path | None:
        """The folder that was named. Raises CourseError for one that lies nowhere, or is a file."""
        if not self.to:
            return None
        folder = self.course.root / self.to
        if not folder.parent.is_dir() or (folder.exists() and not folder.is_dir()):
            raise CourseError(f"{folder} is no folder that a report can be written into. Name another one with --to.")
        return folder

    def run(self) -> int:
        from viva.pages import report  # SciPy and Matplotlib take a second to load
        from viva.term.people import people_of

        assignments = self.chosen_assignments()
        agreement.require_kept(self.course, assignments)
        future = self.course.unreleased(assignments)
        assignments = [name for name in assignments if name not in future] or assignments
        future = [name for name in future if name not in assignments]
        for reason in list(agreement.unrecorded(self.course, assignments).values())[:1]:
            raise CourseError(reason)
        self.course.settle()
        people, folder = people_of(self.course), self._folder()
        path, figures = report.write(self.course, assignments, self.server, self.anonymous, people, folder, future)
        self.show_document(**figures)
        graded = sum(part["graded"] for part in figures["assignments"])
        self._say(f"{path} says what came of {counted(graded, 'submission')}.")
        if future:
            self._say(not_released(future))
        waiting = sum(len(reason["rows"]) for part in figures["assignments"] for reason in part["waiting"])
        if waiting:
            needs = f"{counted(waiting, 'notebook')} need{'s' * (waiting == 1)}"
            self._say(f"{needs} a human; the page leads there.")
        return 0
