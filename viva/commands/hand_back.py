"""Commands that tell what came of it: feedback, report."""

from __future__ import annotations

from nbgrader.apps.baseapp import nbgrader_aliases
from nbgrader.converters import BaseConverter
from traitlets import Bool, Unicode

from viva.commands.command import FORCE, WORKERS, VivaCommand
from viva.pages.feedback import GenerateFeedback, PageExporter, write_feedback
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
        viva report --to=/tmp/report.html      a page elsewhere, also of a course that is read-only
    """
    aliases = nbgrader_aliases | {"server": "ReportCommand.server", "to": "ReportCommand.to"}
    flags = VivaCommand.flags | {
        "anonymous": ({"ReportCommand": {"anonymous": True}}, "Call students by pseudonyms that never change."),
    }
    server = Unicode("http://localhost:8888", help="Where the formgrader runs that the page's links lead to.").tag(
        config=True
    )
    anonymous = Bool(False, help="Call students by pseudonyms.").tag(config=True)
    to = Unicode(help="The page to write, in the course folder unless it says otherwise.").tag(config=True)

    def needs_writing(self) -> bool:
        return not self.is_outside(self.to)

    def run(self) -> int:
        from viva.pages import report  # SciPy and Matplotlib take a second to load

        self.course.settle()
        to = self.target(self.to) if self.to else None
        path, figures = report.write(self.course, self.chosen_assignments(), self.server, self.anonymous, to)
        self.show_document(**figures)
        graded = sum(part["graded"] for part in figures["assignments"])
        self._say(f"{path} says what came of {counted(graded, 'submission')}.")
        waiting = sum(len(reason["rows"]) for part in figures["assignments"] for reason in part["waiting"])
        if waiting:
            needs = f"{counted(waiting, 'notebook')} need{'s' * (waiting == 1)}"
            self._say(f"{needs} a human; the page leads there.")
        return 0
