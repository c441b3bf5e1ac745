"""Two kernels of R: what a test sees of the student's values and functions, and which tests run beside the answers."""

from dataclasses import replace
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_notebook

from tests.conftest import load
from tests.flow.test_foreign import marked
from tests.kernels import R, require_r
from viva.commands.doctor import examine
from viva.course.releasing.release import rehearsing
from viva.engine.rehearsal import rehearse
from viva_r.dialogue import Dialogue

pytestmark = pytest.mark.slow

GIVEN = """
rm(list = ls())
numbers <- c(1, NA, 3)
scale_by <- function(x, by = 10) x * by
"""
ANSWER = """
double <- function(x) { warning("doubling"); cat("busy\\n"); 2 * x }
positive <- function(x) if (x < 0) stop("negative") else { message("fine"); sqrt(x) }
adder <- function(n) function(x) x + n
apply_to <- function(f, x) sapply(x, f)
roll <- function(n) sample(6, n, replace = TRUE)
mean <- mean(numbers, na.rm = TRUE)
table <- data.frame(name = c("a", NA, "é"), n = 1:3, day = as.Date("2024-02-29") + 0:2, stringsAsFactors = FALSE)
level <- factor(c("low", "high"), levels = c("low", "high"))
grid <- matrix(c(0.1, NaN, -Inf, 4), 2, dimnames = list(NULL, c("x", "y")))
nested <- list(a = NULL, b = list(c = TRUE, d = NA), 3i)
none <- character(0)
"""
VALUES = """
stopifnot(identical(suppressWarnings(double(numbers)), c(2, NA, 6)), identical(mean, 2), mean(c(2, 4)) == 3)
stopifnot(identical(table$name, c("a", NA, "é")), identical(table$n, 1:3), inherits(table$day, "Date"))
stopifnot(identical(format(table$day[1]), "2024-02-29"), identical(dim(table), c(3L, 3L)), is.data.frame(table))
stopifnot(identical(level, factor(c("low", "high"), levels = c("low", "high"))), length(none) == 0)
stopifnot(identical(grid, matrix(c(0.1, NaN, -Inf, 4), 2, dimnames = list(NULL, c("x", "y")))))
stopifnot(identical(nested, list(a = NULL, b = list(c = TRUE, d = NA), 3i)), scale_by(2) == 20, !exists("nothing"))
"""
CALLS = """
library(testthat)
expect_warning(double(1), "doubling")
expect_output(suppressWarnings(double(1)), "busy")
expect_error(positive(-1), "negative")
expect_message(positive(4), "fine")
stopifnot(adder(2)(3) == 5, identical(apply_to(sqrt, c(1, 4)), c(1, 2)), all(sapply(1:20, adder(1)) == 2:21))
set.seed(1); first <- roll(5); set.seed(1); stopifnot(identical(first, sample(6, 5, replace = TRUE)))
"""
DIGEST = """
### BEGIN HIDDEN TESTS
library(digest)
stopifnot("wrong" = setequal(digest(paste(toString(mean), "3fa")), digest(paste(toString(2), "3fa"))))
### END HIDDEN TESTS
"""
APART = {"values": VALUES, "calls": CALLS, "digest": DIGEST}
BESIDE = {
    "body": 'stopifnot(!any(c("for", "while") %in% all.names(body(double))))',
    "callback": "stopifnot(identical(apply_to(function(x) x + 1, 1:2), c(2, 3)))",
    "model": 'stopifnot(class(fit) == "lm", round(coef(fit)[[2]], 2) == 3.93)',
    "forbids": "mean <- function(...) stop('do not use it')\nstopifnot(scale_by(1) == 10)",
}


@pytest.fixture
def grader(processes, tmp_path):
    require_r()
    (tmp_path / "nbgrader_config.py").write_text("c = get_config()\nc.Execute.timeout = 20\n")
    (tmp_path / "source" / "one").mkdir(parents=True)
    course, config = load(tmp_path)
    with rehearsing(course, [], config) as grader:
        yield grader


def written(folder: Path, answer: str, tests: dict[str, str]) -> Path:
    solution = f"### BEGIN SOLUTION\n{answer}\n### END SOLUTION"
    cells = [marked("given", GIVEN), marked("answer", solution, solution=True, locked=False)]
    cells += [marked(name, source, grade=True, points=1) for name, source in tests.items()]
    path = folder / "source" / "one" / "one.ipynb"
    nbformat.write(new_notebook(cells=cells, metadata=R), path)
    return path


def test_the_doctor_tries_the_second_kernel_and_says_where_a_test_is_within_reach(processes, tmp_path, monkeypatch):
    require_r()
    (tmp_path / "nbgrader_config.py").write_text("c = get_config()\n")
    course, config = load(tmp_path)
    path = tmp_path / "source" / "one" / "one.ipynb"
    path.parent.mkdir(parents=True)
    nbformat.write(new_notebook(metadata=R), path)
    what = "tests in R in a second kernel, away from students"
    assert {one.what: one.healthy for one in examine(course, config)}[what]
    monkeypatch.setattr(Dialogue, "probe", replace(Dialogue.probe, fails=Dialogue.probe.passes))
    (found,) = [one for one in examine(course, config) if one.what == what]
    assert not found.healthy and "a test passed that must fail" in found.remedy


def test_plain_values_calls_and_conditions_cross_and_what_needs_one_kernel_is_a_single_process_cell(grader, tmp_path):
    fit = "\nfit <- lm(dist ~ speed, cars)"
    examination = rehearse(written(tmp_path, ANSWER + fit, APART | BESIDE), grader)
    assert examination.failing == {}
    assert set(examination.single_process) == set(BESIDE), examination.single_process_sentences()
    outcome = grader.grade(nbformat.read(tmp_path / "source" / "one" / "one.ipynb", as_version=4), examination)
    assert {name: outcome.earned(name) for name in outcome.checks} == dict.fromkeys(APART | BESIDE, 1)
    assert outcome.doubts == []


def test_an_answer_that_cannot_cross_and_one_that_is_empty_or_lacks_a_part_are_left_to_a_grader(grader, tmp_path):
    tests = {"test_a": "stopifnot(a()$n == 1)", "test_b": "stopifnot(b(2) == 4)", "test_c": "stopifnot(c$n == 3)"}
    tests["test_d"] = "stopifnot(!any(c$none))"
    tests["test_e"] = "low <- d$low\nfor (i in 1:40) stopifnot(all(low == 3), !any(c$none), e(i) == i)"
    answer = "c <- list(n = 3, none = logical(0))\nd <- data.frame(low = 3)\ne <- identity"
    answer = f"a <- function() list(n = 1)\nb <- function(x) 2 * x\n{answer}"
    path = written(tmp_path, answer, tests)
    examination = rehearse(path, grader)
    notebook = nbformat.read(path, as_version=4)
    wrong = "b <- function(x) {}\nc <- list(none = logical(0))\nd <- data.frame(Low = 3)\ne <- function(i) i"
    notebook.cells[1].source = f"a <- function() list(n = 1, how = y ~ x)\n{wrong}"
    outcome = grader.grade(notebook, examination)
    assert [(doubt.kind, doubt.tests) for doubt in outcome.doubts] == [
        ("refused_unseen", ("test_a",)),
        ("passes_empty", ("test_b",)),
        ("passes_empty", ("test_c",)),
        ("passes_empty", ("test_e",)),
    ]
    assert outcome.earned("test_a") == 0
