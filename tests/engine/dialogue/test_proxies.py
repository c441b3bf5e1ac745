"""What lives in the candidate behaves in a test as it would in one process."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.oral import Exam, read_exams
from viva.verdict import Verdict

HERE = Path(__file__).parent
WAYS, SINGLE = read_exams(HERE / "two_processes.txt"), read_exams(HERE / "single_process.txt")


LARGE = "more states with large arrays than are known at once", "more points than are known by themselves"


@pytest.mark.parametrize("way", [pytest.param(way, marks=[pytest.mark.thorough] * (way in LARGE)) for way in WAYS])
def test_in_two_processes_as_in_one(way, grader, tmp_path):
    Exam(WAYS[way], grader, tmp_path).prove()


@pytest.mark.parametrize("way", SINGLE)
def test_what_no_proxy_does_makes_a_single_process_cell(way, grader, tmp_path):
    Exam(SINGLE[way], grader, tmp_path).prove(inside=True)


EXAM = """
--- answer
def f(x): return [2 * v for v in x]
def err(x): raise ValueError("bad")
--- test
### CHECK 1: f
assert f([1, 2]) == [2, 4] and list(f([3])) == [6]
### CHECK 1: err
try:
    err(1)
except ValueError as e:
    assert str(e) == "bad"
else:
    raise AssertionError("no error")
"""
LIAR = """
import gc
C = next(o for o in gc.get_objects() if type(o).__name__ == "Candidate")
operate, refer = type(C).do_operate, type(C).refer
class Magic:
    def __eq__(self, other): return True
    def __iter__(self): return self
    def __next__(self): return Magic()
def f(x): return Magic()
def err(x): return 1
"""
REPLY = "def lie(self, *a, **k): return operate(self, *a, **k) | {}\ntype(C).do_operate = lie"
LIES = {
    "an iterator of objects": "",
    "an argument that came back": "{'value': [1], 'same': 1}",
    "warnings of nonsense": "{'warned': [('nonsense', 'x', 'f', 1), 5, ('a',) * 4], 'printed': [('stdout', 5)]}",
    "an exception of nonsense": "{'raised': {'message': 'm', 'lineage': [(0, 'x', 'y', [0]), ([], 1, 2, 3)]}}",
    "an exception of the grader's": "{'raised': {'message': '', 'lineage': [(0, 'viva.verdict', 'VivaError', [])]}}",
    "an exception that was never kept": "{'raised': {'message': 'm', 'kept': 7, 'cause': {'message': 3}}}",
    "a description of a list": (
        "def lie(self, v):\n    r = refer(self, v)\n"
        "    r.about.update({'mro': [('builtins', 'list')], 'origin': 'builtins:list'})\n"
        "    r.about['class'] = True\n    return r\ntype(C).refer = lie"
    ),
    "contents of a list": (
        "def lie(self, v):\n    r = refer(self, v)\n    r.about.update(contents=((1, 1), [2, 4, 6]))\n"
        "    return r\ntype(C).refer = lie"
    ),
    "an unknown callback": "def f(x):\n    C.answer({'callback': 7, 'args': (), 'kwargs': {}})\n",
}


@pytest.fixture(scope="module")
def exam(grader, tmp_path_factory):
    return Exam(EXAM, grader, tmp_path_factory.mktemp("exam"))


@pytest.mark.parametrize("lie", LIES)
def test_a_candidate_that_lies_earns_nothing_and_confuses_nobody(exam, lie):
    text = REPLY.replace("{}", LIES[lie]) if LIES[lie].startswith("{") else LIES[lie]
    outcome = exam.grade(LIAR + text)
    assert outcome.earned("test-1") == 0, outcome
    assert {result.verdict for result in outcome.checks["test-1"]} <= {Verdict.FAILED, Verdict.ERROR}
    assert exam.grade().earned("test-1") == 2
