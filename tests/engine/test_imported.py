"""Which answers the solution only imports."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.oral import Exam, lost, parts_of, read_tables
from viva.engine.blueprint import Cell
from viva.engine.ownership import imported_answers
from viva.notebook.names import names_of

TABLES = read_tables(Path(__file__).with_name("imported.txt"))
EXAMS = TABLES[""]
PURPOSES = {"given": "given", "answer": "answer", "test": "tests"}


def answers(text: str) -> set[str]:
    """What of an exam is an answer that the solution imports."""
    cells = [Cell(str(number), PURPOSES[part], source) for number, (part, source) in enumerate(parts_of(text))]
    return imported_answers(cells, {"gcd", "root", "sqrt", "isclose"})


@pytest.mark.parametrize("case", TABLES["an answer"])
def test_what_a_test_is_about_alone_is_an_answer(case):
    assert answers(TABLES["an answer"][case]) == {"gcd"}


@pytest.mark.parametrize("case", TABLES["no answer"])
def test_what_a_test_computes_with_is_none(case):
    assert answers(TABLES["no answer"][case]) == set()


def test_asking_leaves_alone_what_is_known_of_the_names_in_a_cell():
    """Else the second who asks is answered otherwise: the cells of a notebook seemed to need what only a test binds."""
    given, tests = "def check(x): return sqrt(x)", "label = 4\ncheck = label\nassert check == gcd(4, 8)"
    cells = [Cell("1", "given", given), Cell("2", "answer", "from math import gcd, sqrt"), Cell("3", "tests", tests)]
    before = [names_of(cell.source).needed for cell in cells]
    imported_answers(cells, {"gcd", "sqrt"})
    assert [names_of(cell.source).needed for cell in cells] == before


def test_an_answer_is_the_students_and_what_tests_compute_with_is_not(grader, tmp_path):
    exam = Exam(EXAMS["written"], grader, tmp_path)
    exam.prove()
    assert len(lost(exam.grade(EXAMS["each wrong"]))) == 4


def test_a_module_is_no_answer(grader, tmp_path):
    exam = Exam("--- answer\nimport math\n--- test\nassert math.gcd(4, 6) == 2", grader, tmp_path)
    assert lost(exam.grade("class math:\n    gcd = lambda *numbers: 3")) == {}


def test_what_only_an_answer_imports_of_a_module_beside_the_notebook_is_asked_there(grader, tmp_path):
    """It was None in the test's process: of four public courses ten test cells had become single-process cells."""
    folder = tmp_path / "files"
    folder.mkdir()
    text = "TWO, marked = 2, set()\nmark, is_marked, clear = marked.add, marked.__contains__, marked.clear\n"
    folder.joinpath("counted.py").write_text(text + "def double(x): return TWO * x\n")
    Exam(EXAMS["beside the notebook"], grader, tmp_path, folder).prove()


def test_a_function_may_give_what_the_library_function_gives_that_the_solution_has_in_its_place(grader, tmp_path):
    Exam(EXAMS["memo"], grader, tmp_path).prove()
