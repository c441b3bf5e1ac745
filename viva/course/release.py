"""From source/ to release/: the student version of an assignment, compiled by nbgrader."""

from __future__ import annotations

import contextlib
import itertools
import logging
import re
import shutil
import sys
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from logging.handlers import BufferingHandler
from pathlib import Path
from unittest import mock
from urllib.parse import unquote

import nbformat
from jinja2 import BaseLoader
from jinja2.sandbox import ImmutableSandboxedEnvironment
from nbformat import NotebookNode
from nbgrader import utils
from nbgrader.converters import GenerateAssignment, NbGraderException
from nbgrader.coursedir import CourseDirectory
from nbgrader.nbgraderformat import ValidationError
from nbgrader.nbgraderformat.common import SchemaMismatchError
from nbgrader.nbgraderformat.v3 import MetadataValidatorV3
from nbgrader.preprocessors import (
    ClearHiddenTests,
    ClearSolutions,
    Execute,
    IncludeHeaderFooter,
    InstantiateTests,
    NbGraderPreprocessor,
    SaveCells,
    instantiatetests,
)
from sqlalchemy.exc import OperationalError
from traitlets.config import Config

from viva import language, wording
from viva.course.autograde import Examine
from viva.course.course import Course
from viva.course.database import said_by, with_retries
from viva.course.gradebook import agreement
from viva.course.gradebook.recording import Expected
from viva.course.graders import absent_libraries, new_grader
from viva.course.markers import STEPS, RightMarkers, marker_in, require_usual_hidden
from viva.course.processes import leftovers, slow
from viva.course.rehearsals import Rehearsals
from viva.engine import libraries
from viva.engine.blueprint import ANSWERS, Blueprint, Purpose, language_of, read_blueprint, read_notebook
from viva.engine.grading import Grader
from viva.engine.outcome import outputs_of
from viva.engine.session import Died, ExaminerFault, Session
from viva.language import Language
from viva.record import CheckResult, Note
from viva.submission.studentcopy import describe
from viva.verdict import BlueprintError, CourseError, Verdict, VivaError

PATTERN = re.compile(r"[][*?(){}|^$+\\]")
"""Signs in an assignment's name that nbgrader puts into patterns as they are."""


@dataclass(frozen=True)
class Release:
    """A release: the blueprints of its notebooks, and the names of all other released files."""

    assignment: str
    blueprints: tuple[Blueprint, ...]
    extra_files: tuple[str, ...]
    remarks: tuple[str, ...] = ()
    not_passed: tuple[str, ...] = ()
    """A sentence for each check that the solution does not pass, if no audit has proven that it passes all."""

    def record(self) -> dict:
        """The release as plain data for JSON."""
        points = {"automatic_points": self.automatic_points, "manual_points": self.manual_points}
        return {"assignment": self.assignment, **points, "extra_files": self.extra_files} | {
            "remarks": self.remarks,
            "not_passed": self.not_passed,
        }

    @property
    def automatic_points(self) -> float:
        return sum(blueprint.automatic_points for blueprint in self.blueprints)

    @property
    def manual_points(self) -> float:
        return sum(blueprint.manual_points for blueprint in self.blueprints)


def release(
    course: Course, assignment: str, *, config: Config, grader: Grader | None = None, unproven: bool = False
) -> Release:
    """Compile an assignment into release/ and record its cells in the gradebook.

    The grader rehearses the visible checks, so that students can have them graded; without one a new one does. The
    solution of what no audit has proven is graded too: to say which checks it does not pass, and which test cells are
    single-process cells.
    Raises BlueprintError when a notebook's checks do not fit its cells, and CourseError when
    nbgrader refuses; release/ then stays as it was, and never holds a part.
    """
    blueprints = tuple(read_blueprint(path) for path in course.source_notebooks(assignment))
    spoken = language.of_course(config)
    agreement.require_kept(course, [assignment])
    _require_own_files(course, assignment)
    _require_the_same_cells(course, assignment)
    with_retries(lambda: generate(course, assignment, config))
    folder = course.path("release", assignment)
    notebooks = {f"{blueprint.name}.ipynb" for blueprint in blueprints}
    files = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
    for name in notebooks:
        _refuse_markers(folder / name, config)
    with (
        contextlib.nullcontext(grader) if grader else rehearsing(course, [assignment], config) as grader,
        slow.told(f"Running the solution of {assignment}"),
    ):
        rehearsals = Rehearsals.of(course.directory, assignment)
        remarks = [
            _describe(path, folder / path.name, grader, rehearsals, spoken)
            for path in course.source_notebooks(assignment)
        ]
        sources = course.source_notebooks(assignment) if unproven else []
        failed: list[str] = []
        single: list[str] = []
        for path in sources:
            lost, cells = _tests(course, assignment, path, grader)
            failed, single = failed + lost, single + cells
        absent = absent_libraries(grader)
    remarks += [_name_problem(assignment), *map(without_answers, blueprints if unproven else ()), *single, *absent]
    extra = tuple(sorted(files - notebooks))
    return Release(assignment, blueprints, extra, tuple(filter(None, remarks)), tuple(failed))


def without_answers(blueprint: Blueprint) -> str:
    """A sentence where a notebook has test cells and no cell for an answer; empty otherwise."""
    purposes = {cell.purpose for cell in blueprint.cells}
    if Purpose.TESTS not in purposes or purposes & {*ANSWERS, Purpose.TASK}:
        return ""
    return (
        f"{blueprint.name}.ipynb has test cells but no answer cell. Make the cells that students write answer "
        "cells ('Autograded answer' in nbgrader's toolbar)"
    )


def _name_problem(assignment: str) -> str:
    """Why nbgrader's own commands do not find an assignment of this name; empty where they do."""
    signs = list(dict.fromkeys(re.findall(PATTERN, assignment)))
    if not signs:
        return ""
    return (
        f"its name contains {' '.join(signs)}. nbgrader reads this as a pattern: 'nbgrader generate_feedback' and "
        "'nbgrader release_feedback' do nothing for it, without a message. Rename the assignment before students "
        "get it"
    )


@contextlib.contextmanager
def rehearsing(course: Course, assignments: list[str], config: Config) -> Iterator[Grader]:
    """A grader for the instructor's own code, in the sandbox as submissions are: it may be a stranger's course.

    Raises CourseError where this machine has no sandbox, unless told ``Examine.no_sandbox``.
    """
    seconds, step = float(Execute(config=config).timeout or 30), Examine(config=config)
    wanted = libraries.wanted(path for name in assignments for path in course.source_notebooks(name))
    grader = new_grader(seconds, step.no_sandbox, step.memory, libraries=wanted)
    try:
        yield grader
    finally:
        grader.close()


def _describe(source: Path, path: Path, grader: Grader, rehearsals: Rehearsals, spoken: Language) -> str:
    """Write into a released notebook what `viva check` needs to know; a sentence when that cannot be."""
    released = nbformat.read(path, as_version=4)
    cells = [cell for cell in released.cells if cell.cell_type == "code" and utils.is_locked(cell)]
    texts = {cell.metadata.nbgrader.get("grade_id", ""): cell.source for cell in cells}
    written_in = language_of(released.metadata)
    if written_in != "python":
        return (
            f"{path.name} is written in {written_in}. It is graded as in nbgrader, with tests and answers in one "
            "kernel, and only with 'viva grade --no-sandbox', because the sandbox supports only Python. 'viva "
            "check' does not support it"
        )
    try:
        examination = grader.twice(lambda: rehearsals.examination(source, grader, texts))
    except (VivaError, ExaminerFault) as error:
        return f"{path.name} has no data for 'viva check', so the check is less strict than grading: {error}"
    released.metadata.setdefault("viva", NotebookNode())["check"] = describe(
        released, examination, grader.seconds, grader.limits.memory_bytes, spoken
    )
    leftovers.write(path, f"{nbformat.writes(released)}\n")
    return ""


def _tests(course: Course, assignment: str, source: Path, grader: Grader) -> tuple[list[str], list[str]]:
    """Sentences about the checks that the solution does not pass when it is graded, and the single-process cells."""
    notebook = read_notebook(source)
    if language_of(notebook.metadata) != "python":
        return [], []
    with course.gradebook() as gradebook:
        expected, rehearsals = Expected.of(gradebook, assignment), Rehearsals.of(course.directory, assignment)
    locked, points = expected.locked(source.stem), expected.tests(source.stem)
    try:
        examination = grader.twice(lambda: rehearsals.examination(source, grader, locked, points))
        outcome = grader.grade(notebook, examination, source.parent, source.parent)
    except (VivaError, ExaminerFault) as error:
        return [f"{source.name} cannot be graded: {error}"], []
    lost: list[str] = []
    for cell, results in outcome.checks.items():
        missed = [result for result in results if result.verdict is not Verdict.PASSED or result.earned < result.points]
        for result in missed:
            why = examination.failing.get(cell) if result is missed[0] else None
            lost.append(_of_solution(source, cell, result, why))
    return lost, list(examination.single_process_sentences().values())


def _of_solution(source: Path, cell: str, result: CheckResult, why: Note | None) -> str:
    """A sentence on a check that the solution does not pass; ``why`` it does not in one process, where it does not."""
    notebook = source.name
    check = f"the cell '{cell}'" + (f", check '{result.title}'" if result.title != cell else "")
    reason = wording.reason(result).partition("\n")[0]
    if why and result.verdict is not Verdict.UNGRADED:
        reason = why_not(why, source)
    if result.verdict is Verdict.UNGRADED:
        return f"{notebook}: {check} will be ungraded for all students: {reason}"
    if result.verdict is Verdict.PASSED:
        reason = f"it earns only {result.earned:g} of {wording.counted(result.points, 'point')}"
    return f"{notebook}: the solution does not pass {check}: {reason or result.word}"


def why_not(why: Note, source: Path) -> str:
    """Why the solution of a notebook does not pass a cell; where it lacks a file, as another notebook of the assignment
    writes that, with what to do."""
    sentence, lacking = wording.sentence(why), why.because or why
    if lacking.kind != "lacks_file":
        return sentence
    name, hint = Path(lacking.names[0]).name, f". Put it into {source.parent}, unless students submit it"
    for sibling in sorted(source.parent.glob("*.ipynb")):
        if sibling != source and any(name in cell.source for cell in read_notebook(sibling).cells):
            return (
                f"{sentence}. {sibling.name} uses this file too, but each notebook is graded in a folder of its "
                f"own, without the files that another notebook wrote{hint}"
            )
    return f"{sentence}{hint}"


def released_notebook(course: Course, assignment: str, notebook: str, cells: set[str]) -> NotebookNode:
    """A notebook as students got it: the one in release/, or compiled anew where that is gone or not of this source.

    ``cells`` are the grade ids that the gradebook knows. Raises CourseError when there is no source either.
    """
    path = course.path("release", assignment) / f"{notebook}.ipynb"
    try:
        released = nbformat.read(path, as_version=4)
        names = {cell.metadata.nbgrader.get("grade_id") for cell in released.cells if "nbgrader" in cell.metadata}
        if cells <= names:
            return released
    except Exception as error:
        logging.getLogger("viva").debug("%s is compiled again: %s", path, error)
    return compiled(course, assignment, notebook, left_out=RightMarkers)  # students have it already


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
    config = course.directory.config
    _require_included(course, config)
    source = course.path("source", assignment) / f"{notebook}.ipynb"
    resources = {"nbgrader": {"notebook": notebook, "assignment": assignment, "student": "."}}
    resources["metadata"] = {"path": str(source.parent)}  # where autotests.yml may lie
    converter = Compiler(coursedir=course.directory, config=config, log=logging.getLogger("viva"))
    node = read_notebook(source)
    _require_valid_metadata(node, source)
    try:
        with contextlib.chdir(course.root):  # a header is named from there
            for step in converter.preprocessors:
                if locked is not None and issubclass(step, ClearHiddenTests):
                    cells = [cell for cell in node.cells if cell.cell_type == "code" and utils.is_locked(cell)]
                    locked |= {cell.metadata.nbgrader["grade_id"]: cell.source for cell in cells}
                if not issubclass(step, (SaveCells, left_out)):
                    node, resources = step(config=config)(node, resources)
    except BlueprintError:
        raise
    except Exception as error:  # its steps let any error through, also those of three libraries' schemas
        reason = told(error, str(source))
        raise CourseError(f"The student version of {assignment} could not be compiled. {reason}") from error
    return node


def _require_valid_metadata(notebook: NotebookNode, source: Path) -> None:
    """Raise CourseError for the first cell whose metadata nbgrader's current schema refuses, such as points in quotes.

    nbgrader itself says this with a traceback and its schema.
    """
    for cell in notebook.cells:
        about = cell.metadata.get("nbgrader")
        if not about or about.get("schema_version") != MetadataValidatorV3().schema_version:
            continue  # nbgrader upgrades older versions, or says which command does
        try:
            MetadataValidatorV3().validate_cell(cell)
        except ValidationError as error:
            field = ".".join(map(str, error.absolute_path))
            where = f"{source}, cell '{about.get('grade_id', '')}'"
            reason = f"its points are not a number: {error.instance!r}" if field == "points" else error.message
            raise CourseError(
                f"{where}: {reason}. Correct its metadata, or let Viva do it: viva adopt --in-place {source}"
            ) from error


def _require_included(course: Course, config: Config) -> None:
    """Raises CourseError where a header or footer is not there, which nbgrader tells with the number of an error."""
    step = IncludeHeaderFooter(config=config)
    for part, name in (("header", step.header), ("footer", step.footer)):
        if name and not Path(course.root, name).is_file():
            raise CourseError(
                f"nbgrader_config.py includes the file {Path(course.root, name)} in every notebook, but it does "
                f"not exist. Create it, or correct c.IncludeHeaderFooter.{part}."
            )


def _require_own_files(course: Course, assignment: str) -> None:
    """Raises CourseError for a link beside the notebooks that leads out of source/: nbgrader would release a copy."""
    around = course.path("source", assignment).parent.resolve()
    for path in sorted(course.path("source", assignment).rglob("*")):
        if path.is_symlink() and not path.resolve().is_relative_to(around):
            raise CourseError(
                f"{path} is a link to {path.resolve()}. That file is outside {around}, and students would get it. "
                "Nothing was changed. Replace the link by a copy, or remove it."
            )


def _require_the_same_cells(course: Course, assignment: str) -> None:
    """Raises CourseError where nbgrader would refuse, before anything is changed: nbgrader removes release/ first."""
    with course.gradebook() as gradebook:
        if not gradebook.assignment_submissions(assignment):
            return
        old = {book.name: _recorded(book) for book in gradebook.find_assignment(assignment).notebooks}
    new = {
        path.stem: _to_be_recorded(compiled(course, assignment, path.stem))
        for path in course.source_notebooks(assignment)
    }
    differences = []
    for notebook in sorted(old.keys() | new.keys()):
        if notebook not in new or notebook not in old:
            differences.append(f"the notebook {notebook}.ipynb was {'added' if notebook in new else 'removed'}")
            continue
        was, is_ = old[notebook], new[notebook]
        differences += [f"{cell} was removed" for cell in was if cell not in is_]
        differences += [f"{cell} was added" for cell in is_ if cell not in was]
        differences += [f"{cell} has another type" for cell in was if cell in is_ and was[cell] != is_[cell]]
    if differences:
        raise CourseError(
            f"{assignment} has submissions in the gradebook. Its notebooks and its cells with a grade id cannot be "
            f"added, removed or renamed now, but {', '.join(differences)}. Nothing was changed. Restore the old "
            "names. Put new tests into existing test cells, as additional checks."
        )


def _recorded(book) -> dict[str, set[str]]:
    """By name of a cell, the tables in which nbgrader has recorded it."""
    cells: dict[str, set[str]] = {}
    for table in ("grade", "solution", "task", "source"):
        for cell in getattr(book, f"{table}_cells"):
            cells.setdefault(cell.name, set()).add(table)
    return cells


def _to_be_recorded(notebook: NotebookNode) -> dict[str, set[str]]:
    """By name of a cell, the tables in which nbgrader would record it."""
    cells = {}
    tests = {"grade": utils.is_grade, "solution": utils.is_solution, "task": utils.is_task, "source": utils.is_locked}
    for cell in notebook.cells:
        if tables := {table for table, test in tests.items() if test(cell)}:
            cells[cell.metadata.nbgrader["grade_id"]] = tables | {"source"}
    return cells


def generate(course: Course, assignment: str, config: Config) -> None:
    """Release an assignment as nbgrader does: write release/, and enter the cells into the gradebook.

    Raises CourseError for what nbgrader refuses, and DBAPIError for what the database does; release/ is as before then.
    """
    _require_included(course, config)
    log, buffer = logging.Logger(assignment, logging.WARNING), BufferingHandler(sys.maxsize)
    log.addHandler(buffer)
    directory = CourseDirectory(config=config, log=log)
    directory.root, directory.assignment_id = str(course.root), assignment
    converter = Compiler(coursedir=directory, config=config, log=log)
    converter.force = True
    try:
        with _kept(course.path("release", assignment)):
            converter.start()
    except NbGraderException as error:
        logged = (record.exc_info[1] for record in buffer.buffer if record.exc_info)
        for cause in (converter.stopped_by, error, *logged):  # nbgrader raises something else than what a step raised
            # The text of nbgrader's error has the instructor's cells in it.
            if isinstance(database_error := said_by(cause), OperationalError):
                raise database_error from error
        messages = [record.getMessage() for record in buffer.buffer]
        text = "\n".join(messages)
        if "there are submissions associated with" in text:
            raise CourseError(
                f"{assignment} has submissions in the gradebook, but some of its cells were added, removed or "
                "renamed. Restore the grade ids of the released assignment, or start with a new gradebook."
            ) from error
        reason = converter.reason or " ".join((messages or [str(error)])[-1].split())
        raise CourseError(f"nbgrader could not release {assignment}: {reason}") from error


@contextlib.contextmanager
def _kept(folder: Path) -> Iterator[None]:
    """Inside, nbgrader may remove a folder and make it anew; after a fault, as of a full disk, the old one is back."""
    leftovers.finish_builds([folder.parent])
    if folder.is_symlink() or not folder.is_dir():
        yield
        return
    build = folder.parent / f"{leftovers.BUILD}{folder.name}"
    old = build / "old" / folder.name
    old.parent.mkdir(parents=True)
    try:
        folder.rename(old)
        yield
    except BaseException:
        if old.exists():
            shutil.rmtree(folder, ignore_errors=True)
            old.rename(folder)
        raise
    finally:
        shutil.rmtree(build, ignore_errors=True)


def _refuse_markers(notebook: Path, config: Config) -> None:
    if marker := marker_in(notebook.read_text(encoding="utf-8"), config):
        notebook.unlink()
        raise CourseError(
            f"The student version of {notebook.name} still had '{marker}', so this was removed. Write this marker "
            "on a line of its own, in a cell of the right type."
        )


# How nbgrader compiles an assignment into the students' version, with five differences. The steps are nbgrader's.
#
# A kernel whose language is ``python3`` is Python.
#
# A line that is almost a marker is refused: nbgrader would release the lines below it.
#
# ``### AUTOTEST`` lines are computed in the sandbox. nbgrader starts a kernel for them, in which the notebook's code
# has all permissions of its user, and fills in the course's templates in its own process.
#
# Only metadata and attachments that are known to be meant for students are kept. A solution may also be in a picture,
# in a widget's state, or in what another program wrote into the file.
#
# What a step refuses is reported with the notebook and the cell.

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
        if (written_in := language_of(nb.metadata)) != "python":
            if step.no_sandbox:
                return super().preprocess(nb, resources)
            raise CourseError(
                f"it is written in {written_in}. Lines with {self.autotest_delimiter} run code, and the sandbox does "
                "not support this language. With --no-sandbox they run with all your permissions; use that only "
                "for code that you trust"
            )
        seconds = float(Execute(parent=self.parent, config=self.config).timeout or 30)
        templates = mock.Mock(Environment=ImmutableSandboxedEnvironment, BaseLoader=BaseLoader)
        with (
            _kernel(seconds, step) as start,
            mock.patch.object(instantiatetests, "start_new_kernel", start),
            mock.patch.object(instantiatetests, "j2", templates),
        ):
            return super().preprocess(nb, resources)


@contextlib.contextmanager
def _kernel(seconds: float, step: Examine) -> Iterator[Callable]:
    """In place of jupyter_client's ``start_new_kernel``: it starts nothing before its first call."""
    with contextlib.ExitStack() as stack:

        def start(kernel_name: str, cwd: str | None) -> tuple[Kernel, Kernel]:
            grader = new_grader(seconds, step.no_sandbox, step.memory)
            stack.callback(grader.close)
            data = Path(cwd) if cwd else None
            kernel = Kernel(stack.enter_context(Session(grader.candidates, grader.examiners, data)), seconds)
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
        steps = [ours.get(step, step) for step in self.preprocessors]
        first = next((number for number, step in enumerate(steps) if step in STEPS), 0)
        self.preprocessors = [PlainLanguage, *steps[:first], RightMarkers, *steps[first:], NothingElse]

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
            cell = node.metadata.get("nbgrader", {}).get("grade_id") or node.get("id", "")
    if isinstance(error, OSError) and error.strerror:
        return f"{name}: cannot read or write {error.filename or 'a file'}: {error.strerror}"
    words = " ".join(str(error).split()) or type(error).__name__
    if not isinstance(error, VivaError) and isinstance(error, KeyError | NameError | AttributeError | TypeError):
        words = f"{type(error).__name__}: {words}"
    below = error.__cause__ or error.__context__
    because = f" ({' '.join(str(below).split())})" if below and str(below) and str(below) not in words else ""
    return f"{name}{f', cell {cell!r}' if cell else ''}: {words}{because}"
