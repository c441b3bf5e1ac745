"""The kind of an answer is what the solution gave, unless the author has widened it."""

from __future__ import annotations

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook

from tests.oral import Exam, lost
from viva import wording
from viva.engine.blueprint import read_blueprint
from viva.engine.dialogue.kinds import ANY, BY_VALUE, PLAIN, Kinds
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


def test_the_kinds_are_recorded_by_path(grader, tmp_path):
    path = tmp_path / "kinds.ipynb"
    nbformat.write(notebook(SOLUTION), path)
    assert {"model": "", "model.fit": "", "model.fit()": PLAIN}.items() <= rehearse(path, grader).kinds.items()
    nbformat.write(notebook(SOLUTION, kinds={"model.fit()": "any", "never": "any"}), path)
    kinds = rehearse(path, grader).kinds
    assert kinds["model.fit()"] == ANY and "never" not in kinds


@pytest.mark.parametrize("kinds", [{"model.fit()": "plain"}, ["model.fit()"], "any"])
def test_a_kind_can_only_be_widened(tmp_path, kinds):
    nbformat.write(notebook(SOLUTION, kinds=kinds), tmp_path / "kinds.ipynb")
    with pytest.raises(BlueprintError, match="A kind can only be widened"):
        read_blueprint(tmp_path / "kinds.ipynb")


NAMED = """
--- answer
from collections import defaultdict, deque, namedtuple
Point = namedtuple("Point", "x y")
Stack = deque
def middle(a, b): return Point((a.x + b.x) / 2, (a.y + b.y) / 2)
def count(words):
    found = defaultdict(int)
    for word in words: found[word] += 1
    return found
class Bag:
    def __init__(self, items): self.items = items
    def __iter__(self): return iter(self.items)
--- test
### CHECK 1: middle
assert middle(Point(0, 0), Point(2, 4)).y == 2
### CHECK 1: stack
assert Stack([1, 2]).pop() == 2
### CHECK 1: count
assert count("aab")["a"] == 2 and count("")["a"] == 0
### CHECK 1: bag
assert list(Bag([1, 2])) == [1, 2]
"""
YES = """
from collections import defaultdict, namedtuple
class Yes:
    def __init__(self, *args): pass
    def __eq__(self, other): return True
    def __hash__(self): return 1
    def __getattr__(self, name): return self
    def __getitem__(self, key): return self
    def __call__(self, *args): return self
    def __iter__(self): return iter([Yes(), Yes()])
"""
ANSWERS = {
    "itself": "Point = Stack = Bag = Yes\nmiddle = count = lambda *args: Yes()",
    "in what crosses by value": """
Point = namedtuple("Point", "x y")
def middle(a, b): return Point(Yes(), Yes())
class Stack(list):
    def pop(self): return Yes()
def count(words): return defaultdict(Yes)
class Bag(list):
    def __iter__(self): return iter([Yes(), Yes()])
""",
    "as what is missing": """
class Point(Yes): pass
def middle(a, b): return [Yes(), Yes()]
class Stack(Yes): pass
class Count(dict):
    def __missing__(self, key): return Yes()
def count(words): return Count()
class Bag(Yes):
    def __iter__(self):
        yield Yes()
        yield Yes()
""",
}


@pytest.mark.parametrize("answer", ANSWERS.values(), ids=ANSWERS)
def test_no_operator_of_an_object_decides_though_the_class_may_be_the_students_own(answer, grader, tmp_path):
    exam = Exam(NAMED, grader, tmp_path)
    assert lost(exam.grade()) == {} and not exam.examination.inside
    assert [title for _, title in lost(exam.grade(YES + answer))] == ["middle", "stack", "count", "bag"]


def test_what_crossed_by_value_of_a_class_that_the_answers_name_is_an_object(grader, tmp_path):
    kinds = Exam(NAMED, grader, tmp_path).examination.kinds
    assert {"middle()": BY_VALUE, "Point()": BY_VALUE, "Bag()": "", "Bag()[*]": PLAIN}.items() <= kinds.items()
    assert kinds["count()"] == PLAIN


RATIO = """
--- answer
from fractions import Fraction
Ratio = Fraction
--- test
half = Ratio(1, 2)
assert half + half == 1 and half * 4 + half == 2.5 and -half == Ratio(-1, 2) and half == 0.5
--- right
class Ratio:
    def __init__(self, above, below=1): self.above, self.below = above, below
    def __add__(self, other):
        return Ratio(self.above * other.below + other.above * self.below, self.below * other.below)
    def __mul__(self, number): return Ratio(self.above * number, self.below)
    def __neg__(self): return Ratio(-self.above, self.below)
    def __eq__(self, other):
        value = Fraction(other.above, other.below) if isinstance(other, Ratio) else other
        return Fraction(self.above, self.below) == value
from fractions import Fraction
--- wrong
from fractions import Fraction
class Ratio:
    def __init__(self, above, below=1): self.value = Fraction(above, below)
    def __add__(self, other): return self
    def __mul__(self, number): return self
    def __neg__(self): return self
    def __eq__(self, other): return self.value == other
"""


def test_what_is_the_sum_of_objects_of_a_class_that_the_answers_name_decides_as_they_do(grader, tmp_path):
    Exam(RATIO, grader, tmp_path).prove()


COMPARED = """
--- given
from collections import deque, namedtuple
Point = namedtuple("Point", "x y")
--- answer
def middle(a, b): return Point((a.x + b.x) / 2, (a.y + b.y) / 2)
def corners(n): return [Point(0, 0), Point(n, n)]
def last(items, n): return deque(items, n)
--- right
class Corner(Point):
    def norm(self): return self.x + self.y
def middle(a, b): return Corner((a.x + b.x) / 2, (a.y + b.y) / 2)
def corners(n): return [Corner(0, 0), Corner(n, n)]
def last(items, n):
    class Last(deque):
        def first(self): return self[0]
    return Last(items, n)
--- wrong
class Yes(Point):
    def __eq__(self, other): return True
    def __ne__(self, other): return False
    def __hash__(self): return hash(Point(1, 2))
class Last(deque):
    def __eq__(self, other): return True
def middle(a, b): return Yes(0, 0)
def corners(n): return [Yes(0, 0), Yes(1, 0)]
def last(items, n): return Last()
--- wrong
class Yes:
    def __eq__(self, other): return True
    def __ne__(self, other): return False
    def __hash__(self): return hash(Point(1, 2))
def middle(a, b): return Yes()
def corners(n): return [Yes(), Yes()]
def last(items, n): return Yes()
--- test
### CHECK 1: equal
assert middle(Point(0, 0), Point(2, 4)) == Point(1, 2)
### CHECK 1: not unequal
assert not middle(Point(0, 0), Point(2, 4)) != (1, 2)
### CHECK 1: in a list
assert corners(2) == [Point(0, 0), Point(2, 2)]
### CHECK 1: in a set
assert middle(Point(0, 0), Point(2, 4)) in {Point(1, 2)}
### CHECK 1: a deque
assert last([1, 2, 3], 2) == deque([2, 3])
"""


def test_what_is_compared_with_plain_data_is_never_compared_by_a_students_operator(grader, tmp_path):
    exam = Exam(COMPARED, grader, tmp_path)
    assert lost(exam.grade()) == lost(exam.grade(exam.variants[0].answers)) == {} and not exam.examination.inside
    for wrong in exam.variants[1:]:
        assert len(lost(exam.grade(wrong.answers))) == 5


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
def table(): return np.array([("a", 1)], dtype=[("name", object), ("size", int)])
def errors(): return [Wrong(3)]
--- wrong
import pandas as pd
class Wrong(Exception):
    def __init__(self): self.code = pd.array([0])
def items(text): return {"a": pd.array([0])}.items()
def table(): return np.array([(pd.array([0]), 1)], dtype=[("name", object), ("size", int)])
def errors(): return [Wrong()]
--- test
### CHECK 1: items
assert items("aa") == {"a": 2}.items()
### CHECK 1: list
assert list(items("aa")) == [("a", 2)]
### CHECK 1: column
assert table()["name"][0] == "a"
### CHECK 1: record
assert table()[0]["name"] == "a"
### CHECK 1: exception
assert errors()[0].code == 3
"""


def test_a_pandas_array_is_refused_in_whatever_it_is_hidden(grader, tmp_path):
    exam = Exam(PANDAS_ARRAYS, grader, tmp_path)
    assert lost(exam.grade()) == {} and not exam.examination.inside
    found = lost(exam.grade(exam.variants[0].answers))
    assert [title for _, title in found] == ["items", "list", "column", "record", "exception"]
    assert str(found).count("a pandas array") >= 5


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
    kinds = Kinds()
    kinds.known = {"fit().line": ""}
    assert (kinds.expected("fit()[].line"), kinds.expected("f().line")) == ("", PLAIN)
