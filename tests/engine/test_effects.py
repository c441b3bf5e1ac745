"""What an answer changes of a test's own counts as in one process; where points depend on it, a grader looks."""

from __future__ import annotations

import pytest

from tests.oral import Exam, lost

ARGUMENTS = """
--- given
import numpy as np
--- answer
def double(x, out=None):
    if out is not None:
        out[:] = 2 * x
    return 2 * x
def lowest(xs): return min(xs)
class Line:
    def fit(self, x, y):
        self.slope = float(np.sum(x * y) / np.sum(x * x))
        return self
    def error(self, x, y): return float(np.mean(np.abs(self.slope * x - y)))
--- test
x, out = np.arange(1.0, 4.0), np.zeros(3)
assert np.allclose(double(x, out), 2 * x) and np.allclose(out, 2 * x)
--- test
for xs in ([3, 1, 2], [5], [2, 2]):
    assert lowest(xs) == sorted(xs)[0]
--- test
x, y = np.arange(1.0, 4.0), 3 * np.arange(1.0, 4.0)
assert Line().fit(x, y).error(x, y) < 1e-9 and np.max(y) < 10
"""
REST = "\n".join(ARGUMENTS.split("--- answer\n")[1].split("--- test")[0].splitlines()[4:])
DOUBLE = "def double(x, out=None):\n    if out is not None: out[:] = 2 * x\n    return 2 * x\n"
LOWEST, LINE = REST.split("class", 1)[0], "class" + REST.split("class", 1)[1]
DECIDING = {
    "zeros in place of an argument": ("double", "def double(x, out=None):\n    x[:] = 0\n    return x\n" + REST),
    "the same, and other zeros": ("double", "def double(x, out=None):\n    x *= 0\n    return np.zeros(3)\n" + REST),
    "a list of one's own": ("lowest", f"{DOUBLE}def lowest(xs):\n    xs[:] = [7]\n    return 7\n{LINE}"),
    "the targets": ("Line", (DOUBLE + REST).replace("        self.slope", "        y[:] = 0\n        self.slope")),
}
HARMLESS = {
    "what the solution changes, too": DOUBLE + REST,
    "a list is sorted": f"{DOUBLE}def lowest(xs):\n    xs.sort()\n    return xs[0]\n{LINE}",
    "a list is emptied and filled again": f"{DOUBLE}def lowest(xs):\n    ys = [xs.pop() for _ in range(len(xs))]\n"
    f"    xs += ys[::-1]\n    return min(ys)\n{LINE}",
    "an array is scaled and scaled back": "def double(x, out=None):\n    x *= 2\n    y = x.copy()\n    x /= 2\n"
    f"    if out is not None: out[:] = y\n    return y\n{REST}",
    "an array is rounded": "def double(x, out=None):\n    x += 1e-12\n    if out is not None: out[:] = 2 * x\n"
    f"    return 2 * x\n{REST}",
}


@pytest.fixture(scope="module")
def exam(grader, tmp_path_factory) -> Exam:
    exam = Exam(ARGUMENTS, grader, tmp_path_factory.mktemp("effects"))
    assert not exam.examination.inside
    assert (lost(exam.grade()), exam.grade().doubts) == ({}, [])
    return exam


@pytest.mark.parametrize("way", DECIDING)
def test_what_passes_only_because_an_answer_changes_a_tests_object_is_left_to_a_grader(exam, way):
    name, answer = DECIDING[way]
    outcome, test = exam.grade(answer), exam.tests[["double", "lowest", "Line"].index(name)]
    assert outcome.earned(test) == exam.grade(answer, alone=True).earned(test) == 1
    assert [(doubt.kind, doubt.names, doubt.tests) for doubt in outcome.doubts] == [
        ("changes_arguments", (name,), (test,))
    ]


@pytest.mark.parametrize("way", HARMLESS)
def test_a_change_on_which_no_point_depends_asks_nobody(exam, way):
    outcome = exam.grade(HARMLESS[way])
    assert (lost(outcome), outcome.doubts) == ({}, [])


DATABASE = """
--- given
import sqlite3
base = sqlite3.connect(":memory:")
base.executescript("create table rows (a); insert into rows values (1), (2), (3)")
--- answer
query = "select a from rows where a > 1"
{more}
--- test
base.execute("drop table if exists expected")
base.execute("create table expected as select a from rows where a > ?", (1,))
found = base.execute(query).fetchall()
assert found == base.execute("select * from expected").fetchall()
{test}
"""


def test_a_text_that_deletes_what_a_test_expects_is_left_to_a_grader(grader, tmp_path):
    exam = Exam(DATABASE.format(more="", test=""), grader, tmp_path)
    right = exam.grade("query = 'SELECT a FROM rows WHERE NOT a <= 1 -- no update'")
    assert (lost(right), right.doubts) == ({}, [])
    for text in (
        "delete from expected",
        "DELETE\\nFROM expected WHERE 1",
        "/* */ with x as (select 1) delete from expected",
    ):
        outcome = exam.grade(f"query = {text!r}".replace("\\\\", "\\"))
        assert outcome.earned("test-2") == 1
        assert [(doubt.kind, doubt.tests) for doubt in outcome.doubts] == [("changes_database", ("test-2",))], text


def test_where_the_solutions_text_changes_a_database_too_nobody_is_asked(grader, tmp_path):
    more, test = "change = 'update rows set a = 5 where a = 1'", "base.executescript(change)"
    exam = Exam(DATABASE.format(more=more, test=test), grader, tmp_path)
    assert (lost(exam.grade()), exam.grade().doubts) == ({}, [])
