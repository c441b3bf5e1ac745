"""Which test cells run in the student's process, as their text says."""

from __future__ import annotations

import nbformat
import pytest

from tests.oral import Exam, lost, read
from viva.engine.rehearsal import rehearse
from viva.engine.singleprocess import SingleProcess
from viva_audit.mutants import mutants

RUN = [
    "assert eval(answer, {'x': 3}) == 10",
    "scope = {}\nexec(answer, scope)\nassert scope['y'] == 2",
    "for text in [answer]:\n    exec(text)",
    "texts = []\ntexts.append(answer)\nassert [eval(text) for text in texts]",
    "with open('x') as file, answer() as text: eval(text)",
    "def value(text): return eval(text)\nassert value(answer) == 1",
    "def value(text): return eval(text)\nassert list(map(value, [answer])) == [1]",
    "assert (lambda text: eval(text))(answer)",
    "assert eval(f'lambda x: {answer.strip()}')(1)",
    "import pickle as pk\nassert pk.loads(answer(1)) == 1",
    "import pickle\nassert pickle.loads(answer.dumps(1)) == 1",
    "from pickle import loads\nassert loads(answer(1)) == 1",
    "import typing\nassert typing.get_type_hints(answer) == {}",
    "import inspect\nassert inspect.signature(answer, eval_str=True)",
    "import doctest\ndoctest.run_docstring_examples(f, globals())",
    "from timeit import timeit\nassert timeit(answer, number=3) < 1",
    "assert len(table.query(answer)) == 2",
    "import sympy as sp\nassert sp.simplify(answer) == 0",
    "import numpy as np, io\nassert np.load(io.BytesIO(answer()), allow_pickle=True)",
    "assert result(answer) == 3",
    "assert Runner(3).run_it(answer) == 3",
    "import helpers as h\nassert h.result(answer) == 3",
    "import logging.config\nlogging.config.dictConfig(answer)",
    "assert globals()[answer](3) == 6",
    "assert globals().get(answer, None)",
    "import jinja2\nassert jinja2.Template(answer).render(x=1) == '1'",
    "assert environment.from_string(answer).render(x=1) == '1'",
    "for name in ('f', 'g'):\n    assert eval(name)(3) == answer(3)",
    "def value(text): return eval(text)\nassert value('3') == answer",
    "for name in ('f', 'g'):\n    assert globals()[name](3) == answer(3)",
    "assert answer.result(3) == model.result(answer)",
    "assert Images('data').items == answer",
    "assert Faces('data').items == answer",
]
OTHER = [
    "assert eval('answer(3)') == 4",
    "assert eval('2 + x', {'x': answer(3)}) == 4",
    "import json\nassert json.loads(answer(1)) == 1",
    "import ast\nassert ast.literal_eval(answer)",
    "from timeit import timeit\nassert timeit(lambda: answer(3), number=3) < 1",
    "assert len(answer.query('a > 1')) == 2",
    "import re\nassert re.compile(answer)",
    "assert model.eval() and answer",
    "import inspect\nassert inspect.signature(answer)",
    "import pickle\nassert pickle.loads(pickle.dumps(answer(1))) == 1",
    "assert vars(answer)['x'] == 3",
    "from string import Template\nassert Template(answer).substitute(x=1)",
    "class Mine(Block):\n    def __init__(self):\n        super().__init__()\nassert answer(Mine()) == 1",
    "import numpy as np\nassert np.load('data.npy').sum() == answer(3)",
]


@pytest.mark.parametrize(("test", "found"), [*((test, True) for test in RUN), *((test, False) for test in OTHER)])
def test_a_test_that_may_run_a_text_is_known_by_its_own(test, found):
    reader = SingleProcess()
    reader.read("def result(text, names={}):\n    code = text.strip()\n    return eval(code, names)")
    reader.read("class Runner:\n    def run_it(self, text):\n        return eval(text)")
    reader.read(
        "import pickle\nclass Images(Base):\n    def __init__(self, path):\n        self.items = pickle.load(path)"
    )
    reader.read("class Faces(Images):\n    pass\ndef load(path):\n    return pickle.load(path)")
    why = reader.why(test)
    assert (why is not None and why.kind == "runs_text") is found


FORMULA = """
--- answer
formula = "x ** 2 + 1"
def dump(value):
    import pickle
    return pickle.dumps(value)
--- right
formula = "1 + x * x"
def dump(value):
    import pickle
    return pickle.dumps(value, protocol=2)
--- wrong
formula = "x ** 2"
class Loading:
    def __reduce__(self): return eval, ("3",)
def dump(value):
    import pickle
    return pickle.dumps(Loading())
--- test
import pickle
### CHECK 1: formula
assert eval(formula, {"x": 3}) == 10
### CHECK 1: pickle
assert pickle.loads(dump([1])) == [1]
--- test
### BEGIN HIDDEN TESTS
assert isinstance(formula, str)
### END HIDDEN TESTS
"""


def test_what_a_text_of_a_students_does_is_not_done_to_the_other_tests(grader, tmp_path):
    exam = Exam(FORMULA, grader, tmp_path)
    exam.prove(inside=True)
    assert exam.examination.inside == {exam.tests[0]}
    attack = """
formula = "__import__('builtins').__dict__.update(AssertionError=None) or 10"
def dump(value): return b""
"""
    assert [cell for cell, _ in lost(exam.grade(attack))] == [exam.tests[0]]


WHERE_THE_STUDENT_IS = {
    "annotations that are texts": """
--- answer
def add(a: int, b: int = 1) -> int: return a + b
--- test
import typing
assert typing.get_type_hints(add)["a"] is int and add(1) == 2
--- right
from __future__ import annotations
def add(a: int, b: int = 1) -> int: return b + a
--- wrong
class Add:
    __annotations__, __globals__ = {"a": "__import__('builtins').int"}, {}
    def __call__(self, a): return 0
add = Add()
""",
    "the examples of a docstring": """
--- answer
def f(x):
    '''Adds one.

    >>> f(1)
    2
    '''
    return x + 1
--- wrong
def f(x):
    '''Adds one.

    >>> f(1)
    2
    '''
    return x
--- test
import doctest
finder = doctest.DocTestParser().get_doctest(f.__doc__, {"f": f}, "f", None, 0)
runner = doctest.DocTestRunner(verbose=False)
runner.run(finder)
assert runner.summarize().failed == 0
""",
    "a function that a student's text names": """
--- answer
def f(x): return 2 * x
name = "f"
--- right
def mine(x): return x + x
name = "mine"
--- wrong
def mine(x): return x
name = "mine"
--- test
assert globals()[name](3) == 6
""",
    "a limit of recursion that a test raises": """
--- answer
def depth(n):
    return n
--- right
def depth(n):
    return 0 if n == 0 else 1 + depth(n - 1)
--- wrong
def depth(n):
    return 1
--- test
import sys
sys.setrecursionlimit(20_000)
assert depth(5000) == 5000
""",
    "what a cell captures is read by the cell below": """
--- answer
def greet():
    print("hello")
--- wrong
def greet():
    print("bye")
--- test
%%capture printed
greet()
--- test
assert printed.stdout == "hello\\n"
""",
    "a list that both sides change": """
--- answer
class Grid:
    def __init__(self): self.rows = [[0, 0], [0, 0]]
    def total(self): return sum(map(sum, self.rows))
--- wrong
class Grid:
    def __init__(self): self.rows = [[0, 0], [0, 0]]
    def total(self): return 0
--- test
g = Grid()
g.rows[0][1] = 5
assert g.total() == 5
g.rows.append([1, 1])
assert g.total() == 7
""",
}


@pytest.mark.parametrize("text", WHERE_THE_STUDENT_IS.values(), ids=WHERE_THE_STUDENT_IS)
def test_what_only_the_students_process_shows_is_looked_at_there(text, grader, tmp_path):
    Exam(text, grader, tmp_path).prove(inside=True)


SHOWN = """
--- answer
def f(x): return x + 1
def noisy(x):
    for i in range(3): display(i)
    return x
--- wrong
def f(x): return x
def noisy(x):
    for i in range(2000): display(i)
    return x + 1
--- test
### CHECK 1: a shell that runs a text
get_ipython().run_cell("assert f(1) == 2")
### CHECK 1: a program
with open("program.py", "w") as file: file.write("assert f(1) == 2")
%run -i program.py
### CHECK 1: what is timed
%time assert f(1) == 2
get_ipython()
### CHECK 1: after many outputs
get_ipython().run_cell("assert noisy(1) == 1")
--- test
%%capture printed
assert f(1) == 2
"""


def test_what_a_magic_shows_as_an_error_is_a_failure(grader, tmp_path):
    exam = Exam(SHOWN, grader, tmp_path)
    exam.prove(inside=True)
    assert len(lost(exam.grade(exam.variants[0].answers))) == 5


HELPED = """
--- answer
text = "a + b"
--- right
text = "b + a"
--- wrong
text = "@expected"
--- test
from helpers import rows
import pandas as pd
### BEGIN HIDDEN TESTS
expected = 3
assert rows(pd.DataFrame({"a": [1], "b": [2]}), text) == [3]
### END HIDDEN TESTS
"""


def test_a_module_of_the_courses_that_runs_a_text_is_read_as_well(grader, tmp_path):
    tmp_path.joinpath("helpers.py").write_text("def rows(frame, text): return frame.eval(text).tolist()")
    tmp_path.joinpath("broken.py").write_bytes(b"def \xff(:")
    nbformat.write(read(HELPED)[0], tmp_path / "exam.ipynb")
    assert rehearse(tmp_path / "exam.ipynb", grader, tmp_path).inside == {"test-3"}


ANSWERS = """
--- given
import builtins, math, sys
from statistics import mean
import numpy as np
import matplotlib.pyplot as plt
--- answer
def f(xs):
    total = 0
    for x in xs:
        total += x
    return total
--- wrong
def f(xs): return {used}
--- right
def f(xs):
    total, i = 0, 0
    while i < len(xs):
        total, i = total + xs[i], i + 1
    return total
--- test
"""
SUM, NUMPY, MEAN = "sum(xs)", "int(np.sum(xs))", "mean(xs) * len(xs)"
FORBID = {
    "a shadow of a builtin": (
        SUM,
        "def sum(*args): raise AssertionError('do not use sum')\nassert f([1, 2]) == 3\ndel sum",
    ),
    "a shadow in hidden lines": (
        SUM,
        "### BEGIN HIDDEN TESTS\ndef sum(*args): raise AssertionError('do not use sum')\n"
        "assert f([1, 2]) == 3\ndel sum\n### END HIDDEN TESTS",
    ),
    "a shadow that is a lambda": (SUM, "sum = lambda *args: 1 / 0\ntry: assert f([1, 2]) == 3\nfinally: del sum"),
    "a shadow of what was imported": (
        MEAN,
        "kept = mean\ndef mean(xs): raise AssertionError('do not use mean')\nassert f([1, 2]) == 3\nmean = kept",
    ),
    "an attribute of builtins": (
        SUM,
        "kept = builtins.sum\ndef forbidden(*args): raise AssertionError('do not use sum')\nbuiltins.sum = forbidden\n"
        "try: assert f([1, 2]) == 3\nfinally: builtins.sum = kept",
    ),
    "an item of the dict of builtins": (
        SUM,
        "kept = builtins.__dict__['sum']\nbuiltins.__dict__['sum'] = None\n"
        "try: assert f([1, 2]) == 3\nfinally: builtins.__dict__['sum'] = kept",
    ),
    "a mock of a builtin": (
        SUM,
        "from unittest.mock import patch\nwith patch('builtins.sum', side_effect=AssertionError('no')):\n"
        "    assert f([1, 2]) == 3",
    ),
    "a mock of an object's attribute": (
        NUMPY,
        "from unittest import mock\nwith mock.patch.object(np, 'sum', side_effect=AssertionError('no')):\n"
        "    assert f([1, 2]) == 3",
    ),
    "a decorator": (
        NUMPY,
        "import unittest.mock\n@unittest.mock.patch('numpy.sum')\ndef check(never):\n"
        "    assert f([1, 2]) == 3 and not never.called\ncheck()",
    ),
    "an attribute of a module": (
        NUMPY,
        "kept, np.sum = np.sum, None\ntry: assert f([1, 2]) == 3\nfinally: np.sum = kept",
    ),
    "an attribute set in a helper": (
        NUMPY,
        "def check():\n    kept = np.sum\n    setattr(np, 'sum', None)\n    try: return f([1, 2])\n"
        "    finally: setattr(np, 'sum', kept)\nassert check() == 3",
    ),
    "a module that is gone": (NUMPY, "kept, np = np, None\ntry: assert f([1, 2]) == 3\nfinally: np = kept"),
    "a module that cannot be imported": (
        "__import__('fractions').Fraction(xs[0]) + xs[1]",
        "sys.modules['fractions'] = None\ntry: assert f([1, 2]) == 3\nfinally: del sys.modules['fractions']",
    ),
    "a limit of recursion": (
        "0 if not xs else xs[0] + f(xs[1:])",
        "kept = sys.getrecursionlimit()\nsys.setrecursionlimit(300)\ntry: assert f([1] * 400) == 400\n"
        "finally: sys.setrecursionlimit(kept)",
    ),
    "what is allocated": (
        "len([i for x in xs for i in range(x)] * 100_000) // 100_000",
        "import tracemalloc\ntracemalloc.start()\nassert f([1, 2]) == 3\n_, peak = tracemalloc.get_traced_memory()\n"
        "tracemalloc.stop()\nassert peak < 100_000",
    ),
    "what is called": (
        "f(xs[1:]) + xs[0] if xs else 0",
        "found = []\ndef trace(frame, event, arg): found.append(frame.f_code.co_name)\nsys.settrace(trace)\n"
        "try: assert f([1, 2]) == 3\nfinally: sys.settrace(None)\nassert found.count('f') == 1",
    ),
    "a thread with a second": (
        "__import__('time').sleep(2) or 3",
        "import threading\nfound = []\none = threading.Thread(target=lambda: found.append(f([1, 2])), daemon=True)\n"
        "one.start()\none.join(1)\nassert found == [3]",
    ),
    "a pool of threads": (
        "sum(xs[:-1])",
        "from concurrent.futures import ThreadPoolExecutor\nwith ThreadPoolExecutor(4) as pool:\n"
        "    assert list(pool.map(f, [[1, 2]] * 20)) == [3] * 20",
    ),
}
"""What a wrong answer uses, and the test that forbids it."""


@pytest.mark.parametrize("way", FORBID)
def test_a_test_that_forbids_something_runs_where_it_can_see_who_uses_it(way, grader, tmp_path):
    used, test = FORBID[way]
    Exam(ANSWERS.replace("{used}", used) + test, grader, tmp_path).prove(inside=True)


QUIET = {
    "prints are read": "import io\nkept, sys.stdout = sys.stdout, io.StringIO()\ntry: assert f([1, 2]) == 3\n"
    "finally: sys.stdout = kept",
    "figures are not shown": "kept, plt.show = plt.show, lambda: None\nassert f([1, 2]) == 3\nplt.show = kept",
    "figures are not shown by a mock": "from unittest.mock import patch\nwith patch('matplotlib.pyplot.show'):\n"
    "    assert f([1, 2]) == 3",
    "a long message": "import unittest\nunittest.TestCase.maxDiff = None\n"
    "unittest.TestCase().assertEqual(f([1, 2]), 3)",
    "a name that only sounds so": "max, sum = 3, 0\nfor one in [1, 2]: sum = sum + one\nassert f([1, 2]) == max == sum",
    "a class of errors": "class TimeoutError(Exception): pass\ntry: assert f([1, 2]) == 3\nexcept TimeoutError: raise",
    "a local name": "def check(sum=None):\n    def max(): return 3\n    sum = None\n    return f([1, 2]) == max()\n"
    "assert check()",
    "a name as of a thread": "class Thread(list): pass\nassert f([1, 2]) == 3 and Thread([1]) == [1]",
    "a part of a picture": "figure, axes = plt.subplots()\naxes.patch.set(alpha=0.5)\naxes.patch.zorder = 3\n"
    "plt.close()\nassert f([1, 2]) == 3",
    "warnings are read": "import warnings\nseen = []\nwarnings.showwarning = lambda *parts: seen.append(parts)\n"
    "assert f([1, 2]) == 3\nwarnings.warn('careful')\nassert len(seen) == 1",
    "a module that is done with": "import json\nassert json.dumps(f([1, 2])) == '3'\ndel json",
}
"""What has nothing to do with what students use."""


@pytest.mark.parametrize("way", QUIET)
@pytest.mark.slow
def test_what_tests_change_for_their_own_sake_keeps_them_apart_from_the_student(way, grader, tmp_path):
    Exam(ANSWERS.replace("{used}", "0") + QUIET[way], grader, tmp_path).prove()


IDENTITY = """
--- given
import operator
import unittest
--- answer
class Vector:
    def copy(self): return Vector()
    def itself(self): return self
--- right
class Vector:
    def copy(self): return type(self)()
    def itself(self): return self
--- wrong
class Vector:
    def copy(self): return self
    def itself(self): return self
--- test
v = Vector()
"""
IDENTITIES = [
    "assert id(v.itself()) == id(v) and id(v.copy()) != id(v)",
    "assert len(set(map(id, [v, v.copy(), v.itself()]))) == 2",
    "unittest.TestCase().assertIs(v.itself(), v)\nunittest.TestCase().assertIsNot(v.copy(), v)",
    "assert operator.is_(v.itself(), v) and operator.is_not(v.copy(), v)",
    "assert v.itself() is v is not v.copy()",
    "t = unittest.TestCase()\nt.assertIs(v.itself() is v, True)\nt.assertIs(v.copy() is v, False)\n"
    "t.assertIsNot(v, None)",
]


@pytest.mark.parametrize("test", IDENTITIES)
def test_which_objects_of_the_students_are_one_is_known_in_two_processes(test, grader, tmp_path):
    Exam(IDENTITY + test, grader, tmp_path).prove()


DEFENSIVE = """
--- answer
class Bag:
    def __init__(self, items): self._items = list(items)
    def items(self): return list(self._items)
    def push(self, item): self._items.append(item)
--- test
### CHECK 1: the list that is returned is a copy
bag = Bag([1])
bag.items().append(99)
assert bag.items() == [1], "items() should return a copy"
### CHECK 1: the list that is given is copied
given = [1]
bag = Bag(given)
given.append(99)
assert bag.items() == [1]
### CHECK 1: what was returned before does not change
bag = Bag([1])
before = bag.items()
bag.push(2)
assert before == [1]
--- wrong
class Bag:
    def __init__(self, items): self._items = items
    def items(self): return self._items
    def push(self, item): self._items.append(item)
--- wrong
class Bag:
    def __init__(self, items): self._items = list(items)
    def items(self): return self._items
    def push(self, item): self._items.append(item)
--- wrong
class Bag:
    def __init__(self, items): self._items = items
    def items(self): return list(self._items)
    def push(self, item): self._items.append(item)
"""
MARKED = """
--- given
import numpy as np
import pandas as pd
--- answer
class Table:
    def __init__(self, rows):
        self.rows = np.array(rows)
        self.frame = pd.DataFrame(self.rows)
    def row(self, i): return self.rows[i].copy()
    def column(self, j): return self.rows[:, j].copy()
    def to_frame(self): return self.frame.copy()
--- right
class Table:
    def __init__(self, rows): self.rows = [list(row) for row in rows]
    def row(self, i): return np.array(self.rows[i])
    def column(self, j): return np.array([row[j] for row in self.rows])
    def to_frame(self): return pd.DataFrame(self.rows)
--- wrong
class Table:
    def __init__(self, rows):
        self.rows = np.array(rows)
        self.frame = pd.DataFrame(self.rows.copy())
    def row(self, i): return self.rows[i]
    def column(self, j): return self.rows.T[j]
    def to_frame(self): return self.frame
--- test
table = Table(np.arange(6.0).reshape(2, 3))
### CHECK 1: a row
row = table.row(0)
row[0] = 99
assert table.row(0)[0] == 0
### CHECK 1: a column
column = table.column(1)
column[:] = -1
assert list(table.column(1)) == [1, 4]
### CHECK 1: a frame
frame = table.to_frame()
frame.loc[0, 0] += 5
assert table.to_frame().loc[0, 0] == 0
"""
HIDDEN_MARKS = """
--- answer
class Store:
    def __init__(self, x): self.x = np.array(x, float)
    def get(self): return self.x.copy()
    def all(self): return [self.x.copy()]
--- right
class Store:
    def __init__(self, x): self.x = list(x)
    def get(self): return np.array(self.x)
    def all(self): return (np.array(self.x),)
--- wrong
class Store:
    def __init__(self, x): self.x = x
    def get(self): return self.x
    def all(self): return [self.x]
--- wrong
class Store:
    def __init__(self, x): self.x = x[:]
    def get(self): return self.x[:]
    def all(self): return [self.x[:]]
--- test
### CHECK 1: what it gives
### BEGIN HIDDEN TESTS
store = Store(np.array([1.0, 2.0]))
found = store.get()
found[0] = 99
assert store.get()[0] == 1
### END HIDDEN TESTS
### CHECK 1: what is in what it gives
### BEGIN HIDDEN TESTS
store = Store(np.array([1.0, 2.0]))
store.all()[0][1] = 99
found = store.all()[0]
found[:] = -1
assert store.get().tolist() == [1, 2]
### END HIDDEN TESTS
### CHECK 1: what it was given
### BEGIN HIDDEN TESTS
x = np.array([1.0, 2.0])
store = Store(x)
x[0] = 99
assert store.get()[0] == 1
### END HIDDEN TESTS
"""
COPIES = {"lists": DEFENSIVE, "arrays and frames": MARKED, "in hidden lines": HIDDEN_MARKS}


@pytest.mark.parametrize("text", COPIES.values(), ids=COPIES)
def test_an_answer_that_gives_its_own_list_in_the_place_of_a_copy_still_fails(grader, tmp_path, text):
    exam = Exam("--- given\nimport numpy as np\n" + text, grader, tmp_path)
    assert {one.kind for one in exam.examination.single_process.values()} == {"looks_again"}
    exam.prove(inside=True)


def test_the_audits_mutants_that_leave_out_a_copy_are_noticed(grader, tmp_path):
    marked = DEFENSIVE.replace("--- answer\n", "--- answer\n### BEGIN SOLUTION\n").replace("): ", "):\n        ")
    exam = Exam(marked.replace("--- test", "### END SOLUTION\n--- test"), grader, tmp_path)
    found = [mutant for mutant in mutants(exam.examination.blueprint) if mutant.operator == "dropped call"]
    changes = [mutant for mutant in found if "list(" in mutant.change]
    assert [mutant.change.partition(" -> ")[2] for mutant in changes] == ["self._items = items", "return self._items"]
    assert all(lost(exam.grade({mutant.cell: mutant.source})) for mutant in changes)


def test_each_check_of_a_class_without_copies_fails_for_itself(grader, tmp_path):
    exam = Exam(DEFENSIVE, grader, tmp_path)
    verdicts = [
        [str(result.verdict) for result in exam.grade(variant.answers).checks[exam.tests[0]]]
        for variant in exam.variants
    ]
    assert verdicts == [["failed"] * 3, ["failed", "passed", "failed"], ["passed", "failed", "passed"]]
