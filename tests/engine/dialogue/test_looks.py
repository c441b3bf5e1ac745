"""A right answer may be empty in other places than the solution's; a test that looks at nothing is passed by no answer.

Each case is a solution, a test, and answers in another style: permuted, rebound, drained, iterated, empty elsewhere.
What they must earn is what they earn where answer and test share one plain namespace.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from tests.oral import Exam, lost, parts_of, read_exams
from viva.engine.dialogue.looks import LOOKED, Looks, with_looks
from viva.verdict import Verdict


@dataclass(frozen=True)
class Twins:
    """A solution, its test, right answers and ones that only an empty value lets pass."""

    solution: str
    test: str
    right: list[str]
    wrong: list[str]

    @classmethod
    def of(cls, text: str) -> Twins:
        parts = {"right": [], "wrong": []}
        for part, source in parts_of(text):
            parts.setdefault(part, []).append(source)
        (solution,), (test,) = parts["answer"], parts["test"]
        return cls(solution, test, parts["right"], parts["wrong"])


CASES = {name: Twins.of(text) for name, text in read_exams(Path(__file__).with_name("looks.txt")).items()}
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
