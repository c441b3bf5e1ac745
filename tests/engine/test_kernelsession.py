"""Notebooks in bash and R, graded in their own kernels, in the sandbox."""

import re
import time

import pytest

from tests.conftest import PROJECT
from tests.kernels import BASH, R, install_bash, require_r
from tests.oral import Exam, lost
from viva import wording
from viva.engine.kernelsession import kernel_of
from viva.sandbox.programattempts import faults
from viva.verdict import SandboxError, Verdict

DOUBLE = """
--- answer
double() { echo $((2 * $1)); }
--- test
### CHECK (1 point): one number
[ "$(double 2)" = 4 ]
### CHECK (2 points): many numbers
wrong=
for i in 1 2 3; do
  [ "$(double $i)" = $((2 * i)) ] || wrong="$wrong $i"
done
[ -z "$wrong" ]
"""


@pytest.fixture(scope="module")
def bash(tmp_path_factory):
    """Bash's kernel."""
    with pytest.MonkeyPatch.context() as patch:
        install_bash(tmp_path_factory.mktemp("jupyter"), patch)
        yield BASH


@pytest.fixture(scope="module")
def r():
    """The metadata of a notebook in R."""
    require_r()
    return R


def graded(exam: Exam, answer: str) -> list[tuple[str, str]]:
    """Verdict and reason of each check of a submission."""
    outcome = exam.grade(answer)
    return [(str(result.verdict), wording.reason(result)) for results in outcome.checks.values() for result in results]


def verdicts(exam: Exam, answer: str) -> list[str]:
    return [verdict for verdict, _ in graded(exam, answer)]


def test_the_checks_of_a_bash_notebook_have_verdicts_of_their_own(bash, grader, tmp_path):
    exam = Exam(DOUBLE, grader, tmp_path, **bash)
    assert lost(exam.grade()) == {} and exam.examination.failing == {}
    assert verdicts(exam, "double() { echo 4; }") == ["passed", "failed"]
    assert graded(exam, "dubel() { echo $1; }") == [("failed", "exit status 1")] * 2
    # A kernel that has lost its shell says that all went well.
    answer = "double() { echo $((2 * $1)); }\nexit"
    assert graded(exam, answer)[0] == ("killed", "in the cell that defines double, the code ended its process")


def test_a_function_that_ends_the_shell_passes_no_test(bash, grader, tmp_path):
    exam = Exam("--- answer\nf() { echo 4 > out; }\n--- test\nf\n[ $(cat out) = 4 ]", grader, tmp_path, **bash)
    assert verdicts(exam, "f() { exit 0; }") == ["killed"]


@pytest.mark.thorough
def test_processes_and_memory_of_a_kernel_are_limited_and_all_end_with_it(bash, grader, tmp_path):
    exam = Exam(DOUBLE, grader, tmp_path, **bash)
    bomb = "double() { echo $((2 * $1)); }\nbomb() { bomb | bomb & }; bomb; sleep 300 & sleep 1"
    start = time.monotonic()
    exam.grade(bomb)  # whatever it comes to
    assert time.monotonic() - start < 120
    assert faults(PROJECT) == []


def test_the_kernel_of_a_notebook_that_is_not_installed_is_named(bash):
    with pytest.raises(SandboxError, match="its kernel 'sas' is not installed on this machine"):
        kernel_of("sas", "sas")
    assert kernel_of("bash5", "Bash").display_name == "bash", "another one for the language does as well"


IN_R = """
--- given
data <- c(1, 2, NA, 4)
--- answer
f <- function(x) 2 * x
--- test
### CHECK (1 point): one number
stopifnot(f(2) == 4)
### CHECK (2 points): many numbers
for (i in 1:3) stopifnot(f(i) == 2 * i)
### CHECK (1 point): missing values
stopifnot(identical(f(data), c(2, 4, NA, 8)))
"""
ANSWERS = {
    "(function(x) x * 2) -> f": [("passed", "")] * 3,
    "f = \\(x) x + x\nplot(1:10)\nq()": [("passed", "")] * 3,
    "f <- function(x) {\n  x[is.na(x)] <- 0\n  2 * x\n}": [
        ("passed", ""),
        ("passed", ""),
        ("failed", "Error: identical(f(data), c(2, 4, NA, 8)) is not TRUE"),
    ],
    "f <- function(x) stop('not done')": [
        ("error", "Error in f(2): not done"),
        ("error", "Error in f(i): not done"),
        ("error", "Error in f(data): not done"),
    ],
    "f <- function(x) { 2 * x": [
        ("error", 'Error in f(2): could not find function "f"'),
        ("error", 'Error in f(i): could not find function "f"'),
        ("error", 'Error in f(data): could not find function "f"'),
    ],
    "f <- function(x) 2 * x\ntools::pskill(Sys.getpid(), 9)": [
        ("killed", "in the cell that defines f, the code ended its process")
    ]
    * 3,
    "f <- function(x) { if (length(x) > 1) tools::pskill(Sys.getpid(), 9); 2 * x }": [
        ("passed", ""),
        ("passed", ""),
        ("killed", "the code ended its process"),
    ],
    "f <- function(x) { y <- numeric(5e8); 2 * x }": [
        ("error", f"Error in f({given}): cannot allocate vector of size 3.7 Gb") for given in ("2", "i", "data")
    ],
    "f <- function(x) { readLines('/etc/shadow'); 2 * x }": [
        ("error", f"Error in f({given}): cannot open the connection") for given in ("2", "i", "data")
    ],
}


@pytest.fixture(scope="module")
def exam(r, grader, tmp_path_factory):
    exam = Exam(IN_R, grader, tmp_path_factory.mktemp("exam"), **r)
    assert lost(exam.grade()) == {}
    return exam


@pytest.mark.thorough
@pytest.mark.parametrize("answer", ANSWERS)
def test_an_answer_in_r_gets_its_verdicts_with_the_text_of_the_error(exam, answer):
    assert graded(exam, answer) == ANSWERS[answer]


@pytest.mark.thorough
def test_a_loop_in_r_costs_only_the_checks_that_call_it(r, grader, tmp_path):
    exam = Exam(f"{IN_R}--- test\nstopifnot(length(data) == 4)", grader, tmp_path, **r, viva={"seconds": 3})
    found = graded(exam, "f <- function(x) repeat {}")
    assert [verdict for verdict, _ in found] == ["timeout", "timeout", "timeout", "passed"]
    assert found[0][1] == "the code did not finish in 3 seconds"
    assert verdicts(exam, "f <- function(x) 2 * x\nrepeat {}") == ["passed"] * 4


@pytest.mark.thorough
def test_the_last_value_of_a_test_in_r_is_partial_credit_where_it_is_a_number_of_points_with_the_solution(
    r, grader, tmp_path
):
    exam = Exam(f"{IN_R}--- test\n0.5 * (f(1) == 2) + 0.5 * (f(3) == 6)", grader, tmp_path, **r)
    (result,) = exam.grade("f <- function(x) 2").checks["test-3"]
    assert (result.verdict, result.earned) == (Verdict.PARTLY, 0.5)


@pytest.mark.thorough
def test_an_answer_in_r_that_wants_the_network_waits_for_a_grader(exam):
    outcome = exam.grade("f <- function(x) { readLines(url('http://127.0.0.1:1')); 2 * x }")
    assert [(doubt.kind, doubt.tests) for doubt in outcome.doubts] == [("refused_network", ("test-2",))]


@pytest.mark.thorough
def test_what_an_answer_in_r_shows_is_kept_up_to_a_limit(exam):
    outcome = exam.grade("f <- function(x) 2 * x\nfor (i in 1:30000) cat('line', i, strrep('x', 1000), '\\n')\nplot(1)")
    assert lost(outcome) == {}
    text = outcome.outputs[1][0][0]["text"]
    assert len(text) < 20_000_000 and re.match(r"line 1 x+ \nline 2 ", text)
