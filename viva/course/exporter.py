"""How nbgrader's own autograder reads a submission: repaired, as `viva grade` reads it.

nbgrader_config.py names this exporter for Autograde, so `nbgrader autograde` and formgrader's button use it.
Each notebook is read twice there: as it was handed in, and, after the first steps, from autograded/.
"""

from __future__ import annotations

from pathlib import Path
from typing import IO, Any

from nbconvert.exporters import NotebookExporter
from nbformat import NotebookNode
from nbgrader.coursedir import CourseDirectory

from viva import wording
from viva.cleaning import plaintext
from viva.course.course import Course
from viva.course.gradebook.record import Expected
from viva.course.links import Links
from viva.course.release import released_notebook
from viva.folder import walk
from viva.record import Note
from viva.submission.cells.places import Released
from viva.submission.cells.repair import Repaired, repair
from viva.submission.files.contents import read_file
from viva.submission.files.salvage import read
from viva.submission.files.sizes import limited
from viva.submission.submission import Submission
from viva.verdict import SubmissionError


class RepairingExporter(NotebookExporter):
    """nbconvert's, but a submitted notebook is repaired as it is read; the log and the results say what was done."""

    repaired: Repaired | None = None
    repairs: list[Note] | None = None

    def from_file(self, file_stream: IO, resources: dict | None = None, **kw: Any) -> tuple[str, dict]:
        """Raises SubmissionError when a submitted file is no notebook at all."""
        place = (resources or {}).get("nbgrader", {})
        if getattr(self.parent, "_sanitizing", False):
            return self.from_notebook_node(self._repaired(Path(file_stream.name), place), resources, **kw)
        if self.repaired:
            place["repairs"] = self.repairs
        return super().from_file(file_stream, resources, **kw)

    def _repaired(self, path: Path, place: dict) -> NotebookNode:
        course = Course(CourseDirectory(parent=self.parent))
        _refuse_links(course, Submission(place["assignment"], place["student"], path.parent))
        with course.gradebook() as gradebook:
            book = Expected.of(gradebook, place["assignment"]).notebooks[place["notebook"]]
        cells = {cell.name for cell in book.source_cells}
        release = Released(released_notebook(course, place["assignment"], place["notebook"], cells))
        with limited():
            notebook, notes = read(read_file(path))
            self.repaired = repair(notebook, release)
        self.repairs = [*notes, *self.repaired.repairs]
        for sentence in wording.sentences(self.repairs):
            self.log.warning("%s: %s", path.name, sentence)
        return self.repaired.notebook


def _refuse_links(course: Course, submission: Submission) -> None:
    """Raise SubmissionError for what is not the student's; nbgrader copies what links lead to beside the notebook."""
    folder = submission.folder.resolve()
    links = [path for path in walk(submission.folder) if path.is_symlink()]
    outside = [link.name for link in links if not link.resolve().is_relative_to(folder)]
    problem = Links(course).problem(submission)
    if outside and not problem:
        problem = (
            f"the file {plaintext.quoted(outside[0])} is a link that leads out of the folder; put the file itself there"
        )
    if problem:
        raise SubmissionError(f"Not graded: {problem}")
