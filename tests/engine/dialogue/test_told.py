"""A name means one thing until student code runs, and what changes without a word in the text is told."""

from __future__ import annotations

import pytest
from nbformat.v4 import new_code_cell

from tests.oral import Exam, lost
from viva.verdict import Verdict
from viva.wording import sentences

LIAR = """
import sys
for depth in range(1, 30):
    candidate = sys._getframe(depth).f_locals.get("self")
    if type(candidate).__name__ == "Candidate":
        break
class Lying(dict):
    lies = {}
    def __getitem__(self, name):
        told = self.lies.get(name)
        return told.pop(0) if told else dict.__getitem__(self, name)
candidate.shell.user_ns = Lying(candidate.shell.user_ns)
"""
"""Gives other values to a name each time that it is looked up, as ``Lying.lies`` says."""

ONE_CELL = """
--- answer
base, power = 2, 8
def double(x): return 2 * x
--- test
### CHECK 1: the base
assert base == 2
### CHECK 4: a power of the base
assert power == base ** 3
### CHECK 2: once more
assert base == 2 and power == base ** 3
"""
TWO_CELLS = """
--- answer
base, power = [2], 8
--- test
### CHECK 1: the base
assert base == [2]
--- test
### CHECK 4: a power of the base
assert power == base[0] ** 3
"""
THREE_CELLS = """
--- given
import numpy as np
--- answer
base = np.array([2.0])
table = {"a": [1]}
def change(x): x += 1
--- test
### CHECK 1: the base
assert base[0] > 0 and table["a"][0] == 1
--- answer
power = base ** 3
--- test
### CHECK 4: a power of the base
assert np.allclose(power, base ** 3) and len(table["a"]) < 9
"""


def earned(exam: Exam, *answers: str) -> list[float]:
    cells = [cell.id for cell in exam.notebook.cells if cell.metadata.nbgrader.solution]
    outcome = exam.grade(dict(zip(cells, answers, strict=True)))
    return [result.earned for results in outcome.checks.values() for result in results], sentences(outcome.integrity)


@pytest.mark.parametrize(
    "lies", [{"base": [2, 10, 2, 10]}, {"base": [2, 10], "power": [1000, 8]}, {"base": [2] * 3 + [10]}]
)
def test_a_name_means_the_same_to_all_checks_between_which_no_student_code_ran(grader, tmp_path, lies):
    points, _ = earned(
        Exam(ONE_CELL, grader, tmp_path), f"base, power = 2, 1000\ndef double(x): return 2 * x{LIAR}Lying.lies = {lies}"
    )
    assert points == [1, 0, 0]


def test_a_name_means_the_same_to_two_test_cells_between_which_no_student_code_ran(grader, tmp_path):
    lying = f"base, power = [2], 1000{LIAR}Lying.lies = {{'base': [[2], [10], [10]]}}"
    assert earned(Exam(TWO_CELLS, grader, tmp_path), lying)[0] == [1, 0]


RIGHT = 'base = np.array([2.0])\ntable = {"a": [1]}\ndef change(x): x += 1\n'


@pytest.mark.parametrize(
    "lies", [{"base": ["np.array([2.0])", "np.array([10.0])"]}, {"base": ["np.array([2.0])", "10.0"]}]
)
def test_a_name_that_no_line_assigns_to_is_told_of_when_it_has_changed(grader, tmp_path, lies):
    exam = Exam(THREE_CELLS, grader, tmp_path)
    lies = ", ".join(f"{name!r}: [{', '.join(values)}]" for name, values in lies.items())
    points, facts = earned(exam, f"{RIGHT}{LIAR}Lying.lies = {{{lies}}}", "power = np.array([1000.0])")
    assert points == [1, 4]
    assert facts[-1] == (
        "base changed between the tests of test-2 and test-4, though no line that was run in between assigns to it"
    )


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("", "base = base + 1"),
        ("", "base += 1"),
        ("", "base[0] = 10"),
        ("", "base.fill(3)"),
        ("", "change(base)"),
        ("", "np.add(base, 1, out=base)"),
        ("", "for base in base, base + 1: pass"),
        ("", "globals()['base'] = base + 1"),
        ("", "exec('base = base + 1')"),
        ("", "%time base = base + 1"),
        ("", "%%time\nbase = base + 1\npower = base ** 3"),
        ("", "table['a'].append(2)"),
        ("def step():\n    global base\n    base = base + 1", "step()"),
        ("def step():\n    table['a'].append(2)", "step()"),
        ("", "(base := base + 1)"),
        ("", "from math import e as base"),
        ("", "import numpy\ndel base\nbase = numpy.ones(1)"),
        ("", ""),
    ],
)
def test_a_name_that_a_line_assigns_to_is_no_fact(grader, tmp_path, first, second):
    exam = Exam(THREE_CELLS, grader, tmp_path)
    assert earned(exam, f"{RIGHT}{first}", f"{second}\npower = base ** 3") == ([1, 4], [])


CALLED = """
--- answer
count, log = 0, []
def step():
    global count
    count += 1
    log.append(count)
    return count
def fill(x): x.append(7)
--- test
### CHECK 1: a call counts
assert count == 0 and step() == 1 and count == 1 and log == [1]
### CHECK 1: a list that is handed over is filled
fill(log)
assert log == [1, 7]
### CHECK 1: a list that the test fills
log.append(8)
assert step() == 2 and log == [1, 7, 8, 2]
### CHECK 1: and what a callback sees
seen = []
def look():
    seen.append(count)
again(look)
assert seen == [2, 3]
--- answer
def again(f):
    f()
    step()
    f()
"""


def test_a_call_may_change_what_names_mean_and_that_is_no_fact(grader, tmp_path):
    first, test, second = CALLED.split("--- ")[1:]
    exam = Exam(f"--- {first}--- {second}--- {test}", grader, tmp_path)
    outcome = exam.grade()
    assert [result.verdict for result in outcome.checks[exam.tests[0]]] == [Verdict.PASSED] * 4
    assert outcome.integrity == []


def test_a_call_that_changes_a_name_without_a_word_in_the_text_is_told(grader, tmp_path):
    exam = Exam(ONE_CELL.replace("assert base == 2 and", "assert double(1) == 2 and base == 2 and"), grader, tmp_path)
    lies = "Lying.lies = {'base': [2, 10]}"
    points, facts = earned(exam, f"base, power = 2, 1000\ndef double(x): return 2 * x{LIAR}{lies}")
    assert points == [1, 0, 0]
    assert facts[-1].startswith("base changed between the tests of test-1 and test-1")


COUNTED = """
candidate.requests, listen = [], candidate.listen
def counted():
    request = listen()
    candidate.requests.append(request.get("operation", request["do"]))
    return request
candidate.listen = counted
"""


def test_the_names_that_a_test_cell_needs_are_asked_in_one_question(grader, tmp_path):
    exam = Exam(ONE_CELL, grader, tmp_path)
    finding = LIAR.partition("class")[0]
    notebook = exam.answered(f"base, power = 2, 8\ndef double(x): return 2 * x{finding}{COUNTED}")
    notebook.cells.append(new_code_cell("print(candidate.requests)", id="last"))
    outcome = grader.grade(notebook, exam.examination)
    assert outcome.earned("test-1") == 7
    assert "['random', 'tell', 'run']" in str(outcome.outputs[2])


def test_a_name_that_is_missing_is_missing_for_all_checks(grader, tmp_path):
    text = (
        ONE_CELL
        + "### CHECK 1: none\ntry:\n    power\n    found = True\nexcept NameError:\n    found = False\nassert found\n"
    )
    outcome = Exam(text, grader, tmp_path).grade("base = 2")
    assert [result.verdict for result in outcome.checks["test-1"]] == [
        Verdict.PASSED,
        Verdict.ERROR,
        Verdict.ERROR,
        Verdict.FAILED,
    ]
    assert outcome.checks["test-1"][1].reason == "NameError: name 'power' is not defined"


@pytest.mark.parametrize(
    "reply", ["b''", "b'xyz'", "[]", "None", "7", "wire.encode([('base', 3, None)])", "wire.encode([])"]
)
def test_an_answer_about_names_that_is_none_costs_the_student_alone(grader, tmp_path, reply):
    lying = "base, power = 2, 8\ndef double(x): return 2 * x\n"
    lying += "from viva.engine import wire\nfrom viva.engine.dialogue.operations import OPERATIONS\n"
    lying += f"OPERATIONS['tell'] = lambda *args: {reply}"
    exam = Exam(ONE_CELL, grader, tmp_path)
    assert {result.verdict for result in exam.grade(lying).checks["test-1"]} == {Verdict.FAILED}


PANDAS_VALUES = """
--- given
import pandas as pd
--- answer
day, labels, letters = pd.Timestamp("2020-01-01"), pd.Index([1, 2]), pd.Categorical(["a"])
span, gap = pd.Period("2020", "D"), pd.Interval(0, 1)
def f(): return 1
--- wrong
day, labels, letters = pd.Timestamp("2020-01-02"), pd.Index([1, 3]), pd.Categorical(["b"])
span, gap = pd.Period("2021", "D"), pd.Interval(0, 2)
def f(): return 1
--- test
### CHECK 1: before
assert day.day == 1 and list(labels) == [1, 2] and list(letters) == ["a"] and span.year == 2020 and gap.right == 1
### CHECK 1: after
assert f() == 1
assert day.day == 1 and list(labels) == [1, 2] and list(letters) == ["a"] and span.year == 2020 and gap.right == 1
"""


def test_a_name_that_means_a_pandas_value_can_be_told_twice(grader, tmp_path):
    Exam(PANDAS_VALUES, grader, tmp_path).prove()


def test_windows_that_are_none_are_the_candidates_fault(grader, tmp_path):
    forged = """
import gc
import numpy as np
found = next(one for one in gc.get_objects() if type(one).__name__ == "Candidate")
found.shared.windows = lambda value: [(0, 0, 0, np.zeros(2), np.zeros(2))]
y = np.zeros(3)
"""
    exam = Exam("--- answer\nimport numpy as np\ny = np.zeros(3)\n--- test\nassert y[1] == 0", grader, tmp_path)
    assert lost(exam.grade()) == {}
    assert "the answer cannot be read" in str(lost(exam.grade(forged)))
