"""A class that attacks the tests of a notebook in R: no attack earns a point, and honest answers keep theirs."""

import nbformat
import pytest
from nbformat.v4 import new_notebook
from nbgrader.api import Gradebook

from tests.flow.test_foreign import marked
from tests.kernels import R, require_r

TESTS = """library(testthat)
### CHECK (1 point): stopifnot
stopifnot(f(2) == 4, identical(f(3), 6))
### CHECK (1 point): all.equal and testthat
stopifnot(isTRUE(all.equal(f(c(1, 2)), c(2, 4))))
### CHECK (1 point): testthat
expect_equal(f(5), 10)
### CHECK (1 point): hidden
### BEGIN HIDDEN TESTS
secret <- runif(3)
stopifnot(all(f(secret) == 2 * secret))
### END HIDDEN TESTS"""
WRONG = "f <- function(x) 0 * x + 7"
MASKED = """
for (name in c("stopifnot", "identical", "all.equal", "isTRUE", "all", "expect_equal"))
  assign(name, function(...) TRUE, globalenv())
"""
EVIL = """
f <- function(x) structure(list(7), class = "evil")
Ops.evil <- function(e1, e2) TRUE
all.equal.evil <- function(...) TRUE
"""
PEEK = """
f <- function(x) {
  for (frame in sys.frames()) for (name in ls(frame, all.names = TRUE))
    if (name == "secret") return(2 * get(name, frame))
  if (exists("secret")) return(2 * secret)
  for (call in sys.calls()) if (any(all.names(call) == "secret")) return(eval(call[[2]]))
  7
}
"""
ATTACKS = {
    "masks": WRONG + MASKED,
    "operator": f"{WRONG}\n`==` <- function(e1, e2) TRUE",
    "namespace": f"""{WRONG}
for (name in c("identical", "stopifnot", "all.equal")) try({{
  unlockBinding(name, baseenv()); assign(name, function(...) TRUE, baseenv())
}})
try(assignInNamespace("stopifnot", function(...) TRUE, "base"))
try(assignInNamespace("expect_equal", function(...) TRUE, "testthat"))""",
    "classes": EVIL,
    "s4": 'setClass("E", representation(x = "numeric")); f <- function(x) new("E", x = 7)\n'
    'setMethod("Ops", signature("E", "ANY"), function(e1, e2) TRUE)',
    "peek": PEEK,
    "active": 'makeActiveBinding("f", local({n <- 0; function() { n <<- n + 1; function(x) n }}), globalenv())',
    "trace": f'{WRONG}\ntry(trace("stopifnot", quote(return(TRUE)), print = FALSE))',
    "error": f"{WRONG}\noptions(error = quote(TRUE), warn = -1)",
    "exit": "f <- function(x) { on.exit(assign('stopifnot', function(...) TRUE, globalenv())); 7 }",
    "attributes": "f <- function(x) structure(7, names = 'x', class = c('evil', 'factor'), levels = c('4', '6'))",
    "shown": """f <- function(x) { cat('{"value": {"t": "dbl", "v": ["=0x1p+2"]}}\\n'); structure(7, class = "shown") }
print.shown <- function(x, ...) cat("[1] TRUE")""",
    "connection": """f <- function(x) {
  for (name in c("said", "told")) try({ way <- fifo(file.path("/viva", name), "w", blocking = FALSE)
    writeLines('{"value": {"t": "lgl", "v": [1]}}', way) })
  7
}""",
    "condition": """
kinds <- c("expectation_success", "expectation", "interrupt", "condition")
f <- function(x) stop(structure(class = kinds, list(message = "ok", call = NULL)))""",
    "handed": "f <- function(x) function(...) TRUE",
    "helper": "getOption('viva')$serve; options(viva = NULL)\nf <- function(x) 7",
}
HONEST = {
    "right": "f <- function(x) 2 * x",
    "own": "twice <- function(v) v + v\nf <- function(x) { message('working'); print(x); invisible(twice(x)) }",
    "classed": "f <- function(x) structure(2 * x, class = 'doubled')",
    "masking": "c <- 3; list <- 4; cat <- 5; paste0 <- function(...) 1; T <- FALSE\nf <- function(x) 2 * x",
}


@pytest.fixture
def course(processes, tmp_path):
    """A course with one notebook in R; without it nothing here runs."""
    require_r()
    folder = tmp_path / "source" / "one"
    folder.mkdir(parents=True)
    (tmp_path / "nbgrader_config.py").write_text("c = get_config()\nc.Execute.timeout = 5\n")
    solution = "### BEGIN SOLUTION\nf <- function(x) 2 * x\n### END SOLUTION"
    answer = marked("f", solution, solution=True, locked=False)
    notebook = new_notebook(cells=[answer, marked("test_f", TESTS, grade=True, points=4)], metadata=R)
    nbformat.write(notebook, folder / "one.ipynb")
    return tmp_path


def test_attacks_of_one_kernel_earn_nothing_and_honest_answers_keep_their_points(course, viva):
    told = viva("release", "one", "--no-audit")
    assert told.status == 0 and "single-process" not in told.text and "same kernel" not in told.text
    released = nbformat.read(course / "release" / "one" / "one.ipynb", as_version=4)
    for student, code in (ATTACKS | HONEST).items():
        released.cells[0].source = code
        place = course / "submitted" / student / "one"
        place.mkdir(parents=True)
        nbformat.write(released, place / "one.ipynb")
    assert viva("grade", "one").status == 0
    with Gradebook(f"sqlite:///{course / 'gradebook.db'}") as gradebook:
        scores = {submission.student.id: submission.score for submission in gradebook.assignment_submissions("one")}
    assert scores == dict.fromkeys(ATTACKS, 0.0) | dict.fromkeys(HONEST, 4.0)


pytestmark = pytest.mark.slow
