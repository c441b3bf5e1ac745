"""What came of one check crosses to the grading process as it was, no longer than it may be."""

from __future__ import annotations

import msgspec
import pytest

from viva.engine import wire
from viva.engine.outcome import CHARACTERS, CheckReport, failed
from viva.record import note
from viva.verdict import CandidateOdd, Verdict


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


def test_the_graders_own_exceptions_are_causes():
    report = crossed(failed(CandidateOdd("f()", "a generator"), "sums"))
    assert (report.verdict, report.raised_by, report.reason) == (Verdict.FAILED, "grader", "")
    assert report.cause == note("not_plain", "f()", "a generator")
