"""A command leaves nothing half done behind, whatever ends it."""

from __future__ import annotations

import errno
import os
import shutil
import stat
import threading
from pathlib import Path

import pytest

from viva.course.gradebook.results import add_lines
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
    with pytest.raises(CourseError, match=r"has only 0\.3 MB left.*TMPDIR"), leftovers.temporary_folder():
        pass
    assert list(tmp_path.iterdir()) == []


NO_LOCKS = [errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP]


@pytest.fixture(params=NO_LOCKS, ids=errno.errorcode.get)
def no_locks(request, monkeypatch):
    """A file system that knows no locks, as NFS without its daemon; what it says."""

    def flock(*_: object) -> None:
        raise OSError(request.param, os.strerror(request.param))

    monkeypatch.setattr("fcntl.flock", flock)
    return os.strerror(request.param)


def test_temporary_files_where_nothing_can_be_locked_are_refused_in_a_sentence_and_no_folder_is_left(
    no_locks, tmp_path, monkeypatch
):
    (tmp_path / "viva-run-of-somebody").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with pytest.raises(CourseError, match=f"{tmp_path}.*{no_locks}.*TMPDIR"), leftovers.temporary_folder():
        pass
    assert [one.name for one in tmp_path.iterdir()] == ["viva-run-of-somebody"]


def test_a_course_where_nothing_can_be_locked_is_refused_in_a_sentence(no_locks, tmp_path):
    said = f"cannot be locked in {tmp_path}: {no_locks}"
    with pytest.raises(CourseError, match=said), leftovers.alone(tmp_path / "gradebook.db.lock", print):
        pass
    with pytest.raises(CourseError, match=said):
        add_lines(tmp_path / "results.jsonl", [b"{}"])


@pytest.mark.parametrize("first", [False, True], ids=["after its rights are set", "before its rights are set"])
def test_where_every_folder_is_removed_at_once_only_some_are_made(first, tmp_path, monkeypatch):
    """As another command's sweep does; once one came before the rights were set, and the command ended."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    made, chmod = [], leftovers.Path.chmod

    def removed(folder, mode: int) -> None:
        made.append(folder)
        if first:
            folder.rmdir()
        chmod(folder, mode)
        folder.rmdir()

    monkeypatch.setattr("pathlib.Path.chmod", removed)
    with pytest.raises(CourseError, match="another program removes them"), leftovers.temporary_folder():
        pass
    assert len(made) == leftovers.TRIES and list(tmp_path.iterdir()) == []


def test_sweeping_many_leftovers_ends_in_time_and_says_what_is_left(tmp_path, capsys):
    for number in range(300):
        (tmp_path / f"viva-run-{number}").mkdir()
    leftovers.sweep(tmp_path, 0.0)
    assert "More are left; the next commands remove them." in capsys.readouterr().err
    assert len(list(tmp_path.iterdir())) >= 299
    leftovers.sweep(tmp_path, 600)
    assert list(tmp_path.iterdir()) == [] and capsys.readouterr().err == ""


def test_a_full_disk_is_told_with_the_file_that_could_not_be_written():
    """Else the course folder was named, also where the file was to go to another disk."""
    with pytest.raises(OSError, match="No space left") as error, leftovers.whole(Path("/dev/full")) as file:
        file.write("scores")
    assert error.value.filename == "/dev/full"
