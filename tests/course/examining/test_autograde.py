"""The steps inside nbgrader's autograder, with nbgrader's own engine and a real kernel."""

from __future__ import annotations

import shutil
import sys

import nbformat
import pytest
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_notebook
from nbgrader.api import Gradebook
from traitlets.config import Config

from tests.conftest import SHORT, hand_in, load
from tests.kernels import install
from viva.course.examining.autograde import Examine, show
from viva.course.gradebook.results import Results
from viva.course.grading.batch import autograde
from viva.course.grading.material import Material
from viva.engine.outcome import Outcome, failed
from viva.record import CARRIED, CheckResult, Note
from viva.submission.submission import Status
from viva.verdict import CandidateDied, CandidateOdd, CandidateStopped, Verdict, VivaError
from viva_audit.audit import audit
from viva_check.selfcheck import open_bytes

pytestmark = pytest.mark.xdist_group("autograde")

RIGHT = "right/einsum"


WORDS = "The outputs change their places exactly as the inputs do, since a weighted sum has no order."


SLIP = """
def self_attention(X, omega_v, omega_q, omega_k, beta_v, beta_q, beta_k):
    Q, K, V = beta_q + omega_q @ X, beta_k + omega_k @ X, beta_v + omega_v @ X
    attentions = softmax_cols(Q.T @ K)
    return V @ attentions, attentions
"""
CALLING = """
def scaled_dot_product_self_attention(X, omega_v, omega_q, omega_k, beta_v, beta_q, beta_k):
    root = np.sqrt(len(omega_q))
    return self_attention(X, omega_v, omega_q / root, omega_k, beta_v, beta_q / root, beta_k)
"""


@pytest.fixture(scope="module")
def submission(released, tmp_path_factory):
    """What a student of a graded class has: code score, its maximum, whether the text waits, its score."""
    root = shutil.copytree(released, tmp_path_factory.mktemp("autograde") / "course")
    _warning(hand_in(root, "warned", answer=RIGHT))
    _skipped(hand_in(root, "skipped"))
    hand_in(root, "wrote", why_equivariant_answer="It is, and here is why.")
    hand_in(root, "empty")
    _elsewhere(hand_in(root, "elsewhere"))
    _with_library(hand_in(root, "library", answer=RIGHT))
    hand_in(root, "slip", answer=RIGHT, self_attention=SLIP, scaled_dot_product_self_attention=CALLING)
    course, config = load(root)
    assert {outcome.status for outcome in autograde(course, course.submissions([SHORT]), config=config)} == {
        Status.DONE
    }

    def submission(student):
        with Gradebook(f"sqlite:///{root / 'gradebook.db'}") as gradebook:
            found = gradebook.find_submission(SHORT, student)
            tasks = [grade for grade in found.notebooks[0].grades if grade.cell.type == "TaskCell"]
            waiting = {grade.name for grade in found.notebooks[0].grades if grade.needs_manual_grade}
            told = tasks[0].needs_manual_grade, tasks[0].auto_score
            return found.code_score, found.max_code_score, *told, waiting - {tasks[0].name}

    return submission


def _warning(path):
    notebook = nbformat.read(path, as_version=4)
    cell = next(cell for cell in notebook.cells if cell.source.startswith("def scaled_dot_product"))
    head, _, body = cell.source.partition(":\n")
    warns = "warnings.warn('careful'); print('oops', file=sys.stderr)"
    cell.source = f"import sys, warnings\n{head}:\n    {warns}\n{body}"
    nbformat.write(notebook, path)


def _with_library(path):
    notebook = nbformat.read(path, as_version=4)
    cell = next(cell for cell in notebook.cells if cell.source.startswith("def scaled_dot_product"))
    cell.source = f"import no_such_library_is_installed\n{cell.source}"
    nbformat.write(notebook, path)


def _skipped(path):
    notebook = nbformat.read(path, as_version=4)
    for cell in notebook.cells:
        if cell.metadata.get("nbgrader", {}).get("grade"):
            cell.metadata.tags = ["skip-execution"]
    nbformat.write(notebook, path)


def _elsewhere(path):
    notebook = nbformat.read(path, as_version=4)
    notebook.cells.insert(2, nbformat.v4.new_markdown_cell(WORDS))
    nbformat.write(notebook, path)


def test_a_right_answer_that_warns_and_writes_to_stderr_is_right(submission):
    score, maximum, *_ = submission("warned")
    assert score == maximum


def test_a_slip_costs_its_own_exercise_where_the_course_says_so(submission):
    """Without the setting it costs 14 of 20 points."""
    assert submission("slip")[:2] == (13.5, 20)


def test_a_slip_costs_once_in_the_assignments_that_the_course_names_and_never_before_the_deadline():
    named = Examine(carry_forward=["ps3_*", "quiz"])
    assert [named.carries(name) for name in (SHORT, "quiz", "ps4")] == [True, True, False]
    assert not Examine().carries(SHORT) and not Examine(carry_forward=["*"], visible_only=True).carries(SHORT)
    material = Material(SHORT, Config(Examine={"carry_forward": ["*"]}), None, {}, None, {}, {}, None, {})
    assert not Examine(config=material.without_hidden_lines().config).carries(SHORT)
    assert Examine(config=material.config).carries(SHORT)


def test_a_test_cell_that_was_made_to_be_skipped_earns_nothing(submission):
    assert submission("skipped")[0] == 0


def test_an_answer_that_imports_what_is_not_installed_here_waits_for_a_grader(submission):
    score, maximum, _, _, waiting = submission("library")
    assert score < maximum and waiting
    assert submission("warned")[-1] == set()


def test_a_written_answer_waits_for_a_grader(submission):
    assert submission("wrote")[2:4] == (True, None)


def test_an_empty_written_answer_waits_for_nobody(submission):
    assert submission("empty")[2:4] == (False, 0)


def test_an_empty_written_answer_waits_when_a_text_elsewhere_may_be_it(submission):
    assert submission("elsewhere")[2:4] == (True, None)


@pytest.fixture
def foreign(course, viva, tmp_path, monkeypatch):
    """A course whose notebook says that it is written in SAS, and a kernel that is called SAS and is Python's."""
    install(tmp_path / "jupyter", monkeypatch, "sas", "sas", sys.executable, "-m", "ipykernel_launcher")
    (path,) = (course / "source" / SHORT).glob("*.ipynb")
    notebook = nbformat.read(path, as_version=4)
    notebook.metadata.kernelspec = {"name": "sas", "display_name": "SAS", "language": "sas"}
    nbformat.write(notebook, path)
    told = viva("release", SHORT, "--no-audit")
    assert told.status == 0 and "is written in sas. Hidden tests run in the same kernel as the answer" in told.text
    hand_in(course, "anna", answer=RIGHT)
    return course


def score_of(course, student):
    with Gradebook(f"sqlite:///{course / 'gradebook.db'}") as gradebook:
        found = gradebook.find_submission(SHORT, student)
        return found.code_score, found.max_code_score


@pytest.mark.slow
def test_a_notebook_in_another_language_is_graded_in_its_kernel_in_the_sandbox(foreign, viva):
    hand_in(foreign, "ben")
    assert viva("grade", SHORT).status == 0
    score, most = score_of(foreign, "anna")
    assert score == most > 0 and score_of(foreign, "ben") == (0, most)
    record = Results(foreign / "results.jsonl").read()[SHORT, "anna"]
    assert record.sandboxed is True and record.notebooks["scaled_attention"].repairs == []
    (path,) = (foreign / "release" / SHORT).glob("*.ipynb")
    with pytest.raises(VivaError, match="only Python can be checked"):
        open_bytes(path.read_bytes(), path, None)
    result = audit(load(foreign)[0], SHORT)
    assert [proof.case for proof in result.proofs] == ["untouched", "solution", "again"] and result.fates == []
    assert all(proof.holds for proof in result.proofs)
    assert "No mutant was tried, because no installed package makes mutants in sas." in result.remarks


@pytest.mark.slow
def test_a_notebook_in_another_language_is_graded_without_a_sandbox_when_told_so(foreign, viva):
    assert viva("grade", SHORT, "--no-sandbox").status == 0
    score, most = score_of(foreign, "anna")
    assert score == most > 0
    assert Results(foreign / "results.jsonl").read()[SHORT, "anna"].sandboxed is False


@pytest.mark.slow
def test_a_kernel_that_is_not_installed_is_named_and_nothing_is_graded(foreign, viva, monkeypatch):
    monkeypatch.delenv("JUPYTER_PATH")
    told = viva("grade", SHORT)
    assert told.status == 1 and "Traceback" not in told.text
    assert "its kernel 'sas' is not installed" in " ".join(told.text.split()), told.text


DOUBT = Note("other_magic", cells=("answer",), names=("writefile",), doubt=True, tests=("tests",))
SAID = "'answer' begins with %%writefile, so it did not run as Python in the notebook; a grader should check it\n"


def shown(*results: CheckResult, repairs=()) -> list[NotebookNode]:
    """The outputs of a cell of tests that came to this."""
    flags = {"grade_id": "tests", "grade": True, "solution": False, "locked": True, "points": 2, "schema_version": 3}
    notebook = new_notebook(cells=[new_code_cell("assert f(1)", metadata={"nbgrader": flags})])
    show(notebook, Outcome({"tests": list(results)}), repairs)
    return notebook.cells[0].outputs


def result_of(error: BaseException) -> CheckResult:
    try:
        raise error
    except BaseException as raised:
        report = failed(raised, "one")
    told = {name: getattr(report, name) for name in ("reason", "exception", "cause", "traceback", "raised_by")}
    return CheckResult(report.title, 1, report.verdict, **told)


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (CandidateDied(), "the code stopped Python, or reached a limit"),
        (CandidateStopped("it never finishes"), "the code did not finish in time"),
        (CandidateOdd("f(1)", "x"), "f(1) should be plain data such as a number or an array, but is x"),
    ],
)
def test_why_a_process_gave_no_answer_is_said_in_words_and_not_by_the_name_of_a_class_of_ours(error, said):
    (output,) = shown(result_of(error))
    assert output.evalue == said
    assert output.traceback[0].startswith('  File "') and output.traceback[-1] == said
    assert "viva.verdict" not in "\n".join(output.traceback)


def test_a_students_exception_keeps_its_last_line():
    (output,) = shown(result_of(ZeroDivisionError("division by zero")))
    assert output.traceback[-1] == "ZeroDivisionError: division by zero"


def test_a_check_that_is_right_with_another_right_answer_says_so():
    right = CheckResult("one", 2, Verdict.PASSED, 2, cause=Note(CARRIED, names=("softmax",)))
    assert [item.text for item in shown(right)] == ["one: it is right with the solution's softmax\n"]


def test_where_points_were_lost_it_is_said_why_a_human_should_look():
    lost, passed = CheckResult("one", 2, Verdict.FAILED, reason="No."), CheckResult("one", 2, Verdict.PASSED, 2)
    assert shown(lost, repairs=[DOUBT])[0].text == SAID
    part = CheckResult("one", 2, Verdict.PARTLY, 1, cause=Note("credit", names=("1", "2")))
    assert [item.text for item in shown(part, repairs=[DOUBT])] == [SAID, "1 of 2: one (partly right)\n"]
    assert shown(passed, repairs=[DOUBT]) == []
    (output,) = shown(lost, repairs=[Note("other_magic", doubt=True, tests=("others",))])
    assert output.output_type == "error"
