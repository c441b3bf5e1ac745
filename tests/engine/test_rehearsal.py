"""What is learnt from the instructor's own solution."""

from __future__ import annotations

import contextlib
from pathlib import Path

import nbformat
import pytest

from tests.oral import Exam, lost, read, read_tables
from viva import wording
from viva.course.examining.graders import new_grader
from viva.engine.dialogue.expected import PLAIN, expected_of
from viva.engine.grading import Grader
from viva.engine.rehearsal import rehearse
from viva.record import Note
from viva.sandbox.confinement import Sandbox
from viva.verdict import BlueprintError, Verdict

TABLES = read_tables(Path(__file__).with_name("rehearsal.txt"))
EXAMS = TABLES[""]

INSIDE = TABLES["inside"]


@pytest.mark.parametrize("way", INSIDE)
def test_a_cell_that_cannot_be_split_runs_inside(way, grader, tmp_path):
    Exam(INSIDE[way], grader, tmp_path).prove(inside=True)


def test_a_cell_below_one_that_runs_inside_has_what_that_imports_and_defines(grader, tmp_path):
    exam = Exam(EXAMS["below"], grader, tmp_path)
    first, second = exam.tests
    assert exam.examination.inside == {first}
    right, wrong = exam.grade(), exam.grade(exam.variants[0].answers)
    assert [right.checks[test][0].verdict for test in exam.tests] == [Verdict.PASSED, Verdict.PASSED]
    assert wrong.checks[first][0].verdict is Verdict.FAILED
    assert wrong.checks[second][0].verdict is Verdict.FAILED


def test_a_function_that_a_cell_inside_puts_in_place_of_the_students_is_not_kept_for_those_below(grader, tmp_path):
    replaced = "own = double\ndef double(text): return text * 2\ndouble = own\nlimit = 3"
    exam = Exam(EXAMS["below"].replace("limit = 3", replaced, 1), grader, tmp_path)
    first, second = exam.tests
    assert exam.examination.inside == {first} and exam.grade().checks[second][0].verdict is Verdict.PASSED
    assert exam.grade(exam.variants[0].answers).checks[second][0].verdict is Verdict.FAILED


@pytest.mark.parametrize(
    "text", [EXAMS["pool"], EXAMS["elsewhere"]], ids=["other processes", "a file of the machine's"]
)
def test_what_the_sandbox_refuses_to_the_solution_costs_nobody_a_point(text, grader, tmp_path):
    (tmp_path / "numbers").write_text("1 2")
    exam = Exam(text.replace("PLACE", str(tmp_path / "numbers")), grader, tmp_path)
    refused, other = exam.tests
    assert exam.examination.refused == {refused: Note("refused_by_wall")}
    for answer in (None, "def double(*given): return []"):
        outcome = exam.grade(answer)
        assert [(result.verdict, result.cause.kind) for result in outcome.checks[refused]] == [
            (Verdict.UNGRADED, "refused_by_wall")
        ]
        assert [result.verdict for result in outcome.checks[other]] == [Verdict.PASSED]


def test_the_kinds_of_all_answers_are_recorded(grader, tmp_path):
    exam = Exam(EXAMS["answers"], grader, tmp_path)
    kinds = {path: expected_of(text).kind for path, text in exam.examination.kinds.items()}
    paths = "number", "text", "array", "f()", "pair()", "made.n", "made.copy().n"
    assert {path: kinds[path] for path in paths} == dict.fromkeys(paths, PLAIN)
    paths = "f", "made", "made.copy", "made.copy()", "either", "either()"
    assert {path: kinds[path] for path in paths} == dict.fromkeys(paths, "")
    assert kinds["activation"] == "numpy:tanh"
    assert exam.examination.kinds["np"] == "own numpy:"
    assert lost(exam.grade()) == {}


@pytest.mark.parametrize(
    "answer",
    [
        "import numpy as np\nnp.allclose = np.testing.assert_allclose = assert_allclose = lambda *a: True\nx = [0, 0]",
        "def assert_allclose(*args): pass\nclass np:\n    allclose = lambda *a: True\nx = [0, 0]",
    ],
)
def test_what_the_solution_imports_is_the_examiners_own(grader, tmp_path, answer):
    exam = Exam(EXAMS["imports"], grader, tmp_path)
    exam.prove()
    assert len(lost(exam.grade(answer))) == 2


def test_what_a_hidden_test_imported_is_there_although_a_student_does_not_import_it_as_the_solution_does(
    grader, tmp_path
):
    exam = Exam(EXAMS["anew"], grader, tmp_path)
    verdicts = [exam.check(variant.answers).verdict for variant in exam.variants]
    assert [exam.check().verdict, *verdicts] == [Verdict.PASSED, Verdict.PASSED, Verdict.FAILED]


def test_what_an_answer_changes_in_place_becomes_the_students(grader, tmp_path):
    exam = Exam(
        "--- given\nx = [2, 1]\ny = [0]\n--- answer\nx.sort()\n--- test\nassert x == [1, 2]\n", grader, tmp_path
    )
    assert exam.examination.plan.owned == {"answer-1": {"x"}}
    assert exam.examination.plan.given == {"given-0"}
    assert exam.check("pass").verdict is Verdict.FAILED


def test_the_author_may_say_that_a_cell_runs_inside(grader, tmp_path):
    notebook, _ = read("--- answer\nx = 1\n--- test\nassert x == 1\n--- test\nassert x == 1\n")
    notebook.cells[1].metadata["viva"] = {"where": "candidate"}
    nbformat.write(notebook, tmp_path / "nb.ipynb")
    assert rehearse(tmp_path / "nb.ipynb", grader).inside == {notebook.cells[1].id}


def test_a_solution_that_fails_its_own_tests_is_not_put_inside(grader, tmp_path):
    exam = Exam("--- answer\nx = 1\n--- test\nassert x == 2\n", grader, tmp_path)
    assert exam.examination.inside == frozenset()
    assert exam.check().verdict is Verdict.FAILED


def test_a_wrong_line_of_a_test_costs_only_its_own_check_where_the_cell_cannot_be_split(grader, tmp_path):
    exam = Exam(EXAMS["one line is wrong"], grader, tmp_path)
    verdicts = [check.verdict for check in exam.grade().checks["test-2"]]
    assert verdicts == [Verdict.PASSED, Verdict.FAILED, Verdict.PASSED]
    assert [wording.sentence(why) for why in exam.examination.failing.values()] == ["an assertion fails"]
    (said,) = exam.examination.single_process_sentences().values()
    assert "passes all of its checks only when answers and tests share one process (" in said and "Bag" in said


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("os._exit(3)", "its cell 'answer-0' ends its process, with status 3"),
        ("os.abort()", r"its cell 'answer-0' crashes its process .*SIGABRT.* c\.Examine\.memory"),
    ],
)
def test_a_solution_that_ends_its_process_is_refused(line, why, grader, tmp_path):
    with pytest.raises(BlueprintError, match=rf"nb\.ipynb: the instructor's own notebook cannot be run: {why}"):
        rehearse(written(f"--- answer\nimport os\n{line}\n--- test\npass\n", tmp_path), grader)


@pytest.mark.thorough
def test_a_course_may_allow_more_memory(tmp_path):
    path = written("--- answer\nx = bytearray(150 * 2**20)\n--- test\nassert len(x) > 0\n", tmp_path)
    for megabytes in (128, 1024):
        with contextlib.closing(new_grader(30.0, False, megabytes)) as grader:
            assert bool(rehearse(path, grader).refused) == (megabytes == 128)


def test_data_files_are_there_in_rehearsal(grader, tmp_path):
    data = tmp_path / "data"
    data.mkdir()
    (data / "numbers.txt").write_text("4 5")
    text = "--- given\ntext = open('numbers.txt').read()\n--- answer\nx = sum(map(int, text.split()))\n"
    path = written(text + "--- test\nassert x == 9 and open('numbers.txt').read() == text\n", tmp_path)
    examination = rehearse(path, grader, data)
    assert examination.inside == frozenset()
    outcome = grader.grade(nbformat.read(path, 4), examination, data)
    assert lost(outcome) == {}


def written(text: str, folder: Path) -> Path:
    notebook, _ = read(text)
    nbformat.write(notebook, folder / "nb.ipynb")
    return folder / "nb.ipynb"


def test_what_a_cell_graded_by_hand_computes_is_the_students(grader, tmp_path):
    Exam(EXAMS["by hand"], grader, tmp_path).prove()


def test_answers_in_cells_that_nbgrader_does_not_know_are_graded(grader, tmp_path):
    Exam(EXAMS["open"], grader, tmp_path).prove()


def test_cells_without_ids_are_told_apart(grader, tmp_path):
    exam = Exam(EXAMS["twice"], grader, tmp_path)
    notebook = nbformat.from_dict(exam.notebook)
    notebook.nbformat_minor = 4
    for cell in notebook.cells:
        del cell["id"]
    nbformat.write(notebook, tmp_path / "old.ipynb")
    known = rehearse(tmp_path / "old.ipynb", grader)
    assert known.plan.given == {"cell-1"}
    assert not known.inside
    wrong = exam.answered(exam.variants[0].answers)
    for submission, passes in ((exam.answered(), True), (wrong, False)):
        for cell in submission.cells:
            del cell["id"]
        assert (lost(grader.grade(submission, known)) == {}) is passes


def test_any_kind_of_answer_will_do_where_the_solution_itself_does_not_pass(grader, tmp_path):
    exam = Exam(EXAMS["stub"], grader, tmp_path)
    assert lost(exam.grade())
    right, wrong = exam.variants
    assert lost(exam.grade(right.answers)) == {}
    assert lost(exam.grade(wrong.answers))


def test_tests_of_a_module_that_students_hand_in_run_in_the_students_process(grader, tmp_path):
    text = "--- test\nimport checks\n--- test\nchecks.doubles()\n--- test\nassert 0, 'always'\n"
    course, right, wrong = (tmp_path / name for name in ("course", "right", "wrong"))
    for folder, body in ((course, None), (right, "return 2 * x"), (wrong, "return x")):
        folder.mkdir()
        (folder / "checks.py").write_text("from mine import f\ndef doubles():\n    assert f(2) == 4\n")
        if body:
            (folder / "mine.py").write_text(f"def f(x):\n    {body}\n")
    exam = Exam(text, grader, course)
    known = rehearse(next(course.glob("*.ipynb")), grader, course)
    assert known.inside == {"test-0", "test-1"}
    graded = [grader.grade(exam.answered(), known, course, folder) for folder in (right, wrong)]
    assert [[outcome.earned(cell) for cell in exam.tests] for outcome in graded] == [[1, 1, 0], [1, 0, 0]]


HIDDEN = "### BEGIN HIDDEN TESTS\n{}\n### END HIDDEN TESTS"
IMPORTED = "from numpy.testing import assert_allclose"
USED = "assert_allclose(scaled([1]), [2])"
ABOVE = {
    "a hidden import": (HIDDEN.format(f"{IMPORTED}\n{USED}"), "assert_allclose(scaled([1]), [3])", False),
    "an import that hidden lines repeat": (
        f"{IMPORTED}\n{USED}\n" + HIDDEN.format(f"{IMPORTED}\n{USED}"),
        "assert_allclose(scaled([1]), [3])",
        False,
    ),
    "an import above a function with hidden lines in it": (
        f"{IMPORTED}\ndef test(f):\n    {USED}\n    if f:\n        "
        + HIDDEN.format(f"        {USED}").replace("\n###", "\n        ###")
        + "\ntest(scaled)",
        "assert_allclose(scaled([1]), [3])",
        False,
    ),
    "an import that is tried, below a magic": (
        f"%%time\ntry:\n    {IMPORTED}\nexcept ImportError:\n    assert_allclose = None\nlimit = 3\n{USED}",
        "assert_allclose(scaled([1]), [limit])",
        False,
    ),
    "hidden numbers, and a visible object that cannot be sent between the two processes": (
        "rng = np.random.default_rng(0)\n"
        + HIDDEN.format("case = rng.normal(size=3)\nassert scaled(case).shape == (3,)"),
        "assert np.allclose(scaled(case), 3 * case) and rng.normal(size=2).shape == (2,)",
        True,
    ),
    "a name that only the answer uses": (
        HIDDEN.format("assert scaled(1) == 2\nshift = 1.0"),
        "assert scaled(1) == 4",
        True,
    ),
}


@pytest.mark.parametrize("what", ABOVE)
def test_a_cell_that_is_moved_into_the_students_process_has_what_stands_above_it(what, grader, tmp_path):
    above, below, moved = ABOVE[what]
    exam = Exam(EXAMS["moved"].format(above=above, below=below), grader, tmp_path)
    first, second = exam.tests
    assert exam.examination.inside == ({first, second} if moved else {second})
    exam.prove(inside=True)


def test_what_a_test_imports_is_there_although_a_student_failed_above_it(grader, tmp_path):
    above = f"{IMPORTED}\nexpected = scaled(1) * 2\n### CHECK 1: one\nassert_allclose(expected, 4)"
    exam = Exam(EXAMS["moved"].format(above=above, below="assert_allclose(scaled([1]), [3])"), grader, tmp_path)
    assert exam.examination.inside == {exam.tests[1]}
    outcome = exam.grade("def scaled(x):\n    if scale == 2: raise ValueError\n    return scale * np.asarray(x)")
    assert [outcome.checks[test][0].verdict for test in exam.tests] == [Verdict.ERROR, Verdict.PASSED]


STAYING = {
    "a generator of random numbers": (
        "import random\nrng = random.Random(3)",
        "drawn = rng.random()\nsmall = drawn < 1",
        "small = rng.random() < 1\ndrawn = 2",
    ),
    "a connection that a function uses": (
        "import sqlite3\nbase = sqlite3.connect(':memory:')\nbase.execute('create table t (a)')",
        "def rows(): return base.execute('select count(*) from t').fetchone()[0]\ndrawn, small = rows() + 0.5, True",
        "drawn, small = 1, True",
    ),
    "an iterator": ("steps = iter([0.5, 2])", "small, drawn = True, next(steps)", "small, drawn = True, 2"),
    "an iterator in the place of a list": ("steps = iter([0.5])", "small, drawn = True, sum(steps)", "drawn = 2"),
}


@pytest.mark.parametrize("what", STAYING)
def test_an_answer_has_what_a_test_above_it_binds_and_what_cannot_cross(what, grader, tmp_path):
    above, right, wrong = STAYING[what]
    exam = Exam(EXAMS["steps"].format(above=above, right=right, wrong=wrong), grader, tmp_path)
    first, second = exam.tests
    silent = what.endswith("list")  # the answer does not raise without it
    assert exam.examination.inside == ({first, second} if silent else {first}) and not exam.examination.refused
    assert exam.examination.repeatable
    exam.prove(inside=True)


@pytest.mark.slow
def test_a_test_that_asks_too_often_is_a_single_process_cell_and_the_count_is_the_reason(grader, tmp_path):
    exam = Exam(EXAMS["often"], grader, tmp_path)
    (sentence,) = exam.examination.single_process_sentences().values()
    assert exam.examination.inside == {exam.tests[0]} and exam.examination.repeatable
    assert "it asks the student's code more than 5000 times" in sentence
    assert lost(exam.grade()) == {}


def test_a_test_that_the_solution_passes_in_one_process_only_costs_nobody_a_point(grader, tmp_path):
    exam = Exam(EXAMS["neither"], grader, tmp_path)
    second = exam.tests[1]
    assert exam.examination.inside == {second} and exam.examination.refused.keys() == {second}
    for answer, verdict in ((None, Verdict.PASSED), ("def one(): return 2", Verdict.FAILED)):
        outcome = exam.grade(answer)
        assert [outcome.checks[test][0].verdict for test in exam.tests] == [verdict, Verdict.UNGRADED]
        assert "passes this test in one process" in wording.reason(outcome.checks[second][0])


def test_a_cell_that_ends_the_process_where_it_is_split_runs_inside(grader, tmp_path):
    exam = Exam(EXAMS["ending"], grader, tmp_path)
    assert exam.examination.inside == {exam.tests[0]} and not exam.examination.refused
    assert lost(exam.grade()) == {}
    assert [bool(lost(exam.grade(variant.answers))) for variant in exam.variants] == [False, True]


@pytest.mark.slow
def test_an_answer_may_be_twice_as_large_as_the_solutions(grader, tmp_path):
    Exam(EXAMS["wide"], grader, tmp_path).prove()


@pytest.fixture(scope="module")
def quick():
    """A grader that has a time limit of two seconds."""
    grader = Grader(2.0, (Sandbox.for_candidate(), Sandbox.for_examiner()))
    yield grader
    grader.close()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("below", "why"),
    [
        ("while True: pass", "does not finish in 2 s"),
        ("import numpy as np\nbest += np.ones(10**12)[0]", "memory limit"),
    ],
)
def test_where_the_solution_itself_cannot_finish_nobody_loses_a_point(below, why, quick, tmp_path):
    exam = Exam(EXAMS["slow"].format(above="", below=below), quick, tmp_path)
    test, other = exam.tests
    assert exam.examination.refused.keys() == {test}
    (name,) = exam.examination.refused[test].names
    assert "'answer-0'" in name and why in name
    right, wrong = exam.variants
    verdicts = [exam.grade(answer).checks[test][0].verdict for answer in (None, right.answers, wrong.answers)]
    assert verdicts == [Verdict.UNGRADED, Verdict.PASSED, Verdict.UNGRADED]
    assert exam.grade().checks[other][0].verdict is Verdict.PASSED


@pytest.mark.slow
def test_a_cell_of_the_solution_may_take_as_long_as_its_metadata_say(quick, tmp_path):
    notebook, _ = read("--- answer\nimport time\ntime.sleep(2.5)\nx = 1\n--- test\nassert x == 1\n")
    notebook.cells[0].metadata["viva"] = {"seconds": 30}
    nbformat.write(notebook, tmp_path / "nb.ipynb")
    known = rehearse(tmp_path / "nb.ipynb", quick)
    assert known.refused == {} and lost(quick.grade(notebook, known)) == {}


def test_what_is_only_measured_is_read_as_if_it_was_not(grader, tmp_path):
    exam = Exam(EXAMS["measured"], grader, tmp_path)
    assert exam.examination.plan.owned["given-3"] == {"i", "j", "table"}
    exam.prove()


WRITTEN = TABLES["written"]


@pytest.mark.parametrize("how", WRITTEN)
def test_a_file_that_students_write_is_the_one_that_tests_read(how, grader, tmp_path):
    data = tmp_path / "course"
    (data / "data").mkdir(parents=True)
    (data / "start.txt").write_text("3")
    (data / "data" / "run.txt").write_text(
        "1.000000000000000000e+00\n2.000000000000000000e+00\n3.000000000000000000e+00\n"
    )
    exam = Exam(WRITTEN[how], grader, data)
    known = rehearse(next(data.glob("*.ipynb")), grader, data)
    assert known.refused == {}
    graded = {variant.right: grader.grade(exam.answered(variant.answers), known, data) for variant in exam.variants}
    assert lost(grader.grade(exam.answered(), known, data)) == {}
    assert lost(graded.get(True, graded[False])).keys() == (set() if True in graded else lost(graded[False]).keys())
    assert lost(graded[False])


REASONS = """--- answer
import asyncio
from collections import Counter
class Box:
    def __enter__(self): return self
    def __exit__(self, *raised): pass
class Empty(Exception): pass
async def one(): return 1
def told(value): return type(value).__name__
def counted(text): return Counter(text)
--- test
with Box(): pass
--- test
class Small(Box): pass
assert Small()
--- test
assert isinstance(Empty("x"), Empty)
--- test
assert await one() == 1
--- test
import asyncio
assert asyncio.run(one()) == 1
--- test
from pathlib import PurePath
assert told(PurePath("x")) == "PurePosixPath"
--- test
from datetime import datetime
from zoneinfo import ZoneInfo
assert told(datetime(2026, 1, 1, tzinfo=ZoneInfo("UTC"))) == "datetime"
--- test
import numpy as np
assert told(np.zeros(2, dtype=[("age", "i4")])) == "ndarray"
--- test
assert counted("aab").most_common(1) == [("a", 2)]
"""


def test_the_reason_for_a_single_process_cell_names_what_the_author_wrote(grader, tmp_path):
    exam = Exam(REASONS, grader, tmp_path)
    told = [wording.sentence(exam.examination.single_process[test]) for test in exam.tests]
    of_object = "it does with an object of the student's code what needs one process"
    assert [one.startswith(of_object) for one in told] == [True] * 5 + [False] * 4
    assert [one.removeprefix("it gives the student's code a value of type ") for one in told[5:8]] == [
        f"{kind}, which cannot be sent between two processes"
        for kind in (
            "PurePosixPath",
            "datetime with a time zone of the class ZoneInfo",
            "ndarray with the dtype [('age', '<i4')]",
        )
    ]
    assert "counted(...) returns an object of class Counter; one of a student's own class may be right too" in told[8]


def test_an_assertion_without_a_message_is_a_reason_too(grader, tmp_path):
    text = "--- answer\nimport os\nos.environ['MODE'] = 'x'\n"
    text += "--- test\nimport os\nassert os.environ.get('MODE') == 'x'\n"
    (said,) = Exam(text, grader, tmp_path).examination.single_process_sentences().values()
    assert "share one process (an assertion fails: assert os.environ.get('MODE') == 'x')" in said
