"""An existing nbgrader notebook becomes a source notebook of this course, with a list of what it lacks.

Nothing that is asked, given or tested is changed: only schemas, ids, outputs and the metadata of other programs.
"""

from __future__ import annotations

import fnmatch
import itertools
import math
import os
import re
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import jsonschema
import nbformat
from nbformat import NotebookNode
from nbgrader.nbgraderformat import MetadataValidator, ValidationError
from nbgrader.nbgraderformat.common import SchemaMismatchError

from viva import doors
from viva.cleaning import plaintext
from viva.course.course import Course
from viva.course.processes import leftovers
from viva.course.releasing.compiler import OF_NOTEBOOK, compiled
from viva.course.source.skeleton import KERNEL, NAME
from viva.engine.blueprint import read_blueprint, read_notebook
from viva.notebook.cell import Purpose, grade_id, name_of
from viva.notebook.programming import PYTHON, language_of
from viva.verdict import CourseError, VivaError
from viva_audit.answers import read_answers
from viva_audit.hygiene import errors, warnings

ORIGINS = doors.Door(
    "viva.origins",
    adds="a tool whose notebooks `viva adopt --from=` converts",
    entry="a `viva_audit.adoption.Origin`",
    packages={"otter": "nbviva-otter"},
)
KEPT = ("nbgrader", "viva", "tags")
"""The metadata of a cell that mean something to the course; others are traces of the programs it went through."""
PRIVATE = (".*", "*.ipynb", "gradebook.db*", "nbgrader_config.py", "grades.csv", "excused.csv")
"""Files beside a notebook that are not its data: other notebooks, and what belongs to the instructor alone."""
MOST_FILES, MOST_BYTES = 100, 50 * 2**20
"""More than this beside a notebook is not an assignment's data, but somebody's folder of downloads."""
LISTED = 4
"""The most notebooks in a sentence."""


@dataclass(frozen=True)
class Origin:
    """A tool that notebooks come from (the door ``viva.origins``)."""

    convert: Callable[[NotebookNode, Path, list[str]], NotebookNode]
    """The notebook and its folder -> the same with nbgrader's metadata; the list gets a sentence for each thing that an
    author has to look at. Raises CourseError for a notebook that is not the tool's."""
    beside: tuple[str, ...] = ()
    """Patterns of the files beside the notebook that are the tool's, and not the assignment's data."""


@dataclass(frozen=True)
class Adopted:
    """What was written, what was changed on the way, what keeps the assignment from passing its audit, what the audit
    will warn of, and what would have it prove more; a sentence each."""

    assignment: str
    written: list[Path]
    changes: list[str]
    missing: list[str]
    style: list[str]
    advice: list[str]


def adopt(course: Course, notebook: Path, assignment: str = "", in_place: bool = False, origin: str = "") -> Adopted:
    """Make an nbgrader source notebook one of the course; its assignment is called like its folder by default.

    A notebook of another tool, its ``origin``, is converted first; the notebook itself stays as it is.

    With ``in_place`` the notebook is in the course's ``source/`` and is corrected there; the old one is kept in
    ``backup/``. Raises CourseError when it is not such a notebook, when a name does not fit, or when a file would be
    overwritten; nothing is written then.
    """
    notebook = notebook.expanduser()
    if not notebook.is_file():
        raise CourseError(
            f"The notebook {notebook} does not exist. Name one, as in: viva adopt ~/old/ps1/problem1.ipynb"
        )
    assignment = assignment or Path(os.path.normpath(notebook.absolute())).parent.name  # of ../x.ipynb, too
    if not NAME.fullmatch(assignment):
        raise CourseError(f"'{assignment}' is not a valid assignment name. Choose another, as in --as=ps11_my_topic.")
    tool = _tool(origin) if origin else None
    if in_place and origin:
        raise CourseError(
            "--in-place does not work with --from: a notebook of another tool is converted into a copy. Leave out "
            "--in-place."
        )
    if in_place:
        return _adopt_in_place(course, notebook, assignment)
    changes: list[str] = []
    text = nbformat.writes(_adapted(_read(notebook, tool, changes), _header(course), changes)) + "\n"
    folder = course.path("source", assignment)
    target = folder / f"{notebook.stem}.ipynb"
    files = {}
    if course.root.resolve().is_relative_to(notebook.parent.resolve()):  # beside it lie the course's answers
        changes.append(
            "Only the notebook was copied, because its folder contains this course. Copy the other files that it "
            f"needs into {folder}."
        )
    else:
        theirs = tool.beside if tool else ()
        files = _beside(notebook, [*course.directory.ignore, *theirs], changes)
    copies = {folder / name: file for name, file in files.items()}
    for path in (target, *copies):
        if path == target and path.exists() and path.samefile(notebook):
            raise CourseError(
                f"{path} is already in the course. To correct it in place, run: viva adopt --in-place {path}"
            )
        if path.exists() and (path == target or path.read_bytes() != copies[path].read_bytes()):
            raise CourseError(f"{path} exists already; nothing was written. Name another assignment with --as=NAME.")
    if existing := sorted(path.name for path in folder.glob("*.ipynb")):
        changes.append(
            f"The notebook was added to the assignment {assignment}, which also has "
            f"{plaintext.some(existing, LISTED)}. To make it a separate assignment, delete {target} and adopt it "
            "with --as=NAME."
        )
    copies = {path: file for path, file in copies.items() if not path.exists()}
    try:
        for path, file in copies.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, path)
        leftovers.write(target, text)
    except BaseException:  # a full disk, or Ctrl-C; a part would be in the way of the next try
        for path in copies:
            path.unlink(missing_ok=True)
        raise
    return Adopted(assignment, [target, *copies], changes, *_look_over(course, assignment, target))


def _adopt_in_place(course: Course, notebook: Path, assignment: str) -> Adopted:
    """Correct a notebook in ``source/``, after a copy of it was written into ``backup/``."""
    target = course.path("source", assignment) / notebook.name
    if not (target.is_file() and target.samefile(notebook)):
        raise CourseError(
            f"{notebook} is not in the course's source folder {course.path('source', assignment)}, so it was not "
            f"corrected in place. To copy it into the course: viva adopt {notebook}"
        )
    changes: list[str] = []
    original = target.read_bytes()
    text = nbformat.writes(_adapted(_read(target), _header(course), changes)) + "\n"
    if text.encode() == original:
        changes.append("No change was needed.")
        return Adopted(assignment, [], changes, *_look_over(course, assignment, target))
    folder = course.root / "backup" / assignment
    backups = (folder / f"{target.stem}{number or ''}.ipynb" for number in itertools.count())
    # A command that was killed has written the same copy already.
    backup = next(path for path in backups if not path.exists() or path.read_bytes() == original)
    folder.mkdir(parents=True, exist_ok=True)
    leftovers.write(backup, original.decode())
    leftovers.write(target, text)
    changes.append(f"A copy of the old notebook is in {backup}.")
    return Adopted(assignment, [target], changes, *_look_over(course, assignment, target))


def _tool(name: str) -> Origin:
    """The tool that a notebook comes from. Raises CourseError where no package knows it."""
    names = ORIGINS.entries()
    if name in names:
        return ORIGINS.load(name)
    others = f"It is not one of: {', '.join(names)}." if names else ""
    raise CourseError(f"--from={plaintext.line(name)}: {ORIGINS.lacking(name) or others}".strip())


def _read(path: Path, origin: Origin | None = None, changes: list[str] | None = None) -> NotebookNode:
    """The notebook with today's schemas of nbformat and nbgrader, after one of another ``origin`` was converted."""
    try:
        notebook = nbformat.read(path, as_version=4)
    except Exception as error:  # nbformat raises whatever a broken file leads to
        raise CourseError(f"{path} is not a notebook: {str(error).splitlines()[0]}.") from error
    if origin:
        if (language := language_of(notebook.metadata)) != PYTHON:
            raise CourseError(f"{path} is written in {language}. 'viva adopt --from' supports only Python.")
        notebook = origin.convert(notebook, path.parent, [] if changes is None else changes)
    try:
        notebook = MetadataValidator().upgrade_notebook_metadata(notebook)
    except (ValueError, TypeError) as error:
        raise CourseError(f"{path}: nbgrader does not accept the metadata of a cell: {error}.") from error
    if not any("nbgrader" in cell.metadata for cell in notebook.cells):
        raise CourseError(
            f"{path} is not an nbgrader source notebook: it has no answer, test or task. First mark its cells in "
            "JupyterLab's panel 'Create Assignment'. For a notebook of otter-grader, add --from=otter."
        )
    return notebook


def _header(course: Course) -> list[NotebookNode]:
    """The cells that the course puts around every notebook."""
    config = course.directory.config.get("IncludeHeaderFooter", {})
    paths = [course.root / config[name] for name in ("header", "footer") if config.get(name)]
    return [cell for path in paths if path.is_file() for cell in read_notebook(path).cells]


def _adapted(notebook: NotebookNode, header: list[NotebookNode], changes: list[str]) -> NotebookNode:
    """The notebook in the form of this course; ``changes`` gets a sentence for what an author should know."""
    texts = {" ".join(cell.source.split()) for cell in header} - {"", "---"}
    kept = [cell for cell in notebook.cells if " ".join(cell.source.split()) not in texts]
    if len(kept) < len(notebook.cells):
        changes.append("Cells that are also in the course's header were removed.")
    if any(cell.get("outputs") for cell in kept):
        changes.append("The outputs of earlier runs were cleared.")
    names = {cell.get("id", "") for cell in header}
    names |= {name for name in map(grade_id, kept) if re.fullmatch(r"[\w-]{1,64}", name, re.ASCII)}
    taken = {cell.get("id", "") for cell in header}
    cells = []
    for index, cell in enumerate(kept, start=1):
        about = _about(cell)
        wanted = grade_id(cell)
        if isinstance(written := about.get("points"), str) and (points := _number(written)) != written:
            about["points"] = points
            changes.append(f"The points of '{wanted}' were the text \"{written}\". They are a number now.")
        name = _free(wanted, taken) if about else _free(_speaking(cell, index), names | taken)
        taken.add(name)
        if about:
            about["grade_id"] = name
            cell.metadata.nbgrader = about
            if name != wanted:
                why = "two cells had this id" if name.startswith(wanted) else "an id can have letters, digits, _ and -"
                changes.append(f"The grade id '{wanted}' was changed to '{name}', because {why}.")
        metadata = {key: cell.metadata[key] for key in KEPT if key in cell.metadata}
        fields = {"cell_type": cell.cell_type, "id": name, "metadata": metadata, "source": cell.source}
        if cell.cell_type == "code":
            fields |= {"outputs": [], "execution_count": None}
        elif cell.get("attachments"):
            fields["attachments"] = cell.attachments
        cells.append(nbformat.from_dict(fields))
    about = _kernel(notebook)
    about |= {"viva": notebook.metadata["viva"]} if "viva" in notebook.metadata else {}
    adapted = nbformat.from_dict({"nbformat": 4, "nbformat_minor": 5, "metadata": about, "cells": cells})
    where = ""
    try:
        nbformat.validate(adapted)
        for cell in adapted.cells:
            where = f"cell '{cell.id}': "
            MetadataValidator().validate_cell(cell)
        where = ""
        MetadataValidator().validate_nb(adapted)
    except (nbformat.ValidationError, ValidationError, jsonschema.ValidationError, SchemaMismatchError) as error:
        reason = (getattr(error, "message", "") or str(error)).splitlines()[0]
        if path := list(getattr(error, "absolute_path", ())):
            reason = f"{'.'.join(map(str, path))}: {reason}"
        raise CourseError(f"The notebook cannot be adopted: {where}{reason}. Nothing was written.") from error
    return adapted


def _kernel(notebook: NotebookNode) -> dict:
    """What a notebook says of its kernel: of Python's the usual, of another what Jupyter knows it by."""
    if language_of(notebook.metadata) == PYTHON:
        return {"kernelspec": KERNEL, "language_info": {"name": PYTHON}}
    return {
        part: {name: about[name] for name in OF_NOTEBOOK[part] if name in about}
        for part in ("kernelspec", "language_info")
        if (about := notebook.metadata.get(part))
    }


def _about(cell: NotebookNode) -> dict:
    """What nbgrader says about a cell, without what a release adds; empty when the cell is none of nbgrader's."""
    metadata = dict(cell.metadata.get("nbgrader", {}))
    flags = {flag: bool(metadata.get(flag, False)) for flag in ("grade", "locked", "solution", "task")}
    if not any(flags.values()):
        cell.metadata.pop("nbgrader", None)
        return {}
    for name in ("checksum", "cell_type"):
        metadata.pop(name, None)
    return metadata | flags


def _number(text: str) -> float | str:
    """The points that a text such as "1" or "2.5" means; the text itself where it means none."""
    try:
        points = float(text)
    except ValueError:
        return text
    return (int(points) if points.is_integer() else points) if math.isfinite(points) else text


def _speaking(cell: NotebookNode, index: int) -> str:
    """A name for a cell that nbgrader does not name: its own, its heading, or its type and place."""
    if not re.fullmatch(r"[0-9a-f-]*", cell.get("id", "")):
        return cell.id
    heading = re.search(r"^#+ +(.+)$", cell.source, re.MULTILINE) if cell.cell_type == "markdown" else None
    words = re.findall(r"[a-z0-9]+", re.sub(r"\(.*?\)", "", heading[1].lower())) if heading else []
    called = {"markdown": "text", "code": "code"}.get(cell.cell_type, cell.cell_type)
    return "_".join(words[:4])[:40] if words else f"{called}_{index}"


def _free(wanted: str, taken: set[str]) -> str:
    """``wanted`` as a cell's id, with a number behind it when another cell has it."""
    wanted = re.sub(r"[^\w-]+", "_", wanted, flags=re.ASCII).strip("_")[:60] or "cell"
    names = (wanted, *(f"{wanted}_{number}" for number in range(2, len(taken) + 3)))
    return next(name for name in names if name not in taken)


def _beside(notebook: Path, ignored: list[str], changes: list[str]) -> dict[Path, Path]:
    """The files beside a notebook that are released along with it, by relative name; links as what they lead to.

    Raises CourseError for a link that leads out of the notebook's folder: what it leads to would be released.
    """
    root, files, seen = notebook.parent, {}, set()

    def look(folder: Path) -> None:
        if folder.resolve() in seen:
            return
        seen.add(folder.resolve())
        for path in sorted(folder.iterdir()):
            name = path.relative_to(root)
            if any(fnmatch.fnmatch(path.name, pattern) for pattern in (*PRIVATE, *ignored)):
                continue
            if path.is_symlink() and path.exists() and not path.resolve().is_relative_to(root.resolve()):
                raise CourseError(
                    f"{path} is a link to {path.resolve()}. That file is outside the notebook's folder, and "
                    "students would get it. Nothing was written. Replace the link by a copy, or remove it."
                )
            if path.is_dir():
                look(path)
            elif path.is_file():
                files[name] = path
                if path.is_symlink():
                    changes.append(f"{name} was a link to {path.resolve()}; it was replaced by a copy.")
            elif not path.exists():
                changes.append(f"{name} is a broken link and was skipped.")
            if len(files) > MOST_FILES or sum(file.stat().st_size for file in files.values()) > MOST_BYTES:
                raise CourseError(
                    f"The folder of {notebook} has more than {MOST_FILES} files or {MOST_BYTES // 2**20} MB, and "
                    "students would get all of them. Move the notebook and the files that it needs into a new "
                    "folder."
                )

    look(root)
    others = sorted(path.name for path in root.glob("*.ipynb") if path.name != notebook.name)
    if others:
        changes.append(f"Adopt the other notebooks in its folder one by one: {plaintext.some(others, LISTED)}.")
    return files


# --- what the audit will miss


def _look_over(course: Course, assignment: str, path: Path) -> tuple[list[str], list[str], list[str]]:
    """The errors and warnings that its audit will find, and what the audit will not prove.

    The notebook is only read, so what grading alone shows is not among them.
    """
    notebook = read_notebook(path)
    locked: dict[str, str] = {}
    try:
        release = compiled(course, assignment, path.stem, locked)
        blueprint = read_blueprint(path, locked)
        graded = read_answers(course.root / "answers" / assignment, blueprint.language)
    except VivaError as error:
        return [str(error)], [], []
    answers = list(dict.fromkeys(cell.id for cell in blueprint.cells if cell.purpose == Purpose.ANSWER))
    sources = {name: next(cell.source for cell in notebook.cells if name_of(cell) == name) for name in answers}
    bare = [name for name, source in sources.items() if "BEGIN SOLUTION" not in source]
    empty = [name for name in bare if "raise NotImplementedError" in sources[name] or not sources[name].strip()]
    missing = [
        f"Cell '{name}' has no solution. If this is the student version, adopt the instructor's notebook instead."
        for name in empty
    ]
    missing += errors(blueprint)
    ending = ".py" if blueprint.is_python else notebook.metadata.get("language_info", {}).get("file_extension", "")
    advice = [
        f"Cell '{name}' has no line '### BEGIN SOLUTION', so students get an empty cell."
        for name in bare
        if name not in empty
    ]
    for verdict, subject in (("right", "a second right solution"), ("wrong", "a mistake that students make")):
        files = [answer for answer in graded if answer.right == (verdict == "right")]
        named = set().union(*(answer.sections for answer in files))
        cells = [f"'{cell}'" for cell in answers if cell not in named]
        if cells:
            advice.append(
                f"The audit has no {verdict} answer for {', '.join(cells)}. Write {subject} into "
                f"answers/{assignment}/{verdict}/<name>{ending}."
            )
    if answers and not any(cell.purpose == Purpose.TESTS for cell in blueprint.cells):
        advice.append("No cell is graded automatically, so the audit has nothing to test.")
    return missing, warnings(notebook, release, blueprint), advice
