"""The audit of an assignment in R: what known answers, mutants and answers with nothing in them come to."""

import nbformat
import pytest
from nbformat.v4 import new_notebook

from tests.conftest import load
from tests.flow.test_foreign import marked
from tests.kernels import R, require_r
from viva_audit.audit import audit

pytestmark = pytest.mark.slow

POSITIVE = """
positive <- function(x) {
### BEGIN SOLUTION
  x[is.na(x)] <- 0
  if (length(x) > 3) x <- x[1:3]
  sum(x >= 0 & TRUE, na.rm = TRUE)
### END SOLUTION
}
"""
LOWER = "lower <- list(name = tolower('É'), most = max(1L, 2L))"
TESTS = {
    "test_positive": """### CHECK (1 point): small
stopifnot(positive(c(-1, 2)) == 1)
### CHECK (1 point): missing
### BEGIN HIDDEN TESTS
stopifnot(identical(positive(c(NA, 1)), 2L))
### END HIDDEN TESTS""",
    "test_lower": "stopifnot(lower$most == 2)",
}
ANSWERS = {
    "right/counting.R": """# It counts.

# %% positive
positive <- function(x) { x[is.na(x)] <- 0; length(which(head(x, 3) >= 0)) }

# %% [solution] *
""",
    "wrong/missing.R": """# Missing numbers are left out.
#
# Loses:
#     test_positive: missing
# Keeps:
#     everything else

# %% positive
positive <- function(x) length(which(x >= 0))

# %% [solution] *
""",
}


def test_the_audit_of_an_assignment_in_r_says_which_wrong_versions_pass(processes, tmp_path):
    require_r()
    folder = tmp_path / "source" / "one"
    folder.mkdir(parents=True)
    (tmp_path / "nbgrader_config.py").write_text("c = get_config()\nc.Execute.timeout = 20\n")
    cells = [marked("positive", POSITIVE, solution=True, locked=False)]
    cells += [marked("lower", f"### BEGIN SOLUTION\n{LOWER}\n### END SOLUTION", solution=True, locked=False)]
    cells += [marked(name, source, grade=True, points=1 + (name == "test_positive")) for name, source in TESTS.items()]
    nbformat.write(new_notebook(cells=cells, metadata=R), folder / "one.ipynb")
    for name, text in ANSWERS.items():
        path = tmp_path / "answers" / "one" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    result = audit(load(tmp_path)[0], "one", seconds=20)
    assert {proof.name: proof.holds for proof in result.proofs} == dict.fromkeys(
        ["untouched", "solution", "again", "counting", "missing"], True
    )
    fates = {(fate.cell, fate.operator, fate.line): fate for fate in result.fates}
    status = {key: fate.status for key, fate in fates.items()}
    assert status["positive", "NA", 2] == status["lower", "NA", 1] == "killed"
    assert status["positive", "other constant", 2] == "survived" and fates["positive", "statement left out", 2].surprise
    assert status["positive", "if left out", 3] == "survived" and status["positive", "na.rm", 4] == "survived"
    assert [fate.note for fate in result.fates if "toupper" in fate.change] == ["it gives another lower"]
    nothing = [sentence for sentence in result.warnings if "passes even if the functions and values of" in sentence]
    assert [sentence.partition("values of ")[2].partition(". ")[0] for sentence in nothing] == [
        "'positive' are NULL or an empty vector or list",
        "'lower' are NULL or an empty vector or list",
    ]
    assert result.errors == []
