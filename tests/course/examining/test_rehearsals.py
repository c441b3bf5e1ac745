"""What rehearsals showed is kept beside the course, and believed only as long as it holds."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import msgspec
import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook

from viva.course.examining import rehearsals
from viva.course.examining.rehearsals import NAME, Kept, Rehearsals

ANSWER = "import numpy as np\ndef double(x):\n    return 2 * np.asarray(x)\n"
TEST = (
    "### CHECK 1: small\nassert double(2) == 4\n### CHECK 1: hidden\n### BEGIN HIDDEN TESTS\n{}\n### END HIDDEN TESTS\n"
)


def write(folder: Path, hidden: str = "assert double(5) == 10", answer: str = ANSWER) -> Path:
    cells = [
        new_code_cell(answer, metadata={"nbgrader": {"solution": True, "grade": False, "grade_id": "answer"}}),
        new_code_cell(
            TEST.format(hidden),
            metadata={"nbgrader": {"solution": False, "grade": True, "locked": True, "points": 2, "grade_id": "test"}},
        ),
    ]
    folder.mkdir(parents=True, exist_ok=True)
    nbformat.write(new_notebook(cells=cells), folder / "ps.ipynb")
    return folder / "ps.ipynb"


@pytest.fixture
def source(tmp_path) -> Path:
    return write(tmp_path / "course" / "source" / "ps")


@pytest.fixture
def kept(tmp_path) -> Rehearsals:
    return Rehearsals(tmp_path / "course" / NAME)


@pytest.fixture
def rehearsed(monkeypatch) -> list:
    """The notebooks that were rehearsed, one by one."""
    done, real = [], rehearsals.rehearse

    def counting(path, *arguments):
        done.append(path)
        return real(path, *arguments)

    monkeypatch.setattr(rehearsals, "rehearse", counting)
    return done


def test_a_solution_is_rehearsed_once_and_what_was_kept_says_the_same(source, kept, grader, rehearsed):
    first = kept.examination(source, grader)
    again = Rehearsals(kept.folder).examination(source, grader)
    assert len(rehearsed) == 1
    assert again == first and again.kinds and again.blueprint.cells[1].checks


def test_what_a_verdict_depends_on_is_rehearsed_anew(source, kept, grader, rehearsed):
    kept.examination(source, grader)
    write(source.parent, hidden="assert double(6) == 12")
    kept.examination(source, grader)
    (source.parent / "data.csv").write_text("1,2\n")
    kept.examination(source, grader)
    kept.examination(source, grader, points={"test": 2})
    assert len(rehearsed) == 3  # the points are those that stand there
    grader.seconds += 1
    try:
        kept.examination(source, grader)
    finally:
        grader.seconds -= 1
    assert len(rehearsed) == 4


def test_no_line_of_a_solution_or_a_test_is_kept_and_nobody_else_can_read_it(source, kept, grader):
    kept.examination(source, grader)
    (path,) = kept.folder.iterdir()
    assert b"double(5)" not in path.read_bytes() and b"asarray" not in path.read_bytes()
    assert path.stat().st_mode & 0o777 == 0o600 and kept.folder.stat().st_mode & 0o777 == 0o700


def test_graders_of_one_group_share_it(source, kept, grader, rehearsed):
    Rehearsals(kept.folder, shared=True).examination(source, grader)
    (path,) = kept.folder.iterdir()
    assert path.stat().st_mode & 0o777 == 0o660 and kept.folder.stat().st_mode & 0o7777 == 0o2770
    Rehearsals(kept.folder, shared=True).examination(source, grader)
    assert len(rehearsed) == 1
    kept.examination(source, grader)  # where no group works on the course, a file that a group may write is foreign
    assert len(rehearsed) == 2


def forged(known: Kept, **change) -> bytes:
    content = msgspec.msgpack.encode(msgspec.structs.replace(known, **change))
    return hashlib.sha256(content).digest() + content


def read(path: Path) -> Kept:
    return msgspec.msgpack.decode(path.read_bytes()[rehearsals.DIGEST :], type=Kept)


@pytest.mark.parametrize(
    "spoil",
    [
        lambda path: path.write_bytes(b""),
        lambda path: path.write_bytes(path.read_bytes()[:-3]),
        lambda path: path.write_bytes(os.urandom(500)),
        lambda path: path.write_bytes(forged(read(path), given=frozenset({"elsewhere"}))),
        lambda path: path.write_bytes(forged(read(path), seconds=-1.0)),
        lambda path: path.chmod(0o666),
        lambda path: path.parent.chmod(0o777),
        lambda path: (path.rename(path.with_name("x")), path.symlink_to(path.with_name("x"))),
        lambda path: (path.unlink(), os.mkfifo(path)),
        lambda path: os.chown(path, 12345, 12345),
    ],
    ids=["empty", "cut", "noise", "other cells", "odd", "for all", "in an open folder", "link", "pipe", "stranger's"],
)
@pytest.mark.slow
def test_what_is_damaged_or_could_be_forged_is_rehearsed_anew(source, kept, grader, rehearsed, spoil):
    first = kept.examination(source, grader)
    (path,) = kept.folder.iterdir()
    if os.geteuid() and "chown" in spoil.__code__.co_names:
        pytest.skip("Only root gives files away.")
    spoil(path)
    assert kept.examination(source, grader).kinds == first.kinds
    assert len(rehearsed) == 2


@pytest.mark.slow
def test_what_met_a_limit_is_not_kept(source, kept, grader, rehearsed):
    source = write(source.parent, hidden="import time\ntime.sleep(60)\n")
    seconds, grader.seconds = grader.seconds, 0.5
    try:
        kept.examination(source, grader)
        kept.examination(source, grader)
    finally:
        grader.seconds = seconds
    assert len(rehearsed) == 2


def test_a_folder_that_cannot_be_made_stops_nobody(source, kept, grader, rehearsed):
    kept.folder.write_text("a file")
    assert kept.examination(source, grader).kinds and kept.folder.read_text() == "a file"


def test_the_oldest_go_where_there_are_too_many(source, kept, grader, monkeypatch):
    monkeypatch.setattr(rehearsals, "MOST", 2)
    for number in range(4):
        kept.examination(write(source.parent, hidden=f"assert double({number}) == {2 * number}"), grader)
    assert len(list(kept.folder.iterdir())) == 2
