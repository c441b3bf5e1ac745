"""The kind of an answer is what the solution gave, unless the author has widened it."""

from __future__ import annotations

import subprocess
import sys

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook

from tests.oral import Exam, lost
from viva import wording
from viva.engine.blueprint import read_blueprint
from viva.engine.dialogue.expected import ANY, OBJECT, PLAIN, Expected, ExpectedTypes, expected_of, merged, path_of
from viva.engine.rehearsal import rehearse
from viva.verdict import BlueprintError, Verdict

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
    def cell(name, source, **about):
        known = {"schema_version": 3, "grade_id": name, "locked": False, "grade": False, "solution": False}
        return new_code_cell(source, id=name, metadata={"nbgrader": known | {"task": False} | about})

    cells = [cell("answer", answer, solution=True), cell("tests", tests, grade=True, points=2)]
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


OF_STUDENTS_CHOICE = {
    "a class of a library's that the answers name": """
--- answer
from fractions import Fraction
Ratio = Fraction
--- right
class Ratio:
    def __init__(self, above, below=1): self.value = above / below
    def __add__(self, other): return Ratio(self.value + other.value)
    def __eq__(self, other): return self.value == other
--- wrong
class Ratio:
    def __init__(self, above, below=1): self.value = above / below
    def __add__(self, other): return self
    def __eq__(self, other): return self.value == other
--- test
assert Ratio(1, 2) + Ratio(1, 2) == 1
""",
    "a Counter": """
--- answer
from collections import Counter
def count(words): return Counter(words)
--- right
class Counts(dict):
    def __missing__(self, word): return 0
def count(words): return Counts((word, words.count(word)) for word in words)
--- wrong
def count(words): return {word: words.count(word) for word in words}
--- test
assert count(["a", "b", "a"])["a"] == 2 and count([])["z"] == 0
""",
}


@pytest.mark.parametrize("text", OF_STUDENTS_CHOICE.values(), ids=OF_STUDENTS_CHOICE)
def test_what_crosses_by_value_of_a_class_that_students_may_write_makes_a_single_process_cell(text, grader, tmp_path):
    Exam(text, grader, tmp_path).prove(inside=True)


STUDENTS_CLASS = {
    "a namedtuple": """
--- answer
from collections import namedtuple
Point = namedtuple("Point", "x y")
def middle(a, b): return Point((a.x + b.x) / 2, (a.y + b.y) / 2)
--- right
class Point:
    def __init__(self, x, y): self.x, self.y = x, y
def middle(a, b): return Point((a.x + b.x) / 2, (a.y + b.y) / 2)
--- wrong
class Point:
    def __init__(self, x, y): self.x, self.y = x, y
def middle(a, b): return Point(0, 0)
--- test
assert middle(Point(0, 0), Point(2, 4)).y == 2
""",
    "a deque": """
--- answer
from collections import deque
def last(items, n): return deque(items, n)
--- right
def last(items, n):
    class Last(list):
        def first(self): return self[0]
    return Last(items[-n:])
--- wrong
def last(items, n): return items[:n]
--- test
assert list(last([1, 2, 3], 2)) == [2, 3]
""",
}


@pytest.mark.parametrize("text", STUDENTS_CLASS.values(), ids=STUDENTS_CLASS)
def test_where_the_solution_has_a_class_of_the_librarys_students_may_write_it(text, grader, tmp_path):
    Exam(text, grader, tmp_path).prove()


CHAIN = """
--- answer
class Node:
    def __init__(self, value, next=None): self.value, self.next = value, next
    def rest(self): return self.next
def chain(n):
    head = None
    for value in range(n): head = Node(value, head)
    return head
--- wrong
class Node:
    def __init__(self, value, next=None): self.value, self.next = value, next
    def rest(self): return self.next
def chain(n):
    head = Node(0)
    for value in range(n): head = Node(value, head)
    return head
--- test
node = chain(120)
while node.next is not None:
    assert node.value == node.next.value + 1
    node = node.next
--- test
node = chain(120)
while node.rest() is not None:
    assert node.value == node.rest().value + 1
    node = node.rest()
"""


@pytest.mark.slow
def test_the_path_along_a_chain_of_nodes_does_not_grow_with_it(grader, tmp_path):
    exam = Exam(CHAIN, grader, tmp_path)
    exam.prove()
    assert max(map(len, exam.examination.kinds)) < 450


PANDAS_ARRAYS = """
--- given
import numpy as np
--- answer
class Wrong(Exception):
    def __init__(self, code): self.code = code
def items(text): return {letter: text.count(letter) for letter in text}.items()
def errors(): return [Wrong(3)]
--- wrong
import pandas as pd
class Wrong(Exception):
    def __init__(self): self.code = pd.array([0])
def items(text): return {"a": pd.array([0])}.items()
def errors(): return [Wrong()]
--- test
### CHECK 1: items
assert items("aa") == {"a": 2}.items()
### CHECK 1: list
assert list(items("aa")) == [("a", 2)]
### CHECK 1: exception
assert errors()[0].code == 3
"""


def test_a_pandas_array_is_refused_in_whatever_it_is_hidden(grader, tmp_path):
    exam = Exam(PANDAS_ARRAYS, grader, tmp_path)
    assert lost(exam.grade()) == {} and not exam.examination.inside
    found = lost(exam.grade(exam.variants[0].answers))
    assert [title for _, title in found] == ["items", "list", "exception"]
    assert str(found).count("a pandas array") >= 3


CATEGORIES = """
--- given
import pandas as pd
--- answer
def sizes(numbers): return pd.Series(["small" if one < 10 else "large" for one in numbers])
colours = pd.Series(["red", "blue", "red"])
--- test
assert list(sizes([1, 20])) == ["small", "large"]
### BEGIN HIDDEN TESTS
assert (sizes([20]) == "large").all()
### END HIDDEN TESTS
--- test
assert (colours == ["red", "blue", "red"]).all() and colours.isna().sum() == 0
--- right
def sizes(numbers): return pd.cut(numbers, [0, 9, 99], labels=["small", "large"])
colours = pd.Categorical(["red", "blue", "red"])
--- right
def sizes(numbers): return pd.array(["small" if one < 10 else "large" for one in numbers])
colours = pd.array(["red", "blue", "red"])
--- wrong
def sizes(numbers): return pd.cut(numbers, [0, 9, 99], labels=["large", "small"])
colours = pd.Categorical(["red", "blue", "blue"])
"""


def test_a_pandas_array_by_itself_is_the_series_of_it_where_the_solution_gives_one(grader, tmp_path):
    Exam(CATEGORIES, grader, tmp_path).prove()


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


WALK = """
--- answer
class Node:
    def __init__(self, value, *below): self.value, self.below = value, below
def walk(node, visit):
    visit(node)
    return 1 + sum(walk(one, visit) for one in node.below)
--- right
class Node(tuple):
    def __new__(cls, value, *below): return tuple.__new__(cls, (value, below))
    value = property(lambda self: self[0])
def walk(node, visit):
    visit(node)
    return 1 + sum(walk(one, visit) for one in node[1])
--- wrong
class Node:
    def __init__(self, value, *below): self.value, self.below = value, below
class Yes:
    def __eq__(self, other): return True
def walk(node, visit):
    visit(node)
    for one in node.below: walk(one, visit)
    return Yes()
--- test
seen = []
assert walk(Node(1, Node(2), Node(3)), seen.append) == 3
### BEGIN HIDDEN TESTS
assert [node.value for node in seen] == [1, 2, 3]
### END HIDDEN TESTS
"""


def test_objects_that_a_function_of_the_tests_is_handed_make_no_result_one(grader, tmp_path):
    exam = Exam(WALK, grader, tmp_path)
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


DECEPTIVE = """
--- given
import numpy as np
import pandas as pd
--- answer
def column(n): return pd.Series(np.arange(n) * 2.0)
def names(n): return pd.Series(["a"] * n)
def labels(n): return pd.Index(range(n))
def table(n): return pd.DataFrame({"a": range(n), "b": np.ones(n)})
def numbers(n): return [float(i) for i in range(n)]
def number(n): return 2.5
def array(n): return np.ones((n, 2))
def flag(n): return True
def pair(n): return np.ones(n), 2.5
def state(n): return {"W": np.ones((n, 2)), 1: {"b": 3.0}}
--- test
### CHECK 1: a column
assert (column(3) == [0, 2, 4]).all()
### CHECK 1: a difference
assert (abs(column(3) - np.array([0, 2, 4])) < 1e-9).all()
### CHECK 1: a column of names
assert (names(2) == "a").all()
### CHECK 1: an index
assert (labels(3) == [0, 1, 2]).all()
### CHECK 1: an index by itself
assert len(labels(3)) == 3 and list(labels(3) == [0, 1, 2])
### CHECK 1: a frame
assert (table(2) == pd.DataFrame({"a": [0, 1], "b": [1.0, 1.0]})).all().all()
### CHECK 1: a list
assert np.abs(pd.Series(numbers(2)) - [0, 1]).sum() < 1e-9
### CHECK 1: a number
assert np.allclose(number(1), 2.5)
### CHECK 1: an array
assert np.allclose(array(2), np.ones((2, 2))) and (array(3) == 1).all()
### CHECK 1: a truth
assert np.all(flag(1))
### CHECK 1: an array in a tuple
assert np.allclose(pair(1)[0], [1]) and len(pair(3)) == 2
### CHECK 1: a number in a tuple
assert np.allclose(pair(1)[1], 2.5)
### CHECK 1: an array in a dictionary
assert np.allclose(state(2)["W"], np.ones((2, 2)))
### CHECK 1: a number in a dictionary of it
assert np.allclose(state(2)[1]["b"], 3)
--- right
def column(n): return pd.Series(np.arange(n) * 2, dtype="Int64")
def names(n): return pd.Series(["a"] * n, dtype="category")
def labels(n): return pd.RangeIndex(n)
def table(n): return pd.DataFrame({"a": np.arange(n), "b": [1] * n}, dtype="Float64")
def numbers(n): return np.arange(n) * 1.0
def number(n): return np.array(2.5)
def array(n): return [[1, 1]] * n if n == 2 else np.ones((n, 2), int)
def flag(n): return np.True_
def pair(n): return [[1] * n, np.array(2.5)]
def state(n): return {"W": [[1, 1]] * n, "log": [], 1: {"b": np.float32(3), "text": np.array([])}}
--- wrong
def column(n): return pd.Series([pd.NA] * n, dtype="Int64")
def names(n): return pd.Series([pd.NA] * n, dtype="string")
def labels(n): return pd.Index([pd.NA] * n, dtype="Int64")
def table(n): return pd.DataFrame({"a": pd.array([pd.NA] * n, "Int64"), "b": pd.array([pd.NA] * n, "boolean")})
def numbers(n): return [pd.NA] * n
def number(n): return []
def array(n): return np.ones((n, 0, 2))
def flag(n): return np.array([])
def pair(n): return np.ones(0), []
def state(n): return {"W": np.ones((0, 2)), 1: {"b": []}}
--- wrong
def column(n): return pd.Series([pd.NA] * n, dtype="Float64")
def names(n): return pd.Series([pd.NA] * n, dtype="boolean")
def labels(n): return pd.Index(["x"] * n, dtype="string")
def table(n): return pd.DataFrame({"a": pd.array([0.0] * n, "Float64") / 0, "b": [1.0] * n})
def numbers(n): return pd.Series([pd.NA] * n, dtype=object)
def number(n): return np.array([])
def array(n): return np.ma.array(np.zeros((n, 2)), mask=True)
def flag(n): return pd.Series([], dtype=bool)
def pair(n): return np.ones((2, 0))
def state(n): return {"W": [[] * n], 1: {"b": np.array([])}}
--- wrong
def column(n): return pd.Series([], dtype=float)
def names(n): return pd.Series([], dtype=object)
def labels(n): return pd.Index([0] * n, dtype="Int64")
def table(n): return pd.DataFrame({"a": [], "b": []})
def numbers(n): return np.array([pd.NA] * n, dtype=object)
def number(n): return pd.Series([], dtype=float)
def array(n): return np.ones((0, 2))
def flag(n): return ()
def pair(n): return [], ()
def state(n): return {"W": pd.DataFrame(np.ones((0, 2))), 1: {"b": pd.Series([], dtype=float)}}
"""


def test_what_compares_as_true_with_anything_is_refused_where_the_solutions_does_not(grader, tmp_path):
    exam = Exam(DECEPTIVE, grader, tmp_path)
    assert lost(exam.grade()) == {} and not exam.examination.inside
    titles = {check.title for _, check in exam.examination.blueprint.checks()}
    right, *wrong = exam.variants
    assert lost(exam.grade(right.answers)) == {}
    for variant in wrong:
        assert titles - {title for _, title in lost(exam.grade(variant.answers))} == set()


ITEM_BY_ITEM = """
--- given
import numpy as np
--- answer
def pair(n): return np.ones(n), 2.5
def state(n): return {"W": np.ones((n, 2)), "b": [np.ones(n)]}
def array(n): return np.ones(n)
--- test
### CHECK 1: a tuple
assert all(np.allclose(part, expected) for part, expected in zip(pair(3), (np.ones(3), 2.5)))
### CHECK 1: a dictionary
expected = {"W": np.ones((2, 2)), "b": [np.ones(2)]}
assert all(np.allclose(part, expected[name]) for name, part in state(2).items())
### CHECK 1: a list in a dictionary
assert all(np.allclose(part, 1) for part in state(2)["b"])
### CHECK 1: an array
assert all(value == 1 for value in array(3))
--- right
def pair(n): return [np.ones(n), np.float64(2.5)]
def state(n): return {"b": (np.ones(n),), "W": np.ones((n, 2))}
def array(n): return [1] * n
--- wrong
def pair(n): return ()
def state(n): return {}
def array(n): return {}
--- wrong
def pair(n): return []
def state(n): return {"W": np.ones((n, 2)), "b": []} if n == 2 else {}
def array(n): return set()
"""


def test_an_empty_container_does_not_pass_a_comparison_item_by_item(grader, tmp_path):
    exam = Exam(ITEM_BY_ITEM, grader, tmp_path)
    assert lost(exam.grade()) == {} and not exam.examination.inside
    right, first, second = exam.variants
    assert lost(exam.grade(right.answers)) == {}
    titles = {check.title for _, check in exam.examination.blueprint.checks()}
    assert {title for _, title in lost(exam.grade(first.answers))} == titles
    assert {title for _, title in lost(exam.grade(second.answers))} == titles


MISSING_IN_THE_SOLUTION = """
--- given
import numpy as np
import pandas as pd
--- answer
def ages(rows): return pd.Series([row or pd.NA for row in rows], dtype="Int64")
def found(rows): return np.array([row for row in rows if row > 1])
def index(rows): return pd.Index(rows, dtype="string")
--- test
assert ages([1, 0]).isna().tolist() == [False, True] and ages([3])[0] == 3
assert found([1]).size == 0 and found([1, 2]).tolist() == [2]
assert index(["a"])[0] == "a"
--- right
def ages(rows): return pd.Series([row if row else pd.NA for row in rows], dtype="Float64")
def found(rows): return np.array(rows)[np.array(rows) > 1]
def index(rows): return pd.Index([*rows], dtype="string")
--- wrong
def ages(rows): return pd.Series(rows)
def found(rows): return np.array([])
def index(rows): return pd.Index(rows)
"""


def test_missing_values_and_empty_arrays_are_accepted_where_the_solution_has_some(grader, tmp_path):
    Exam(MISSING_IN_THE_SOLUTION, grader, tmp_path).prove()


LOOKS = """
solve() == 3
3 == solve()
solve() in (3, 4)
3 in [solve()]
[solve()] == [3]
(solve(),) == (3,)
{"x": solve()} == {"x": 3}
{solve(): 1} == {3: 1}
{solve()} == {3}
solve()
not solve() or True
solve().real == 3
str(solve()) == "3"
f"{solve()}" == "3"
abs(solve() - 3) < 1
solve() > 2
max(solve(), 2) == 3
sorted([solve(), 2])
sum([solve()]) == 3
int(solve()) == 3
math.isclose(solve(), 3)
np.allclose(solve(), 3)
np.array_equal([solve()], [3])
np.asarray([solve()]).all()
pd.Series([solve()]).eq(3).all()
isinstance(solve(), int)
type(solve()) is int
hash(solve())
any(part == 3 for part in [solve()])
both() == [3, 3]
both()[0] == 3
[part for part in both() if part == 3]
np.array(both()).sum() == 6
both().count(3) == 2
both().index(3) == 0
table()["x"] == 3
table() == {"x": 3}
list(table().values()) == [3]
number == 3
[number] == [3]
np.isclose(number, 3)
given(lambda part: part == 3)
given(lambda part: [part] == [3])
added([])[0] == 3
"""
LIAR = """
class Yes:
    def yes(self, *args, **kwargs):
        return True
    __eq__ = __ne__ = __lt__ = __gt__ = __le__ = __ge__ = __bool__ = __contains__ = __call__ = yes
    def me(self, *args):
        return self
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __abs__ = __getitem__ = __getattr__ = me
    def __hash__(self): return hash(3)
    def __len__(self): return 1
    def __iter__(self): return iter([3])
    def __int__(self): return 3
    def __float__(self): return 3.0
    def __index__(self): return 3
    def __str__(self): return "3"
    def __format__(self, how): return "3"
    def __array__(self, *args, **kwargs): return np.array(3)
    __class__ = int
def solve(): return Yes()
def both(): return [Yes(), Yes()]
def table(): return {"x": Yes()}
def given(test): return test(Yes())
def added(items):
    items.append(Yes())
    return items
number = Yes()
"""
SOLVED = """
--- given
import math
import numpy as np
import pandas as pd
--- answer
def solve(): return 3
def both(): return [3, 3]
def table(): return {"x": 3}
def given(test): return test(3)
def added(items):
    items.append(3)
    return items
number = 3
--- test
"""


def test_no_look_at_an_object_in_place_of_plain_data_earns_a_point(grader, tmp_path):
    """Such an object can be handed back to the student's code; whatever else a test does with it is refused."""
    looks = LOOKS.strip().splitlines()
    checks = "\n".join(f"### CHECK 1: {number}\nassert {look}" for number, look in enumerate(looks))
    exam = Exam(SOLVED + checks, grader, tmp_path)
    assert not exam.examination.inside and lost(exam.grade()) == {}
    results = exam.grade(LIAR).checks["test-2"]
    assert [looks[number] for number, result in enumerate(results) if result.earned] == []
    reasons = {wording.reason(result) for result in results}
    assert all("should be plain data such as a number or an array" in reason for reason in reasons), reasons
