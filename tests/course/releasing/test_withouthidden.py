"""What a run without hidden lines, whose messages students read before the deadline, is made of."""

from __future__ import annotations

from tests.oral import Exam
from viva.course.grading.material import without_hidden_lines

TEXT = """--- answer
def double(x): return 2 * x
--- test
### CHECK 1: two
assert double(2) == 4
### BEGIN HIDDEN TESTS
assert double(71) == 142
### CHECK 1: many
assert double(72) == 144
### END HIDDEN TESTS
### CHECK 1: three
assert double(3) == 6
"""
RELEASED = "### CHECK 1: two\nassert double(2) == 4\n### CHECK 1: three\nassert double(3) == 6\n"


def test_a_hidden_block_that_spans_two_checks_leaves_no_line_and_no_check_changes_its_place(grader, tmp_path):
    exam = Exam(TEXT, grader, tmp_path)
    (test,) = exam.tests
    full = next(cell for cell in exam.examination.blueprint.cells if cell.id == test)
    shown = without_hidden_lines(exam.examination, {test: RELEASED})
    cell = next(cell for cell in shown.blueprint.cells if cell.id == test)
    assert [check.title for check in cell.checks] == [check.title for check in full.checks] == ["two", "many", "three"]
    texts = [cell.source, cell.prelude, *(check.source for check in cell.checks)]
    assert not any("71" in text or "72" in text for text in texts)
    outcome = grader.grade(exam.answered("def double(x): print(x); return 2 * x"), shown)
    assert [result.title for result in outcome.checks[test]] == ["two", "many", "three"]


def test_a_test_cell_that_was_released_empty_runs_nothing(grader, tmp_path):
    exam = Exam(TEXT, grader, tmp_path)
    shown = without_hidden_lines(exam.examination, {})
    outcome = grader.grade(exam.answered("def double(x): raise ValueError(x)"), shown)
    assert all(str(result.verdict) == "passed" for result in outcome.checks[exam.tests[0]]), "nothing was asked"
