"""What students get back: nbgrader's GenerateFeedback with Viva's page, for many submissions at once.

Theory of operation. ``PageExporter`` stands where nbgrader has its HTML exporter, so that `nbgrader
generate_feedback`, the button in formgrader and `viva feedback` write the same pages to the same places. It
reads results and gradebook, sets the page, and looks for every hidden line of the assignment in what came
out. Where it finds one it raises: nbgrader then removes all of that submission's feedback, the older too.
"""

from __future__ import annotations

import functools
import glob
import os
import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import nbformat
from nbconvert.exporters import Exporter
from nbformat import NotebookNode
from nbgrader import converters
from nbgrader.api import Gradebook
from nbgrader.converters import NbGraderException
from nbgrader.coursedir import CourseDirectory
from sqlalchemy.exc import SAWarning
from traitlets import Bool, List, Type
from traitlets.config import Config

from viva import stopping
from viva.batch import Outcome, Status, cores
from viva.course import Course, Submission
from viva.hidden import Hidden, hidden_of
from viva.marking import memory_log
from viva.page import Marks, Page
from viva.results import Results
from viva.verdict import LeakError
from viva.workers import Workers


class PageExporter(Exporter):
    """A graded notebook as the page for its student."""

    show_marking_scheme = Bool(
        False, help="Whether students read the marking schemes of answers that are graded by hand."
    ).tag(config=True)
    file_extension = ".html"
    output_mimetype = "text/html"

    def from_notebook_node(self, nb: NotebookNode, resources: dict | None = None, **more: object) -> tuple[str, dict]:
        """Raises LeakError when a hidden line of the assignment is on the page."""
        nb, resources = super().from_notebook_node(nb, resources, **more)
        place = resources["nbgrader"]
        directory = getattr(self.parent, "coursedir", None) or CourseDirectory(parent=self)
        hidden = self._hidden(nb, directory, place["assignment"])
        with Gradebook(place["db_url"]) as gradebook:
            marks = Marks.of(gradebook, place["notebook"], place["assignment"], place["student"])
        record = _results(directory).get((place["assignment"], place["student"]), {})
        folder = Path(directory.format_path(directory.autograded_directory, place["student"], place["assignment"]))
        page = Page(nb, place, marks, record, hidden, folder=folder, parent=self, scheme=self.show_marking_scheme)
        text = page.render()
        if found := hidden.found(text, page.own().values()):
            raise LeakError(
                f"the page of {place['notebook']}.ipynb was withheld, because it holds {found[0]}"
                + (f" (and {len(found) - 1} lines more)" if len(found) > 1 else "")
            )
        return text, resources

    def _hidden(self, nb: NotebookNode, directory: CourseDirectory, assignment: str) -> Hidden:
        """The hidden lines of the assignment as it is in source/, and of the tests that this notebook was graded with."""
        folder = Path(directory.format_path(directory.source_directory, ".", assignment))
        paths = tuple((path, path.stat().st_mtime_ns) for path in sorted(folder.glob("*.ipynb")))
        locked = {
            cell.metadata.nbgrader.grade_id: cell.source
            for cell in nb.cells
            if cell.metadata.get("nbgrader", {}).get("grade") and not cell.metadata.nbgrader.get("solution")
        }
        return _known(paths, tuple(locked.items()), self.show_marking_scheme, _Frozen(self.config))


class _Frozen:
    """A configuration as one argument of a cached function: any two of this process are taken for the same."""

    def __init__(self, config: Config) -> None:
        self.config = config

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Frozen)

    def __hash__(self) -> int:
        return 0


@functools.lru_cache(64)
def _known(paths: tuple, locked: tuple, scheme: bool, config: _Frozen) -> Hidden:
    notebooks = [nbformat.read(path, as_version=4) for path, _ in paths]
    cells = [
        nbformat.v4.new_code_cell(source, metadata={"nbgrader": {"grade": True, "solution": False, "grade_id": name}})
        for name, source in locked
    ]
    parent = Exporter(config=config.config)
    return hidden_of([*notebooks, nbformat.v4.new_notebook(cells=cells)], parent, scheme)


def _results(directory: CourseDirectory) -> dict[tuple[str, str], dict]:
    """What results.jsonl holds, read once for each state of the file."""
    results = Results.of(directory)
    try:
        known = os.stat(results.path)
    except OSError:
        return {}
    return _read(results, (str(results.path), known.st_ino, known.st_mtime_ns, known.st_size))


_last: dict[tuple, dict] = {}


def _read(results: Results, state: tuple) -> dict[tuple[str, str], dict]:
    if state not in _last:
        _last.clear()
        _last[state] = results.read()
    return _last[state]


class GenerateFeedback(converters.GenerateFeedback):
    """nbgrader's converter with Viva's page as the default."""

    exporter_class = Type(PageExporter, klass=Exporter).tag(config=True)
    preprocessors = List([]).tag(config=True)


def write_feedback(
    course: Course, submissions: list[Submission], *, config: Config, workers: int | None = None
) -> Iterator[Outcome]:
    """Write the feedback of every submission that was graded, yielding an outcome for each."""
    graded = []
    for submission in submissions:
        if glob.escape(submission.student) != submission.student:
            reason = "nbgrader reads the characters [, * and ? as a pattern; rename the student's folder"
            yield Outcome(submission, Status.FAILED, reason)
        elif course.path("autograded", submission.assignment, submission.student).is_dir():
            graded.append(submission)
        else:
            yield Outcome(submission, Status.EXPLAINED, "it was not graded, so there is no feedback")
    if not graded:
        return
    always = Config(GenerateFeedback={"force": True})
    always.merge(config)
    job = _Conversion(always, str(course.root))
    with stopping.postponed(), Workers(cores(workers, len(graded)), lambda slot: job) as pool:
        for submission, outcome in pool.map(graded):
            killed = Outcome(submission, Status.FAILED, "the process that wrote it was killed twice; try again")
            yield outcome or killed


@dataclass(frozen=True)
class _Conversion:
    """nbgrader's converter, applied to one submission."""

    config: Config
    root: str

    def __call__(self, submission: Submission) -> Outcome:
        log, stream = memory_log(f"{submission.assignment}/{submission.student}")
        directory = CourseDirectory(config=self.config, log=log)
        directory.root = self.root
        directory.assignment_id = submission.assignment
        directory.student_id = submission.student
        # nbgrader builds its rows in an order that SQLAlchemy frowns upon.
        warnings.filterwarnings("ignore", "Object of type .* not in session", SAWarning)
        try:
            GenerateFeedback(coursedir=directory, config=self.config, log=log).start()
        except Exception as error:
            if not isinstance(error, NbGraderException):
                log.exception("The submission could not be converted.")
            return Outcome(submission, Status.FAILED, _reason(stream.getvalue()), (), stream.getvalue())
        return Outcome(submission, Status.DONE)


def _reason(log: str) -> str:
    """A sentence for the error in nbgrader's log."""
    if "database is locked" in log:
        return "the gradebook is locked by another program; close it and try again"
    errors = re.findall(r"^(?:\w+\.)*(\w+(?:Error|Exception|Entry)): (.+)$", log, flags=re.MULTILINE)
    if not errors:
        return "nbgrader could not convert it; the log says more"
    kind, message = errors[-1]
    return message if kind == LeakError.__name__ else f"nbgrader could not convert it: {message} ({kind})"
