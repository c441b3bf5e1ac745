"""Test code runs outside as it would beside the student's code."""

from __future__ import annotations

import pytest

from tests.oral import Exam, lost

WAYS = {
    "names that a test binds are seen by student functions": """
--- given
scale = 2
--- answer
def f(x):
    return x * scale
--- wrong
def f(x):
    return x * 2
--- test
assert f(3) == 6
--- test
scale = 10
--- test
assert f(3) == 30
""",
    "names that a test binds and uses in the same cell": """
--- given
import numpy as np
N = 3
--- answer
def f():
    return N + 1
--- wrong
def f():
    return 4
--- test
N = 7
assert f() == 8
""",
    "a name of a visible test that a student's function reads by mistake": """
--- answer
def mean(values): return sum(values) / len(values)
--- right
def mean(values): return sum(data) / len(data)
--- right
def mean(values):
    add = lambda: sum(data)
    return add() / len(values)
--- wrong
def mean(values): return sum(data)
--- test
data = [1, 2, 3]
assert mean(data) == 2
data = [4, 6]
assert mean(data) == 5
for data in ([1], [2, 4]):
    assert mean(data) == sum(data) / len(data)
--- test
data = [5]
assert mean([5]) == 5
""",
    "a name that student code gives another meaning": """
--- answer
def first():
    global first
    first = second
    return 1
def second(): return 2
def turn(): globals().__setitem__("second", 3)
--- wrong
def first(): return 1
def second(): return 2
def turn(): pass
--- test
assert first() == 1 and first() == 2
old = second
turn()
assert second == 3 and old() == 2
--- answer
def second(): return 4
--- wrong
def second(): return 5
--- test
assert second() == 4
""",
    "a name that student code gives another meaning before it calls back": """
--- answer
def f(): return "old"
def g(h):
    global f
    f = lambda: "new"
    return h()
--- wrong
def f(): return "old"
def g(h): return h()
--- test
assert f() == "old"
def h(): return f()
assert g(h) == "new" and f() == "new"
""",
    "a name that student code deletes": """
--- answer
def f(): return 1
def forget():
    global f
    del f
--- wrong
def f(): return 1
def forget(): pass
--- test
assert f() == 1
forget()
try:
    f()
except NameError:
    pass
else:
    raise AssertionError("f is still there")
""",
    "a function deleted by a test is missed by those that use it": """
--- answer
def square(x): return x * x
def cube(x): return square(x) * x
--- wrong
def square(x): return x * x
def cube(x): return x * x * x
--- test
assert cube(2) == 8
old = square
del square
try:
    cube(2)
except NameError:
    pass
else:
    raise AssertionError("cube does not use square")
finally:
    square = old
    del old
""",
    "a function replaced by a test is called by those that use it": """
--- answer
def square(x): return x * x
def cube(x): return square(x) * x
--- wrong
def square(x): return x * x
def cube(x): return x * x * x
--- test
calls = []
keep = square
def square(x):
    calls.append(x)
    return keep(x)
assert cube(2) == 8
assert calls == [2], "cube does not call square"
""",
    "a counter in a global function of a test": """
--- answer
def f(g): return g() + g()
--- wrong
def f(g): return g()
--- test
count = 0
def g():
    global count
    count += 1
    return count
assert f(g) == 3 and count == 2
""",
    "names looked for in dir, locals, globals and vars": """
--- answer
answer = 42
def helper(): pass
--- wrong
def helpr(): pass
--- test
assert "answer" in dir() and "answer" in locals() and "answer" in globals() and "helper" in vars()
assert "nothing" not in dir() and "nothing" not in globals()
assert globals()["answer"] == 42 and locals().get("answer") == 42 and globals().get("zzz") is None
assert callable(globals()["helper"])
x1 = 5
assert "x1" in dir() and "x1" in globals()
def inner():
    y = 1
    return "y" in locals() and "x1" not in locals() and "x1" in globals()
assert inner()
""",
    "a name that is not defined": """
--- answer
x = 1
--- wrong
y = 1
--- test
try:
    x
except NameError:
    assert False, "you did not define x"
""",
    "a name that is not defined, in a check that says so": """
--- answer
x = 1
--- wrong
y = 1
--- test
assert x == 1
""",
    "comprehensions, lambdas, nested functions and walrus in a test": """
--- answer
def f(x): return x + 1
table = [1, 2, 3]
--- wrong
def f(x): return x
table = [1, 2, 3]
--- test
assert [f(i) for i in table] == [2, 3, 4]
assert {i: f(i) for i in table if f(i) > 2} == {2: 3, 3: 4}
assert list(map(lambda v: f(v), table)) == [2, 3, 4]
def outer(n):
    def inner(m): return f(m) + len(table)
    return inner(n)
assert outer(1) == 5
assert (y := f(1)) == 2 and y == 2
assert all(f(i) == i + 1 for i in range(3))
assert sum(f(i) for row in [[1], [2]] for i in row) == 5
assert [[f(j) for j in range(i)] for i in range(3)] == [[], [1], [1, 2]]
assert any(f(t) == 4 for t in table)
""",
    "class bodies in a test that use student names": """
--- answer
def f(x): return x + 1
LIMIT = 3
class Base: pass
--- wrong
def f(x): return x
LIMIT = 3
class Base: pass
--- test
class Table:
    limit = LIMIT
    row = [f(i) for i in range(2)]
    first = f(0)
    def get(self): return f(LIMIT)
assert Table.limit == 3 and Table.first == 1 and Table().get() == 4 and Table.row == [1, 2]
""",
    "a name that is Python's own and the student's": """
--- answer
def sum(xs): return "mine"
max = 3
--- wrong
def sum(xs): return 0
max = 4
--- test
assert sum([1]) == "mine" and max == 3
""",
    "a global statement in a test": """
--- answer
total = 1
def f(): return total
--- wrong
total = 1
def f(): return 1
--- test
def change():
    global total
    total = 50
change()
assert f() == 50
""",
    "numpy's global generator goes on across both sides": """
--- given
import numpy as np
np.random.seed(3)
--- answer
a = np.random.rand()
def draw(n): return np.random.normal(size=n)
--- wrong
a = np.random.rand() + np.random.rand()
def draw(n): return np.random.rand(n)
--- test
### CHECK 1: after the cells
reference = np.random.RandomState(3)
assert a == reference.rand()
assert np.random.rand() == reference.rand()
assert np.array_equal(draw(3), reference.normal(size=3))
assert np.random.randint(1000) == reference.randint(1000)
### CHECK 1: seeded by the test
np.random.seed(5)
assert np.array_equal(draw(2), np.random.RandomState(5).normal(size=2))
np.random.seed(5)
one = draw(2)
np.random.seed(5)
assert np.array_equal(one, np.random.normal(size=2))
--- given
b = np.random.rand()
--- test
assert np.isclose(b, b)
""",
    "Python's own generator goes on across both sides": """
--- given
import random
random.seed(1)
--- answer
def roll(): return random.randint(1, 1000)
first = roll()
--- wrong
def roll(): return int(random.random() * 1000)
first = roll()
--- test
reference = random.Random(1)
assert first == reference.randint(1, 1000)
assert [roll(), roll()] == [reference.randint(1, 1000) for _ in range(2)]
assert random.random() == reference.random()
random.seed(9)
x = [roll() for _ in range(3)]
random.seed(9)
assert x == [random.randint(1, 1000) for _ in range(3)]
""",
    "a seed holds for the cells below": """
--- given
import random
import numpy as np
--- answer
def noise(n): return np.random.randn(n)
def roll(): return random.random()
--- wrong
def noise(n): return np.random.default_rng().normal(size=n)
def roll(): return random.random()
--- wrong
def noise(n): return np.random.randn(n)
def roll(): return random.Random(2).random()
--- test
np.random.seed(7)
first = noise(3)
np.random.seed(7)
random.seed(1)
--- test
assert np.array_equal(noise(3), first)
--- test
assert roll() == random.Random(1).random()
""",
    "random numbers in a callback": """
--- given
import numpy as np
--- answer
def two(g):
    np.random.seed(4)
    return [g(), np.random.rand()]
--- wrong
def two(g):
    np.random.seed(4)
    return [np.random.rand(), g()][::-1]
--- test
r = np.random.RandomState(4)
assert two(np.random.rand) == [r.rand(), r.rand()]
""",
    "partial credit from a number at the end": """
--- answer
def f(x): return x + 1
--- wrong
def f(x): return x
--- test
score = 0
if f(1) == 2:
    score += 0.5
if f(2) == 3:
    score += 0.5
score
""",
    "a last line that ends in a semicolon": """
--- answer
seen = []
def f(x):
    seen.append(x)
    return x + 1
--- wrong
def f(x): return x
--- test
assert f(1) == 2;
--- test
f(5);
--- test
assert f(1) == 2
""",
    "a last line that is a comment after a semicolon": """
--- answer
def f(x): return x + 1
--- wrong
def f(x): raise ValueError
--- test
f(1);  # shown
""",
    "a warning in a test or in an answer": """
--- answer
import warnings, sys
def f(x):
    warnings.warn("careful")
    print("oops", file=sys.stderr)
    return x + 1
--- wrong
import warnings
def f(x):
    warnings.warn("careful")
    return x
--- test
import warnings, sys
warnings.warn("test")
sys.stderr.write("text")
assert f(1) == 2
""",
    "warnings that a test looks for": """
--- answer
import warnings
def f(x):
    if x < 0:
        warnings.warn("negative", UserWarning)
    return abs(x)
--- wrong
def f(x):
    return abs(x)
--- test
import warnings
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    assert f(-1) == 1
assert len(caught) == 1 and "negative" in str(caught[0].message)
""",
    "line magics in a test": """
--- given
%matplotlib inline
import matplotlib.pyplot as plt
--- answer
def f(x): return x + 1
--- wrong
def f(x): return x
--- test
%matplotlib inline
%load_ext autoreload
assert f(1) == 2
""",
    "%%time over a test": """
--- answer
def f(x): return x + 1
--- wrong
def f(x): return x
--- test
%%time
assert f(1) == 2
""",
    "%%timeit over a test": """
--- answer
def f(x): return x + 1
--- wrong
def f(x): return x
--- test
%%timeit -n 1 -r 1
assert f(1) == 2
""",
    "top-level await in read-only cells and answers": """
--- given
import asyncio
async def slow(x):
    await asyncio.sleep(0.001)
    return x
base = await slow(2)
--- answer
x = await slow(3) + base
y = base
--- wrong
x = await slow(4) + base
y = 0
--- test
assert x == 5 and y == 2 and base == 2
""",
    "given helpers that use the student's functions": """
--- given
def check_all(xs):
    return [f(x) for x in xs]
class Runner:
    def run(self, x): return f(x) * 2
--- answer
def f(x): return x + 1
--- wrong
def f(x): return x
--- test
assert check_all([1, 2]) == [2, 3] and Runner().run(1) == 4
""",
    "given data that a later cell changes": """
--- given
data = [3, 1, 2]
--- answer
data.sort()
first = data[0]
--- wrong
first = min(data)
--- test
assert data == [1, 2, 3]
--- given
data = data + [4]
--- test
assert data[-1] == 4 and data[0] == 1
""",
    "imports of the student's": """
--- answer
import math as m
from collections import Counter
import numpy as np
value = m.sqrt(16)
--- wrong
import math as m
from collections import Counter
value = m.sqrt(9)
--- test
assert value == m.sqrt(16) and m.pi > 3 and Counter("aa")["a"] == 2 and np.arange(3).sum() == 3
""",
    "try, except, else and finally around student code": """
--- answer
def f(x):
    if x < 0: raise ValueError("neg")
    return x
--- wrong
def f(x):
    return x
--- test
result = []
for v in (1, -1):
    try:
        f(v)
    except ValueError as e:
        result.append(str(e))
    else:
        result.append("fine")
    finally:
        result.append("end")
assert result == ["fine", "end", "neg", "end"], result
""",
    "what an autotest of nbgrader writes": """
--- answer
x = [1, 2]
def f(a): return a * 2
--- wrong
x = (1, 2)
def f(a): return a * 3
--- test
from hashlib import sha1
assert sha1(str(type(x)).encode("utf-8") + b"salt").hexdigest() == sha1(b"<class 'list'>salt").hexdigest(), "type"
assert sha1(str(len(x)).encode("utf-8") + b"salt").hexdigest() == sha1(b"2salt").hexdigest()
assert sha1(str(f(2)).encode("utf-8")).hexdigest() == sha1(b"4").hexdigest()
assert str(type(f)) == "<class 'function'>"
""",
    "keyword arguments whatever they are called": """
--- answer
def f(path=1, step=2, operation=3, self=4, name=5, function=6, value=7, kwargs=8):
    return [path, step, operation, self, name, function, value, kwargs]
--- wrong
def f(**more):
    return list(more.values())[::-1]
--- test
got = f(path=10, step=20, operation=30, self=40, name=50, function=60, value=70, kwargs=80)
assert got == [10, 20, 30, 40, 50, 60, 70, 80]
""",
    "a function that gives its argument back, or a copy": """
--- given
import numpy as np
--- answer
def same(a): return a
def copied(a): return a.copy()
--- wrong
def same(a): return a.copy()
def copied(a): return a.copy()
--- wrong
def same(a): return a
def copied(a): return a
--- test
a = np.arange(3)
assert same(a) is a and same(a) is not None
l = [1]
assert same(l) is l
assert copied(a) is not a and copied(l) is not l and copied(l) == l
""",
    "identity of the student's objects": """
--- answer
class Single:
    one = None
    def __new__(cls):
        if cls.one is None:
            cls.one = super().__new__(cls)
        return cls.one
class Node:
    def __init__(self, parent=None): self.parent = parent
    def copy(self): return Node(self.parent)
--- wrong
class Single: pass
class Node:
    def __init__(self, parent=None): self.parent = None if parent is None else Node()
    def copy(self): return Node()
--- wrong
class Single:
    one = None
    def __new__(cls):
        if cls.one is None:
            cls.one = super().__new__(cls)
        return cls.one
class Node:
    def __init__(self, parent=None): self.parent = parent
    def copy(self): return self
--- test
assert Single() is Single()
root = Node()
kid = Node(root)
assert kid.parent is root and root.parent is None and kid.parent is not kid and kid is kid and kid.copy() is not kid
""",
    "printing in a test": """
--- answer
def f(x):
    print("in f", x)
    return x
--- wrong
def f(x): return 0
--- test
print("before")
assert f(3) == 3
print("after")
""",
    "a check that quits": """
--- answer
def f(x): return x
--- wrong
def f(x):
    raise SystemExit
--- test
assert f(1) == 1
""",
    "exec, eval and string code in a test": """
--- answer
def f(x): return x + 1
--- wrong
def f(x): return x
--- test
assert eval("f(1)") == 2
exec("y = f(2)")
assert y == 3
""",
    "timing in a test": """
--- answer
def fast(n): return n * (n + 1) // 2
--- wrong
def fast(n):
    import time
    time.sleep(0.3)
    return n * (n + 1) // 2
--- test
import time
start = time.perf_counter()
assert fast(10) == 55
assert time.perf_counter() - start < 0.2
""",
}


@pytest.mark.parametrize("way", WAYS)
def test_in_two_processes_as_in_one(way, grader, tmp_path):
    Exam(WAYS[way], grader, tmp_path).prove()


READ = """
--- answer
def mean(values): return sum(values) / len(values)
--- test
### BEGIN HIDDEN TESTS
secret = [1, 3]
### END HIDDEN TESTS
data = [2, 4]
derived = [one + 1 for one in secret]
assert mean(data) == 3
### BEGIN HIDDEN TESTS
assert mean(secret) == 2 and mean(derived) == 3
### END HIDDEN TESTS
"""
READERS = {
    "def mean(values): return sum(data) / len(data) if values == data else sum(values) / len(values)": True,
    "def mean(values): return sum(values) / len(values) if secret else 0": False,
    "def mean(values): return sum(values) / len(values) if derived else 0": False,
}


@pytest.mark.parametrize("answer", READERS)
def test_a_function_reads_what_visible_lines_bind_and_nothing_that_comes_of_hidden_ones(grader, tmp_path, answer):
    exam = Exam(READ, grader, tmp_path)
    assert lost(exam.grade()) == {} and not exam.examination.inside
    found = lost(exam.grade(answer))
    assert (found == {}) == READERS[answer] and ("is not defined" in str(found)) != READERS[answer]
