"""What a grader reads below a cell of tests: what each check came to, why, and why a human should look."""

from __future__ import annotations

import pytest
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_notebook

from viva.course.outputs import show
from viva.engine.checkreport import failed
from viva.engine.outcome import Outcome
from viva.record import CheckResult, Note
from viva.verdict import CandidateDied, CandidateOdd, CandidateStopped, Verdict

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
        (CandidateDied(), "the code ended its process, or a limit ended it"),
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


def test_where_points_were_lost_it_is_said_why_a_human_should_look():
    lost, passed = CheckResult("one", 2, Verdict.FAILED, reason="No."), CheckResult("one", 2, Verdict.PASSED, 2)
    assert shown(lost, repairs=[DOUBT])[0].text == SAID
    part = CheckResult("one", 2, Verdict.PARTLY, 1, cause=Note("credit", names=("1", "2")))
    assert [item.text for item in shown(part, repairs=[DOUBT])] == [SAID, "1 of 2: one (partly right)\n"]
    assert shown(passed, repairs=[DOUBT]) == []
    (output,) = shown(lost, repairs=[Note("other_magic", doubt=True, tests=("others",))])
    assert output.output_type == "error"
