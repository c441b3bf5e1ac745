"""Outputs are as nbformat makes them."""

from __future__ import annotations

import pytest
from nbformat import NotebookNode
from nbformat.v4 import new_output

from viva.cleaning.output import output

FIELDS = {
    "stream": {"name": "stderr", "text": "a\n"},
    "error": {"ename": "ValueError", "evalue": "no", "traceback": ["a"]},
    "display_data": {"data": {"text/plain": "a", "application/json": {"b": [{"c": 1}]}}, "metadata": {}},
    "execute_result": {"data": {"text/plain": "a"}, "metadata": {"image/png": {"width": 3}}, "execution_count": 2},
}


@pytest.mark.parametrize("output_type", FIELDS)
def test_an_output_is_what_nbformat_makes_of_its_parts(output_type):
    made = output(output_type, **FIELDS[output_type])
    assert made == new_output(output_type, **FIELDS[output_type])
    assert all(isinstance(value, NotebookNode) for value in made.values() if isinstance(value, dict))
