"""A small course: two functions, of which the second uses the first, and known answers to both."""

from __future__ import annotations

from pathlib import Path

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

NAME = "means"
CENTRED = """def centred(x):
    ### BEGIN SOLUTION
    return x - np.mean(x)
    ### END SOLUTION"""
SPREAD = """def spread(x):
    ### BEGIN SOLUTION
    return np.sqrt(np.mean(centred(x) ** 2))
    ### END SOLUTION"""
TEST_CENTRED = """### CHECK 2: an example
assert np.allclose(centred(np.array([1.0, 2.5, 6.25])), [-2.25, -0.75, 3.0])
### CHECK 2: more
### BEGIN HIDDEN TESTS
for seed in range(4):
    hidden = np.random.RandomState(seed).randn(5 + seed)
    assert np.allclose(centred(hidden), hidden - hidden.mean())
### END HIDDEN TESTS"""
TEST_SPREAD = """### CHECK 3: as NumPy has it
for seed in range(4):
    x = np.random.RandomState(seed).randn(6)
    assert np.allclose(spread(x), np.std(x))"""
WRONG = {
    "median": """'''The median is subtracted in the place of the mean.

Loses:
    everything
'''

# %% centred
def centred(x):
    return x - np.median(x)

# %% [solution] *
""",
    "first": """'''The first number is subtracted, not the mean.
students: Look at which number you subtract.

Loses:
    everything
'''

# %% centred
def centred(x):
    return x - x[0]

# %% [solution] *
""",
    "sum": """'''The squares are added, and no mean is taken.

Loses:
    test_spread: *
Keeps:
    everything else
'''

# %% spread
def spread(x):
    return np.sqrt(np.sum(centred(x) ** 2))

# %% [solution] *
""",
    "secret": """'''The root is forgotten.
students: nothing

Loses:
    test_spread: *
Keeps:
    everything else
'''

# %% spread
def spread(x):
    return np.mean(centred(x) ** 2)

# %% [solution] *
""",
}
MEDIAN = """def centred(values):
    ordered = sorted(values)
    n = len(ordered)
    middle = (ordered[(n - 1) // 2] + ordered[n // 2]) / 2
    return np.array([value - middle for value in values])"""
SUM = """def spread(values):
    total = 0
    for value in centred(values):
        total += value * value
    return total**0.5"""
WRITTEN = {
    "anna": "The mean is subtracted so that the numbers lie around zero.",
    "bo": "The mean is subtracted, so that numbers lie around 0!",
    "carl": "The mean is subtracted so that all the numbers lie around zero",
    "dora": "Because the variance is the mean square of what is left.",
    "fay": "the mean is subtracted so that the numbers lie around zero...",
}
"""Anna, carl and fay write nearly the same; bo writes it with a digit."""
SUBMISSIONS = {
    "anna": {"centred": CENTRED, "spread": SPREAD},
    "bo": {"centred": MEDIAN, "spread": SPREAD},
    "carl": {"centred": CENTRED, "spread": SUM},
    "dora": {"centred": "def centred(x):\n    return x - x.mean() + 0.125", "spread": SPREAD},
    "hal": {"centred": "def centred(x):\n    return np.array([v + 1 / 8 - x.mean() for v in x])", "spread": SPREAD},
    "emil": {"centred": CENTRED, "spread": "def spread(x):\n    return centred(x).dot(centred(x)) / len(x)"},
    "fay": {"centred": MEDIAN, "spread": "def spread(x):\n    d = x - x.mean()\n    return (d @ d) ** 0.5"},
    "gus": {"centred": "def centred(x):\n    return -(x[0] - x)", "spread": SPREAD},
}
"""Bo and carl make known mistakes in other words, fay both; that of dora and hal is new; emil's is not for students."""


def write_source(root: Path) -> None:
    def nbgrader(name, **more):
        known = {"schema_version": 3, "grade_id": name, "locked": False, "grade": False, "solution": False}
        return {"nbgrader": known | {"task": False} | more}

    cells = [
        new_markdown_cell("# Means", id="text"),
        new_code_cell("import numpy as np", id="imports", metadata=nbgrader("imports", locked=True)),
        new_code_cell(CENTRED, id="centred", metadata=nbgrader("centred", solution=True)),
        new_code_cell(
            TEST_CENTRED, id="test_centred", metadata=nbgrader("test_centred", grade=True, locked=True, points=4)
        ),
        new_code_cell(SPREAD, id="spread", metadata=nbgrader("spread", solution=True)),
        new_code_cell(
            TEST_SPREAD, id="test_spread", metadata=nbgrader("test_spread", grade=True, locked=True, points=3)
        ),
        new_markdown_cell(
            "Because its numbers lie around zero.",
            id="why",
            metadata=nbgrader("why", grade=True, solution=True, points=2),
        ),
    ]
    folder = root / "source" / NAME
    folder.mkdir(parents=True, exist_ok=True)
    kernel = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
    nbformat.write(new_notebook(cells=cells, metadata={"kernelspec": kernel}), folder / "means.ipynb")
    answers = root / "answers" / NAME / "wrong"
    answers.mkdir(parents=True, exist_ok=True)
    for name, text in WRONG.items():
        (answers / f"{name}.py").write_text(text)
