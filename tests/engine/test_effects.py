"""What an answer changes of a test's own counts as in one process; where points depend on it, a grader looks."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.oral import Exam, lost, read_tables
from viva.verdict import Verdict

TABLES = read_tables(Path(__file__).with_name("effects.txt"))
EXAMS, DECIDING, HARMLESS = TABLES[""], TABLES["deciding"], TABLES["harmless"]
NAMES = ["double", "lowest", "Line"]
"""What the three answers define, and the three tests ask for."""


@pytest.fixture(scope="module")
def exam(grader, tmp_path_factory) -> Exam:
    exam = Exam(EXAMS["arguments"], grader, tmp_path_factory.mktemp("effects"))
    assert not exam.examination.inside
    assert (lost(exam.grade()), exam.grade().doubts) == ({}, [])
    return exam


def answered(text: str) -> tuple[int, dict[str, str]]:
    """Which of the names a text defines, and the answers with it."""
    (place,) = (place for place, name in enumerate(NAMES) if name in text.strip().splitlines()[0])
    return place, {f"answer-{place + 1}": text}


@pytest.mark.parametrize("way", DECIDING)
def test_what_passes_only_because_an_answer_changes_a_tests_object_is_left_to_a_grader(exam, way):
    place, answer = answered(DECIDING[way])
    outcome, name, test = exam.grade(answer), NAMES[place], exam.tests[place]
    assert outcome.earned(test) == exam.grade(answer, alone=True).earned(test) == 1
    assert [(doubt.kind, doubt.names, doubt.tests) for doubt in outcome.doubts] == [
        ("changes_arguments", (name,), (test,))
    ]


@pytest.mark.parametrize("way", HARMLESS)
def test_a_change_on_which_no_point_depends_asks_nobody(exam, way):
    outcome = exam.grade(answered(HARMLESS[way])[1])
    assert (lost(outcome), outcome.doubts) == ({}, [])


def test_a_text_that_deletes_what_a_test_expects_is_left_to_a_grader(grader, tmp_path):
    exam = Exam(EXAMS["a database"], grader, tmp_path)
    right = exam.grade("query = 'SELECT a FROM rows WHERE NOT a <= 1 -- no update'")
    assert (lost(right), right.doubts) == ({}, [])
    for text in (
        "delete from expected",
        "DELETE\\nFROM expected WHERE 1",
        "/* */ with x as (select 1) delete from expected",
    ):
        outcome = exam.grade(f"query = {text!r}".replace("\\\\", "\\"))
        assert outcome.earned("test-2") == 1
        assert [(doubt.kind, doubt.tests) for doubt in outcome.doubts] == [("changes_database", ("test-2",))], text


def test_where_the_solutions_text_changes_a_database_too_nobody_is_asked(grader, tmp_path):
    exam = Exam(EXAMS["a database that the solution changes"], grader, tmp_path)
    assert (lost(exam.grade()), exam.grade().doubts) == ({}, [])


def test_where_the_time_ran_out_with_calls_of_a_tests_function_a_grader_looks(grader, tmp_path):
    """An integral as a loop of 300,000 calls, where the solution hands over one array: 0.1 s in one process."""
    exam = Exam(EXAMS["calls"], grader, tmp_path, viva={"seconds": 6})
    for variant, doubts in zip(exam.variants, (["calls_often"], []), strict=True):
        outcome = exam.grade(variant.answers)
        assert [result.verdict for result in outcome.checks[exam.tests[0]]] == [Verdict.TIMEOUT]
        assert [doubt.kind for doubt in outcome.doubts] == doubts
