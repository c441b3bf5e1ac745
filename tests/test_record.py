"""A record is read as it was written, and what is no record is refused."""

from __future__ import annotations

import json

import msgspec
import pytest

from tests.conftest import PROJECT
from viva import wording
from viva.record import (
    SCHEMA,
    CheckResult,
    Fault,
    Note,
    NotebookRecord,
    SubmissionRecord,
    decode,
    doubtful,
    encode,
    note,
    settled,
)
from viva.verdict import CourseError, Verdict

FULL = SubmissionRecord(
    "ps1",
    "ä",
    graded="2026-09-14T10:00:00+00:00",
    key="5f0c",
    sandboxed=False,
    seconds=0.41,
    faults=[Fault("the disk was full")],
    notebooks={
        "book": NotebookRecord(
            checks={
                "test_rows": [
                    CheckResult("rows", 2.0, Verdict.PASSED, earned=2.0, seconds=0.1),
                    CheckResult("sums", 1.0, Verdict.TIMEOUT, cause=note("in_cell_of", "f", because=Note("killed"))),
                    CheckResult("more", 1.0, Verdict.ERROR, reason="KeyError: 'a'", raised_by="student", undone=["f"]),
                ]
            },
            repairs=[Note("may_belong", cells=("f",), numbers=(3,), doubt=True, tests=("test_rows",))],
            integrity=[note("touched", "numpy.mean")],
            sanitized=[note("shown_without", "<script>", numbers=(7,))],
            names=["Ada"],
        )
    },
)
HIDDEN = "\x1b[31m \x9b \u202e \x7f \U000e0001 ä 🙂"
FIRST = {
    "assignment": "ps1",
    "student": "b",
    "graded": "2026-09-14T10:00:00+00:00",
    "key": "5f0c",
    "wall": True,
    "seconds": 0.4,
    "faults": [],
    "notebooks": {"book": {"test": [{"title": "a", "points": 2, "earned": 0, "verdict": "failed", "reason": "No."}]}},
    "repairs": {"book": ["the cells were in another order"]},
    "sanitized": {},
    "names": {"book": ["Ada"]},
}


def test_a_record_is_read_as_it_was_written():
    assert decode(encode(FULL)) == FULL
    assert decode(encode(SubmissionRecord("ps1", "a"))) == SubmissionRecord("ps1", "a")


def test_a_line_of_the_first_form_is_read_with_what_it_said():
    record = decode(json.dumps(FIRST).encode())
    (result,) = record.notebooks["book"].checks["test"]
    assert (record.place, record.key, record.seconds) == (("ps1", "b"), "5f0c", 0.4)
    assert (result.verdict, result.points, result.reason) == (Verdict.FAILED, 2, "No.")
    assert record.notebooks["book"].repairs == [Note("told", names=("the cells were in another order",))]
    assert record.notebooks["book"].names == ["Ada"]


@pytest.mark.parametrize(
    ("change", "where"),
    [
        ({"notebooks": {"book": {"checks": {"test": [{"title": "a", "points": 1}]}}}}, "verdict"),
        ({"notebooks": {"book": {"repairs": [{"kind": "told", "colour": "red"}]}}}, "colour"),
        ({"wall": "yes"}, "wall"),
        ({"student": 3}, "student"),
    ],
)
def test_what_is_no_record_is_refused_with_the_place_of_what_is_wrong(change, where):
    with pytest.raises(CourseError, match=f"not the record of a graded submission: .*{where}"):
        decode(json.dumps(json.loads(encode(FULL)) | change).encode())


def test_names_that_a_stranger_chose_are_made_fit_to_be_kept_and_shown():
    told = note("opened", "a\x1b[2J\u202eb\nc\ud800", "x" * 10_000)
    assert all(name.isprintable() and len(name) <= 500 for name in told.names)
    encode(SubmissionRecord("ps1", "a", notebooks={"book": NotebookRecord(integrity=[told])}))


def result(earned: float) -> list[CheckResult]:
    return [CheckResult("a", 2.0, Verdict.PASSED if earned == 2 else Verdict.FAILED, earned)]


CHECKS = {"lost": result(0.0), "part": result(1.0), "passed": result(2.0)}
ALL = (*CHECKS, "written")


@pytest.mark.parametrize("kind, cells", [
    ("twice", {"lost", "part", "written"}),
    ("changes_arguments", {"part", "passed", "written"}),
    ("disguised", {"part", "passed", "written"}),
])  # fmt: skip
def test_a_grader_looks_where_a_doubt_may_have_cost_points_or_earned_them(kind, cells):
    assert {*doubtful([Note("told"), Note(kind, tests=ALL, doubt=True)], CHECKS)} == cells


def test_a_doubt_that_decided_nothing_asks_nobody_and_says_so():
    notes = [Note("rebuilt", tests=("passed",), doubt=True), Note("rebuilt", tests=("lost",), doubt=True)]
    first, second = settled(notes, CHECKS)
    assert (first.doubt, second.doubt) == (False, True)
    assert "grader" not in wording.sentence(first) and "a grader should check them" in wording.sentence(second)
    assert "grader" not in wording.sentence(first, wording.STUDENT)


def test_a_line_of_the_third_form_told_a_fault_in_its_last_line():
    log = "  File x, line 3\nOSError: no room"
    old = json.loads(encode(FULL)) | {"schema": 3, "faults": [log, "the disk was full"]}
    record = decode(json.dumps(old).encode())
    assert record.faults == [Fault("OSError: no room", log), Fault("the disk was full")]
    assert [str(fault) for fault in record.faults] == [log, "the disk was full"] and record.schema == SCHEMA
    with pytest.raises(CourseError, match=r"not the record of a graded submission: .*faults"):
        decode(json.dumps(old | {"faults": [3]}).encode())


def test_a_check_that_earned_a_part_had_passed_in_the_fourth_form():
    book = json.loads(encode(FULL)) | {"schema": 4}
    (notebook,) = book["notebooks"].values()
    earned = [{"title": str(part), "points": 2, "verdict": "passed", "earned": part} for part in (2, 0.5, 0)]
    notebook["checks"] = {"tests": earned}
    known = [(result.verdict, result.earned) for _, _, result in decode(json.dumps(book).encode()).results()]
    assert known == [(Verdict.PASSED, 2), (Verdict.PARTLY, 0.5), (Verdict.FAILED, 0)]


def test_the_schema_in_the_docs_is_that_of_the_record():
    page = PROJECT / "docs" / "results.schema.json"
    schema = json.dumps(msgspec.json.schema(SubmissionRecord), indent=2) + "\n"
    assert page.read_text(encoding="utf-8") == schema, (
        f"write json.dumps(..., indent=2) into {page.name}, and raise SCHEMA"
    )


def test_a_line_of_the_second_form_tells_the_exception_in_its_own_place():
    record = decode(json.dumps(json.loads(encode(FULL)) | {"schema": 2, "faults": ["the disk was full"]}).encode())
    passed, _, error = (result for _, _, result in record.results())
    assert (error.exception, error.message.strip(), passed.exception) == ("KeyError", "'a'", "")
    assert record.schema == SCHEMA


def test_nothing_in_a_line_is_hidden_or_obeyed_by_a_terminal():
    record = SubmissionRecord("ps1", "a", graded="2026-09-14T10:00:00+00:00", key="1", sandboxed=True, seconds=1.0)
    record.notebooks["book"] = NotebookRecord(
        checks={"t": [CheckResult("t", 1.0, Verdict.ERROR, reason=HIDDEN)]}, names=[HIDDEN]
    )
    line = encode(record)
    assert line.decode().isprintable() and "ä 🙂" in line.decode()
    assert decode(line) == record and json.loads(line)["notebooks"]["book"]["names"] == [HIDDEN]
