"""What is learnt from the instructor's own solution."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest

from tests.oral import Exam, lost, read
from viva.dialogue.asker import PLAIN
from viva.rehearsal import rehearse
from viva.verdict import BlueprintError, Verdict

INSIDE = {
    "a class that a test defines, handed to student code": """
--- answer
def total(items):
    return sum(item.price() for item in items)
def name(item):
    return item.label
--- wrong
def total(items):
    return 0
def name(item):
    return "x"
--- test
class Item:
    label = "thing"
    def __init__(self, p): self.p = p
    def price(self): return self.p
assert total([Item(2), Item(3)]) == 5
assert name(Item(0)) == "thing"
""",
    "a class of a test that is derived from a student's class": """
--- answer
class Base:
    def greet(self): return "hello " + self.who()
    def who(self): return "base"
--- wrong
class Base:
    def greet(self): return "hello base"
    def who(self): return "base"
--- test
class Mine(Base):
    def who(self): return "test"
assert Mine().greet() == "hello test"
""",
    "an object of the notebook that a method changes": """
--- given
import numpy as np
data = np.arange(4.0)
cache = {}
--- answer
def remember(k):
    cache[k] = k * 2
    data[0] = 100
    return len(cache)
--- wrong
def remember(k):
    return 1
--- test
assert remember(3) == 1
assert cache == {3: 6}
assert data[0] == 100
""",
    "input replaced by a test": """
--- answer
def ask():
    return int(input("n? ")) + 1
--- wrong
def ask():
    return 1
--- test
import builtins
keep = builtins.input
builtins.input = lambda prompt="": "41"
try:
    assert ask() == 42
finally:
    builtins.input = keep
""",
    "unittest.mock patches a name that students use": """
--- answer
def ask():
    return int(input("n? ")) + 1
--- wrong
def ask():
    return 1
--- test
from unittest import mock
with mock.patch("builtins.input", side_effect=["41"]):
    assert ask() == 42
with mock.patch("builtins.print") as p:
    pass
""",
    "%time before a statement": """
--- answer
def f(x): return x + 1
--- wrong
def f(x): return x
--- test
%time y = f(1)
assert y == 2
""",
    "a given class that students extend": """
--- given
class Base:
    def __init__(self, n=1): self.n = n
    def double(self): return self.n * 2
    def area(self): raise NotImplementedError
--- answer
class Square(Base):
    def area(self): return self.n ** 2
--- wrong
class Square(Base):
    def area(self): return self.n
--- test
s = Square(3)
assert s.area() == 9 and s.double() == 6
assert isinstance(s, Base) and issubclass(Square, Base)
""",
    "a given object that is passed to student code": """
--- given
class Point:
    def __init__(self, x, y): self.x, self.y = x, y
p = Point(1, 2)
--- answer
def norm(q): return (q.x ** 2 + q.y ** 2) ** 0.5
def move(q): q.x += 1
--- wrong
def norm(q): return q.x + q.y
def move(q): pass
--- test
assert norm(Point(3, 4)) == 5
assert abs(norm(p) - 5 ** 0.5) < 1e-9
move(p)
assert p.x == 2
""",
    "files that students write and tests read": """
--- answer
def save(name):
    with open(name, "w") as f:
        f.write("hello")
def load(name):
    with open(name) as f: return f.read()
--- wrong
def save(name): pass
def load(name): return "hello"
--- test
import os
save("out.txt")
assert os.path.exists("out.txt")
assert open("out.txt").read() == "hello"
with open("in.txt", "w") as f:
    f.write("there")
assert load("in.txt") == "there"
""",
    "a class of the student's that a library looks into": """
--- answer
from dataclasses import dataclass
@dataclass
class Item:
    name: str
--- wrong
class Item: pass
--- test
import dataclasses
assert [f.name for f in dataclasses.fields(Item)] == ["name"]
""",
    "the source of a function": """
--- answer
def f(n): return 1 if n == 0 else n * f(n - 1)
--- wrong
import math
f = math.factorial
--- test
import inspect
assert "f(n - 1)" in inspect.getsource(f)
""",
    "identity inside a list": """
--- answer
row = [0]
rows = [row, row]
--- wrong
rows = [[0], [0]]
--- test
assert rows[0] is rows[1]
first = rows[0]
first.append(1)
assert rows[1] == [0, 1]
""",
}


@pytest.mark.parametrize("way", INSIDE)
def test_a_cell_that_cannot_be_split_runs_inside(way, grader, tmp_path):
    Exam(INSIDE[way], grader, tmp_path).prove(inside=True)


ANSWERS = """
--- given
import numpy as np
given = np.ones(2)
--- answer
number, text, array = 3, "x", np.ones(2)
def f(x): return 2 * x
def pair(): return np.ones(2), [1]
class C:
    def __init__(self): self.n = 1
    def copy(self): return C()
made = C()
activation = np.tanh
def either(x): return C() if x else 0
--- test
assert number == 3 and text == "x" and array.sum() == 2
assert f(1) == 2 and len(pair()) == 2 and made.n == made.copy().n == 1
assert activation(0) == 0 and given.sum() == 2
either(0), either(1)
"""


def test_the_kinds_of_all_answers_are_recorded(grader, tmp_path):
    exam = Exam(ANSWERS, grader, tmp_path)
    kinds = exam.examination.kinds
    paths = "number", "text", "array", "f()", "pair()", "made.n", "made.copy().n"
    assert {path: kinds[path] for path in paths} == dict.fromkeys(paths, PLAIN)
    paths = "f", "made", "made.copy", "made.copy()", "either", "either()"
    assert {path: kinds[path] for path in paths} == dict.fromkeys(paths, "")
    assert kinds["activation"] == "numpy:tanh"
    assert kinds["np"] == "own numpy:"
    assert lost(exam.grade()) == {}


IMPORTS = """
--- answer
import numpy as np
from numpy.testing import assert_allclose
x = np.ones(2)
--- wrong
import numpy as np
from numpy.testing import assert_allclose
x = np.zeros(2)
--- test
### CHECK 1: by the module
assert np.allclose(x, [1, 1])
### CHECK 1: by the function
assert_allclose(x, [1, 1])
"""


@pytest.mark.parametrize(
    "answer",
    [
        "import numpy as np\nnp.allclose = np.testing.assert_allclose = assert_allclose = lambda *a: True\nx = [0, 0]",
        "def assert_allclose(*args): pass\nclass np:\n    allclose = lambda *a: True\nx = [0, 0]",
    ],
)
def test_what_the_solution_imports_is_the_examiners_own(grader, tmp_path, answer):
    exam = Exam(IMPORTS, grader, tmp_path)
    exam.prove()
    assert len(lost(exam.grade(answer))) == 2


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


def test_a_solution_that_ends_its_process_is_refused(grader, tmp_path):
    with pytest.raises(BlueprintError, match=r"nb\.ipynb: the instructor's own notebook cannot be run: .*memory"):
        rehearse(written("--- answer\nimport os\nos._exit(1)\n--- test\npass\n", tmp_path), grader)


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
