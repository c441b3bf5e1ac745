"""A corrected assignment over graded submissions: who changes, and why.

Theory of operation. A regrade does four things to a course: it looks at what stands (scores in the gradebook,
results of the checks), releases the source as it is now, grades again what was graded before, and looks once more.
``--what-if`` does the same to a *shadow*: a copy of the gradebook and of the results in a temporary folder, with
release/ and autograded/ in that folder too, while source/ and submitted/ are read where they are. Both ways run the
same code, so that what is applied is what the what-if said.

``regrades.jsonl`` beside the gradebook is only ever added to, in lines of JSON:

    {"event": "begun", "assignment": "ps3_scaled_attention", "at": "2026-09-21T09:00:00+00:00",
     "tests": {"scaled_attention/test_permuted": "the text of the cell, hidden lines included"},
     "pages": {"scaled_attention": [["test_permuted", "the text of the cell as students got it"]]},
     "before": {"demo-01": {"score": 12.0, "late": 0.0, "handed_in": "2026-09-14 10:00:00", "cells": {
         "scaled_attention/test_permuted": {"auto": 3.0, "manual": null, "waits": false,
          "checks": {"the rows sum to one": {"earned": 0, "points": 2, "verdict": "failed", "reason": "..."}}}}}}}
    {"event": "changed", "assignment": "ps3_scaled_attention", "at": "...", "student": "demo-01",
     "notebook": "scaled_attention", "cell": "test_permuted", "check": "the rows sum to one",
     "old": 0, "new": 2, "why": "it passes now; before: failed: Row 0 sums to 3."}
    {"event": "ended", "assignment": "ps3_scaled_attention", "at": "...", "submissions": 24, "changed": 1}

A line "begun" without "ended" is a regrade that was stopped; the next one of that assignment counts from its "before",
and from what stands now for who was graded since.
"""

from __future__ import annotations

import contextlib
import copy
import json
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass

from traitlets.config import Config

from viva import editions, wording
from viva.course.course import Course
from viva.course.examining.autograde import now
from viva.course.gradebook import agreement, health, releases
from viva.course.gradebook.results import Results, add_lines
from viva.course.grading import batch
from viva.course.grading.remote import RemoteGraders
from viva.course.regrade.changes import Change, changes_of, suspects
from viva.course.regrade.edition import SAME, Edition
from viva.course.regrade.trialcopy import LOG, shadow
from viva.course.releasing import contract
from viva.course.releasing.release import release
from viva.course.releasing.variants import FOLDER, is_on
from viva.record import CheckResult
from viva.submission.files import timestamp
from viva.submission.submission import Ending, Submission
from viva.verdict import CourseError, SubmissionError


@dataclass(frozen=True)
class Comparison:
    """The results after a regrade beside those before it."""

    changes: list[Change]
    look_again: list[str]
    """The manual grades that a grader should check again."""
    suspects: list[str]
    """A sentence for each check that several passed and nobody passes any more."""


class Regrade:
    """One assignment, graded again with its source as it is now: release, grade, finish, in this order.

    Raises CourseError when the assignment was not released, or nothing of it was graded.
    """

    def __init__(self, course: Course, assignment: str, config: Config) -> None:
        self.course, self.assignment, self.config = course, assignment, copy.deepcopy(config)
        self.config.Autograde.force = True
        self.log = Results.of(course.directory).path.with_name(LOG)
        agreement.require_kept(course, [assignment])
        health.require(course)
        releases.notebooks(course, assignment)
        self.before, self.edition = self._scores(), Edition.of(course, assignment)
        self.contracts = editions.place_of(course.directory, assignment)
        self.contract = editions.current(self.contracts)
        self.older = contract.older(course, assignment, Results.of(course.directory).read())
        if not self.before:
            raise CourseError(
                f"No submission of {assignment} was graded yet. Run 'viva release {assignment}' to release a "
                "correction."
            )
        if stopped := self._stopped():
            self.before |= stopped["before"]
            self.edition = Edition(stopped["tests"], stopped.get("pages"))
        self.resumed = stopped["at"] if stopped else ""

    def submissions(self) -> list[Submission]:
        """The submissions to grade again: those that were graded and still exist."""
        return [
            submission for submission in self.course.submissions([self.assignment]) if submission.student in self.before
        ]

    def remarks(self) -> list[str]:
        """A sentence for each submission that is gone or was submitted again, and for those that nobody graded yet, or
        that an older release graded."""
        submissions = {submission.student: submission for submission in self.course.submissions([self.assignment])}
        students = submissions.keys()
        gone = [
            f"{student}: the submission is missing in {self.course.path('submitted', self.assignment, student)}; "
            "the old score is kept."
            for student in sorted(self.before.keys() - students)
        ]
        new = len(students - self.before.keys())
        if self.older:
            gone.append(self.older)
        for student in sorted(students & self.before.keys()):
            try:
                when = timestamp.of(submissions[student])
            except SubmissionError:  # grading says so
                continue
            if when and str(when) != self.before[student]["handed_in"]:
                gone.append(
                    f"{student}: submitted again after grading, so some changes may come from the new submission."
                )
        return gone + (
            [
                f"Not included, because never graded: {wording.counted(new, 'submission')}. To grade these, run: "
                f"viva grade {self.assignment}"
            ]
            if new
            else []
        )

    def release(self, passed: Callable[[str], object] = lambda step: None) -> list[str]:
        """Release the source; sentences that say what changes, and whether students must fetch again.

        ``passed`` is called with each step. Raises what ``release`` does; a shadow goes first, so that nothing was
        changed then.
        """
        with shadow(self.course, self.assignment, self.config) as (course, config):
            release(course, self.assignment, config=config)
        if not self.resumed:
            self._say(("begun", asdict(self.edition) | {"before": self.before}))
        passed("the old scores are in the log")
        release(self.course, self.assignment, config=self.config)
        passed("the release")
        sentences = self.edition.sentences(Edition.of(self.course, self.assignment), self.assignment)
        new = editions.current(self.contracts)
        if self.contract and new and new.ground != self.contract.ground and sentences[-1] == SAME:
            sentences.append("A solution, read-only cells or files changed, so scores can change.")
        if is_on(self.course, self.assignment):
            sentences.append(f"To update the copies in {FOLDER}/, run: viva release {self.assignment} --variants")
        return sentences

    def grade(
        self,
        workers: int | None = None,
        tell: Callable[[str], object] = print,
        remote: RemoteGraders | None = None,
    ) -> Iterator[Ending]:
        """Grade again as batch.autograde does; the caller is ``alone`` with the course."""
        return batch.grade(
            self.course, self.submissions(), config=self.config, workers=workers, remote=remote, tell=tell
        )

    def finish(self, keep: Callable[[Comparison], object] = lambda comparison: None) -> Comparison:
        """Mark what a grader should look at again, ``keep`` the comparison, and write the log.

        Its end is in the log last: who was stopped before that compares with the same scores again.
        """
        after, now_out = self._scores(), Edition.of(self.course, self.assignment)
        look_again, renamed = self._mark(after, now_out), self.edition.renamed(now_out)
        students = sorted(self.before.keys() & after.keys())
        changes = [
            change
            for student in students
            for change in changes_of(student, self.before[student], after[student], renamed)
        ]
        ended = {"submissions": len(students), "changed": len({change.student for change in changes})}
        compared = {submission.student for submission in self.submissions()} & after.keys()
        before, after = ({student: scores[student] for student in compared} for scores in (self.before, after))
        comparison = Comparison(changes, look_again, suspects(before, after))
        keep(comparison)
        self._say(*(("changed", asdict(change)) for change in changes), ("ended", ended))
        return comparison

    def _scores(self) -> dict[str, dict]:
        """By student, the score and the results of the cells."""
        records, scores = Results.of(self.course.directory).read(), {}
        with self.course.gradebook() as gradebook:
            for submission in gradebook.assignment_submissions(self.assignment):
                student, cells = submission.student_id, {}
                record = records.get((self.assignment, student))
                books = record.notebooks if record else {}
                for notebook in submission.notebooks:
                    results = books[notebook.name].checks if notebook.name in books else {}
                    for grade in notebook.grades:
                        checks = {result.title: _kept(result) for result in results.get(grade.name, [])}
                        cell = {"auto": grade.auto_score, "manual": grade.manual_score, "checks": checks}
                        cells[f"{notebook.name}/{grade.name}"] = cell | {"waits": bool(grade.needs_manual_grade)}
                late = submission.late_submission_penalty or 0.0
                score = max(0.0, submission.score - late)
                handed_in = str(submission.timestamp) if submission.timestamp else ""
                scores[student] = {"score": round(score, 9), "late": round(late, 9), "handed_in": handed_in}
                scores[student]["cells"] = cells
        return scores

    def _mark(self, after: dict[str, dict], now_out: Edition) -> list[str]:
        """Mark a manual grade for a grader if its test or the test's result changed, and only then.

        The writer marks every grade given by hand, as nbgrader does; those that nothing happened to are put back.
        """
        marked = []
        with self.course.gradebook() as gradebook:
            for submission in gradebook.assignment_submissions(self.assignment):
                before = self.before.get(submission.student_id, {"cells": {}})["cells"]
                for notebook in submission.notebooks:
                    for grade in notebook.grades:
                        cell = f"{notebook.name}/{grade.name}"
                        if grade.manual_score is None or cell not in before:
                            continue
                        old, new = before[cell], after[submission.student_id]["cells"][cell]
                        again = self.edition.tests_otherwise(now_out, cell) or _earned(new) != _earned(old)
                        waited = old["waits"] and old["manual"] == grade.manual_score
                        if self._submitted_again(submission.student_id, after) and not new["checks"]:
                            waited = new["waits"]  # a written answer that is not the same
                        grade.needs_manual_grade = again or waited
                        if again:
                            points = f"{grade.manual_score:g} of {wording.counted(grade.cell.max_score, 'point')}"
                            marked.append(f"{submission.student_id}: {grade.name} ({points})")
            gradebook.db.commit()
        return marked

    def _submitted_again(self, student: str, after: dict[str, dict]) -> bool:
        """Whether this regrade is the first that saw a student's submission."""
        return self.before[student]["handed_in"] != after[student]["handed_in"]

    def _stopped(self) -> dict | None:
        """The line with which a regrade of this assignment began that did not end."""
        begun = None
        if self.log.exists():
            for line in self.log.read_text(encoding="utf-8", errors="replace").splitlines():
                with contextlib.suppress(ValueError):
                    event = json.loads(line)
                    if event.get("assignment") == self.assignment:
                        begun = {"begun": event, "ended": None}.get(event["event"], begun)
        return begun

    def _say(self, *events: tuple[str, dict]) -> None:
        """Add lines to the log, all at once: the log has all changes of a regrade or none."""
        common = {"assignment": self.assignment, "at": now()}
        add_lines(self.log, (json.dumps({"event": event} | common | details).encode() for event, details in events))


def _kept(result: CheckResult) -> dict[str, object]:
    """The fields of a check that are compared and reported."""
    fields = {"earned": result.earned, "points": result.points, "verdict": str(result.verdict)}
    return fields | {"reason": wording.reason(result)} | ({"undone": True} if result.undone else {})


def _earned(cell: dict) -> tuple:
    """The results of a cell, without the titles of its checks, which may have changed."""
    return cell["auto"], sorted(check["earned"] for check in cell["checks"].values())
