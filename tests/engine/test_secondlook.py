"""A refusal is never a silent zero: where one process accepts what was refused, a grader is asked."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.oral import Exam, lost, read_tables
from viva.engine.secondlook import in_one_process

TABLES = read_tables(Path(__file__).with_name("secondlook.txt"))
EXAMS, ACCEPTED, WRONG = TABLES[""], TABLES["accepted in one process"], TABLES["wrong there too"]


def graded(exam, answer):
    """The outcome of an answer that a batch grades."""
    return exam.grader.grade(exam.answered(answer), exam.examination, second_look=True)


@pytest.fixture(scope="module")
def exam(grader, tmp_path_factory):
    exam = Exam(EXAMS["three answers"], grader, tmp_path_factory.mktemp("secondlook"))
    assert lost(exam.grade()) == {} and not exam.examination.inside and graded(exam, None).doubts == []
    return exam


@pytest.mark.parametrize("answer", [*ACCEPTED, *WRONG])
def test_of_what_is_refused_a_grader_decides_unless_it_is_wrong_in_one_process_too(exam, answer):
    text = (ACCEPTED | WRONG)[answer]
    (place,) = (place for place, name in enumerate(("pair", "ages", "days")) if f"def {name}()" in text)
    outcome = graded(exam, {f"answer-{place + 1}": text})
    assert len(lost(outcome)) == 1
    doubts = [("refused_accepted", (exam.tests[place],))] if answer in ACCEPTED else []
    assert [(one.kind, one.tests) for one in outcome.doubts] == doubts


def test_where_a_test_says_that_a_plain_value_lacks_something_a_grader_decides_if_one_process_accepts_it(
    grader, tmp_path
):
    """As ``array.array`` is a list here, which ``struct`` does not read. A list that the student made is wrong."""
    exam = Exam(EXAMS["less than it was"], grader, tmp_path)
    assert not exam.examination.inside
    right = graded(exam, "import array\ndef packed(x): return array.array('i', [x])")
    assert [(one.kind, one.tests) for one in right.doubts] == [("refused_accepted", (exam.tests[0],))]
    wrong = graded(exam, "def packed(x): return [x]")
    assert len(lost(wrong)) == len(lost(right)) == 2 and wrong.doubts == []


LESS = TABLES["less than it was"]


@pytest.mark.parametrize("case", LESS)
def test_where_a_value_came_as_less_than_it_was_a_grader_decides_and_of_what_one_process_refuses_none(
    case, grader, tmp_path
):
    exam = Exam(LESS[case], grader, tmp_path)
    assert not exam.examination.inside
    kind = "refused_unseen" if "HIDDEN" in LESS[case] else "refused_accepted"
    for variant in exam.variants:
        outcome = graded(exam, variant.answers)
        doubts = [(kind, (exam.tests[0],))] if variant.right else []
        assert lost(outcome) and [(one.kind, one.tests) for one in outcome.doubts] == doubts


def test_where_hidden_lines_decide_a_grader_is_asked_and_no_hidden_line_enters_the_students_process(grader, tmp_path):
    exam = Exam(EXAMS["hidden lines decide"], grader, tmp_path)
    outcome = graded(exam, TABLES["hidden"]["a class that can be indexed too"])
    assert len(lost(outcome)) == 2
    assert [(one.kind, one.tests) for one in outcome.doubts] == [("refused_unseen", (exam.tests[0],))]
    assert "secret =" not in str(in_one_process(exam.examination).blueprint.cells)
