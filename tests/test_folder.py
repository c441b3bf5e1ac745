"""A stranger's folder is walked, measured and removed, however it was made."""

from __future__ import annotations

import os
import resource
from pathlib import Path

import pytest

from viva.folder import MOST_LEVELS, holds_more, remove, walk
from viva.verdict import CourseError
from viva_audit.answers import read_answer
from viva_audit.auditresult import read_excuses


def deepen(folder: Path, levels: int, name: str = "d") -> None:
    """Make folders in folders, as a process does that changes into each."""
    place = os.open(folder, os.O_RDONLY)
    for _ in range(levels):
        os.mkdir(name, dir_fd=place)
        inner = os.open(name, os.O_RDONLY, dir_fd=place)
        os.close(place)
        place = inner
    os.close(os.open("last", os.O_CREAT | os.O_WRONLY, dir_fd=place))
    os.close(place)


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "folder"
    folder.mkdir()
    yield folder
    remove(folder)


@pytest.mark.parametrize(("levels", "name"), [(1100, "d"), (25, "d" * 200)])
def test_folders_deeper_than_python_recurses_or_a_path_is_long_are_removed(folder, levels, name):
    deepen(folder, levels, name)
    (folder / "closed").mkdir(0)
    os.symlink("/", folder / "link")
    remove(folder)
    assert list(folder.parent.iterdir()) == [] and Path("/").is_dir()


def test_the_walk_is_in_order_and_goes_neither_through_links_nor_below_twenty_levels(folder):
    deepen(folder, MOST_LEVELS + 5)
    for name in ("b", "a", ".hidden", "cache/x", "sub/.cache", "sub/c.pyc"):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).touch()
    os.symlink("/", folder / "root")
    os.mkfifo(folder / "pipe")
    found = [str(path.relative_to(folder)) for path in walk(folder, ["cache", "*.pyc", "*cache"])]
    assert found == [".hidden", "a", "b", "pipe", "root", "sub/.cache"]
    deepen(folder / "sub", MOST_LEVELS - 1, "e")
    assert any(path.name == "last" for path in walk(folder))


def test_what_cannot_be_looked_into_counts_as_too_much(folder):
    assert not holds_more(folder, 10**6, 1000)
    deepen(folder, 25, "d" * 200)
    assert holds_more(folder, 10**6, 1000)


@pytest.mark.slow
def test_a_thousand_levels_are_counted(folder):
    deepen(folder, 1200)
    assert holds_more(folder, 10**9, 1100) and not holds_more(folder, 10**9, 1300)


def test_few_open_files_are_enough(folder):
    deepen(folder, 200)
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (100, before[1]))
    try:
        remove(folder)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)
    assert not folder.exists()


def test_what_a_removal_that_was_cut_off_leaves_lies_in_the_folder_and_the_next_removes_it(folder, monkeypatch):
    (folder / "a" / "b").mkdir(parents=True)
    (folder / "a" / "b" / "file").touch()
    with monkeypatch.context() as patch:
        patch.setattr("os.unlink", lambda path: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            remove(folder)
    assert list(folder.parent.iterdir()) == [folder]
    remove(folder)
    assert list(folder.parent.iterdir()) == []


def test_a_folder_that_cannot_be_listed_for_want_of_open_files_stays_without_a_word(folder, monkeypatch):
    (folder / "file").touch()
    with monkeypatch.context() as patch:
        patch.setattr("os.scandir", lambda path: (_ for _ in ()).throw(OSError(24, "Too many open files")))
        remove(folder)
    assert (folder / "file").exists()


@pytest.mark.parametrize("read", [read_answer, read_excuses])
def test_a_file_of_the_instructors_that_is_no_utf8_is_said_to_be_none_with_its_line(folder, read):
    path = folder / "written"
    path.write_text("# one line\n# Prüfung", encoding="latin-1")
    with pytest.raises(CourseError, match="written, line 2: the file is not in UTF-8"):
        read(path)
