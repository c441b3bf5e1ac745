"""Whatever happens to a `viva grade`, nothing is lost, nothing is left, and the next one completes."""

from __future__ import annotations

import contextlib
import os
import random
import select
import shutil
import signal
import sqlite3
import time

import psutil
import pytest

from tests.faults import (
    TINY,
    Grading,
    grade_here,
    hand_in_tiny,
    heir_of_orphans,
    in_private_mounts,
    make_course,
    recorded,
    refusal,
    require_sound,
    require_tidy,
    scores,
    timeless,
    until_dead,
)
from tests.oral import thinned
from viva.submission.submission import Status

pytestmark = pytest.mark.slow

MANY = 40
SLOW = bool(os.environ.get("VIVA_FAULTS"))
"""`make faults` asks for more."""
KILLS, CROWD, ROOM = (50, 1000, (0, 30, 60, 90, 150)) if SLOW else (5, 300, (60,))


@pytest.fixture(autouse=True)
def orphans():
    with heir_of_orphans():
        yield


@pytest.fixture(scope="module")
def released_tiny(tmp_path_factory):
    return make_course(tmp_path_factory.mktemp("tiny") / "course")


@pytest.fixture(scope="module")
def undisturbed(released_tiny, tmp_path_factory):
    """A course that was handed in, and the same graded at leisure."""
    fresh = tmp_path_factory.mktemp("fresh") / "course"
    shutil.copytree(released_tiny, fresh)
    hand_in_tiny(fresh, MANY)
    graded = tmp_path_factory.mktemp("graded") / "course"
    shutil.copytree(fresh, graded)
    assert {outcome.status for outcome in grade_here(graded)} == {Status.DONE}
    return fresh, graded


@pytest.fixture
def tiny(undisturbed, tmp_path):
    course = tmp_path / "course"
    shutil.copytree(undisturbed[0], course)
    return course


@pytest.fixture
def complete(tiny, undisturbed):
    """Check that a next run completes what was begun: the same scores, and nothing again that was graded.

    What a fault of the grader left ungraded is graded again.
    """

    def check(course=tiny) -> None:
        before = {student: record for student, record in recorded(course).items() if not record.get("faults")}
        assert {outcome.status for outcome in grade_here(course)} <= {Status.DONE, Status.UNCHANGED}
        require_sound(course)
        require_tidy(course)
        after = recorded(course)
        assert {student: after[student] for student in before} == before
        assert scores(course) == scores(undisturbed[1])
        assert timeless(course) == timeless(undisturbed[1])

    return check


def one_sentence(text: str) -> bool:
    return text.startswith("Stopped") and text.count("\n") == 1


def test_ctrl_c_at_any_moment_leaves_nothing_and_loses_nothing(tiny, complete):
    moments = [
        (Grading.begun, 0.0, signal.SIGINT, False),
        (Grading.begun, 1.0, signal.SIGINT, False),
        (Grading.parents, 0.0, signal.SIGTERM, False),
        (Grading.parents, 0.5, signal.SIGINT, True),
        (Grading.builds, 0.1, signal.SIGINT, True),
        (Grading.writes, 0.0, signal.SIGINT, False),
    ]
    for place, (moment, delay, number, impatient) in enumerate(moments):
        before = recorded(tiny)
        grading = Grading(tiny)
        grading.until(Grading.begun)
        grading.until(moment)
        time.sleep(delay)
        grading.interrupt(number, group=bool(place % 2))
        while impatient and grading.process.poll() is None:
            grading.interrupt(number, group=True)
            time.sleep(0.02)
        assert grading.wait() == 128 + number, (place, grading.err)
        assert one_sentence(grading.err), (place, grading.err)
        assert not grading.out or "Traceback" not in grading.out
        require_sound(tiny)
        require_tidy(tiny)
        after = recorded(tiny)
        assert {student: after[student] for student in before} == before
    complete()


def test_a_grader_killed_at_random_moments_is_finished_by_the_next(tiny, complete):
    def again() -> Grading:  # with nothing to do it would end before it removes anything
        return Grading(tiny, *(["--force"] if len(recorded(tiny)) == MANY else []))

    chance = random.Random(20260914)
    for attempt in range(KILLS):
        grading = again()
        grading.until(Grading.parents if attempt % 4 else Grading.begun)
        time.sleep(chance.uniform(0, 2))
        grading.interrupt(signal.SIGKILL)
        assert grading.wait() in (0, -signal.SIGKILL)
        require_sound(tiny)
    until_dead(tiny)
    assert again().wait() == 0  # it removes what the dead ones left
    complete()


def test_killed_workers_and_warm_parents_cost_nobody_a_point(tiny, undisturbed):
    grading = Grading(tiny, "--workers=2")
    first, *_ = grading.until(Grading.workers)
    for process in (first, *grading.parents()):  # while it learns about the assignment
        process.kill()
    grading.until(Grading.builds)
    grading.workers(early=False)[0].kill()
    assert grading.wait() == 0, grading.out + grading.err
    require_sound(tiny)
    require_tidy(tiny)
    assert scores(tiny) == scores(undisturbed[1])


def test_the_second_of_two_graders_waits_and_says_so(tiny, complete):
    first = Grading(tiny)
    first.until(Grading.parents)
    first.process.send_signal(signal.SIGSTOP)
    second = Grading(tiny)
    assert select.select([second.process.stdout], [], [], 60)[0]
    first.process.send_signal(signal.SIGCONT)
    second.before |= {process.pid for process in psutil.Process(first.process.pid).children(recursive=True)}
    assert first.wait() == 0 and second.wait() == 0
    assert f"Waiting for 'viva grade' (process {first.process.pid} on " in second.out
    assert str(MANY) in second.out and len(recorded(tiny)) == MANY
    complete()


def test_a_gradebook_that_another_program_locks_is_waited_for_and_then_said(tiny, complete, capsys):
    with contextlib.closing(sqlite3.connect(tiny / "gradebook.db", isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        assert "is locked by another program; close it." in refusal(tiny, capsys)
        other.execute("ROLLBACK")
        other.execute("BEGIN IMMEDIATE")
        waiting = Grading(tiny)
        waiting.until(lambda _: any(tiny.glob(f"autograded/*/{TINY}")))
        time.sleep(7)
        assert waiting.process.poll() is None and not recorded(tiny)
        other.execute("ROLLBACK")
        assert waiting.wait() == 0, waiting.err
    complete()


def test_a_read_only_gradebook_is_refused_in_a_sentence(tiny):
    book = tiny / "gradebook.db"
    before = book.read_bytes()
    if os.geteuid():
        book.chmod(0o444)
        grading = Grading(tiny)
    else:
        mount = f"mount --bind {book} {book} && mount -o remount,ro,bind {book}"
        grading = Grading(tiny, within=in_private_mounts(tiny, mount))
    assert grading.wait() == 2
    assert f"The gradebook {book} is read-only; nothing was done." in grading.err
    assert grading.err.count("\n") == 1
    assert book.read_bytes() == before


@pytest.mark.parametrize("room", ROOM)
def test_a_full_disk_costs_nothing_that_was_recorded(tiny, complete, room, tmp_path):
    """The course lies on a small disk of its own, which is full but for ``room`` kB."""
    kept, disk = tmp_path / "kept" / "course", tmp_path / "disk"
    disk.mkdir()
    (kept.parent / "tmp").mkdir(parents=True)
    script = tmp_path / "script"
    script.write_text(
        f"""
        mount -t tmpfs -o size=4m none {disk} && cp -r {tiny} {disk}/course && cd {disk}/course || exit 99
        dd if=/dev/zero of={disk}/ballast bs=1k 2>/dev/null; truncate -s -{room}k {disk}/ballast
        "$@"; status=$?
        cp -r {disk}/course {kept}; exit $status
        """
    )
    grading = Grading(tiny, within=(*in_private_mounts(tiny, "true"), "sh", str(script)))
    assert grading.wait() in (1, 2)
    assert "Traceback" not in grading.out + grading.err
    assert "Errno" not in grading.out + grading.err
    assert "No space left on device" in grading.out + grading.err or "its disk is full" in grading.err
    require_tidy(kept)
    complete(kept)


@pytest.mark.parametrize("most", thinned([24, 16, 64]))
def test_where_too_few_files_may_be_open_sentences_say_so(tiny, complete, most):
    grading = Grading(tiny, within=("sh", "-c", f'ulimit -n {most}; exec "$@"', "sh"))
    status = grading.wait()
    assert "Traceback" not in grading.out + grading.err
    assert (
        status == 0
        or (status == 1 and "student0000" in grading.out)
        or "Too many" in grading.err
        or "can open only" in grading.err
    )
    assert grading.out.count("report/log") <= 1
    complete()


def test_a_clock_that_jumps_does_not_matter(undisturbed, tmp_path):
    course = tmp_path / "course"
    shutil.copytree(undisturbed[1], course)
    changed = course / "submitted" / "student0000" / TINY / "tiny.ipynb"
    changed.write_text(changed.read_text().replace("return 2 * x", "return 3 * x"))
    for place, path in enumerate(course.rglob("*")):
        os.utime(path, times=(0, 0) if place % 2 or path == changed else (4e9, 4e9))
    outcomes = {outcome.submission.student: outcome.status for outcome in grade_here(course)}
    assert outcomes.pop("student0000") is Status.DONE
    assert set(outcomes.values()) == {Status.UNCHANGED}
    assert scores(course)["student0000"][0] < scores(undisturbed[1])["student0000"][0]


def test_a_crowd_needs_no_more_memory_than_a_class(released_tiny, tmp_path):
    course = tmp_path / "course"
    shutil.copytree(released_tiny, course)
    hand_in_tiny(course, CROWD)
    grading = Grading(course)
    sizes = {}
    for count in (50, CROWD - 50):
        grading.until(lambda _, count=count: len(list(course.glob(f"autograded/*/{TINY}"))) >= count, 600)
        sizes[count] = psutil.Process(grading.process.pid).memory_info().rss >> 10
    assert grading.wait() == 0, grading.out + grading.err
    assert len(recorded(course)) == len(scores(course)) == CROWD
    require_tidy(course)
    first, last = sizes.values()
    assert last - first < 8192 + 8 * CROWD, f"{sizes} kB"
