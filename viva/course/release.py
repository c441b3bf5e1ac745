"""From source/ to release/: the student version of an assignment, compiled by nbgrader."""

from __future__ import annotations

import contextlib
import logging
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from logging.handlers import BufferingHandler
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from nbgrader import utils
from nbgrader.converters import GenerateAssignment, NbGraderException
from nbgrader.coursedir import CourseDirectory
from nbgrader.preprocessors import ClearHiddenTests, Execute, IncludeHeaderFooter, SaveCells
from traitlets.config import Config

from viva import wording
from viva.course.autograde import Examine
from viva.course.course import Course
from viva.course.gradebook.record import Expected
from viva.course.graders import limits_of
from viva.course.processes import leftovers
from viva.engine import libraries
from viva.engine.blueprint import Blueprint, language_of, read_blueprint, read_notebook
from viva.engine.grading import Grader
from viva.engine.rehearsal import rehearse
from viva.engine.session import ExaminerFault
from viva.engine.studentcopy import describe
from viva.verdict import CourseError, VivaError

MARKERS = ("BEGIN SOLUTION", "BEGIN HIDDEN TESTS", "BEGIN MARK SCHEME")
ERROR = re.compile(r"^[\w.]+Error: (.+)", re.MULTILINE)  # what the traceback in a log comes to, causes first


@dataclass(frozen=True)
class Release:
    """What was released: the blueprints of the notebooks, and every other file that went along."""

    assignment: str
    blueprints: tuple[Blueprint, ...]
    extra_files: tuple[str, ...]
    remarks: tuple[str, ...] = ()

    def record(self) -> dict:
        """What was released, as JSON knows it."""
        points = {"automatic_points": self.automatic_points, "manual_points": self.manual_points}
        return {"assignment": self.assignment, **points, "extra_files": self.extra_files, "remarks": self.remarks}

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

    The grader rehearses the visible checks, so that students can have them graded; without one a new one does. Of what
    no audit has proven the hidden ones are rehearsed too, to say which cannot be graded, and which are single-process
    cells; of the others the audit says it.
    Raises BlueprintError when a notebook's checks do not fit its cells, and CourseError when
    nbgrader refuses; release/ then stays as it was or lacks the assignment, and never holds a part.
    """
    blueprints = tuple(read_blueprint(path) for path in course.source_notebooks(assignment))
    _require_the_same_cells(course, assignment)
    generate(course, assignment, config)
    folder = course.path("release", assignment)
    notebooks = {f"{blueprint.name}.ipynb" for blueprint in blueprints}
    files = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
    for name in notebooks:
        _refuse_markers(folder / name)
    with contextlib.nullcontext(grader) if grader else rehearsing(course, [assignment], config) as grader:
        remarks = [_describe(path, folder / path.name, grader) for path in course.source_notebooks(assignment)]
        if unproven:
            remarks += [
                one for path in course.source_notebooks(assignment) for one in _tests(course, assignment, path, grader)
            ]
    return Release(assignment, blueprints, tuple(sorted(files - notebooks)), tuple(filter(None, remarks)))


@contextlib.contextmanager
def rehearsing(course: Course, assignments: list[str], config: Config) -> Iterator[Grader]:
    """A grader for the instructor's own code, which needs no wall."""
    seconds = float(Execute(config=config).timeout or 30)
    wanted = libraries.wanted(path for name in assignments for path in course.source_notebooks(name))
    grader = Grader(seconds, libraries=wanted, limits=limits_of(seconds, Examine(config=config).memory))
    try:
        yield grader
    finally:
        grader.close()


def _describe(source: Path, path: Path, grader: Grader) -> str:
    """Write into a released notebook what `viva check` needs to know; a sentence when that cannot be."""
    released = nbformat.read(path, as_version=4)
    cells = [cell for cell in released.cells if cell.cell_type == "code" and utils.is_locked(cell)]
    texts = {cell.metadata.nbgrader.get("grade_id", ""): cell.source for cell in cells}
    language = language_of(released.metadata)
    if language != "python":
        return (
            f"{path.name} is written in {language}: it is graded as nbgrader does it, tests and answers in one kernel, "
            "and only with 'viva grade --no-wall', as nothing walls that kernel in. 'viva check' cannot check it"
        )
    try:
        known = grader.twice(lambda: rehearse(source, grader, source.parent, texts))
    except (VivaError, ExaminerFault) as error:
        return f"{path.name} does not say how it is checked, so 'viva check' knows less than the grader: {error}"
    released.metadata.setdefault("viva", NotebookNode())["check"] = describe(
        released, known, grader.seconds, grader.limits.memory_bytes
    )
    leftovers.write(path, f"{nbformat.writes(released)}\n")
    return ""


def _tests(course: Course, assignment: str, source: Path, grader: Grader) -> list[str]:
    """Sentences about the test cells that cannot be graded, as the solution does not pass them either, and about the
    single-process cells."""
    with course.gradebook() as gradebook:
        locked = Expected.of(gradebook, assignment).locked(source.stem)
    try:
        known = grader.twice(lambda: rehearse(source, grader, source.parent, locked))
    except (VivaError, ExaminerFault) as error:
        return [f"{source.name} cannot be graded: {error}"]
    refused = "; ".join(
        f"the cell '{cell}' will be ungraded for everybody: {wording.sentence(why)}"
        for cell, why in known.refused.items()
    )
    return [refused, *known.single_process_sentences().values()]


def released_notebook(course: Course, assignment: str, notebook: str, cells: set[str]) -> NotebookNode:
    """A notebook as students got it: the one in release/, or compiled anew where that is gone or not of this source.

    ``cells`` are the grade ids that the gradebook knows. Raises CourseError when there is no source either.
    """
    path = course.path("release", assignment) / f"{notebook}.ipynb"
    try:
        released = nbformat.read(path, as_version=4)
        found = {cell.metadata.nbgrader.get("grade_id") for cell in released.cells if "nbgrader" in cell.metadata}
        if cells <= found:
            return released
    except Exception as error:
        logging.getLogger("viva").debug("%s is compiled anew: %s", path, error)
    return compiled(course, assignment, notebook)


def compiled(course: Course, assignment: str, notebook: str, locked: dict[str, str] | None = None) -> NotebookNode:
    """The student version of a source notebook, in memory; neither release/ nor the gradebook is touched.

    ``locked`` is filled with the texts of locked cells, hidden lines included, by grade id. Raises CourseError.
    """
    config = course.directory.config
    _require_included(course, config)
    source = course.path("source", assignment) / f"{notebook}.ipynb"
    resources = {"nbgrader": {"notebook": notebook, "assignment": assignment, "student": "."}}
    resources["metadata"] = {"path": str(source.parent)}  # where autotests.yml may lie
    converter = GenerateAssignment(coursedir=course.directory, config=config, log=logging.getLogger("viva"))
    try:
        node = read_notebook(source)
        with contextlib.chdir(course.root):  # a header is named from there
            for step in converter.preprocessors:
                if locked is not None and issubclass(step, ClearHiddenTests):
                    cells = [cell for cell in node.cells if cell.cell_type == "code" and utils.is_locked(cell)]
                    locked |= {cell.metadata.nbgrader["grade_id"]: cell.source for cell in cells}
                if not issubclass(step, SaveCells):
                    node, resources = step(config=config)(node, resources)
    except VivaError:
        raise
    except Exception as error:  # its steps raise what comes their way, schemas of three libraries among it
        reason = f"{error or type(error).__name__}".splitlines()[0]
        raise CourseError(f"{source} could not be compiled into the students' version: {reason}") from error
    return node


def _require_included(course: Course, config: Config) -> None:
    """Raises CourseError where a header or footer is not there, which nbgrader tells with the number of an error."""
    step = IncludeHeaderFooter(config=config)
    for what, name in (("header", step.header), ("footer", step.footer)):
        if name and not Path(course.root, name).is_file():
            raise CourseError(
                f"There is no file {Path(course.root, name)}, which nbgrader_config.py includes in every notebook. Put "
                f"it there, or correct c.IncludeHeaderFooter.{what}."
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
    said = []
    for notebook in sorted(old.keys() | new.keys()):
        if notebook not in new or notebook not in old:
            said.append(f"the notebook {notebook}.ipynb is {'new' if notebook in new else 'gone'}")
            continue
        was, is_ = old[notebook], new[notebook]
        said += [f"{cell} is gone" for cell in was if cell not in is_]
        said += [f"{cell} is new" for cell in is_ if cell not in was]
        said += [f"{cell} is of another kind" for cell in was if cell in is_ and was[cell] != is_[cell]]
    if said:
        raise CourseError(
            f"{assignment} has submissions in the gradebook, so no notebook and no cell with a grade id can be added, "
            f"removed or renamed, but {', '.join(said)}. Nothing was changed. Give notebooks and cells the names "
            "that they had; what more is to be tested can be a further check in a test cell that is there."
        )


def _recorded(book) -> dict[str, set[str]]:
    """By name, what nbgrader has recorded a cell as."""
    found: dict[str, set[str]] = {}
    for table in ("grade", "solution", "task", "source"):
        for cell in getattr(book, f"{table}_cells"):
            found.setdefault(cell.name, set()).add(table)
    return found


def _to_be_recorded(notebook: NotebookNode) -> dict[str, set[str]]:
    """By name, what nbgrader would record a cell as."""
    found = {}
    tests = {"grade": utils.is_grade, "solution": utils.is_solution, "task": utils.is_task, "source": utils.is_locked}
    for cell in notebook.cells:
        if tables := {table for table, test in tests.items() if test(cell)}:
            found[cell.metadata.nbgrader["grade_id"]] = tables | {"source"}
    return found


def generate(course: Course, assignment: str, config: Config) -> None:
    """What nbgrader does to release an assignment: release/ is written, the gradebook knows its cells."""
    _require_included(course, config)
    log, kept = logging.Logger(assignment, logging.WARNING), BufferingHandler(sys.maxsize)
    log.addHandler(kept)
    directory = CourseDirectory(config=config, log=log)
    directory.root, directory.assignment_id = str(course.root), assignment
    converter = GenerateAssignment(coursedir=directory, config=config, log=log)
    converter.force = True
    try:
        converter.start()
    except NbGraderException as error:
        messages = [record.getMessage() for record in kept.buffer]
        text = "\n".join(messages)
        if "there are submissions associated with" in text:
            raise CourseError(
                f"{assignment} has submissions in the gradebook, and its cells were added, removed or renamed since. "
                "Keep the grade ids of a released assignment, or start from a new gradebook."
            ) from error
        reasons = list(dict.fromkeys(ERROR.findall(text))) or [" ".join((messages or [str(error)])[-1].split())]
        raise CourseError(f"nbgrader could not release {assignment}: {' '.join(reversed(reasons))}") from error


def _refuse_markers(notebook: Path) -> None:
    text = notebook.read_text(encoding="utf-8")
    for marker in MARKERS:
        if marker in text:
            notebook.unlink()
            raise CourseError(
                f"The student version of {notebook.name} still held the words '{marker}', so it was removed. "
                "Write the marker on a line of its own, in a cell of the right kind."
            )
