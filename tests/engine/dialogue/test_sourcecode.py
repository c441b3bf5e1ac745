"""Tests may look at the source and the signature of an answer, and run where the student is not."""

from __future__ import annotations

import pytest

from tests.oral import Exam, lost
from viva.engine.dialogue.expected import path_of
from viva.engine.dialogue.sourcecode import definitions

SOURCES = """
--- given
import ast, inspect, math, re
from functools import lru_cache, wraps
from inspect import getsource, getsourcelines
--- answer
def total(xs):
    result = 0
    for x in xs: result += x
    return result
class Model:
    def fit(self, x):
        return self
    def score(self): return 1
--- right
@lru_cache
def total(xs):
    # no s.u.m here
    i, result = 0, 0
    while i < len(xs):
        result, i = result + xs[i], i + 1
    return result  # done
    # and a last line
class Model:
    def fit(self, x): return self
    def score(self): return 1
--- right
def counted(function):
    @wraps(function)
    def inner(*args): return function(*args)
    return inner
@counted
def total(xs):
    if len(xs) == 0: return 0
    return xs[0] + total(xs[1:])
class Model:
    def fit(self, x):
        self.x = x
        return self
    score = lambda self: 1
--- wrong
def total(xs): return sum(xs)
class Model:
    def fit(self, x): return min(x)
    def score(self): return 1
--- wrong
total = sum
Model = dict
--- test
### CHECK 1: a word
assert total((1, 2)) == 3
try: text = inspect.getsource(total)
except (OSError, TypeError): text = "sum("
assert "sum(" not in text
### CHECK 1: a tree
calls = {node.func.id for node in ast.walk(ast.parse(getsource(total))) if isinstance(node, ast.Call)}
assert "sum" not in calls and "total" in inspect.getsource(total)
### CHECK 1: a method
assert "min(" not in inspect.getsource(Model.fit) and re.search(r"def fit\\(self", getsource(Model().fit))
### CHECK 1: lines
lines, number = getsourcelines(total)
assert lines[0].startswith(("def total", "@")) and lines[-1].endswith("\\n") and number >= 1
"""
SIGNATURES = """
--- given
import inspect, math
import numpy as np
--- answer
def scale(x, factor=2.0, *, shift=None): return x
class Model:
    def __init__(self, rate): self.rate = rate
    def fit(self, x: int, y) -> float: return 1.0
--- right
from functools import wraps
class Rows(list):
    def total(self): return sum(self)
def passing(function):
    @wraps(function)
    def inner(*args, **more): return function(*args, **more)
    return inner
@passing
def scale(x: np.ndarray, factor: float | int = 2, *, shift=None) -> "np.ndarray": return x
class Model:
    def __init__(self, rate: Rows): self.rate = rate
    def fit(self, x: int, y: list[int], start=Rows(), key=len, rule=lambda x: x, more=[]) -> float: return 1.0
--- wrong
def scale(x, factors=2.0, *, shift=None): return x
class Model:
    def __init__(self, speed): self.speed = speed
    def fit(self, x, y: int) -> list: return 1.0
--- wrong
def scale(x, factor=3.0, shift=None): return x
Model = 5
--- test
### CHECK 1: names
signature = inspect.signature(scale)
assert list(signature.parameters) == ["x", "factor", "shift"] and len(signature.parameters) == 3
### CHECK 1: defaults and kinds
factor, shift = list(inspect.signature(scale).parameters.values())[1:]
assert factor.name == "factor" and factor.default == 2 and factor.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD
assert shift.kind is shift.KEYWORD_ONLY and shift.default is None
### CHECK 1: annotations
hints = inspect.signature(Model.fit)
assert hints.parameters["x"].annotation is int and hints.return_annotation is float and str(hints).endswith("float")
### CHECK 1: a class and a method
assert list(inspect.signature(Model).parameters) == ["rate"]
assert list(inspect.signature(Model(1).fit).parameters)[:2] == ["x", "y"]
### CHECK 1: all arguments
assert inspect.getfullargspec(Model.fit).args[:3] == inspect.getfullargspec(Model(1).fit).args[:3] == ["self", "x", "y"]
assert inspect.getfullargspec(Model).args == ["self", "rate"]
"""


@pytest.mark.parametrize("text", [SOURCES, SIGNATURES], ids=["source", "signature"])
def test_tests_look_at_the_code_of_an_answer_without_running_beside_it(text, grader, tmp_path):
    exam = Exam(text, grader, tmp_path)
    exam.prove()
    caught = {title for one in exam.variants for _, title in lost(exam.grade(one.answers))}
    assert caught == {check.title for _, check in exam.examination.blueprint.checks()}


FORGED = """
import inspect, linecache
def total(xs): return sum(xs)
class Model:
    def fit(self, x): return min(x)
    def score(self): return 1
lies = {"total": "def total(xs): return xs[0] + total(xs[1:])\n", "fit": "    def fit(self, x): return self\n"}
inspect.getsourcelines = lambda value: ([lies[value.__name__]], 1)
"""
DECOY = """
def total(xs): return sum(xs)
def simple(xs): return xs[0] + total(xs[1:])
total.__wrapped__ = simple
class Model:
    def fit(self, x): return min(x)
    def score(self): return 1
"""


ELSEWHERE = {
    "decorated": """
def looping(function):
    def inner(xs):
        return xs[0] + inner(xs[1:]) if xs else 0  # total
    return inner
@looping
def total(xs): return sum(xs)
""",
    "assigned": """
def total(xs): return sum(xs)
def other(xs): return xs[0] + total(xs[1:]) if xs else 0
total = other
""",
    "imported": """
def total(xs): return sum(xs)
open("mine.py", "w").write("def total(xs): return xs[0] + total(xs[1:]) if xs else 0")
from mine import total
""",
}


@pytest.mark.parametrize("way", ELSEWHERE)
def test_what_a_name_means_now_is_not_what_was_defined_first(way, grader, tmp_path):
    exam = Exam(SOURCES, grader, tmp_path)
    assert "a word" not in {title for _, title in lost(exam.grade(ELSEWHERE[way]))}


@pytest.mark.parametrize("answer", [FORGED, DECOY])
def test_no_other_source_than_that_of_the_cells_is_believed(answer, grader, tmp_path):
    exam = Exam(SOURCES, grader, tmp_path)
    assert {title for _, title in lost(exam.grade(answer))} >= {"a word", "a tree"}


LOOK = """
--- given
import functools, inspect
--- answer
def total(xs):
    result = 0
    for x in xs: result += x
    return result
--- test
assert total([1, 2]) == 3 and "sum(" not in inspect.getsource(total)
"""
HONEST = "def total(xs):\n    result = 0\n    for x in xs: result += x\n    return result\n"
CALLED = "def other(xs): return sum(xs)\n"
DISGUISES = {
    "decorated": f"{CALLED}def swap(function):\n    @functools.wraps(function)\n"
    f"    def inner(xs): return other(xs)\n    return inner\n@swap\n{HONEST}",
    "wrapped": f"{HONEST}honest = total\n{CALLED}other.__wrapped__ = honest\ntotal = other",
    "updated": f"{HONEST}{CALLED}functools.update_wrapper(other, total)\ntotal = other",
    "by the names": f"{HONEST}{CALLED}functools.update_wrapper(other, total)\nglobals()['total'] = other",
    "by the module": f"{HONEST}{CALLED}other.__wrapped__ = total\nimport __main__ as m\nm.total = other",
    "by the shell": f"{HONEST}{CALLED}shell = get_ipython()\nother.__wrapped__ = total\nshell.push({{'total': other}})",
    "too deep to be read": f"{HONEST}honest = total\nx = {'+'.join(['1'] * 600)}\ntotal = honest",
    "too long to be read": f"{HONEST}honest = total\n# {'x' * 200_000}\ntotal = honest",
    "by a file": "open('mine.py', 'w').write('def total(xs): return [*map(sum, [xs])][0]')\nfrom mine import total",
}
DISGUISES |= {
    f"by the shell's names, {number}": f"{HONEST}{line} = lambda xs: sum(xs)"
    for number, line in enumerate(
        [
            "get_ipython().user_ns['total']",
            "get_ipython().user_global_ns['total']",
            "import IPython\nIPython.get_ipython().user_ns['total']",
            "from IPython import get_ipython as g\ng().user_ns['total']",
            "from IPython.core.getipython import get_ipython as g\nspace, *_ = g().all_ns_refs\nspace['total']",
            "g = get_ipython\nspace, *_ = g().all_ns_refs\nspace['total']",
            "from IPython.core.interactiveshell import InteractiveShell as S\nS.instance().user_module.total",
        ]
    )
}
"""Each passes, as the source that the test sees has no call of ``sum``; most run it."""


@pytest.mark.parametrize("way", DISGUISES)
def test_where_another_function_than_the_shown_one_may_run_a_grader_looks(way, grader, tmp_path):
    outcome = Exam(LOOK, grader, tmp_path).grade(DISGUISES[way])
    assert outcome.earned("test-2") == 1
    assert [(note.kind, note.names, note.tests) for note in outcome.doubts] == [("disguised", ("total",), ("test-2",))]


@pytest.mark.parametrize(
    "answer",
    [
        HONEST,
        f"from functools import reduce\n%matplotlib inline\n!ls\n{HONEST}print(total([1]))",
        f"colab = 'google.colab' in str(get_ipython())\nfiles = !ls\n%time 1\n{HONEST}",
        f"from IPython.display import display\nfrom IPython.core.interactiveshell import InteractiveShell\n"
        f"InteractiveShell.ast_node_interactivity = 'all'\n{HONEST}",
        f"class Row:\n    @property\n    def x(self): return 1\n    @x.setter\n    def x(self, y): pass\n{HONEST}",
        f"{CALLED.replace('other', 'total')}\n{HONEST}",
    ],
)
def test_a_plain_definition_asks_nobody(answer, grader, tmp_path):
    outcome = Exam(LOOK, grader, tmp_path).grade(answer)
    assert (outcome.earned("test-2"), outcome.doubts) == (1, [])


def test_the_source_of_a_method_is_that_of_its_class_also_by_an_instance():
    cells = ["class A:\n    def f(self): return 1\n", "def B():\n    def f(): return 2\n"]
    assert [text for text, _ in definitions(cells, path_of("A().f"))] == ["    def f(self): return 1\n"]
    assert [*definitions(cells, path_of("B().f"))] == [*definitions(cells, path_of("A()"))] == []


HELPER = """
--- given
import inspect
def has_loop(function): return "for " in inspect.getsource(function)
--- answer
def total(xs): return sum(xs)
--- test
assert not has_loop(total)
"""


def test_a_test_that_asks_by_a_function_of_another_cell_believes_no_other_source_either(grader, tmp_path):
    exam = Exam(HELPER, grader, tmp_path)
    loop = "def total(xs):\n    result = 0\n    for x in xs: result += x\n    return result\n"
    lie = "import inspect\ninspect.getsourcelines = lambda value: (['def total(xs): return sum(xs)\\n'], 1)\n"
    assert lost(exam.grade()) == {} and lost(exam.grade(loop + lie))


LYING = """
from viva.engine.dialogue import objects
import gc
C = next(o for o in gc.get_objects() if type(o).__name__ == "Candidate")
def scale(x, factor=2.0, *, shift=None): return x
operate = type(C).do_operate
def lie(self, operation, *args, **more):
    reply = operate(self, operation, *args, **more)
    return reply | {"value": LIE} if operation == "signature" else reply
type(C).do_operate = lie
"""
LIES = [
    *("b''", "None", "'def f(x, factor, shift)'", "[('x', 0, None, None)]"),
    "objects.wire.encode(([('x y', 1, None, None)], None))",
    "objects.wire.encode(([('x', 9, None, None)], None))",
    "objects.wire.encode(([('x', 1, ('place', 'os:system', ''), None)] * 2, None))",
    "objects.wire.encode(([('x', 1, None, ('place', 5, 5))], ('nothing',)))",
]


@pytest.mark.parametrize("lie", LIES)
def test_a_signature_that_makes_no_sense_is_none(lie, grader, tmp_path):
    exam = Exam(SIGNATURES, grader, tmp_path)
    assert {title for _, title in lost(exam.grade(LYING.replace("LIE", lie)))} >= {"names", "defaults and kinds"}


CELLS = [
    "def f(): return 1\nclass M:\n    def f(self):\n        return 3\n    # the end\n",
    "%matplotlib inline\n\n@wraps\ndef f():\n    return 2\n\n\ndef g(): pass",
    *("def f(:", "f = 3", "\0"),
]


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("f", [("def f(): return 1\n", 1), ("@wraps\ndef f():\n    return 2\n", 3)]),
        *((path, [("    def f(self):\n        return 3\n", 3)]) for path in ("M.f", "M().f")),
        *((path, []) for path in ("h", "M.g", "f.f", "f()", "f().f")),
    ],
)
def test_definitions_stand_in_the_cells_as_inspect_would_give_them(path, found):
    assert [*definitions(CELLS, path_of(path))] == found
