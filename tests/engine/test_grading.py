"""From a submission to verdicts: each for what it is, and one cell's misfortune is not the others'."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from dataclasses import replace
from pathlib import Path

import nbformat
import pytest

from bench.tape import crowded
from tests.oral import Exam, code_cell, lost, read, read_exams
from viva import wording
from viva.engine.grading import Grader
from viva.engine.outcome import CheckResult
from viva.engine.rehearsal import rehearse
from viva.engine.session import Session
from viva.engine.timebudget import TimeBudget, allowance
from viva.sandbox.confinement import Sandbox
from viva.submission.studentcopy import describe, open_copy
from viva.verdict import Verdict

EXAMS = read_exams(Path(__file__).with_name("grading.txt"))

pytestmark = [pytest.mark.xdist_group("grading"), pytest.mark.usefixtures("processes")]

OWN = "lower, step, factor = 5, 1, 0\ndef eps(x): return x\ndef up(x): return eps(x) + step * factor * (lower == 5)"


def test_a_students_own_name_stays_theirs_and_one_that_the_solution_reads_is_the_tests(grader, tmp_path):
    exam = Exam(EXAMS["names"], grader, tmp_path)
    own = {"answer-1": OWN, "answer-3": "def down(x): return eps(x) - (lower == 5)"}
    assert lost(exam.grade()) == lost(exam.grade(own)) == {}
    assert lost(exam.grade(own, alone=True)) == {}
    assert len(lost(exam.grade(own | {"answer-1": OWN.replace("* factor", "")}))) == 3
    released = nbformat.from_dict(exam.answered(own))
    released.metadata.viva = {"check": describe(exam.notebook, exam.examination, 9.0)}
    assert released.metadata.viva["check"]["shared"] == ["factor"]
    outcome = grader.grade(exam.answered(own), open_copy(released).examination)
    assert lost(outcome) == {}


FIRST, SECOND, THIRD = "test-2", "test-4", "test-5"
HEEDLESS = "import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\nwhile True: pass"


@pytest.fixture(scope="module")
def quick():
    """A grader that has a time limit of one second."""
    grader = Grader(1.0, (Sandbox.for_candidate(), Sandbox.for_examiner()), ("numpy", "pandas", "matplotlib.pyplot"))
    yield grader
    grader.close()


@pytest.fixture(scope="module")
def exam(quick, tmp_path_factory) -> Exam:
    return Exam(EXAMS["text"], quick, tmp_path_factory.mktemp("exam"))


def points(outcome) -> dict[str, list[float]]:
    return {cell: [result.earned for result in results] for cell, results in outcome.checks.items()}


def verdicts(outcome, cell: str = FIRST) -> list[str]:
    return [str(result.verdict) for result in outcome.checks[cell]]


def last(outcome, cell: str = FIRST) -> CheckResult:
    return outcome.checks[cell][-1]


def test_the_solution_passes(exam):
    outcome = exam.grade()
    assert points(outcome) == {FIRST: [1, 2], SECOND: [1, 1], THIRD: [1]}
    assert outcome.earned(FIRST) == 3
    assert outcome.sandboxed


def test_a_wrong_answer_fails_with_the_instructors_message(exam):
    outcome = exam.grade("def f(x): return 11")
    assert verdicts(outcome) == ["failed", "passed"]
    assert wording.reason(outcome.checks[FIRST][0]) == "one is wrong"
    assert points(outcome)[SECOND] == [1, 1]


def test_an_answer_that_raises_is_an_error_with_the_students_own_lines(exam):
    outcome = exam.grade("def f(x):\n    return x[0]")
    assert verdicts(outcome) == ["error", "error"]
    assert wording.reason(last(outcome)).startswith("TypeError: 'int' object is not subscriptable")
    assert "return x[0]" in last(outcome).traceback
    assert "assert" not in last(outcome).traceback


@pytest.mark.parametrize(
    ("raised", "reason"),
    [
        ("AssertionError('the grader was wrong')", "AssertionError: the grader was wrong"),
        ("type('Failed', (Exception,), {})('no')", "Failed: no"),
        ("type('Checked by hand, all right', (Exception,), {})('no')", "'Checked by hand, all right': no"),
    ],
)
def test_what_a_students_code_says_is_not_said_in_the_voice_of_a_test(exam, raised, reason):
    assert wording.reason(last(exam.grade(f"def f(x): raise {raised}"))) == reason


def test_a_cell_that_raises_is_an_error_in_the_checks_that_need_it(exam):
    outcome = exam.grade("1 / 0")
    assert verdicts(outcome) == ["error", "error"]
    assert wording.reason(last(outcome)) == "NameError: name 'f' is not defined"
    assert outcome.outputs[1][0][0]["ename"] == "ZeroDivisionError"
    assert points(outcome)[SECOND] == [1, 1]


def test_a_cell_that_is_not_python_is_an_error(exam):
    outcome = exam.grade("def f(x) return x")
    assert verdicts(outcome) == ["error", "error"]
    assert outcome.outputs[1][0][0]["ename"] == "SyntaxError"


@pytest.mark.parametrize(
    ("answer", "what"),
    [
        (
            "class Magic:\n    def __eq__(self, other): return True\ndef f(x): return Magic()",
            "an object of class Magic",
        ),
        ("def f(x): return f", "a function"),
        ("def f(x): return len", "a function"),
    ],
)
def test_an_answer_of_another_kind_is_refused_with_a_sentence(exam, answer, what):
    outcome = exam.grade(answer)
    assert verdicts(outcome) == ["failed", "failed"]
    said = f"f(...) should be plain data such as a number or an array, but is {what}"
    assert wording.reason(last(outcome)) == said


def test_an_endless_answer_costs_only_the_checks_that_call_it(exam):
    outcome = exam.grade("def f(x):\n    while x == 1: pass\n    return x + 1")
    assert verdicts(outcome) == ["timeout", "passed"]
    assert points(outcome)[THIRD] == [1]


def test_an_endless_cell_costs_only_what_it_defines(exam):
    outcome = exam.grade("f = lambda x: x + 1\nwhile True: pass")
    assert points(outcome) == {FIRST: [1, 2], SECOND: [1, 1], THIRD: [1]}
    assert outcome.outputs[1][0][-1]["ename"] == "KeyboardInterrupt"


@pytest.mark.slow
def test_an_endless_cell_that_heeds_no_interrupt_is_killed_and_the_rest_goes_on(exam):
    outcome = exam.grade(f"{HEEDLESS}\ndef f(x): return x + 1")
    assert verdicts(outcome) == ["timeout", "timeout"]
    assert "in the cell that defines f" in wording.reason(last(outcome))
    assert points(outcome)[SECOND] == [1, 1]


@pytest.mark.slow
def test_an_endless_answer_that_heeds_no_interrupt_is_a_timeout(exam):
    indented = HEEDLESS.replace("\n", "\n    ")
    outcome = exam.grade(f"def f(x):\n    if x == 1:\n        return 2\n    {indented}")
    assert verdicts(outcome) == ["passed", "timeout"]
    assert wording.reason(last(outcome)) == "f did not finish in 1 second"
    assert points(outcome)[SECOND] == [1, 1]


@pytest.mark.parametrize(
    "body",
    [
        "while True: pass",
        pytest.param("import time; time.sleep(1e6)", marks=pytest.mark.slow),
        pytest.param("while True:\n        try: input\n        except BaseException: pass", marks=pytest.mark.slow),
        pytest.param("return 10**(10**9) % 7", marks=pytest.mark.slow),
    ],
)
def test_what_did_not_finish_is_not_waited_for_again_and_costs_nothing_else(quick, tmp_path, body):
    exam = Exam(EXAMS["helped"], quick, tmp_path)
    outcome = exam.grade({"answer-0": f"def slow(x):\n    {body}\ndef user(x): return slow(x)"})
    assert verdicts(outcome, "test-1") == ["timeout"] * 5
    assert verdicts(outcome, "test-3") == ["timeout", "passed"]
    assert verdicts(outcome, "test-5") == ["passed"]
    assert "user did not finish in 1 second" in wording.reason(outcome.checks["test-1"][0])
    assert wording.reason(last(outcome, "test-1")).startswith(
        "user was not called again: an earlier call did not finish in"
    )


@pytest.mark.slow
def test_a_function_that_does_not_finish_for_some_arguments_earns_what_it_earns_for_others(grader, tmp_path):
    exam = Exam(EXAMS["helped"], grader, tmp_path, viva={"seconds": 3})  # a crowded machine may need one
    outcome = exam.grade(
        {"answer-0": "def slow(x):\n    while x == 1: pass\n    return x\ndef user(x): return slow(x)"}
    )
    assert verdicts(outcome, "test-1") == ["timeout", "passed", "passed", "passed", "passed"]
    assert verdicts(outcome, "test-3") == ["timeout", "passed"]


def test_what_an_endless_cell_left_half_done_is_a_timeout_and_no_wrong_answer(quick, tmp_path):
    exam = Exam(EXAMS["helped"], quick, tmp_path)
    outcome = exam.grade({"answer-4": "total = 0\nwhile True: pass"})
    assert verdicts(outcome, "test-5") == ["timeout"]
    assert (
        wording.reason(last(outcome, "test-5")) == "in the cell that defines total, the code did not finish in 1 second"
    )


def test_a_function_that_ends_its_process_costs_no_other_function_its_checks(quick, tmp_path):
    exam = Exam(EXAMS["helped"], quick, tmp_path)
    outcome = exam.grade({"answer-0": "import os\ndef slow(x): return x\ndef user(x): os._exit(1)"})
    assert verdicts(outcome, "test-1") == ["killed"] * 5
    assert verdicts(outcome, "test-3") == ["passed", "passed"]
    assert verdicts(outcome, "test-5") == ["passed"]


@pytest.mark.slow
def test_a_submission_has_one_budget_of_time_which_also_what_begins_again_is_paid_from(quick, tmp_path):
    exam = Exam(EXAMS["helped"], quick, tmp_path, viva={"budget": 2})
    assert exam.examination.budget(quick.seconds) == 2
    endless = "import time\ntime.sleep(1e6)"
    outcome = exam.grade({"answer-0": endless, "answer-2": f"{endless}", "answer-4": "import os\nos._exit(1)"})
    assert outcome.faults == []
    assert wording.reason(last(outcome, "test-5")) == "not run: the notebook did not finish in 2 seconds"
    assert {verdict for cell in exam.tests for verdict in verdicts(outcome, cell)} == {"timeout"}


def test_an_interrupt_of_the_students_own_is_an_error(exam):
    outcome = exam.grade("def f(x): raise KeyboardInterrupt")
    assert verdicts(outcome) == ["error", "error"]


@pytest.mark.slow
def test_an_endless_loop_of_callbacks_costs_only_its_own_check(quick, tmp_path):
    text = """
--- answer
def call(g): return g()
def one(): return 1
--- test
### CHECK 1: call
assert call(lambda: 1) == 1
### CHECK 1: one
assert one() == 1
"""
    exam = Exam(text, quick, tmp_path)
    for _ in range(3):  # an interrupt may come while either side waits for the other
        outcome = exam.grade("def call(g):\n    while True: g()\ndef one(): return 1")
        assert verdicts(outcome, "test-1") == ["timeout", "passed"]


@pytest.mark.thorough
def test_an_answer_that_keeps_c_code_in_a_test_busy_is_a_timeout_and_costs_only_its_own_check(
    quick, tmp_path, monkeypatch
):
    monkeypatch.setattr("viva.engine.session.STUCK", 6.0)
    text = """
--- answer
def count(): return 3
def total(): return 12
--- test
### CHECK 1: count
assert sum(range(count())) == 3
### CHECK 1: total
assert total() == 12
"""
    exam = Exam(text, quick, tmp_path)
    outcome = exam.grade("def count(): return 10**13\ndef total(): return 12")
    assert verdicts(outcome, "test-1") == ["timeout", "passed"]
    assert outcome.faults == []


@pytest.mark.parametrize("answer", ["import os\nos._exit(0)", "import os\nos.abort()"])
def test_a_cell_that_ends_the_process_kills_only_what_it_defines(exam, answer):
    outcome = exam.grade(f"def f(x): return x + 1\n{answer}")
    assert verdicts(outcome) == ["killed", "killed"]
    assert wording.reason(last(outcome)).startswith("in the cell that defines f, the code stopped Python")
    assert last(outcome).exception == last(outcome).reason == ""
    assert points(outcome) == {FIRST: [0, 0], SECOND: [1, 1], THIRD: [0]}
    assert outcome.outputs[1][0][0]["ename"] == "killed"


def test_a_call_that_ends_the_process_costs_its_own_check(exam):
    outcome = exam.grade("import os\ndef f(x):\n    if x == 10: os._exit(0)\n    return x + 1")
    assert verdicts(outcome) == ["passed", "killed"]
    assert points(outcome) == {FIRST: [1, 0], SECOND: [1, 1], THIRD: [1]}


def test_an_exit_is_no_death(exam):
    outcome = exam.grade("def f(x): return x + 1\nraise SystemExit")
    assert points(outcome)[FIRST] == [1, 2]
    outcome = exam.grade("def f(x):\n    import sys\n    sys.exit()")
    assert verdicts(outcome) == ["error", "error"]
    assert points(outcome)[SECOND] == [1, 1]


def test_cells_before_a_death_keep_their_points_and_do_not_run_for_them_again(exam):
    outcome = exam.grade({"answer-3": "import os\nos._exit(0)"})
    assert points(outcome) == {FIRST: [1, 2], SECOND: [0, 0], THIRD: [0]}
    assert verdicts(outcome, SECOND) == ["killed", "killed"]


def test_a_notebook_that_dies_too_often_is_killed_from_there(exam):
    notebook = exam.answered()
    for _ in range(5):
        notebook.cells.insert(3, nbformat.v4.new_code_cell("import os\nos._exit(0)"))
    outcome = exam.grader.grade(notebook, exam.examination)
    assert verdicts(outcome, FIRST) == ["passed", "passed"]
    assert verdicts(outcome, SECOND) == ["killed", "killed"]
    assert wording.reason(last(outcome, THIRD)) == "not run: earlier cells crashed Python too many times"
    assert outcome.faults == []


def test_a_grade_cell_that_was_not_handed_in_is_missing(exam):
    notebook = exam.answered()
    del notebook.cells[2]
    outcome = exam.grader.grade(notebook, exam.examination)
    assert verdicts(outcome, FIRST) == ["missing", "missing"]
    assert points(outcome) == {FIRST: [0, 0], SECOND: [1, 1], THIRD: [1]}


def test_what_a_submission_says_of_points_checks_and_time_does_not_count(exam):
    notebook = exam.answered("def f(x):\n    while True: pass")
    notebook.metadata["viva"] = {"seconds": 60}
    for cell in notebook.cells:
        cell.metadata["viva"] = {"seconds": 60, "where": "candidate"}
        if cell.metadata.nbgrader.grade:
            cell.source, cell.metadata.nbgrader.points = "pass", 100
    start = time.monotonic()
    outcome = exam.grader.grade(notebook, exam.examination)
    assert time.monotonic() - start < 15
    assert verdicts(outcome) == ["timeout", "timeout"]
    assert points(outcome) == {FIRST: [0, 0], SECOND: [1, 1], THIRD: [0]}


def test_a_grade_cell_in_another_language_of_magics_is_ungraded_and_costs_nothing(quick, tmp_path):
    exam = Exam("--- answer\nx = 1\n--- test\n%%bash\necho\n", quick, tmp_path)
    outcome = quick.grade(exam.answered(), replace(exam.examination, single_process={}))
    assert verdicts(outcome, "test-1") == ["ungraded"]
    assert wording.reason(last(outcome, "test-1")) == "the test cell uses %%bash, which the grader cannot run"
    assert outcome.earned("test-1") is None


def timed(folder: Path, grader: Grader, notebook_seconds=None, cell_seconds=None) -> str:
    """The verdict of a call that takes 1.6 seconds."""
    notebook, _ = read("--- answer\ndef f(n): return n\n--- test\nassert f(1) == 1\n")
    if notebook_seconds:
        notebook.metadata["viva"] = {"seconds": notebook_seconds}
    if cell_seconds:
        notebook.cells[1].metadata["viva"] = {"seconds": cell_seconds}
    nbformat.write(notebook, folder / "nb.ipynb")
    notebook.cells[0].source = "import time\ndef f(n):\n    time.sleep(1.6)\n    return n"
    (verdict,) = verdicts(grader.grade(notebook, rehearse(folder / "nb.ipynb", grader)), "test-1")
    return verdict


@pytest.mark.slow
def test_the_time_limit_is_the_courses_or_the_notebooks_or_the_cells(quick, grader, tmp_path):
    assert timed(tmp_path, quick) == "timeout"
    assert timed(tmp_path, grader) == "passed"
    assert timed(tmp_path, quick, notebook_seconds=20) == "passed"
    assert timed(tmp_path, quick, notebook_seconds=20, cell_seconds=1) == "timeout"
    assert timed(tmp_path, grader, cell_seconds=0.5) == "timeout"


SHORTEST = 0.75
"""Half of the seconds that the right answer computes: the waits of two processes can overlap, and the clock of grading
leaves out each of them."""


@pytest.mark.thorough
def test_beside_four_busy_loops_for_each_processor_the_verdicts_are_the_same(grader, tmp_path):
    """One check had its wait for the processor discounted, and the next one had no time left."""
    exam = Exam(EXAMS["long"], grader, tmp_path)
    quick = Grader(2.0, grader.sandboxes, ("numpy",))
    with contextlib.closing(quick), crowded(4):
        start = time.monotonic()
        answered = quick.grade(exam.answered(), exam.examination)
        elapsed = time.monotonic() - start
        endless = quick.grade(exam.answered(exam.variants[0].answers), exam.examination)
    right, wrong = ([check.verdict for check in outcome.checks["test-1"]] for outcome in (answered, endless))
    assert right == [Verdict.PASSED] * 3 and wrong == [Verdict.TIMEOUT] * 3
    # the audit's warning about the slowest right answer counted the machine's wait
    assert SHORTEST <= answered.seconds < elapsed


def test_every_check_has_a_tenth_of_the_time_at_least():
    time_budget = TimeBudget()
    steps = allowance(10, time_budget, spent=4)
    assert next(steps) == 6
    time_budget.spend(2)
    assert next(steps) == 4
    steps = allowance(10, time_budget, spent=40)
    assert [next(steps) for _ in range(3)] == [1, 1, 1]


@pytest.mark.parametrize("role", ["candidates", "examiners"])
def test_a_warm_parent_that_was_killed_is_started_again(exam, role):
    parent = getattr(exam.grader, role)
    pid = parent.pid
    os.kill(pid, signal.SIGKILL)
    assert points(exam.grade()) == {FIRST: [1, 2], SECOND: [1, 1], THIRD: [1]}
    assert getattr(exam.grader, role).pid != pid


@pytest.mark.parametrize(("asked", "step"), [("candidate", "run"), ("examiner", "check")])
@pytest.mark.parametrize("times", [1, 2])
def test_a_candidate_that_the_machine_kills_once_costs_nothing(exam, monkeypatch, asked, step, times):
    ask, shots = getattr(Session, asked), iter(range(times))

    def ask_the_dead(session, *args, **request):
        if request["do"] == step and "f(" in request["source"] and next(shots, None) is not None:
            session.candidates.signal(session.pids[session.candidates], signal.SIGKILL)
        return ask(session, *args, **request)

    monkeypatch.setattr(Session, asked, ask_the_dead)
    outcome = exam.grade()
    whole = points(outcome) == {FIRST: [1, 2], SECOND: [1, 1], THIRD: [1]}
    assert whole if times == 1 else not whole, outcome.checks
    assert outcome.faults == []


@pytest.mark.slow
def test_a_test_that_ends_its_process_with_the_same_answer_twice_costs_that_check_and_no_other(quick, tmp_path):
    exam = Exam("--- answer\nx = 1\n--- test\nassert x == 1\n--- test\nassert x == 1\n", quick, tmp_path)
    cells = list(exam.examination.blueprint.cells)
    broken = replace(cells[-2].checks[0], source="import os\nos._exit(3)")
    cells[-2] = replace(cells[-2], checks=(broken,))
    known = replace(exam.examination, blueprint=replace(exam.examination.blueprint, cells=tuple(cells)))
    outcome = quick.grade(exam.answered(), known)
    assert verdicts(outcome, "test-1") == ["killed"]
    assert last(outcome, "test-1").cause.kind == "answer_ended"
    assert verdicts(outcome, "test-2") == ["passed"]
    assert exam.grade().earned("test-1") == 1


def test_nothing_is_left_of_a_submission(exam, tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    descriptors = len(os.listdir("/proc/self/fd"))
    exam.grade("import os\nopen('left', 'w').write('x')\nos._exit(0)")
    exam.grade()
    assert list(tmp_path.iterdir()) == []
    assert len(os.listdir("/proc/self/fd")) == descriptors


def test_chance_is_the_same_in_every_batch(exam):
    """Also where it hides: the hash of a text decides the order of a set."""
    answer = "import random\nprint(random.random(), np.random.rand(), hash('a'))\ndef f(x): return x + 1"
    shown = []
    for grader in (exam.grader, exam.grader, Grader(1.0, exam.grader.sandboxes)):
        outcome = grader.grade(exam.answered(answer), exam.examination)
        shown.append(outcome.outputs[1][0][0]["text"])
    grader.close()
    assert shown[0] == shown[1] == shown[2]


def test_one_submission_sees_nothing_of_the_one_before(exam):
    exam.grade("import numpy, builtins\nnumpy.leak = builtins.leak = 1\nopen('leak', 'w').write('x')\nf = abs")
    seen = (
        "import os, numpy, builtins\nf = lambda x: hasattr(numpy, 'leak') or hasattr(builtins, 'leak') or os.listdir()"
    )
    results = exam.grade(seen).checks[FIRST]
    assert all(result.verdict is Verdict.FAILED for result in results)
    assert exam.grade(f"{seen}\nassert not f(1), f(1)").outputs[1][0] == []


def test_a_cell_of_the_students_own_runs_where_it_stands(exam):
    notebook = exam.answered("f = None")
    notebook.cells.insert(2, nbformat.v4.new_code_cell("def f(x): return x + 1\nprint('own')"))
    outcome = exam.grader.grade(notebook, exam.examination)
    assert points(outcome)[FIRST] == [1, 2]
    assert outcome.outputs[2][0][0]["text"] == "own\n"


def test_an_unknown_grade_cell_of_a_submission_earns_nothing(exam):
    notebook = exam.answered()
    notebook.cells.append(code_cell("forged", "pass", grade=True, points=100))
    outcome = exam.grader.grade(notebook, exam.examination)
    assert "forged" not in outcome.checks


def test_a_module_beside_the_notebook_is_imported_by_answers_and_the_instructors_by_tests(quick, tmp_path):
    mine, theirs = tmp_path / "mine", tmp_path / "theirs"
    for folder, text in ((mine, "def same(a, b):\n    assert a == b\n"), (theirs, "def same(a, b): pass\n")):
        folder.mkdir()
        (folder / "comparing.py").write_text(text)
    text = "--- answer\nimport comparing\nx = 1\n--- test\nfrom comparing import same\nsame(x, 1)\n--- wrong\nx = 2\n"
    exam = Exam(text, quick, mine)
    answers = exam.answered(), exam.answered("import comparing\ncomparing.same(1, 2)\nx = 2\n")
    known = rehearse(next(mine.glob("*.ipynb")), quick, mine)
    right, wrong = (quick.grade(answer, known, mine, theirs) for answer in answers)
    assert verdicts(right, "test-1") == ["passed"]
    assert wrong.outputs[0][0] == [] and verdicts(wrong, "test-1") == ["failed"]


def test_what_a_test_cell_defines_is_there_in_the_cells_below_it_also_where_they_run_inside(quick, tmp_path):
    exam = Exam(EXAMS["helper"], quick, tmp_path)
    assert exam.examination.inside == {"test-3"}
    assert verdicts(exam.grade(), "test-3") == verdicts(exam.grade(), "test-4") == ["passed"]
    wrong = exam.grade("def f(x): return x\ndef g(x): return 2 * f(x)")
    assert exam.grade().outputs[2][0] == [] != wrong.outputs[2][0]
    assert [verdicts(wrong, cell) for cell in exam.tests] == [["failed"]] * 3


@pytest.mark.parametrize(
    ("test", "verdict", "reason"),
    [
        ("import pytest\nwith pytest.raises(ValueError):\n    f(-1)", "failed", "DID NOT RAISE ValueError"),
        ("import pytest\nif f(1) != 2: pytest.fail('not two')", "failed", "not two"),
        ("if f(1) != 2: raise SystemExit(1)", "error", "SystemExit: 1"),
        ("if f(1) != 2: raise KeyboardInterrupt", "error", "KeyboardInterrupt: "),
    ],
)
def test_a_test_that_ends_by_no_ordinary_exception_fails_and_the_next_one_runs(quick, tmp_path, test, verdict, reason):
    solution = "def f(x):\n    if x < 0: raise ValueError\n    return 2"
    exam = Exam(f"--- answer\n{solution}\n--- test\n{test}\n--- test\nassert f(1)\n", quick, tmp_path)
    assert verdicts(exam.grade(), "test-1") == ["passed"]
    outcome = exam.grade("def f(x): return 1")
    assert (verdicts(outcome, "test-1"), wording.reason(last(outcome, "test-1"))) == ([verdict], reason)
    assert verdicts(outcome, "test-2") == ["passed"]


ENDS = "import os\ndef f(x):\n    if x in ({}): os._exit(1)\n    return x + 1"
MISFORTUNES = {
    "fails": ("def f(x): return 0", ["failed", "failed"]),
    "raises": ("def f(x): return y", ["error", "error"]),
    "never ends": ("def f(x):\n    while True: pass", ["timeout", "timeout"]),
    "ends its process at the first check": (ENDS.format("1,"), ["killed", "passed"]),
    "ends its process at the last check": (ENDS.format("10,"), ["passed", "killed"]),
    "ends its process at each check": (ENDS.format("1, 10"), ["killed", "killed"]),
    "has to be ended at the last check": (
        "def f(x):\n    if x == 1: return 2\n    " + HEEDLESS.replace("\n", "\n    "),
        ["passed", "timeout"],
    ),
    "has the names of the helpers": (
        "f = reference_numbers = 1\ndef reference_double(number): return 0",
        ["error", "error"],
    ),
}


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(one, marks=[pytest.mark.slow] * (one in ("never ends", "has to be ended at the last check")))
        for one in MISFORTUNES
    ],
)
def test_shared_lines_of_a_test_cell_are_there_for_those_below_whatever_came_of_its_checks(quick, tmp_path, name):
    answer, expected = MISFORTUNES[name]
    exam = Exam(EXAMS["shared"], quick, tmp_path)
    outcome = exam.grade(answer)
    assert verdicts(outcome, "test-1") == expected
    assert points(outcome) == points(outcome) | {"test-3": [1, 1], "test-5": [1]}
    assert points(exam.grade({"answer-0": answer, "answer-2": "def g(x): return x"}))["test-3"] == [0, 0]


def test_what_a_helper_of_a_test_cell_above_uses_is_asked_with_the_names_of_a_test_cell(quick, tmp_path):
    text = "--- answer\nx = 1\n--- test\ndef helper(): return x\nassert True\n--- test\nassert helper() == 1\n"
    examination = Exam(text, quick, tmp_path).examination
    assert examination.used_names(examination.blueprint.cells[-1]) == ["helper", "x"]


def test_a_process_that_ends_at_several_test_cells_costs_the_checks_at_which_it_did(quick, tmp_path):
    exam = Exam(EXAMS["shared"], quick, tmp_path)
    answers = {
        "answer-0": ENDS.format("10,"),
        "answer-2": "import os\ndef g(x): return os._exit(1) if x == 5 else 2 * x",
    }
    assert points(exam.grade(answers)) == {"test-1": [1, 0], "test-3": [1, 0], "test-5": [1]}


def test_shared_lines_that_end_the_process_are_not_run_again(quick, tmp_path):
    text = "--- answer\ndef f(x): return x\n--- test\nf(0)\n### CHECK 1: one\nassert f(1) == 1\n### CHECK 1: two\n"
    exam = Exam(f"{text}assert f(2) == 2\n--- answer\nx = 1\n--- test\nassert x == 1\n", quick, tmp_path)
    outcome = exam.grade("import os\ndef f(x): os._exit(1)")
    assert points(outcome) == {"test-1": [0, 0], "test-3": [1]}
    assert verdicts(outcome, "test-1") == ["killed", "killed"]


def test_a_test_cell_that_the_assignment_does_not_know_never_runs_in_the_candidate(exam):
    notebook = exam.answered()
    notebook.cells.insert(2, code_cell("stray", "found = 'a hidden test'", grade=True, points=1.0))
    notebook.cells.append(code_cell("look", "print(globals().get('found'))"))
    outcome = exam.grader.grade(notebook, exam.examination)
    outputs, _ = outcome.outputs[len(notebook.cells) - 1]
    assert outputs[0]["text"] == "None\n"
    assert lost(outcome) == {}
