"""The small course, graded."""

from __future__ import annotations

import contextlib
import shutil
from pathlib import Path

import nbformat
import pytest

from plugins.diagnosis.tests.course import NAME, SUBMISSIONS, WRITTEN, write_source
from tests.conftest import PROJECT, load
from viva.course.grading.batch import autograde
from viva.course.releasing.release import release


@pytest.fixture(scope="session")
def means(processes, tmp_path_factory) -> Path:
    """The course, graded."""
    root = tmp_path_factory.mktemp("means")
    shutil.copy(PROJECT / "nbgrader_config.py", root)
    write_source(root)
    shutil.copy(PROJECT / "source" / "header.ipynb", root / "source")
    course, config = load(root)
    with contextlib.chdir(root):
        release(course, NAME, config=config)
    for student, answers in SUBMISSIONS.items():
        notebook = nbformat.read(root / "release" / NAME / "means.ipynb", as_version=4)
        for cell in notebook.cells:
            cell.source = answers.get(cell.id, cell.source)
            if cell.id == "why":
                cell.source = WRITTEN.get(student, cell.source)
        (root / "submitted" / student / NAME).mkdir(parents=True)
        nbformat.write(notebook, root / "submitted" / student / NAME / "means.ipynb")
    list(autograde(course, course.submissions([NAME]), config=config))
    return root
