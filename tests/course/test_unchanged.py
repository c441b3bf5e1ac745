"""`viva grade` with nothing to do says so at once, and only then."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.conftest import BIN
from viva.course.unchanged import NAME, Scope, Unclear

NOBODY_CHANGES_IT = 10**18 * 9
"""A moment from which on contents count, that never comes."""


@pytest.fixture
def scope(tmp_path) -> Scope:
    folder = tmp_path / "tree" / "student" / "ps1"
    folder.mkdir(parents=True)
    (folder / "ps1.ipynb").write_text("{}")
    (tmp_path / "root").mkdir()
    (tmp_path / "root" / "gradebook.db").write_text("book")
    return Scope([str(tmp_path / "tree")], [str(tmp_path / "root")], [str(tmp_path / "nbgrader_config.py")])


def same_time(path: Path, text: str) -> None:
    """Write as many bytes, and give the file its old time."""
    about = path.stat()
    path.write_text(text)
    os.utime(path, ns=(about.st_atime_ns, about.st_mtime_ns))


CHANGES = {
    "a new file": lambda root: (root / "tree/student/ps1/data.csv").write_text(""),
    "a new folder": lambda root: (root / "tree/other").mkdir(),
    "another text of the same length and time": lambda root: same_time(root / "tree/student/ps1/ps1.ipynb", "[]"),
    "other rights": lambda root: (root / "tree/student/ps1/ps1.ipynb").chmod(0o600),
    "another name for a file": lambda root: os.link(root / "tree/student/ps1/ps1.ipynb", root / "elsewhere"),
    "a file that is gone": lambda root: (root / "root/gradebook.db").unlink(),
    "an older copy": lambda root: (
        shutil.copy2(root / "root/gradebook.db", root / "x"),
        (root / "x").replace(root / "root/gradebook.db"),
    ),
    "a configuration": lambda root: (root / "nbgrader_config.py").write_text(""),
    "a folder that is gone": lambda root: shutil.rmtree(root / "tree"),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES.keys())
def test_whatever_changes_is_seen(scope, tmp_path, change):
    before = scope.state(NOBODY_CHANGES_IT)
    assert scope.state(NOBODY_CHANGES_IT) == before
    time.sleep(0.02)  # longer than a tick of the kernel's clock
    change(tmp_path)
    assert scope.state(NOBODY_CHANGES_IT) != before


def test_of_what_changed_just_now_the_content_counts(scope, tmp_path, monkeypatch):
    """Within one tick of a clock the times stay the same; here the tick is as long as the test."""
    path, real = tmp_path / "root" / "gradebook.db", os.lstat
    about = real(path)
    monkeypatch.setattr(os, "lstat", lambda name: about if str(name) == str(path) else real(name))
    before = scope.state(about.st_ctime_ns), scope.state(about.st_ctime_ns + 1)
    path.write_text("kobo")
    assert scope.state(about.st_ctime_ns) != before[0]
    assert scope.state(about.st_ctime_ns + 1) == before[1], "a file that was older is known by its times"


def test_a_link_to_a_folder_is_looked_into_by_the_command(scope, tmp_path):
    (tmp_path / "tree" / "linked").symlink_to(tmp_path / "root")
    with pytest.raises(Unclear):
        scope.state(NOBODY_CHANGES_IT)


def run(root: Path, *options: str) -> subprocess.CompletedProcess:
    command = [sys.executable, *options, str(BIN / "viva"), "grade"]
    return subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)


@pytest.mark.slow
def test_nothing_to_do_is_said_without_nbgrader_and_a_gradebook_that_was_changed_is_noticed(founded, tmp_path):
    root = tmp_path / "course"
    shutil.copytree(founded, root)
    (release,) = (root / "release").glob("*/*.ipynb")
    handed_in = root / "submitted" / "ada" / release.parent.name
    handed_in.mkdir(parents=True)
    shutil.copy(release, handed_in)
    first = run(root)
    assert first.returncode == 0 and " 1 " in first.stdout
    (kept,) = (root / NAME).iterdir()

    second = run(root, "-X", "importtime")
    assert second.returncode == 0 and "unchanged" in second.stdout
    assert not [name for name in ("nbgrader", "sqlalchemy", "numpy", "traitlets") if f" {name}\n" in second.stderr]

    said = kept.read_text()
    kept.write_text(said.replace("unchanged", "forged"))
    kept.chmod(0o666)
    looked = run(root)
    assert looked.stdout == second.stdout, "what others could have written is not believed, and a look says the same"

    with sqlite3.connect(root / "gradebook.db") as book:
        book.execute("UPDATE grade SET auto_score = 77")
    changed = run(root)
    assert "results.jsonl" in changed.stdout and changed.stdout != second.stdout, "the scores are compared"
    assert run(root).stdout == second.stdout
