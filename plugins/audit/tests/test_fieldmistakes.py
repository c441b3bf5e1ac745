"""A course adds mutation operators of its own field."""

from __future__ import annotations

import re

import pytest

from tests.conftest import PROJECT
from viva.engine.blueprint import Cell
from viva.verdict import AnswerError
from viva_audit.fieldmistakes import path_of, read_mistakes
from viva_audit.mutants import mutants_of
from viva_audit.operators import Scene


def write(root, source):
    path_of(root).parent.mkdir()
    path_of(root).write_text(source)


def test_the_example_of_the_documentation_makes_a_mutant(tmp_path):
    assert read_mistakes(tmp_path).expressions == {}
    (example,) = re.findall(
        r"```python\n(import ast\n.*?)```", (PROJECT / "docs/audit.md").read_text(encoding="utf-8"), re.DOTALL
    )
    write(tmp_path, example)
    scene = Scene(frozenset({"np", "x"}), mistakes=read_mistakes(tmp_path))
    made = {mutant.source for mutant in mutants_of(Cell("c", "answer", "y = np.sqrt(x + 1)"), scene)
            if mutant.operator == "cube root"}  # fmt: skip
    assert made == {"y = np.cbrt(x + 1)"}


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("1 / 0", "cannot be run: ZeroDivisionError"),
        ("EXPRESSIONS = {'a': 1}", "EXPRESSIONS and BODIES must be dictionaries from names to functions"),
    ],
)
def test_a_broken_file_is_named(tmp_path, source, message):
    write(tmp_path, source)
    with pytest.raises(AnswerError, match=message):
        read_mistakes(tmp_path)
