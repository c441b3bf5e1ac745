"""All that grading an assignment depends on beside a submission: read once, and the same for everybody.

It crosses to whoever grades, in this machine or another, as bytes. Who has it needs neither the course nor its
gradebook.
"""

from __future__ import annotations

import copy
import pickle
import shutil
import tempfile
import weakref
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path

from traitlets.config import Config

from viva.course.course import Course
from viva.course.database import AGAIN
from viva.course.examining.autograde import Examine
from viva.course.examining.graders import examination
from viva.course.examining.rehearsals import Rehearsals
from viva.course.gradebook.recording import Expected
from viva.course.releasing import contract
from viva.course.releasing.contract import Contract, released_notebook
from viva.course.releasing.variants import Variants, seeds_of
from viva.course.source.markers import require_usual_hidden
from viva.engine.blueprint import Cell
from viva.engine.checks import parts_of
from viva.engine.examination import Examination
from viva.engine.grading import Grader
from viva.engine.session import ExaminerFault
from viva.folder import fill, walk
from viva.notebook.cell import Purpose
from viva.notebook.syntax import parsed
from viva.submission.blind import Blind, forms_of
from viva.submission.cells.handout import Shipped
from viva.submission.cells.places import Released
from viva.submission.sanitize import markdown_of
from viva.submission.work import Forms
from viva.verdict import BlueprintError, CourseError, VivaError


@dataclass
class Material:
    """The facts about an assignment's notebooks, by name, and the assignment's own ``files``, by path."""

    assignment: str
    config: Config | None
    expected: Expected
    released: Mapping[str, Released]
    shipped: Shipped
    examinations: dict[str, Examination | VivaError]
    """Where one cannot be graded, the reason."""
    given: dict[str, frozenset[str]]
    """The instructor's texts."""
    forms: Forms
    files: dict[str, bytes]
    seeds: dict[str, int] | None = None
    """By student, where the assignment has variants; the key that they come from stays in the course."""
    edition: str = ""
    """The name of the contract (``viva.editions``)."""

    @classmethod
    def of(cls, course: Course, assignment: str, config: Config, expected: Expected, grader: Grader) -> Material:
        """Read an assignment and rehearse its solutions. Raises CourseError where it has neither release nor source."""
        kept = contract.of(course, assignment, expected)
        material = cls.read(course, assignment, config, expected, kept)
        material.rehearse(kept.folder / contract.NOTEBOOKS, grader, Rehearsals.of(course.directory, assignment))
        for name, found in material.examinations.items():
            if isinstance(found, VivaError):
                material.examinations[name] = type(found)(kept.named(str(found)))
        return material

    @classmethod
    def read(
        cls, course: Course, assignment: str, config: Config, expected: Expected, kept: Contract | None = None
    ) -> Material:
        """All of it but what rehearsing shows, which differs from machine to machine. Raises CourseError as ``of``.

        ``kept`` is the assignment's contract, where the caller has it.
        """
        require_usual_hidden(config)
        kept = kept or contract.of(course, assignment, expected)
        given = {path.stem: markdown_of(path, path.stat().st_mtime_ns) for path in kept.notebooks}
        files = {str(path.relative_to(kept.files)): path.read_bytes() for path in walk(kept.files)}
        released, shipped = handed_out(course, assignment, expected, kept)
        forms = forms_of(Blind(config=_rooted(config, course)))
        seeds = seeds_of(course, assignment)
        named = kept.facts.edition
        return cls(assignment, config, expected, released, shipped, {}, given, forms, files, seeds, named)

    def rehearse(self, source: Path, grader: Grader, rehearsals: Rehearsals) -> None:
        """Rehearse the solutions; the folder ``source`` holds the complete notebooks."""
        only = Examine(config=self.config).visible_only
        for name in self.expected.notebooks:
            examination = _rehearsed(source / f"{name}.ipynb", self, grader, rehearsals)
            if only and isinstance(examination, Examination):
                examination = visible(examination, self._texts(name))
            self.examinations[name] = examination

    def examination(self, notebook: str) -> Examination:
        """The examination of a notebook. Raises the reason why it cannot be graded."""
        examination = self.examinations[notebook]
        if isinstance(examination, VivaError):
            raise examination
        return examination

    def without_hidden_lines(self) -> Material:
        """The same without the hidden lines of the tests: students may read its results before the deadline."""
        examinations = {
            name: without_hidden_lines(examination, self._texts(name))
            if isinstance(examination, Examination)
            else examination
            for name, examination in self.examinations.items()
        }
        config = copy.deepcopy(self.config)
        if config is not None:
            config.Examine.carry_forward = []
        return replace(self, examinations=examinations, config=config)

    def _texts(self, notebook: str) -> dict[str, str]:
        """The released texts of a notebook's cells, by name."""
        return {slot.name: slot.source for slot in self.released[notebook].slots}

    @cached_property
    def folder(self) -> Path:
        """The assignment's own files, in a folder that goes with this object."""
        folder = Path(tempfile.mkdtemp(prefix="viva-files-"))
        weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        fill(folder, self.files)
        return folder

    def to_bytes(self) -> bytes:
        """The material as bytes; the configuration stays behind where it holds what only this process has."""
        try:
            config = pickle.dumps(_without_secrets(self.config))
        except (pickle.PicklingError, AttributeError, TypeError):  # a function that stands in nbgrader_config.py
            config = b""
        return pickle.dumps((replace(self, config=None), config))

    @staticmethod
    def from_bytes(data: bytes, config: Config | None = None) -> Material:
        """The material in what ``to_bytes`` gave, and in nothing else: whoever made it can run code here.

        A process of the same course has the ``config`` already. Raises CourseError where nobody has it.
        """
        material, sent = pickle.loads(data)
        if config is None and not sent:
            raise CourseError(
                "nbgrader_config.py defines a function, which cannot be sent to another process. Move the function "
                "into a module beside that file, and import it."
            )
        return replace(material, config=pickle.loads(sent) if config is None else config)


def handed_out(
    course: Course, assignment: str, expected: Expected, kept: Contract | None
) -> tuple[dict[str, Released], Shipped]:
    """An assignment's notebooks as students got them, by name, and what was released beside them.

    Raises CourseError when neither release/ nor the contract has one, and there is no source.
    """
    folders = course.path("release", assignment), contract.files_of(course.directory, assignment)
    shipped = Shipped(next(filter(Path.is_dir, folders), folders[0]), set(expected.notebooks))
    cells = {name: {cell.name for cell in book.source_cells} for name, book in expected.notebooks.items()}
    released = {name: released_notebook(course, assignment, name, names, kept) for name, names in cells.items()}
    return {name: Released(book, shipped.texts) for name, book in released.items()}, shipped


def _rehearsed(source: Path, material: Material, grader: Grader, rehearsals: Rehearsals) -> Examination | VivaError:
    """The examination of a notebook, or the reason why it cannot be graded."""
    expected, name = material.expected, source.stem
    try:
        texts = expected.locked(name), expected.stubs(name), expected.tests(name)
        return grader.twice(partial(examination, source, grader, *texts, rehearsals, material.folder))
    except ExaminerFault as fault:
        return BlueprintError(f"{source}: {fault}")
    except VivaError as error:
        return error
    except OSError as error:  # too many files are open, or there is no room for one
        return VivaError(trouble(error))


def trouble(error: OSError) -> str:
    """A sentence for an error of the operating system."""
    return f"it could not be graded: {error.strerror or error}. {AGAIN}"


def _without_secrets(config: Config | None) -> Config | None:
    """The configuration without the key of variants, the gradebook's address and whatever an exchange needs."""
    if config is None:
        return None
    sections = {
        name: section for name, section in config.items() if name != Variants.__name__ and "Exchange" not in name
    }
    public = Config(copy.deepcopy(sections))
    public.CourseDirectory.pop("db_url", None)
    return public


def _rooted(config: Config, course: Course) -> Config:
    """The configuration with the place of the course, which names of files are relative to."""
    return Config(config, CourseDirectory=Config(config.CourseDirectory, root=str(course.root)))


# --- the tests without their hidden lines


def visible(examination: Examination, released: Mapping[str, str]) -> Examination:
    """The examination of the test cells' ``released`` texts, by name: no hidden line is in it, so none can be run.

    Checks without a visible line are left out, and a test cell that is not among them has none.
    """
    cells = (
        _as_released(cell, released.get(cell.id, "")) if cell.purpose == Purpose.TESTS else cell
        for cell in examination.blueprint.cells
    )
    return replace(examination, blueprint=replace(examination.blueprint, cells=tuple(cells)))


def without_hidden_lines(examination: Examination, released: Mapping[str, str]) -> Examination:
    """The same for the ``released`` texts, with all checks: one without a visible line looks at nothing."""
    shown = visible(examination, released).blueprint
    cells = (
        _with_all_checks(cell, full) if full.purpose == Purpose.TESTS else cell
        for cell, full in zip(shown.cells, examination.blueprint.cells, strict=True)
    )
    return replace(examination, blueprint=replace(shown, cells=tuple(cells)))


def _as_released(cell: Cell, source: str) -> Cell:
    prelude, checks = parts_of(source)
    if not checks and len(cell.checks) == 1:
        prelude, checks = "", (replace(cell.checks[0], source=source),)
    titles = {check.title for check in cell.checks}
    # Without its hidden lines a statement may be cut in half.
    readable = (check for check in checks if parsed(check.source) is not None)
    visible_checks = tuple(check for check in readable if check.title in titles and not check.hidden)
    return replace(cell, source=source, prelude=prelude, checks=visible_checks)


def _with_all_checks(shown: Cell, full: Cell) -> Cell:
    """A released test cell with each check of the full one, in its order."""
    left = list(shown.checks)
    checks = []
    for check in full.checks:
        match = next((shown_check for shown_check in left if shown_check.title == check.title), None)
        checks.append(replace(check, source=match.source if match else ""))
        if match:
            left.remove(match)
    return replace(shown, checks=tuple(checks))
