"""The numbers of students: each of a system; of what another program entered nothing is said until somebody does."""

from __future__ import annotations

import pytest

from viva.course.gradebook.identities import Identities
from viva.verdict import CourseError


def test_a_number_is_of_one_system_and_stays_where_a_newer_list_has_none(tmp_path):
    numbers = Identities.read(tmp_path)
    numbers.note("gradescope", {"anna": "40017", "bo": ""}, "roster")
    numbers.note("canvas", {"anna": "61000", "bo": "40017"}, "roster")
    numbers.note("canvas", {"anna": ""}, "roster")
    numbers.write()
    read = Identities.read(tmp_path)
    assert read.of("canvas") == {"anna": "61000", "bo": "40017"} and read.of("gradescope") == {"anna": "40017"}
    assert read.all("anna") == {"40017", "61000"} and read.of("lti:lms.example.edu") == {}


def test_a_number_that_no_list_gave_is_asked_about_and_not_interpreted(tmp_path):
    numbers = Identities.read(tmp_path)
    numbers.note("canvas", {"anna": "7"}, "roster")
    column = {"anna": "7", "bo": "8", "cy": ""}
    assert numbers.unknown(column) == ["bo"]
    assert "numbers of 1 student, such as '8' of 'bo'" in numbers.question(column)
    numbers.note("gradescope", {"bo": "8"}, "hand")
    assert numbers.question(column) == ""


def test_a_joined_id_hands_over_the_numbers_of_systems_that_are_not_known_yet(tmp_path):
    numbers = Identities.read(tmp_path)
    numbers.note("canvas", {"old": "1", "new": "2"}, "roster")
    numbers.note("gradescope", {"new": "3"}, "roster")
    numbers.hand_over("new", "old")
    assert numbers.of("canvas") == {"old": "1"} and numbers.of("gradescope") == {"old": "3"}


@pytest.mark.parametrize(
    "line", ["anna,canvas,,roster", "anna,,7,roster", "anna,canvas,7,roster\nanna,canvas,8,roster"]
)
def test_a_line_that_names_no_number_or_one_twice_is_refused(tmp_path, line):
    (tmp_path / "identities.csv").write_text(f"student_id,system,number,by\n{line}\n")
    with pytest.raises(CourseError, match=r"Line \d of .* Correct the line"):
        Identities.read(tmp_path)
