"""Of every solution twins are made that do the same in another style, and earn in two processes what they do in one."""

from __future__ import annotations

import ast
from dataclasses import replace

import nbformat
import pytest

from tests.conftest import PROJECT
from tests.engine.dialogue.test_proxies import WAYS
from tests.oral import Exam, lost, sampled
from viva.engine.rehearsal import rehearse
from viva.notebook.cell import ANSWERS
from viva.record import Note

TWIN = """
def _twin(function):
    import functools, sys

    def changed(result):
        np = sys.modules.get("numpy")
        {change}
        return result

    @functools.wraps(function)
    def twin(*args, **kwargs):
        result = changed(function(*args, **kwargs))
        {after}
        return result

    return twin
"""
STYLES = {
    "in another order of memory": ("if np and type(result) is np.ndarray: return np.asfortranarray(result)", "pass"),
    "rebound": ("if type(result) in (list, dict, set): return type(result)(result)", "pass"),
    "iterated": ("if type(result) is list: return (part for part in result)", "pass"),
    "permuted": ("if type(result) is dict: return dict(reversed(result.items()))", "pass"),
    "empty elsewhere": (
        "if type(result) is dict: return {**result, 'elsewhere': []}\n"
        "        if type(result) is list and result and type(result[0]) is list: return [*result, []]",
        "pass",
    ),
    "drained": ("pass", "[part.clear() for part in args if type(part) is list and part is not result]"),
}


def twin_of(source: str, style: str) -> str:
    """A text of answers whose functions do the same in another style."""
    change, after = STYLES[style]
    names = [node.name for node in ast.parse(source).body if type(node) is ast.FunctionDef]
    lines = [f"{name} = _twin({name})" for name in names]
    return "\n".join([source, TWIN.replace("{change}", change).replace("{after}", after), *lines, ""])


def kept(grader, notebook, examination, tests, data=None) -> None:
    """No check that is passed in one process is lost in two."""
    single = replace(examination, single_process=dict.fromkeys(tests, Note("declared")))
    alone, split = (lost(grader.grade(notebook, known, data)) for known in (single, examination))
    assert split.keys() <= alone.keys(), {check: why for check, why in split.items() if check not in alone}


ASSIGNMENTS = ("ps3_scaled_attention", "ps1_general_attention", "ps5_sentence", "ps2_self_attention")


@pytest.fixture(scope="module")
def rehearsed(grader):
    known: dict = {}

    def of(assignment):
        (path,) = (PROJECT / "source" / assignment).glob("*.ipynb")
        if path not in known:
            known[path] = rehearse(path, grader, path.parent)
        return path, known[path]

    return of


@pytest.mark.slow
@pytest.mark.parametrize(
    ("assignment", "style"), sampled([(name, style) for style in STYLES for name in ASSIGNMENTS], 1_000)
)
def test_a_twin_of_our_solution_earns_in_two_processes_what_it_earns_in_one(assignment, style, grader, rehearsed):
    path, examination = rehearsed(assignment)
    notebook = nbformat.read(path, as_version=4)
    for cell in notebook.cells:
        if (known := examination.cells.get(cell.id)) and known.purpose in ANSWERS and cell.cell_type == "code":
            cell.source = twin_of(cell.source, style)
    tests = [cell.id for cell in examination.blueprint.cells if cell.purpose == "tests"]
    kept(grader, notebook, examination, tests, path.parent)


@pytest.mark.parametrize(
    ("way", "style"), sampled([(way, style) for place, way in enumerate(WAYS) for style in [[*STYLES][place % 6]]], 23)
)
def test_a_twin_of_an_example_earns_in_two_processes_what_it_earns_in_one(way, style, grader, tmp_path):
    exam = Exam(WAYS[way], grader, tmp_path)
    answers = [cell.id for cell in exam.notebook.cells if cell.metadata.get("nbgrader", {}).get("solution")]
    sources = {cell.id: cell.source for cell in exam.notebook.cells}
    notebook = exam.answered({name: twin_of(sources[name], style) for name in answers})
    kept(grader, notebook, exam.examination, exam.tests)
