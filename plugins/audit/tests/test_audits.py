from __future__ import annotations

import io

from viva.commands.terminal import console
from viva_audit.audits import LEGEND, empty_table

HEADS = ["right", "wrong", "killed", "equal", "unproven", "excused"]


def test_in_eighty_columns_the_heads_of_an_audit_are_whole_and_a_long_name_is_folded():
    table, name = empty_table(), "ps10_an_assignment_with_a_long_name/and_a_long_notebook_too"
    table.add_row(name, "12/12", "37/37", "296/296", "8", "0", "0", "not tested")
    console(file=(text := io.StringIO()), width=80, soft_wrap=False).print(table)
    head, _, *rows = text.getvalue().splitlines()
    assert head.split() == ["assignment", *HEADS]
    assert "".join(row[:29].split()[0] for row in rows) == name and "not tested" in rows[0]
    assert all(len(row) <= 80 for row in rows)


def test_each_head_of_an_audits_table_is_explained_above_it():
    said = " ".join(LEGEND)
    assert [head for head in HEADS if head not in said] == []
    assert all(len(line) <= 100 for line in LEGEND)
