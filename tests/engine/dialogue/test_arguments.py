"""The arguments of a call come back changed, and nothing else that a test does to a value reaches the student."""

from __future__ import annotations

from collections import Counter, OrderedDict
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from nbformat.v4 import new_code_cell

from tests.oral import Exam, lost, read_tables
from viva.engine import wire
from viva.engine.dialogue.arguments import Handed, parts_of, take, taken

TABLES = read_tables(Path(__file__).with_name("arguments.txt"))
EXAMS = TABLES[""]

CHANGED = TABLES["changed"]


@pytest.mark.parametrize("text", CHANGED.values(), ids=CHANGED)
def test_arguments_come_back_changed(grader, tmp_path, text):
    Exam("--- given\nimport copy\nimport numpy as np\n" + text, grader, tmp_path).prove()


def test_expected_numbers_that_a_test_subtracts_in_place_never_reach_the_student(grader, tmp_path):
    text = """
--- given
import numpy as np
--- answer
def f(x): return x + 1
--- test
### CHECK 1: first
out = f(np.zeros(3))
out -= np.ones(3) * 1234
pair = [f(np.ones(3)), 2]
### CHECK 1: second
assert np.all(f(np.ones(3)) == 2)
"""
    spy = """
kept = []
def f(x):
    if any(abs(old).max() > 1000 for old in kept):
        return x + 2
    kept.append(x + 1)
    return kept[-1]
"""
    exam = Exam(text, grader, tmp_path)
    assert [str(result.verdict) for result in exam.grade(spy).checks[exam.tests[0]]] == ["passed", "passed"]


def test_what_a_test_does_to_a_value_in_place_never_reaches_the_student(grader, tmp_path):
    exam = Exam(EXAMS["hidden"], grader, tmp_path)
    assert lost(exam.grade()) == {} and not exam.examination.inside
    notebook = exam.answered(exam.variants[0].answers)
    notebook.cells.append(new_code_cell("print(seen)", id="last"))
    outcome = grader.grade(notebook, exam.examination)
    assert lost(outcome) == {}
    shown = str(outcome.outputs[3])
    assert "1234" not in shown and "1233" not in shown and "array" in shown, shown


def test_an_object_that_comes_into_a_list_of_the_tests_is_refused(grader, tmp_path):
    exam = Exam(EXAMS["new objects"], grader, tmp_path)
    assert lost(exam.grade()) == {} and not exam.examination.inside
    assert "an object of class Yes" in str(lost(exam.grade(exam.variants[0].answers)))


def test_an_argument_that_is_given_back_is_judged_as_it_is_and_not_as_it_is_said_to_be(grader, tmp_path):
    exam = Exam(EXAMS["forged"], grader, tmp_path)
    assert lost(exam.grade()) == {} and not exam.examination.inside
    forged, honest = [lost(exam.grade(variant.answers)) for variant in exam.variants]
    assert forged == honest and len(honest) == 2


def test_an_object_that_the_test_knows_does_not_come_into_another_list_by_a_student(grader, tmp_path):
    exam = Exam(EXAMS["known objects"], grader, tmp_path)
    assert lost(exam.grade()) == {} and not exam.examination.inside
    assert len(lost(exam.grade(exam.variants[0].answers))) == 3


def told(before: list, change) -> list:
    """The arguments of the examiner's, after the candidate has changed its copies."""
    theirs = wire.decode(wire.encode(before))
    handed = Handed(theirs, lambda value: None, ())
    change(theirs)
    if "changed" in (news := handed.news(None)):
        take(parts_of(before), wire.decode(news["changed"]))
    return before


@pytest.mark.parametrize(
    ("value", "change"),
    [
        ([1, [2]], lambda value: value[1].append(3)),
        ({"a": 1}, lambda value: value.update(b=2)),
        ({1, 2}, lambda value: value.add(3)),
        (bytearray(b"a"), lambda value: value.extend(b"b")),
        (OrderedDict(a=1, b=2), lambda value: value.move_to_end("a")),
        (Counter("aab"), lambda value: value.update("b")),
        (([1], 2), lambda value: value[0].append(3)),
        ([[1], [2]], lambda value: value.reverse()),
        ([[1], [2]], lambda value: value.append((value[0], [3]))),
    ],
)
def test_what_is_changed_in_place_is_changed_on_both_sides(value, change):
    expected = wire.decode(wire.encode(value))
    change(expected)
    assert told([value], lambda args: change(args[0])) == [expected] and list(value) == list(expected)


def test_what_a_function_was_handed_changes_on_both_sides_when_it_is_put_back():
    theirs, row = [[1]], [5]
    handed = Handed(theirs, lambda value: None, ())
    mine = parts_of(before := [[1]])
    for number in (7, 8):
        theirs[0][0] = row[0] = number
        taken(wire.decode(wire.encode([theirs[0], row])), {}, handed.hand_over([theirs[0], row]), mine)
    assert before == [[8]] and mine[1] == [8]
    theirs[0][0], row[0] = 1, 7
    take(mine, wire.decode(handed.news(None)["changed"]))
    assert before == [[1]] and mine[1] == [7]


def test_arrays_and_frames_are_changed_in_their_own_memory():
    array, frame = np.zeros((2, 2)), pd.DataFrame({"a": [1, 2]})
    view = array[0]
    told([array, frame], lambda args: (args[0].fill(3), args[1].insert(0, "b", 7)))
    assert view.tolist() == [3, 3] and frame["b"].tolist() == [7, 7]


def test_what_is_put_in_the_place_of_a_part_does_not_change_that_part():
    row = [1]
    rows = [row]
    told([rows], lambda args: args[0].__setitem__(0, [2]))
    assert rows == [[2]] and row == [1]
    told([rows, row], lambda args: args[0].append(args[1]))
    assert rows[1] is row


@pytest.mark.parametrize("theirs", [None, 5, [], [[1], [2]], {0: [1]}])
def test_arguments_that_are_none_are_refused(theirs):
    with pytest.raises(wire.WireError):
        take([[1]], theirs)


@pytest.mark.parametrize("theirs", [[np.zeros(3)], [[1, 2]], [{"a": 1}], [7], [None]])
def test_what_has_become_of_another_type_changes_nothing(theirs):
    array = np.zeros(2)
    take([array], theirs)
    assert array.tolist() == [0, 0]


@pytest.mark.parametrize("numbers", [None, [], [-1], [7], ["a"], [None], [0, 0, 0], [2**70], {0: 0}])
def test_numbers_of_what_a_callback_is_handed_may_be_anything(numbers):
    mine = [[1]]
    assert taken(([5],), {}, numbers, mine)[0] == [[5]]
