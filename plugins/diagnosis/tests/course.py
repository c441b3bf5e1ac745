"""A small course: two functions, of which the second uses the first, and known answers to both."""

from __future__ import annotations

from pathlib import Path

from nbformat.v4 import new_markdown_cell

from tests import handmade
from tests.handmade import answer, code, graded, write_notebook
from tests.oral import read_exams

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
WRONG = read_exams(Path(__file__).with_name("wrong.txt"))
"""The known wrong answers."""
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
    cells = [
        new_markdown_cell("# Means", id="text"),
        code("imports", "import numpy as np", locked=True),
        answer("centred", CENTRED),
        graded("test_centred", TEST_CENTRED, 4),
        answer("spread", SPREAD),
        graded("test_spread", TEST_SPREAD, 3),
        handmade.text("why", "Because its numbers lie around zero.", grade=True, solution=True, points=2),
    ]
    write_notebook(root / "source" / NAME / "means.ipynb", *cells)
    answers = root / "answers" / NAME / "wrong"
    answers.mkdir(parents=True, exist_ok=True)
    for name, text in WRONG.items():
        (answers / f"{name}.py").write_text(text.strip() + "\n")
