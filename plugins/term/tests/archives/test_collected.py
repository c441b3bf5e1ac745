"""What collecting does to submitted/: what is newer counts, nothing is lost, and a killed command is finished."""

from __future__ import annotations

import csv
import os
import shutil
import signal
import subprocess
import sys

import pytest

from plugins.term.tests.archives.given import ASSIGNMENT, BOOK, CLASS, course_at, folder, packed, tarred, tree, zipped

A, ZONE = f"--assignment={ASSIGNMENT}", "--zone=Europe/Berlin"


@pytest.fixture
def course(tmp_path):
    return course_at(tmp_path / "course")


@pytest.fixture
def handed_in(tmp_path):
    """An archive of Brightspace's with what Jane Doe handed in on a day of October."""

    def archive(day: int, text: str):
        name = f"3-{day} - Jane Doe - Oct {day}, 2026 1000 AM/hw1.ipynb"
        return zipped(tmp_path / f"{day}-{text}.zip", {name: text})

    return archive


def by_exchange(course, text: str, time: str = "", student: str = "jdoe"):
    files = {"hw1.ipynb": text} | ({"timestamp.txt": time} if time else {})
    return folder(course / "submitted" / student / ASSIGNMENT, files)


def now(course) -> str:
    return (course / "submitted/jdoe/ps1/hw1.ipynb").read_text()


def kept(course) -> dict[str, str]:
    return {name: data.decode() for name, data in tree(course / "attempts").items() if name.endswith(BOOK)}


def rows(course) -> list[dict[str, str]]:
    return list(csv.DictReader((course / "attempts/ps1.csv").read_text().splitlines()))


def test_what_came_another_way_and_is_newer_stays_and_what_came_is_kept_beside(course, collect, handed_in):
    by_exchange(course, "exchange", "2026-10-07 10:00:00.000000 UTC")
    done = collect(handed_in(5, "older"), ZONE)
    assert done.status == 0 and "from another source. They are not older, so they count" in done.out
    assert now(course) == "exchange" and kept(course) == {"ps1/jdoe/2/hw1.ipynb": "older"}


@pytest.mark.parametrize("time", ["2026-10-01 10:00:00.000000 UTC", ""])
def test_what_came_another_way_and_is_older_is_kept_before_it_goes(course, collect, handed_in, time):
    by_exchange(course, "exchange", time)
    assert collect(handed_in(5, "newer"), ZONE).status == 0
    assert now(course) == "newer" and kept(course) == {"ps1/jdoe/1/hw1.ipynb": "exchange"}
    before = tree(course)
    assert "Nothing changed" in collect(handed_in(5, "newer"), ZONE).out
    assert tree(course) == before


def test_the_same_files_from_another_way_are_the_same_attempt(course, collect, handed_in):
    by_exchange(course, "same")
    done = collect(handed_in(5, "same"), ZONE)
    assert done.status == 0 and kept(course) == {} and len(rows(course)) == 1
    assert (course / "submitted/jdoe/ps1/timestamp.txt").read_text() == "2026-10-05 08:00:00 UTC\n"


def test_a_time_that_somebody_wrote_by_hand_stays(course, collect, handed_in):
    collect(handed_in(5, "x"), ZONE)
    (course / "submitted/jdoe/ps1/timestamp.txt").write_text("2026-10-04 00:00:00 UTC")
    assert "Nothing changed" in collect(handed_in(5, "x"), ZONE).out
    assert (course / "submitted/jdoe/ps1/timestamp.txt").read_text() == "2026-10-04 00:00:00 UTC"


def test_what_was_graded_and_has_changed_is_said(course, collect, handed_in):
    collect(handed_in(5, "first"), ZONE)
    (course / "autograded/jdoe/ps1").mkdir(parents=True)
    assert "Changed since grading" not in collect(handed_in(5, "first"), ZONE).out
    assert "Changed since grading" not in collect(handed_in(4, "older"), ZONE).out
    again = collect(handed_in(6, "second"), ZONE)
    assert "Changed since grading: 'jdoe'. Run: viva grade ps1" in again.out


def test_an_attempt_is_asked_for_where_the_files_of_all_are_gone(course, collect, handed_in):
    collect(handed_in(5, "first"), handed_in(6, "second"), ZONE)
    shutil.rmtree(course / "submitted/jdoe")
    shutil.rmtree(course / "attempts/ps1")
    before = rows(course)
    done = collect("--attempt=newest", "--student=jdoe")
    assert done.status == 0 and "'jdoe': the files of all attempts are missing" in done.out
    assert rows(course) == before


def test_a_folder_that_is_a_link_is_not_written_through(course, collect, handed_in, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (course / "submitted").mkdir()
    (course / "submitted/jdoe").symlink_to(tmp_path / "elsewhere")
    done = collect(handed_in(5, "x"), ZONE)
    assert done.status == 1 and "is a link, and links are not followed" in done.out
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_nothing_hostile_lands_outside_of_submitted(course, collect, tmp_path):
    files = {
        "jdoe/../../../evil": "evil", "/evil": "evil", "jdoe/hw1.ipynb": "good", "jdoe/HW1.ipynb": "two",
        "jdoe/CON.ipynb": "x", "jdoe/a": "file", "jdoe/a/b": "in a folder of its name", "../jdoe/x": "evil",
        "..\\..\\evil": "evil", "jdoe/zeros": bytes(4 * 2**20), "jdoe/.viva-x/hw1.ipynb": "build",
    }  # fmt: skip
    before = {name for name in tree(tmp_path) if not name.startswith("course/")}
    done = collect(zipped(tmp_path / "a.zip", files), "--no-times", "--from=folder")
    assert done.status == 1 and "3 times: a.zip: " in done.out and done.out.count("was skipped") == 2
    assert {name for name in tree(tmp_path) if not name.startswith("course/")} == before | {"a.zip"}
    assert {name: len(data) for name, data in tree(course / "submitted").items()} == {
        "jdoe/ps1/hw1 (1).ipynb": 4, "jdoe/ps1/HW1.ipynb": 3, "jdoe/ps1/_CON.ipynb": 1, "jdoe/ps1/a (1)": 4,
        "jdoe/ps1/a/b": 23, "jdoe/ps1/_.viva-x/hw1.ipynb": 5, "jdoe/ps1/zeros": 4 * 2**20,
    }  # fmt: skip
    assert set(os.listdir(course)) == {"source", "submitted", "attempts", "unmatched", "roster.csv",
                                       "nbgrader_config.py", "gradebook.db.lock", "identities.csv"}  # fmt: skip


def test_what_lies_too_deep_or_has_a_name_that_is_no_text_changes_nothing_the_second_time(course, collect, tmp_path):
    deep = packed({"/".join("a" * 15) + "/deep": "x", "hw1.ipynb": "good"})
    path = zipped(
        tmp_path / "a.zip", {"jdoe/" + "b/" * 10 + "c.zip": deep, "jdoe/hw1.ipynb": "y", "zoe/hw1.ipynb": "z"}
    )
    by_exchange(course, "exchange", student="zoe")
    (course / "submitted/zoe/ps1" / os.fsdecode(b"\xff\xfe.txt")).write_text("odd")
    done = collect(path, "--no-times")
    assert done.status == 1 and "folders deep" in done.out
    assert now(course) == "y" and (course / "submitted/zoe/ps1/hw1.ipynb").read_text() == "z"
    before = tree(course)
    assert "Nothing changed" in collect(path, "--no-times").out and tree(course) == before


def test_two_members_of_one_name_are_both_kept_and_the_last_is_read(course, collect, tmp_path):
    import tarfile

    members = [(tarfile.TarInfo("jdoe/hw1.ipynb"), text) for text in (b"first", b"last", b"last")]
    assert collect(tarred(tmp_path / "a.tar.gz", members), "--no-times").status == 0
    assert now(course) == "last"
    assert (course / "submitted/jdoe/ps1/hw1 (1).ipynb").read_text() == "first"


def test_a_refused_archive_among_good_ones_writes_nothing(course, collect, handed_in, tmp_path):
    good = handed_in(5, "x")
    (tmp_path / "cut.zip").write_bytes(good.read_bytes()[:-30])
    before = tree(course)
    done = collect(good, tmp_path / "cut.zip", ZONE)
    assert done.status == 2 and "download it again" in done.err
    assert {name: data for name, data in tree(course).items() if "lock" not in name} == before


KILLED = """
import os, sys
from viva_term.archives import collected
left, write = int(sys.argv.pop(1)), collected.write_folder
def some(*args, **kwargs):
    global left
    if not left:
        os.kill(os.getpid(), 9)
    left -= 1
    write(*args, **kwargs)
collected.write_folder = some
from viva.__main__ import main
main()
"""


@pytest.mark.parametrize("after", [3, *(pytest.param(one, marks=pytest.mark.slow) for one in (0, 1, 2, 4))])
@pytest.mark.usefixtures("processes")
def test_a_command_that_was_killed_is_finished_by_the_next(course, collect, tmp_path, after):
    def archive(name, days):
        files = {
            f"{day}-{place} - {one.name} - Oct {day}, 2026 1000 AM/hw1.ipynb": f"{one.id} {day}"
            for day in days
            for place, one in enumerate(CLASS[:2])
        }
        return zipped(tmp_path / name, files)

    old, new = archive("old.zip", (1,)), archive("new.zip", (2, 3))
    collect(old, ZONE)
    command = [sys.executable, "-c", KILLED, str(after), "collect", str(new), A, ZONE]
    died = subprocess.run(command, cwd=course, capture_output=True)
    assert died.returncode == -signal.SIGKILL
    assert collect(new, ZONE).status == 0
    submitted = {name: data for name, data in tree(course / "submitted").items() if name.endswith(BOOK)}
    assert submitted == {"jdoe/ps1/hw1.ipynb": b"jdoe 3", "bking/ps1/hw1.ipynb": b"bking 3"}
    assert sorted(kept(course).values()) == ["bking 1", "bking 2", "jdoe 1", "jdoe 2"]
    found = [(row["student_id"], row["timestamp"][:10], row["counts"]) for row in rows(course)]
    assert sorted(found) == [(one, f"2026-10-0{day}", "yes" if day == 3 else "")
                             for one in ("bking", "jdoe") for day in (1, 2, 3)]  # fmt: skip
    before = tree(course)
    assert "Nothing changed" in collect(old, new, ZONE).out
    assert tree(course) == before
