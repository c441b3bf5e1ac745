"""`viva collect` on archives as each system gives them: what it says, writes and refuses."""

from __future__ import annotations

import csv
import json
from datetime import datetime

import pytest

from plugins.term.tests.archives.given import (
    ASSIGNMENT,
    BOOK,
    GERMAN,
    GRADESCOPE,
    WORKSHEET,
    course_at,
    folder,
    packed,
    tree,
    zipped,
)
from tests.conftest import load
from viva.submission.files.handin import find

ZONE = "--zone=Europe/Berlin"


@pytest.fixture
def course(tmp_path):
    return course_at(tmp_path / "course")


def handed(course) -> dict[str, str]:
    """What lies in submitted/, as texts."""
    return {name: data.decode(errors="replace") for name, data in tree(course / "submitted").items()}


def stamp(course, student) -> str:
    return (course / "submitted" / student / ASSIGNMENT / "timestamp.txt").read_text().strip()


def test_canvas_takes_its_prefixes_off_and_asks_for_times(course, collect, tmp_path):
    path = zipped(
        tmp_path / "submissions.zip",
        {
            "doejane_123_4567_hw1-1.ipynb": "jane",
            "doejane_123_4568_my_data_2.csv": "1",
            "kingjrbo_LATE_124_4569_hw1.ipynb": "bo",
            "leezoë_126_4570_hw1.ipynb": "zoë",
            "oneilann_125_text.html": "<p>no file</p>",
        },
    )
    before = tree(course)
    asked = collect(path)
    assert asked.status == 2 and "Canvas archives have no times" in asked.err
    assert "--time='2026-10-05 23:59'" in asked.err and "--no-times" in asked.err
    zone = collect(path, "--time=2026-10-05 23:59")
    assert (
        zone.status == 2
        and "3 times have no time zone" not in zone.err
        and "4 times have no time zone" in zone.err
        and "--zone=Europe/Berlin" in zone.err
    )
    assert {name: data for name, data in tree(course).items() if "lock" not in name} == before
    done = collect(path, "--time=2026-10-05 23:59", ZONE)
    assert (done.status, done.err) == (0, "")
    assert "Canvas says that these submissions are late, but gives no time (" in done.out
    stamps = {
        f"{student}/ps1/timestamp.txt": "2026-10-05 21:59:00 UTC\n" for student in ("jdoe", "bking", "zoe", "oneil")
    }
    assert handed(course) == stamps | {
        "jdoe/ps1/hw1.ipynb": "jane",
        "jdoe/ps1/my_data_2.csv": "1",
        "bking/ps1/hw1.ipynb": "bo",
        "zoe/ps1/hw1.ipynb": "zoë",
        "oneil/ps1/text.html": "<p>no file</p>",
    }
    again = collect(path)
    assert again.status == 0 and "Nothing changed in submitted/." in again.out
    opened = load(course)[0]
    for submission in opened.submissions([ASSIGNMENT], "jdoe"):
        assert opened.directory.get_existing_timestamp(str(submission.folder)) == datetime(2026, 10, 5, 21, 59)
        assert [one.name for one in find(submission, {"hw1"}).files["hw1"]] == ["hw1.ipynb"]


@pytest.mark.parametrize(
    ("names", "sheet"),
    [
        (("Jane Doe_1_assignsubmission_file_/sub/hw1.ipynb", "Ann ONeil_3_assignsubmission_file_/hw1.ipynb"), GERMAN),
        (("Participant_1_assignsubmission_file/hw1.ipynb",
          "Participant_3_assignsubmission_file_/hw1.ipynb"), WORKSHEET),
        (("C - PS1 - 7/Jane Doe_1_assignsubmission_file/hw1.ipynb",
          "C - PS1 - 7/Ann ONeil_3_assignsubmission_file/hw1.ipynb"), GERMAN),
    ],
    ids=["before-4.1", "blind", "in-a-folder"],
)  # fmt: skip
def test_moodle_is_read_with_its_worksheet(course, collect, tmp_path, names, sheet):
    path = zipped(tmp_path / "m.zip", dict(zip(names, ("jane", "ann"), strict=True)))
    (tmp_path / "sheet.csv").write_text(sheet, encoding="utf-8")
    done = collect(path, f"--times={tmp_path / 'sheet.csv'}", ZONE)
    assert (done.status, done.err) == (0, "")
    assert (stamp(course, "jdoe"), stamp(course, "oneil")) == ("2026-10-05 21:59:00 UTC", "2026-10-05 22:05:00 UTC")
    assert {name.split("/")[0] for name in handed(course)} == {"jdoe", "oneil"}


def test_moodle_without_a_worksheet_is_asked_for_it(collect, tmp_path):
    done = collect(zipped(tmp_path / "m.zip", {"Jane Doe_1_assignsubmission_file/hw1.ipynb": ""}), ZONE)
    assert done.status == 2 and "Download the assignment's grading worksheet" in done.err


def test_a_team_of_moodle_is_the_group_and_its_number_is_no_participant(course, collect, tmp_path):
    path = zipped(tmp_path / "m.zip", {"Group A_1_assignsubmission_file/hw1.ipynb": "ours"})
    (tmp_path / "sheet.csv").write_text(WORKSHEET, encoding="utf-8")
    done = collect(path, f"--times={tmp_path / 'sheet.csv'}", "--no-times")
    assert done.status == 0
    assert handed(course) == {"sara/ps1/hw1.ipynb": "ours", "sam1/ps1/hw1.ipynb": "ours"}


def test_brightspace_tells_times_and_the_newest_attempt_counts(course, collect, tmp_path):
    path = zipped(
        tmp_path / "b.zip",
        {
            "Lab/39786-640694 - Jane Doe - Oct 11, 2026 1130 AM/hw1.ipynb": "first",
            "Lab/39786-640695 - Jane Doe - Oct 12, 2026 930 AM/hw1.ipynb": "second",
            "Lab/39787-640696 - Zoë 🙂 Lee - Oct 12, 2026 1205 AM/hw1.ipynb": "zoë",
            "Lab/index.html": "<html><body>nothing</body></html>",
        },
    )
    asked = collect(path)
    assert asked.status == 2 and "have no time zone, such as 2026-10-1" in asked.err
    done = collect(path, ZONE)
    assert (done.status, done.err) == (0, "")
    assert handed(course) == {
        "jdoe/ps1/hw1.ipynb": "second",
        "jdoe/ps1/timestamp.txt": "2026-10-12 07:30:00 UTC\n",
        "zoe/ps1/hw1.ipynb": "zoë",
        "zoe/ps1/timestamp.txt": "2026-10-11 22:05:00 UTC\n",
    }
    assert (course / "attempts/ps1/jdoe/1/hw1.ipynb").read_text() == "first"
    assert not (course / "attempts/ps1/jdoe/2").exists()


def test_gradescope_tells_people_times_and_groups(course, collect, tmp_path):
    files = {
        "assignment_9_export/submission_metadata.yml": GRADESCOPE,
        "assignment_9_export/submission_77/hw1.ipynb": "jane",
        "assignment_9_export/submission_78/hw1.ipynb": "both",
    }
    done = collect(zipped(tmp_path / "g.zip", files))
    assert (done.status, done.err) == (0, "")
    assert {name: text for name, text in handed(course).items() if BOOK in name} == {
        "jdoe/ps1/hw1.ipynb": "jane",
        "bking/ps1/hw1.ipynb": "both",
        "zoe/ps1/hw1.ipynb": "both",
    }
    assert stamp(course, "jdoe") == "2026-10-05 16:19:13.226151 UTC"
    assert stamp(course, "zoe") == stamp(course, "bking") == "2026-10-05 16:19:13 UTC"


def test_repositories_of_github_are_read_as_a_zip_and_as_a_folder(course, collect, tmp_path):
    files = {"hw-one-sara-h/hw1.ipynb": "s", "hw-one-zlee/hw1.ipynb": "z", "hw-one-zlee/.git/config": "no"}
    path = zipped(tmp_path / "g.zip", {f"hw-one-submissions/{name}": text for name, text in files.items()})
    asked = collect(path)
    assert asked.status == 2 and "submission_timestamp" in asked.err
    grades = tmp_path / "grades.csv"
    grades.write_text(
        "assignment_name,github_username,roster_identifier,submission_timestamp,points_awarded\n"
        "hw one,sara-h,sara,2026-10-05 20:59:00 UTC,1\nhw one,zlee,,2026-10-05 21:59:00 UTC,2\n"
    )
    assert collect(path, f"--times={grades}").status == 0
    assert {name for name in handed(course) if BOOK in name} == {"sara/ps1/hw1.ipynb", "zoe/ps1/hw1.ipynb"}
    assert stamp(course, "zoe") == "2026-10-05 21:59:00 UTC"
    again = collect(folder(tmp_path / "hw-one-submissions", files), f"--times={grades}")
    assert again.status == 0 and "Nothing changed" in again.out


def test_nbgraders_own_layouts_bring_their_times(course, collect, tmp_path):
    files = {
        "submitted/jdoe/ps1/hw1.ipynb": "jane",
        "submitted/jdoe/ps1/timestamp.txt": "2026-10-05 23:59:00.5 Europe/Berlin",
        "submitted/zoe/other/hw1.ipynb": "no",
    }
    done = collect(zipped(tmp_path / "n.zip", files))
    assert done.status == 0 and "these are not submissions: 'submitted/zoe/other/hw1.ipynb'" in done.out
    assert stamp(course, "jdoe") == "2026-10-05 21:59:00.500000 UTC"
    inbound = {"zoe+ps1+2026-10-05 21:00:00.000000 UTC+abc/hw1.ipynb": "zoë"}
    assert collect(zipped(tmp_path / "i.zip", inbound)).status == 0
    assert stamp(course, "zoe") == "2026-10-05 21:00:00 UTC"


def test_the_zone_of_a_timestamp_is_kept_and_read_as_the_course_means_it(course, collect, tmp_path):
    told = "2026-10-24 23:58:00.000000 IST"
    path = folder(tmp_path / "in", {f"jdoe/{ASSIGNMENT}/hw1.ipynb": "x", f"jdoe/{ASSIGNMENT}/timestamp.txt": told})
    asked = collect(path)
    assert asked.status == 2 and told in asked.err and not (course / "submitted" / "jdoe").exists()
    with (course / "nbgrader_config.py").open("a") as config:
        config.write('\nc.Exchange.timezone = "Asia/Kolkata"\n')
    assert collect(path).status == 0
    assert stamp(course, "jdoe") == "2026-10-24 18:28:00 UTC"
    assert told in (course / "attempts" / f"{ASSIGNMENT}.csv").read_text()


def test_a_timestamp_that_nobody_can_read_goes_where_its_attempt_goes(course, collect, tmp_path):
    place = course / "submitted" / "jdoe" / ASSIGNMENT
    place.mkdir(parents=True)
    (place / "hw1.ipynb").write_text("old")
    (place / "timestamp.txt").write_text("24.10. one minute to midnight")
    path = folder(tmp_path / "in", {"jdoe/hw1.ipynb": "new"})
    assert collect(path, "--time=2026-10-25 12:00 UTC").status == 0
    kept = course / "attempts" / ASSIGNMENT / "jdoe" / "1"
    assert (kept / "hw1.ipynb").read_text() == "old"
    assert (kept / "timestamp.txt").read_text().strip() == "24.10. one minute to midnight"


def test_a_list_of_times_is_in_the_zone_of_the_course_also_for_nbgraders_folders(course, collect, tmp_path):
    path = folder(tmp_path / "in", {f"jdoe/{ASSIGNMENT}/hw1.ipynb": "x"})
    times = tmp_path / "times.csv"
    times.write_text("student_id,timestamp\njdoe,2026-10-24 23:58\n")
    assert collect(path, f"--times={times}", ZONE).status == 0
    assert stamp(course, "jdoe") == "2026-10-24 21:58:00 UTC"


def test_sakai_and_ilias_tell_logins(course, collect, tmp_path):
    sakai = folder(tmp_path / "sakai", {"Set 1/Doe, Jane(jdoe)/Submission attachment(s)/hw1.ipynb": "sakai",
                                        "Set 1/Doe, Jane(jdoe)/timestamp.txt": "2026-10-05 21:58:00 UTC"})  # fmt: skip
    assert collect(sakai).status == 0
    assert handed(course)[f"jdoe/{ASSIGNMENT}/hw1.ipynb"] == "sakai"
    assert stamp(course, "jdoe") == "2026-10-05 21:58:00 UTC"
    ilias = folder(tmp_path / "ilias", {"Set 1/Doe_Jane_jdoe_4711/hw1.ipynb": "ilias"})
    assert collect(ilias, "--time=2026-10-06 12:00 UTC").status == 0
    assert handed(course)[f"jdoe/{ASSIGNMENT}/hw1.ipynb"] == "ilias"


def test_names_are_read_by_the_expression_of_zip_collect(course, collect, tmp_path):
    with (course / "nbgrader_config.py").open("a") as config:
        config.write(
            r'c.FileNameCollectorPlugin.named_regexp = '
            r'r".*_(?P<student_id>\w+)_attempt_(?P<timestamp>[0-9\-]+)_(?P<file_id>\w+)"' "\n"
        )  # fmt: skip
    files = {
        "ps1_zoe_attempt_2026-01-30-15-00-00_hw1.ipynb": "old",
        "ps1_zoe_attempt_2026-01-30-16-00-00_hw1.ipynb": "new",
        "ps1_ivan_attempt_2026-01-30-16-00-00_hw1.ipynb": "ivan",
    }
    done = collect(zipped(tmp_path / "n.zip", files))
    assert done.status == 0
    assert handed(course) == {
        "zoe/ps1/hw1.ipynb": "new",
        "zoe/ps1/timestamp.txt": "2026-01-30 16:00:00 UTC\n",
        "ivan/ps1/hw1.ipynb": "ivan",
        "ivan/ps1/timestamp.txt": "2026-01-30 16:00:00 UTC\n",
    }


def test_a_folder_for_each_student_may_be_called_by_id_login_address_or_name(course, collect, tmp_path):
    names = ("jdoe", "aoneil", "bo@x.edu", "Lee, Zoë", "حداد سارة")
    place = folder(tmp_path / "all", {f"{name}/hw1.ipynb": name for name in names})
    assert collect(place, "--no-times").status == 0
    assert {name.split("/")[0] for name in handed(course)} == {"jdoe", "oneil", "bking", "zoe", "sara"}
    assert not any("timestamp" in name for name in handed(course))


def test_a_students_own_timestamp_is_never_nbgraders(course, collect, tmp_path):
    path = zipped(
        tmp_path / "c.zip",
        {"doejane_123_1_hw1.ipynb": "x", "doejane_123_2_timestamp.txt": "2001-01-01 00:00:00 UTC",
         "leezoë_126_2_all.zip": packed({"TimeStamp.txt": "2001-01-01", "hw1.ipynb": "z"})},
    )  # fmt: skip
    done = collect(path, "--no-times")
    assert done.status == 0 and "'timestamp.txt' was renamed to 'timestamp (1).txt'" in done.out
    assert {name for name in handed(course) if name.lower().endswith("/timestamp.txt")} == set()


def test_who_cannot_be_matched_is_listed_kept_and_settled_by_a_line_without_the_archive(course, collect, tmp_path):
    files = {
        "39786-640694 - Sam Smith - Oct 11, 2026 1130 AM/hw1.ipynb": "sam",
        "39786-640695 - Janet Doe - Oct 11, 2026 1130 AM/hw1.ipynb": "janet",
        "39786-640696 - A Teacher - Oct 11, 2026 1130 AM/hw1.ipynb": "try",
    }
    path = zipped(tmp_path / "b.zip", files)
    done = collect(path, ZONE)
    assert done.status == 1 and "3 unidentified submissions" in done.out
    assert "2 students have that name: 'sam1' or 'sam2'" in done.out and "jdoe (Jane Doe)" in done.out
    assert handed(course) == {}
    assert len([name for name in tree(course / "unmatched") if BOOK in name]) == 3
    again = collect(path, ZONE)
    assert again.status == 1 and len([name for name in tree(course / "unmatched") if BOOK in name]) == 3
    (course / "matches.csv").write_text(
        "sender,student_id\n39786-640694 - Sam Smith,sam2\njanet doe,jdoe\nA Teacher,-\n"
    )
    path.unlink()
    settled = collect(ZONE)
    assert settled.status == 0 and "not students: '39786-640696 - A Teacher'" in settled.out
    assert {name: text for name, text in handed(course).items() if BOOK in name} == {
        "sam2/ps1/hw1.ipynb": "sam",
        "jdoe/ps1/hw1.ipynb": "janet",
    }
    assert stamp(course, "sam2") == "2026-10-11 09:30:00 UTC"
    assert [name for name in tree(course / "unmatched") if BOOK in name] == ["ps1/39786-640696 - A Teacher/1/hw1.ipynb"]
    (course / "matches.csv").write_text("sender,student_id\nSomebody,jdo\n")
    wrong = collect(ZONE)
    assert wrong.status == 2 and "'jdo' is not enrolled. Did you mean 'jdoe'?" in wrong.err


def test_what_waits_stays_until_it_was_written(course, collect, tmp_path):
    files = {"team7_999_1_hw1.ipynb": "ours", "who_998_2_hw1.ipynb": "who"}
    assert collect(zipped(tmp_path / "c.zip", files), "--no-times").status == 1
    (course / "matches.csv").write_text("sender,student_id\nteam7_999,zoe\nteam7_999,ivan\nwho_998,jdoe\n")
    (course / "submitted").mkdir(exist_ok=True)
    (course / "submitted" / "ivan").symlink_to(tmp_path)
    assert collect("--no-times", "--student=jdoe").status == 0
    assert set(handed(course)) == {"jdoe/ps1/hw1.ipynb"}
    assert collect("--no-times").status == 1
    assert [name for name in tree(course / "unmatched") if BOOK in name] == ["ps1/team7_999/1/hw1.ipynb"]
    (course / "submitted" / "ivan").unlink()
    assert collect("--no-times").status == 0
    assert set(handed(course)) == {f"{one}/ps1/hw1.ipynb" for one in ("jdoe", "zoe", "ivan")}
    assert not (course / "unmatched").exists()


def test_the_index_of_brightspace_tells_times_where_the_names_do_not(course, collect, tmp_path):
    index = (
        "<html><body><table><tr><th>Name</th><th>Submitted</th></tr>"
        "<tr><td>Jane Doe</td><td><a href='x'>hw1.ipynb</a></td><td>Oct 11, 2026 11:30 AM</td></tr>"
        "<tr><td>Zoë 🙂 Lee</td><td>Oct 12, 2026 9:30 AM</td></tr></table></body></html>"
    )
    files = {"3-1 - Jane Doe - no time/hw1.ipynb": "j", "3-2 - Zoë Lee - no time/hw1.ipynb": "z"}
    asked = collect(zipped(tmp_path / "a.zip", files), ZONE)
    assert asked.status == 2 and "no clear day, hour and minute, such as 'no time'" in asked.err
    done = collect(zipped(tmp_path / "b.zip", files | {"index.html": index}), ZONE)
    assert (done.status, stamp(course, "jdoe"), stamp(course, "zoe")) == (
        0, "2026-10-11 09:30:00 UTC", "2026-10-12 07:30:00 UTC"
    )  # fmt: skip


def test_anonymous_names_of_canvas_wait_for_a_line(course, collect, tmp_path):
    files = {"anon_x1Y2z_4567_hw1.ipynb": "one", "LATE_anon_Ab3Cd_4568_hw1.ipynb": "two"}
    done = collect(zipped(tmp_path / "c.zip", files))
    assert done.status == 1 and "the archive does not identify the sender" in done.out and "'anon_Ab3Cd'" in done.out
    (course / "matches.csv").write_text("sender,student_id\nanon_x1Y2z,jdoe\nanon_Ab3Cd,zoe\n")
    assert collect("--no-times").status == 0
    assert handed(course) == {"jdoe/ps1/hw1.ipynb": "one", "zoe/ps1/hw1.ipynb": "two"}


def test_a_group_can_be_said_by_several_lines(course, collect, tmp_path):
    path = zipped(tmp_path / "c.zip", {"team7_999_1_hw1.ipynb": "ours"})
    (course / "matches.csv").write_text("sender,student_id,assignment\nteam7_999,zoe,ps1\nteam7_999,ivan,ps1\n")
    assert collect(path, "--no-times").status == 0
    assert handed(course) == {"zoe/ps1/hw1.ipynb": "ours", "ivan/ps1/hw1.ipynb": "ours"}


def test_a_dry_run_writes_nothing_and_json_says_all(course, collect, tmp_path):
    path = zipped(tmp_path / "c.zip", {"doejane_123_1_hw1.ipynb": "x", "who_9_1_hw1.ipynb": "?"})
    before = tree(course)
    done = collect(path, "--no-times", "--dry-run", "--json")
    assert done.status == 1 and tree(course) == before
    document = json.loads(done.out)
    assert document["dry_run"] and document["archives"][0]["system"] == "canvas"
    (student,) = document["students"]
    assert (student["student"], student["status"], student["files"]) == ("jdoe", "new", ["hw1.ipynb"])
    assert [one["sender"] for one in document["unmatched"]] == ["who_9"]


def test_several_archives_and_an_older_one_later_leave_the_newest_attempt(course, collect, tmp_path):
    def brightspace(name, day, text):
        return zipped(tmp_path / name, {f"3-{day} - Jane Doe - Oct {day}, 2026 1000 AM/hw1.ipynb": text})

    old, middle, new = brightspace("o.zip", 1, "old"), brightspace("m.zip", 2, "middle"), brightspace("n.zip", 3, "new")
    assert collect(middle, new, ZONE).status == 0
    late = collect(old, ZONE)
    assert late.status == 0 and "not counted" in late.out
    assert handed(course)["jdoe/ps1/hw1.ipynb"] == "new"
    assert sorted(text for name, text in tree(course / "attempts").items() if BOOK in name) == [b"middle", b"old"]
    assert collect("--attempt=first", "--student=jdoe").status == 0
    assert handed(course)["jdoe/ps1/hw1.ipynb"] == "old" and stamp(course, "jdoe") == "2026-10-01 08:00:00 UTC"
    again = collect(new, ZONE)
    assert again.status == 0 and handed(course)["jdoe/ps1/hw1.ipynb"] == "old"
    assert "counts, because you selected it with --attempt. Attempt" in again.out
    assert collect("--attempt=newest").status == 0
    assert handed(course)["jdoe/ps1/hw1.ipynb"] == "new"
    wrong = collect("--attempt=last")
    assert wrong.status == 2 and "is not an attempt" in wrong.err


def test_an_archive_of_another_assignment_is_refused_and_one_that_is_mixed_is_not(course, collect, tmp_path):
    """Nearly everybody's newest attempt would be the wrong notebook, and the right one kept beside it."""
    (course / "source" / "ps2").mkdir()
    (course / "source" / "ps2" / "hw2.ipynb").write_bytes((course / "source" / ASSIGNMENT / BOOK).read_bytes())
    names = ["doejane_123_1_hw2.ipynb", "kingjrbo_124_2_hw2-1.ipynb", "oneilann_125_3_hw2 (1).ipynb"]
    archive = zipped(tmp_path / "other.zip", dict.fromkeys(names, "{}") | {"smithsam_128_4_notes.txt": "x"})
    found = collect(archive, "--no-times")
    assert (found.status, found.out, handed(course)) == (2, "", {}) and not (course / "attempts").exists()
    assert (
        f"Nothing was written. 3 submissions in {archive} have notebooks of ps2, and none has notebooks of ps1."
        in found.err
    )
    assert "use --assignment=ps2." in found.err
    mixed = zipped(tmp_path / "mixed.zip", dict.fromkeys(names, "{}") | {f"leezoe_126_5_{BOOK}": "{}"})
    assert collect(mixed, "--no-times").status == 0
    few = zipped(tmp_path / "few.zip", dict.fromkeys(names[:2], "{}"))
    assert collect(few, "--no-times").status == 0, "two students may have taken the wrong file"


def test_refusals_are_sentences(course, collect, viva, tmp_path):
    nothing = viva("collect")
    assert nothing.status == 2 and "Name the assignment" in nothing.err
    assert "Name an archive" in collect().err
    assert "does not exist" in collect(tmp_path / "gone.zip").err
    (tmp_path / "list.csv").write_text("a,b\n1,2\n")
    assert "is not an archive" in collect(tmp_path / "list.csv").err
    path = zipped(tmp_path / "c.zip", {"doejane_123_1_hw1.ipynb": "x"})
    assert "There is no system 'teams'" in collect(path, "--from=teams").err
    assert "The file names in the archive are not those of Moodle" in collect(path, "--from=moodle").err
    assert "There is no time zone 'Mars'" in collect(path, "--zone=Mars").err
    assert "is not a readable time" in collect(path, "--time=tomorrow").err
    assert "has no submission times" in collect(path, f"--times={tmp_path / 'list.csv'}").err
    assert collect(path, "--from=moodle").status == 2


def test_the_zone_may_stand_in_the_configuration_of_the_course_or_of_its_late_policy(course, collect, tmp_path):
    path = zipped(tmp_path / "b.zip", {"3-4 - Jane Doe - Oct 1, 2026 1000 AM/hw1.ipynb": "x"})
    config = course / "nbgrader_config.py"
    text = config.read_text()
    config.write_text(text + 'c.LatePolicy.zone = "Asia/Tokyo"\n')
    assert collect(path).status == 0 and stamp(course, "jdoe") == "2026-10-01 01:00:00 UTC"
    config.write_text(text + 'c.LatePolicy.zone = "Asia/Tokyo"\nc.Collect.zone = "Europe/Berlin"\n')
    again = collect(path)
    assert again.status == 0 and stamp(course, "jdoe") == "2026-10-01 01:00:00 UTC"
    assert "these were collected before with another time zone, so they keep" in again.out
    assert collect(path, ZONE).status == 0 and stamp(course, "jdoe") == "2026-10-01 08:00:00 UTC"
    assert len(list((course / "attempts").rglob(BOOK))) == 0


def test_the_zone_of_an_archive_stays_known_in_every_later_command(course, collect, tmp_path):
    config = course / "nbgrader_config.py"
    config.write_text(config.read_text() + 'c.Collect.zone = "Europe/Berlin"\n')
    files = {
        "3-4 - Jane Doe - Oct 1, 2026 1000 AM/hw1.ipynb": "x",
        "3-5 - B. K. - Oct 1, 2026 1100 AM/hw1.ipynb": "bo",
        "3-6 - Z. L. - Oct 1, 2026 1130 AM/hw1.ipynb": "zoë",
    }
    path = zipped(tmp_path / "b.zip", files)
    assert collect(path, "--zone=America/New_York").status == 1
    (course / "matches.csv").write_text("sender,student_id\nB. K.,bking\n")
    other = zipped(tmp_path / "c.zip", {"3-7 - Ann ONeil - Oct 1, 2026 1000 AM/hw1.ipynb": "ann"})
    assert collect(other, "--zone=Asia/Tokyo").status == 1
    assert (stamp(course, "bking"), stamp(course, "oneil")) == ("2026-10-01 15:00:00 UTC", "2026-10-01 01:00:00 UTC")
    (course / "matches.csv").write_text("sender,student_id\nB. K.,bking\nZ. L.,zoe\n")
    assert collect(path).status == 0  # the same archive, and --zone is forgotten
    assert (stamp(course, "jdoe"), stamp(course, "bking"), stamp(course, "zoe")) == (
        "2026-10-01 14:00:00 UTC", "2026-10-01 15:00:00 UTC", "2026-10-01 15:30:00 UTC",
    )  # fmt: skip


def waits(course, collect, tmp_path) -> None:
    """What was collected with --zone waits for a line in matches.csv, in a course without a zone."""
    path = zipped(tmp_path / "b.zip", {"3-5 - B. K. - Oct 1, 2026 1100 AM/hw1.ipynb": "bo"})
    assert collect(path, "--zone=America/New_York").status == 1
    (course / "matches.csv").write_text("sender,student_id\nB. K.,bking\n")


def test_a_line_in_matches_csv_is_enough_where_the_course_has_no_zone_and_the_list_has_the_moment(
    course, collect, tmp_path
):
    waits(course, collect, tmp_path)
    done = collect()
    assert (done.status, done.err, stamp(course, "bking")) == (0, "", "2026-10-01 15:00:00 UTC")


def test_of_what_an_older_viva_collected_the_zone_is_asked_for(course, collect, tmp_path):
    waits(course, collect, tmp_path)
    config, path = course / "nbgrader_config.py", course / "unmatched" / "ps1.csv"
    config.write_text(config.read_text() + 'c.Collect.zone = "Europe/Berlin"\n')
    with path.open() as file:
        rows = list(csv.DictReader(file))
    with path.open("w") as file:  # as it was before it had moments
        columns = [name for name in rows[0] if name not in ("moment", "system")]
        writer = csv.DictWriter(file, columns, extrasaction="ignore")
        writer.writeheader()
        writer.writerows(rows)
    (course / "matches.csv").unlink()
    assert collect().status == 1  # the list is written anew, and nobody knows more of its zone
    (course / "matches.csv").write_text("sender,student_id\nB. K.,bking\n")
    asked = collect()
    assert (asked.status, "an older Viva without a time zone" in asked.err) == (2, True)
    assert collect("--zone=America/New_York").status == 0
    assert stamp(course, "bking") == "2026-10-01 15:00:00 UTC"


def test_nothing_that_a_sender_is_called_is_obeyed_by_a_terminal_that_shows_our_lists(course, collect, tmp_path):
    label = "\x1b[31mEve\u202e\x9b"
    path = zipped(tmp_path / "f.zip", {f"{label}/hw1.ipynb": "eve", "jdoe/hw1.ipynb": "jane"})
    for _ in range(2):
        assert collect(path, "--no-times").status == 1
        text = (course / "unmatched" / "ps1.csv").read_text() + (course / "attempts" / "ps1.csv").read_text()
        assert not set("\x1b\u202e\x9b") & set(text) and "Eve" in text
        assert len(list((course / "unmatched").rglob(BOOK))) == 1, "the same sender and bytes are one attempt"
    (line,) = csv.DictReader((course / "unmatched" / "ps1.csv").read_text().splitlines())
    (course / "matches.csv").write_text(f"sender,student_id\n{line['sender']},zoe\n")
    assert collect(path, "--no-times").status == 0
    assert handed(course)["zoe/ps1/hw1.ipynb"] == "eve" and not (course / "unmatched").exists()


def test_the_one_time_for_all_is_also_that_of_an_unidentified_submission(course, collect, tmp_path):
    path = zipped(tmp_path / "c.zip", {"whoever_9_1_hw1.ipynb": "x", "doejane_123_2_hw1.ipynb": "j"})
    assert collect(path, "--time=2026-10-05 23:59", "--zone=America/New_York").status == 1
    (course / "matches.csv").write_text("sender,student_id\nwhoever_9,zoe\n")
    assert collect().status == 0
    assert stamp(course, "zoe") == stamp(course, "jdoe") == "2026-10-06 03:59:00 UTC"
