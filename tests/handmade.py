"""Cells as nbgrader marks them, and small courses, made by hand."""

from __future__ import annotations

import contextlib
import shutil
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from traitlets.config import Config

from tests.conftest import PROJECT, load
from viva.course.course import Course

PYTHON = {"kernelspec": {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}}


def marks(name: str, **flags: object) -> dict:
    """The metadata of a cell that nbgrader knows by this name."""
    known = {"schema_version": 3, "grade_id": name, "locked": False, "grade": False, "solution": False, "task": False}
    return {"nbgrader": known | flags}


def code(name: str, source: str, **flags: object) -> NotebookNode:
    return new_code_cell(source, id=name, metadata=marks(name, **flags))


def text(name: str, source: str, **flags: object) -> NotebookNode:
    return new_markdown_cell(source, id=name, metadata=marks(name, **flags))


def answer(name: str, source: str) -> NotebookNode:
    return code(name, source, solution=True)


def graded(name: str, source: str, points: float) -> NotebookNode:
    """A cell of tests."""
    return code(name, source, grade=True, locked=True, points=points)


def write_notebook(path: Path, *cells: NotebookNode, **metadata: object) -> Path:
    """Write a notebook in Python, and the folders above it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(new_notebook(cells=list(cells), metadata=PYTHON | metadata), path)
    return path


def empty_course(root: Path) -> Path:
    """A course with the project's configuration and header, and without an assignment."""
    (root / "source").mkdir(parents=True, exist_ok=True)
    shutil.copy(PROJECT / "nbgrader_config.py", root)
    shutil.copy(PROJECT / "source" / "header.ipynb", root / "source")
    return root


def released(root: Path, assignment: str) -> tuple[Course, Config]:
    """The course at ``root`` with its configuration, when it has released an assignment."""
    from viva.course.releasing.release import release

    course, config = load(root)
    with contextlib.chdir(root):
        release(course, assignment, config=config)
    return course, config


def submit(root: Path, student: str, assignment: str, **sources: str) -> Path:
    """Hand in what was released, with other sources in the cells of these ids; the folder of the submission."""
    folder = root / "submitted" / student / assignment
    folder.mkdir(parents=True)
    for path in (root / "release" / assignment).glob("*.ipynb"):
        notebook = nbformat.read(path, as_version=4)
        for cell in notebook.cells:
            cell.source = sources.get(cell.id, cell.source)
        nbformat.write(notebook, folder / path.name)
    return folder
