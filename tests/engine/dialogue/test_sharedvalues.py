"""What test code and student code both hold is one object, as in one process."""

from __future__ import annotations

import re

import numpy as np
import pytest
from nbformat.v4 import new_code_cell

from tests.oral import Exam, lost
from viva.engine.dialogue.sharedvalues import ALL, BYTES, MOST, Shared

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

REMEMBERED = """
--- answer
def collect(item, into=None):
    into = [] if into is None else into
    into.append(item)
    return into
table = {"a": [1]}
def total(): return sum(table["a"])
weights = np.zeros(2)
def step():
    global weights
    weights = weights + 1
    return weights
--- test
### CHECK 1: nothing is remembered
first = collect(1)
second = collect(2)
assert first == [1]
### CHECK 1: a list of one's own is filled
mine = []
assert collect(3, mine) is mine and mine == [3]
### CHECK 1: a name of the notebook is one object
table["a"].append(5)
assert total() == 6
table["a"].pop()
assert total() == 1
### CHECK 1: an array that was returned stays
before = step()
step()
assert before[0] == 1
--- wrong
def collect(item, into=[]):
    into.append(item)
    return into
table = {"a": [1]}
def total(): return sum(table["a"])
weights = np.zeros(2)
def step():
    global weights
    weights += 1
    return weights
"""


NESTED = """
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
"""


PARTS = """
--- answer
def sgd(params, grads, lr):
    for k in params: params[k] -= lr * grads[k]
--- right
def sgd(params, grads, lr):
    for k, g in grads.items(): np.subtract(params[k], lr * g, out=params[k])
--- wrong
def sgd(params, grads, lr):
    for k in params: params[k] = params[k] - lr * grads[k]
--- test
W = np.ones(2)
params = {"W": W}
sgd(params, {"W": np.ones(2)}, 0.5)
assert np.allclose(params["W"], 0.5)
assert np.allclose(W, 0.5), "the update must happen in place"
--- answer
def add_column(rows, values):
    for row, value in zip(rows, values): row.append(value)
--- right
def add_column(rows, values):
    for i, row in enumerate(rows): row[len(row):] = [values[i]]
--- wrong
def add_column(rows, values):
    for i, value in enumerate(values): rows[i] = rows[i] + [value]
--- test
first = [1]
rows = [first, [2]]
add_column(rows, [7, 8])
assert rows == [[1, 7], [2, 8]]
assert first == [1, 7] and rows[0] is first
--- answer
def swap(rows, i, j):
    rows[i], rows[j] = rows[j], rows[i]
--- right
def swap(rows, i, j):
    row = rows[i]; rows[i] = rows[j]; rows[j] = row
--- wrong
def swap(rows, i, j):
    rows[i][:], rows[j][:] = rows[j][:], rows[i][:]
--- test
a, b = [1, 2], [3, 4]
m = [a, (b, 5)]
swap(m, 0, 1)
assert m == [([3, 4], 5), [1, 2]] and m[1] is a and m[0][0] is b
"""


ORDER = """
--- answer
def by_value(d): return dict(sorted(d.items(), key=lambda kv: kv[1]))
--- right
def by_value(d):
    items = sorted(d.items(), key=lambda kv: kv[1])
    d.clear()
    d.update(items)
    return d
--- wrong
def by_value(d): return d
--- test
assert list(by_value({"a": 3, "b": 1, "c": 2})) == ["b", "c", "a"]
--- answer
class LRU:
    def __init__(self, n): self.n, self.data = n, {}
    def get(self, k):
        v = self.data[k]
        self.data = {**{a: b for a, b in self.data.items() if a != k}, k: v}
        return v
    def put(self, k, v):
        self.data = {**{a: b for a, b in self.data.items() if a != k}, k: v}
        if len(self.data) > self.n: self.data = dict(list(self.data.items())[1:])
--- right
from collections import OrderedDict
class LRU:
    def __init__(self, n): self.n, self.data = n, OrderedDict()
    def get(self, k):
        self.data.move_to_end(k)
        return self.data[k]
    def put(self, k, v):
        self.data[k] = v
        self.data.move_to_end(k)
        if len(self.data) > self.n: self.data.popitem(last=False)
--- right
class LRU:
    def __init__(self, n): self.n, self.data = n, {}
    def get(self, k):
        v = self.data.pop(k)
        self.data[k] = v
        return v
    def put(self, k, v):
        self.data.pop(k, None)
        self.data[k] = v
        if len(self.data) > self.n: del self.data[next(iter(self.data))]
--- wrong
class LRU:
    def __init__(self, n): self.n, self.data = n, {}
    def get(self, k): return self.data[k]
    def put(self, k, v):
        self.data[k] = v
        if len(self.data) > self.n: del self.data[next(iter(self.data))]
--- test
c = LRU(2)
c.put("a", [1]); c.put("b", [2])
assert list(c.data) == ["a", "b"]
held = c.data["a"]
assert c.get("a") == [1]
assert list(c.data) == ["b", "a"], "used last comes last"
held.append(7)
assert c.get("a") == [1, 7] and c.data["b"] == [2]
c.put("c", [3])
assert list(c.data) == ["a", "c"]
"""


OTHER_CLASSES = """
--- answer
class Queue:
    def __init__(self): self.items = []
    def push(self, x): self.items.append(x)
    def pop(self): return self.items.pop(0)
--- right
from collections import deque
class Queue:
    def __init__(self): self.items = deque()
    def push(self, x): self.items.append(x)
    def pop(self): return self.items.popleft()
--- right
class Items(list): pass
class Queue:
    def __init__(self): self.items = Items()
    def push(self, x): self.items += [x]
    def pop(self): return self.items.pop(0)
--- wrong
class Queue:
    def __init__(self): self.items = []
    def push(self, x): self.items.append(x)
    def pop(self): return self.items.pop()
--- test
q = Queue()
q.push(1)
q.items.append(2)
assert q.pop() == 1 and q.pop() == 2 and len(q.items) == 0
held = q.items
q.push(3)
assert list(held) == [3]
--- answer
class Words:
    def __init__(self): self.counts = {}
    def feed(self, w): self.counts[w] = self.counts.get(w, 0) + 1
    def top(self): return max(self.counts, key=self.counts.get)
--- right
from collections import defaultdict
class Words:
    def __init__(self): self.counts = defaultdict(int)
    def feed(self, w): self.counts[w] += 1
    def top(self): return max(self.counts, key=self.counts.get)
--- wrong
class Words:
    def __init__(self): self.counts = {}
    def feed(self, w): self.counts[w] = 1
    def top(self): return "a"
--- test
words = Words()
words.feed("a"); words.feed("a"); words.feed("c")
assert words.counts["a"] == 2
words.counts["c"] += 9
assert words.top() == "c"
--- answer
def append(cache, k):
    cache.setdefault("k", []).append(k)
    return len(cache["k"])
--- right
def append(cache, k):
    cache["k"] = np.concatenate([cache["k"], [k]]) if "k" in cache else np.array([k])
    return len(cache["k"])
--- wrong
def append(cache, k):
    cache["k"] = np.array([k])
    return len(cache["k"])
--- test
cache = {}
for t in range(3):
    assert append(cache, np.full(4, t)) == t + 1
assert np.shape(cache["k"]) == (3, 4) and np.array_equal(cache["k"][2], [2, 2, 2, 2])
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
WINDOWS = """
--- answer
def split(x, n): return x[:n].copy(), x[n:].copy()
def ends(x): return {"first": x[:1].copy(), "rest": [x[1:].copy()]}
def moving(x, k): return np.array([x[i : i + k] for i in range(len(x) - k + 1)])
def pair(x): return x.copy(), x.copy()
class Buffer:
    def __init__(self, x): self.x = np.array(x)
    def row(self, i): return self.x[i].copy()
    def rows(self):
        for row in self.x: yield row.copy()
table = np.zeros((2, 2))
left, right = table[:, 0].copy(), table[:, 1].copy()
--- right
def split(x, n): return np.split(x.copy(), [n])
def ends(x):
    y = np.array(x)
    return {"first": y[:1], "rest": [y[1:]]}
def moving(x, k): return np.lib.stride_tricks.sliding_window_view(x, k).copy(order="F")
def pair(x): return np.array([x, x])
class Buffer:
    def __init__(self, x): self.x = [list(row) for row in x]
    def row(self, i): return np.array(self.x[i])
    def rows(self): return map(np.array, self.x)
table = np.zeros((2, 2))
left, right = np.split(table.T.copy(), 2)
left, right = left[0], right[0]
--- wrong
def split(x, n): return x[:n], x[n:]
def ends(x): return {"first": x[:1], "rest": [x[1:]]}
def moving(x, k): return np.lib.stride_tricks.sliding_window_view(x, k, writeable=True)
def pair(x):
    y = x.copy()
    return y, y[::-1]
class Buffer:
    def __init__(self, x): self.x = x[:]
    def row(self, i): return self.x[i]
    def rows(self): return iter(self.x)
table = np.zeros((2, 2))
left, right = table.T
--- test
### CHECK 1: a part in a tuple
x = np.arange(5.0)
a, b = split(x, 2)
b[0] = 99
assert x[2] == 2
### CHECK 1: parts in a dict
found = ends(x)
found["rest"][0][0] = 99
found["first"][0] = 99
assert x[1] == 1 and x[0] == 0
### CHECK 1: parts that overlap
w = moving(x, 3)
w[1, 1] = 99
assert x[2] == 2 and w[2, 0] == 2
### CHECK 1: two parts of one result
p, q = pair(np.ones(3))
p[0] = 99
assert q.tolist() == [1, 1, 1]
### CHECK 1: two results
m = np.arange(6.0).reshape(3, 2)
buffer = Buffer(m)
one, other = buffer.row(1), buffer.row(1)
one[0] = 99
assert other[0] == 2 and m[1, 0] == 2
### CHECK 1: steps of a generator
first = next(buffer.rows())
first[0] = 99
assert m[0, 0] == 0
### CHECK 1: what names mean
right[0] = 99
assert table[0, 1] == 0 and left[0] == 0
"""
CALLED_BACK = """
--- answer
def descend(grad, x, steps=3, watch=lambda x: None):
    x = np.array(x, float)
    for _ in range(steps):
        x = x - 0.5 * grad(x)
        watch(x)
    return x
def walk(n, visit):
    for step in range(n): visit([step], at={"n": step})
--- right
def descend(grad, x, steps=3, watch=lambda x: None):
    x = [float(v) for v in x]
    for _ in range(steps):
        x = [v - 0.5 * d for v, d in zip(x, grad(np.array(x)))]
        watch(np.array(x))
    return x
def walk(n, visit): any(visit([step], at=dict(n=step)) for step in range(n))
--- wrong
def descend(grad, x, steps=3, watch=lambda x: None):
    x = np.array(x, float)
    for _ in range(steps):
        x -= 0.5 * grad(x)
        watch(x)
    return x
def walk(n, visit):
    step, at = [0], {"n": 0}
    for step[0] in range(n):
        at["n"] = step[0]
        visit(step, at=at)
--- test
### CHECK 1: what is handed to a method
path = []
descend(lambda x: x, [4.0, 2.0], watch=path.append)
assert [one.tolist() for one in path] == [[2, 1], [1, 0.5], [0.5, 0.25]]
### CHECK 1: what is handed to a function
seen = []
def grad(x):
    seen.append(x)
    return x
descend(grad, np.array([4.0]), steps=2)
assert np.allclose(seen, [[4], [2]]) and seen[0] is not seen[1]
### CHECK 1: lists and dicts
steps, places = [], []
def visit(step, at):
    steps.append(step)
    places.append(at)
walk(3, visit)
assert steps == [[0], [1], [2]] and [at["n"] for at in places] == [0, 1, 2]
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
EXPECTED = """
--- answer
def get(x): return x + 0.0
def both(x): return x.copy(), x[:1] + 0.0
def look(): return True
--- test
### CHECK 1: hidden lines subtract
assert look()
### BEGIN HIDDEN TESTS
found = get(np.arange(2.0))
found[0] = 5
found -= np.array([1234.0, 1234.0])
a, b = both(np.arange(2.0))
a[0] = 5
np.copyto(a, [1234.0, 1234.0])
assert look()
### END HIDDEN TESTS
### CHECK 1: after others that mark
### BEGIN HIDDEN TESTS
other = get(np.arange(2.0))
other[0] = 6
assert look()
### END HIDDEN TESTS
### CHECK 1: visible lines subtract
a, b = both(np.arange(2.0))
a -= [1234.0, 1234.0]
b -= 1234.0
assert look()
### BEGIN HIDDEN TESTS
other *= 1234.0
assert look()
### END HIDDEN TESTS
### CHECK 1: hidden lines subtract a number of their text
### BEGIN HIDDEN TESTS
whole = get(np.arange(3.0))
whole[0] = 5
whole -= 1234.0
assert look()
### END HIDDEN TESTS
--- wrong
seen, held = [], []
def get(x):
    held.append(x)
    return x[:]
def both(x):
    held.append(x)
    return x[:], x[:1]
def look():
    seen.append(str(held))
    return True
"""
TWICE = """
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
"""
ALIASES = """
--- answer
def grid(n): return [[0] * n for _ in range(n)]
def bins(keys): return {key: [] for key in keys}
zeros = [[0, 0] for _ in range(2)]
def bump(rows):
    for row in rows: row[0] += 1
--- right
def grid(n):
    rows = []
    while len(rows) < n: rows.append(list([0] * n))
    return rows
def bins(keys): return dict(zip(keys, ([] for _ in keys)))
zeros = grid(2)
def bump(rows):
    for row in rows: row[:] = [row[0] + 1, *row[1:]]
--- wrong
def grid(n): return [[0] * n] * n
def bins(keys): return dict.fromkeys(keys, [])
zeros = [[0] * 2] * 2
def bump(rows): rows[:] = [[row[0] + 1, *row[1:]] for row in rows]
--- test
### CHECK 1: a row changes
g = grid(3)
g[0][0] = 1
assert g == [[1, 0, 0], [0, 0, 0], [0, 0, 0]]
### CHECK 1: rows are compared
assert grid(2)[0] is not grid(2)[1] and len({id(row) for row in grid(3)}) == 3
### CHECK 1: a list in a dict changes
found = bins("ab")
found["a"].append(1)
assert found == {"a": [1], "b": []}
### CHECK 1: what a name means changes
zeros[0][0] = 1
assert zeros == [[1, 0], [0, 0]]
### CHECK 1: an argument holds a row twice
row = [0, 1]
bump(rows := [row, row])
assert rows == [[2, 1], [2, 1]] and rows[0] is rows[1] and row == [2, 1]
"""
LARGER = """
--- answer
class Game:
    def __init__(self): self.cells = [[0] * 3 for _ in range(3)]
    def board(self): return self.cells
    def total(self): return sum(map(sum, self.cells))
--- right
class Game:
    def __init__(self): self.cells = np.zeros((3, 3), int)
    def board(self): return self.cells
    def total(self): return self.cells.sum()
--- wrong
class Game:
    def __init__(self): self.cells = [[0] * 3 for _ in range(3)]
    def board(self): return [row[:] for row in self.cells]
    def total(self): return sum(map(sum, self.cells))
--- test
g = Game()
b = g.board()
b[0][0] = 5
b[2][1] = 2
assert g.total() == 7
--- answer
class Layer:
    def __init__(self): self.W = np.ones((100, 100), np.float32)
    def out(self): return float(self.W.sum())
--- right
class Layer:
    def __init__(self): self.W = np.ones((100, 100))
    def out(self): return self.W.sum()
--- wrong
class Layer:
    def __init__(self): self.W = np.ones((100, 100))
    def out(self): return 10000
--- test
layer = Layer()
W = layer.W
W[3, 4] = 11
assert layer.out() == 10010
--- answer
class Linear:
    def __init__(self, W): self.W = np.array(W, float)
    def loss(self, x): return float(np.sum((x @ self.W) ** 2))
    def grad(self, x): return 2 * x.T @ (x @ self.W)
--- right
class Linear:
    def __init__(self, W): self.W = np.array(W, float)
    def loss(self, x): return np.sum((x @ self.W) ** 2, keepdims=True)
    def grad(self, x): return 2 * x.T @ (x @ self.W)
--- wrong
class Linear:
    def __init__(self, W): self.W = np.array(W, float)
    def loss(self, x): return np.sum((x @ self.W) ** 2)
    def grad(self, x): return x.T @ (x @ self.W)
--- test
rng = np.random.default_rng(0)
layer = Linear(rng.normal(size=(5, 4)))
x = rng.normal(size=(3, 5))
numeric = np.zeros((5, 4))
W = layer.W
for i in range(5):
    for j in range(4):
        W[i, j] += 1e-5
        up = layer.loss(x)
        W[i, j] -= 2e-5
        down = layer.loss(x)
        W[i, j] += 1e-5
        numeric[i, j] = np.squeeze(up - down) / 2e-5
assert np.allclose(layer.grad(x), numeric, atol=1e-4)
"""
KINDS_OF_SHARING = {
    "copies": DEFENSIVE,
    "memory": REMEMBERED,
    "a nested list": NESTED,
    "parts of the whole": PARTS,
    "what a test marks": MARKED,
    "what looks into the memory of another": WINDOWS,
    "what hidden lines mark": HIDDEN_MARKS,
    "what a function of the test is handed": CALLED_BACK,
    "one row in two places": TWICE,
    "one row in many places": ALIASES,
    "the order of a dict": ORDER,
    "another class than the solution's": OTHER_CLASSES,
    "more, larger and arrays": LARGER,
}


@pytest.mark.parametrize("text", KINDS_OF_SHARING.values(), ids=KINDS_OF_SHARING)
def test_what_both_hold_is_one_object(grader, tmp_path, text):
    Exam("--- given\nimport numpy as np\n" + text, grader, tmp_path).prove()


def test_each_check_of_a_class_without_copies_fails_for_itself(grader, tmp_path):
    exam = Exam(DEFENSIVE, grader, tmp_path)
    verdicts = [
        [str(result.verdict) for result in exam.grade(variant.answers).checks[exam.tests[0]]]
        for variant in exam.variants
    ]
    assert verdicts == [["failed"] * 3, ["failed", "passed", "failed"], ["passed", "failed", "passed"]]


def test_expected_numbers_that_a_test_subtracts_in_place_never_reach_the_student(grader, tmp_path):
    text = """
--- given
import numpy as np
--- answer
def f(x): return x + 1
--- test
### CHECK 1: first
out = f(np.zeros(3))
out -= np.ones(3) * 1234
pair = [f(np.zeros(3)), 2]
### CHECK 1: second
assert np.all(f(np.zeros(3)) == 1)
"""
    spy = """
kept = []
def f(x):
    if any(abs(old).max() > 1000 for old in kept):
        return x + 2
    kept.append(x + 1)
    return kept[-1]
"""
    exam = Exam(text, grader, tmp_path)
    assert [str(result.verdict) for result in exam.grade(spy).checks[exam.tests[0]]] == ["passed", "passed"]


def test_expected_numbers_do_not_reach_the_student_by_a_window_or_in_a_check_beside_one_that_marks(grader, tmp_path):
    exam = Exam("--- given\nimport numpy as np\n" + EXPECTED, grader, tmp_path)
    assert lost(exam.grade()) == {} and not exam.examination.inside
    notebook = exam.answered(exam.variants[0].answers)
    notebook.cells.append(new_code_cell("print(seen)", id="last"))
    outcome = grader.grade(notebook, exam.examination)
    assert lost(outcome) == {}
    shown = str(outcome.outputs[3])
    assert "1234" not in shown and "-1" not in shown and "6." in shown, shown


SUBTRACTED = """
--- given
import numpy as np
--- answer
def f(x): return x * 2
--- test
### CHECK 1: item by item
assert f(np.zeros(2)).shape == (2,)
### BEGIN HIDDEN TESTS
found = f(np.array([1.0, 2.0]))
found[0] -= 1.9375
found[1] -= 3.9375
assert np.abs(found).max() < 0.1 and f(np.array([3.0]))[0] == 6
### END HIDDEN TESTS
### CHECK 1: several at once
assert f(np.zeros(2)).shape == (2,)
### BEGIN HIDDEN TESTS
found = f(np.array([1.0, 2.0]))
found[0], found[1] = found[0] - 1.9375, found[1] - 3.9375
assert np.abs(found).max() < 0.1 and f(np.array([3.0]))[0] == 6
found[0] = 1
### END HIDDEN TESTS
"""


def test_expected_numbers_that_hidden_lines_subtract_from_items_never_reach_the_student(grader, tmp_path):
    spy = """
kept = []
def f(x):
    if any((old % 1).any() for old in kept): raise ValueError(f"saw {kept}")
    kept.append(x * 2)
    return kept[-1]
"""
    exam = Exam(SUBTRACTED, grader, tmp_path)
    assert lost(exam.grade(spy)) == {} and not exam.examination.inside


IN_HIDDEN_LINES = """
--- given
import numpy as np
--- answer
numbers = np.zeros(3)
rows = [0, 0]
class Net:
    def __init__(self):
        self.weights = np.zeros(3)
        self.log = []
net = Net()
def look(): return True
def fill(x): x[0] = 5
--- test
### CHECK 1: visible lines
numbers[0] = 7
rows.append(7)
### BEGIN HIDDEN TESTS
def compare():
    numbers[1] -= 1234
    return True
numbers[2] -= 1234
rows[0] -= 1234
net.weights -= 1234
net.log.append(1)
assert look()
for row in [1234, 1235]:
    rows.append(row)
    if row:
        break
look()
fill(rows)
rows.append(1234)
### END HIDDEN TESTS
rows.append(8)
assert compare() and look() and numbers[0] == 7 and rows == [5, 0, 7, 1234, 1234, 8]
assert list(numbers) == [7, -1234, -1234] and net.weights[0] == -1234 and net.log == [1]
if look():
    ### BEGIN HIDDEN TESTS
    numbers[0] = 1234
    ### END HIDDEN TESTS
    look()
### CHECK 1: the last expression is hidden
### BEGIN HIDDEN TESTS
rows.reverse() or look() and 1
### END HIDDEN TESTS
--- wrong
numbers = np.zeros(3)
rows = [0, 0]
class Net:
    def __init__(self):
        self.weights = np.zeros(3)
        self.log = []
net = Net()
seen = []
def look():
    seen.append((numbers.tolist(), list(rows), net.weights.tolist(), list(net.log)))
    return True
def fill(x):
    look()
    x[0] = 5
"""


def test_what_hidden_lines_do_to_named_values_and_to_arrays_never_reaches_the_student(grader, tmp_path):
    exam = Exam(IN_HIDDEN_LINES, grader, tmp_path)
    assert lost(exam.grade()) == {} and not exam.examination.inside
    notebook = exam.answered(exam.variants[0].answers)
    notebook.cells.append(new_code_cell("print(seen)", id="last"))
    outcome = grader.grade(notebook, exam.examination)
    assert lost(outcome) == {}
    shown = str(outcome.outputs[3])
    assert "1234" not in shown and "-1" not in shown
    assert "([7.0, 0.0, 0.0], [0, 0, 7], [0.0, 0.0, 0.0], [1])" in shown


NAMED_AND_PASSED = """
--- given
import numpy as np
--- answer
rows, table = [0, 0], {"row": [0, 0]}
def look(): return True
def keep(x): return x
--- test
### CHECK 1: visible lines
assert keep(rows) == [0, 0] and keep(x=rows) == [0, 0] and keep([rows, 1]) == [[0, 0], 1]
assert keep(table["row"]) == [0, 0] and keep((table, 1))[1] == 1
rows.append(7)
table["row"].append(7)
other = [0, 0]
assert keep(other) and look()
### BEGIN HIDDEN TESTS
rows[0] = table["row"][0] = 1234
other[0] = 5
assert look()
rows[0] = table["row"][0] = 0
### END HIDDEN TESTS
--- wrong
rows, table = [0, 0], {"row": [0, 0]}
seen, held = [], []
def look():
    seen.append(str([held, rows, table]))
    return True
def keep(x):
    held.append(x)
    return x
"""


def test_what_hidden_lines_do_to_a_named_list_does_not_reach_the_student_who_was_handed_it_before(grader, tmp_path):
    exam = Exam(NAMED_AND_PASSED, grader, tmp_path)
    assert lost(exam.grade()) == {} and not exam.examination.inside
    notebook = exam.answered(exam.variants[0].answers)
    notebook.cells.append(new_code_cell("print(seen)", id="last"))
    outcome = grader.grade(notebook, exam.examination)
    assert lost(outcome) == {}
    shown = str(outcome.outputs[3]).replace("\\'", "'")
    same = "[0, 0, 7], [0, 0, 7], [[0, 0, 7], 1], [0, 0, 7], ({'row': [0, 0, 7]}, 1)"
    after = "], [0, 0, 7], {'row': [0, 0, 7]}]"
    assert f"[[{same}, [0, 0]{after}" in shown and f"[[{same}, [5, 0]{after}" in shown, shown


IN_A_LAMBDA = """
--- given
import numpy as np
--- answer
numbers = np.zeros(2)
def look(): return True
--- test
### CHECK 1: visible lines
### BEGIN HIDDEN TESTS
spoil = lambda place: numbers.__setitem__(place, 1234) or look()
### END HIDDEN TESTS
assert spoil(1) and numbers[1] == 1234
--- wrong
numbers = np.zeros(2)
seen = []
def look():
    seen.append(numbers.tolist())
    return True
"""


def test_what_a_hidden_lambda_does_never_reaches_the_student_though_visible_lines_call_it(grader, tmp_path):
    exam = Exam(IN_A_LAMBDA, grader, tmp_path)
    assert lost(exam.grade()) == {} and not exam.examination.inside
    notebook = exam.answered(exam.variants[0].answers)
    notebook.cells.append(new_code_cell("print(seen)", id="last"))
    outcome = grader.grade(notebook, exam.examination)
    assert lost(outcome) == {}
    assert "[[0.0, 0.0]]" in str(outcome.outputs[3])


IN_A_GENERATOR = """
--- given
import numpy as np
numbers = np.zeros(2)
--- answer
rows = [0, 0]
def look(): return True
def keep(x): return x
--- test
### CHECK 1: it is not finished
### BEGIN HIDDEN TESTS
def steps():
    for place in range(2):
        numbers[1] = 1234
        try:
            yield place
        finally:
            numbers[1] = 0
going = steps()
assert next(going) == 0 and look()
### END HIDDEN TESTS
### CHECK 1: visible lines between its steps
for place in steps():
    rows[place] = 7
    assert keep(rows) and look()
### CHECK 1: it ends among hidden lines
numbers[0] = 8
assert keep(numbers) is not None
### BEGIN HIDDEN TESTS
going = None
numbers[0] = rows[0] = 1234
assert look()
numbers[0] = rows[0] = 0
### END HIDDEN TESTS
--- wrong
rows = [0, 0]
seen, held = [], []
def look():
    seen.append(str([rows, held]))
    return True
def keep(x):
    held[:] = [x]
    return x
"""


def test_what_hidden_lines_do_in_a_generator_does_not_reach_the_student_and_what_visible_ones_do_meanwhile_does(
    grader, tmp_path
):
    exam = Exam(IN_A_GENERATOR, grader, tmp_path)
    assert lost(exam.grade()) == {} and not exam.examination.inside
    notebook = exam.answered(exam.variants[0].answers)
    notebook.cells.append(new_code_cell("print(seen)", id="last"))
    outcome = grader.grade(notebook, exam.examination)
    assert lost(outcome) == {}
    shown = str(outcome.outputs[3])
    assert "1234" not in shown
    assert "[[7, 0], [[7, 0]]]" in shown and "[[7, 7], [[7, 7]]]" in shown and "[[7, 7], [array([8., 0.])]]" in shown


def test_a_list_that_a_method_returns_may_be_changed_by_hidden_lines_to_see_whether_it_is_a_copy(grader, tmp_path):
    parts = re.split(r"(?=^### CHECK)", DEFENSIVE.partition("--- wrong")[0], flags=re.MULTILINE)
    hidden = [
        re.sub(r"\n", "\n### BEGIN HIDDEN TESTS\n", part, count=1) + "### END HIDDEN TESTS\n" for part in parts[1:]
    ]
    text = "".join([parts[0], *hidden, "--- wrong", DEFENSIVE.partition("--- wrong")[2]])
    exam = Exam("--- given\nimport numpy as np\n" + text, grader, tmp_path)
    exam.prove()


def test_no_more_is_kept_than_it_says():
    shared = Shared()
    values = [[number] for number in range(3 * MOST)]
    for value in values:
        shared.number(value)
    large = np.zeros(BYTES)
    assert shared.number(large) is not None
    shared.trim()
    assert list(shared.kept.values()) == [(value, shared._state(value)) for value in values[-MOST:]]
    assert len(shared.numbers) == len(shared.parts) == MOST


def test_what_changed_least_lately_is_forgotten_first_and_all_together_have_an_end():
    shared = Shared()
    values = [np.full(BYTES // 8, number, float) for number in range(ALL // BYTES + 1)]
    numbers = [shared.number(value) for value in values]
    values[0][0] = 7
    assert list(shared.changed()) == numbers[:1]
    shared.trim()
    assert set(shared.kept) == {*numbers} - {numbers[1]}


NARROW = """
--- given
import numpy as np
--- answer
class Grid:
    def __init__(self): self.cells = np.zeros((150, 150), dtype=np.uint8)
    def alive(self): return int(self.cells.sum())
--- test
grid = Grid()
grid.cells[0, 0] = 1
assert grid.alive() == 1
--- right
class Grid:
    def __init__(self): self.cells = np.zeros((150, 150))
    def alive(self): return int(self.cells.sum())
--- wrong
class Grid:
    def __init__(self): self.cells = np.zeros((150, 150))
    def alive(self): return 2
"""


def test_what_a_test_changes_may_be_of_wider_numbers_than_the_solutions(grader, tmp_path):
    Exam(NARROW, grader, tmp_path).prove(inside=True)
    Exam(NARROW.replace("150", "20"), grader, tmp_path).prove()


@pytest.mark.parametrize("value", [1, 1.5, "text", None, b"", len, object(), range(3), np.float64(1)])
def test_what_cannot_change_is_not_kept(value):
    assert Shared().number(value) is None


@pytest.mark.parametrize(
    ("value", "change"),
    [
        ([1, [2]], lambda value: value[1].append(3)),
        ({"a": 1}, lambda value: value.update(b=2)),
        ({1, 2}, lambda value: value.add(3)),
        (bytearray(b"a"), lambda value: value.extend(b"b")),
        (np.zeros((2, 2)), lambda value: value.__setitem__((0, 1), 7)),
        (([1], 2), lambda value: value[0].append(3)),
    ],
)
def test_a_change_is_noticed_once(value, change):
    shared = Shared()
    number = shared.number(value)
    assert shared.changed() == {}
    change(value)
    assert list(shared.changed()) == [number]
    assert shared.changed() == {}


def test_a_change_of_the_other_side_is_not_told_back():
    shared = Shared()
    value = [1, 2]
    number = shared.number(value)
    shared.take(number, [1, 2, 3])
    assert value == [1, 2, 3] and shared.changed() == {}
