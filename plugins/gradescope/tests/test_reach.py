"""What a student's process can reach, tried: everything without a sandbox, nothing behind one."""

from __future__ import annotations

import errno
import os
from dataclasses import replace
from pathlib import Path

import pytest

from plugins.gradescope.tests.conftest import ROOT
from viva.engine.grading import Grader
from viva.sandbox.confinement import LARGER, USUAL, Sandbox
from viva.verdict import SandboxError
from viva_gradescope.reach import Reach, reach, sandboxes

pytestmark = pytest.mark.usefixtures("processes")

SECRET = "assert double(4711.25) == 9422.5"


@pytest.fixture
def place(tmp_path) -> Path:
    (tmp_path / "results").mkdir()
    (tmp_path / "hidden").write_text(SECRET)
    return tmp_path


def tried(place: Path, around: tuple[Sandbox, Sandbox] | None) -> Reach:
    grader = Grader(30.0, around, libraries=())
    try:
        return reach(grader, [place / "hidden"], place / "results")
    finally:
        grader.close()


def test_without_a_sandbox_code_gets_at_everything_and_the_probe_says_so(place):
    found = tried(place, None)
    assert found == Reach(os.getuid(), (0,), 0, 0, 0, 0)
    assert not found.holds and "WITHOUT A SANDBOX" in found.sentence(None)
    assert list((place / "results").iterdir()) == [], "the probe leaves nothing behind"


def test_behind_the_sandbox_code_gets_at_nothing(place):
    around = sandboxes(USUAL, LARGER)[0]
    found = tried(place, around)
    assert found.holds and all((*found.secrets, found.result, found.outside, found.process, found.network))
    assert "could not open any of 1 file with hidden tests" in found.sentence(around[0])
    assert "Landlock" in found.sentence(around[0]) or around[0].bubblewrap


@pytest.mark.skipif(not ROOT, reason="only root can take other users")
def test_a_user_of_its_own_stands_in_for_landlock_where_the_files_are_closed_to_others_and_only_there(place):
    around = tuple(replace(sandbox, private_tmp=True) for sandbox in sandboxes(USUAL, LARGER)[-1])
    assert all(sandbox.other_user and not sandbox.bubblewrap for sandbox in around)
    (place / "hidden").chmod(0o600)
    found = tried(place, around)
    assert found.holds and found.user not in (0, os.geteuid())
    assert "without Landlock" in found.sentence(around[0])


def test_one_file_that_can_be_opened_is_one_too_many():
    known = Reach(60578, (errno.EACCES, errno.EACCES), errno.EACCES, errno.EACCES, errno.EPERM, errno.EPERM)
    assert known.holds
    for change in ({"secrets": (errno.EACCES, 0)}, {"result": 0}, {"process": 0}, {"network": 0}):
        assert not replace(known, **change).holds, change


def test_where_no_sandbox_rises_there_is_an_error(place):
    nobody = Sandbox.for_candidate(("/nothing/of/that/name",))
    with pytest.raises(SandboxError):
        tried(place, (nobody, nobody))
