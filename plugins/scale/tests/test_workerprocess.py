"""A worker process that dies or hangs is replaced; one that has killed two is told from one that was graded."""

from __future__ import annotations

import contextlib
import os
import signal
from concurrent.futures import ThreadPoolExecutor

import msgspec
import pytest

from tests.conftest import PROJECT, load
from tests.faults import TINY
from viva.course.gradebook.recording import Expected
from viva.course.grading.marking import Marked
from viva.course.grading.material import Material
from viva.submission.packing import pack
from viva_scale.submissions import Submissions
from viva_scale.workerprocess import Request, Settings, WorkerProcess

pytestmark = pytest.mark.usefixtures("processes")

SETTINGS = Settings(Submissions.service, 30.0, False, 2000, 0.0, ("numpy",), ())


@pytest.fixture
def process(tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", str(PROJECT))  # a process imports nothing from the folder it is started in
    with ThreadPoolExecutor(1) as starter:
        process = WorkerProcess(lambda begin: starter.submit(begin).result())
        yield process
        process.close()


@pytest.fixture
def known(few, grader):
    """An assignment's material, and a package."""
    opened, config = load(few[0])
    with opened.gradebook() as gradebook:
        expected = Expected.of(gradebook, TINY)
    with contextlib.chdir(few[0]):
        material = Material.of(opened, TINY, config, expected, grader).to_bytes()
    return material, pack(opened.submissions([TINY])[0])


@pytest.mark.slow
@pytest.mark.cluster
def test_a_process_that_was_stopped_or_killed_is_replaced_and_the_submission_graded(process, known):
    material, package = known

    def passed() -> list[str]:
        told = process.grade(Request(SETTINGS, "digest", package), material, 30.0)
        marked = msgspec.msgpack.decode(told.marked, type=Marked)
        return [str(result.verdict) for _, _, result in marked.passed.record.results()]

    assert passed() == ["passed", "passed"]
    first = process.process.pid
    assert passed() == ["passed", "passed"] and process.process.pid == first
    os.kill(first, signal.SIGKILL)
    assert passed() == ["passed", "passed"] and process.process.pid != first
    second = process.process.pid
    os.kill(second, signal.SIGSTOP)
    told = process.grade(Request(SETTINGS, "digest", package), material, 8.0)
    assert told.marked and process.process.pid != second


@pytest.mark.slow
def test_what_ends_two_processes_comes_back_as_such(process):
    pids, opened = [], process._open

    def begin_and_end() -> str:
        fault = opened()
        pids.append(process.process.pid)
        process.process.kill()
        return fault

    process._open = begin_and_end
    told = process.grade(Request(SETTINGS, "digest", b""), b"", 30.0)
    assert (told.marked, told.unfit) == (b"", "")
    assert len(set(pids)) == 2


def test_bytes_that_are_no_material_are_a_problem_and_no_dead_process(process):
    told = process.grade(Request(SETTINGS, "digest", b""), b"nothing", 30.0)
    assert "it could not be graded" in msgspec.msgpack.decode(told.marked, type=Marked).problem
    assert process.process.poll() is None
