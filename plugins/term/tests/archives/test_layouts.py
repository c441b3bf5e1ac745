"""Names of members, as each system writes them, are told apart and read."""

from __future__ import annotations

from pathlib import Path

import pytest

from viva.verdict import CourseError
from viva_term.archives.archive import Member
from viva_term.archives.layouts import About, blind, lay, owners

ABOUT = About(
    "ps1",
    frozenset({"123", "77", "jdoe", "sara-h", "anna-b", "jane doe"}),
    frozenset({"group1", "group1288", "doejane"}),
)


def laid(*names: str, system: str = "", about: About = ABOUT):
    return lay([Member(tuple(name.split("/")), Path(name), 1, name) for name in names], about, system)


def read(name: str, **options) -> tuple:
    (piece,) = laid(name, **options).pieces
    return piece.sender.label, piece.sender.lms, "/".join(piece.parts)


@pytest.mark.parametrize(
    ("name", "label", "number", "file"),
    [
        ("doejane_123_4567_hw1.py", "doejane_123", "123", "hw1.py"),
        ("doejane_LATE_123_4567_hw1.py", "doejane_123", "123", "hw1.py"),
        ("doe_jane_123_4567_7_8_hw1.py", "doe_jane_123", "123", "7_8_hw1.py"),
        ("group_1_77_123_4567_hw1.py", "group_1_77", "77", "4567_hw1.py"),
        ("group_12_88_123_99_hw1.py", "group_12_88_123", "123", "hw1.py"),
        ("doejane_123_4567_group_1_77_1_text.html", "doejane_123", "123", "group_1_77_1_text.html"),
        ("evil_999_4567_x_123_99_hw1.py", "evil_999", "999", "x_123_99_hw1.py"),  # no way into another's folder
        ("evil_999_4567_x_123_text.html", "evil_999", "999", "x_123_text.html"),
        ("_LATE_123_4567_hw1.py", "_123", "123", "hw1.py"),  # of a name in pictures nothing is left
        ("_123_text.html", "_123", "123", "text.html"),
        ("doejane_123_4567_", "doejane_123", "123", ""),
        ("张伟_123_link.html", "张伟_123", "123", "link.html"),
    ],
)
def test_canvas(name, label, number, file):
    assert read(name) == (label, number, file)


@pytest.mark.parametrize(
    ("name", "login", "file"),
    [
        ("Problem Set 1_jdoe_attempt_2026-10-05-23-45-12_hw1.ipynb", "jdoe", "hw1.ipynb"),
        ("Set_1_j_doe_attempt_2026-10-05-23-45-12_my_hw.ipynb", "j_doe", "my_hw.ipynb"),
        ("Set_1_x_new_attempt_2026-10-05-23-45-12_hw1.ipynb", "new", "hw1.ipynb"),
        ("Set 1_jdoe_attempt_2026-10-05-23-45-12.txt", "jdoe", "blackboard.txt"),
        # A student's own file name is no way into another's folder.
        ("Set 1_evil_attempt_2026-10-05-23-45-12_x_jdoe_attempt_2026-10-05-23-45-13_a.ipynb", "evil",
         "x_jdoe_attempt_2026-10-05-23-45-13_a.ipynb"),
    ],
)  # fmt: skip
def test_blackboard(name, login, file):
    (piece,) = laid(name, about=About("ps1", frozenset({"jdoe", "j_doe"}))).pieces
    assert (piece.sender.login, "/".join(piece.parts), piece.time) == (login, file, "2026-10-05-23-45-12")


def test_ilias():
    found = laid("Set 1/Doe_Jane_jdoe_4711/a/hw1.ipynb", "Set 1/King_Bo_b_king_12/hw1.ipynb",
                 about=About("ps1", frozenset({"jdoe", "b_king"})))  # fmt: skip
    assert found.system == "ilias"
    pieces = [(one.sender.name, one.sender.login, one.sender.lms, "/".join(one.parts)) for one in found.pieces]
    assert pieces == [("Doe Jane", "jdoe", "", "a/hw1.ipynb"), ("King Bo", "b_king", "", "hw1.ipynb")]


def test_ilias_marks_a_late_file_before_its_name():
    (piece,) = laid("Set 1/Doe_Jane_jdoe_4711/Late Submission - my hw.ipynb").pieces
    assert (piece.parts, piece.late) == (("my hw.ipynb",), True)


@pytest.mark.parametrize(
    ("names", "folder"),
    [
        (["Set 1/Team 12/Doe_Jane_jdoe_4711/hw1.ipynb", "Set 1/Team 13/King_Bo_bking_12/hw1.ipynb"], "Team 12"),
        (["Team 12/Doe_Jane_jdoe_4711/hw1.ipynb", "Team 12/King_Bo_bking_12/notes.txt"], "Team 12"),
        (["Equipo 1/Doe_Jane_jdoe_4711/hw1.ipynb", "Equipo 2/King_Bo_bking_12/hw1.ipynb"], "Equipo 1"),
    ],
)
@pytest.mark.parametrize("system", ["", "ilias"])
def test_the_teams_of_an_ilias_exercise_are_refused_as_their_members_are_not_all_named(names, folder, system):
    with pytest.raises(CourseError, match=rf"'{folder}'.*named_regexp") as refused:
        laid(*names, system=system)
    assert "nothing was written" in str(refused.value)
    regexp = r".*/(?P<last_name>[^/_]+)_(?P<first_name>[^/_]+)_(?P<student_id>[^/_]+)_\d+/(?P<file_id>[^/]+)"
    found = laid(*names, system="nbgrader", about=About("ps1", regexp=regexp))
    assert [one.sender.login for one in found.pieces] == ["jdoe", "bking"], "the way out that the sentence names"


def test_an_exercise_of_ilias_that_is_called_like_a_team_is_none():
    found = laid("Exercise 3/Doe_Jane_jdoe_4711/hw1.ipynb", "Exercise 3/King_Bo_bking_12/hw1.ipynb")
    assert (found.system, len(found.pieces)) == ("ilias", 2)


def test_groups_of_blackboard_and_sakai_are_senders_of_their_own():
    (piece,) = laid("Set 1_Group 4_attempt_2026-10-05-23-45-12_hw1.ipynb").pieces
    assert piece.sender.login == "Group 4", "nobody of the class, so it waits in unmatched/"
    (piece,) = laid("Set 1/Group 4(0b1c-77)/Submission attachment(s)/hw1.ipynb").pieces
    assert (piece.sender.name, piece.sender.login) == ("Group 4", "0b1c-77")


def test_sakai():
    inner = "Set 1/Doe, Jane(jdoe)"
    found = laid(f"{inner}/Submission attachment(s)/a/hw1.ipynb", f"{inner}/timestamp.txt", f"{inner}/comments.txt",
                 f"{inner}/Doe, Jane(jdoe)_submissionText.html", "Set 1/grades.csv",
                 "Set 1/King, Bo(bking)/Submission attachment(s)/hw1.ipynb")  # fmt: skip
    assert found.system == "sakai"
    assert [(one.sender.login, "/".join(one.parts)) for one in found.pieces] == [
        ("jdoe", "a/hw1.ipynb"),
        ("jdoe", "timestamp.txt"),
        ("jdoe", "Doe, Jane(jdoe)_submissionText.html"),
        ("bking", "hw1.ipynb"),
    ]
    (odd,) = laid("Set 1/Doe (Jr.), Jane(jdoe)/Submission attachment(s)/hw1.ipynb").pieces
    assert (odd.sender.name, odd.sender.login) == ("Doe (Jr.), Jane", "jdoe")
    (flat,) = laid("Doe, Jane(jdoe)_Submission attachment(s)_my_hw.ipynb").pieces
    assert (flat.sender.login, flat.parts) == ("jdoe", ("my_hw.ipynb",))


@pytest.mark.parametrize(
    ("name", "label", "file"),
    [
        ("Jane Doe_1_assignsubmission_file/a/hw.py", "Jane Doe_1", "a/hw.py"),
        ("Jane Doe_1_assignsubmission_file_/hw.py", "Jane Doe_1", "hw.py"),
        ("Jane Doe_1_assignsubmission_file_my_hw.py", "Jane Doe_1", "my_hw.py"),
        ("Jane Doe_1_assignsubmission_onlinetext/onlinetext.html", "Jane Doe_1", "onlinetext.html"),
        ("Jane Doe_1_assignsubmission_onlinetext_onlinetext.html", "Jane Doe_1", "onlinetext.html"),
        ("Default group_assignsubmission_file/hw.py", "Default group", "hw.py"),
        ("Jane Doe_1_assignsubmission_file/x_2_assignsubmission_file/hw.py", "Jane Doe_1",
         "x_2_assignsubmission_file/hw.py"),
    ],
)  # fmt: skip
def test_moodle(name, label, file):
    assert read(name)[::2] == (label, file)


def test_participants_of_a_blind_assignment_are_told_from_people():
    one = "Participant_{}_assignsubmission_file/hw.py"
    assert blind(laid(one.format(1), one.format(2))) == {"Participant_1", "Participant_2"}
    assert blind(laid(one.format(1))) == {"Participant_1"}
    assert blind(
        laid(one.replace("Participant", "Osallistuja").format(1), one.replace("Participant", "Osallistuja").format(2))
    )
    assert blind(laid("Jane Doe_1_assignsubmission_file/hw.py", "Zoë_2_assignsubmission_file/hw.py")) == set()


@pytest.mark.parametrize(
    ("name", "label", "time", "file"),
    [
        ("1-2 - Jane Smith - Oct 11, 2025 1130 AM/hw.py", "Jane Smith", "Oct 11, 2025 1130 AM", "hw.py"),
        ("1-2 - Jane - Smith - Oct 11, 2025 930 AM/a - b.py", "Jane - Smith", "Oct 11, 2025 930 AM", "a - b.py"),
        ("1-2 - Eric G - Mar 29, 2018 1205 PM - a - b.zip", "Eric G", "Mar 29, 2018 1205 PM", "a - b.zip"),
        ("1-2 - Eric G - 11 oct. 2025 11:30/hw.py", "Eric G", "11 oct. 2025 11:30", "hw.py"),
    ],
)
def test_brightspace(name, label, time, file):
    (piece,) = laid(name).pieces
    assert (piece.sender.label, piece.time, "/".join(piece.parts)) == (f"1-2 - {label}", time, file)


@pytest.mark.parametrize(
    ("folder", "folders", "login"),
    [
        ("hw-one-sara-h", ["hw-one-sara-h"], "sara-h"),
        ("hw-one-anna-b-main", ["hw-one-anna-b-main"], "anna-b"),
        ("ps1-new-login", ["ps1-new-login"], "new-login"),
        ("hw-evil-jdoe", ["hw-sara-h", "hw-anna-b", "hw-evil-jdoe"], "evil-jdoe"),
        ("lab-b", ["lab-b", "lab-c"], "b"),
        ("lab-b", ["lab-b"], ""),
        ("lab-b", ["lab-b", "other-c"], ""),
    ],
)
def test_repositories(folder, folders, login):
    assert owners(folders, "ps1", ABOUT.known).get(folder, "") == login


def test_each_system_is_told_by_its_names_and_may_be_said():
    names = {
        "canvas": ["doejane_123_4567_hw1.py"],
        "moodle": ["C-PS-1/Jane Doe_1_assignsubmission_file/hw.py"],
        "brightspace": ["Lab 1/1-2 - J S - Oct 11, 2025 1130 AM/hw.py", "Lab 1/index.html"],
        "gradescope": ["assignment_1_export/submission_7/hw.py", "assignment_1_export/submission_metadata.yml"],
        "nbgrader": ["submitted/jdoe/ps1/hw.ipynb"],
        "github": ["ps1-submissions/ps1-jdoe/hw.ipynb", "ps1-submissions/ps1-who/hw.ipynb"],
        "folder": ["Jane Doe/hw.ipynb", "Somebody/a/hw.ipynb"],
    }
    assert {laid(*found).system for found in names.values()} == set(names)
    for system, found in names.items():
        assert laid(*found).system == laid(*found, system=system).system == system
    with pytest.raises(CourseError, match="are not those of Canvas"):
        laid(*names["moodle"], system="canvas")


def test_what_belongs_to_nobody_is_told():
    found = laid("doejane_123_4567_hw1.py", "doejane_123_4568_b.py", "readme.txt")
    assert [member.name for member in found.others] == ["readme.txt"]
