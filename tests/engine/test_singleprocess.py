"""Which test cells run in the student's process, as their text says."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest

from tests.oral import Exam, lost, read, read_tables
from viva.engine.rehearsal import rehearse
from viva.engine.singleprocess import SingleProcess
from viva_audit.mutants import mutants

TABLES = read_tables(Path(__file__).with_name("singleprocess.txt"))
EXAMS = TABLES[""]

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
    "for name in ('f', 'g'):\n    assert eval(name)(3) == answer(3)",
    "def value(text): return eval(text)\nassert value('3') == answer",
    "for name in ('f', 'g'):\n    assert globals()[name](3) == answer(3)",
    "assert answer.result(3) == model.result(answer)",
    "assert Images('data').items == answer",
    "assert Faces('data').items == answer",
]
OTHER = [
    "assert eval('answer(3)') == 4",
    "assert eval('2 + x', {'x': answer(3)}) == 4",
    "import json\nassert json.loads(answer(1)) == 1",
    "import ast\nassert ast.literal_eval(answer)",
    "from timeit import timeit\nassert timeit(lambda: answer(3), number=3) < 1",
    "assert len(answer.query('a > 1')) == 2",
    "import re\nassert re.compile(answer)",
    "assert model.eval() and answer",
    "import inspect\nassert inspect.signature(answer)",
    "import pickle\nassert pickle.loads(pickle.dumps(answer(1))) == 1",
    "assert vars(answer)['x'] == 3",
    "from string import Template\nassert Template(answer).substitute(x=1)",
    "class Mine(Block):\n    def __init__(self):\n        super().__init__()\nassert answer(Mine()) == 1",
    "import numpy as np\nassert np.load('data.npy').sum() == answer(3)",
]


@pytest.mark.parametrize(("test", "found"), [*((test, True) for test in RUN), *((test, False) for test in OTHER)])
def test_a_test_that_may_run_a_text_is_known_by_its_own(test, found):
    reader = SingleProcess()
    reader.read("def result(text, names={}):\n    code = text.strip()\n    return eval(code, names)")
    reader.read("class Runner:\n    def run_it(self, text):\n        return eval(text)")
    reader.read(
        "import pickle\nclass Images(Base):\n    def __init__(self, path):\n        self.items = pickle.load(path)"
    )
    reader.read("class Faces(Images):\n    pass\ndef load(path):\n    return pickle.load(path)")
    why = reader.why(test)
    assert (why is not None and why.kind == "runs_text") is found


def test_what_a_text_of_a_students_does_is_not_done_to_the_other_tests(grader, tmp_path):
    exam = Exam(EXAMS["formula"], grader, tmp_path)
    exam.prove(inside=True)
    assert exam.examination.inside == {exam.tests[0]}
    attack = """
formula = "__import__('builtins').__dict__.update(AssertionError=None) or 10"
def dump(value): return b""
"""
    assert [cell for cell, _ in lost(exam.grade(attack))] == [exam.tests[0]]


WHERE_THE_STUDENT_IS = TABLES["where the student is"]


@pytest.mark.parametrize("text", WHERE_THE_STUDENT_IS.values(), ids=WHERE_THE_STUDENT_IS)
def test_what_only_the_students_process_shows_is_looked_at_there(text, grader, tmp_path):
    Exam(text, grader, tmp_path).prove(inside=True)


def test_what_a_magic_shows_as_an_error_is_a_failure(grader, tmp_path):
    exam = Exam(EXAMS["shown"], grader, tmp_path)
    exam.prove(inside=True)
    assert len(lost(exam.grade(exam.variants[0].answers))) == 5


def test_a_module_of_the_courses_that_runs_a_text_is_read_as_well(grader, tmp_path):
    tmp_path.joinpath("helpers.py").write_text("def rows(frame, text): return frame.eval(text).tolist()")
    tmp_path.joinpath("broken.py").write_bytes(b"def \xff(:")
    nbformat.write(read(EXAMS["helped"])[0], tmp_path / "exam.ipynb")
    assert rehearse(tmp_path / "exam.ipynb", grader, tmp_path).inside == {"test-3"}


FORBID = TABLES["forbid"]
"""What a wrong answer uses, and the test that forbids it."""


@pytest.mark.parametrize("way", FORBID)
def test_a_test_that_forbids_something_runs_where_it_can_see_who_uses_it(way, grader, tmp_path):
    used, _, test = FORBID[way].partition("--- test\n")
    Exam(EXAMS["answers"].replace("{used}", used.strip()) + test, grader, tmp_path).prove(inside=True)


QUIET = TABLES["quiet"]
"""What has nothing to do with what students use."""


@pytest.mark.parametrize("way", QUIET)
@pytest.mark.slow
def test_what_tests_change_for_their_own_sake_keeps_them_apart_from_the_student(way, grader, tmp_path):
    Exam(EXAMS["answers"].replace("{used}", "0") + QUIET[way], grader, tmp_path).prove()


IDENTITIES = [
    "assert id(v.itself()) == id(v) and id(v.copy()) != id(v)",
    "assert len(set(map(id, [v, v.copy(), v.itself()]))) == 2",
    "unittest.TestCase().assertIs(v.itself(), v)\nunittest.TestCase().assertIsNot(v.copy(), v)",
    "assert operator.is_(v.itself(), v) and operator.is_not(v.copy(), v)",
    "assert v.itself() is v is not v.copy()",
    "t = unittest.TestCase()\nt.assertIs(v.itself() is v, True)\nt.assertIs(v.copy() is v, False)\n"
    "t.assertIsNot(v, None)",
]


@pytest.mark.parametrize("test", IDENTITIES)
def test_which_objects_of_the_students_are_one_is_known_in_two_processes(test, grader, tmp_path):
    Exam(EXAMS["identity"] + test, grader, tmp_path).prove()


COPIES = {"lists": EXAMS["defensive"], "arrays and frames": EXAMS["marked"], "in hidden lines": EXAMS["hidden marks"]}


@pytest.mark.parametrize("text", COPIES.values(), ids=COPIES)
def test_an_answer_that_gives_its_own_list_in_the_place_of_a_copy_still_fails(grader, tmp_path, text):
    exam = Exam("--- given\nimport numpy as np\n" + text, grader, tmp_path)
    assert {one.kind for one in exam.examination.single_process.values()} == {"looks_again"}
    exam.prove(inside=True)


def test_the_audits_mutants_that_leave_out_a_copy_are_noticed(grader, tmp_path):
    marked = (
        EXAMS["defensive"].replace("--- answer\n", "--- answer\n### BEGIN SOLUTION\n").replace("): ", "):\n        ")
    )
    exam = Exam(marked.replace("--- test", "### END SOLUTION\n--- test"), grader, tmp_path)
    found = [mutant for mutant in mutants(exam.examination.blueprint) if mutant.operator == "dropped call"]
    changes = [mutant for mutant in found if "list(" in mutant.change]
    assert [mutant.change.partition(" -> ")[2] for mutant in changes] == ["self._items = items", "return self._items"]
    assert all(lost(exam.grade({mutant.cell: mutant.source})) for mutant in changes)


def test_each_check_of_a_class_without_copies_fails_for_itself(grader, tmp_path):
    exam = Exam(EXAMS["defensive"], grader, tmp_path)
    verdicts = [
        [str(result.verdict) for result in exam.grade(variant.answers).checks[exam.tests[0]]]
        for variant in exam.variants
    ]
    assert verdicts == [["failed"] * 3, ["failed", "passed", "failed"], ["passed", "failed", "passed"]]
