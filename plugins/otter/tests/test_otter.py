"""Notebooks of otter-grader become notebooks of the course: nothing is run, and nothing is lost silently."""

from __future__ import annotations

import json
import re

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output, new_raw_cell

from tests.handmade import empty_course
from viva.engine.blueprint import read_blueprint
from viva.engine.checks import parts_of
from viva.verdict import CourseError
from viva_otter.conversion import converted


@pytest.fixture
def course(tmp_path):
    """A course without an assignment."""
    return empty_course(tmp_path / "course")


def raw(*lines: str):
    return new_raw_cell("\n".join(lines))


def shown(source: str, output: str | None):
    """A test cell that was run: its output is what otter expects."""
    outputs = [new_output("execute_result", {"text/plain": output})] if output else []
    return new_code_cell(source, outputs=outputs, execution_count=None if output is None else 1)


def question(name: str, solution: list, tests: list, *settings: str) -> list:
    cells = [raw("# BEGIN QUESTION", f"name: {name}", *settings), new_markdown_cell(f"**{name}**")]
    cells += [raw("# BEGIN SOLUTION"), *solution, raw("# END SOLUTION")] if solution else []
    cells += [raw("# BEGIN TESTS"), *tests, raw("# END TESTS")] if tests else []
    return [*cells, raw("# END QUESTION")]


SQUARE = """def square(x):
    y = x * x # SOLUTION NO PROMPT
    return y # SOLUTION

nine = square(3) # SOLUTION"""
TESTS = [
    shown("square(4)", "16"),
    shown("# HIDDEN\nsquare(-2) == 4", "True"),
    shown('""" # BEGIN TEST CONFIG\npoints: 2\nfailure_message: Three squared.\n""" # END TEST CONFIG\nnine', "9"),
]  # fmt: skip


def notebook(*cells) -> nbformat.NotebookNode:
    return new_notebook(cells=[*cells])


def by_id(book) -> dict:
    return {cell.metadata.nbgrader.grade_id: cell for cell in book.cells if "nbgrader" in cell.metadata}


def checks(cell) -> list[tuple[str, float, bool]]:
    return [(check.title, check.points, check.hidden) for check in parts_of(cell.source)[1]]


def convert(tmp_path, *cells, **metadata):
    changes: list[str] = []
    book = notebook(*cells)
    book.metadata.update(metadata)
    return converted(book, tmp_path, changes), changes


def test_a_question_becomes_an_answer_and_a_check_for_each_test(tmp_path):
    book, changes = convert(tmp_path, *question("q1", [new_code_cell(SQUARE)], TESTS, "points: 4"))
    cells = by_id(book)
    assert cells["q1"].source == (
        "def square(x):\n    ### BEGIN SOLUTION\n    y = x * x\n    return y\n    ### END SOLUTION\n\n"
        "### BEGIN SOLUTION\nnine = square(3)\n### END SOLUTION"
    )
    assert checks(cells["test_q1"]) == [("q1, test 1", 1, False), ("q1, test 2", 1, True), ("q1, test 3", 2, False)]
    assert "assert square(4) == 16\n" in cells["test_q1"].source
    assert "assert nine == 9, 'Three squared.'" in cells["test_q1"].source
    assert [cell.source for cell in book.cells if cell.cell_type == "markdown"] == ["**q1**"]
    assert changes == []


@pytest.mark.parametrize(
    ("cell", "code", "message"),
    [
        (shown("x = 1\nx + y", "'ab'"), "x = 1\nassert (x + y) == 'ab'", ""),
        (shown("f(1)", ""), "f(1)", ""),
        (shown("f(1)", "False"), "assert not f(1)", ""),
        (shown("f(1)", "np.True_"), "assert f(1)", ""),
        (shown("f(1)", "np.False_"), "assert not f(1)", ""),
        (shown("f(1)", "(np.float64(-1.5), np.int64(2), np.str_('a'))"), "assert f(1) == (-1.5, 2, 'a')", ""),
        (shown("g()", "a\n3"), "assert g() == 3", "prints a text"),
        (shown("table", "   a\n0  1"), "assert repr(table) == '   a\\n0  1'", "Compare the value itself"),
        (shown("print(x)", "3"), "print(x)\n# otter expected: 3", "Compare the value instead"),
        (shown("x == 3", None), "assert x == 3", "has no expected output any more"),
        (shown("def test_a(x):\n    assert x\n\nother(x)", ""), "def test_a(x):\n    assert x\n\ntest_a(x)", ""),
        (shown("x ==", ""), "# x ==\npass", "has a syntax error"),
    ],
)
def test_what_a_test_shows_is_compared_or_it_is_said(tmp_path, cell, code, message):
    book, changes = convert(tmp_path, *question("q", [new_code_cell("x = 3")], [cell]))
    assert by_id(book)["test_q"].source == f"### CHECK 1: q, test 1\n{code}"
    assert message in " ".join(changes) and bool(message) == bool(changes)


@pytest.mark.parametrize(
    ("settings", "declared", "points"),
    [
        ((), (None, None, None), [0.33, 0.33, 0.34]),
        (("points: 6",), (None, 1, None), [2.5, 1, 2.5]),
        ((), (None, 2, None), [0, 2, 0]),
        (("points: [1, 2, 3]",), (None, None, None), [1, 2, 3]),
        (("points:", "  each: 2"), (None, None, None), [2, 2, 2]),
        (("points: 3", "all_or_nothing: true"), (None, None, None), [3]),
    ],
)
def test_points_are_those_that_otter_computes(tmp_path, settings, declared, points):
    tests = [
        shown(
            f'""" # BEGIN TEST CONFIG\npoints: {share if share is not None else "null"}\n""" # END TEST CONFIG\nx', "3"
        )
        for share in declared
    ]
    book, _ = convert(tmp_path, *question("q", [new_code_cell("x = 3")], tests, *settings))
    assert [share for _, share, _ in checks(by_id(book)["test_q"])] == points


def test_what_has_no_counterpart_is_listed_with_its_text(tmp_path):
    book, changes = convert(
        tmp_path,
        raw("# ASSIGNMENT CONFIG", "files: [data.csv]"),
        new_code_cell("# IGNORE\nsecret = 1"),
        new_code_cell("import otter\ngrader = otter.Notebook()\nimport numpy as np"),
        new_markdown_cell("```otter\n# BEGIN QUESTION\nname: q 1\nmanual: true\n```"),
        raw("# BEGIN PROMPT"),
        new_markdown_cell("_Write here._"),
        raw("# END PROMPT"),
        raw("# END QUESTION"),
        *question(
            "q2", [new_markdown_cell("A hint."), new_code_cell("x = 1 # SOLUTION\ny = 2 # IGNORE")], [shown("x", "1")]
        ),
        raw("anything"),
    )
    listing = " ".join(changes)
    for text in ("files", "secret = 1", "otter.Notebook()", "A hint.", "y = 2", "anything", "'q_1' has no solution"):
        assert text in listing
    assert by_id(book)["q_1"].source.startswith("_Write here._\n\n### BEGIN SOLUTION")
    assert [cell.source for cell in book.cells if cell.source.startswith("import")] == ["import numpy as np"]


OK = '''OK_FORMAT = True
test = {"name": "q1", "points": [1, 2], "suites": [{"cases": [
    {"code": ">>> import math\\n>>> y = square(2)\\n>>> math.isclose(y, 4)\\nTrue", "hidden": False, "locked": False},
    {"code": r"""
    >>> square(3)
    9
    >>> square("a")
    Traceback (most recent call last):
    TypeError: no
    """, "hidden": True},
], "scored": True, "setup": "", "teardown": "", "type": "doctest"}]}
'''
FUNCTIONS = """import os
from otter.test_files import test_case
OK_FORMAT = False
name = "q1"
points = 2
open("ran", "w").close()
@test_case(points=None, hidden=False)
def test_public(square):
    assert square(2) == 4
@test_case(points=0.5, hidden=True)
def test_hidden(square):
    assert square(3) == 9
"""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (OK, [("q1, test 1", 1, False), ("q1, test 2", 2, True)]),
        (FUNCTIONS, [("test_public", 1.5, False), ("test_hidden", 0.5, True)]),
    ],
    ids=["ok", "functions"],
)
@pytest.mark.parametrize("call", ['grader.check("q1")', "_ = ok.grade('q1')"])
def test_files_of_tests_are_read_and_never_run(tmp_path, monkeypatch, text, expected, call):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "q1.py").write_text(text)
    book, changes = convert(tmp_path, new_code_cell("def square(x):\n    return x * x"), new_code_cell(call))
    cells = by_id(book)
    assert checks(cells["test_q1"]) == expected
    assert cells["q1"].source.startswith("### BEGIN SOLUTION\ndef square")
    assert "was used as its answer" in changes[-1] and "'...'" not in changes[-1]
    assert not (tmp_path / "ran").exists()
    if text == OK:
        assert cells["test_q1"].source.startswith(
            "import math\n### CHECK 1: q1, test 1\ny = square(2)\nassert math.isclose"
        )
        assert "expects an error" in changes[0]


def test_tests_in_the_metadata_of_a_generated_notebook_are_found(tmp_path):
    test = {"name": "q1", "points": 3, "suites": [{"cases": [{"code": ">>> x\n3"}], "type": "doctest"}]}
    answer = new_code_cell("x = 3", metadata={"tags": ["otter_answer_cell"]})
    book, changes = convert(tmp_path, answer, new_code_cell('grader.check("q1")'), otter={"tests": {"q1": test}})
    assert changes == []
    assert checks(by_id(book)["test_q1"]) == [("q1, test 1", 3, False)]
    assert "otter" not in book.metadata


@pytest.mark.parametrize(
    ("cells", "sentence"),
    [
        ([new_code_cell("x = 1")], "is not a notebook of otter-grader"),
        ([raw("# BEGIN QUESTION", "name: q1")], "has no cell '# END QUESTION'"),
        (
            [raw("# BEGIN QUESTION", "name: q1"), raw("# BEGIN QUESTION", "name: q2")],
            "begins a question inside of 'q1'",
        ),
        ([raw("# BEGIN QUESTION", "name: [")], "are not YAML"),
    ],
)
def test_what_is_not_a_notebook_of_otters_is_refused(tmp_path, cells, sentence):
    with pytest.raises(CourseError, match=re.escape(sentence)):
        convert(tmp_path, *cells)


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_a_converted_notebook_passes_its_audit_and_its_tests_are_not_released(course, tmp_path, viva):
    old = tmp_path / "old" / "hw1"
    (old / "tests").mkdir(parents=True)
    (old / "tests" / "q1.py").write_text(OK)
    (old / "data.csv").write_text("1,2\n")
    book = notebook(new_markdown_cell("# Squares"), *question("q1", [new_code_cell(SQUARE)], TESTS, "points: 4"))
    book.metadata = nbformat.from_dict({"kernelspec": {"name": "python3", "display_name": "p", "language": "python"}})
    nbformat.write(book, old / "hw1.ipynb")
    before = (old / "hw1.ipynb").read_bytes()
    assert viva("adopt", str(old / "hw1.ipynb")).status == 2
    adopted = viva("adopt", "--from=otter", str(old / "hw1.ipynb"))
    assert (adopted.status, adopted.err) == (0, "")
    assert {path.name for path in (course / "source" / "hw1").iterdir()} == {"hw1.ipynb", "data.csv"}
    assert (old / "hw1.ipynb").read_bytes() == before
    names = [cell.id for cell in read_blueprint(course / "source" / "hw1" / "hw1.ipynb").cells]
    assert names[-2:] == ["q1", "test_q1"]
    audited = json.loads(viva("audit", "hw1", "--json").out)["audits"][0]
    assert audited["passed"], audited["complaints"]
