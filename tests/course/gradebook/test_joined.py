"""Two ids of one student, as same.csv has them."""

from __future__ import annotations

import pytest

from viva.course.gradebook.joined import SAME, Joined, read
from viva.verdict import CourseError


@pytest.mark.parametrize("rows", [",ada,ps1", "a2,,ps1", "ada,ada,ps1", "a2,ada,ps1\na2,bo,ps1"])
def test_a_line_without_two_ids_or_with_one_again_is_named_and_nobody_is_joined(tmp_path, rows):
    (tmp_path / SAME).write_text(f"id,student_id,moved\n{rows}\n")
    line = 1 + len(rows.splitlines())
    with pytest.raises(CourseError, match=f"Line {line} of .*{SAME} does not have two ids, or has '.*' again"):
        read(tmp_path)


def test_two_other_ids_of_one_student_are_read(tmp_path):
    (tmp_path / SAME).write_text("id,student_id\na2,ada\na3,ada\n")
    assert read(tmp_path) == {one: Joined(one, "ada") for one in ("a2", "a3")}
