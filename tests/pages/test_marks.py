"""What the gradebook has of a class for its pages: of all at once the same as of each, in as many queries as of one."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest
from nbgrader.api import Gradebook, MissingEntry
from sqlalchemy import event

from viva.pages.page import Marks


def entered(book: Gradebook, *students: str) -> None:
    for number, student in enumerate(students, 1):
        book.add_student(student)
        book.add_submission("a1", student, timestamp=datetime(2026, 10, 1) + timedelta(hours=number))
        for name in ("one", "two"):
            grade = book.find_grade("tests", name, "a1", student)
            grade.auto_score, grade.manual_score = 0.1 * number, 0.7 if name == "two" else None
            grade.needs_manual_grade = name == "one"
            book.find_comment("tests", name, "a1", student).manual_comment = f"for {student}"
    book.db.commit()


@pytest.fixture
def book(tmp_path):
    with Gradebook(f"sqlite:///{tmp_path / 'gradebook.db'}") as book:
        book.add_assignment("a1", duedate=datetime(2026, 10, 1, 2))
        for name in ("one", "two"):
            book.add_notebook(name, "a1")
            for cell in ("tests", "more"):
                book.add_grade_cell(cell, name, "a1", max_score=1.1, cell_type="code")
            book.add_solution_cell("tests", name, "a1")
        entered(book, "anna", "bo", "cy")
        yield book


def queries(book: Gradebook, work) -> int:
    seen = []
    event.listen(book.engine, "before_cursor_execute", lambda *about: seen.append(about))
    work()
    return len(seen)


def test_the_marks_of_a_class_are_those_of_each(book):
    found = Marks.of_class(book, "a1")
    assert set(found) == {(one, name) for one in ("anna", "bo", "cy") for name in ("one", "two")}
    for (student, name), marks in found.items():
        assert Marks.of(book, name, "a1", student) == marks
        known = book.find_submission_notebook(name, "a1", student)
        assert (marks.score, marks.most) == (pytest.approx(known.score), pytest.approx(known.max_score))
        assert marks.seconds_late == known.assignment.total_seconds_late
        assert marks.comments == {"tests": f"for {student}"}
    assert found["cy", "two"].waiting and found["cy", "two"].notebooks == 2
    with pytest.raises(MissingEntry):
        Marks.of(book, "one", "a1", "nobody")


@pytest.mark.slow
def test_a_larger_class_is_no_more_queries(book):
    few = queries(book, lambda: Marks.of_class(book, "a1"))
    entered(book, *(f"s{number}" for number in range(20)))
    assert queries(book, lambda: Marks.of_class(book, "a1")) == few <= 5
