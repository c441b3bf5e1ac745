"""The reader of submissions for nbgrader's own autograder: it opens them as `viva grade` does.

nbgrader_config.py names this exporter for Autograde, so `nbgrader autograde` and formgrader's button use it.
Each notebook is read twice there: as it was submitted, and, after the first steps, from autograded/.
"""

from __future__ import annotations

from pathlib import Path
from typing import IO, Any

from nbconvert.exporters import NotebookExporter
from nbformat import NotebookNode
from nbgrader.coursedir import CourseDirectory

from viva import wording
from viva.course import overrides  # noqa: F401  (nbgrader's autograder reads no link)
from viva.course.course import Course
from viva.course.inbox import Inbox
from viva.submission.reading import Opened
from viva.submission.submission import Submission
from viva.submission.work import Work
from viva.verdict import SubmissionError


class RepairingExporter(NotebookExporter):
    """nbconvert's, but it opens a submission as a batch does, and writes repairs into the log and the results."""

    opened: Opened | None = None

    def from_file(self, file_stream: IO, resources: dict | None = None, **kw: Any) -> tuple[Any, dict]:
        """Raises SubmissionError when a submission holds no notebook that can be graded as this one."""
        names = (resources or {}).get("nbgrader", {})
        if getattr(self.parent, "_sanitizing", False):
            return self.from_notebook_node(self._opened(Path(file_stream.name), names), resources, **kw)
        if self.opened is not None:
            work, name = Work.of(resources or {}), names["notebook"]
            work.record.repairs, work.seed = self.opened.repairs[name], self.opened.seeds.get(name)
            work.record.integrity = list(self.opened.integrity[name])
        return super().from_file(file_stream, resources, **kw)

    def _opened(self, path: Path, names: dict) -> NotebookNode:
        course = Course(CourseDirectory(parent=self.parent))
        name = names["notebook"]
        submission = Submission(names["assignment"], names["student"], path.parent, course.zones)
        opened = Inbox.of(course, [submission.assignment]).open(submission)
        if name not in opened.notebooks:
            raise SubmissionError(f"Not graded: {opened.problem or '; '.join(opened.notes)}")
        self.opened = opened
        for sentence in [*opened.notes, *wording.sentences([*opened.repairs[name], *opened.integrity[name]])]:
            self.log.warning("%s: %s", path.name, sentence)
        return opened.notebooks[name]
