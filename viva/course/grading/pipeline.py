"""The steps of grading a submission, as a list:

    find      the files that may be notebooks, by their names           ``submission/files/handin``
    open      the bytes of a file become cells                          ``submission/files/salvage``
    repair    the assignment's cells in the assignment's order          ``submission/cells/repair``
    examine   two processes run it: what every check comes to           ``engine/grading``
    score     points by cell, and what waits for a grader                ``course/autograde``
    clean     no name is told, nothing runs in a grader's browser       ``submission/blind``, ``submission/sanitize``
    record    the facts about it                                        ``record``

The first three are ``find`` and ``open_notebooks`` (``submission/reading``); the others are steps of nbgrader's,
which a course's configuration lists and may add to. Here ``enter`` records; in nbgrader's own commands the step
``RecordResults`` does it. `viva grade`, `viva regrade` and ``grade`` go through all of it here. `nbgrader autograde`
and formgrader's button go through the same list with nbgrader's own converter, whose exporter opens the submission
(``course/exporter``); `viva check` opens one file and examines it; the audit examines.

``grade`` is a pure function of bytes: what a machine needs to grade is in the package and in the material.
"""

from __future__ import annotations

import contextlib
import copy
import filecmp
import itertools
import logging
import shutil
import stat
import tempfile
import time
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct, field
from nbconvert.exporters import NotebookExporter
from nbformat import NotebookNode
from nbgrader import utils
from nbgrader.coursedir import CourseDirectory
from nbgrader.preprocessors import AssignLatePenalties, CheckCellMetadata
from traitlets.utils.importstring import import_item

from viva.course.examining.autograde import Autograde, Examine, RecordResults, enter, now
from viva.course.examining.rehearsals import submitted_files
from viva.course.gradebook.recording import Draft, Graded, in_place_of_gradebook
from viva.course.grading.material import Material
from viva.engine.grading import Grader
from viva.folder import MOST_FILES, OURS, SOLVED, fill, walk
from viva.record import NotebookRecord, SubmissionRecord, note
from viva.submission.files import timestamp
from viva.submission.files.handin import Finding, find
from viva.submission.files.sizes import limited
from viva.submission.packing import unpack
from viva.submission.reading import open_notebooks
from viva.submission.submission import Submission
from viva.submission.variant import Seeds
from viva.submission.work import Work, as_text

MOST_TOLD = 10
"""The number of replaced files that a note names."""
SPARED = (AssignLatePenalties, RecordResults, CheckCellMetadata)
"""Steps that are left out here: the writer does the first two; the repair did the last before."""


class Passed(Struct):
    """The result of a submission."""

    refusal: str = ""
    """Why nothing in it can be graded."""
    notes: list[str] = field(default_factory=list)
    graded: Graded | None = None
    record: SubmissionRecord | None = None
    notebooks: dict[str, str] = field(default_factory=dict)
    """The graded notebooks, by name, as text."""

    @property
    def results(self) -> tuple[SubmissionRecord, Graded]:
        """The record and the scores, which there are where something could be graded."""
        assert self.record is not None and self.graded is not None
        return self.record, self.graded


def grade(package: bytes, material: Material, grader: Grader, log: logging.Logger | None = None) -> bytes:
    """A packed submission -> its result, as bytes (``Passed``, in msgpack); nothing is read or left elsewhere.

    Raises what ``go_through`` does, and msgspec.DecodeError for what is not a package.
    """
    with tempfile.TemporaryDirectory(prefix="viva-grade-") as folder:
        submission = unpack(package, Path(folder, "submitted"))
        finding = find(submission, set(material.released))
        passed = go_through(submission, finding, material, grader, Path(folder, "graded"), log)
    return msgspec.msgpack.encode(passed)


def go_through(
    submission: Submission,
    finding: Finding,
    material: Material,
    grader: Grader,
    build: Path,
    log: logging.Logger | None = None,
) -> Passed:
    """Take a submission through the list; the folder ``build`` is made, with the files that lie beside its notebooks.

    The submission lies in a folder that was made for it (``submission/packing``), which loses these files.

    Raises VivaError for what the course or this machine is at fault, and SubmissionError.
    """
    start = time.monotonic()
    if finding.problem:
        return Passed(finding.problem)
    seeds = Seeds(submission.student, material.seeds) if material.seeds is not None else None
    opened = open_notebooks(finding, material.released, material.shipped, seeds)
    if opened.problem:
        return Passed(opened.problem)
    log = log or logging.getLogger("viva")
    directory = CourseDirectory(config=material.config, log=log)
    pair = submission.assignment, submission.student
    record = SubmissionRecord(*pair, graded=now(), edition=material.edition)
    graded = Graded(*pair, timestamp.of(submission), {}, {})
    replaced = lay_out(submission, material, build, directory)
    passed = Passed(notes=opened.notes, record=record, graded=graded)
    converter = Autograde(coursedir=directory, config=material.config, log=log)
    named = {Path(path).stem for path in material.files if Path(path).parts[0] == SOLVED}
    fill(build / SOLVED, {f"{name}.ipynb": _bytes(opened.notebooks[name]) for name in named & opened.notebooks.keys()})
    for name, notebook in sorted(opened.notebooks.items()):
        work = Work(grader, material.examination(name), material.folder, material.given.get(name), material.forms)
        work.record = NotebookRecord(repairs=opened.repairs[name], integrity=opened.integrity[name])
        if replaced:
            work.record.repairs = [*work.record.repairs, note("replaced_file", *replaced[:MOST_TOLD])]
        work.seed = opened.seeds.get(name)
        passed.notebooks[name] = _steps(name, notebook, work, converter, material, build, passed)
        enter(record, name, work)
    shutil.rmtree(build / SOLVED, ignore_errors=True)
    record.seconds = round(time.monotonic() - start, 3)
    return passed


def _bytes(notebook: NotebookNode) -> bytes:
    """An opened notebook, which others of the submission run, with the tests as they were released."""
    return as_text(copy.deepcopy(notebook)).encode("utf-8", "surrogatepass")


def _steps(
    name: str, notebook: NotebookNode, work: Work, converter: Autograde, material: Material, build: Path, passed: Passed
) -> str:
    """One notebook through nbgrader's steps; the graded notebook as text, its scores in ``passed``."""
    exporter = converter.exporter_class(parent=converter, config=converter.config)
    for step in [*converter.sanitize_preprocessors, *converter.autograde_preprocessors]:
        cls = step if isinstance(step, type) else import_item(step)
        if not issubclass(cls, SPARED):
            exporter.register_preprocessor(step)
    steps, exporter._preprocessors = exporter._preprocessors, []
    record, graded = passed.results
    names = {"student": record.student, "assignment": record.assignment, "notebook": name}
    resources: dict[str, Any] = {
        "unique_key": name,
        "output_files_dir": f"{name}_files",
        "metadata": {"path": str(build)},
    }
    resources["nbgrader"] = names | {"db_url": "", "viva": work}
    draft = Draft(material.expected)
    with in_place_of_gradebook(draft, [type(step) for step in steps]), utils.setenv(NBGRADER_EXECUTION="autograde"):
        # As the exporter does, but without validating and copying the notebook before each step.
        for step in steps:
            with contextlib.nullcontext() if isinstance(step, Examine) else limited():
                notebook, resources = step(notebook, resources)
        plain = type(exporter).from_notebook_node is NotebookExporter.from_notebook_node
        text = as_text(notebook) if plain else exporter.from_notebook_node(notebook, resources=resources)[0]
    graded.scores[name], graded.remarks[name] = draft.scores(), draft.remarks()
    return text


def lay_out(submission: Submission, material: Material, build: Path, directory: CourseDirectory) -> list[str]:
    """Write the assignment's own files, and move the submitted ones, but for notebooks and what is too large for
    nbgrader, out of a folder that was made for the submission.

    Nothing that was submitted takes another file's place, but for the files that the course says are the students' own.
    Returns the submitted files, by path, that the assignment's replace, and that are not the same.
    """
    build.mkdir(parents=True)
    submitted = submitted_files(material.config, submission.assignment)
    given = {name: content for name, content in material.files.items() if Path(name).parts[0] not in OURS}
    fill(build, {name: content for name, content in given.items() if name not in submitted})
    replaced = []
    for path in itertools.islice(walk(submission.folder, [*directory.ignore, *OURS, "*.ipynb"]), MOST_FILES):
        with contextlib.suppress(OSError):  # it has a name that the assignment has for a folder
            name = path.relative_to(submission.folder)
            status, place = path.lstat(), build / name
            readable = stat.S_ISREG(status.st_mode) and status.st_mode & stat.S_IRUSR
            if not readable or status.st_size > 1000 * directory.max_file_size:
                continue
            if not place.exists():
                place.parent.mkdir(parents=True, exist_ok=True)
                path.rename(place)
            elif place.is_file() and not filecmp.cmp(path, place, shallow=False):
                replaced.append(str(name))
    return sorted(replaced)
