"""The kind of an answer is what the solution gave, unless the author has widened it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_notebook

from tests.handmade import code
from tests.oral import Exam, lost, read_tables
from viva import wording
from viva.engine.blueprint import read_blueprint
from viva.engine.dialogue.expected import ANY, OBJECT, PLAIN, Expected, ExpectedTypes, expected_of, merged, path_of
from viva.engine.rehearsal import rehearse
from viva.verdict import BlueprintError, Verdict

TABLES = read_tables(Path(__file__).with_name("expected.txt"))
EXAMS = TABLES[""]

SOLUTION = """### BEGIN SOLUTION
class Model:
    def fit(self):
        return 4.0
model = Model()
### END SOLUTION"""
TESTS = """### CHECK 1: the slope as a number
assert float(model.fit()) == 4
### CHECK 1: the slope by itself
assert model.fit() == 4"""
LINE = """import fractions
class Line:
    slope = 4.0
    def __float__(self): return self.slope
    def __eq__(self, other): return self.slope == other
    def parts(self): return self
class Model:
    def fit(self): return Line()
model = Model()"""


def notebook(answer, tests=TESTS, kinds=None):
    cells = [code("answer", answer, solution=True), code("tests", tests, grade=True, points=2)]
    return new_notebook(cells=cells, metadata={"viva": {"kinds": kinds}} if kinds else {})


@pytest.fixture
def graded(grader, tmp_path):
    """The verdicts and reasons of an answer where the author has widened some kinds."""

    def grade(answer, tests=TESTS, kinds=None):
        path = tmp_path / "kinds.ipynb"
        nbformat.write(notebook(SOLUTION, tests, kinds), path)
        outcome = grader.grade(notebook(answer), rehearse(path, grader))
        assert outcome.faults == []
        return [(result.verdict, wording.reason(result)) for result in outcome.checks["tests"]]

    return grade


def test_an_object_where_the_solution_gave_plain_data_is_refused(graded):
    for verdict, reason in graded(LINE):
        assert verdict is Verdict.FAILED
        assert (
            "model.fit(...) should be plain data such as a number or an array, but is an object of class Line" in reason
        )


@pytest.mark.parametrize("path", ["model.fit()", "model.fit(...)"])
def test_with_the_kind_widened_the_object_is_accepted(graded, path):
    assert [verdict for verdict, _ in graded(LINE, kinds={path: "any"})] == [Verdict.PASSED] * 2
    assert [verdict for verdict, _ in graded(SOLUTION, kinds={path: "any"})] == [Verdict.PASSED] * 2


def test_a_wrong_object_still_fails(graded):
    verdicts = [verdict for verdict, _ in graded(LINE.replace("4.0", "5.0"), kinds={"model.fit()": "any"})]
    assert verdicts == [Verdict.FAILED] * 2


def test_what_comes_out_of_a_widened_answer_is_widened_and_nothing_else_is(graded):
    tests = """fitted = model.fit()
### CHECK 2: the slope
assert (fitted if isinstance(fitted, float) else fitted.parts().slope) == 4"""
    assert graded(LINE, tests, {"model.fit()": "any"})[0][0] is Verdict.PASSED
    ((verdict, reason),) = graded(LINE, tests, {"model.fi": "any", "model.fitted()": "any"})
    assert verdict is Verdict.FAILED and "should be plain data" in reason


def test_an_object_never_names_a_place_in_the_examiners_memory(graded):
    """NumPy reads wherever ``__array_interface__`` points to."""
    tests = """import numpy as np
### CHECK 2: the slope
assert np.shape(np.asarray(model.fit())) == () and np.asarray(model.fit()).dtype == float"""
    pointer = "__array_interface__ = {'data': (8, False), 'shape': (), 'typestr': '<f8', 'version': 3}"
    forged = LINE.replace("    slope = 4.0", f"    {pointer}\n    slope = 4.0")
    ((verdict, reason),) = graded(forged, tests, {"model.fit()": "any"})
    assert verdict is Verdict.FAILED, reason


def test_what_is_expected_is_recorded_by_path(grader, tmp_path):
    path = tmp_path / "kinds.ipynb"
    nbformat.write(notebook(SOLUTION), path)
    known = {path: expected_of(text).kind for path, text in rehearse(path, grader).kinds.items()}
    assert {"model": "", "model.fit": "", "model.fit()": PLAIN}.items() <= known.items()
    nbformat.write(notebook(SOLUTION, kinds={"model.fit()": "any", "never": "any"}), path)
    kinds = rehearse(path, grader).kinds
    assert kinds["model.fit()"] == ANY and "never" not in kinds


@pytest.mark.parametrize("kinds", [{"model.fit()": "plain"}, ["model.fit()"], "any"])
def test_a_kind_can_only_be_widened(tmp_path, kinds):
    nbformat.write(notebook(SOLUTION, kinds=kinds), tmp_path / "kinds.ipynb")
    with pytest.raises(BlueprintError, match="It can only allow more types, for example"):
        read_blueprint(tmp_path / "kinds.ipynb")


OF_STUDENTS_CHOICE = TABLES["of students choice"]


@pytest.mark.parametrize("text", OF_STUDENTS_CHOICE.values(), ids=OF_STUDENTS_CHOICE)
def test_what_crosses_by_value_of_a_class_that_students_may_write_makes_a_single_process_cell(text, grader, tmp_path):
    Exam(text, grader, tmp_path).prove(inside=True)


STUDENTS_CLASS = TABLES["students class"]


@pytest.mark.parametrize("text", STUDENTS_CLASS.values(), ids=STUDENTS_CLASS)
def test_where_the_solution_has_a_class_of_the_librarys_students_may_write_it(text, grader, tmp_path):
    Exam(text, grader, tmp_path).prove()


@pytest.mark.slow
def test_the_path_along_a_chain_of_nodes_does_not_grow_with_it(grader, tmp_path):
    exam = Exam(EXAMS["chain"], grader, tmp_path)
    exam.prove()
    assert max(map(len, exam.examination.kinds)) < 450


def test_a_pandas_array_is_refused_in_whatever_it_is_hidden(grader, tmp_path):
    exam = Exam(EXAMS["pandas arrays"], grader, tmp_path)
    assert lost(exam.grade()) == {} and not exam.examination.inside
    found = lost(exam.grade(exam.variants[0].answers))
    assert [title for _, title in found] == ["items", "list", "exception"]
    assert str(found).count("a pandas array") >= 3


def test_a_pandas_array_by_itself_is_the_series_of_it_where_the_solution_gives_one(grader, tmp_path):
    Exam(EXAMS["categories"], grader, tmp_path).prove()


@pytest.mark.usefixtures("processes")
def test_an_array_whose_bytes_happen_to_be_those_of_na_loads_no_pandas():
    """As a student's array of ps3 that was changed in place: its check took 0.15 s longer, and needed pandas."""
    code = (
        "import sys, numpy as np\n"
        "from viva.engine import wire\n"
        "from viva.engine.dialogue.expected import ExpectedTypes, Path\n"
        "array = np.frombuffer(b'NA' * 4).copy()\n"
        "found = ExpectedTypes().as_series(wire.encode({'value': array}), array, Path('f'))\n"
        "assert found is array and 'pandas' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_series_in_the_place_of_a_pandas_array_does_not_pass_for_true(grader, tmp_path):
    text = "--- given\nimport pandas as pd\n--- answer\ndef f(): return 3\n--- test\nassert f() == 3"
    exam = Exam(text, grader, tmp_path)
    assert exam.check("def f(): return pd.array([0])").verdict is Verdict.ERROR


def test_objects_that_a_function_of_the_tests_is_handed_make_no_result_one(grader, tmp_path):
    exam = Exam(EXAMS["walk"], grader, tmp_path)
    assert lost(exam.grade()) == {} and not exam.examination.inside
    right, wrong = exam.variants
    assert lost(exam.grade(right.answers)) == {}
    assert "walk(...) should be plain data" in str(lost(exam.grade(wrong.answers)))


def test_an_attribute_has_the_kind_that_it_had_elsewhere_of_the_same_name_and_of_no_longer_one():
    types = ExpectedTypes()
    types.learn({"fit().line": OBJECT})
    assert (types.kind(path_of("fit()[].line")), types.kind(path_of("f().line"))) == (OBJECT, PLAIN)


@pytest.mark.parametrize(
    "text", ["f", "f()", "model.fit().coef_[]", "f()[*].x add", "x changed", "f() handed", "é.ü()"]
)
def test_a_path_says_itself_again(text):
    assert str(path_of(text)) == text


@pytest.mark.parametrize(
    "text",
    ["plain", "", "any", "own numpy:dot", "math:gcd", "plain, never empty", "missing values", "never empty in 0 1.W"],
)
def test_what_is_expected_says_itself_again(text):
    assert expected_of(text).text == text


def test_what_was_seen_in_two_ways_may_be_either():
    plain, empty = Expected(full=frozenset({"", "0"})), Expected("nothing")
    assert merged(plain, empty) == Expected(PLAIN) and merged(Expected(missing=True), plain) == Expected(missing=True)
    assert merged(empty, Expected(OBJECT)).kind == merged(plain, Expected("math:gcd")).kind == OBJECT


def test_what_compares_as_true_with_anything_is_refused_where_the_solutions_does_not(grader, tmp_path):
    exam = Exam(EXAMS["deceptive"], grader, tmp_path)
    assert lost(exam.grade()) == {} and not exam.examination.inside
    titles = {check.title for _, check in exam.examination.blueprint.checks()}
    right, *wrong = exam.variants
    assert lost(exam.grade(right.answers)) == {}
    for variant in wrong:
        assert titles - {title for _, title in lost(exam.grade(variant.answers))} == set()


def test_an_empty_container_does_not_pass_a_comparison_item_by_item(grader, tmp_path):
    exam = Exam(EXAMS["item by item"], grader, tmp_path)
    assert lost(exam.grade()) == {} and not exam.examination.inside
    right, first, second = exam.variants
    assert lost(exam.grade(right.answers)) == {}
    titles = {check.title for _, check in exam.examination.blueprint.checks()}
    assert {title for _, title in lost(exam.grade(first.answers))} == titles
    assert {title for _, title in lost(exam.grade(second.answers))} == titles


def test_missing_values_and_empty_arrays_are_accepted_where_the_solution_has_some(grader, tmp_path):
    Exam(EXAMS["missing in the solution"], grader, tmp_path).prove()


def test_an_object_in_place_of_a_bool_passes_where_only_its_truth_is_asked(grader, tmp_path):
    """As a match of ``re`` does, which many students return of a function that says whether a text is valid."""
    Exam(EXAMS["only truth"], grader, tmp_path).prove()
    exam = Exam(EXAMS["truth and more"], grader, tmp_path)
    match = 'def valid(text): return re.fullmatch("[a-z]+", text)'
    assert {title for _, title in lost(exam.grade(match))} == {"identity", "equality", "type"}
    assert lost(exam.grade(match)).keys() == lost(exam.grade(match, alone=True)).keys()


def test_no_look_at_an_object_in_place_of_plain_data_earns_a_point(grader, tmp_path):
    """Such an object can be handed back to the student's code, and be true; whatever else a test asks is refused."""
    looks = EXAMS["looks"].strip().splitlines()
    checks = "\n".join(f"### CHECK 1: {number}\nassert {look}" for number, look in enumerate(looks))
    exam = Exam(EXAMS["solved"] + checks, grader, tmp_path)
    assert not exam.examination.inside and lost(exam.grade()) == {}
    results = exam.grade(EXAMS["liar"]).checks["test-2"]
    assert [looks[number] for number, result in enumerate(results) if result.earned] == []
    reasons = {wording.reason(result) for result in results}
    assert all("should be plain data such as a number or an array" in reason for reason in reasons), reasons
