"""A mutant is called equal only where it was compared; what cannot be compared is unproven, with the reason."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from viva.notebook.names import names_of
from viva_audit import witness
from viva_audit.structures import WAYS, Pool
from viva_audit.trimming import never_used
from viva_audit.witness import ENOUGH, TRIALS, Comparing, Different, Unproven, Watch

BLOCK = {"W": np.ones((3, 2)), "b": np.ones(2), "more": [np.ones(3), {"scale": 2.0}]}


def layer(rows, block, mask=None):
    product = rows @ block["W"] + block["b"] if mask is None else (rows * mask[:, None]) @ block["W"] + block["b"]
    return product * block["more"][1]["scale"], np.sum(block["more"][0])


CALLS = [((np.ones((n, 3)), BLOCK, mask), {}) for n, mask in ((4, None), (1, None), (4, np.ones(4, bool)))]


def unlike(old, new, calls) -> str:
    """What is said of the difference of two functions; empty where they are equal."""
    try:
        Comparing(Watch({})).unlike("f", old, new, calls)
    except (Different, Unproven) as error:
        return str(error)
    return ""


def same_by_einsum(rows, block, mask=None):
    rows = rows if mask is None else np.where(mask[:, None], rows, 0.0)
    return (np.einsum("nd,de->ne", rows, block["W"]) + block["b"]) * block["more"][1]["scale"], block["more"][0].sum()


def without_bias(rows, block, mask=None):
    return layer(rows, block | {"b": 0 * block["b"]}, mask)


def forgets_the_mask(rows, block, mask=None):
    return layer(rows, block)


def pops_the_bias(rows, block, mask=None):
    result = layer(rows, block, mask)
    del block["b"]
    return result


def test_functions_of_tables_of_arrays_are_found_equal_on_random_ones():
    assert unlike(layer, same_by_einsum, CALLS) == ""


@pytest.mark.parametrize("other", [without_bias, forgets_the_mask, pops_the_bias])
def test_functions_of_tables_of_arrays_are_told_apart(other):
    assert unlike(layer, other, CALLS)


def test_that_ones_do_not_tell_functions_apart_is_no_proof():
    def only_for_ones(rows, block, mask=None):
        return layer(rows, block | {"W": np.ones_like(block["W"])}, mask)

    assert unlike(layer, only_for_ones, CALLS) == "f returns something else"


def test_numbers_as_arguments_are_no_array_of_them():
    calls = [((3, 4.0), {}), ((2, 1.0), {})]
    assert unlike(lambda n, x: n * x, lambda n, x: x * n, calls) == ""
    assert unlike(lambda n, x: n * x, lambda n, x: n + x, calls) == "f returns something else"


def test_a_slow_function_is_tried_with_noted_and_random_calls_until_its_time_is_over(monkeypatch):
    monkeypatch.setattr(witness, "SECONDS", 0.0)
    tried = []

    def counting(x):
        tried.append(x)
        return 2 * x

    calls = [((np.arange(3.0) + number,), {}) for number in range(60)]
    assert unlike(lambda x: x + x, counting, calls) == ""
    assert ENOUGH < len(tried) < TRIALS
    assert sum(any(np.array_equal(x, call[0][0]) for call in calls) for x in tried) >= ENOUGH // 2


def compared(solution: str, mutant: str, tests: str, given: str = "", unused: bool = False) -> dict:
    """What is said of a mutant of a notebook with one answer."""
    namespace: dict = {"__name__": "__main__"}
    exec("import numpy as np\n" + given, namespace)
    watch, names = Watch(namespace), names_of(solution)
    assert names is not None
    watch.before()
    exec(solution, namespace)
    watch.after(sorted(names.bound))
    watch.note(sorted(names.bound))
    exec(tests, namespace)
    watch.restore()
    exec(mutant, namespace)
    used = names_of(tests)
    assert used is not None
    touched = sorted(names.needed | names.bound)
    if unused:
        return watch.difference(sorted(used.needed), touched, never_used(names, used.needed), solution, mutant)
    return watch.difference(sorted(used.needed | names.bound), touched, (), solution, mutant)


def weak_exercises() -> list:
    """The mutants of ``weak_tests.txt``, each with its exercise and what is said of it."""
    rows = []
    for block in (Path(__file__).parent / "weak_tests.txt").read_text().split("\n==== ")[1:]:
        name, solution = block.split("\n---- tests\n")[0].split("\n", 1)
        tests, mutants = block.split("\n---- tests\n")[1].split("\n---- mutants\n")
        for line in mutants.strip("\n").split("\n"):
            old, new, said = line.split(" => ")
            rows.append(pytest.param(solution, tests, old, new, said, id=f"{name}: {old} -> {new}"))
    return rows


@pytest.mark.parametrize(("solution", "tests", "old", "new", "said"), weak_exercises())
def test_a_mutant_that_weak_tests_let_pass_is_equal_only_where_no_input_tells_it_apart(solution, tests, old, new, said):
    assert old in solution
    found = compared(solution, solution.replace(old, new), tests)
    assert f"{found['state']}: {found['note']}" == said if ":" in said else found["state"] == said, found


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_objects_that_know_each_other_get_another_shape_in_the_end(way):
    namespace: dict = {"__name__": "__main__"}
    exec("class Node: pass\nnode = Node()\nnode.before = node.next = node", namespace)
    for seed in range(40):
        assert isinstance(way(namespace["node"], Pool([]), np.random.RandomState(seed)), namespace["Node"])


FRAME = """
def describe(table):
    means = table.groupby("kind").mean()
    return means.reset_index()
"""
FRAME_TEST = """
import pandas as pd
table = pd.DataFrame({"kind": ["a", "b", "a", "b"], "x": [1.0, 2.0, 4.0, 3.0], "y": [2.0, 1.0, 0.0, 5.0]})
assert list(describe(table).columns) == ["kind", "x", "y"]
"""
SLOPE = """
def variance(table):
    X = np.column_stack([np.ones(len(table)), table[["x", "z"]]])
    n, k = X.shape
    beta = np.linalg.lstsq(X, table["y"], rcond=None)[0]
    return float(np.sum((table["y"] - X @ beta) ** 2) / (n - k))
"""
SLOPE_TEST = """
import pandas as pd
table = pd.DataFrame({"y": [1.0, 2.0, 4.0, 3.0, 9.0, 7.0], "x": [0.0, 1, 2, 3, 4, 5], "z": [1.0, 0, 2, 1, 0, 3]})
variance(table)
"""
STACK = """
class Stack:
    def __init__(self, size):
        self.size, self._items = size, []
    def push(self, item):
        if len(self._items) == self.size:
            raise ValueError("full")
        self._items.append(item)
        return len(self._items)
    def pop(self):
        return self._items.pop() if self._items else None
    def top(self):
        return self._items[-1]
"""
STACK_TEST = "s = Stack(2)\nassert s.push(3) == 1\nassert s.push(4) == 2\nassert s.pop() == 4"
COUNTER = """
def counter(step):
    count = 0
    def add(by):
        nonlocal count
        count += step * by
        return count
    return add
"""
COUNTER_TEST = "add = counter(2)\nassert add(3) == 6"
FRACTION = "from fractions import Fraction\ndef half(x):\n    return x / 2 + Fraction(1, 3)"
FRACTION_TEST = "from fractions import Fraction\nhalf(Fraction(1, 2)); half(Fraction(3, 5))"
SQUARES = "def squares(n):\n    for i in range(n):\n        yield i * i"
SQUARES_TEST = "assert list(squares(3)) == [0, 1, 4]"
GUARD = "def root(x):\n    if x < 0:\n        raise ValueError('negative')\n    return x ** 0.5"
GUARD_TEST = "root(4.0); root(2.0)"
MONEY = """
class Money:
    def __init__(self, amount):
        self.amount = amount
    def __eq__(self, other):
        return self.amount == other.amount
    def twice(self):
        return Money(2 * self.amount) == Money(self.amount + self.amount)
"""
SERIES = "def ranked(values):\n    return values.sort_values()"
SERIES_TEST = "import pandas as pd\nranked(pd.Series([3.0, 1.0, 2.0], index=list('abc')))"


@pytest.mark.parametrize(
    ("solution", "tests", "old", "new"),
    [
        (FRAME, FRAME_TEST, "return means.reset_index()", "return -means"),
        (FRAME, FRAME_TEST, "mean()", "sum()"),
        (FRAME, FRAME_TEST, "return means.reset_index()", "return np.nan * means"),
        (SLOPE, SLOPE_TEST, "n, k = X.shape", "n, k = table.shape"),
        (SERIES, SERIES_TEST, "sort_values()", "sort_index()"),
        (STACK, STACK_TEST, "== self.size", "== self.size + 1"),
        (STACK, STACK_TEST, "return len(self._items)", "return 1 + len(self._items)"),
        (STACK, STACK_TEST, "self._items.pop() if", "self._items.pop(0) if"),
        (STACK, STACK_TEST, "self.size, self._items = size", "self.size, self._items = 2 * size"),
        (COUNTER, COUNTER_TEST, "count += step * by", "count = step * by"),
        (COUNTER, COUNTER_TEST, "step * by", "step + by"),
        (FRACTION, FRACTION_TEST, "Fraction(1, 3)", "Fraction(1, 4)"),
        (SQUARES, SQUARES_TEST, "range(n)", "range(n + 1)"),
        (GUARD, GUARD_TEST, "raise ValueError('negative')", "pass"),
        (GUARD, GUARD_TEST, "raise ValueError", "raise TypeError"),
    ],
)
def test_what_differs_is_not_called_equal(solution, tests, old, new):
    assert old in solution
    found = compared(solution, solution.replace(old, new), tests)
    assert found["state"] == "different", found
    assert found["call"] or "no '" in found["note"]


@pytest.mark.parametrize(
    ("solution", "tests", "old", "new"),
    [
        pytest.param(FRAME, FRAME_TEST, 'kind").mean()', "kind\").agg('mean')", marks=pytest.mark.slow),
        (STACK, STACK_TEST, "self._items.append(item)", "self._items += [item]"),
        (STACK, STACK_TEST + "\nimport copy\ncopy.copy(s)", "self._items.append(item)", "self._items += [item]"),
        (COUNTER, COUNTER_TEST, "count += step * by", "count = count + by * step"),
        (FRACTION, FRACTION_TEST, "x / 2", "x * Fraction(1, 2)"),
        (SQUARES, SQUARES_TEST, "i * i", "i ** 2"),
        (GUARD, GUARD_TEST, "x < 0", "not x >= 0"),
        (SERIES, SERIES_TEST, "values.sort_values()", "values.copy().sort_values()"),
    ],
)
def test_what_was_compared_often_enough_without_a_difference_is_equal(solution, tests, old, new):
    found = compared(solution, solution.replace(old, new), tests)
    assert (found["state"], found["note"]) == ("equal", "")
    assert found["calls"] >= ENOUGH and found["inputs"] > 3


@pytest.mark.parametrize(
    ("solution", "tests", "old", "new", "reason"),
    [
        (
            "def use(thing):\n    return 1",
            "use(thing)",
            "return 1",
            "return 2",
            "use: the arguments of its calls cannot be copied",
        ),
        (
            MONEY,
            "Money(3).twice()",
            "self.amount == other.amount",
            "True",
            "Money: no call of __eq__ could be recorded",
        ),
        (
            "def handle(name):\n    return lock()",
            "handle('a')",
            "lock()",
            "lock() or None",
            "handle: two values of type lock cannot be compared",
        ),
    ],
)
def test_what_cannot_be_compared_is_unproven_with_the_reason(solution, tests, old, new, reason):
    given = "from threading import Lock as lock\nthing = lock()"
    found = compared(solution, solution.replace(old, new), tests, given)
    assert (found["state"], found["note"]) == ("unproven", reason)


@pytest.mark.parametrize(
    ("solution", "tests", "old", "new", "note"),
    [
        (STACK, STACK_TEST, "return self._items[-1]", "return self._items[0]", "no test calls Stack.top"),
        (COUNTER, "counter(2)", "step * by", "step + by", "no test calls the function that counter returns"),
        (GUARD, "root", "x < 0", "x > 0", "no test calls root"),
        (f"{GUARD}\ntriple = 3", "triple", "x < 0", "x > 0", "no test uses root"),
        ("total = 3", "pass", "3", "4", "no test and no later cell uses anything of this answer"),
    ],
)
def test_what_no_test_calls_has_survived(solution, tests, old, new, note):
    """All nine mutants of a function that no test called were equal, on no input."""
    found = compared(solution, solution.replace(old, new), tests, unused=True)
    assert (found["state"], found["note"]) == ("different", note)


DATE = 'import re\ndef is_date(text):\n    return bool(re.fullmatch(r"[0-3]\\d\\.[01]\\d\\.\\d{4}", text))'
DAYS = """
def days(month):
    if month < 1 or month > 12:
        raise ValueError("no month")
    return 28 if month == 2 else 30 + (month in (1, 3, 5, 7, 8, 10, 12))
"""
DEPTH = "def depth(tree):\n    return 0 if tree is None else 1 + max(depth(tree[1]), depth(tree[2]))"
DEPTH_TEST = "depth((3, (1, (0, None, None), None), None)); depth((2, None, None))"
PRICE = "def price(x):\n    return f'{x:.2f} EUR'"
RUNNING = "def running(items):\n    total = 0\n    for item in items:\n        total += item\n        yield total"
WHOLE = "def half(x):\n    if not isinstance(x, (int, float)):\n        raise TypeError('no number')\n    return x / 2"


@pytest.mark.parametrize(
    ("solution", "tests", "old", "new"),
    [
        (DATE, "is_date('31.12.2024')", "fullmatch", "match"),
        (DATE, "is_date('31.12.2024')", "{4}", "+"),
        (DATE, "is_date('31.12.2024')", r"\d\.[01]", r"\d.[01]"),
        (DATE, "is_date('31.12.2024')", "[0-3]", r"\d"),
        (DAYS, "days(1); days(2); days(4)", "> 12", "> 11"),
        (DAYS, "days(1); days(2); days(4)", "8, 10, 12", "8, 10"),
        (DEPTH, DEPTH_TEST, "max(depth(tree[1]), depth(tree[2]))", "depth(tree[1])"),
        (PRICE, "price(1.5); price(2.25)", ".2f", ".1f"),
        (RUNNING, "list(running([1, 2, 3]))", "in items", "in list(items)"),
        (WHOLE, "half(3); half(5)", "(int, float)", "int"),
    ],
)
def test_inputs_come_from_the_constants_patterns_and_shapes_of_the_solution(solution, tests, old, new):
    assert old in solution
    found = compared(solution, solution.replace(old, new), tests)
    assert found["state"] == "different", found


def test_a_difference_is_shown_with_a_short_input_and_both_results():
    found = compared("def double(x):\n    return 2 * x", "def double(x):\n    return x + 2", "double(3); double(5)")
    assert found["state"] == "different"
    number = int(found["call"].removeprefix("double(").removesuffix(")"))
    assert (found["right"], found["wrong"]) == (str(2 * number), str(number + 2))


def test_an_answer_is_compared_with_the_functions_of_its_own_cell():
    """The solution's recursion calls the solution, and not the mutant."""
    solution = "def size(n):\n    return 0 if n < 1 else 1 + size(n - 1)"
    found = compared(solution, solution.replace("0 if", "2 if"), "size(3); size(5)")
    assert (found["state"], found["note"]) == ("different", "size returns something else")


def test_a_generator_of_the_notebook_does_not_make_two_calls_differ():
    solution = "def noisy(x):\n    return x + rng.normal()"
    tests, given = "noisy(1.0); noisy(2.0)", "rng = np.random.default_rng(3)"
    assert (
        compared(solution, solution.replace("x + rng.normal()", "rng.normal() + x"), tests, given)["state"] == "equal"
    )
    assert compared(solution, solution.replace("x + rng", "x - rng"), tests, given)["state"] == "different"


def test_the_spaces_of_a_text_are_shown_and_a_matrix_takes_one_line():
    """As in a table of which a column is one character wider: both results looked the same."""
    assert witness.shown("ab   1.00") == "'ab   1.00'"
    assert witness.shown(np.eye(2)) == "array([[1., 0.], [0., 1.]])"


def parts_of(text, separator=",", keep_empty=False):
    parts = [part.strip() for part in text.split(separator)]
    return parts if keep_empty else [part for part in parts if part]


def never_keeps_empty(text, separator=",", keep_empty=False):
    return [part for part in map(str.strip, text.split(separator)) if part]


def ranking(scores):
    return [name for name, _ in sorted(scores.items(), key=lambda pair: (-pair[1], pair[0]))]


def ranking_without_names(scores):
    return [name for name, _ in sorted(scores.items(), key=lambda pair: -pair[1])]


def depth(tree):
    return 1 + max(map(depth, tree), default=0) if isinstance(tree, list) else 0


def depth_of_no_empty_branch(tree):
    return 1 + max(map(depth_of_no_empty_branch, tree), default=1) if isinstance(tree, list) else 0


@pytest.mark.parametrize(
    ("right", "wrong", "value"),
    [
        (parts_of, never_keeps_empty, "a, b"),
        (ranking, ranking_without_names, {"ann": 3, "bob": 5}),
        (depth, depth_of_no_empty_branch, [[1], 2]),
    ],
    ids=["a flag that no call hands over", "a tie in another order", "an empty branch"],
)
def test_what_one_example_never_shows_is_tried(right, wrong, value):
    """Each was called equal on 350 calls, as no drawn input had what tells them apart."""
    assert unlike(right, wrong, [((value,), {})])
    assert unlike(right, right, [((value,), {})]) == ""
