"""No text of a student's is run in the process that has the hidden tests."""

from __future__ import annotations

import nbformat
import pytest

from tests.oral import Exam, lost, read
from viva.engine.evaluated import Running
from viva.engine.rehearsal import rehearse

RUN = [
    "assert eval(answer, {'x': 3}) == 10",
    "scope = {}\nexec(answer, scope)\nassert scope['y'] == 2",
    "for text in [answer]:\n    exec(text)",
    "texts = []\ntexts.append(answer)\nassert [eval(text) for text in texts]",
    "with open('x') as file, answer() as text: eval(text)",
    "def value(text): return eval(text)\nassert value(answer) == 1",
    "def value(text): return eval(text)\nassert list(map(value, [answer])) == [1]",
    "assert (lambda text: eval(text))(answer)",
    "assert eval(f'lambda x: {answer.strip()}')(1)",
    "import pickle as pk\nassert pk.loads(answer(1)) == 1",
    "import pickle\nassert pickle.loads(answer.dumps(1)) == 1",
    "from pickle import loads\nassert loads(answer(1)) == 1",
    "import typing\nassert typing.get_type_hints(answer) == {}",
    "import inspect\nassert inspect.signature(answer, eval_str=True)",
    "import doctest\ndoctest.run_docstring_examples(f, globals())",
    "from timeit import timeit\nassert timeit(answer, number=3) < 1",
    "assert len(table.query(answer)) == 2",
    "import sympy as sp\nassert sp.simplify(answer) == 0",
    "import numpy as np, io\nassert np.load(io.BytesIO(answer()), allow_pickle=True)",
    "assert result(answer) == 3",
    "assert Runner(3).run_it(answer) == 3",
    "import helpers as h\nassert h.result(answer) == 3",
    "import logging.config\nlogging.config.dictConfig(answer)",
    "assert globals()[answer](3) == 6",
    "assert globals().get(answer, None)",
    "import jinja2\nassert jinja2.Template(answer).render(x=1) == '1'",
    "assert environment.from_string(answer).render(x=1) == '1'",
]
OTHER = [
    "assert eval('answer(3)') == 4",
    "for name in ('f', 'g'):\n    assert eval(name)(3) == answer(3)",
    "assert eval('2 + x', {'x': answer(3)}) == 4",
    "import json\nassert json.loads(answer(1)) == 1",
    "import ast\nassert ast.literal_eval(answer)",
    "from timeit import timeit\nassert timeit(lambda: answer(3), number=3) < 1",
    "assert len(answer.query('a > 1')) == 2",
    "import re\nassert re.compile(answer)",
    "assert model.eval() and answer",
    "def value(text): return eval(text)\nassert value('3') == answer",
    "import inspect\nassert inspect.signature(answer)",
    "import pickle\nassert pickle.loads(pickle.dumps(answer(1))) == 1",
    "for name in ('f', 'g'):\n    assert globals()[name](3) == answer(3)",
    "assert vars(answer)['x'] == 3",
    "assert answer.result(3) == model.result(answer)",
    "from string import Template\nassert Template(answer).substitute(x=1)",
]


@pytest.mark.parametrize(("test", "found"), [*((test, True) for test in RUN), *((test, False) for test in OTHER)])
def test_a_test_that_runs_a_text_of_an_answer_is_known_by_its_own(test, found):
    running = Running()
    running.read("def result(text, names={}):\n    code = text.strip()\n    return eval(code, names)")
    running.read("class Runner:\n    def run_it(self, text):\n        return eval(text)")
    assert running.runs(test, {"answer"}) is found


FORMULA = """
--- answer
formula = "x ** 2 + 1"
def dump(value):
    import pickle
    return pickle.dumps(value)
--- right
formula = "1 + x * x"
def dump(value):
    import pickle
    return pickle.dumps(value, protocol=2)
--- wrong
formula = "x ** 2"
class Loading:
    def __reduce__(self): return eval, ("3",)
def dump(value):
    import pickle
    return pickle.dumps(Loading())
--- test
import pickle
### CHECK 1: formula
assert eval(formula, {"x": 3}) == 10
### CHECK 1: pickle
assert pickle.loads(dump([1])) == [1]
--- test
### BEGIN HIDDEN TESTS
assert isinstance(formula, str)
### END HIDDEN TESTS
"""


def test_what_a_text_of_a_students_does_is_not_done_to_the_other_tests(grader, tmp_path):
    exam = Exam(FORMULA, grader, tmp_path)
    exam.prove(inside=True)
    assert exam.examination.inside == {exam.tests[0]}
    attack = """
formula = "__import__('builtins').__dict__.update(AssertionError=None) or 10"
def dump(value): return b""
"""
    assert [cell for cell, _ in lost(exam.grade(attack))] == [exam.tests[0]]


HINTS = """
--- answer
def add(a: int, b: int = 1) -> int: return a + b
--- test
import typing
assert typing.get_type_hints(add)["a"] is int and add(1) == 2
--- right
from __future__ import annotations
def add(a: int, b: int = 1) -> int: return b + a
--- wrong
class Add:
    __annotations__, __globals__ = {"a": "__import__('builtins').int"}, {}
    def __call__(self, a): return 0
add = Add()
"""


def test_annotations_that_are_texts_are_read_where_the_student_wrote_them(grader, tmp_path):
    Exam(HINTS, grader, tmp_path).prove(inside=True)


EXAMPLES = """
--- answer
def f(x):
    '''Adds one.

    >>> f(1)
    2
    '''
    return x + 1
--- wrong
def f(x):
    '''Adds one.

    >>> f(1)
    2
    '''
    return x
--- test
import doctest
finder = doctest.DocTestParser().get_doctest(f.__doc__, {"f": f}, "f", None, 0)
runner = doctest.DocTestRunner(verbose=False)
runner.run(finder)
assert runner.summarize().failed == 0
"""


def test_the_examples_of_a_docstring_run_where_the_student_wrote_them(grader, tmp_path):
    Exam(EXAMPLES, grader, tmp_path).prove(inside=True)


NAMED = """
--- answer
def f(x): return 2 * x
name = "f"
--- right
def mine(x): return x + x
name = "mine"
--- wrong
def mine(x): return x
name = "mine"
--- test
assert globals()[name](3) == 6
"""


def test_a_function_that_a_students_text_names_may_be_called_anything(grader, tmp_path):
    Exam(NAMED, grader, tmp_path).prove(inside=True)


HELPED = """
--- answer
text = "a + b"
--- right
text = "b + a"
--- wrong
text = "@expected"
--- test
from helpers import rows
import pandas as pd
### BEGIN HIDDEN TESTS
expected = 3
assert rows(pd.DataFrame({"a": [1], "b": [2]}), text) == [3]
### END HIDDEN TESTS
"""


def test_a_module_of_the_courses_that_runs_a_text_is_read_as_well(grader, tmp_path):
    tmp_path.joinpath("helpers.py").write_text("def rows(frame, text): return frame.eval(text).tolist()")
    tmp_path.joinpath("broken.py").write_bytes(b"def \xff(:")
    nbformat.write(read(HELPED)[0], tmp_path / "exam.ipynb")
    assert rehearse(tmp_path / "exam.ipynb", grader, tmp_path).inside == {"test-3"}
