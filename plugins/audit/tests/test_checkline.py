"""Lines that tell a mutant from the solution: short, passed by the solution, failed by the mutant, or a reason."""

from __future__ import annotations

import re

import numpy as np
import pytest

from viva_audit.checkline import Search, bare, smaller_calls, written
from viva_audit.witness import Watch

CENTRE = "def f(table):\n    return table - np.mean(table, axis=0)"
TABLE = np.array([[1.5, 2.25, -1.0], [3.125, 6.5, 0.5], [0.75, -2.0, 1.0], [0.1, 0.2, 0.3]])


def search(solution: str, mutant: str, *calls: tuple, name: str = "f", numpy: bool = True) -> tuple[list[str], str]:
    """The visible lines that are found, and the reason where there is none; the calls are positional."""
    namespace: dict = {"__name__": "__main__"} | ({"np": np} if numpy else {})
    watch = Watch(namespace)
    watch.before()
    exec(solution, namespace)
    watch.after([name])
    watch.calls[name] = [(call, {}) for call in calls]
    watch.restore()
    exec(mutant, namespace)
    found = Search(watch).lines([name])
    for line in found["lines"]:
        for code in (line["visible"], line["hidden"]):
            assert passes(solution, code, numpy) and not passes(mutant, code, numpy)
    return [line["visible"] for line in found["lines"]], found["reason"]


def passes(definition: str, code: str, numpy: bool) -> bool:
    scope: dict = {"np": np} if numpy else {}
    exec(definition, scope)
    try:
        exec(code, scope)
    except Exception:
        return False
    return True


def test_numbers_become_small():
    lines, _ = search("def f(n):\n    return 2 * n", "def f(n):\n    return n + 2", (17,), (250,), (2,))
    assert re.fullmatch(r'assert f\((\d)\) == (\d+), "f\(\1\) should be \2\."', lines[0])


def test_a_list_loses_what_makes_no_difference():
    lines, _ = search(
        "def f(words):\n    return sorted(words)",
        "def f(words):\n    return sorted(set(words))",
        (["ant", "bee", "cow", "bee", "dog"],),
    )
    assert len(lines[0].partition(" == ")[0]) < 30


@pytest.mark.parametrize(
    "mutant",
    [
        "def f(table):\n    return table - np.mean(table, axis=1, keepdims=True)",
        "def f(table):\n    return np.round(table - np.mean(table, axis=0), 1)",
        "def f(table):\n    return np.ravel(table - np.mean(table, axis=0))[:0]",
        "def f(table):\n    return (table - np.mean(table, axis=0)).T",
    ],
)
def test_an_array_becomes_small_and_its_shape_counts_where_values_do_not(mutant):
    lines, _ = search(CENTRE, mutant, (TABLE,))
    assert lines and "np.allclose(" in lines[0] and len(lines[0]) < 220
    assert not re.search(r"\d\.\d{9}", lines[0])


def test_an_argument_that_must_stay_as_it_is_is_looked_at_after_the_call():
    spoilt = "def f(table):\n    result = table - np.mean(table, axis=0)\n    table[0] = 0\n    return result"
    lines, _ = search(CENTRE, spoilt, (TABLE,))
    assert lines[0].startswith("table = np.array(") and "\nf(table)\nassert " in lines[0]
    assert "table should stay as it is." in lines[0]


def test_an_error_that_the_solution_raises_on_purpose_is_asked_for():
    guard = "def f(n):\n    if n < 1:\n        raise ValueError('no')\n    return n"
    lines, _ = search(guard, "def f(n):\n    return n", (3,), (5,))
    assert lines[0].startswith("try:\n    f(") and "except ValueError:" in lines[0]


def test_results_with_arrays_in_them_are_compared_part_by_part():
    pair = "def f(table):\n    return np.sum(table, axis=0), 3"
    lines, _ = search(pair, "def f(table):\n    return np.sum(table, axis=0), 4", (TABLE,))
    assert "result[1] == 3" in lines[0]


def test_without_numpy_one_number_is_compared_by_its_distance():
    lines, _ = search("def f(x):\n    return x / 4", "def f(x):\n    return x / 5", (3.0,), numpy=False)
    assert re.match(r"assert abs\(f\([\d.]+\) - [\d.]+\) < 1e-6, ", lines[0])


def test_without_numpy_some_numbers_are_compared_one_by_one_and_large_ones_by_their_size():
    """A public course on quadratic equations uses NumPy in its tests alone: none of 53 mutants got a line."""
    roots = "def f(b, c):\n    d = b * b - 4 * c\n    x = (-b - d ** 0.5) / 2.0\n    return x, c / x"
    lines, _ = search(roots, roots.replace("- d", "+ d"), (4.0, 3.0), (1e10, 3.0), (0.5, 4.0), numpy=False)
    assert lines and all("abs(result[0] - " in line and "abs(result[1] - " in line for line in lines)
    lines, _ = search("def f(x):\n    return x * 2.5e9", "def f(x):\n    return x * 2.4e9", (3.0,), numpy=False)
    assert re.search(r"\) < [\d]e[34], ", lines[0])


def test_a_value_is_compared_by_its_name():
    lines, _ = search("f = 6 * 7", "f = 6 + 7")
    assert lines == ['assert f == 42, "f should be 42."']


@pytest.mark.parametrize(
    ("solution", "mutant", "call", "reason"),
    [
        ("def f(n):\n    return n", "def f(n):\n    return float(n)", (3,), "as with 2 and 2.0"),
        (
            "def f(n):\n    return np.random.rand(n)",
            "def f(n):\n    return np.random.rand(n) + 1",
            (3,),
            "gives other results for other random numbers",
        ),
        ("def f(g):\n    return g(2)", "def f(g):\n    return g(3)", (lambda x: x,), "of type function"),
        ("def f(n):\n    return lambda: n", "def f(n):\n    return None", (3,), "result of type function"),
    ],
)
def test_where_no_line_can_be_written_the_reason_is_named(solution, mutant, call, reason):
    lines, said = search(solution, mutant, call)
    assert not lines and reason in said


def test_written_values_are_the_values():
    for value in (1, 2.5, "a'b", 'say "x"', [1, (2,), {"a": {1, 2}}], set(), frozenset({3}), range(3), None, b"x"):
        assert eval(written(value)) == value
    for array in (TABLE, np.zeros((0, 3)), np.arange(3, dtype=np.int32), np.array([True]), np.float32([1.5])):
        again = eval(written(array))
        assert again.dtype == array.dtype and np.array_equal(again, array)
    assert bare(np.array([1 / 3])) == "[0.33333333]"


def test_sizes_that_belong_together_shrink_together():
    call = (np.ones((4, 3)), [1, 2, 3, 4]), {}
    shapes = {(np.shape(args[0]), len(args[1])) for (args, _) in smaller_calls(call)}
    assert ((2, 3), 2) in shapes
