"""The arguments of a call come back changed, and nothing else that a test does to a value reaches the student."""

from __future__ import annotations

from collections import Counter, OrderedDict

import numpy as np
import pandas as pd
import pytest
from nbformat.v4 import new_code_cell

from tests.oral import Exam, lost
from viva.engine import wire
from viva.engine.dialogue.arguments import Handed, parts_of, take, taken

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
two = grid(2)
assert two[0] is not two[1]
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
PUT_BACK = """
--- given
import pandas as pd
--- answer
def probe(function, x, place):
    moved = copy.deepcopy(x)
    moved[place] = x[place] + 1
    return function(moved)
def both(function, x, y, place):
    mine, its = copy.deepcopy((x, y))
    mine[place], its[place] = x[place] + 1, y[place] + 1
    return function(mine, its)
--- right
def probe(function, x, place):
    old = x[place]
    x[place] = old + 1
    up = function(x)
    x[place] = old
    return up
def both(function, x, y, place):
    old, its = x[place], y[place]
    x[place], y[place] = old + 1, its + 1
    try: return function(x, y)
    finally: x[place], y[place] = old, its
--- right
def probe(function, x, place):
    old = x[place]
    x[place] = old + 1
    try: return [function(x), function(x)][1]
    finally: x[place] = old
def both(function, x, y, place):
    old, its = x[place], y[place]
    x[place], y[place] = old + 1, its + 1
    up = function(x, y)
    x[place], y[place] = old, its
    return up
--- wrong
def probe(function, x, place):
    x[place] += 1
    return function(x)
def both(function, x, y, place):
    mine, its = copy.deepcopy((x, y))
    mine[place], its[place] = x[place] + 1, y[place] + 1
    return function(mine, its)
--- test
### CHECK 1: an array, a list, a dict and a frame
for x in (np.array([3.0, 4.0]), [3.0, 4.0], {0: 3.0, 1: 4.0}):
    before = copy.deepcopy(x)
    assert probe(lambda x: x[0] * x[1], x, 1) == 15
    assert list(x) == list(before) and x[1] == 4
frame = pd.DataFrame({1: [3.0]})
assert probe(lambda frame: frame[1].sum(), frame, 1) == 4 and frame[1].tolist() == [3]
### CHECK 1: a part
rows, row = {"W": np.ones(2)}, [3, 4]
assert probe(lambda row: sum(row), row, 0) == 8 and row == [3, 4]
assert probe(lambda W: W.sum(), rows["W"], 0) == 3 and rows["W"].tolist() == [1, 1]
### CHECK 1: a function that raises
def bad(x):
    if x[0] > 3: raise ValueError("too large")
x = [3]
try: probe(bad, x, 0)
except ValueError: pass
### CHECK 1: two of them
x, y = [1, 2], np.array([3, 4])
assert both(lambda x, y: x[1] + y[1], x, y, 1) == 8 and x == [1, 2] and y.tolist() == [3, 4]
"""
ONE_FRAME = """
--- given
import pandas as pd
--- answer
def double(one, other):
    one["a"] *= 2
    return other["a"].sum()
--- wrong
def double(one, other):
    return (one["a"] * 2).sum()
--- test
frame = pd.DataFrame({"a": [1, 2]})
assert double(frame, frame) == 6 and frame["a"].tolist() == [2, 4]
"""
CHANGED = {
    "parts of the whole": PARTS,
    "an entry that is put back": PUT_BACK,
    "one frame as two arguments": ONE_FRAME,
    "an array that has another shape": """
--- answer
def square(x): return x.reshape(2, 2)
--- right
def square(x):
    x.shape = 2, 2
    return x
--- wrong
def square(x): return x
--- test
x = np.arange(4)
assert square(x).shape == (2, 2) and square(x.copy())[1, 1] == 3
""",
    "what a function of the test is handed": CALLED_BACK,
    "one row in two places": TWICE,
    "one row in many places": ALIASES,
    "an argument that is given back": """
--- answer
def collect(item, into=None):
    into = [] if into is None else into
    into.append(item)
    return into
--- wrong
def collect(item, into=None):
    return [*(into or []), item]
--- test
mine = []
assert collect(3, mine) is mine and mine == [3]
""",
    "an array that cannot be written to is given back": """
--- answer
def same(x): return x
def copied(x): return x.copy()
--- wrong
def same(x): return x.copy()
def copied(x): return x
--- test
x = np.arange(3)
x.flags.writeable = False
### CHECK 1: itself
assert same(x) is x
### CHECK 1: a copy
assert copied(x) is not x and copied(x).tolist() == [0, 1, 2]
""",
    "a frame": """
--- given
import pandas as pd
--- answer
def clean(frame): frame.dropna(inplace=True)
--- wrong
def clean(frame): frame = frame.dropna()
--- test
frame = pd.DataFrame({"a": [1.0, None]})
clean(frame)
assert len(frame) == 1
""",
    "a list of the student's objects": """
--- answer
class Task:
    def __init__(self, urgency): self.urgency = urgency
def in_order(tasks): return sorted(tasks, key=lambda task: task.urgency)
--- test
assert [task.urgency for task in in_order([Task(2), Task(1)])] == [1, 2]
--- right
class Task:
    def __init__(self, urgency): self.urgency = urgency
def in_order(tasks):
    tasks.sort(key=lambda task: task.urgency)
    return tasks
--- wrong
class Task:
    def __init__(self, urgency): self.urgency = urgency
def in_order(tasks):
    tasks.sort(key=lambda task: -task.urgency)
    return tasks
""",
}


@pytest.mark.parametrize("text", CHANGED.values(), ids=CHANGED)
def test_arguments_come_back_changed(grader, tmp_path, text):
    Exam("--- given\nimport copy\nimport numpy as np\n" + text, grader, tmp_path).prove()


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
pair = [f(np.ones(3)), 2]
### CHECK 1: second
assert np.all(f(np.ones(3)) == 2)
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


HIDDEN = """
--- given
import numpy as np
--- answer
numbers = np.zeros(3)
rows = [0, 0]
def look(): return True
def get(x): return x + 0.0
--- test
### CHECK 1: values of names, results and what was handed over
### BEGIN HIDDEN TESTS
numbers[1] -= 1234
rows.append(1234)
assert numbers[1] == -1234 and rows[-1] == 1234
given = np.arange(2.0)
found = get(given)
found -= 1234.0
given += 1234.0
assert look()
### END HIDDEN TESTS
--- wrong
numbers = np.zeros(3)
rows = [0, 0]
seen, held = [], []
def look():
    seen.append(str([numbers, rows, held]))
    return True
def get(x):
    held.append(x)
    return x[:]
"""


def test_what_a_test_does_to_a_value_in_place_never_reaches_the_student(grader, tmp_path):
    exam = Exam(HIDDEN, grader, tmp_path)
    assert lost(exam.grade()) == {} and not exam.examination.inside
    notebook = exam.answered(exam.variants[0].answers)
    notebook.cells.append(new_code_cell("print(seen)", id="last"))
    outcome = grader.grade(notebook, exam.examination)
    assert lost(outcome) == {}
    shown = str(outcome.outputs[3])
    assert "1234" not in shown and "1233" not in shown and "array" in shown, shown


NEW_OBJECTS = """
--- answer
def fill(rows):
    rows.append(1)
    return 3
--- test
rows = []
assert fill(rows) == 3 and rows == [1]
--- wrong
class Yes:
    def __eq__(self, other): return True
def fill(rows):
    rows.append(Yes())
    return 3
"""


def test_an_object_that_comes_into_a_list_of_the_tests_is_refused(grader, tmp_path):
    exam = Exam(NEW_OBJECTS, grader, tmp_path)
    assert lost(exam.grade()) == {} and not exam.examination.inside
    assert "an object of class Yes" in str(lost(exam.grade(exam.variants[0].answers)))


FORGED = """
--- given
import numpy as np
import pandas as pd
--- answer
class Task:
    def __init__(self): self.size = 1
def twice(frame): return 2 * frame
def sizes(tasks): return [task.size for task in tasks]
--- test
### CHECK 1: a frame
frame = pd.DataFrame({"a": [1.0, 2.0]})
assert (twice(frame) == np.array([[2], [4]])[:len(frame)]).all().all()
### CHECK 1: a list
assert sizes([Task(), Task()]) == [1, 1]
--- wrong
import gc
C = next(o for o in gc.get_objects() if type(o).__name__ == "Candidate")
class Task:
    def __init__(self): self.size = 1
    def __eq__(self, other): return True
def twice(frame):
    kept.append(frame.copy())
    frame.drop(frame.index, inplace=True)
    return frame
def sizes(tasks):
    kept.append([1, 1])
    return tasks
kept = []
operate = type(C).do_operate
def lie(*args, **kwargs):
    reply = operate(*args, **kwargs)
    if "same" in reply: reply["value"] = kept.pop()
    return reply
type(C).do_operate = lie
--- wrong
class Task:
    def __init__(self): self.size = 1
    def __eq__(self, other): return True
def twice(frame):
    frame.drop(frame.index, inplace=True)
    return frame
def sizes(tasks): return tasks
"""


def test_an_argument_that_is_given_back_is_judged_as_it_is_and_not_as_it_is_said_to_be(grader, tmp_path):
    exam = Exam(FORGED, grader, tmp_path)
    assert lost(exam.grade()) == {} and not exam.examination.inside
    forged, honest = [lost(exam.grade(variant.answers)) for variant in exam.variants]
    assert forged == honest and len(honest) == 2


KNOWN_OBJECTS = """
--- answer
class Yes:
    def __init__(self): self.size = 1
def fill(rows, other=None): rows.append(1)
def push(stack, item): stack.append(item)
--- test
### CHECK 1: an argument
yes = Yes()
assert yes.size == 1
rows = []
fill(rows, yes)
assert rows == [1]
### CHECK 1: what is in another argument
rows = []
fill(rows, [Yes()])
assert rows == [1]
### CHECK 1: what is given back in vain
stack = []
push(stack, push(stack, 1))
assert stack == [1, None]
--- wrong
class Yes:
    def __init__(self): self.size = 1
    def __eq__(self, other): return True
def fill(rows, other=None): rows.append(other[0] if type(other) is list else other)
def push(stack, item):
    stack.append(item)
    return Yes()
"""


def test_an_object_that_the_test_knows_does_not_come_into_another_list_by_a_student(grader, tmp_path):
    exam = Exam(KNOWN_OBJECTS, grader, tmp_path)
    assert lost(exam.grade()) == {} and not exam.examination.inside
    assert len(lost(exam.grade(exam.variants[0].answers))) == 3


def told(before: list, change) -> list:
    """The arguments of the examiner's, after the candidate has changed its copies."""
    theirs = wire.decode(wire.encode(before))
    handed = Handed(theirs, lambda value: None, ())
    change(theirs)
    if "changed" in (news := handed.news(None)):
        take(parts_of(before), wire.decode(news["changed"]))
    return before


@pytest.mark.parametrize(
    ("value", "change"),
    [
        ([1, [2]], lambda value: value[1].append(3)),
        ({"a": 1}, lambda value: value.update(b=2)),
        ({1, 2}, lambda value: value.add(3)),
        (bytearray(b"a"), lambda value: value.extend(b"b")),
        (OrderedDict(a=1, b=2), lambda value: value.move_to_end("a")),
        (Counter("aab"), lambda value: value.update("b")),
        (([1], 2), lambda value: value[0].append(3)),
        ([[1], [2]], lambda value: value.reverse()),
        ([[1], [2]], lambda value: value.append((value[0], [3]))),
    ],
)
def test_what_is_changed_in_place_is_changed_on_both_sides(value, change):
    expected = wire.decode(wire.encode(value))
    change(expected)
    assert told([value], lambda args: change(args[0])) == [expected] and list(value) == list(expected)


def test_what_a_function_was_handed_changes_on_both_sides_when_it_is_put_back():
    theirs, row = [[1]], [5]
    handed = Handed(theirs, lambda value: None, ())
    mine = parts_of(before := [[1]])
    for number in (7, 8):
        theirs[0][0] = row[0] = number
        taken(wire.decode(wire.encode([theirs[0], row])), {}, handed.hand_over([theirs[0], row]), mine)
    assert before == [[8]] and mine[1] == [8]
    theirs[0][0], row[0] = 1, 7
    take(mine, wire.decode(handed.news(None)["changed"]))
    assert before == [[1]] and mine[1] == [7]


def test_arrays_and_frames_are_changed_in_their_own_memory():
    array, frame = np.zeros((2, 2)), pd.DataFrame({"a": [1, 2]})
    view = array[0]
    told([array, frame], lambda args: (args[0].fill(3), args[1].insert(0, "b", 7)))
    assert view.tolist() == [3, 3] and frame["b"].tolist() == [7, 7]


def test_what_is_put_in_the_place_of_a_part_does_not_change_that_part():
    row = [1]
    rows = [row]
    told([rows], lambda args: args[0].__setitem__(0, [2]))
    assert rows == [[2]] and row == [1]
    told([rows, row], lambda args: args[0].append(args[1]))
    assert rows[1] is row


@pytest.mark.parametrize("theirs", [None, 5, [], [[1], [2]], {0: [1]}])
def test_arguments_that_are_none_are_refused(theirs):
    with pytest.raises(wire.WireError):
        take([[1]], theirs)


@pytest.mark.parametrize("theirs", [[np.zeros(3)], [[1, 2]], [{"a": 1}], [7], [None]])
def test_what_has_become_of_another_type_changes_nothing(theirs):
    array = np.zeros(2)
    take([array], theirs)
    assert array.tolist() == [0, 0]


@pytest.mark.parametrize("numbers", [None, [], [-1], [7], ["a"], [None], [0, 0, 0], [2**70], {0: 0}])
def test_numbers_of_what_a_callback_is_handed_may_be_anything(numbers):
    mine = [[1]]
    assert taken(([5],), {}, numbers, mine)[0] == [[5]]
