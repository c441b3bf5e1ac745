from __future__ import annotations

from markupsafe import Markup

from viva.engine.outcome import Frame
from viva.pages.exercise import Grade, Line, Lost, Question, exercises_of
from viva.pages.explanation import Explanation
from viva.verdict import Verdict


def question(*lines: Line) -> Question:
    return Question("q", Markup("Q"), Grade(0, 2, False, None), False, lines=list(lines))


def line(title: str, sentence: str = "Your code stopped with ValueError.", *frames: Frame) -> Line:
    return Line(title, 1, 0, Verdict.ERROR, Explanation(sentence, frames))


def test_an_error_at_the_same_line_is_told_once_in_an_exercise():
    here, there = Frame("f", 8, "f", "S = Q @ K"), Frame("f", 9, "f", "return S / 0")
    stopped = "Your code stopped with ValueError."
    lines = [line("a", stopped, here), line("b", stopped, here), line("c", stopped, there), line("d"), line("e")]
    (exercise,) = exercises_of([question(*lines[:2]), question(*lines[2:])], {})
    assert [(one.times, one.as_in) for one in exercise.lines] == [(2, ""), (1, "a"), (1, ""), (1, ""), (1, "")]


def test_an_exercise_is_open_where_a_check_passed_with_a_right_answer_above():
    said, silent = "It is right with the solution's softmax.", ""
    for sentence in (said, silent):
        (exercise,) = exercises_of([question(Line("a", 1, 1, Verdict.PASSED, Explanation(sentence)))], {})
        assert exercise.open == bool(sentence)


def test_a_cause_is_said_in_the_first_exercise_that_it_cost_a_check_and_referred_to_in_the_others():
    cause = Lost("The cell 'f' has a syntax error in line 1: invalid syntax.", "f", "def f(:")
    first, second, own = line("a"), line("b"), line("c")
    first.lost = second.lost = cause
    other = question(second, own)
    other.name = Markup("R")
    exercises = exercises_of([question(first), other], {})
    assert [[(group.cause, group.first) for group in one.dependent] for one in exercises] == [
        [(cause, True)],
        [(cause, False)],
    ]
    assert exercises[1].questions[0].begun == [own] and [group.points for group in exercises[1].dependent] == [1]
