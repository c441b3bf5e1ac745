"""A student's folder is found by its name, also where nbgrader takes the name for a pattern.

nbgrader lists folders and notebooks by patterns into which it puts ids and paths as they are. With a [, * or ? in them
it finds nobody, or somebody else's notebook; and below a folder with a [ it recognizes nothing that is to be left out,
so that a graded notebook, hidden tests and all, would lie beside its page of feedback.
"""

from __future__ import annotations

import glob
import os
from collections.abc import Collection

from nbgrader import utils
from nbgrader.converters import NbGraderException
from nbgrader.converters.base import BaseConverter

from viva.folder import matches


def folders(path: str, student: str) -> list[str]:
    """What a student's path means: that of this name, where there is one, and else those of the pattern."""
    return [path] if student != "*" and os.path.lexists(path) else sorted(glob.glob(path))


def _init_notebooks(converter: BaseConverter) -> None:
    """nbgrader's, where only a student's id and a notebook's may be patterns, and only of no folder's name."""
    directory = converter.coursedir
    path = converter._format_source(directory.assignment_id, directory.student_id)
    found = folders(path, directory.student_id)
    if not found:
        _found_by_pattern(converter)  # says so, and what may be meant
    name = f"{directory.notebook_id}.ipynb"
    notebooks = {folder: glob.glob(os.path.join(glob.escape(folder), name)) for folder in found}
    converter.notebooks, converter.assignments = [], {folder: some for folder, some in notebooks.items() if some}
    if not converter.assignments:
        sentence = f"No notebooks were matched by '{os.path.join(path, name)}'"
        converter.log.error(sentence)
        raise NbGraderException(sentence)


def _is_ignored(filename: str, ignore_globs: Collection[str] | None = None) -> bool:
    return any(matches(os.path.basename(filename), pattern) for pattern in ignore_globs or ())


_found_by_pattern = BaseConverter.init_notebooks
BaseConverter.init_notebooks = _init_notebooks  # no setting leads there
utils.is_ignored = _is_ignored
