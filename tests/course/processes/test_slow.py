"""A solution that runs for long shows a line on the terminal; nothing else does."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest

from tests.faults import make_course
from viva.course.processes import slow


def test_what_takes_long_is_told_and_what_does_not_is_not(monkeypatch):
    ours, theirs = os.openpty()
    with os.fdopen(theirs, "w", encoding="utf-8") as file, monkeypatch.context() as patched:
        patched.setattr(sys, "stderr", file)
        with slow.told("Doing little"):
            pass
        patched.setattr(slow, "QUIET", 0.01)
        with slow.told("Running the solution of ps1"):
            said = os.read(ours, 100)
    os.close(ours)
    assert said == b"Running the solution of ps1 ...\r\n"


def test_nothing_is_told_where_there_is_no_terminal(capsys, monkeypatch):
    monkeypatch.setattr(slow, "QUIET", 0.0)
    with slow.told("Running the solution of ps1"):
        time.sleep(0.05)
    assert not capsys.readouterr().err


@pytest.mark.thorough
@pytest.mark.timeout(600)
def test_release_audit_and_grade_say_that_they_run_a_solution_that_takes_long(tmp_path):
    root = make_course(tmp_path / "course")
    path = root / "source" / "tiny" / "tiny.ipynb"
    path.write_text(path.read_text().replace("def double(x):", "import time\\ntime.sleep(3)\\ndef double(x):", 1))
    folder = root / "submitted" / "ada" / "tiny"
    for words in (["release", "--no-audit"], ["audit"], ["grade"]):
        if words == ["grade"]:
            folder.mkdir(parents=True)
            (folder / "tiny.ipynb").write_bytes((root / "release" / "tiny" / "tiny.ipynb").read_bytes())
        for kept in (root / ".rehearsals").glob("*"):
            kept.unlink()
        ours, theirs = os.openpty()
        process = subprocess.Popen(
            [sys.executable, "-m", "viva", *words], cwd=root, stdout=subprocess.DEVNULL, stderr=theirs
        )
        os.close(theirs)
        said = b""
        try:
            while data := os.read(ours, 1000):
                said += data
                if words == ["audit"] and b"Running the solution of tiny" in said:
                    process.send_signal(signal.SIGINT)  # else each of its trials takes three seconds
                    break
            while os.read(ours, 1000):
                pass
        except OSError:  # the other end is closed
            pass
        os.close(ours)
        assert process.wait() in (0, 1, 130) and b"Running the solution of tiny" in said, (words, said)
