"""The file beside the gradebook: nothing of it is lost, whatever happens to its end."""

from __future__ import annotations

import json
from multiprocessing import get_context

import pytest
from nbgrader.coursedir import CourseDirectory

from viva.course.gradebook.results import Results
from viva.record import SCHEMA, Fault, SubmissionRecord, encode
from viva.verdict import CourseError


@pytest.fixture
def results(tmp_path) -> Results:
    return Results(tmp_path / "results.jsonl")


def record(student: str, **more: object) -> SubmissionRecord:
    return SubmissionRecord("ps1", student, **more)


def test_a_file_that_is_not_there_holds_nothing(results):
    assert results.read() == {}
    results.tidy()
    assert not results.path.exists()


def test_what_is_added_is_read(results):
    results.add([record("ä", seconds=1.5), record("b")])
    results.add([record("c", faults=[Fault("lines", "two\nlines")])])
    assert results.read() == {
        ("ps1", "ä"): record("ä", seconds=1.5),
        ("ps1", "b"): record("b"),
        ("ps1", "c"): record("c", faults=[Fault("lines", "two\nlines")]),
    }


def test_the_last_record_of_a_submission_counts(results):
    results.add([record("a", seconds=1), record("b", seconds=1)])
    results.add([record("a", seconds=2)])
    assert {student: found.seconds for (_, student), found in results.read().items()} == {"a": 2, "b": 1}


@pytest.mark.parametrize("kept", [1, 20, -1])
def test_a_line_that_was_cut_off_costs_that_line_only(results, kept):
    results.add([record("a"), record("b")])
    whole = results.path.read_bytes()
    results.path.write_bytes(whole[: whole.index(b"\n") + 1] + whole[whole.index(b"\n") + 1 :][:kept])
    results.add([record("c")])
    found = set(results.read())
    assert {("ps1", "a"), ("ps1", "c")} <= found
    assert (("ps1", "b") in found) == (kept == -1)


def around(line: str) -> str:
    """The text of a file in which a line stands between two records."""
    return "\n".join([encode(record("a")).decode(), line, encode(record("b")).decode(), ""])


@pytest.mark.parametrize("line", ["", "{", "\0\0\0", '{"assignment": "ps1", "student": "c", "notebooks": {"x": {}'])
def test_a_line_that_is_no_json_is_passed_over(results, line):
    results.path.write_text(around(line))
    assert set(results.read()) == {("ps1", "a"), ("ps1", "b")}


@pytest.mark.parametrize(
    "line", ["null", "[]", "3", '{"assignment": "ps1"}', '{"student": []}', '{"schema": 2, "notebooks": 3}']
)
def test_json_that_is_no_record_is_refused_with_its_line_and_what_to_do(results, line):
    results.path.write_text(around(line))
    with pytest.raises(CourseError, match=r"Line 2 of .* it is not the record of a graded submission: .* --force'"):
        results.read()


def test_what_a_newer_version_wrote_is_refused(results):
    results.path.write_text(around(json.dumps({"schema": SCHEMA + 1, "student": ["new"]})))
    with pytest.raises(CourseError, match="it is from a newer Viva"):
        results.read()


def test_bytes_that_are_no_text_are_passed_over(results):
    results.add([record("a")])
    with results.path.open("ab") as file:
        file.write(b"\xff\xfe\x80\n")
    results.add([record("b")])
    assert set(results.read()) == {("ps1", "a"), ("ps1", "b")}


def test_tidying_drops_what_was_replaced_and_nothing_else(results):
    for number in range(130):
        results.add([record(f"s{number % 5}", seconds=number)])
    before = results.read()
    results.tidy()
    assert results.read() == before
    assert len(results.path.read_text().splitlines()) == 5
    assert list(results.path.parent.iterdir()) == [results.path]


@pytest.mark.usefixtures("processes")
def test_several_processes_add_whole_lines(results):
    add_side_by_side(results)
    assert len(results.read()) == 3 * 20


@pytest.mark.usefixtures("processes")
def test_nothing_is_lost_when_others_tidy_meanwhile(results):
    results.path.write_text((encode(record("old")).decode() + "\n") * 300)
    add_side_by_side(results)
    assert len(results.read()) == 3 * 20 + 1
    assert len(results.path.read_text().splitlines()) < 300


def add_side_by_side(results: Results) -> None:
    context = get_context("fork")
    jobs = [context.Process(target=_add_many, args=(results, name)) for name in "abc"]
    for job in jobs:
        job.start()
    for job in jobs:
        job.join()
    assert not any(job.exitcode for job in jobs)


def _add_many(results: Results, name: str) -> None:
    for number in range(20):
        results.add([record(f"{name}{number}", faults=[Fault("x" * 5000)])])
        results.tidy()


@pytest.mark.parametrize(
    ("url", "place"),
    [
        ("sqlite:///gradebook.db", "results.jsonl"),
        ("sqlite:///books/gradebook.db", "books/results.jsonl"),
        ("postgresql://host/book", "results.jsonl"),
    ],
)
def test_the_file_stands_beside_the_gradebook(tmp_path, url, place):
    directory = CourseDirectory(root=str(tmp_path))
    directory.db_url = url
    assert Results.of(directory).path == tmp_path / place
