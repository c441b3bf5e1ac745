"""nbgrader's own autograder, configured by nbgrader_config.py alone, repairs what `viva grade` repairs."""

from __future__ import annotations

import json
import random
import shutil

import nbformat
import pytest
from nbgrader.api import Gradebook
from nbgrader.converters import Autograde, NbGraderException
from nbgrader.coursedir import CourseDirectory

from tests.conftest import SHORT, hand_in, load
from tests.mangling import KEEPING, plain, without_the_end

RIGHT = "right/einsum"


def mangled(path, *ways: str) -> None:
    notebook = plain(nbformat.read(path, as_version=4))
    for way in ways:
        KEEPING[way](notebook, random.Random(4))
    path.write_bytes(without_the_end(notebook))


def by_nbgrader(course) -> None:
    _, config = load(course)
    config.CourseDirectory.assignment_id = SHORT
    Autograde(coursedir=CourseDirectory(config=config), config=config).start()


def rows(course) -> dict:
    with Gradebook(f"sqlite:///{course / 'gradebook.db'}") as gradebook:
        return {
            (one.student.id, grade.name): (grade.auto_score, bool(grade.needs_manual_grade))
            for one in gradebook.assignment_submissions(SHORT)
            for grade in one.notebooks[0].grades
        }


def test_a_broken_and_a_mangled_submission_get_there_what_viva_grade_gives_them(course, viva, tmp_path):
    mangled(hand_in(course, "anna", answer=RIGHT), "merge", "strip_nbgrader", "strip_ids")
    doubtful = hand_in(course, "ben", answer=RIGHT)
    mangled(doubtful, "strip_nbgrader", "strip_ids")
    text = doubtful.read_text().replace("def scaled_dot_product_self_attention", "def other")
    doubtful.write_text(text)
    for student in ("anna", "ben"):
        stamp = course / "submitted" / student / SHORT / "timestamp.txt"
        stamp.write_bytes(b"\xef\xbb\xbf2026-09-14 10:00:00 UTC\r\n")  # as Windows' editor saves it
    other = shutil.copytree(course, tmp_path / "other")
    assert viva("grade", SHORT).status == 0
    by_nbgrader(other)
    assert rows(course) == rows(other)
    for root in (course, other):
        with Gradebook(f"sqlite:///{root / 'gradebook.db'}") as gradebook:
            assert str(gradebook.find_submission(SHORT, "anna").timestamp) == "2026-09-14 10:00:00"
    scores = {name: score for (student, name), (score, _) in rows(other).items() if student == "anna"}
    assert scores["test_scaled_attention_sizes"] > 0 and scores["test_self_attention"] > 0
    (record, _) = [json.loads(line) for line in (other / "results.jsonl").read_text().splitlines()]
    assert record["notebooks"]["scaled_attention"]["repairs"][0]["kind"].startswith("json_breaks")


def test_what_is_no_notebook_is_refused_with_a_sentence(course, caplog):
    hand_in(course, "anna").write_text("%PDF-1.7")
    with pytest.raises(NbGraderException):
        by_nbgrader(course)
    assert "is not a notebook but a PDF" in caplog.text
    assert not (course / "autograded" / "anna").exists()
