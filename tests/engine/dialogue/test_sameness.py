"""A test that looks at which values are one object means in two processes what it means in one."""

from __future__ import annotations

import copy
from collections import deque
from collections.abc import Callable, Iterable

import numpy as np
import pandas as pd
import pytest

from tests.oral import Exam, lost
from viva.engine.dialogue.sameness import BYTES, CHANGES, MOST, Observer

GIVEN = """
--- given
import copy
import operator
import random
import unittest
import numpy as np
import pandas as pd
"""
NEW = "def new(): return []", "kept = []\ndef new(): return kept"
BOX = "class Box:\n    def __init__(self, items=None): self.items = [] if items is None else list(items)\n"
WEIGHTS = "class Model:\n    def __init__(self): self.w = np.zeros(2)\n    def weights(self): return self.w.copy()\n"
TABLE = "class Table:\n    def row(self, i): return self.rows[i]\n    def __init__(self, rows): self.rows = rows"
STEPS = f"{WEIGHTS}    def step(self): self.w = self.w + 1", f"{WEIGHTS}    def step(self): self.w += 1"
LOOKS_AGAIN = {
    "a default argument": (
        "def new(acc=None): return [] if acc is None else acc",
        "def new(acc=[]): return acc",
        "a = new()\nb = new()\na.append(5)\nassert b == []",
    ),
    "a default of a class": (
        BOX,
        "class Box:\n    def __init__(self, items=[]): self.items = items",
        "p, q = Box(), Box()\np.items.append(1)\nassert q.items == []",
    ),
    "an attribute of a class": (
        BOX,
        "class Box:\n    items = []",
        "p, q = Box(), Box()\np.items += [1]\nassert q.items == []",
    ),
    "a cached array": (
        "def grid(): return np.zeros(3)",
        "kept = np.zeros(3)\ndef grid(): return kept",
        "a, b = grid(), grid()\na += 1\nassert b.sum() == 0",
    ),
    "a cached array, asked for again": (
        "def grid(): return np.zeros(3)",
        "kept = np.zeros(3)\ndef grid(): return kept",
        "grid()[1:] = 1\nassert grid().sum() == 0",
    ),
    "a global board": (
        "def board(): return [[' '] * 3 for _ in range(3)]",
        "kept = [[' '] * 3 for _ in range(3)]\ndef board(): return kept",
        "one = board()\none[0][0] = 'X'\nassert board()[0][0] == ' '",
    ),
    "rows of a given list": (
        "def board(rows): return [[*row] for row in rows]",
        "def board(rows): return [*rows]",
        "rows = [[1], [2]]\nboard(rows)[0].append(3)\nassert rows == [[1], [2]]",
    ),
    "a board that student code changes": (
        "def board(): return [[' '] * 3 for _ in range(3)]\ndef place(b, i): b[i][i] = 'X'",
        "kept = [[' '] * 3 for _ in range(3)]\ndef board(): return kept\ndef place(b, i): b[i][i] = 'X'",
        "one = board()\nplace(one, 0)\nassert one[0][0] == 'X' and board()[0][0] == ' '",
    ),
    "a copy under another name": (
        "original = [[1], [2]]\nmine = copy.deepcopy(original)",
        "original = [[1], [2]]\nmine = original.copy()",
        "mine[0].append(3)\nassert original == [[1], [2]]",
    ),
    "lists in a dict that was copied": (
        "def with_key(d, k): return {**{key: [*value] for key, value in d.items()}, k: []}",
        "def with_key(d, k): return {**d, k: []}",
        "d = {'a': []}\ne = with_key(d, 'b')\ne['a'].append(1)\nassert d == {'a': []}",
    ),
    "a shared set": (
        "def seen(): return set()",
        "kept = set()\ndef seen(): return kept",
        "a, b = seen(), seen()\na.add(1)\nassert 1 not in b",
    ),
    "a dict of lists": (
        "def groups(): return {'a': [], 'b': []}",
        "kept = {'a': [], 'b': []}\ndef groups(): return kept",
        "g = groups()\ng['a'].append(1)\nassert groups()['a'] == []",
    ),
    "a view of an argument": (
        "def back(x): return x[::-1].copy()",
        "def back(x): return x[::-1]",
        "x = np.arange(3.0)\ny = back(x)\ny[0] = 9\nassert x[2] == 2",
    ),
    "a view, when the argument is changed": (
        "def back(x): return x[::-1].copy()",
        "def back(x): return x[::-1]",
        "x = np.arange(3.0)\ny = back(x)\nx[0] = 9\nassert y[2] == 0",
    ),
    "a row of a table": (
        f"{TABLE}.copy()",
        TABLE,
        "x = np.arange(6.0).reshape(2, 3)\nt = Table(x)\nx[0] = 9\nassert t.row(0)[0] == 0",
    ),
    "a frame": (
        "def loaded(d): return d.copy()",
        "def loaded(d): return d",
        "d = pd.DataFrame({'a': [1, 2]})\nout = loaded(d)\nout.loc[0, 'a'] = 9\nassert d.a[0] == 1",
    ),
    "a change by a library": (
        "def ordered(x): return sorted(x)",
        "def ordered(x):\n    x.sort()\n    return x",
        "x = [1, 2, 3, 4]\ny = ordered(x)\nrandom.Random(1).shuffle(y)\nassert x == [1, 2, 3, 4]",
    ),
    "a change by a function of the test's": (
        *NEW,
        "def fill(xs): xs += [1]\na = new()\nfill(a)\nassert new() == []",
    ),
    "attributes of a unittest": (
        *NEW,
        "class Case(unittest.TestCase):\n    def test(self):\n        self.a, self.b = new(), new()\n"
        "        self.a.append(1)\n        self.assertEqual(self.b, [])\n"
        "result = unittest.TestResult()\nCase('test').run(result)\nassert result.wasSuccessful()",
    ),
    "results in a list": (
        *NEW,
        "results = [new() for _ in range(3)]\nresults[0].append(1)\nassert results == [[1], [], []]",
    ),
    "an attribute before and after a step": (
        *STEPS,
        "m = Model()\nbefore = m.w\nm.step()\nassert not np.allclose(before, m.w)",
    ),
    "a result before and after a step": (
        STEPS[0],
        STEPS[1].replace("self.w.copy()", "self.w"),
        "m = Model()\nbefore = m.weights()\nm.step()\nassert not before.any()",
    ),
    "a function's result before and after": (
        "total = np.zeros(2)\ndef seen(): return total.copy()\ndef see(x):\n    total[:] += x",
        "total = np.zeros(2)\ndef seen(): return total\ndef see(x):\n    total[:] += x",
        "before = seen()\nsee(1)\nafter = seen()\nassert before.tolist() == [0, 0] and after.tolist() == [1, 1]",
    ),
}
IDENTITY = {
    "parts that are copies": (
        "def deep(x): return copy.deepcopy(x)",
        "def deep(x): return x[:]",
        "x = [[1], [2]]\ny = deep(x)\nassert y == x and y[0] is not x[0]",
    ),
    "shared memory": (
        "def tail(x): return x[1:].copy()",
        "def tail(x): return x[1:]",
        "x = np.arange(4.0)\nassert not np.shares_memory(x, tail(x))",
    ),
    "the base of an array": (
        "def tail(x): return x[1:].copy()",
        "def tail(x): return x[1:]",
        "x = np.arange(4.0)\ny = tail(x)\nassert y.base is None",
    ),
    "names of copies": (
        "original = [1, 2]\nmine = original.copy()",
        "original = [1, 2]\nmine = original",
        "assert mine == original and mine is not original",
    ),
    "ids of lists": (*NEW, "a, b = new(), new()\nassert len(set(map(id, [a, b]))) == 2"),
    "a method of unittest": (*NEW, "a, b = new(), new()\nunittest.TestCase().assertIsNot(a, b)"),
    "a function of operator": (*NEW, "a, b = new(), new()\nassert operator.is_not(a, b)"),
}
TWO_PROCESSES = {
    "one list that a generator fills anew": (
        "def rows(n):\n    for i in range(n): yield [i]",
        "def rows(n):\n    row = [0]\n    for row[0] in range(n): yield row",
        "assert list(rows(3)) == [[0], [1], [2]]",
    ),
    "one array that an iterator fills anew": (
        "class Steps:\n    def __init__(self): self.x = np.zeros(2)\n    def __iter__(self): return self\n"
        "    def __next__(self):\n        self.x = self.x + 1\n        return self.x, 'step'",
        "class Steps:\n    def __init__(self): self.x = np.zeros(2)\n    def __iter__(self): return self\n"
        "    def __next__(self):\n        self.x += 1\n        return self.x, 'step'",
        "steps = iter(Steps())\n(a, _), (b, _) = next(steps), next(steps)\nassert a[0] == 1 and b[0] == 2",
    ),
    "a loop over batches": (
        "def batches(x, n):\n    for i in range(0, len(x), n): yield x[i : i + n]",
        "def batches(x, n):\n    for i in range(0, len(x), n): yield x[:n]",
        "x = np.arange(6.0)\nfound = list(batches(x, 2))\nassert np.concatenate(found).tolist() == [*range(6)]\n"
        "for i, batch in enumerate(batches(x, 2)): assert batch[0] == 2 * i",
    ),
    "a result that is sorted": (
        "def pairs(xs): return [(x, -x) for x in xs]",
        "def pairs(xs): return [(x, x) for x in xs]",
        "for xs in ([2, 1], [4, 3]):\n    found = pairs(xs)\n    found.sort()\n"
        "    assert found == sorted((x, -x) for x in xs)",
    ),
    "expected numbers are subtracted": (
        "def double(x): return 2 * x",
        "def double(x): return 3 * x",
        "x = np.arange(1, 4.0)\nout = double(x)\nout -= x + x\nassert abs(out).max() < 1e-9 and double(2) == 4",
    ),
    "an object is told and asked": (
        "class Stack:\n    def __init__(self): self.items = []\n    def push(self, x): self.items.append(x)",
        "class Stack:\n    def __init__(self): self.items = []\n    def push(self, x): self.items.insert(0, x)",
        "s = Stack()\ns.push(1)\ns.push(2)\nassert s.items == [1, 2]",
    ),
    "random results": (
        "def drawn(n): return np.random.rand(n)",
        "def drawn(n): return np.full(n, 0.5)",
        "np.random.seed(1)\na = drawn(3)\nb = drawn(3)\nassert a.shape == (3,) and not np.allclose(a, b)",
    ),
    "a list that is changed and handed over again": (
        "def total(xs): return [sum(xs)]",
        "def total(xs): return [len(xs)]",
        "xs = [3, 4]\nassert total(xs) == [7]\nxs.append(5)\nassert total(xs) == [12]",
    ),
    "a result that is an argument, or is not": (
        "def put(x, into):\n    into.append(x)\n    return into\ndef copied(x): return x.copy()",
        "def put(x, into): return [*into, x]\ndef copied(x): return x",
        "mine, x = [], np.arange(3)\nassert put(3, mine) is mine and copied(x) is not x",
    ),
    "rows of one result": (
        "def board(): return [[0, 0], [0, 0]]",
        "def board(): return [[0, 0]] * 2",
        "b = board()\nassert b[0] is not b[1]\nb[0][0] = 1\nassert b == [[1, 0], [0, 0]]",
    ),
    "patterns": (
        "def parts(x): return [x, {'a': x}]",
        "def parts(x): return [x, {'b': x}]",
        "class Kind:\n    base = 3\nmatch parts(3):\n    case [Kind.base, {'a': Kind.base}]: found = True\n"
        "    case _: found = False\nassert found",
    ),
    "an object given back": (
        "class Node:\n    def itself(self): return self\n    def copy(self): return Node()",
        "class Node:\n    def itself(self): return Node()\n    def copy(self): return Node()",
        "v = Node()\nassert id(v.itself()) == id(v) != id(v.copy()) and v.itself() is v is not v.copy()\n"
        "assert operator.is_(v.itself(), v) and operator.is_not(v.copy(), v)\n"
        "unittest.TestCase().assertIs(v.itself(), v)\nunittest.TestCase().assertIsNot(v.copy(), v)",
    ),
}
"""The tests of these notice no copies, or what they notice crosses."""
ROWS = {"looks_again": LOOKS_AGAIN, "identity": IDENTITY, "": TWO_PROCESSES}


def cells(rows: Iterable[tuple[str, str, str]]) -> str:
    return "\n".join(
        f"--- answer\n{answer}\n--- wrong\n{wrong}\n--- test\n### CHECK 1: it\n### BEGIN HIDDEN TESTS\n{test}\n"
        "### END HIDDEN TESTS"
        for answer, wrong, test in rows
    )


@pytest.fixture(scope="module")
def exam(grader, tmp_path_factory):
    """All rows in one notebook, each an answer and a test, and for each what a wrong answer is."""
    rows = [row for table in ROWS.values() for row in table.values()]
    return Exam(GIVEN + cells(rows), grader, tmp_path_factory.mktemp("identity"))


def test_what_looks_at_which_values_are_one_is_a_single_process_cell_and_nothing_else(exam):
    names = [(kind, name) for kind, table in ROWS.items() for name in table]
    reasons = {cell: why.kind for cell, why in exam.examination.single_process.items()}
    found = {name: reasons.get(cell, "") for (_, name), cell in zip(names, exam.tests, strict=True)}
    assert found == {name: kind for kind, name in names}


def test_the_right_answers_pass_and_each_wrong_one_earns_nothing(exam):
    names = [name for table in ROWS.values() for name in table]
    assert lost(exam.grade()) == {}
    wrong = {cell: source for variant in exam.variants for cell, source in variant.answers.items()}
    failed = {cell for cell, _ in lost(exam.grade(wrong))}
    assert [name for name, cell in zip(names, exam.tests, strict=True) if cell not in failed] == []


CHANGED: dict[str, tuple[object, Callable, bool]] = {
    "a list": ([1], lambda x: x.append(2), True),
    "an empty list": ([], lambda x: x.append(2), True),
    "a list in which something else stands": ([1, "a"], lambda x: x.reverse(), True),
    "a list that becomes too large": ([1], lambda x: x.extend([0] * (BYTES // 8 + 1)), True),
    "a list that is too large": ([0] * (BYTES // 8 + 1), lambda x: x.clear(), False),
    "a deque": (deque([1]), lambda x: x.append(2), True),
    "a dict": ({"a": 1}, lambda x: x.update(a=2), True),
    "a set": ({1, "a"}, lambda x: x.discard("a"), True),
    "a bytearray": (bytearray(b"a"), lambda x: x.extend(b"b"), True),
    "an array": (np.arange(3.0), lambda x: x.fill(7), True),
    "an empty array": (np.zeros(0), lambda x: x.fill(7), False),
    "an array of texts": (np.array(["a", "b"]), lambda x: x.fill("c"), True),
    "an array of objects": (np.array([1, "a", None], object), lambda x: x.fill(None), True),
    "an array of rows": (np.zeros(2, [("a", int)]), lambda x: x["a"].fill(3), True),
    "an array that is too large": (np.zeros(BYTES), lambda x: x.fill(7), False),
    "a frame": (pd.DataFrame({"a": [1, 2]}), lambda x: x.insert(0, "b", 1), True),
    "what is as it was": ([1], lambda x: None, False),
    "what is as it was again": ([1], lambda x: (x.append(2), x.pop()), False),
}


@pytest.mark.parametrize(("value", "change", "noticed"), CHANGED.values(), ids=CHANGED)
def test_a_change_of_one_of_two_equal_results_is_noticed_when_the_other_is_looked_at(value, change, noticed):
    observer = Observer()
    observer.watching = True
    first, second = copy.deepcopy(value), copy.deepcopy(value)
    for name, result in (("f", first), ("g", second)):
        observer.asking()
        observer.given(result, "call", (name,), {}, drawn=False)
    change(first)
    assert observer.seen(first) is first and observer.why == ""
    observer.seen({"results": [second]})
    assert (observer.why == "looks_again") is noticed


def test_what_is_observed_of_a_test_that_asks_a_thousand_times_stays_small():
    observer = Observer()
    observer.watching = True
    for number in range(1_000):
        result = [number]
        observer.asking()
        observer.given(result, "call", ("f", number), {}, drawn=False)
        result.append(1)
    assert len(observer.copies) <= MOST and len(observer.answers) <= MOST and len(observer.changes) <= CHANGES
    assert observer.why == ""
