"""A small assignment whose hidden lines are easy to know again, and what students hand in for it."""

from __future__ import annotations

from pathlib import Path

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_markdown_cell, new_notebook

from tests.handmade import answer, code, empty_course, graded, released, text

SMALL, NOTEBOOK = "small", "doubling"
TESTS = """\
### CHECK 1: two is doubled
print("asked for", twice(2))
assert twice(2) == 4, f"twice(2) is {twice(2)}, not 4."
### CHECK 1: a word is doubled
### BEGIN HIDDEN TESTS
hidden_word = "kumquat-31415"
assert twice(hidden_word) == "kumquat-31415kumquat-31415", "A word is not doubled."
### END HIDDEN TESTS
### CHECK 1: other numbers
### BEGIN HIDDEN TESTS
for hidden_number in (271828, 161803):
    result = twice(hidden_number)
    assert result == 2 * hidden_number, f"For another number it gives {result}, which is wrong."
### END HIDDEN TESTS
### CHECK 1: an array
### BEGIN HIDDEN TESTS
np.testing.assert_allclose(twice(np.array([0.57721, 1.5])), [1.15442, 3], err_msg="Look at the first number.")
### END HIDDEN TESTS
"""
QUESTION = """\
## Why? (3 points)

Why is $x + x$ right?

### BEGIN MARK SCHEME
Two points for the persimmon argument, one for naming addition.
### END MARK SCHEME
"""
SECRETS = ("kumquat", "271828", "161803", "0.57721", "1.15442", "hidden_word", "persimmon")
"""Whatever a page holds, none of these may be in it."""
RIGHT = "def twice(x):\n    return x + x\n"
ANSWERS = {
    "right": RIGHT,
    "wrong": "def twice(x):\n    return x\n",
    "error": "def helper(x):\n    return x.nothing\n\n\ndef twice(x):\n    return helper(x)\n",
    "undefined": "def twice(x):\n    return double_it(x)\n",
    "shapes": "def twice(x):\n    return x + np.ones(7) if isinstance(x, np.ndarray) else x + x\n",
    "own_words": "def twice(x):\n    if x != 2:\n        raise ValueError('words are not numbers')\n    return 4\n",
    "timeout": "def twice(x):\n    while isinstance(x, str):\n        pass\n    return x + x\n",
    "killed": "import os\n\n\ndef twice(x):\n    return os._exit(1) if isinstance(x, str) else x + x\n",
    # what follows means to carry hidden arguments out
    "key": "def twice(x):\n    return {}[str(x)]\n",
    "message": "def twice(x):\n    raise ValueError(f'got {x!r}')\n",
    "assertion": "def twice(x):\n    assert x == 2, x\n    return x + x\n",
    "borrowed": (
        "def twice(x):\n    assert x == 2, f'For another number it gives {x!r}, which is wrong.'\n    return x + x\n"
    ),
    "class": "def twice(x):\n    raise type('K' + str(x).replace('-', '_'), (Exception,), {})('x')\n",
    "printing": "def twice(x):\n    print('asked about', x)\n    return x\n",
    "attribute": "def twice(x):\n    return getattr(twice, str(x))\n",
    "lines": (
        "import linecache\n\n\ndef twice(x):\n"
        "    name = '<ipython-input-9-abc>'\n"
        "    linecache.cache[name] = (1, None, [f'{x!r}\\n'], name)\n"
        "    exec(compile('raise ValueError', name, 'exec'))\n"
    ),
}


def source() -> NotebookNode:
    """The instructor's notebook."""
    cells = [
        new_markdown_cell("# Doubling\n\n## Exercise 1: twice (4 points)", id="title"),
        code("setup", "import numpy as np", locked=True),
        answer("twice", f"### BEGIN SOLUTION\n{RIGHT.rstrip()}  # by addition, as in the lecture\n### END SOLUTION"),
        graded("test_twice", TESTS.rstrip(), 4),
        text("why", QUESTION.rstrip(), task=True, locked=True, points=3),
        new_markdown_cell("YOUR ANSWER HERE", id="why_answer"),
    ]
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return new_notebook(cells=cells, metadata={"kernelspec": kernel, "viva": {"seconds": 2}})


def write_small(root: Path) -> None:
    """Put the assignment into a course's source/."""
    folder = root / "source" / SMALL
    folder.mkdir()
    nbformat.write(source(), folder / f"{NOTEBOOK}.ipynb")


def released_small(root: Path) -> tuple:
    """A new course with the small assignment, released; with its configuration."""
    write_small(empty_course(root))
    return released(root, SMALL)


def hand_in_small(root: Path, student: str, twice: str, why: str = "", more: tuple[NotebookNode, ...] = ()) -> Path:
    """Hand in an answer to it, with cells added at the end."""
    notebook = nbformat.read(root / "release" / SMALL / f"{NOTEBOOK}.ipynb", as_version=4)
    for cell in notebook.cells:
        cell.source = {"twice": twice, "why_answer": why}.get(cell.id, cell.source) or cell.source
    notebook.cells += more
    folder = root / "submitted" / student / SMALL
    folder.mkdir(parents=True)
    nbformat.write(notebook, folder / f"{NOTEBOOK}.ipynb")
    return folder / f"{NOTEBOOK}.ipynb"
