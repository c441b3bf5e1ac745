"""How nbgrader compiles an assignment: the students' version, and the complete one that grading reads.

With five differences; the steps are nbgrader's and the course's.

A kernel whose language is ``python3`` is Python.

A line that is almost a marker is refused: nbgrader would release the lines below it.

``### AUTOTEST`` lines are computed in the sandbox. nbgrader starts a kernel for them, in which the notebook's code
has all permissions of its user, and fills in the course's templates in its own process.

Only metadata and attachments that are known to be meant for students are kept. A solution may also be in a picture,
in a widget's state, or in what another program wrote into the file.

What a step refuses is reported with the notebook and the cell.
"""

from __future__ import annotations

import contextlib
import itertools
import logging
import re
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock
from urllib.parse import unquote

from jinja2 import BaseLoader
from jinja2.sandbox import ImmutableSandboxedEnvironment
from nbformat import NotebookNode
from nbgrader import utils
from nbgrader.converters import GenerateAssignment
from nbgrader.nbgraderformat import ValidationError
from nbgrader.nbgraderformat.common import SchemaMismatchError
from nbgrader.nbgraderformat.v3 import MetadataValidatorV3
from nbgrader.preprocessors import (
    ClearHiddenTests,
    ClearMarkScheme,
    ClearSolutions,
    ComputeChecksums,
    IncludeHeaderFooter,
    InstantiateTests,
    NbGraderPreprocessor,
    SaveCells,
    instantiatetests,
)
from traitlets.config import Config
from traitlets.utils.importstring import import_item

from viva.course.course import Course
from viva.course.examining.autograde import Examine
from viva.course.examining.graders import new_grader
from viva.course.source import machine
from viva.course.source.markers import STEPS, RightMarkers, require_usual_hidden
from viva.course.source.timelimit import seconds_of
from viva.engine.blueprint import Blueprint, read_notebook
from viva.engine.outcome import outputs_of
from viva.engine.session import Died, Session
from viva.engine.timebudget import TimeBudget
from viva.notebook.cell import grade_id, name_of
from viva.notebook.programming import PYTHON, language_of
from viva.verdict import BlueprintError, CourseError, VivaError

OF_NOTEBOOK = {
    "kernelspec": ("name", "display_name", "language"),
    "language_info": ("name", "version", "mimetype", "file_extension", "pygments_lexer", "nbconvert_exporter"),
    "viva": ("seconds", "budget", "check"),
}
"""The metadata of a notebook that students get, and of each the fields."""
OF_CELL = {
    "nbgrader": tuple("schema_version grade_id grade solution locked task points checksum cell_type".split()),
    "viva": ("seconds", "where"),
    "jupyter": ("source_hidden", "outputs_hidden"),
    "slideshow": ("slide_type",),
}
PLAIN = ("tags", "editable", "deletable", "collapsed", "scrolled", "format")
"""The metadata of a cell that Jupyter itself knows and that say how it is shown: kept as they are."""


class PlainLanguage(NbGraderPreprocessor):
    """Calls Python by its name where a kernel says ``python3``: nbgrader has no stub for that."""

    def preprocess(self, nb: NotebookNode, resources: dict) -> tuple[NotebookNode, dict]:
        stubs = ClearSolutions(parent=self.parent, config=self.config).code_stub
        kernel = nb.metadata.get("kernelspec", {})
        if kernel.get("language", "python") not in stubs and language_of(nb.metadata) == "python":
            kernel["language"] = "python"
        return nb, resources


class HeaderWithIds(IncludeHeaderFooter):
    """nbgrader's header and footer, whose cells get ids where the notebook's format wants them and theirs is older.

    nbformat warns of cells without ids at each step, and then makes up ids that differ from one release to the next.
    """

    def preprocess(self, nb: NotebookNode, resources: dict) -> tuple[NotebookNode, dict]:
        nb, resources = super().preprocess(nb, resources)
        if (nb.nbformat, nb.nbformat_minor) >= (4, 5):
            taken = {cell.get("id") for cell in nb.cells}
            free = (name for number in itertools.count(1) if (name := f"header-{number}") not in taken)
            for cell in nb.cells:
                if not cell.get("id"):
                    cell["id"] = next(free)
        return nb, resources


class SandboxedTests(InstantiateTests):
    """nbgrader's step for ``### AUTOTEST`` lines, with a candidate of Viva's for a kernel."""

    def preprocess(self, nb: NotebookNode, resources: dict) -> tuple[NotebookNode, dict]:
        if not any(cell.cell_type == "code" and self.autotest_delimiter in cell.source for cell in nb.cells):
            return nb, resources
        step = Examine(parent=self.parent, config=self.config)
        seconds = seconds_of(self.config)
        templates = mock.Mock(Environment=ImmutableSandboxedEnvironment, BaseLoader=BaseLoader)
        with (
            _kernel(seconds, step, language_of(nb.metadata)) as start,
            mock.patch.object(instantiatetests, "start_new_kernel", start),
            mock.patch.object(instantiatetests, "j2", templates),
        ):
            return super().preprocess(nb, resources)


@contextlib.contextmanager
def _kernel(seconds: float, step: Examine, language: str) -> Iterator[Callable]:
    """In place of jupyter_client's ``start_new_kernel``: it starts nothing before its first call."""
    with contextlib.ExitStack() as stack:

        def start(kernel_name: str, cwd: str | None) -> tuple[Kernel, Kernel]:
            given = machine.provided(step.config, Path(cwd).glob("*.ipynb") if cwd else ())
            grader = new_grader(seconds, step.no_sandbox, step.memory, machine=given)
            stack.callback(grader.close)
            data = Path(cwd) if cwd else None
            if language == PYTHON:
                session = Session(grader.candidates, grader.examiners, data)
            else:
                kernels = grader.kernels(Blueprint("", (), language=language, kernel=kernel_name))
                session = kernels.session(data, None, TimeBudget())
            kernel = Kernel(stack.enter_context(session), seconds)
            return kernel, kernel

        yield start


class Kernel:
    """A candidate, as jupyter_client's manager and client of a kernel: as far as nbgrader's step asks."""

    def __init__(self, session: Session, seconds: float) -> None:
        self.session, self.seconds = session, seconds

    def execute_interactive(self, code: str, output_hook: Callable[[dict], None]) -> None:
        """Run code, and hand its outputs to ``output_hook``. Raises CourseError where it raises or does not end."""
        try:
            reply = self.session.candidate(self.seconds, do="run", source=code)
        except Died as death:
            raise CourseError(f"the notebook stops before that cell: {death}") from death
        if isinstance(raised := reply.get("raised"), dict):
            raise CourseError(f"the code above that cell raises {raised.get('name')}: {raised.get('message')}"[:500])
        for output in outputs_of(reply):
            output_hook({"header": {"msg_type": output["output_type"]}, "content": output})

    def shutdown_kernel(self) -> None:
        """Does nothing: the function that began the session ends it."""


class NothingElse(NbGraderPreprocessor):
    """Leaves of a students' version what is known to be meant for them: no picture that no text shows, no state of
    widgets, no metadata that other programs or the author have put there."""

    def preprocess(self, nb: NotebookNode, resources: dict) -> tuple[NotebookNode, dict]:
        nb.metadata = NotebookNode(_known(nb.metadata, OF_NOTEBOOK))
        for cell in nb.cells:
            cell.metadata = NotebookNode(_known(cell.metadata, OF_CELL, PLAIN))
            attachments = {
                name: data for name, data in cell.get("attachments", {}).items() if _shows(cell.source, name)
            }
            cell.pop("attachments", None)
            if attachments:
                cell.attachments = attachments
        return nb, resources


def _known(metadata: dict, fields: dict[str, tuple[str, ...]], plain: tuple[str, ...] = ()) -> dict:
    metadata_left = {}
    for key, value in metadata.items():
        if key in plain:
            metadata_left[key] = value
        elif key in fields and isinstance(value, dict):
            parts = {name: part for name, part in value.items() if name in fields[key]}
            if parts or not value:
                metadata_left[key] = NotebookNode(parts)
    return metadata_left


def _shows(text: str, name: str) -> bool:
    """Whether a text refers to the attachment ``name``."""
    return any(re.search(rf"attachment:{re.escape(name)}(?![\w.-])", version) for version in (text, unquote(text)))


class Compiler(GenerateAssignment):
    """nbgrader's converter with these steps; ``reason`` says what stopped it, and ``stopped_by`` is that."""

    reason = ""
    stopped_by: Exception | None = None
    preprocessors: list

    def __init__(self, **options: object) -> None:
        super().__init__(**options)
        require_usual_hidden(self.config)
        ours = {InstantiateTests: SandboxedTests, IncludeHeaderFooter: HeaderWithIds}
        listed = [import_item(step) if isinstance(step, str) else step for step in self.preprocessors]
        steps = [ours.get(step, step) if isinstance(step, type) else step for step in listed]
        first = next((number for number, step in enumerate(steps) if _is_one_of(step, tuple(STEPS))), 0)
        self.preprocessors = [PlainLanguage, *steps[:first], RightMarkers, *steps[first:], NothingElse]

    def steps(self) -> list[Callable]:
        """The steps in their order, with those that the course gives to nbconvert's exporter."""
        exporter = self.exporter_class(parent=self, config=self.config)
        for step in self.preprocessors:
            exporter.register_preprocessor(step)
        return exporter._preprocessors

    def convert_single_notebook(self, notebook_filename: str) -> None:
        try:
            super().convert_single_notebook(notebook_filename)
        except SchemaMismatchError:
            raise  # nbgrader says which command fixes it
        except Exception as error:
            self.reason, self.stopped_by = told(error, Path(notebook_filename).name), error
            raise


def told(error: Exception, name: str) -> str:
    """The reason for which a step refused, in one line, with the notebook and the cell where the step names them."""
    cell = ""
    for frame, _ in traceback.walk_tb(error.__traceback__):
        node = frame.f_locals.get("cell")
        if isinstance(node, NotebookNode) and frame.f_code.co_name == "preprocess_cell":
            cell = name_of(node)
    if isinstance(error, OSError) and error.strerror:
        return f"{name}: cannot read or write {error.filename or 'a file'}: {error.strerror}"
    words = " ".join(str(error).split()) or type(error).__name__
    if not isinstance(error, VivaError) and isinstance(error, KeyError | NameError | AttributeError | TypeError):
        words = f"{type(error).__name__}: {words}"
    below = error.__cause__ or error.__context__
    because = f" ({' '.join(str(below).split())})" if below and str(below) and str(below) not in words else ""
    return f"{name}{f', cell {cell!r}' if cell else ''}: {words}{because}"


@dataclass(frozen=True)
class Compiled:
    """A notebook of an assignment, compiled twice."""

    released: NotebookNode
    """The students' version."""
    complete: NotebookNode
    """The same with solutions and hidden tests: what grading and the audit read."""
    locked: dict[str, str]
    """By grade id, the texts of the locked cells, hidden lines included."""


CLEARING = (ClearSolutions, ClearHiddenTests, ClearMarkScheme)
"""nbgrader's steps that take from students what is not meant for them."""


def compiled(
    course: Course,
    assignment: str,
    notebook: str,
    locked: dict[str, str] | None = None,
    left_out: type[NbGraderPreprocessor] = SaveCells,
) -> NotebookNode:
    """The student version of a source notebook, in memory; neither release/ nor the gradebook is touched.

    ``locked`` is filled with the texts of locked cells, hidden lines included, by grade id. ``left_out`` is a step of
    nbgrader's that is not taken. Raises CourseError.
    """

    def before(step: Callable, node: NotebookNode) -> None:
        if locked is not None and isinstance(step, ClearHiddenTests):
            cells = [cell for cell in node.cells if cell.cell_type == "code" and utils.is_locked(cell)]
            locked.update({grade_id(cell): cell.source for cell in cells})

    return _through_steps(course, assignment, notebook, (left_out,), before)


def completed(
    course: Course, assignment: str, notebook: str, released: NotebookNode, locked: dict[str, str]
) -> NotebookNode:
    """A source notebook as grading reads it: all steps were taken but those that clear solutions and hidden tests.

    ``released`` is its students' version, and ``locked`` are the texts of its locked cells, by grade id, with hidden
    lines. An answer that a step of the course's own cleared is the author's again. Raises CourseError.
    """
    stubs = {grade_id(cell): cell.source for cell in released.cells if utils.is_solution(cell)}
    answers: dict[str, str] = {}

    def before(_: Callable, node: NotebookNode) -> None:
        for cell in node.cells:
            name = grade_id(cell)
            if name in stubs and utils.is_solution(cell) and cell.source != stubs[name]:
                answers[name] = cell.source

    # Lines with ``### AUTOTEST`` were computed before: what they became is among the locked texts.
    node = _through_steps(course, assignment, notebook, (*CLEARING, NothingElse, InstantiateTests), before)
    for cell in node.cells:
        name = grade_id(cell)
        if cell.cell_type == "code" and name in locked and utils.is_locked(cell):
            cell.source = locked[name]
        elif utils.is_solution(cell) and cell.source == stubs.get(name):
            cell.source = answers.get(name, cell.source)
    _give_ids(node, released)
    return node


def without_hidden(complete: NotebookNode, config: Config) -> NotebookNode:
    """A complete notebook without hidden tests, marking schemes, and what is not known to be meant for students."""
    resources: dict[str, Any] = {"nbgrader": {}}
    for step in (ClearHiddenTests, ClearMarkScheme, ComputeChecksums, NothingElse):
        complete, resources = step(config=config)(complete, resources)
    return complete


def compiled_twice(course: Course, assignment: str, notebook: str) -> Compiled:
    """A source notebook as students get it, and as grading reads it. Raises CourseError."""
    locked: dict[str, str] = {}
    released = compiled(course, assignment, notebook, locked)
    return Compiled(released, completed(course, assignment, notebook, released, locked), locked)


def _give_ids(node: NotebookNode, released: NotebookNode) -> None:
    """Give the cells that have no grade id the ids of their students' version: a step makes up others each time."""
    pairs = list(zip(node.cells, released.cells, strict=False))
    if len(node.cells) != len(released.cells) or any(grade_id(mine) != grade_id(other) for mine, other in pairs):
        return
    for mine, other in pairs:
        if not grade_id(mine) and other.get("id"):
            mine["id"] = other["id"]


def _through_steps(
    course: Course,
    assignment: str,
    notebook: str,
    left_out: tuple[type, ...],
    before: Callable[[Callable, NotebookNode], None],
) -> NotebookNode:
    """A source notebook after the course's steps but those ``left_out``; what comes ``before`` each sees the notebook.

    Nothing is written, neither into release/ nor into the gradebook. Raises CourseError.
    """
    config = course.directory.config
    require_included(course, config)
    source = course.path("source", assignment) / f"{notebook}.ipynb"
    names = {"notebook": notebook, "assignment": assignment, "student": ".", "db_url": course.directory.db_url}
    resources: dict[str, Any] = {"nbgrader": names, "unique_key": notebook, "output_files_dir": f"{notebook}_files"}
    resources["metadata"] = {"path": str(source.parent), "name": notebook}  # where autotests.yml may lie
    converter = Compiler(coursedir=course.directory, config=config, log=logging.getLogger("viva"))
    node = read_notebook(source)
    _require_valid_metadata(node, source)
    included = IncludeHeaderFooter(config=config)
    for name in filter(None, (included.header, included.footer)):
        _require_valid_metadata(read_notebook(course.root / name), course.root / name, "nbgrader update")
    try:
        with contextlib.chdir(course.root):  # a header is named from there
            for step in converter.steps():
                if not isinstance(step, (SaveCells, *left_out)):
                    before(step, node)
                    node, resources = step(node, resources)
    except BlueprintError:
        raise
    except Exception as error:  # its steps let any error through, also those of three libraries' schemas
        reason = told(error, str(source))
        raise CourseError(f"The student version of {assignment} could not be compiled. {reason}") from error
    return node


def _is_one_of(step: object, classes: tuple[type, ...]) -> bool:
    """Whether a step, a class or an object, is one of these."""
    return issubclass(step, classes) if isinstance(step, type) else isinstance(step, classes)


def _require_valid_metadata(notebook: NotebookNode, source: Path, command: str = "viva adopt --in-place") -> None:
    """Raise CourseError for the first cell whose metadata nbgrader's current schema refuses, such as points in quotes.

    nbgrader itself says this with a traceback and its schema, and lets through what its database refuses.
    """
    newest = MetadataValidatorV3().schema_version
    for cell in notebook.cells:
        about = cell.metadata.get("nbgrader")
        if not about:
            continue
        where, repair = f"{source}, cell '{about.get('grade_id', '')}'", f"{command} {source}"
        version = about.get("schema_version", 0)
        if type(version) is not int:
            raise CourseError(f"{where}: its schema_version is not a number: {version!r}. Correct it to {newest}.")
        if version < newest:
            raise CourseError(
                f"{where}: an old nbgrader wrote it (version {version} of its format; this nbgrader reads version "
                f"{newest}). To convert the notebook, run: {repair}"
            )
        points = about.get("points", 0)
        if (about.get("grade") or about.get("task")) and not _are_points(points):
            raise CourseError(
                f"{where}: its points are not a number of at least 0: {points!r}. Correct them in nbgrader's toolbar."
                + (f" Or run: {repair}" if isinstance(points, str) and command.startswith("viva") else "")
            )
        try:
            if version == newest:
                MetadataValidatorV3().validate_cell(cell)
        except ValidationError as error:
            raise CourseError(f"{where}: {error.message}. Correct its metadata, or run: {repair}") from error


def _are_points(points: object) -> bool:
    """Whether a gradebook can take these points."""
    return type(points) in (int, float) and 0 <= points < float("inf")  # type: ignore[operator]


def require_included(course: Course, config: Config) -> None:
    """Raises CourseError where a header or footer is not there, which nbgrader tells with the number of an error."""
    step = IncludeHeaderFooter(config=config)
    for part, name in (("header", step.header), ("footer", step.footer)):
        if name and not Path(course.root, name).is_file():
            raise CourseError(
                f"nbgrader_config.py includes the file {Path(course.root, name)} in every notebook, but it does "
                f"not exist. Create it, or correct c.IncludeHeaderFooter.{part}."
            )
