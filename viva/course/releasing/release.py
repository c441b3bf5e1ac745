"""From source/ to release/: the student version of an assignment, compiled by nbgrader."""

from __future__ import annotations

import contextlib
import logging
import re
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from logging.handlers import BufferingHandler
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from nbgrader import utils
from nbgrader.converters import NbGraderException
from nbgrader.coursedir import CourseDirectory
from sqlalchemy.exc import OperationalError
from traitlets.config import Config

from viva import doors, language, wording
from viva.course.course import Course
from viva.course.database import said_by, with_retries
from viva.course.examining.autograde import Examine
from viva.course.examining.graders import absent_libraries, new_grader
from viva.course.examining.rehearsals import Rehearsals
from viva.course.gradebook import agreement
from viva.course.gradebook.recording import Expected
from viva.course.processes import leftovers, slow
from viva.course.releasing import contract
from viva.course.releasing.compiler import Compiler, require_included
from viva.course.releasing.contract import Contract
from viva.course.source import leaving
from viva.course.source.machine import of_sources, published
from viva.course.source.markers import marker_in
from viva.course.source.timelimit import seconds_of
from viva.engine import libraries
from viva.engine.blueprint import Blueprint, read_blueprint, read_notebook
from viva.engine.credit import FULL, PART
from viva.engine.dialogue.expected import CREDIT
from viva.engine.examination import Examination
from viva.engine.grading import Grader
from viva.engine.kerneldialogue import KERNELS, dialogue_of
from viva.engine.session import ExaminerFault
from viva.folder import walk
from viva.language import Language
from viva.notebook.cell import ANSWERS, Purpose, grade_id
from viva.notebook.programming import PYTHON, language_of
from viva.record import CheckResult, Note
from viva.submission.studentcopy import describe
from viva.verdict import CourseError, Verdict, VivaError

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
    spoken = language.of_course(config)
    agreement.require_kept(course, [assignment])
    _require_own_files(course, assignment)
    beside = contract.files_beside(course, assignment)
    leaving.require_harmless(beside, course.path("source", assignment), config)
    leaving.require_present(course.path("source", assignment).parent, config)
    with contract.drafted(course, assignment) as draft:
        blueprints = tuple(map(read_blueprint, draft.notebooks))
        leaving.require_without_answers(beside, course.path("source", assignment), draft.answers())
        _require_the_same_cells(course, assignment, draft)
        with_retries(lambda: generate(course, assignment, config))
        folder, notebooks = course.path("release", assignment), {f"{blueprint.name}.ipynb" for blueprint in blueprints}
        files = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
        for name in notebooks:
            _refuse_markers(folder / name, config)
        expected = course.ask(lambda gradebook: Expected.of(gradebook, assignment))
        kept = contract.write(course, draft, expected)
    with (
        contextlib.nullcontext(grader) if grader else rehearsing(course, [assignment], config) as grader,
        slow.told(f"Running the solution of {assignment}"),
    ):
        rehearsals = Rehearsals.of(course.directory, assignment)
        remarks = [_describe(path, folder / path.name, grader, rehearsals, spoken, kept) for path in kept.notebooks]
        failed: list[str] = []
        single: list[str] = []
        for path in kept.notebooks if unproven else []:
            lost, cells = _tests(kept, path, expected, grader, rehearsals)
            failed, single = failed + lost, single + cells
        absent = absent_libraries(grader)
        inner = _in_folders(course, assignment, kept)
    remarks += [_name_problem(assignment), *map(without_answers, blueprints if unproven else ()), *single, *absent]
    remarks += inner
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
    seconds, step = seconds_of(config), Examine(config=config)
    wanted = libraries.wanted(path for name in assignments for path in course.source_notebooks(name))
    given = of_sources(course, assignments, config)
    grader = new_grader(seconds, step.no_sandbox, step.memory, libraries=wanted, machine=given)
    try:
        yield grader
    finally:
        grader.close()


def _describe(
    source: Path, path: Path, grader: Grader, rehearsals: Rehearsals, spoken: Language, kept: Contract
) -> str:
    """Write into a released notebook what `viva check` needs to know; a sentence when that cannot be."""
    released = nbformat.read(path, as_version=4)
    cells = [cell for cell in released.cells if cell.cell_type == "code" and utils.is_locked(cell)]
    texts = {grade_id(cell): cell.source for cell in cells}
    written_in = language_of(released.metadata)
    if written_in != PYTHON:
        checked = "'viva check' supports only Python"
        if dialogue_of(written_in):  # what runs beside the answer all the same, its cell's own sentence says
            return f"{path.name} is written in {written_in}. {checked}"
        package = KERNELS.packages.get(written_in.lower())
        return (
            f"{path.name} is written in {written_in}. Hidden tests run in the same kernel as the answer, after the "
            f"student's cells, so student code can read and change them while they run. {checked}"
            + (f". Another package runs them in a separate kernel: {doors.install(package)}" if package else "")
        )
    try:
        examination = grader.twice(lambda: rehearsals.examination(source, grader, texts, data=kept.files))
    except (VivaError, ExaminerFault) as error:
        why = kept.named(str(error))
        return f"{path.name} has no data for 'viva check', so the check is less strict than grading: {why}"
    released.metadata.setdefault("viva", NotebookNode())["check"] = describe(
        released, examination, grader.seconds, grader.limits.memory_bytes, spoken
    )
    code = [cell.source for cell in released.cells if cell.cell_type == "code"]
    if packages := published(libraries.required(code) & kept.facts.imports.keys()):
        released.metadata["viva"]["check"]["packages"] = packages
    leftovers.write(path, f"{nbformat.writes(released)}\n")
    return ""


def _tests(
    kept: Contract, source: Path, expected: Expected, grader: Grader, rehearsals: Rehearsals
) -> tuple[list[str], list[str]]:
    """Sentences about the checks that the solution does not pass when it is graded, and the single-process cells."""
    notebook = read_notebook(source)
    locked, points = expected.locked(source.stem), expected.tests(source.stem)
    try:
        examination = grader.twice(lambda: rehearsals.examination(source, grader, locked, points, kept.files))
        outcome = grader.grade(notebook, examination, kept.files)
    except (VivaError, ExaminerFault) as error:
        return [f"{source.name} cannot be graded: {kept.named(str(error))}"], []
    lost: list[str] = []
    for cell, results in outcome.checks.items():
        missed = [result for result in results if result.verdict is not Verdict.PASSED or result.earned < result.points]
        for result in missed:
            why = examination.failing.get(cell) if result is missed[0] else None
            lost.append(_of_solution(source, kept.source, cell, result, why))
    single = list(examination.single_process_sentences().values())
    if not examination.blueprint.is_python:
        single += _partial_credit(source.name, examination)
    return lost, single


def _partial_credit(notebook: str, examination: Examination) -> list[str]:
    """A sentence where the last value of a test cell is read as points; not every kernel's author means it so."""
    cells = [name.removeprefix(CREDIT) for name, kind in examination.kinds.items() if name.startswith(CREDIT)]
    cells = [cell for cell in cells if examination.kinds[CREDIT + cell] in (FULL, PART)]
    if not cells:
        return []
    return [
        f"{notebook}: the last value of {wording.listed(cells)} is a number with the solution, so it counts as "
        "points for the student. If it is not points, end the test cell with another line"
    ]


def _of_solution(source: Path, folder: Path, cell: str, result: CheckResult, why: Note | None) -> str:
    """A sentence on a check that the solution does not pass; ``why`` it does not in one process, where it does not."""
    notebook = source.name
    check = f"the cell '{cell}'" + (f", check '{result.title}'" if result.title != cell else "")
    reason = wording.reason(result).partition("\n")[0]
    if why and result.verdict is not Verdict.UNGRADED:
        reason = why_not(why, source, folder)
    if result.verdict is Verdict.UNGRADED:
        return f"{notebook}: {check} will be ungraded for all students: {reason}"
    if result.verdict is Verdict.PASSED:
        reason = f"it earns only {result.earned:g} of {wording.counted(result.points, 'point')}"
    return f"{notebook}: the solution does not pass {check}: {reason or result.word}"


def why_not(why: Note, source: Path, folder: Path) -> str:
    """Why the solution of a notebook does not pass a cell; where it lacks a file, as another notebook of the assignment
    writes that, with what to do in the source ``folder``."""
    sentence, lacking = wording.sentence(why), why.because or why
    if lacking.kind != "lacks_file":
        return sentence
    name, hint = Path(lacking.names[0]).name, f". Put it into {folder}, unless students submit it"
    for sibling in sorted(source.parent.glob("*.ipynb")):
        if sibling != source and any(name in cell.source for cell in read_notebook(sibling).cells):
            return (
                f"{sentence}. {sibling.name} uses this file too. But each notebook is graded in its own folder, "
                f"without the files that another notebook wrote{hint}"
            )
    return f"{sentence}{hint}"


def _in_folders(course: Course, assignment: str, kept: Contract) -> list[str]:
    """Sentences about notebooks in folders that another notebook runs or reads: nbgrader releases none of them."""
    source, code = course.path("source", assignment), [*libraries.sources(kept.notebooks)]
    paths = (
        path for path in walk(source, course.directory.ignore) if path.suffix == ".ipynb" and path.parent != source
    )
    return [
        f"{path.relative_to(source)} was not released, because nbgrader does not release notebooks in folders. "
        f"Students and grading do not get it. Move it into {source}"
        for path in paths
        if any(path.stem in text for text in code)
    ]


def _require_own_files(course: Course, assignment: str) -> None:
    """Raises CourseError for a link beside the notebooks that leads out of source/: nbgrader would release a copy."""
    around = course.path("source", assignment).parent.resolve()
    for path in sorted(course.path("source", assignment).rglob("*")):
        if path.is_symlink() and not path.resolve().is_relative_to(around):
            raise CourseError(
                f"{path} is a link to {path.resolve()}. That file is outside {around}, and students would get it. "
                "Nothing was changed. Replace the link by a copy, or remove it."
            )


def _require_the_same_cells(course: Course, assignment: str, draft: Contract) -> None:
    """Raises CourseError where nbgrader would refuse, before anything is changed: nbgrader removes release/ first."""
    with course.gradebook() as gradebook:
        if not gradebook.assignment_submissions(assignment):
            return
        old = {book.name: _recorded(book) for book in gradebook.find_assignment(assignment).notebooks}
    new = {path.stem: _to_be_recorded(read_notebook(path)) for path in draft.notebooks}
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
            f"{assignment} has submissions in the gradebook, so its notebooks and its cells with a grade id must "
            f"stay the same. But {', '.join(differences)}. Nothing was changed. Restore the old names. Put new tests "
            "into existing test cells, as additional checks."
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
            cells[grade_id(cell)] = tables | {"source"}
    return cells


def generate(course: Course, assignment: str, config: Config) -> None:
    """Release an assignment as nbgrader does: write release/, and enter the cells into the gradebook.

    Raises CourseError for what nbgrader refuses, and DBAPIError for what the database does; release/ is as before then.
    """
    require_included(course, config)
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
            f"The student version of {notebook.name} still had '{marker}', so this was removed. Write this marker on "
            "a separate line, in a cell of the right type."
        )
