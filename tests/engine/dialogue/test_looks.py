"""A right answer may be empty in other places than the solution's; a test that looks at nothing is passed by no answer.

Each case is a solution, a test, and answers in another style: permuted, rebound, drained, iterated, empty elsewhere.
What they must earn is what they earn where answer and test share one plain namespace.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass

import numpy as np
import pytest

from tests.oral import Exam, lost
from viva.engine.dialogue.looks import LOOKED, Looks, with_looks
from viva.verdict import Verdict


@dataclass(frozen=True)
class Twins:
    """A solution, its test, right answers and ones that only an empty value lets pass."""

    solution: str
    test: str
    right: tuple[str, ...] = ()
    wrong: tuple[str, ...] = ()


CASES = {
    "permuted rows": Twins(
        "def rows(x): return [[], [x]]",
        "assert sorted(rows(3)) == [[], [3]]",
        ("def rows(x): return [[x], []]", "def rows(x): return ([x], [])"),
    ),
    "a power set": Twins(
        """
def subsets(items):
    found = [[]]
    for item in items:
        found += [one + [item] for one in found]
    return found""",
        "assert sorted(map(sorted, subsets([1, 2]))) == [[], [1], [1, 2], [2]]\nassert len(subsets([1, 2, 3])) == 8",
        (
            """
def subsets(items):
    if not items: return [[]]
    rest = subsets(items[1:])
    return [[items[0]] + one for one in rest] + rest""",
            "import itertools\ndef subsets(items):\n"
            "    return [list(c) for n in range(len(items), -1, -1) for c in itertools.combinations(items, n)]",
        ),
    ),
    "arguments that are drained": Twins(
        "def merge(a, b): return sorted(a + b)",
        "assert merge([1, 4], [2, 3]) == [1, 2, 3, 4]\na, b = [5], [6, 7]\nassert merge(a, b) == [5, 6, 7]",
        (
            """
def merge(a, b):
    out = []
    while a and b:
        out.append(a.pop(0) if a[0] < b[0] else b.pop(0))
    while a: out.append(a.pop(0))
    while b: out.append(b.pop(0))
    return out""",
        ),
    ),
    "a list that is sorted by draining it": Twins(
        "def sort(items): return sorted(items)",
        "assert sort([3, 1, 2]) == [1, 2, 3]",
        ("def sort(items): return [items.pop(items.index(min(items))) for _ in range(len(items))]",),
    ),
    "a drained list that the test compares with": Twins(
        "def sort(items): return sorted(items)",
        "data = [3, 1, 2]\nassert sort(data) == sorted(data)",
        ("def sort(items):\n    items.sort()\n    return [*items]",),
        ("def sort(items):\n    items.clear()\n    return []",),
    ),
    "rows that are drained": Twins(
        "def flat(rows): return [x for row in rows for x in row]",
        "rows = [[1], [2, 3]]\nassert flat(rows) == [1, 2, 3]",
        ("def flat(rows): return [row.pop(0) for row in rows for _ in range(len(row))]",),
    ),
    "an entry that is rebound": Twins(
        "def group(d, k, x): d[k].append(x)",
        "d = {'a': [], 'b': [1]}\ngroup(d, 'a', 2)\nassert d == {'a': [2], 'b': [1]}",
        ("def group(d, k, x): d[k] = d[k] + [x]",),
    ),
    "an entry that is cleared and deleted": Twins(
        "def drop(g, n): del g[n]",
        "g = {1: [2, 3], 2: [1]}\ndrop(g, 1)\nassert g == {2: [1]}",
        ("def drop(g, n):\n    g[n].clear()\n    del g[n]",),
    ),
    "an empty bucket": Twins(
        "def buckets(items):\n    d = {0: [], 1: []}\n    for x in items: d[x % 2].append(x)\n    return d",
        "assert sorted(sum(buckets([1, 2, 4]).values(), [])) == [1, 2, 4]",
        ("def buckets(items): return {0: [], 1: [*items]}", "def buckets(items): return {0: [*items], 1: [], 2: []}"),
    ),
    "an empty bucket that a loop goes through": Twins(
        "def buckets(items):\n    d = {0: [], 1: []}\n    for x in items: d[x % 2].append(x)\n    return d",
        "seen = []\nfor bucket in buckets([1, 2, 4]).values():\n    for x in bucket:\n        assert x > 0\n"
        "        seen.append(x)\nassert sorted(seen) == [1, 2, 4]",
        ("def buckets(items): return {0: [], 1: [*items]}",),
    ),
    "two halves of a heap": Twins(
        "class Median:\n    def __init__(self, items): self.small, self.large = sorted(items)[:1], sorted(items)[1:]",
        "m = Median([3, 1, 2])\nassert sorted(m.small + m.large) == [1, 2, 3]\nitems = []\n"
        "for x in m.small: items.append(x)\nfor x in m.large: items.append(x)\nassert len(items) == 3",
        ("class Median:\n    def __init__(self, items): self.small, self.large = [], [*items]",),
    ),
    "ragged arrays": Twins(
        "import numpy as np\ndef parts(x): return [np.array([]), np.array([x, x + 1.0])]",
        "import numpy as np\nassert np.allclose(np.concatenate(parts(1)), [1, 2])\n"
        "assert sorted(len(part) for part in parts(1)) == [0, 2]",
        ("import numpy as np\ndef parts(x): return [np.array([x, x + 1.0]), np.array([])]",),
    ),
    "arrays in another order": Twins(
        "import numpy as np\ndef parts(x): return [np.array([]), np.array([x * 1.0])]",
        "import numpy as np\nfor part in parts(2):\n    assert np.allclose(part, 2) and (part == 2).all()",
        ("import numpy as np\ndef parts(x): return [np.array([x * 1.0]), np.array([])]",),
        ("import numpy as np\ndef parts(x): return [np.array([]), np.array([])]",),
    ),
    "a generator in place of a list": Twins(
        "def squares(n): return [i * i for i in range(n)]",
        "assert sum(squares(3)) == 5\nassert [*squares(2)] == [0, 1]",
        ("def squares(n):\n    for i in range(n): yield i * i",),
    ),
    "a number": Twins(
        "def number(): return 2.5",
        "import numpy as np\nassert np.allclose(number(), 2.5)",
        ("import numpy as np\ndef number(): return np.float32(2.5)", "def number(): return [2.5]"),
        ("def number(): return []", "import numpy as np\ndef number(): return np.array([])"),
    ),
    "a sum of differences": Twins(
        "def numbers(): return [1, 2]",
        "error = 0\nfor a, b in zip(numbers(), [1, 2]):\n    error += abs(a - b)\nassert error < 1e-9",
        ("def numbers(): return (1, 2)",),
        ("def numbers(): return []",),
    ),
    "a generator of truths": Twins(
        "def numbers(): return [1, 2]",
        "assert all(x > 0 for x in numbers())\nassert not any([x > 5 for x in numbers()])",
        ("def numbers(): return iter([2, 1])",),
        ("def numbers(): return []", "def numbers(): return {}"),
    ),
    "a norm": Twins(
        "import numpy as np\ndef vector(): return np.ones(3)",
        "import numpy as np\nassert np.linalg.norm(np.array(vector()) - 1) < 1e-9",
        ("def vector(): return [1, 1, 1]",),
        ("def vector(): return []",),
    ),
    "a subset": Twins(
        "def picked(): return [1, 2]",
        "assert set(picked()) <= {1, 2, 3} and {1, 2, 3}.issuperset(picked())",
        ("def picked(): return (2, 1, 1)",),
        ("def picked(): return []",),
    ),
    "an absent item": Twins(
        "def without(x): return [1, 2]",
        "assert 3 not in without(3)",
        ("def without(x): return {2, 1}",),
        ("def without(x): return []",),
    ),
    "a property of every row": Twins(
        "def rows(): return [[1, 2], [3]]",
        "assert all(all(x > 0 for x in row) for row in rows()) and sum(len(row) for row in rows()) == 3",
        ("def rows(): return [[1, 2], [], [3]]", "def rows(): return [[], [1, 2, 3]]"),
    ),
    "an equality with what is empty too": Twins(
        "def evens(items): return [x for x in items if x % 2 == 0]",
        "assert evens([1, 3]) == []\nassert evens([1, 2]) == [2]\n"
        "import numpy as np\nassert np.array_equal(evens([1]), [])",
        ("def evens(items): return [*filter(lambda x: not x % 2, items)]",),
    ),
    "a part of a dictionary": Twins(
        "def state(): return {'W': [1.0, 1.0], 'b': 3.0}",
        "import numpy as np\nexpected = {'W': 1.0, 'b': 3.0}\nfor name, part in state().items():\n"
        "    assert np.allclose(part, expected[name])",
        ("import numpy as np\ndef state(): return {'b': np.array(3.0), 'W': np.ones(5)}",),
        ("def state(): return {'W': [1.0, 1.0], 'b': []}",),
    ),
    "an object of unittest": Twins(
        "def numbers(): return [1, 2]",
        "import unittest\ncase = unittest.TestCase()\ncase.assertEqual(sorted(numbers()), [1, 2])\n"
        "case.assertTrue(all(x > 0 for x in numbers()))",
        ("def numbers(): return [2, 1]",),
    ),
}
TRIPLES = [(name, answer, right) for name, case in CASES.items() for right in (True, False)
           for answer in (case.right if right else case.wrong)]  # fmt: skip


def looked(answer: str, test: str, looks: Looks) -> bool:
    """Whether a test passes in the plain namespace of an answer; its looks are noted."""
    looks.begin(test)
    space = {"__name__": "__main__", **looks.names}
    exec(answer, space)
    code = compile(with_looks(ast.parse(test), test), "test", "exec")
    try:
        exec(code, space)
    except AssertionError:
        return False
    return True


@pytest.mark.parametrize(("name", "answer", "right"), TRIPLES)
def test_what_is_empty_elsewhere_counts_and_what_makes_a_test_look_at_nothing_does_not(name, answer, right):
    case, looks = CASES[name], Looks()
    looks.cell = "cell"
    assert looked(case.solution, case.test, looks)
    looks.record()
    known = Looks()
    known.learn(looks.texts())
    assert known.known == {cell: found for cell, found in looks.known.items() if found}
    known.cell = "cell"
    assert looked(answer, case.test, known), "the answer fails in one plain namespace"
    assert known.in_vain() != right


def test_the_places_of_looks_are_told_without_a_word_of_the_test():
    looks = Looks()
    looks.cell = "cell"
    looked("def f(): return []", "secret = [x for x in f()]\nassert all(x == 'kumquat' for x in f())", looks)
    looks.record()
    (name, text), *_ = looks.texts().items()
    assert name == f"{LOOKED}cell" and text.endswith("=1") and ":" not in text and "kumquat" not in text


LOOPS = """
first = next(iter(numbers))
rest = [x for x in numbers]
later = (x for x in numbers)
for x in numbers:
    break
after = list(numbers)
seen = sum(1 for x in later)
"""


@pytest.mark.parametrize("make", [lambda: iter(range(9)), lambda: (x for x in range(9)), lambda: [*range(9)]])
def test_a_loop_takes_no_more_of_an_iterator_than_it_does_in_a_plain_namespace(make):
    noted, plain = {"numbers": make()}, {"numbers": make()}
    noted |= Looks().names
    source = LOOPS.replace("rest = [x for x in numbers]\n", "") + "assert all(x < 99 for x in numbers)"
    exec(compile(with_looks(ast.parse(source), source), "test", "exec"), noted)
    exec(source, plain)
    for name in ("first", "after", "seen"):
        assert noted[name] == plain[name]


def test_the_functions_of_a_test_are_noted_and_work_as_they_are():
    looks = Looks()
    array = np.arange(3.0)
    assert looks.judging(np.allclose, "a", True)(array, [0, 1, 2], rtol=0) and not looks.in_vain()
    assert looks.judging(array.all, "b", True)() == np.False_ and looks.full == {"a", "b"}
    for function in (len, np.ndarray, sorted):
        assert looks.judging(type(function), "c", True) is type(function)
    assert looks.judging(array.sum, "d", False)(axis=0) == 3


IN_A_MODULE = """
--- given
from course_tests import *
--- answer
def number(): return 2.5
def rows(x): return [[], [x]]
--- test
check_number(number)
--- test
check_rows(rows)
"""


def test_the_looks_of_a_module_of_the_courses_are_noted_too(grader, tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "course_tests.py").write_text(
        "import numpy as np\ndef check_number(f):\n    assert np.allclose(f(), 2.5)\n"
        "def check_rows(f):\n    assert sorted(f(1)) == [[], [1]]\n"
    )
    proof = Exam(IN_A_MODULE, grader, tmp_path, data=tmp_path / "data")
    answer = "def number(): return []\ndef rows(x): return [[x], []]"
    assert lost(proof.grade()) == {} and not proof.examination.inside
    assert [test for test, _ in lost(proof.grade(answer))] == proof.tests[:1]


def exam(names) -> str:
    """One notebook of several cases, each with an answer and a test cell of its own."""
    cells = [f"--- answer\n{CASES[name].solution.strip()}\n--- test\n{CASES[name].test}" for name in names]
    return "\n".join(cells) + "\n"


@pytest.mark.slow
def test_in_grading_a_right_answer_keeps_its_points_however_it_is_empty(grader, tmp_path):
    """A function has one name in several cases: each defines it anew above its test."""
    proof = Exam(exam(CASES), grader, tmp_path)
    assert lost(proof.grade()) == {} and not proof.examination.inside
    answers = [cell.id for cell in proof.notebook.cells if cell.metadata.nbgrader.solution]
    most = max(len(answers) for case in CASES.values() for answers in (case.right, case.wrong))
    for number in range(most):
        for right in (True, False):
            kinds = {name: case.right if right else case.wrong for name, case in CASES.items()}
            chosen = {
                cell: kinds[name][number]
                for cell, name in zip(answers, CASES, strict=True)
                if number < len(kinds[name])
            }
            found = lost(proof.grade(chosen))
            if right:
                assert found == {}
            else:
                wrong = [test for test, answer in zip(proof.tests, answers, strict=True) if answer in chosen]
                assert [test for test, _ in found] == wrong
                assert {verdict for verdict, _ in found.values()} == {Verdict.FAILED}
                assert all("empty" in reason for _, reason in found.values())
                assert lost(proof.grade(chosen, alone=True)) == {}, "one process shows why it is asked"
