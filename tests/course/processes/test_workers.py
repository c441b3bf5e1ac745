"""A pool that survives the death of its workers."""

from __future__ import annotations

import gc
import multiprocessing
import os
import signal
import time
import traceback

import pytest

from viva.course.processes import stopping, workers
from viva.course.processes.workers import Workers

pytestmark = pytest.mark.usefixtures("processes")


def work(make):
    """Workers whose job is a function of its number and of the worker's."""
    return lambda count: Workers(count, lambda slot: lambda job: make(job, slot))


def test_every_job_comes_back_with_its_result():
    with work(lambda job, _: job * job)(2) as workers:
        assert dict(workers.map(range(20))) == {job: job * job for job in range(20)}


def test_as_many_workers_as_processors_have_one_each():
    mine = os.sched_getaffinity(0)
    with work(lambda job, _: os.sched_getaffinity(0))(len(mine)) as workers:
        assert all(len(found) == 1 and found <= mine for _, found in workers.map(range(8)))
    with work(lambda job, _: os.sched_getaffinity(0))(len(mine) + 1) as workers:
        assert all(found == mine for _, found in workers.map(range(8)))
    assert os.sched_getaffinity(0) == mine


def test_a_worker_does_not_collect_what_it_shares_with_the_batch():
    def job(_number, _slot):
        gc.collect()
        return gc.get_freeze_count(), len(gc.get_objects())

    shared = len(gc.get_objects())
    with work(job)(1) as workers:
        ((_, (frozen, own)),) = workers.map([0])
    assert frozen > 0.9 * shared and own < 0.1 * shared


def test_jobs_run_side_by_side():
    with work(lambda job, _: os.getpid())(3) as workers:
        pids = {pid for _, pid in workers.map(range(60))}
        assert len(pids) > 1 and os.getpid() not in pids


def test_a_job_whose_worker_is_killed_is_done_by_the_next(tmp_path):
    def job(number, _):
        mark = tmp_path / str(number)
        if number == 3 and not mark.exists():
            mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return number + 1

    with work(job)(2) as workers:
        assert dict(workers.map(range(8))) == {number: number + 1 for number in range(8)}
        assert dict(workers.map(range(3))) == {0: 1, 1: 2, 2: 3}


def test_a_job_that_comes_later_is_done_while_another_takes_long(tmp_path):
    def job(number, _):
        while number == 0 and not (tmp_path / "1").exists():
            time.sleep(0.01)
        (tmp_path / str(number)).touch()
        return number

    with work(job)(2) as workers:
        finished = list(workers.follow([0, None, None, 1]))
    assert finished[:2] == [[], []], "somebody is told that nothing was finished, and can do something else"
    assert sorted(one for some in finished for one in some) == [(0, 0), (1, 1)]


def test_a_job_that_kills_two_workers_comes_back_without_a_result(tmp_path):
    def job(number, _):
        if number == 3:
            with (tmp_path / "deaths").open("a") as file:
                file.write("x")
            os._exit(9)
        return number

    with work(job)(2) as workers:
        assert dict(workers.map(range(6))) == {0: 0, 1: 1, 2: 2, 3: None, 4: 4, 5: 5}
    assert (tmp_path / "deaths").read_text() == "xx"


def test_a_new_worker_has_the_slot_of_the_dead_one():
    def job(number, slot):
        if number < 4:
            os._exit(1)
        return slot

    with work(job)(2) as workers:
        assert {slot for number, slot in workers.map(range(8)) if number >= 4} <= {0, 1}
        assert sorted(workers.slots.values()) == [0, 1]


def test_a_worker_killed_at_rest_is_replaced():
    with work(lambda job, _: job)(1) as workers:
        assert list(workers.map([1])) == [(1, 1)]
        (process,) = workers.processes.values()
        process.kill()
        process.join()
        assert list(workers.map([2, 3])) == [(2, 2), (3, 3)]


def test_what_is_handed_to_a_worker_is_let_go_here():
    let_go = []

    class Job:
        def __init__(self, slot):
            self.slot = slot

        def __call__(self, job):
            return self.slot

        def let_go(self):
            let_go.append(self.slot)

    with Workers(2, Job) as workers:
        assert let_go == [0, 1]
        assert {slot for _, slot in workers.map(range(2))} <= {0, 1}


@pytest.mark.parametrize("stop", [False, True])
def test_closing_leaves_no_process(stop):
    workers = work(lambda job, _: time.sleep(job))(2)
    pids = [process.pid for process in workers.processes.values()]
    if stop:  # in the middle of a job
        workers.busy[next(iter(workers.processes))] = (60, 1)
        next(iter(workers.processes)).send(60)
    start = time.monotonic()
    workers.close()
    assert time.monotonic() - start < 5
    for pid in pids:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


def test_workers_do_not_mind_ctrl_c():
    # As in a batch: a KeyboardInterrupt raised while Python cleans up after the fork is lost, and a lock with it.
    with stopping.postponed(), work(lambda job, _: time.sleep(0.2) or job)(1) as workers:
        results = workers.map([1])
        (process,) = workers.processes.values()
        os.kill(process.pid, signal.SIGINT)
        assert list(results) == [(1, 1)]


def test_a_worker_whose_maker_was_killed_before_it_read_the_answer_ends_without_a_word(capfd):
    ours, theirs = multiprocessing.Pipe()
    worker = os.fork()
    if worker == 0:
        ours.close()
        try:
            workers._serve(lambda job: job, theirs, [], os.getppid(), os.sched_getaffinity(0))
            os._exit(0)
        except BaseException:
            traceback.print_exc()
            os._exit(1)
    theirs.close()
    ours.send("job")
    assert ours.poll(60)
    ours.close()  # with the answer in it: the kernel resets the connection
    assert os.waitpid(worker, 0)[1] == 0, capfd.readouterr().err
