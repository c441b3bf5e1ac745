"""A class that submits notebooks in R: every verdict is as in nbgrader or better, and nobody waits without a cause."""

import copy
import re
import shutil
from pathlib import Path

import nbformat
import nbgrader
import pytest
from bs4 import BeautifulSoup
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from nbgrader.api import Gradebook

from tests.conftest import PROJECT, lacking, load
from tests.handmade import code
from tests.kernels import R, require_r
from viva import wording
from viva.course.releasing.release import rehearsing
from viva.engine.rehearsal import rehearse

SOURCE = """
f <- function(x) {
### BEGIN SOLUTION
  2 * x
### END SOLUTION
}
"""
TESTS = """### CHECK (1 point): one number
stopifnot(f(2) == 4)
### CHECK (2 points): many numbers
for (i in 1:3) stopifnot(f(i) == 2 * i)
### CHECK (1 point): missing values
### BEGIN HIDDEN TESTS
stopifnot(identical(f(data), c(2, 4, NA, 8)))
### END HIDDEN TESTS"""
F, M = "f <- function(x) 2 * x", "m <- mean(data, na.rm = TRUE)"


def marked(name: str, source: str, **flags: object) -> NotebookNode:
    return code(name, source.strip("\n"), **({"locked": True} | flags))


def instructors() -> NotebookNode:
    mean = f"### BEGIN SOLUTION\n{M}\n### END SOLUTION"
    cells = [
        new_markdown_cell("# Doubling", id="head"),
        marked("data", "data <- c(1, 2, NA, 4)"),
        marked("f", SOURCE, solution=True, locked=False),
        marked("test_f", TESTS, grade=True, points=4),
        marked("m", mean, solution=True, locked=False),
        marked("test_m", "stopifnot(abs(m - 7 / 3) < 1e-9)", grade=True, points=2),
    ]
    return new_notebook(cells=cells, metadata=R)


def cell(notebook: NotebookNode, name: str) -> NotebookNode:
    return next(cell for cell in notebook.cells if cell.id == name)


def without_metadata(notebook):
    notebook.metadata = {}
    for number, each in enumerate(notebook.cells):
        each.metadata, each.id = {}, f"c{number}"


def without_kernel(notebook):
    notebook.metadata = {}


def without_test(notebook):
    notebook.cells.remove(cell(notebook, "test_f"))


def moved(notebook):
    notebook.cells.append(notebook.cells.pop(2))


def in_own_cell(notebook):
    answer = cell(notebook, "f")
    notebook.cells.insert(3, new_code_cell(answer.source))
    answer.source = "f <- function(x) {\n# YOUR CODE HERE\nfail()\n}"


def with_scratch(notebook):
    notebook.cells.append(new_code_cell("try <- f(3)\ntry"))


def with_own_test(notebook):
    cell(notebook, "test_f").source = "# passed"


def with_name_below(notebook):
    notebook.cells.append(new_code_cell("k <- 2"))


FULL, NONE = 6.0, 0.0
CLASS = {
    "right": (F, M, None, FULL),
    "blank": (None, None, None, NONE),
    "wrong": ("f <- function(x) 3 * x", "m <- 0", None, NONE),
    "partly": ("f <- function(x) {x[is.na(x)] <- 0; 2 * x}", M, None, 5.0),
    "syntax": ("f <- function(x) { 2 * x", M, None, 2.0),
    "raises": ("f <- function(x) stop('not done')", M, None, 2.0),
    "loop": ("f <- function(x) repeat {}", M, None, 2.0),
    "looping": (f"{F}\nrepeat {{}}", M, None, FULL),
    "quit": (f"{F}\nq()", M, None, FULL),
    "quitting": ("f <- function(x) { q(); 3 * x }", M, None, 2.0),
    "killed": (f"{F}\ntools::pskill(Sys.getpid(), 9)", M, None, 2.0),
    "output": (f"{F}\nfor (i in 1:20000) cat('line', i, '\\n')", M, None, FULL),
    "plot": (f"{F}\nplot(1:10)", M, None, FULL),
    "memory": ("f <- function(x) { y <- numeric(5e8); 2 * x }", M, None, 2.0),
    "library": ("library(stats)\nf <- function(x) {\n  # doubles\n  x + x\n}", M, None, FULL),
    "arrow": ("(function(x) x * 2) -> f", "mean(data, na.rm = TRUE) -> m", None, FULL),
    "equals": ("f = \\(x) x |> (\\(y) y * 2)()", "m = sum(data, na.rm = TRUE) / 3", None, FULL),
    "reads": ("f <- function(x) { readLines('/etc/shadow'); 2 * x }", M, None, 2.0),
    "metadata": (F, M, without_metadata, FULL),
    "kernel": (F, M, without_kernel, FULL),
    "deleted": (F, M, without_test, FULL),
    "moved": (F, M, moved, FULL),
    "owncell": (F, M, in_own_cell, FULL),
    "scratch": (F, M, with_scratch, FULL),
    "owntest": ("f <- function(x) 5", M, with_own_test, 2.0),
    "below": ("f <- function(x) k * x", M, with_name_below, 2.0),
    "truncated": (F, M, None, FULL),
}
"""The answers of each student, what became of the file, and the points."""
WAITING = {"below"}
"""Whose answer a grader looks at: it uses a name that only a cell below gives."""


@pytest.fixture
def course(processes, tmp_path) -> Path:
    """A course with one notebook in R; without it nothing here runs."""
    require_r()
    folder = tmp_path / "source" / "one"
    folder.mkdir(parents=True)
    (tmp_path / "nbgrader_config.py").write_text("c = get_config()\nc.Execute.timeout = 5\n")
    nbformat.write(instructors(), folder / "one.ipynb")
    return tmp_path


def submit(course: Path, student: str, f: str | None, m: str | None, change) -> None:
    notebook = nbformat.read(course / "release" / "one" / "one.ipynb", as_version=4)
    for name, answer in {"f": f, "m": m}.items():
        if answer is not None:
            cell(notebook, name).source = answer
    notebook = copy.deepcopy(notebook)
    if change:
        change(notebook)
    text = nbformat.writes(notebook)
    folder = course / "submitted" / student / "one"
    folder.mkdir(parents=True)
    cut = text.index('"test_m"') if student == "truncated" else len(text)
    (folder / "one.ipynb").write_text(text[:cut])


@pytest.mark.slow
def test_of_27_submissions_in_r_every_verdict_is_right_and_none_waits_without_cause(course, viva):
    assert len(CLASS) == 27
    told = viva("release", "one", "--no-audit")
    assert told.status == 0 and "Hidden tests run" not in told.text and "single-process" not in told.text
    for student, (f, m, change, _) in CLASS.items():
        submit(course, student, f, m, change)
    assert viva("grade", "one").status == 0
    scores, waiting = {}, set()
    with Gradebook(f"sqlite:///{course / 'gradebook.db'}") as gradebook:
        for submission in gradebook.assignment_submissions("one"):
            scores[submission.student.id] = submission.score
            waiting |= {submission.student.id} if submission.needs_manual_grade else set()
    assert scores == {student: points for student, (*_, points) in CLASS.items()}
    assert waiting == WAITING
    assert viva("feedback", "one").status == 0
    page = text_of(course / "feedback" / "partly" / "one" / "one.html")
    assert "failed: wrong answer" in page and "identical(f(data)" not in page
    page = text_of(course / "feedback" / "raises" / "one" / "one.html")
    assert "an exception: Error in f(2): not done" in page
    page = text_of(course / "feedback" / "killed" / "one" / "one.html")
    assert "Your code ended its process, or used too much memory." in page


def text_of(page: Path) -> str:
    soup = BeautifulSoup(page.read_text(), "html.parser")
    return re.sub(r"\s+", " ", soup.get_text())


@pytest.mark.slow
def test_the_example_in_r_gives_its_solution_all_points_and_wrong_answers_fewer(processes, tmp_path):
    require_r()
    shutil.copytree(PROJECT / "examples" / "r", tmp_path, dirs_exist_ok=True)
    source = tmp_path / "source" / "r1_samples" / "samples.ipynb"
    with rehearsing(*_loaded(tmp_path)) as grader:
        examination = rehearse(source, grader)
        assert examination.failing == {} and examination.broken == frozenset()
        notebook = nbformat.read(source, as_version=4)
        right = grader.grade(notebook, examination)
        assert sum(right.earned(name) for name in right.checks) == 8 and right.doubts == []
        wrong = {
            "standardise": "standardise <- function(x) (x - mean(x)) / sd(x)",
            "spread": "spread <- function(groups) aggregate(value ~ group, groups, max)",
            "walk": "walk <- function(n) sample(c(-1, 1), n, replace = TRUE)",
        }
        for each in notebook.cells:
            each.source = wrong.get(each.id, each.source)
        found = grader.grade(notebook, examination)
        assert [found.earned(name) for name in ("test_standardise", "test_spread", "test_walk")] == [2, 1, 0]
        assert wording.reason(found.checks["test_walk"][0]) == "Error: a step is not 1 or -1"


def _loaded(root: Path):
    course, config = load(root)
    return course, course.assignments(), config


@pytest.mark.slow
def test_autotest_lines_in_r_are_made_in_the_sandbox(course, viva):
    rules = Path(nbgrader.__file__).parent / "docs" / "source" / "user_guide" / "autotests.yml"
    if not rules.exists():
        lacking("nbgrader's own autotests.yml is not installed")
    shutil.copy(rules, course)
    answer = marked("x", "### BEGIN SOLUTION\nx <- 3\n### END SOLUTION", solution=True, locked=False)
    test = marked("test_x", "### AUTOTEST x", grade=True, points=2)
    notebook = new_notebook(cells=[answer, test], metadata=R)
    nbformat.write(notebook, course / "source" / "one" / "one.ipynb")
    assert viva("release", "one", "--no-audit").status == 0
    released = nbformat.read(course / "release" / "one" / "one.ipynb", as_version=4)
    assert 'stopifnot("type of x is not double"' in released.cells[1].source
