"""Tests may look at the source and the signature of an answer, and run where the student is not."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.oral import Exam, lost, read_tables
from viva.engine.dialogue.expected import path_of
from viva.engine.dialogue.sourcecode import definitions

TABLES = read_tables(Path(__file__).with_name("sourcecode.txt"))
EXAMS = TABLES[""]


@pytest.mark.parametrize("text", [EXAMS["sources"], EXAMS["signatures"]], ids=["source", "signature"])
def test_tests_look_at_the_code_of_an_answer_without_running_beside_it(text, grader, tmp_path):
    exam = Exam(text, grader, tmp_path)
    exam.prove()
    caught = {title for one in exam.variants for _, title in lost(exam.grade(one.answers))}
    assert caught == {check.title for _, check in exam.examination.blueprint.checks()}


ELSEWHERE = TABLES["elsewhere"]


@pytest.mark.parametrize("way", ELSEWHERE)
def test_what_a_name_means_now_is_not_what_was_defined_first(way, grader, tmp_path):
    exam = Exam(EXAMS["sources"], grader, tmp_path)
    assert "a word" not in {title for _, title in lost(exam.grade(ELSEWHERE[way]))}


@pytest.mark.parametrize("answer", [EXAMS["forged"], EXAMS["decoy"]])
def test_no_other_source_than_that_of_the_cells_is_believed(answer, grader, tmp_path):
    exam = Exam(EXAMS["sources"], grader, tmp_path)
    assert {title for _, title in lost(exam.grade(answer))} >= {"a word", "a tree"}


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
    outcome = Exam(EXAMS["look"], grader, tmp_path).grade(DISGUISES[way])
    assert outcome.earned("test-2") == 1
    assert [(note.kind, note.names, note.tests) for note in outcome.doubts] == [("disguised", ("total",), ("test-2",))]


def test_a_test_that_shares_an_import_or_a_variable_with_one_that_looks_at_the_source_asks_nobody(grader, tmp_path):
    """Six answers that no test looked at were shown to a grader, as one right answer used globals()."""
    exam = Exam(EXAMS["two cells"], grader, tmp_path)
    outcome = exam.grade(
        f"{HONEST}globals()['steps'] = lambda n: (one for one in range(n))\ndef steps(n): yield from range(n)"
    )
    assert lost(outcome) == {}
    assert [(note.kind, note.names) for note in outcome.doubts] == [("disguised", ("total",))]


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
    outcome = Exam(EXAMS["look"], grader, tmp_path).grade(answer)
    assert (outcome.earned("test-2"), outcome.doubts) == (1, [])


def test_the_source_of_a_method_is_that_of_its_class_also_by_an_instance():
    cells = ["class A:\n    def f(self): return 1\n", "def B():\n    def f(): return 2\n"]
    assert [text for text, _ in definitions(cells, path_of("A().f"))] == ["    def f(self): return 1\n"]
    assert [*definitions(cells, path_of("B().f"))] == [*definitions(cells, path_of("A()"))] == []


def test_a_test_that_asks_by_a_function_of_another_cell_believes_no_other_source_either(grader, tmp_path):
    exam = Exam(EXAMS["helper"], grader, tmp_path)
    loop = "def total(xs):\n    result = 0\n    for x in xs: result += x\n    return result\n"
    lie = "import inspect\ninspect.getsourcelines = lambda value: (['def total(xs): return sum(xs)\\n'], 1)\n"
    assert lost(exam.grade()) == {} and lost(exam.grade(loop + lie))


LIES = [
    *("b''", "None", "'def f(x, factor, shift)'", "[('x', 0, None, None)]"),
    "objects.wire.encode(([('x y', 1, None, None)], None))",
    "objects.wire.encode(([('x', 9, None, None)], None))",
    "objects.wire.encode(([('x', 1, ('place', 'os:system', ''), None)] * 2, None))",
    "objects.wire.encode(([('x', 1, None, ('place', 5, 5))], ('nothing',)))",
]


@pytest.mark.parametrize("lie", LIES)
def test_a_signature_that_makes_no_sense_is_none(lie, grader, tmp_path):
    exam = Exam(EXAMS["signatures"], grader, tmp_path)
    assert {title for _, title in lost(exam.grade(EXAMS["lying"].replace("LIE", lie)))} >= {
        "names",
        "defaults and kinds",
    }


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
