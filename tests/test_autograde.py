"""The steps inside nbgrader's autograder, with nbgrader's own engine and a real kernel."""

from __future__ import annotations

import nbformat
import pytest
from nbgrader.api import Gradebook

from tests.conftest import SHORT, hand_in

RIGHT = "right/einsum"


@pytest.fixture
def submission(course, viva):
    def submission(student):
        assert viva("grade", SHORT).status == 0
        with Gradebook(f"sqlite:///{course / 'gradebook.db'}") as gradebook:
            found = gradebook.find_submission(SHORT, student)
            tasks = [grade for grade in found.notebooks[0].grades if grade.cell.type == "TaskCell"]
            return found.code_score, found.max_code_score, tasks[0].needs_manual_grade, tasks[0].auto_score

    return submission


def test_a_right_answer_that_warns_and_writes_to_stderr_is_right(course, submission):
    answer = "import sys, warnings\n"
    path = hand_in(course, "anna", answer=RIGHT)
    notebook = nbformat.read(path, as_version=4)
    cell = next(cell for cell in notebook.cells if cell.source.startswith("def scaled_dot_product"))
    head, _, body = cell.source.partition(":\n")
    cell.source = f"{answer}{head}:\n    warnings.warn('careful'); print('oops', file=sys.stderr)\n{body}"
    nbformat.write(notebook, path)
    score, maximum, *_ = submission("anna")
    assert score == maximum


def test_a_test_cell_that_was_made_to_be_skipped_earns_nothing(course, submission):
    path = hand_in(course, "anna")
    notebook = nbformat.read(path, as_version=4)
    for cell in notebook.cells:
        if cell.metadata.get("nbgrader", {}).get("grade"):
            cell.metadata.tags = ["skip-execution"]
    nbformat.write(notebook, path)
    assert submission("anna")[0] == 0


def test_a_written_answer_waits_for_a_grader(course, submission):
    hand_in(course, "anna", why_equivariant_answer="It is, and here is why.")
    assert submission("anna")[2:] == (True, None)


def test_an_empty_written_answer_waits_for_nobody(course, submission):
    hand_in(course, "anna")
    assert submission("anna")[2:] == (False, 0)


def test_an_empty_written_answer_waits_when_a_text_elsewhere_may_be_it(course, submission):
    path = hand_in(course, "anna")
    notebook = nbformat.read(path, as_version=4)
    words = "The outputs change their places exactly as the inputs do, since a weighted sum has no order."
    notebook.cells.insert(2, nbformat.v4.new_markdown_cell(words))
    nbformat.write(notebook, path)
    assert submission("anna")[2:] == (True, None)


def test_a_grade_given_by_hand_survives_grading_again(course, viva):
    hand_in(course, "anna")
    assert viva("grade", SHORT).status == 0
    url = f"sqlite:///{course / 'gradebook.db'}"
    with Gradebook(url) as gradebook:
        grade = gradebook.find_grade("why_equivariant", "scaled_attention", SHORT, "anna")
        grade.manual_score = 3
        gradebook.db.commit()
    assert viva("grade", SHORT, "--force").status == 0
    with Gradebook(url) as gradebook:
        assert gradebook.find_submission(SHORT, "anna").score == 3
