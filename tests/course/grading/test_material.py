"""What students may read before the deadline is graded without the hidden lines of the tests."""

from __future__ import annotations

from viva.course.grading.material import visible, without_hidden_lines
from viva.engine.blueprint import Blueprint, Cell
from viva.engine.checks import Check, parts_of
from viva.engine.examination import Examination
from viva.engine.ownership import Plan
from viva.notebook.cell import Purpose

HIDDEN = "### BEGIN HIDDEN TESTS\nassert hidden\n### END HIDDEN TESTS"
FULL = "import numpy\n### CHECK (1 point): seen\nassert a\n{}\n### CHECK (1 point): twice\nassert b\n"
FULL += "### CHECK (1 point): unseen\n{}\n### CHECK (1 point): cut\n{}\n### CHECK (1 point): twice\nassert c\n"
RELEASED = FULL.format("", "# nothing", "for x in y:") + "### CHECK (1 point): of a student's\nassert True\n"


def test_a_check_has_its_visible_lines_or_none():
    prelude, checks = parts_of(FULL.format(HIDDEN, HIDDEN, f"for x in y:\n{HIDDEN}"))
    cells = (
        Cell("answer", Purpose.ANSWER, "a = 1"),
        Cell("test", Purpose.TESTS, "", 5, prelude, checks),
        Cell("whole", Purpose.TESTS, "", 1, "", (Check("whole", 1, f"assert a\n{HIDDEN}"),)),
        Cell("gone", Purpose.TESTS, "", 5, prelude, checks),
    )
    examination = Examination(Blueprint("book", cells), Plan(frozenset(), {}), {})
    released = {"test": RELEASED, "whole": "assert a", "answer": "b = 2"}
    answer, test, whole, gone = visible(examination, released).blueprint.cells
    assert (answer, test.prelude, test.source) == (cells[0], "import numpy", RELEASED)
    assert [(check.title, check.source) for check in test.checks] == [
        ("seen", "assert a\n"),
        ("twice", "assert b"),
        ("twice", "assert c"),
    ]
    assert [check.source for check in whole.checks] == ["assert a"]
    assert (gone.prelude, gone.checks) == ("", ())
    answer, test, whole, gone = without_hidden_lines(examination, released).blueprint.cells
    assert answer == cells[0]
    assert [check.title for check in test.checks] == [check.title for check in checks]
    assert [check.source for check in test.checks] == ["assert a\n", "assert b", "", "", "assert c"]
    assert [check.source for check in gone.checks] == [""] * 5
