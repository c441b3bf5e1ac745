"""A command leaves nothing half done behind, whatever ends it."""

from __future__ import annotations

import errno
import os
import pwd
import shutil
import stat
import threading
from pathlib import Path

import pytest

from viva import folder
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
    said = f"Viva cannot lock files in {tmp_path}: {no_locks}"
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
    with (
        pytest.raises(CourseError, match="Another program removes the folders that Viva makes"),
        leftovers.temporary_folder(),
    ):
        pass
    assert len(made) == leftovers.TRIES and list(tmp_path.iterdir()) == []


def test_sweeping_many_leftovers_ends_in_time_and_says_what_is_left(tmp_path, capsys):
    for number in range(300):
        (tmp_path / f"viva-run-{number}").mkdir()
    leftovers.sweep(tmp_path, 0.0)
    assert "Some are left. The next commands remove them." in capsys.readouterr().err
    assert len(list(tmp_path.iterdir())) >= 299
    leftovers.sweep(tmp_path, 600)
    assert list(tmp_path.iterdir()) == [] and capsys.readouterr().err == ""


def test_a_full_disk_is_told_with_the_file_that_could_not_be_written():
    """Else the course folder was named, also where the file was to go to another disk."""
    with pytest.raises(OSError, match="No space left") as error, leftovers.whole(Path("/dev/full")) as file:
        file.write("scores")
    assert error.value.filename == "/dev/full"


NOBODY = pwd.getpwnam("nobody").pw_uid
alone = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file to another user: sudo make test")


@pytest.fixture
def shared_folder(tmp_path) -> Path:
    """A folder into which every user can write, as /tmp."""
    folder = tmp_path / "tmp"
    folder.mkdir()
    folder.chmod(0o1777)
    return folder


@alone
@pytest.mark.parametrize("place", ["grades.csv", "x/grades.csv"])
@pytest.mark.parametrize("theirs", [False, True])
def test_another_users_link_is_not_followed_where_everybody_can_write(shared_folder, tmp_path, place, theirs):
    own, link = tmp_path / "precious", shared_folder / place
    own.write_text("old")
    link.parent.mkdir(exist_ok=True)
    if theirs and link.parent != shared_folder:  # the whole folder is another user's
        os.chown(link.parent, NOBODY, -1)
    else:
        link.parent.chmod(0o1777)
    link.symlink_to(own)
    os.chown(link, NOBODY, -1, follow_symlinks=False)
    with pytest.raises(CourseError, match="is a link of another user "), leftovers.whole(link) as file:
        file.write("new")
    assert own.read_text() == "old" and link.is_symlink()


@alone
def test_a_link_of_ones_own_or_in_a_folder_of_its_owners_is_followed(tmp_path, shared_folder):
    for place, owner in ((shared_folder, 0), (tmp_path / "course", NOBODY)):
        place.mkdir(exist_ok=True)
        os.chown(place, owner, -1)
        link = place / "report.html"
        link.symlink_to(tmp_path / f"{owner}.html")
        os.chown(link, owner, -1, follow_symlinks=False)
        # above a test's folder lies one that everybody can write to
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(leftovers.stat, "S_IWOTH", 0)
            leftovers.write(link, "page")
        assert (tmp_path / f"{owner}.html").read_text() == "page"


@alone
def test_what_another_user_put_into_the_way_neither_stops_nor_reads_what_is_written(shared_folder, tmp_path):
    trap = tmp_path / "precious"
    trap.write_text("old")
    (shared_folder / ".viva-a.csv").symlink_to(trap)
    (shared_folder / ".viva-b.csv").mkdir()
    (shared_folder / ".viva-b.csv" / "file").touch()
    for name in ("a.csv", "b.csv"):
        leftovers.write(shared_folder / name, "rows")
        assert (shared_folder / name).read_text() == "rows" and trap.read_text() == "old"
    open_file = shared_folder / "c.csv"
    open_file.touch()
    open_file.chmod(0o666)
    os.chown(open_file, NOBODY, -1)
    leftovers.write(open_file, "rows")
    assert not open_file.stat().st_mode & 0o022, "another user's mode is not kept"
    pipe = shared_folder / "d.csv"
    os.mkfifo(pipe)
    os.chown(pipe, NOBODY, -1)
    with pytest.raises(CourseError, match="pipe or device of another user "):
        leftovers.write(pipe, "rows")


def test_to_remove_a_link_removes_nothing_that_it_leads_to(tmp_path):
    (tmp_path / "precious").mkdir()
    (tmp_path / "precious" / "file").touch()
    (tmp_path / "tables").symlink_to(tmp_path / "precious")
    folder.remove(tmp_path / "tables")
    assert not (tmp_path / "tables").is_symlink() and (tmp_path / "precious" / "file").exists()


def test_a_folder_that_cannot_take_its_place_leaves_the_old_one_there(tmp_path):
    place, build = tmp_path / "amoss", tmp_path / f"{leftovers.BUILD}1"
    for inner, text in ((place, "old"), (build / "amoss", "new")):
        inner.mkdir(parents=True)
        (inner / "data.csv").write_text(text)
    with pytest.raises(FileNotFoundError):
        leftovers.put(build / "another", place)
    assert (place / "data.csv").read_text() == "old"
    leftovers.put(build / "amoss", place)
    assert (place / "data.csv").read_text() == "new" and not any((build / "old").iterdir())
