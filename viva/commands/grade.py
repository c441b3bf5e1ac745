"""The command that grades."""

from __future__ import annotations

import contextlib
from collections import defaultdict
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from nbgrader.api import MissingEntry
from nbgrader.apps.baseapp import nbgrader_aliases
from nbgrader.converters import BaseConverter
from nbgrader.preprocessors import Execute

from viva.cleaning import plaintext
from viva.commands.command import FORCE, NO_SANDBOX, WORKERS, VivaCommand
from viva.course.database import with_retries
from viva.course.examining.autograde import Autograde, Examine
from viva.course.gradebook import health, releases
from viva.course.grading import batch, remote
from viva.course.regrade import edition
from viva.course.releasing import contract
from viva.course.source import timelimit
from viva.verdict import VivaError

SHOWN = 10
"""The number of misplaced files that are named."""


class GradeCommand(VivaCommand):
    name = "viva-grade"
    description = "Grade submissions automatically; graded submissions that did not change are skipped."
    examples = """
        viva grade                                     all assignments, all students
        viva grade ps3_scaled_attention                one assignment
        viva grade --student=demo-03 --force           one student, again
        viva grade --cluster=tls://grader:8786         on the workers of a Dask cluster
    """
    aliases = nbgrader_aliases | WORKERS | remote.aliases()
    flags = VivaCommand.flags | FORCE | NO_SANDBOX | remote.flags()
    settings = (BaseConverter, Autograde, Execute, Examine, *remote.settings())

    def _left_alone(self) -> Iterator[str]:
        """A sentence for each name under submitted/ that belongs to no assignment."""
        by_name: dict[str, list[Path]] = defaultdict(list)
        for folder in self.course.strangers():
            by_name[folder.name].append(folder)
        for first, *rest in by_name.values():
            remainder = f" and {len(rest)} more with the same name" if rest else ""
            yield f"Skipped, because there is no assignment with this name: {first}{remainder}."
        if loose := self.course.loose():
            where = self.course.path("submitted", "<assignment>", "<student>")
            listed = plaintext.some([plaintext.line(str(path)) for path in loose], SHOWN)
            yield (
                f"Not graded, because these files are not in the folder of a submission: {listed}. Move each into "
                f"{where}."
            )

    def _behind(self, assignments: list[str]) -> Iterator[str]:
        """A sentence for each assignment that was corrected in source/, and not graded by that."""
        for assignment in assignments:
            released, changed = contract.released_when(self.course, assignment)
            cells: list[str] = []
            with contextlib.suppress(VivaError, MissingEntry):  # it cannot be released as it is
                cells = with_retries(partial(edition.corrected, self.course, assignment)) if changed else []
            if changed:
                what = plaintext.some(cells, SHOWN) or "the solution, a text or a file"
                yield (
                    f"{assignment}: graded as released on {released}. In source/, {what} "
                    f"{'are' if len(cells) > 1 else 'is'} different now. To see which scores would change, run: "
                    f"viva regrade {assignment} --what-if"
                )

    def run(self) -> int:
        assignments = self.chosen_assignments()
        submissions = self.course.submissions(assignments, self.coursedir.student_id)
        self._say(*self._left_alone())
        if not submissions:
            for assignment in assignments:
                releases.notebooks(self.course, assignment)
            self.say_nothing_handed_in()
            return 0
        health.settle(self.course)  # a wrong rule is reported before a class is graded
        self._say(*timelimit.remarks(self.config))
        graders = remote.chosen(self.config)
        with batch.alone(self.course, self._say):
            outcomes = batch.grade(
                self.course,
                submissions,
                config=self.config,
                workers=self.workers or None,
                remote=graders,
                tell=self._say,
            )
            collected = self.watch(outcomes, len(submissions), "grading")
        if Examine(config=self.config).no_sandbox:
            self.console.print(
                "Graded WITHOUT A SANDBOX: student code could read and change your files.", style="bold red"
            )
        if graders and graders.insecure:
            self.console.print("Graded WITHOUT TLS: others could read hidden tests on the network.", style="bold red")
        status = self.report(collected, "graded")
        graded = [outcome.submission for outcome in collected if outcome.verdicts]
        self._say(*self._behind(sorted({outcome.submission.assignment for outcome in collected})))
        older = sum(
            self.course.path("feedback", submission.assignment, submission.student).is_dir() for submission in graded
        )
        if older:
            self._say(f"Feedback pages older than the grades: {older}. To update them, run: viva feedback")
        return status
