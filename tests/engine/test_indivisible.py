"""Tests that forbid what students might use pass the solution in two processes, and see who does in one."""

from __future__ import annotations

import pytest

from tests.oral import Exam

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
    "the source in a try": (
        SUM,
        "import inspect\ntry: text = inspect.getsource(f)\nexcept (OSError, TypeError): text = ''\n"
        "assert 'sum(' not in text",
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
    "a module that is done with": "import json\nassert json.dumps(f([1, 2])) == '3'\ndel json",
}
"""What has nothing to do with what students use."""


@pytest.mark.parametrize("way", QUIET)
def test_what_tests_change_for_their_own_sake_keeps_them_apart_from_the_student(way, grader, tmp_path):
    Exam(ANSWERS.replace("{used}", "0") + QUIET[way], grader, tmp_path).prove()


DEEP = """
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
"""


def test_a_limit_that_a_test_raises_holds_for_the_student(grader, tmp_path):
    Exam(DEEP, grader, tmp_path).prove(inside=True)


CAPTURED = """
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
"""


def test_what_a_cell_captures_is_read_by_the_cell_below(grader, tmp_path):
    Exam(CAPTURED, grader, tmp_path).prove(inside=True)
