"""A batch on a cluster comes to what it comes to on this machine, whatever happens to the cluster."""

from __future__ import annotations

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from concurrent.futures import Future
from pathlib import Path

import pytest
from distributed import Client

from plugins.scale.tests.cluster import Dask, batches, filed, grade_there, processes
from tests.conftest import PROJECT
from tests.faults import recorded, require_tidy, scores, timeless
from viva.submission.submission import Status
from viva.verdict import CourseError
from viva_scale.clusteraddress import Cluster
from viva_scale.pool import ClusterWorkers, Errand, Pool, Seat
from viva_scale.versions import LIBRARIES
from viva_scale.workerprocess import Reply, Settings


def require_same(course: Path, graded: Path) -> None:
    assert timeless(course) == timeless(graded)
    assert filed(course) == filed(graded)
    assert scores(course) == scores(graded)
    require_tidy(course)


def until(what, seconds: float = 120) -> None:
    end = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < end
        time.sleep(0.05)


def grade_command(course: Path, *arguments: str, command: str = "grade", **how: bool) -> subprocess.Popen:
    """`viva grade`, or another command, as a process of its own."""
    tmp = course.parent / "tmp"
    tmp.mkdir(exist_ok=True)
    process = subprocess.Popen(
        [sys.executable, "-m", "viva", command, *arguments],
        cwd=course,
        env=os.environ | {"TMPDIR": str(tmp), "COLUMNS": "200", "PYTHONPATH": str(PROJECT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **how,
    )
    STARTED.append(process)
    return process


STARTED: list[subprocess.Popen] = []


@pytest.fixture(autouse=True)
def nothing_left():
    """A test that fails leaves no command to the tests after it, and shows what the command said."""
    yield
    while STARTED:
        process = STARTED.pop()
        if process.poll() is None:
            process.kill()
            print(*process.communicate())


def refused(address: str, **settings: object) -> tuple[str, list[str]]:
    """Why a pool does not open, and what was told before."""
    told: list[str] = []
    cluster, nothing = Cluster(address=address, **settings), Settings("none:None", 30.0, False, 2000, 0.0, (), ())
    with pytest.raises(CourseError) as error, Pool(cluster, nothing, LIBRARIES, None, told.append):
        raise AssertionError("it opened")
    return str(error.value), told


def test_a_suspect_is_never_sent_beside_another_job_also_where_its_worker_turned_out_to_be_unfit():
    pool = Pool(Cluster(), Settings("none:None", 30.0, False, 2000, 0.0, (), ()), LIBRARIES, None, print)
    pool.workers = ClusterWorkers.__new__(ClusterWorkers)
    pool.workers.refused, pool.workers.tell = {}, print
    for suspect in (False, True):
        seat, errand, running = Seat("tcp://127.0.0.1:1", 1), Errand("job", suspect), Future()
        seat.busy[errand] = running
        running.set_result(Reply(unfit="its disk is full"))
        pool._hear_of(seat, errand, running)
        assert [list(pool.todo), list(pool.suspects)] == ([[], [errand]] if suspect else [[errand], []])
        pool.todo.clear()


@pytest.mark.slow
def test_a_cluster_comes_to_what_this_machine_does_byte_by_byte_but_for_times(course, few, dask):
    dask.schedule()
    worker = dask.work(threads=2)
    endings = grade_there(course, str(dask.file))
    assert {one.status for one in endings} == {Status.DONE}
    require_same(course, few[1])
    kept = processes(worker)
    assert len(kept) == 2
    worker.kill()
    worker.wait()
    until(lambda: not any(process.is_running() and process.status() != "zombie" for process in kept))


@pytest.mark.slow
@pytest.mark.cluster
def test_warm_parents_live_as_long_as_their_worker(course, few, dask):
    address = dask.schedule()
    worker = dask.work()
    grade_there(course, address)
    before = [process.pid for process in processes(worker)]
    assert {one.status for one in grade_there(course, address)} == {Status.UNCHANGED}
    assert {one.status for one in grade_there(course, address, Autograde__force=True)} == {Status.DONE}
    require_same(course, few[1])
    assert [process.pid for process in processes(worker)] == before != []


@pytest.mark.slow
@pytest.mark.cluster
def test_processes_of_this_machine_are_a_cluster_too(course, tmp_path):
    loop = course / "submitted" / "student0000" / "tiny" / "tiny.ipynb"
    loop.write_text(loop.read_text().replace("return 2 * x", "while x:\\n        pass\\n    return 0"))
    here = shutil.copytree(course, tmp_path / "here" / "course")
    for place, where in ((course, ["--cluster=local:2"]), (here, [])):
        process = grade_command(place, "--Execute.timeout=2", *where)
        out, err = process.communicate(timeout=200)
        assert (process.returncode, err) == (0, ""), out
    assert "timeout" in timeless(here)
    one, other = (re.sub(r'"amount": [\d.]+', "", timeless(place)) for place in (course, here))
    assert one == other
    assert scores(course) == scores(here)
    require_tidy(course)


@pytest.mark.slow
@pytest.mark.cluster
def test_ctrl_c_in_a_terminal_reaches_every_process_and_only_one_answers(crowded, many):
    process = grade_command(crowded, "--cluster=local:2", start_new_session=True)
    until(lambda: len(recorded(crowded)) > 3)
    os.killpg(process.pid, signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert (
        err.startswith("Stopped. All finished work is kept. To continue, run the same command") and err.count("\n") == 1
    )
    require_tidy(crowded)
    assert 3 < len(recorded(crowded)) < 40


@pytest.mark.slow
def test_killed_and_new_workers_cost_nobody_a_point(course, few, gate, dask):
    address = dask.schedule()
    one, other = (dask.work(**gate.environment()) for _ in range(2))
    process = grade_command(course, f"--cluster={address}", "--Cluster.wait=100")
    until(lambda: gate.at(one.pid) and gate.at(other.pid))
    for victim in (one, other):  # the second only when the next worker has a job of the first
        victim.kill()
        victim.wait()
        new = dask.work(ready=False, **gate.environment())
        until(lambda new=new: gate.at(new.pid))
    gate.open()
    out, err = process.communicate(timeout=120)
    assert (process.returncode, err) == (0, ""), out
    require_same(course, few[1])


@pytest.mark.slow
def test_a_submission_that_ends_two_workers_is_set_aside_and_named_and_no_other(course, few, gate, dask):
    address = dask.schedule()
    for _ in range(3):
        dask.work(**gate.environment())
    step = ["plugins.scale.tests.deadly.Deadly"]
    killer = course / "submitted" / "student0002"
    killer.rename(killer.with_name("kills-workers"))
    folder = course / "submitted" / "student0003"
    folder.rename(folder.with_name("kills-processes"))
    endings = grade_there(course, address, Autograde__sanitize_preprocessors=step)
    failed = {one.submission.student: one.reason for one in endings if one.status is not Status.DONE}
    assert failed.keys() == {"kills-workers", "kills-processes"}
    assert set(failed.values()) == {
        "its grading process stopped twice. Check this machine (memory, disk), then grade again"
    }
    assert {one.submission.student for one in endings} == {
        *("student0000", "student0001", "student0004", "student0005", "kills-workers", "kills-processes")
    }
    assert {student: recorded(course)[student]["notebooks"] for student in recorded(course)}.keys() == {
        *("student0000", "student0001", "student0004", "student0005")
    }
    gate.open(*failed)
    # Where a result was still on its way when a worker ended, another may have had to end.
    dask.work(**gate.environment())
    again = grade_there(course, address, Autograde__sanitize_preprocessors=step)
    assert {one.submission.student for one in again if one.status is Status.DONE} == failed.keys()
    assert {one.status for one in again} == {Status.DONE, Status.UNCHANGED}


@pytest.mark.slow
@pytest.mark.cluster
def test_workers_and_processes_that_hang_are_given_up(course, few, gate, tmp_path):
    last = "student0005"
    with Dask(tmp_path / "dask", DASK_DISTRIBUTED__SCHEDULER__WORKER_TTL="20 s") as dask:
        address = dask.schedule()
        frozen, other = (dask.work(**gate.environment()) for _ in range(2))
        # Both limits are long enough for a machine that has much else to do.
        process = grade_command(course, f"--cluster={address}", "--Cluster.timeout=30")
        until(lambda: gate.at(frozen.pid) and gate.at(other.pid))
        frozen.send_signal(signal.SIGSTOP)
        gate.open(*(f"student{number:04}" for number in range(5)))
        until(lambda: last in gate.at(other.pid))
        (stopped,) = processes(other)
        stopped.suspend()
        gate.open()
        out, err = process.communicate(timeout=250)
        assert (process.returncode, err) == (0, ""), out
        require_same(course, few[1])
        assert not stopped.is_running()


@pytest.mark.slow
def test_two_batches_at_once_share_a_cluster(course, few, gate, dask, tmp_path):
    other = shutil.copytree(few[0], tmp_path / "second" / "course")
    address = dask.schedule()
    dask.work(threads=2, **gate.environment())
    processes = [grade_command(place, f"--cluster={address}") for place in (course, other)]
    with Client(address, set_as_default=False) as client:
        until(lambda: client.run_on_scheduler(batches) == 2)
    gate.open()
    for process in processes:
        out, err = process.communicate(timeout=120)
        assert (process.returncode, err) == (0, ""), out
    for place in (course, other):
        require_same(place, few[1])


@pytest.mark.slow
@pytest.mark.cluster
def test_a_function_in_the_configuration_cannot_travel_and_a_sentence_says_so(course, dask):
    address = dask.schedule()
    dask.work()
    with pytest.raises(CourseError, match="defines a function, which cannot be sent to another process"):
        grade_there(course, address, Autograde__hook=lambda notebook: notebook)
    assert not recorded(course)


@pytest.mark.slow
@pytest.mark.cluster
def test_a_worker_without_a_sandbox_is_refused(dask):
    address = dask.schedule()
    dask.work(lie="protection.protection = lambda *_: protection.Protection(())")
    error, told = refused(address)
    assert error.startswith("No worker can be used. The reasons are above")
    assert "its sandbox does not work. Run 'viva doctor' on that machine to see what is missing" in told[0]


@pytest.mark.slow
@pytest.mark.cluster
def test_a_worker_on_another_machine_is_refused_without_tls_unless_told(dask):
    address = dask.schedule()
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as way:
        way.connect(("192.0.2.1", 9))  # nothing is sent
        here = way.getsockname()[0]
    dask.work(host=here)
    error, told = refused(address)
    assert error.startswith("No worker can be used. The reasons are above")
    assert (
        f"tcp://{here}" in told[0] and "it is on another machine and has no TLS. Start the worker with TLS," in told[0]
    )
    cluster, settings = Cluster(address=address, insecure=True), Settings("none:None", 30.0, False, 2000, 0.0, (), ())
    with Pool(cluster, settings, LIBRARIES, None, told.append) as pool:
        assert next(iter(pool.workers.seats)).startswith(f"tcp://{here}")


@pytest.mark.slow
@pytest.mark.cluster
def test_ctrl_c_stops_the_batch_and_the_next_one_goes_on(crowded, many, dask):
    address = dask.schedule()
    dask.work()
    process = grade_command(crowded, f"--cluster={address}")
    until(lambda: len(recorded(crowded)) > 3)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert (
        err.startswith("Stopped. All finished work is kept. To continue, run the same command") and err.count("\n") == 1
    )
    before = recorded(crowded)
    assert 3 < len(before) < 40
    endings = {one.submission.student: one.status for one in grade_there(crowded, address)}
    assert {student for student, status in endings.items() if status is Status.UNCHANGED} == before.keys()
    require_same(crowded, many[1])


@pytest.mark.slow
@pytest.mark.cluster
def test_a_scheduler_that_ends_loses_nothing_that_was_finished(crowded, many, tmp_path):
    with Dask(tmp_path / "dask") as dask:
        address = dask.schedule()
        dask.work()
        process = grade_command(crowded, f"--cluster={address}")
        until(lambda: len(recorded(crowded)) > 3)
        dask.processes[0].kill()
        _, err = process.communicate(timeout=120)
        assert process.returncode == 2
        assert "The scheduler of the cluster stopped answering. Finished work is kept" in err
        assert "Traceback" not in err
    before = recorded(crowded)
    with Dask(tmp_path / "again") as dask:
        address = dask.schedule()
        dask.work()
        endings = {one.submission.student: one.status for one in grade_there(crowded, address)}
    assert before.keys() == {student for student, status in endings.items() if status is Status.UNCHANGED}
    require_same(crowded, many[1])


@pytest.mark.slow
@pytest.mark.cluster
def test_a_regrade_goes_over_a_cluster_too(course, few, dask):
    address = dask.schedule()
    dask.work()
    grade_there(course, address)
    source = course / "source" / "tiny" / "tiny.ipynb"
    source.write_text(source.read_text().replace("double(3) == 6", "double(3) == 5"))
    process = grade_command(course, "tiny", "--no-audit", f"--cluster={address}", command="regrade")
    out, err = process.communicate(timeout=200)
    assert (process.returncode, err) == (0, ""), out
    assert scores(few[1])["student0000"][0] == 3
    assert scores(course)["student0000"][0] == 1
