from __future__ import annotations

import json

import nbformat
import pytest
from nbgrader.api import Gradebook

from tests.conftest import SHORT, load


def files(course):
    return {path.relative_to(course): path.read_bytes() for path in (course / "submitted").rglob("*") if path.is_file()}


def test_the_class_is_the_same_every_time(course, viva):
    assert viva("demo").status == 0
    first = files(course)
    assert viva("demo").status == 0
    assert files(course) == first
    students = {path.parts[1] for path in first}
    assert students == {f"demo-{number:02d}" for number in range(1, 25)}


def test_some_are_late_some_hand_nothing_in_and_every_notebook_is_one(course, viva):
    assert viva("demo").status == 0
    opened, _ = load(course)
    late = 0
    for assignment in opened.assignments():
        submissions = opened.submissions([assignment])
        assert 18 <= len(submissions) <= 24
        with opened.gradebook() as gradebook:
            due = gradebook.find_assignment(assignment).duedate
        for submission in submissions:
            (path,) = submission.folder.glob("*.ipynb")
            notebook = nbformat.read(path, as_version=4)
            nbformat.validate(notebook)
            assert f'NAME = "{submission.student}"' in "\n".join(cell.source for cell in notebook.cells)
            late += opened.directory.get_existing_timestamp(str(submission.folder)) > due
    assert 3 <= late <= 40


def test_other_submissions_and_due_dates_are_left_alone(course, viva):
    from datetime import datetime

    mine = course / "submitted" / "anna" / SHORT / "scaled_attention.ipynb"
    mine.parent.mkdir(parents=True)
    mine.write_text("mine")
    url = f"sqlite:///{course / 'gradebook.db'}"
    with Gradebook(url) as gradebook:
        gradebook.update_or_create_assignment(SHORT, duedate=datetime(2030, 1, 1))
    assert viva("demo", "--students=2").status == 0
    assert mine.read_text() == "mine"
    with Gradebook(url) as gradebook:
        assert gradebook.find_assignment(SHORT).duedate == datetime(2030, 1, 1)


def test_an_assignment_without_known_answers_is_said_to_have_none(course, viva):
    import shutil

    shutil.rmtree(course / "answers" / SHORT)
    result = viva("demo", SHORT)
    assert result.status == 2
    assert "has none" in result.err


def test_demo_before_release_says_what_to_do(course, viva):
    (course / "gradebook.db").unlink()
    result = viva("demo")
    assert result.status == 2
    assert "Run 'viva release" in result.err


@pytest.mark.slow
def test_the_whole_flow_is_one_command(course, viva):
    said = viva("demo", "--flow", "--students=2", SHORT)
    assert said.status == 0
    steps = ["release --no-audit", "demo", "grade", "feedback", "export", "report"]
    said_steps = [line for line in said.out.splitlines() if line.startswith("$")]
    assert said_steps == [f"$ viva {step} {SHORT}" for step in steps]
    assert len(list(course.glob(f"feedback/*/{SHORT}/*.html"))) == 2
    assert (course / "report" / "index.html").is_file() and (course / "grades.csv").is_file()
    assert json.loads(viva("demo", "--flow", "--students=2", "--json", SHORT).out)["students"] == 2
