"""Imports and the roots of expressions are read in one place, magics as IPython reads them."""

from __future__ import annotations

import ast

import pytest

from viva.notebook.syntax import ATTRIBUTES, ITEMS, imports_of_text, root_of


@pytest.mark.parametrize(
    ("line", "bound", "path", "meaning", "library"),
    [
        ("import os", "os", "os", "os", "os"),
        ("import os.path", "os", "os.path", "os", "os"),
        ("import numpy.linalg as la", "la", "numpy.linalg", "numpy.linalg", "numpy"),
        ("from os import system as run", "run", "os.system", "os.system", "os"),
        ("from . import helpers", "helpers", "helpers", "helpers", ""),
        ("from math import *", "*", "math.*", "math.*", "math"),
        ("%matplotlib inline\ndef f():\n    import json", "json", "json", "json", "json"),
        ("%%time\nimport json", "json", "json", "json", "json"),
    ],
)
def test_an_import_says_what_it_binds_and_to_what(line, bound, path, meaning, library):
    (one,) = imports_of_text(line)
    assert (one.bound, one.path, one.meaning, one.library) == (bound, path, meaning, library)


def test_what_is_not_python_imports_nothing():
    assert imports_of_text("import (") == []


@pytest.mark.parametrize(
    ("text", "of_calls", "of_items", "of_attributes"),
    [
        ("a", "a", "a", "a"),
        ("a.b.c", "a", "a", "a"),
        ("a.b[0].c", "a", "a", ""),
        ("a(1).b", "a", "", ""),
        ("(1).b", "", "", ""),
    ],
)
def test_the_root_of_an_expression_is_the_name_that_it_begins_with(text, of_calls, of_items, of_attributes):
    node = ast.parse(text, mode="eval").body
    assert (root_of(node), root_of(node, ITEMS), root_of(node, ATTRIBUTES)) == (of_calls, of_items, of_attributes)
