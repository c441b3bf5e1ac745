"""Test code that goes by the names of the notebook, which it can ask for one by one, and not all at once."""

from __future__ import annotations

import pytest

from tests.oral import Exam

ANSWERS = '''
--- answer
def f(x):
    """
    >>> f(1)
    2
    """
    return g(x) + 1
def g(x): return x
def check_f(): assert f(1) == 2
--- wrong
def f(x):
    """
    >>> f(1)
    2
    """
    return x
def g(x): return x
def check_f(): assert f(1) == 2
--- right
class Helper:
    def __len__(self): return 1
def f(x): "like ``>>> f(1)``"; return g(x) + len(helper)
def g(x): return x
def check_f(): assert f(1) == 2
helper = Helper()
--- test
'''

SPLIT = {
    "imported from __main__": "from __main__ import f as h\nassert h(1) == 2",
    "an attribute of __main__": "import __main__\nassert __main__.f(1) == 2 and hasattr(__main__, 'g')",
    "an attribute of the module itself": "import sys\nassert getattr(sys.modules[__name__], 'f')(1) == 2",
    "looked up in vars of __main__": "import __main__\nassert 'g' in vars(__main__) and vars(__main__)['f'](1) == 2",
    "looked up among the keys": "assert 'f' in globals().keys() and 'h' not in globals() and globals()['f'](1) == 2",
    "names of the test's own in __main__": (
        "one = 1\nfrom __main__ import one as first\nimport __main__\n"
        "assert f(first) == 2 and not hasattr(__main__, 'nothing') and not hasattr(__main__, 'len')"
    ),
    "timeit": (
        "import timeit\nassert f(1) == 2\n"
        "assert timeit.timeit('f(3)', 'from __main__ import f', number=1) < 9\n"
        "assert timeit.timeit('f(3)', globals=globals(), number=1) < 9"
    ),
    "a class of the test's own, pickled": (
        "import pickle\nclass Point:\n    def __init__(self, x): self.x = x\n"
        "assert pickle.loads(pickle.dumps(Point(f(1)))).x == 2"
    ),
    "unittest by name": (
        "import unittest\nclass T(unittest.TestCase):\n    def test_f(self): self.assertEqual(f(1), 2)\n"
        "assert unittest.main(argv=['', 'T'], exit=False).result.wasSuccessful()"
    ),
}
"""What works in two processes."""

INSIDE = {
    "unittest.main": (
        "import unittest\nclass T(unittest.TestCase):\n    def test_f(self): self.assertEqual(f(1), 2)\n"
        "assert unittest.main(argv=[''], exit=False).result.wasSuccessful()"
    ),
    "unittest's loader": (
        "import sys, unittest\nclass T(unittest.TestCase):\n    def test_f(self): self.assertEqual(f(1), 2)\n"
        "suite = unittest.TestLoader().loadTestsFromModule(sys.modules['__main__'])\n"
        "assert unittest.TextTestRunner().run(suite).wasSuccessful()"
    ),
    "doctest.testmod": "import doctest\nassert doctest.testmod().failed == 0",
    "a text of doctest's": "import doctest\n__test__ = {'f': '>>> f(1)\\n2'}\nassert doctest.testmod().failed == 0",
    "all members of the module": (
        "import inspect, sys\nfor name, value in inspect.getmembers(sys.modules[__name__]):\n"
        "    if name.startswith('check_'): value()"
    ),
    "all items": "for name, value in list(globals().items()):\n    if name == 'f': assert value(1) == 2",
    "all values": "for value in list(vars().values()):\n    if getattr(value, '__name__', '') == 'check_f': value()",
    "all names": "for name in list(globals()):\n    if name.startswith('check_'): globals()[name]()",
    "a copy": "for name, value in globals().copy().items():\n    if name == 'f': assert value(1) == 2",
    "a dict of them": "for name, value in dict(globals()).items():\n    if value and name == 'f': assert value(1) == 2",
    "a dict unpacked": "for name, value in {**vars()}.items():\n    if value and name == 'f': assert value(1) == 2",
    "a dict and more": "if (names := globals() | {'a': 1})['f']: assert names['f'](1) == 2",
    "import *": "from __main__ import *\nassert f(1) == 2",
    "a name that is bound there": "import __main__\n__main__.g = lambda x: 10\nassert f(1) == 11",
    "a name that is bound and bound again": (
        "keep = g\nglobals()['g'] = lambda x: 1\nassert f(5) == 2\nglobals().update(g=keep)\nassert f(1) == 2"
    ),
    "a name that is deleted": "assert f(1) == 2\ndel globals()['f']\nassert 'f' not in globals()",
}
"""What goes through all names, or changes them behind the text: a test that found none would pass for everybody."""


@pytest.mark.parametrize("way", SPLIT)
def test_names_are_asked_for_one_by_one(way, grader, tmp_path):
    Exam(ANSWERS + SPLIT[way], grader, tmp_path).prove()


@pytest.mark.thorough
@pytest.mark.parametrize("way", INSIDE)
def test_a_test_that_goes_through_all_names_runs_where_they_are(way, grader, tmp_path):
    Exam(ANSWERS + INSIDE[way], grader, tmp_path).prove(inside=True)


GIVEN = """
--- answer
def f(x): return x + 1
--- wrong
def f(x): return x
--- wrong
def f(x): return x
expected = 1
--- given
import doctest, inspect, sys
assert "f" in globals() and hasattr(sys.modules["__main__"], "f"), "run the cell above first"
doctest.testmod()
mine = [name for name, value in list(globals().items()) if name == "doctest"]
members = inspect.getmembers(sys.modules["__main__"], inspect.ismodule)
expected = 2
--- test
assert f(1) == expected and mine == ["doctest"] and members
"""


def test_a_given_cell_may_go_through_all_names(grader, tmp_path):
    exam = Exam(GIVEN, grader, tmp_path)
    assert [exam.check(variant.answers).verdict.value for variant in exam.variants] == ["failed", "failed"]
    assert exam.check().verdict.value == "passed" and not exam.examination.inside
