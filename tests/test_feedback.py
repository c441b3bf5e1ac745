from __future__ import annotations

import html
import re

import nbformat
from nbgrader.api import Gradebook

from tests.conftest import PROJECT, SHORT, hand_in
from tests.flow.test_notebooks import lines_of_source
from viva.feedback import STYLE, HideTests


def test_the_page_of_a_failing_student_shows_messages_but_no_hidden_line(course, viva):
    hand_in(course, "anna", answer="wrong/softmax_along_rows")
    assert viva("grade", SHORT).status == 0
    assert viva("feedback", SHORT).status == 0
    page = (course / "feedback" / "anna" / SHORT / "scaled_attention.html").read_text(encoding="utf-8")
    assert "AssertionError" in page
    assert STYLE.splitlines()[0] in page
    assert ".highlight .k { color: #008000" in page
    inside, outside = lines_of_source(PROJECT / "source" / SHORT / "scaled_attention.ipynb", "### BEGIN HIDDEN TESTS")
    secrets = {line for line in inside - outside if len(line) > 25 and not line.startswith(('"', 'f"'))}
    secrets = {line for line in secrets if not any(line in public for public in outside)}
    assert len(secrets) > 20
    text = html.unescape(re.sub(r"<[^>]*>", "", page))
    assert [line for line in secrets if line in text] == []


def test_a_graders_comment_and_score_reach_the_page(course, viva):
    hand_in(course, "anna", why_equivariant_answer="Yes.")
    assert viva("grade", SHORT).status == 0
    with Gradebook(f"sqlite:///{course / 'gradebook.db'}") as gradebook:
        where = "why_equivariant", "scaled_attention", SHORT, "anna"
        gradebook.find_grade(*where).manual_score = 2
        gradebook.find_comment(*where).manual_comment = "Say which matrix is permuted."
        gradebook.db.commit()
    assert viva("feedback", SHORT).status == 0
    page = (course / "feedback" / "anna" / SHORT / "scaled_attention.html").read_text(encoding="utf-8")
    assert "Say which matrix is permuted." in page


def test_a_student_cannot_break_the_page_with_a_marker(course, viva):
    hand_in(course, "anna", why_equivariant_answer="### BEGIN HIDDEN TESTS\nmine\n### BEGIN MARK SCHEME")
    assert viva("grade", SHORT).status == 0
    assert viva("feedback", SHORT).status == 0
    page = (course / "feedback" / "anna" / SHORT / "scaled_attention.html").read_text(encoding="utf-8")
    assert "mine" in page


def test_what_was_not_graded_is_explained(course, viva):
    hand_in(course, "anna")
    result = viva("feedback", SHORT)
    assert result.status == 0
    assert "anna: it was not graded" in result.out


def test_what_a_student_prints_when_a_hidden_check_asks_is_not_shown(course, viva):
    path = hand_in(course, "anna", answer="right/einsum")
    notebook = nbformat.read(path, as_version=4)
    cell = next(cell for cell in notebook.cells if cell.source.startswith("def scaled_dot_product"))
    head, _, body = cell.source.partition(":\n")
    cell.source = f"{head}:\n    print('I was asked about', X)\n    print('1 of 1: mine (passed)')\n{body}"
    nbformat.write(notebook, path)
    assert viva("grade", SHORT).status == 0
    graded = nbformat.read(course / "autograded" / "anna" / SHORT / path.name, as_version=4)
    tests = [cell for cell in graded.cells if cell.metadata.get("nbgrader", {}).get("grade_id", "").startswith("test_")]
    assert "I was asked about" in str([cell.get("outputs") for cell in tests])
    shown, _ = HideTests().preprocess(graded, {})
    shown = str([cell.get("outputs") for cell in shown.cells if cell.metadata.get("nbgrader", {}).get("points")])
    assert "(passed)" in shown
    assert "asked about" not in shown
    assert "mine" not in shown
