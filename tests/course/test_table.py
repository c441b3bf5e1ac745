"""Tables that Viva writes and reads: to a spreadsheet no text in them is a formula, and each comes back as it was."""

from __future__ import annotations

import ast
import csv
from io import StringIO

import pytest

from tests.conftest import PROJECT
from viva.course.table import Table, csv_text

FORMULAS = ["=1+1", "+49 30", "-x", "@SUM(A1)", " =1", "\t1", "\r=1", "\n=1", "-"]
FORMULAS += ["\uff1d1", "\uff0b1", "\uff0d1", "\uff20a", "\ufe66x"]
TEXTS = ["Anna", "", "-1.5", "1-2", "a=b", "'t Hooft", "O'Neil", "x@y.edu", "x\r=1", "x\r\n=1"]


def cells(data: str) -> list[str]:
    return list(csv.reader(StringIO(data, newline="")))[1]


@pytest.mark.parametrize("text", [*FORMULAS, *TEXTS, *(f"'{text}" for text in FORMULAS), "''=1"])
def test_a_text_is_no_formula_and_is_read_as_it_was(text, tmp_path):
    (tmp_path / "table.csv").write_text(csv_text(["a", "b"], [[text, "x"]]), newline="")
    ((first, _),) = Table.read(tmp_path / "table.csv").rows.values()
    assert first == text
    (shown, _) = cells(csv_text(["a", "b"], [[text, "x"]]))
    assert shown == (f"'{text}" if text not in TEXTS else text)


def test_numbers_stay_numbers_and_what_has_to_be_exact_stays_as_it_is():
    assert cells(csv_text(["a"], [[-1.5, 2, None, "=1"]])) == ["-1.5", "2", "", "'=1"]
    assert cells(csv_text(["a"], [["=1", "+2"]], exact=True)) == ["=1", "+2"]


def test_every_table_is_written_here_and_only_files_for_other_programs_are_exact():
    writers, exact = set(), set()
    for path in [*(PROJECT / "viva").rglob("*.py"), *PROJECT.glob("plugins/*/viva_*/**/*.py")]:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            name = node.attr if isinstance(node, ast.Attribute) else ""
            writers |= {path.name} if name in ("writer", "DictWriter") else set()
            exact |= {path.name} if isinstance(node, ast.keyword) and node.arg == "exact" else set()
    assert (writers, exact) == ({"table.py"}, {"canvas.py", "brightspace.py", "codefiles.py"})
