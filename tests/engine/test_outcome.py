"""What a candidate says of a cell becomes outputs that every notebook can hold."""

from __future__ import annotations

import re

import msgspec
import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook

from tests.odd import Odd
from viva import wording
from viva.course.examining.autograde import show
from viva.engine import wire
from viva.engine.dialogue.integrity import facts
from viva.engine.outcome import (
    ALL_CHARACTERS,
    CHARACTERS,
    MOST_COUNT,
    CheckReport,
    Outcome,
    count_of,
    failed,
    outputs_of,
    own_frames,
    raised_in,
)
from viva.record import note
from viva.submission.work import as_text
from viva.verdict import CandidateOdd, Verdict

SHOWN = {"output_type": "display_data", "data": {"text/plain": "x"}, "metadata": {}}
ODD = {
    "half a character": {"output_type": "stream", "name": "stdout", "text": "\ud800 \N{GRINNING FACE}"},
    "half a character in a name": {"output_type": "error", "ename": "\udfff", "evalue": "", "traceback": ["\ud800"]},
    "metadata that JSON cannot say": SHOWN | {"metadata": {"a": {1, 2}, "b": b"x"}},
    "metadata with other keys": SHOWN | {"metadata": {1: 2, (1, 2): 3}},
    "metadata without end": SHOWN | {"metadata": {"a": float("nan"), "b": 10**5000}},
    "metadata that are a list": SHOWN | {"metadata": [1, 2]},
    "more than belongs to it": SHOWN | {"extra": 1, "transient": {1}},
    "data that are no text": SHOWN | {"data": {"text/plain": 5, "image/png": b"x"}},
    "a number that is none": SHOWN | {"output_type": "execute_result", "execution_count": {"a": 1}},
    "a number without end": SHOWN | {"output_type": "execute_result", "execution_count": 10**5000},
    "a number below nothing": SHOWN | {"output_type": "execute_result", "execution_count": -6},
    "not a number": SHOWN | {"output_type": "execute_result"},
    "an unknown type": {"output_type": "update_display_data"},
    "no output": 5,
}


@pytest.mark.parametrize("name", ODD)
def test_odd_outputs_make_a_notebook_that_can_be_written(name, tmp_path):
    outcome = Outcome(outputs={0: (outputs_of({"outputs": [ODD[name], SHOWN]}), count_of({"count": 1}))})
    notebook = new_notebook(cells=[new_code_cell("1")])
    show(notebook, outcome)
    nbformat.validate(notebook)
    nbformat.write(notebook, tmp_path / "notebook.ipynb")
    kept = nbformat.read(tmp_path / "notebook.ipynb", as_version=4).cells[0].outputs
    assert kept[-1] == SHOWN and len(kept) <= 2


def test_ordinary_outputs_stay_as_they_are():
    outputs = [
        {"output_type": "stream", "name": "stderr", "text": "Größe\n"},
        {"output_type": "error", "ename": "E", "evalue": "e", "traceback": ["a", "b"]},
        SHOWN | {"metadata": {"image/png": {"width": 5}}},
        SHOWN | {"output_type": "execute_result", "execution_count": 3},
    ]
    assert outputs_of({"outputs": outputs}) == outputs


def test_more_than_a_notebook_should_hold_is_dropped_and_said():
    text = {"output_type": "stream", "name": "stdout", "text": "x" * (ALL_CHARACTERS // 2)}
    kept = outputs_of({"outputs": [text, text, text]})
    assert kept == [text, text | {"text": "[more output was cut here]\n"}]


@pytest.mark.parametrize("count", [True, -1, MOST_COUNT + 1, "1", None, 1.5])
def test_a_number_of_a_cell_that_is_none_is_left_out(count):
    assert count_of({"count": count}) is None
    assert count_of({"count": 10**5000}) is None and count_of({"count": 7}) == 7


def test_what_a_notebook_may_hold_is_counted_over_all_its_cells():
    outcome = Outcome(room=1000)
    for index in range(3):
        outcome.keep(index, {"outputs": [{"output_type": "stream", "name": "stdout", "text": "x" * 600}], "count": 1})
    outcome.keep(0, {"outputs": []})
    assert [len(str(outcome.outputs[index][0])) > 600 for index in range(3)] == [True, False, False]
    assert "[more output was cut here]" in str(outcome.outputs[2])


def test_no_reply_about_a_cell_is_too_odd_for_a_notebook(tmp_path):
    for seed in range(300):
        odd = Odd(f"outputs {seed}")
        parts = ("name", "text", "ename", "evalue", "traceback", "data", "metadata", "execution_count")
        types = ("stream", "error", "display_data", "execute_result", odd.plain())
        items = [{"output_type": output_type} | {part: odd.value() for part in parts} for output_type in types]
        items += [SHOWN | {odd.random.choice([*SHOWN]): odd.value()}, SHOWN | {"metadata": {"a": odd.value()}}]
        reply = {"outputs": odd.random.choice([items, odd.value()]), "count": odd.value(), "facts": odd.value()}
        outcome = Outcome(sandboxed=True)
        outcome.keep(0, reply)
        notebook = new_notebook(cells=[new_code_cell("1")])
        show(notebook, outcome)
        nbformat.validate(notebook)
        nbformat.write(notebook, tmp_path / "notebook.ipynb")
        assert all(wording.sentence(fact) for fact in facts(reply, [], True))


def crossed(report: CheckReport) -> CheckReport:
    return CheckReport.crossed(wire.decode(wire.encode(report.crossing())))


def test_a_report_is_the_same_on_the_other_side():
    cause = note("in_cell_of", "f", because=note("killed"), numbers=(1, 2))
    report = CheckReport("sums", Verdict.KILLED, "no", "KeyError", cause, "trace", "out", "0.5", 0.25, "student", "f")
    report.running, report.died = ["g"], True
    assert crossed(report) == report


def test_no_text_of_it_is_longer_than_it_may_be():
    report = crossed(CheckReport("sums", Verdict.ERROR, "r" * 10**6, traceback="t" * 10**6, printed="p" * 10**6))
    assert {len(report.reason), len(report.traceback), len(report.printed)} == {CHARACTERS}


def test_what_is_no_report_is_refused():
    with pytest.raises(msgspec.ValidationError):
        CheckReport.crossed({"title": "sums", "verdict": "excellent"})


def test_an_exception_tells_its_class_and_an_assertion_of_the_test_none():
    told = {type(error): failed(error, "sums") for error in (KeyError("x"), AssertionError("Row 0 sums to 3."))}
    assert [(one.verdict, one.exception, one.reason) for one in told.values()] == [
        (Verdict.ERROR, "KeyError", "KeyError: 'x'"),
        (Verdict.FAILED, "", "Row 0 sums to 3."),
    ]


def test_what_the_student_raises_is_theirs_and_what_they_call_it_is_quoted():
    theirs = AssertionError("no"), type("Failed", (Exception,), {})("no"), SyntaxError("no")
    for error in theirs:
        error.viva_traceback, error.viva_name = "their lines", "my error"
    told = [failed(error, "sums") for error in (*theirs, type(theirs[1])("ours"))]
    assert [(one.verdict, one.reason, one.traceback, one.raised_by) for one in told] == [
        (Verdict.FAILED, "'my error': no", "their lines", "student"),
        (Verdict.FAILED, "'my error': no", "their lines", "student"),
        (Verdict.ERROR, "'my error': no", "their lines", "student"),
        (Verdict.FAILED, "ours", "tests.engine.test_outcome.Failed: ours", "test"),
    ]
    theirs[2].viva_traceback, theirs[2].text = "", "bad line"
    assert failed(theirs[2], "sums").traceback == "SyntaxError: no"


def test_of_a_traceback_what_the_grader_does_and_calls_is_left_out():
    names = {"as_text": as_text, "book": new_notebook(cells=[new_code_cell("")])}
    names["book"].cells[0].outputs = [5]
    with pytest.raises(nbformat.ValidationError) as raised:
        exec(compile("as_text(book)", "<cell>", "exec"), names)
    assert re.findall('File "(.*?)"', failed(raised.value, "sums").traceback) == [__file__, "<cell>"]


def test_an_exception_that_a_cell_only_shows_has_ended_it_too():
    shown = {"output_type": "error", "ename": "KeyError", "evalue": "'x'", "traceback": ["a", "b"]}
    known = {"name": "KeyError", "message": "'x'", "traceback": "a\nb", "attributes": {}}
    assert raised_in({"raised": None, "outputs": [SHOWN, shown]}) == known
    assert raised_in({"raised": {"name": "E"}, "outputs": [shown]}) == {"name": "E"}
    assert raised_in({"outputs": [SHOWN]}) is raised_in({"outputs": 5}) is None


def test_of_a_traceback_the_lines_that_stand_in_a_cell_are_the_students():
    lines = (1, "a = 1"), (2, "f()"), (2, "g()"), (3, "f()"), (0, "f()"), (3, ""), (4, "g()")
    text = "\n".join(f'  File "<ipython-input-1>", line {number}, in f\n    {code}' for number, code in lines)
    found = own_frames(text, {"one": "a = 1\n  f()\n\n", "two": "a = 1\nh()\n\ng()"})
    assert [(frame.cell, frame.line, frame.code) for frame in found] == [
        ("one", 1, "a = 1"),
        ("one", 2, "f()"),
        ("two", 4, "g()"),
    ]


def test_the_graders_own_exceptions_are_causes():
    report = crossed(failed(CandidateOdd("f()", "a generator"), "sums"))
    assert (report.verdict, report.raised_by, report.reason) == (Verdict.FAILED, "grader", "")
    assert report.cause == note("not_plain", "f()", "a generator")
