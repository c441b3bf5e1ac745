"""Another program than Python in bubblewrap: it reaches its own folder, and nothing else."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from tests.conftest import PROJECT
from viva.sandbox.confinement import USUAL, Limits
from viva.sandbox.privileges import THREADS
from viva.sandbox.program import Program
from viva.sandbox.programattempts import faults


@pytest.fixture
def folders(processes, tmp_path):
    """The folder that the program shares with the grader, and its data."""
    tmp_path.chmod(0o711)
    links, data = tmp_path / "links", tmp_path / "data"
    links.mkdir(mode=0o700)
    data.mkdir(mode=0o700)
    (data / "numbers.csv").write_text("1,2\n")
    return links, data


def run(folders: tuple[Path, Path], script: str, limits: Limits = USUAL) -> str:
    """What a shell inside wrote into the shared folder."""
    program = Program(["/bin/sh", "-c", f"exec > /viva/out 2>&1\n{script}"], *folders, {}, limits, slot=900)
    try:
        program.process.wait(60)
        return (folders[0] / "out").read_text()
    finally:
        program.end()


def test_what_must_be_out_of_reach_is_tried_and_is(processes):
    assert faults(PROJECT) == []


def test_the_program_finds_copies_of_the_files_and_changes_none_outside(folders):
    assert run(folders, "cat numbers.csv; echo 3 > numbers.csv; cat numbers.csv; pwd") == ("1,2\n3\n/home/student\n")
    assert (folders[1] / "numbers.csv").read_text() == "1,2\n"


def test_it_is_a_user_without_rights_of_whom_the_machine_counts_the_processes(folders):
    """Root's are not counted: a fork bomb of a kernel below /root once had 6,000."""
    script = "(for number in $(seq 300); do sleep 5 & done) 2>/dev/null; set -- /proc/[0-9]*; echo $#; "
    script += "while read name value _; do case $name in Uid:|CapEff:) echo $value;; esac; done < /proc/self/status"
    processes, uid, capabilities = run(folders, script).split()
    assert int(processes) <= THREADS + 8 and int(uid) > 0 and int(capabilities, 16) == 0


def test_a_file_beyond_the_limit_is_an_error_and_ends_nobody(folders):
    limits = Limits(file_bytes=1 << 20)
    text = run(folders, "head -c 2000000 /dev/zero > big; echo $?; wc -c < big", limits)
    assert text.splitlines()[-2:] == ["1", str(1 << 20)]


def test_all_processes_end_with_the_program_and_too_much_memory_is_noticed(folders):
    script = "sleep 300 & sleep 300 & echo > /viva/begun; wait"
    program = Program(["/bin/sh", "-c", script], *folders, {}, Limits(memory_bytes=1 << 40), slot=900)
    while not (folders[0] / "begun").exists():
        time.sleep(0.05)
    numbers = program.processes()
    assert len(numbers) >= 4 and program.overflows() == ""
    program.limits = Limits(memory_bytes=1)
    assert program.overflows() == "kernel_memory"
    program.end()
    deadline = time.monotonic() + 10
    while any(map(os.path.exists, [f"/proc/{number}" for number in numbers])) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert [number for number in numbers if os.path.exists(f"/proc/{number}")] == []


def test_a_program_that_does_not_start_says_why(folders):
    program = Program(["/no/such/program"], *folders, {}, USUAL, slot=900)
    program.process.wait(60)
    assert "not found" in program.complaint() or "No such file" in program.complaint()
    program.end()
