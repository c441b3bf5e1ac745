"""Records that are taken out of a file and put back: every other byte stays."""

from __future__ import annotations

import json

import pytest

from plugins.term.tests.privacy.test_person import anna  # noqa: F401  (a fixture)
from viva_term.privacy import records

FILES = [
    ("g.csv", "student_id,x\r\nanna2,1\r\nanna,\"2\n3\"\r\nbo,4\r\n", "student_id,x\r\nanna2,1\r\nbo,4\r\n"),
    ("m.csv", "sep=;\nStudent;ID;Section\nO'Neil, Anna;7;3\nBo;9;1", "sep=;\nStudent;ID;Section\nBo;9;1"),
    ("last.csv", "id,x\nbo,1\nanna,2", "id,x\nbo,1\n"),
    ("r.jsonl", '{"student":"bo"}\n{"student":"anna","x":1}\n{"stud', '{"student":"bo"}\n{"stud'),
    (  # the scores that nbviva-lti sent
        "ps1.jsonl",
        '{"column":"c","user":"u1","student":"bo"}\n{"column":"c","user":"u2","student":"anna"}\n',
        '{"column":"c","user":"u1","student":"bo"}\n',
    ),
    (
        "regrades.jsonl",
        '{"event": "begun", "before": {"anna": {"score": 1}, "anna2": {"score": 2}}}\n',
        '{"event": "begun", "before": {"anna2": {"score": 2}}}\n',
    ),
    ("x.log", "graded bo\ngraded anna\ngraded anna2\n", "graded bo\ngraded anna2\n"),
    ("names.csv", "name\nZoë\n", "name\nZoë\n"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "text", "rest"), FILES, ids=[name for name, *_ in FILES])
@pytest.mark.parametrize("encoding", ["utf-8", "cp1252", "utf-16"])
def test_the_persons_records_go_and_come_back_byte_for_byte(anna, name, text, rest, encoding):  # noqa: F811
    if encoding == "utf-16" and not name.endswith(".csv"):
        pytest.skip("only other programs' tables are in UTF-16")
    data = text.encode(encoding)
    after, cuts = records.cut(name, data, anna)
    assert after == rest.encode(encoding)
    assert records.mended(name, after, cuts, anna) == (data, 0)
    assert records.mended(name, data, cuts, anna) == (data, 0)  # a run that was killed had not taken them out


def test_records_come_back_into_a_file_that_was_changed_since(anna):  # noqa: F811
    _, cuts = records.cut("e.csv", b"id,x\nanna,1\nbo,2\n", anna)
    assert records.mended("e.csv", b"id,x\nbo,3\ncy,4\n", cuts, anna) == (b"id,x\nanna,1\nbo,3\ncy,4\n", 0)
    assert records.mended("e.csv", b"", cuts, anna) == (b"id,x\nanna,1\n", 0)
    assert records.mended("e.csv", b"id,x\nanna,5\n", cuts, anna) == (b"id,x\nanna,5\n", 1)  # entered again
    assert records.mended("e.csv", b"id,x,y\nbo,3,\n", cuts, anna) == (b"id,x,y\nbo,3,\n", 1)


def test_a_document_loses_the_persons_parts_and_gets_them_back_beside_newer_ones(anna):  # noqa: F811
    memory = {
        "students": {"ps1": {"anna": {"n": 1}, "anna2": {"n": 2}}},
        "last": [{"student": "anna", "what": "graded"}, {"student": "bo", "what": "graded"}],
        "passed": {"anna+ps1+2026": {"what": "x"}, "anna2+ps1+2026": {"what": "y"}},
    }
    data = json.dumps(memory, indent=2).encode()
    after, cuts = records.cut("watch.json", data, anna)
    newer = json.loads(after)
    assert newer == {
        "students": {"ps1": {"anna2": {"n": 2}}},
        "last": [{"student": "bo", "what": "graded"}],
        "passed": {"anna2+ps1+2026": {"what": "y"}},
    }
    assert records.mended("watch.json", after, cuts, anna) == (data, 0)
    newer["students"]["ps1"]["cy"] = {"n": 9}
    mended, lost = records.mended("watch.json", json.dumps(newer).encode(), cuts, anna)
    memory["students"]["ps1"]["cy"] = {"n": 9}
    assert (json.loads(mended), lost) == (memory, 0)
