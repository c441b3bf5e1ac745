"""How nbgrader's own autograder reads a submission: opened, as `viva grade` opens it.

nbgrader_config.py names this exporter for Autograde, so `nbgrader autograde` and formgrader's button use it.
Each notebook is read twice there: as it was submitted, and, after the first steps, from autograded/.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import IO, Any

from nbconvert.exporters import NotebookExporter
from nbformat import NotebookNode
from nbgrader import converters
from nbgrader.coursedir import CourseDirectory

from viva import clock, wording
from viva.cleaning import plaintext
from viva.course import writtenanswers
from viva.course.course import Course
from viva.course.inbox import Inbox
from viva.course.links import Links
from viva.folder import walk
from viva.submission.files import timestamp
from viva.submission.reading import Opened
from viva.submission.submission import Submission
from viva.submission.work import Work
from viva.verdict import SubmissionError


class RepairingExporter(NotebookExporter):
    """nbconvert's, but a submission is opened as in a batch; the log and the results say what was done."""

    opened: Opened | None = None

    def from_file(self, file_stream: IO, resources: dict | None = None, **kw: Any) -> tuple[Any, dict]:
        """Raises SubmissionError when a submission holds no notebook that can be graded as this one."""
        place = (resources or {}).get("nbgrader", {})
        if getattr(self.parent, "_sanitizing", False):
            return self.from_notebook_node(self._opened(Path(file_stream.name), place), resources, **kw)
        if self.opened is not None:
            work, name = Work.of(resources or {}), place["notebook"]
            work.record.repairs, work.seed = self.opened.repairs[name], self.opened.seeds.get(name)
            work.record.integrity = list(self.opened.integrity[name])
        return super().from_file(file_stream, resources, **kw)

    def _opened(self, path: Path, place: dict) -> NotebookNode:
        course = Course(CourseDirectory(parent=self.parent))
        name = place["notebook"]
        submission = Submission(place["assignment"], place["student"], path.parent, course.zones)
        opened = Inbox.of(course, [submission.assignment]).open(submission)
        if name not in opened.notebooks:
            raise SubmissionError(f"Not graded: {opened.problem or '; '.join(opened.notes)}")
        self.opened = opened
        for sentence in [*opened.notes, *wording.sentences([*opened.repairs[name], *opened.integrity[name]])]:
            self.log.warning("%s: %s", path.name, sentence)
        return opened.notebooks[name]


def _refuse(submission: Submission) -> None:
    """Raise SubmissionError for a link that leads out of the folder, and for what is neither file nor folder."""
    folder = submission.folder.resolve()
    for path in walk(submission.folder):
        name = plaintext.quoted(path.name)
        if path.is_symlink() and not Path(os.path.realpath(path)).is_relative_to(folder):
            raise SubmissionError(
                f"Not graded: the file {name} is a link to a place outside the folder; replace it by the file itself"
            )
        if not path.is_file():
            raise SubmissionError(f"Not graded: {name} is not a regular file; remove or replace it")


def _init_assignment(converter: converters.Autograde, assignment_id: str, student_id: str) -> None:
    """nbgrader's, which copies whatever lies beside a notebook before anything of it is read, and waits for pipes."""
    folder = Path(converter._format_source(assignment_id, student_id))
    submission = Submission(assignment_id, student_id, folder, clock.of_course(converter.config))
    if problem := Links(Course(CourseDirectory(parent=converter))).problem(submission):
        raise SubmissionError(f"Not graded: {problem}")
    _refuse(submission)
    converter.coursedir.get_existing_timestamp = lambda place: timestamp.read(
        Path(place, timestamp.NAME), submission.zones
    )
    _copy_and_enter(converter, assignment_id, student_id)


def _init_destination(converter: converters.Autograde, assignment_id: str, student_id: str) -> bool:
    """nbgrader's, which removes what was graded before; the texts of written answers are needed to compare."""
    course = Course(CourseDirectory(parent=converter))
    place = course.path("autograded", assignment_id, student_id), course.gradebook, assignment_id, student_id
    before = writtenanswers.Before.of(*place)
    converter.viva_before = before
    return _remove_older(converter, assignment_id, student_id)


_remove_older = converters.Autograde.init_destination
converters.Autograde.init_destination = _init_destination
_copy_and_enter = converters.Autograde.init_assignment
converters.Autograde.init_assignment = _init_assignment  # no setting leads there
