"""What `viva collect` leaves out, or unpacks no further, is kept and named, and costs nobody else."""

from __future__ import annotations

import csv
import json
import os
import shutil
import tarfile
import zipfile
from dataclasses import replace
from types import SimpleNamespace

import pytest

from plugins.term.tests.archives.given import ASSIGNMENT, BOOK, course_at, folder, packed, tree, zipped
from plugins.term.tests.commands.test_collect import handed
from viva_term.archives.listing import CLASS


@pytest.fixture
def course(tmp_path):
    return course_at(tmp_path / "course")


def test_what_a_student_packed_is_unpacked_one_level_and_said(course, collect, tmp_path):
    inner = packed(
        {"my work/hw1.ipynb": "jane", "my work/more.zip": packed({"x.txt": "x"}), "my work/../../evil": "no"}
    )
    path = zipped(tmp_path / "c.zip", {"doejane_123_1_work.zip": inner, "leezoë_126_2_broken.zip": b"PK\3\4 cut"})
    done = collect(path, "--no-times")
    assert done.status == 0
    assert set(handed(course)) == {"jdoe/ps1/hw1.ipynb", "jdoe/ps1/more.zip", "zoe/ps1/broken.zip"}
    assert (
        "'work.zip' was unpacked: 2 files." in done.out and ("'broken.zip' was not unpacked: it is damaged") in done.out
    )
    assert "its name points outside the folder" in done.out and not list(tmp_path.rglob("evil"))


def test_what_all_archives_of_one_submission_unpack_to_is_limited_together_and_named(course, collect, tmp_path):
    """Six uploads of 740 KB became 361 MB."""
    zeros = bytes(7 * 2**20) + os.urandom(1000)
    files = {f"Jane Doe_1_assignsubmission_file/{n}.zip": packed({f"zeros{n}": zeros}) for n in range(6)}
    files |= {
        "Zoë Lee_2_assignsubmission_file/bomb.zip": packed({"a": bytes(17 * 2**20), "hw1.ipynb": "zoë"}),
        "Ann ONeil_3_assignsubmission_file/honest.zip": packed({"hw1.ipynb": "ann", "d.csv": os.urandom(2**20)}),
    }
    done = collect(zipped(tmp_path / "m.zip", files), "--no-times")
    assert done.status == 1 and "Not unpacked, or only partly: the archives of 2 submissions." in done.out
    kept = {name.removeprefix("jdoe/ps1/") for name in tree(course / "submitted") if name.startswith("jdoe")}
    assert kept == {"0/zeros0", "1/zeros1", *(f"{n}.zip" for n in range(2, 6))}
    assert {name for name in tree(course / "submitted") if name[0] in "oz"} == {
        "zoe/ps1/hw1.ipynb", "zoe/ps1/bomb.zip", "oneil/ps1/hw1.ipynb", "oneil/ps1/d.csv",
    }  # fmt: skip
    told = [one["sender"] for one in json.loads(collect(tmp_path / "m.zip", "--no-times", "--json").out)["packed"]]
    assert told == ["Jane Doe_1", "Zoë Lee_2"]


def test_a_disk_that_is_too_full_stops_everything_and_no_submission_stays_packed_for_it(
    course, collect, tmp_path, monkeypatch
):
    inner = packed({"hw1.ipynb": "x" * 100_000})
    path = zipped(tmp_path / "c.zip", {"doejane_123_1_work.zip": inner})
    full = shutil.disk_usage(tmp_path)._replace(free=50_000)
    monkeypatch.setattr("viva_term.archives.listing.shutil", SimpleNamespace(disk_usage=lambda _: full))
    done = collect(path, "--no-times")
    assert done.status == 2 and "Nothing was written: 'work.zip' in c.zip needs 0 MB unpacked" in done.err
    assert not (course / "submitted").exists()


def test_thirty_students_with_the_same_problem_are_one_sentence(course, collect, tmp_path):
    files = {f"student{n:02}_{900 + n}_{n}_work.zip": b"PK\3\4 cut" for n in range(30)}
    done = collect(zipped(tmp_path / "c.zip", files), "--no-times")
    said = [line for line in done.out.splitlines() if "was not unpacked" in line]
    assert len(said) == 1 and said[0].startswith("30 times: ") and said[0].endswith(" and 9 more."), done.out


def left_out(course) -> dict[str, dict[str, str]]:
    """The list of what was left out, by sender."""
    rows = csv.DictReader((course / "unmatched" / "ps1.csv").read_text().splitlines())
    return {row["sender"]: row for row in rows if row["reason"]}


def test_a_notebook_with_one_line_printed_130000_times_is_collected(course, collect, tmp_path):
    line = {"output_type": "stream", "name": "stdout", "text": ["the same line, again\n"] * 130_000}
    cell = {"cell_type": "code", "id": "a", "metadata": {}, "source": "", "execution_count": 1, "outputs": [line]}
    text = json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}, indent=1)
    path = zipped(tmp_path / "c.zip", {"doejane_123_1_hw1.ipynb": text, "leezoë_126_2_hw1.ipynb": "z"})
    with zipfile.ZipFile(path) as archive:
        info = archive.getinfo("doejane_123_1_hw1.ipynb")
        assert info.file_size > 250 * info.compress_size
    assert collect(path, "--no-times").status == 0
    assert handed(course)["jdoe/ps1/hw1.ipynb"] == text
    tar = tmp_path / "t.tar.gz"
    with tarfile.open(tar, "w:gz") as archive:
        archive.add(folder(tmp_path / "given", {"oneil/hw1.ipynb": text}) / "oneil", "oneil")
    assert collect(tar, "--no-times").status == 0
    assert handed(course)["oneil/ps1/hw1.ipynb"] == text


@pytest.mark.usefixtures("processes")
def test_what_is_left_out_is_kept_and_named_in_the_list_and_the_grades_until_it_is_dealt_with(
    course, viva, collect, tmp_path, monkeypatch
):
    small = replace(CLASS, member=10_000), lambda done, all: None
    monkeypatch.setattr("viva_term.archives.archive.unpack.__defaults__", small)
    files = {"doejane_123_1_hw1.ipynb": "x" * 20_000, "leezoë_126_2_hw1.ipynb": "z"}
    path = zipped(tmp_path / "c.zip", files)
    for _ in range(2):
        done = collect(path, "--no-times")
        assert done.status == 1 and "jdoe" in done.out and "Not collected, or only partly: 1 submission." in done.out
        assert set(handed(course)) == {"zoe/ps1/hw1.ipynb"}
        row = left_out(course)["doejane_123"]
        assert row["student"] == "jdoe" and "'hw1.ipynb': it has 0 MB" in row["reason"]
    kept = course / "unmatched/ps1" / row["folder"]
    with zipfile.ZipFile(kept / "hw1.ipynb.zip") as archive:
        assert archive.read(*archive.namelist()) == b"x" * 20_000
    assert "it has 0 MB" in (kept / "left out.txt").read_text()
    assert viva("release", ASSIGNMENT, "--no-audit", "--IncludeHeaderFooter.header=").status == 0
    (of_jane,) = exported(viva, "jdoe")
    assert of_jane["status"] == "refused" and "not collected: 'hw1.ipynb'" in of_jane["reason"]
    newer = zipped(tmp_path / "d.zip", files | {"doejane_123_1_hw1.ipynb": "small"})
    assert collect(newer, "--no-times").status == 0
    assert handed(course)["jdoe/ps1/hw1.ipynb"] == "small" and not (course / "unmatched").exists()


def exported(viva, student: str) -> list[dict]:
    return json.loads(viva("export", ASSIGNMENT, f"--student={student}", "--json").out)["scores"]


def test_a_hard_link_to_a_file_outside_a_collected_folder_is_left_out(course, collect, tmp_path):
    place = folder(tmp_path / "hw", {"jdoe/hw1.ipynb": "jane", "zoe/other.txt": "z"})
    os.link(course / "source" / ASSIGNMENT / BOOK, place / "zoe" / BOOK)
    os.link(place / "jdoe" / BOOK, place / "jdoe" / "again.ipynb")  # its own is nobody else's
    done = collect(place, "--no-times")
    assert done.status == 1 and "a hard link to a file outside the folder" in done.out
    assert set(handed(course)) == {"jdoe/ps1/hw1.ipynb", "jdoe/ps1/again.ipynb", "zoe/ps1/other.txt"}
    row = left_out(course)["zoe"]
    assert row["student"] == "zoe" and [one.name for one in (course / "unmatched/ps1" / row["folder"]).iterdir()] == [
        "left out.txt"
    ]


@pytest.mark.parametrize("packed_as", ["folder", "tar"])
def test_a_hard_link_to_another_students_file_costs_the_newer_one_alone(course, collect, tmp_path, packed_as):
    place = folder(tmp_path / "hw", {"jdoe/hw1.ipynb": "jane", "bking/notes.txt": "bo"})
    os.link(place / "jdoe" / BOOK, place / "bking" / BOOK)
    os.utime(place / "jdoe", (1_800_000_000,) * 2)
    os.utime(place / "bking", (1_800_000_999,) * 2)
    if packed_as == "tar":
        with tarfile.open(tmp_path / "hw.tar", "w") as archive:
            archive.add(place, "hw")
            assert archive.getmember("hw/jdoe/hw1.ipynb").islnk()  # bking's comes first, and is the newer
        place = tmp_path / "hw.tar"
    done = collect(place, "--no-times")
    assert done.status == 1 and "it is the same file on disk as the file of 'jdoe' (a hard link)" in done.out
    assert handed(course) == {"jdoe/ps1/hw1.ipynb": "jane"}
    row = left_out(course)["bking"]
    assert (course / "unmatched/ps1" / row["folder"] / "notes.txt").read_text() == "bo"
    assert collect("--no-times").status == 1  # what waits is still nobody's submission
    assert handed(course) == {"jdoe/ps1/hw1.ipynb": "jane"}


def test_a_file_that_everybody_was_given_may_be_stored_once(course, collect, tmp_path):
    given = (course / "source" / ASSIGNMENT / BOOK).read_text()
    place = folder(tmp_path / "hw", {"jdoe/hw1.ipynb": given, "zoe/other.txt": "z"})
    os.link(place / "jdoe" / BOOK, place / "zoe" / BOOK)
    assert collect(place, "--no-times").status == 0
    assert set(handed(course)) == {"jdoe/ps1/hw1.ipynb", "zoe/ps1/hw1.ipynb", "zoe/ps1/other.txt"}


def test_a_folder_that_lies_too_deep_is_left_out_with_status_1(course, collect, tmp_path):
    place = folder(tmp_path / "hw", {"jdoe/hw1.ipynb": "jane", "zoe/" + "d/" * 25 + BOOK: "z"})
    done = collect(place, "--no-times")
    assert done.status == 1 and "is more than 20 folders deep" in left_out(course)["zoe"]["reason"]
