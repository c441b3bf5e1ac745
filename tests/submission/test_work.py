"""A graded notebook is written as nbformat writes it, byte for byte."""

from __future__ import annotations

import copy

import nbformat
import pytest
from nbconvert.exporters import NotebookExporter
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from tests.conftest import PROJECT
from viva.submission.work import as_text


def exported(notebook):
    return NotebookExporter().from_notebook_node(notebook)[0]


@pytest.mark.parametrize("path", sorted(PROJECT.glob("release/*/*.ipynb")), ids=lambda path: path.stem)
def test_released_notebooks_are_written_as_nbconvert_writes_them(path):
    notebook = nbformat.read(path, as_version=4)
    assert as_text(copy.deepcopy(notebook)) == exported(notebook)


def test_so_are_outputs_and_characters_of_every_kind():
    data = {"text/plain": "a\nb", "application/json": {"é": [1e16, -0.0, 10**30, 1e-7, None, True, {}, []]}}
    outputs = [
        new_output("stream", text='\x1b[31m\x00\x7f\t"\\/\u2028😀\r\nend'),
        new_output("execute_result", data=data, execution_count=3),
        new_output("error", ename="E", evalue="", traceback=["a\nb", ""]),
    ]
    cells = [
        new_code_cell("x = 1\n\n# é", outputs=outputs),
        new_markdown_cell("", attachments={"a": {"image/png": ""}}),
    ]
    notebook = new_notebook(cells=cells, metadata={"signature": "x", "kernelspec": {"name": "p", "display_name": "P"}})
    assert as_text(copy.deepcopy(notebook)) == exported(notebook)


def test_so_is_what_json_cannot_say():
    notebook = new_notebook(cells=[new_code_cell("", metadata={"weight": float("nan")})])
    assert as_text(copy.deepcopy(notebook)) == exported(notebook)


def test_two_cells_of_one_id_get_two():
    cells = [new_markdown_cell("a", id="same"), new_markdown_cell("b", id="same")]
    with pytest.warns(nbformat.warnings.DuplicateCellId):
        text = as_text(new_notebook(cells=cells))
    assert len({cell.id for cell in nbformat.reads(text, as_version=4).cells}) == 2


def test_what_is_no_notebook_is_refused():
    notebook = new_notebook(cells=[new_code_cell("")])
    notebook.cells[0].outputs = [nbformat.from_dict({"output_type": "stream", "name": "stdout"})]
    with pytest.raises(nbformat.ValidationError):
        as_text(notebook)
