"""The reader of submissions for nbgrader's own autograder: it opens them as `viva grade` does.

nbgrader_config.py names this exporter for Autograde, so `nbgrader autograde` and formgrader's button use it.
Each notebook is read twice there: as it was submitted, and, after the first steps, from autograded/.
"""

from __future__ import annotations

import copy
from pathlib import Path
from typing import IO, Any

from nbconvert.exporters import NotebookExporter
from nbformat import NotebookNode
from nbgrader.coursedir import CourseDirectory
from traitlets.config import Config

from viva import wording
from viva.course.course import Course
from viva.course.examining.autograde import Examine
from viva.course.examining.graders import examination, warm_grader
from viva.course.examining.rehearsals import Rehearsals
from viva.course.gradebook.recording import Expected
from viva.course.grading.inbox import Inbox
from viva.course.releasing import contract
from viva.course.releasing.contract import Contract
from viva.course.source import machine
from viva.course.source.markers import require_usual_hidden
from viva.course.source.timelimit import seconds_of
from viva.folder import SOLVED, fill, walk
from viva.submission.reading import Opened
from viva.submission.submission import Submission
from viva.submission.work import Work, as_text
from viva.verdict import SubmissionError


class RepairingExporter(NotebookExporter):
    """nbconvert's, but it opens a submission as a batch does, and writes repairs into the log and the results."""

    opened: Opened | None = None

    def from_file(self, file_stream: IO, resources: dict | None = None, **kw: Any) -> tuple[Any, dict]:
        """Raises SubmissionError when a submission holds no notebook that can be graded as this one."""
        names = (resources or {}).get("nbgrader", {})
        if getattr(self.parent, "_sanitizing", False):
            return self.from_notebook_node(self._opened(Path(file_stream.name), names), resources, **kw)
        if names:
            # nbconvert copies the resources: a bound method would be copied with the server's whole configuration.
            Work.of(resources or {}).prepare = lambda work, config: self._prepare(names, work, config)
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

    def _prepare(self, names: dict, work: Work, config: Config) -> None:
        """What a batch gives to the steps: a grader, and the examination of the notebook. Raises VivaError."""
        require_usual_hidden(config)
        step, seconds = Examine(config=config), seconds_of(config)
        course, name = Course(CourseDirectory(parent=self.parent)), names["notebook"]
        with course.gradebook() as gradebook:
            expected = Expected.of(gradebook, names["assignment"])
        kept = contract.of(course, names["assignment"], expected, self.log.warning)
        given = machine.provided(config, kept.notebooks, walk(kept.files))
        work.grader = grader = warm_grader(seconds, step.no_sandbox, step.memory, step.budget, given)
        work.data, rehearsals = kept.files, Rehearsals.of(course.directory, names["assignment"])
        texts = expected.locked(name), expected.stubs(name), expected.tests(name)
        self._put_others(kept, course.path("autograded", names["assignment"], names["student"]))
        with contract.speaking_of_source(kept):
            work.examination = examination(kept.notebook(name), grader, *texts, rehearsals, kept.files)

    def _put_others(self, kept: Contract, folder: Path) -> None:
        """Put beside a graded notebook those that it may run or read: helpers, and others of the same student."""
        others = {path.name: path.read_bytes() for path in kept.files.glob("*.ipynb")}
        for path in (kept.files / SOLVED).glob("*.ipynb"):
            if self.opened and path.stem in self.opened.notebooks:
                others[path.name] = as_text(copy.deepcopy(self.opened.notebooks[path.stem])).encode("utf-8", "replace")
        fill(folder / SOLVED, others)
