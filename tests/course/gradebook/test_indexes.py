"""What one submission has is found without reading everybody's, and to record it costs the same in any class."""

from __future__ import annotations

from collections import Counter
from datetime import datetime
from pathlib import Path

import pytest
from nbgrader.api import Gradebook
from nbgrader.coursedir import CourseDirectory
from sqlalchemy import event, text
from sqlalchemy.engine import Engine
from traitlets.config import Config

from viva.course.gradebook import indexes, lateness
from viva.course.gradebook.recording import Graded, Writer

pytestmark = pytest.mark.xdist_group("record")

QUERIES = {
    "grade": "SELECT * FROM grade WHERE notebook_id = 'x'",
    "comment": "SELECT * FROM comment WHERE notebook_id = 'x'",
    "submitted_notebook": "SELECT * FROM submitted_notebook WHERE assignment_id = 'x'",
    "submitted_assignment": "SELECT * FROM submitted_assignment WHERE student_id = 'x'",
}
DUE = datetime(2026, 9, 14, 12)


@pytest.fixture
def root(tmp_path) -> Path:
    """A course whose gradebook knows an assignment and nobody yet."""
    with book(tmp_path) as gradebook:
        gradebook.add_assignment("a1", duedate=DUE)
        gradebook.add_notebook("one", "a1")
        gradebook.add_grade_cell("tests", "one", "a1", max_score=8, cell_type="code")
        gradebook.add_solution_cell("answer", "one", "a1")
    return tmp_path


def book(root: Path) -> Gradebook:
    return Gradebook(f"sqlite:///{root / 'gradebook.db'}", "viva")


def plan(gradebook: Gradebook, query: str) -> str:
    with gradebook.engine.connect() as connection:
        return str(connection.execute(text(f"EXPLAIN QUERY PLAN {query}")).all())


def test_each_table_that_is_asked_for_one_submission_has_an_index_for_it(root):
    with book(root) as gradebook:
        assert all("SCAN" in plan(gradebook, query) for query in QUERIES.values())
        assert len(indexes.ensure(gradebook)) == len(QUERIES)
        for table, query in QUERIES.items():
            assert f"USING INDEX viva_{table}" in plan(gradebook, query)


def test_indexes_that_are_there_are_not_made_again(root):
    with book(root) as gradebook:
        indexes.ensure(gradebook)
        assert indexes.ensure(gradebook) == []


@pytest.mark.slow
def test_a_gradebook_that_another_program_has_locked_stays_as_it_is(root):
    with book(root) as gradebook, book(root) as other:
        other.db.execute(text("BEGIN EXCLUSIVE"))
        assert indexes.ensure(gradebook) == []
        other.db.rollback()


def test_a_gradebook_on_a_server_gets_them_too(postgres):
    with Gradebook(postgres.create("indexes"), "viva") as gradebook:
        assert len(indexes.ensure(gradebook)) == len(QUERIES)
        assert indexes.ensure(gradebook) == []


def recorded(root: Path, first: int, last: int) -> Counter:
    """Record the submissions of students; how many statements it took, and how many values went with them."""
    config, directory, spent = Config(), CourseDirectory(), Counter()
    directory.root, directory.course_id = str(root), "viva"
    directory.db_url = f"sqlite:///{root / 'gradebook.db'}"
    config.AssignLatePenalties.plugin_class = "viva.course.deadlines.policy.LatePolicy"
    config.LatePolicy.per_day = 0.1

    def count(_connection, _cursor, _statement, parameters, _context, _many) -> None:
        spent.update(statements=1, values=len(parameters))

    writer = Writer(directory, config)
    event.listen(Engine, "before_cursor_execute", count)
    try:
        for number in range(first, last):
            scores = {"one": {"tests": (4.0, False)}}
            writer.record([Graded("a1", f"s{number}", datetime(2026, 9, 15), scores, {"one": {"answer": None}})])
    finally:
        event.remove(Engine, "before_cursor_execute", count)
        writer.close()
        lateness._followed.clear()
    return spent


def test_to_record_one_more_costs_the_same_however_many_are_recorded(root):
    recorded(root, 0, 2)
    few = recorded(root, 2, 4)
    recorded(root, 4, 60)
    assert recorded(root, 60, 62) == few
    with book(root) as gradebook:
        penalties = [one.late_submission_penalty for one in gradebook.assignment_submissions("a1")]
    assert penalties == [pytest.approx(0.4)] * 62
