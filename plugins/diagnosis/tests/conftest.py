"""The small course, graded."""

from __future__ import annotations

from pathlib import Path

import pytest

from plugins.diagnosis.tests.course import NAME, SUBMISSIONS, WRITTEN, write_source
from tests.handmade import empty_course, released, submit
from viva.course.grading.batch import autograde


@pytest.fixture(scope="session")
def means(processes, tmp_path_factory) -> Path:
    """The course, graded."""
    root = empty_course(tmp_path_factory.mktemp("means"))
    write_source(root)
    course, config = released(root, NAME)
    for student, answers in SUBMISSIONS.items():
        written = {"why": WRITTEN[student]} if student in WRITTEN else {}
        submit(root, student, NAME, **answers, **written)
    list(autograde(course, course.submissions([NAME]), config=config))
    return root
