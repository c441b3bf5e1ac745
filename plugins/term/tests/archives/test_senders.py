"""Whose the members of an archive are is the same to `viva collect` and to `viva roster --forget`."""

from __future__ import annotations

import csv
import zipfile

import pytest

from plugins.term.tests.archives.given import ASSIGNMENT, course_at, zipped

RUN = f"--assignment={ASSIGNMENT}", "--zone=UTC", "--no-times"
FORMS = {
    "a name of Brightspace's, in matches.csv": (
        {"41-7 - J. D. - Oct 1, 2026 1000 AM/hw1.ipynb": "jane",
         "41-8 - Ann ONeil - Oct 1, 2026 1000 AM/hw1.ipynb": ""},
        ["J. D.,jdoe,"],
    ),
    "a late file of Canvas's": (
        {"unheard_LATE_12_4567_hw1.ipynb": "jane", "kingjrbo_124_4568_hw1.ipynb": ""},
        ["unheard_12,jdoe,"],
    ),
    "a login of Blackboard's that is not on the roster": (
        {"PS1_qx9_attempt_2026-10-05-10-00-00_hw1.ipynb": "jane",
         "PS1_b.king_attempt_2026-10-05-10-00-00_hw1.ipynb": ""},
        ["qx9,jdoe,"],
    ),
    "folders of which one begins as the other": (
        {"unheard/hw1.ipynb": "jane", "unheard-of/hw1.ipynb": "", "unheard of/hw1.ipynb": ""},
        ["unheard,jdoe,", "unheard-of,bking,", "unheard of,zoe,"],
    ),
    "a sender of one assignment alone": (
        {"unheard/hw1.ipynb": "jane", "bking/hw1.ipynb": ""}, [f"unheard,jdoe,{ASSIGNMENT}"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("form", FORMS)
def test_what_collect_took_as_a_students_is_forgotten_and_does_not_come_back(viva, tmp_path, form):
    course = course_at(tmp_path / "course")
    members, lines = FORMS[form]
    path = zipped(course / "all.zip", members)
    (course / "matches.csv").write_text("\n".join(["sender,student_id,assignment", *lines, ""]))
    assert viva("collect", str(path), *RUN).status == 0
    assert (course / "submitted" / "jdoe" / ASSIGNMENT / "hw1.ipynb").read_text() == "jane"
    assert viva("roster", "--forget", "jdoe").status == 0
    with zipfile.ZipFile(path) as archive:
        assert archive.namelist() == [name for name, text in members.items() if not text]
    viva("collect", str(path), *RUN)
    assert not (course / "submitted" / "jdoe").exists()
    assert viva("roster", "--restore", "jdoe").status == 0
    with zipfile.ZipFile(path) as archive:
        assert archive.namelist() == [*members]


def test_what_lies_unpacked_in_the_course_is_listed(viva, tmp_path):
    course = course_at(tmp_path / "course")
    for name in ("41-7 - J. D. - Oct 1, 2026 1000 AM", "41-8 - Ann ONeil - Oct 1, 2026 1000 AM"):
        (course / "unpacked" / name).mkdir(parents=True)
        (course / "unpacked" / name / "hw1.ipynb").write_text("{}")
    (course / "matches.csv").write_text("sender,student_id\nJ. D.,jdoe\n")
    assert viva("collect", str(course / "unpacked"), *RUN).status == 0
    told = viva("roster", "--forget", "jdoe", "--json")
    assert "unpacked/41-7 - J. D. - Oct 1, 2026 1000 AM/hw1.ipynb" in told.out and "41-8" not in told.out


def test_attempts_say_by_whom_each_sender_was_resolved_and_an_older_list_is_read(viva, tmp_path):
    course = course_at(tmp_path / "course")
    members = dict.fromkeys(("125/hw1.ipynb", "b.king/hw1.ipynb", "jane doe/hw1.ipynb", "unheard/hw1.ipynb"), "x")
    path = zipped(course / "all.zip", members | {"sam1@x.edu/hw1.ipynb": "x", "Group A/hw1.ipynb": "ours"})
    (course / "matches.csv").write_text("sender,student_id\nunheard,zoe\n")
    assert viva("collect", str(path), *RUN).status == 0
    table = course / "attempts" / f"{ASSIGNMENT}.csv"

    def by() -> dict[tuple[str, str], str]:
        with table.open(newline="", encoding="utf-8") as file:
            return {(row["student_id"], row["sender"]): row["by"] for row in csv.DictReader(file)}

    known = by()
    assert known == {
        ("oneil", "125"): "number", ("bking", "b.king"): "login", ("jdoe", "jane doe"): "name",
        ("zoe", "unheard"): "matches.csv", ("sam1", "sam1@x.edu"): "address",
        ("sam1", "Group A"): "group", ("sara", "Group A"): "group",
    }  # fmt: skip
    with table.open(newline="", encoding="utf-8") as file:
        rows = list(csv.reader(file))
    with table.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(row[:-1] for row in rows)  # as an older Viva wrote it
    assert viva("roster", "--forget", "jdoe", "--dry-run").status == 0
    assert viva("collect", str(path), *RUN).status == 0
    assert by() == known


def test_a_sender_who_is_another_student_now_is_told_with_who_has_the_files_since_before(viva, tmp_path):
    """Whoever got them by the name keeps them, and a score, until somebody decides."""
    course = course_at(tmp_path / "course")
    path = zipped(course / "all.zip", {"jane doe/hw1.ipynb": "x"})
    assert viva("collect", str(path), *RUN).status == 0
    (course / "matches.csv").write_text("sender,student_id\njane doe,zoe\n")
    told = viva("collect", str(path), *RUN)
    assert told.status == 1
    assert "Attempt 1 is in the folder of 'jdoe' (found by name)" in told.out.replace("\n", " ")
