"""The command that grades."""

from __future__ import annotations

from nbgrader.apps.baseapp import nbgrader_aliases
from nbgrader.converters import BaseConverter
from nbgrader.preprocessors import Execute

from viva.commands.command import CLUSTER, FORCE, INSECURE, NO_WALL, WORKERS, VivaCommand
from viva.course import batch
from viva.course.autograde import Autograde, Examine
from viva.course.cluster.address import Cluster


class GradeCommand(VivaCommand):
    name = "viva-grade"
    description = "Grade submissions automatically; what was graded before and has not changed is left alone."
    examples = """
        viva grade                                     all assignments, all students
        viva grade ps3_scaled_attention                one assignment
        viva grade --student=demo-03 --force           one student, again
        viva grade --cluster=tls://grader:8786         on the workers of a Dask cluster
    """
    aliases = nbgrader_aliases | WORKERS | CLUSTER
    flags = VivaCommand.flags | FORCE | NO_WALL | INSECURE
    settings = (BaseConverter, Autograde, Execute, Examine, Cluster)

    def run(self) -> int:
        assignments = self.chosen_assignments()
        submissions = self.course.submissions(assignments, self.coursedir.student_id)
        self._say(*(f"No assignment of this course: {folder} was left alone." for folder in self.course.strangers()))
        if not submissions:
            for assignment in assignments:
                self.course.released_notebooks(assignment)
            self.say_nothing_handed_in()
            return 0
        self.course.settle()  # a rule that is none is told before a class is graded
        outcomes = batch.autograde(
            self.course, submissions, config=self.config, workers=self.workers or None, tell=self._say
        )
        collected = self.watch(outcomes, len(submissions), "grading")
        if Examine(config=self.config).no_wall:
            self.console.print(
                "Graded WITHOUT A WALL: student code could read and change your files.", style="bold red"
            )
        if Cluster(config=self.config).wanted and Cluster(config=self.config).insecure:
            self.console.print("Graded WITHOUT TLS: others could read hidden tests on the way.", style="bold red")
        status = self.report(collected, "graded")
        graded = [outcome.submission for outcome in collected if outcome.verdicts]
        older = sum(self.course.path("feedback", one.assignment, one.student).is_dir() for one in graded)
        if older:
            self._say(f"In feedback/ are pages for {older} of these, from before. Write them again: viva feedback")
        return status
