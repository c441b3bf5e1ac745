"""What each student has, or why that is not to be written."""

from __future__ import annotations

from decimal import Decimal

import pytest

from plugins.term.tests.sheets.classroom import PS, enter, grade
from tests.conftest import load
from viva.course.gradebook import health
from viva_term.lms.rosterfile import Entry
from viva_term.sheets.marks import WAITS, Marks


@pytest.fixture
def marks(course):
    """The marks of a course, with options of ``Marks.of``."""
    enter(course, *(Entry(one, one.title(), "Test") for one in ("done", "late", "waits", "ill", "never", "zero")))
    grade(course, "done", 20.125)
    grade(course, "late", 10.0, days_late=2)
    grade(course, "waits", 5.0, waits=True)
    grade(course, "ill", 5.0)
    grade(course, "zero", 0.0)
    (course / "excused.csv").write_text(f"assignment,student_id,reason\n{PS},ill,until May\n")
    known = load(course)[0]
    health.settle(known)

    def marks(*chosen, **options) -> Marks:
        with known.gradebook() as gradebook:
            return Marks.of(known, gradebook, PS, *chosen, **options)

    return marks


def test_zero_is_a_score_and_nothing_is_none(marks):
    found = marks()
    assert {one.student: str(one.score) for one in found.scored} == {"done": "20.13", "late": "8.00", "zero": "0.00"}
    whys = {one.student: one.why for one in found.by.values() if one.why}
    assert whys == {"waits": WAITS, "ill": "excused: until May", "never": "not handed in"}
    assert [one.student for one in found.by.values() if one.excused] == ["ill"]
    assert [one.student for one in found.by.values() if one.late] == ["late"]
    assert found.maximum == 25


def test_raw_scores_and_unfinished_ones_are_options(marks):
    assert marks(raw=True).by["late"].score == 10
    assert marks(unfinished=True).by["waits"].score == 5
    assert list(marks("late").by) == ["late"] and "done" in marks("late").entries


def test_what_was_handed_in_and_cannot_be_graded_has_a_reason(course, marks):
    (course / "submitted" / "never" / PS).mkdir(parents=True)
    mark = marks().by["never"]
    assert mark.score is None and mark.why == "refused: no book.ipynb was submitted (found: nothing)"


def test_lateness_and_other_points_are_sentences_only_where_they_matter(marks):
    assert [*marks().warnings("The sheet")] == []
    (late,) = marks().warnings("The sheet", "It may.")
    assert late == (
        "One student is late; late penalties are already subtracted. It may. --raw writes scores without them."
    )
    (raw,) = marks(raw=True).warnings("The sheet", "It may.")
    assert raw == "One student is late, and late penalties are not subtracted, because of --raw."
    (points,) = marks("done").warnings("The sheet", "It may.", Decimal(10))
    assert points.startswith("The maximum of The sheet is 10 points, but 25 points in the gradebook.")
    assert [*marks("done").warnings("The sheet", "It may.", Decimal("25.0"))] == []
