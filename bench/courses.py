"""Courses that measurements grade: one released assignment, with right and wrong submissions of known answers."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat

PROJECT = Path(__file__).resolve().parents[1]
BIN = Path(sys.executable).parent
STOCK = """
c = get_config()
c.CourseDirectory.course_id = "viva"
c.KernelManager.transport_encryption = "auto"
"""
"""The configuration of a course that nbgrader grades alone."""
PICTURES = "import matplotlib.pyplot as plt\n"


def make_course(
    root: Path, assignment: str, count: int, config: str | None = None, pictures: bool = True, origin: Path = PROJECT
) -> Path:
    """A released course with ``count`` right and wrong submissions; without ``pictures`` no cell draws any.

    The assignment is that of the course in ``origin``.
    """
    from viva.engine.blueprint import read_blueprint
    from viva_audit.answers import fill_in, read_answers

    root.mkdir()
    shutil.copytree(origin / "source" / assignment, root / "source" / assignment)
    if not pictures:
        (source,) = (root / "source" / assignment).glob("*.ipynb")
        nbformat.write(without_pictures(nbformat.read(source, as_version=4)), source)
    for header in (origin / "source").glob("*.ipynb"):
        shutil.copy(header, root / "source")
    shutil.copy(origin / "nbgrader_config.py", root)
    run([BIN / "viva", "release", assignment, "--no-audit"], root)
    if config:
        (root / "nbgrader_config.py").write_text(config)
    (source,) = (root / "source" / assignment).glob("*.ipynb")
    blueprint, release = (
        read_blueprint(source),
        nbformat.read(root / "release" / assignment / source.name, as_version=4),
    )
    answers = read_answers(origin / "answers" / assignment, blueprint.language)
    notebooks = [nbformat.writes(fill_in(answer, release, blueprint)) for answer in answers]
    for number in range(count):
        folder = root / "submitted" / f"bench-{number:04}" / assignment
        folder.mkdir(parents=True)
        (folder / source.name).write_text(notebooks[number % len(notebooks)])
    return root


def without_pictures(notebook: nbformat.NotebookNode) -> nbformat.NotebookNode:
    """A notebook without the cells that draw, and without the library."""
    for cell in notebook.cells:
        cell.source = cell.source.replace(PICTURES, "")
    notebook.cells = [cell for cell in notebook.cells if cell.cell_type != "code" or "plt." not in cell.source]
    return notebook


def run(command: list, root: Path) -> None:
    environment = os.environ | {"PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}", "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(
        list(map(str, command)), cwd=root, env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode not in (0, 1):
        sys.exit(f"{command} failed:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
