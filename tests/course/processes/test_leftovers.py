"""A command leaves nothing half done behind, whatever ends it."""

from __future__ import annotations

import os
import shutil
import stat
import threading

import pytest

from viva.course.processes import leftovers
from viva.verdict import CourseError


def test_a_file_that_was_not_written_to_its_end_leaves_the_old_one(tmp_path):
    path = tmp_path / "grades.csv"
    path.write_text("old")
    with pytest.raises(OSError, match="full"), leftovers.whole(path) as file:
        file.write("ne")
        file.flush()
        assert path.read_text() == "old"
        raise OSError("the disk is full")
    assert [(each.name, each.read_text()) for each in tmp_path.iterdir()] == [("grades.csv", "old")]


def test_a_file_that_is_written_again_keeps_its_mode_and_a_link_stays_one(tmp_path):
    path, link = tmp_path / "grades.csv", tmp_path / "link.csv"
    path.touch(mode=0o600)
    link.symlink_to(path)
    (tmp_path / ".viva-grades.csv").write_text("left by a command that was killed")
    with leftovers.whole(link) as file:
        file.write("new")
    assert link.is_symlink() and path.read_text() == "new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert {each.name for each in tmp_path.iterdir()} == {"grades.csv", "link.csv"}


def test_what_is_no_file_is_written_to_and_stays_what_it_is(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    found = []
    reader = threading.Thread(target=lambda: found.append(pipe.read_text()))
    reader.start()
    with leftovers.whole(pipe) as file:
        file.write("rows")
    reader.join()
    assert found == ["rows"] and stat.S_ISFIFO(pipe.stat().st_mode)


def test_a_full_disk_for_temporary_files_is_told_before_anything_is_done(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    disk = shutil.disk_usage(tmp_path)
    monkeypatch.setattr("shutil.disk_usage", lambda _: disk._replace(free=300 << 10))
    with pytest.raises(CourseError, match=r"only 0\.3 MB are free there.*TMPDIR"), leftovers.temporary_folder():
        pass
    assert list(tmp_path.iterdir()) == []
