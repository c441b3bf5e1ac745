"""A new assignment to start from: small, complete, and passing its audit."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from viva.course.course import Course
from viva.course.processes import leftovers
from viva.verdict import CourseError

NAME = re.compile(r"[A-Za-z][\w-]*")
KERNEL = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}

TITLE = """# {title}

Say in two sentences what this notebook is about. Afterwards you can

- subtract from each column of a table its mean.

| exercise | points |
|---|---|
| 1 centring | 4 |
| 2 a written answer | 2 |
| total | 6 |

Estimated time: 10 minutes."""
SETUP = """import numpy as np"""
TASK = """## Exercise 1: centring

A table has one example in each row. Write `centre(table)`, which returns a new table of the same shape in which every
column has the mean zero. It works for any sizes, and `table` stays as it is.

**What is checked**
- a table of two columns, in view;
- new random tables of several sizes: the shape, the numbers, and that the argument stays as it was."""
ANSWER = '''def centre(table):
    """Subtract from each column of a table its mean."""
    ### BEGIN SOLUTION
    means = np.mean(table, axis=0)
    return table - means
    ### END SOLUTION'''
TESTS = """### CHECK (1 point): a table of two columns
result = centre(np.array([[1.0, 2.0], [3.0, 6.0]]))
assert np.shape(result) == (2, 2), "The result should have the shape of the table."
assert np.allclose(result, [[-1, -2], [1, 2]]), "Every column should have the mean zero."
### CHECK (3 points): new random tables, which stay as they are
table = np.array([[4.0], [0.0], [3.0]])
before = table.copy()
result = centre(table)
assert np.array_equal(table, before), "The function changes its argument."
assert np.shape(result) == (3, 1), "The result should have the shape of the table."
assert np.allclose(result, [[5 / 3], [-7 / 3], [2 / 3]]), "Every column should have the mean zero."
### BEGIN HIDDEN TESTS
rng = np.random.default_rng(1)
for rows, columns in ((3, 2), (2, 4), (1, 3), (4, 1)):
    table = rng.normal(size=(rows, columns))
    before = table.copy()
    result = centre(table)
    expected = [
        [before[i, j] - sum(before[:, j]) / rows for j in range(columns)] for i in range(rows)
    ]
    assert np.array_equal(table, before), "The function changes its argument."
    assert np.shape(result) == (rows, columns), "The result should have the shape of the table."
    assert np.allclose(result, expected), "For a new table the numbers are not right."
### END HIDDEN TESTS"""
QUESTION = """## Exercise 2: why (2 points)

Why is it useful that every column has the mean zero? Answer in two sentences.

### BEGIN MARK SCHEME
One point for a use, one point for the reason.
### END MARK SCHEME"""

ANSWERS = {
    "right/loops.py": '''"""One column after the other, in a loop."""

# %% centre
def centre(table):
    result = np.empty(table.shape)
    for j in range(table.shape[1]):
        result[:, j] = table[:, j] - sum(table[:, j]) / len(table)
    return result
''',
    "wrong/rows.py": '''"""Every row has the mean zero, instead of every column.

Loses:
    test_centre: *
"""

# %% centre
def centre(table):
    return table - np.mean(table, axis=1, keepdims=True)
''',
    "wrong/input_changed.py": '''"""The argument is changed in place.

Loses:
    test_centre: new random tables, which stay as they are
Keeps:
    everything else
"""

# %% centre
def centre(table):
    table -= np.mean(table, axis=0)
    return table
''',
}


def write_assignment(course: Course, assignment: str) -> list[Path]:
    """Write a new assignment's source notebook and known answers; their paths.

    Raises CourseError for a name that cannot be one, and when there is such an assignment already.
    """
    if not NAME.fullmatch(assignment):
        raise CourseError(
            f"'{assignment}' is not a valid assignment name. Begin with a letter; use letters, digits and _."
        )
    source, answers = course.path("source", assignment), course.root / "answers" / assignment
    for folder in (source, answers):
        if folder.exists():
            raise CourseError(f"{folder} exists already; nothing was written. Choose another name.")
    files = {source / f"{assignment}.ipynb": nbformat.writes(_notebook(assignment)) + "\n"}
    files |= {answers / name: text for name, text in ANSWERS.items()}
    try:
        for path, text in files.items():
            leftovers.write(path, text)
    except BaseException:  # a full disk, or Ctrl-C; a part of an assignment would be in the way of the next try
        for folder in (source, answers):
            shutil.rmtree(folder, ignore_errors=True)
        raise
    return list(files)


def _notebook(assignment: str) -> NotebookNode:
    promise = {"no_surprise": True}  # what hidden lines notice of known mistakes, visible ones do, too
    metadata = {"kernelspec": KERNEL, "language_info": {"name": "python"}, "viva": promise}
    notebook = new_notebook(metadata=metadata)
    title = assignment.replace("_", " ").replace("-", " ")
    notebook.cells = [
        new_markdown_cell(TITLE.format(title=title), id="title"),
        _code("setup", SETUP, locked=True),
        new_markdown_cell(TASK, id="centring"),
        _code("centre", ANSWER, solution=True),
        _code("test_centre", TESTS, locked=True, grade=True, points=4),
        new_markdown_cell(QUESTION, id="why_centre", metadata=_about("why_centre", locked=True, task=True, points=2)),
        new_markdown_cell("YOUR ANSWER HERE", id="why_centre_answer"),
    ]
    return notebook


def _code(name: str, source: str, **about: object) -> NotebookNode:
    return new_code_cell(source, id=name, metadata=_about(name, **about))


def _about(name: str, **about: object) -> dict:
    known = {"grade": False, "grade_id": name, "locked": False, "schema_version": 3, "solution": False, "task": False}
    return {"nbgrader": known | about}
