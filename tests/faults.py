"""A tiny course to grade, and `viva grade` as a process of its own that can be disturbed.

The process that runs the tests makes itself the heir of every orphan (PR_SET_CHILD_SUBREAPER), so whatever outlives
a `viva grade` becomes its child and is seen. Only processes found that way are ever signalled.
"""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest
from nbgrader.api import Gradebook

from tests.conftest import load
from tests.handmade import code, empty_course, graded, write_notebook
from viva.course.gradebook import journal
from viva.course.grading.batch import autograde
from viva.submission.submission import Ending

TINY = "tiny"
STUB = "raise NotImplementedError()"
ANSWERS = ("return 2 * x", "return x + 2", "return 2 * x if x else 1 / x", "return [x]", STUB)
PR_SET_CHILD_SUBREAPER = 36


def make_course(root: Path) -> Path:
    """A released course with one assignment of one answer and one test cell."""
    from viva.commands.author import ReleaseCommand

    empty_course(root)
    answer = "def double(x):\n    ### BEGIN SOLUTION\n    return 2 * x\n    ### END SOLUTION"
    tests = "### CHECK 1: of one\nassert double(1) == 2\n### CHECK 2: of others\n### BEGIN HIDDEN TESTS\n"
    tests += "assert double(0) == 0 and double(3) == 6\n### END HIDDEN TESTS"
    cells = code("double", answer, solution=True), graded("test_double", tests, 3)
    write_notebook(root / "source" / TINY / "tiny.ipynb", *cells)
    with contextlib.chdir(root):
        command = ReleaseCommand()
        command.initialize(["--no-audit"])
        command.start()
    return root


def kill_at(moment: tuple[str, str], run: Callable[[], object]) -> None:
    """Let a process of its own run something, and end at a moment of a change."""
    child = os.fork()
    if not child:
        _killed_at(moment)
        run()
        os._exit(0)
    assert os.WTERMSIG(os.waitpid(child, 0)[1]) == signal.SIGKILL, moment


def _killed_at(moment: tuple[str, str]) -> None:
    """From now on this process is killed before or behind the line that says that a step is done."""
    note, begun = journal.note, journal._begun

    def noted(path: Path, name: str, lost: int = 0) -> None:
        if (name, "acted") == moment:
            os.kill(os.getpid(), signal.SIGKILL)
        note(path, name, lost)
        if (name, "noted") == moment:
            os.kill(os.getpid(), signal.SIGKILL)

    def intended(*arguments) -> Path:
        path = begun(*arguments)
        if moment[1] == "intended":
            os.kill(os.getpid(), signal.SIGKILL)
        return path

    journal.note, journal._begun = noted, intended


def hand_in_tiny(root: Path, count: int) -> None:
    """``count`` submissions, right, wrong and raising by turns."""
    text = (root / "release" / TINY / "tiny.ipynb").read_text()
    assert STUB in text
    for number in range(count):
        folder = root / "submitted" / f"student{number:04}" / TINY
        folder.mkdir(parents=True)
        (folder / "tiny.ipynb").write_text(text.replace(STUB, ANSWERS[number % len(ANSWERS)]))


@contextlib.contextmanager
def heir_of_orphans() -> Iterator[None]:
    libc = ctypes.CDLL(None, use_errno=True)
    assert libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0
    yield
    libc.prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0)


class Grading:
    """A `viva grade` in a session of its own, whose temporary files go into ``tmp`` beside the course."""

    def __init__(self, course: Path, *arguments: str, within: tuple[str, ...] = ()) -> None:
        self.course, self.tmp = course, course.parent / "tmp"
        self.tmp.mkdir(exist_ok=True)
        self.before = {process.pid for process in psutil.Process().children(recursive=True)}
        self.process = subprocess.Popen(
            [*within, sys.executable, "-m", "viva", "grade", *arguments],
            cwd=course,
            env=os.environ | {"TMPDIR": str(self.tmp), "COLUMNS": "200"},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        self.out = self.err = ""
        self.recorded = len(recorded(course))

    def wait(self, seconds: float = 120) -> int:
        """The exit status, when it and all that it started have ended; what still runs by then is ended and told."""
        self.out, self.err = self.process.communicate(timeout=seconds)
        left, end = self._left(), time.monotonic() + 3
        while left and time.monotonic() < end:
            time.sleep(0.05)
            left = self._left()
        names = [" ".join(process.cmdline()) for process in left]
        for process in left:
            process.kill()
        assert not names, f"these outlived the grading: {names}"
        return self.process.returncode

    def _left(self) -> list[psutil.Process]:
        found = []
        for process in psutil.Process().children(recursive=True):
            if process.pid in self.before:
                continue
            with contextlib.suppress(psutil.NoSuchProcess, ChildProcessError):
                if process.status() == psutil.STATUS_ZOMBIE and process.ppid() == os.getpid():
                    os.waitpid(process.pid, 0)
                elif process.status() != psutil.STATUS_ZOMBIE:
                    found.append(process)
        return found

    def until(self, what: Callable[[Grading], object], seconds: float = 60) -> object:
        """Wait until something holds of it. Fails when it ends before."""
        end = time.monotonic() + seconds
        while not (found := what(self)):
            assert self.process.poll() is None, f"it ended before: {self.process.communicate()}"
            assert time.monotonic() < end, what
            time.sleep(0.04)
        return found

    def interrupt(self, number: int = signal.SIGINT, group: bool = False) -> None:
        (os.killpg if group else os.kill)(self.process.pid, number)

    # Moments

    def begun(self) -> bool:
        """It answers signals: SIGTERM is among those it catches."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        caught = next(line for line in status.splitlines() if line.startswith("SigCgt"))
        return bool(int(caught.split()[1], 16) >> (signal.SIGTERM - 1) & 1)

    def parents(self) -> list[psutil.Process]:
        """The fork servers, when both are there."""
        found = [one for one in self._children("viva.engine.forkserver", deep=True) if _is_warm_parent(one)]
        return found if len(found) == 2 else []

    def workers(self, *, early: bool = True) -> list[psutil.Process]:
        """The workers; when it is early, not before the fork servers are there too."""
        return self._children("grade") if self.parents() or not early else []

    def builds(self) -> bool:
        """A worker is at a submission."""
        return any(self.course.glob("autograded/*/.viva-*"))

    def writes(self) -> bool:
        """Something was recorded just now."""
        return len(recorded(self.course)) > self.recorded

    def _children(self, word: str, deep: bool = False) -> list[psutil.Process]:
        """Those with a word in their command line; when ``deep``, their children too."""
        found = []
        with contextlib.suppress(psutil.NoSuchProcess):
            for process in psutil.Process(self.process.pid).children(recursive=deep):
                with contextlib.suppress(psutil.NoSuchProcess):
                    if word in process.cmdline():
                        found.append(process)
        return found


def _is_warm_parent(process: psutil.Process) -> bool:
    """Its forks are called as it is."""
    with contextlib.suppress(psutil.NoSuchProcess):
        return process.name() in ("viva-candidate", "viva-examiner") and process.parent().name() != process.name()
    return False


# What is the case afterwards


def recorded(course: Path) -> dict[str, dict]:
    """By student, what results.jsonl says; a line that is not finished does not count."""
    path = course / "results.jsonl"
    lines = path.read_text().split("\n")[:-1] if path.exists() else []
    found = {}
    for line in lines:
        with contextlib.suppress(ValueError):
            record = json.loads(line)
            found[record["student"]] = record
    return found


def timeless(course: Path) -> str:
    """results.jsonl as it is, but for times."""
    records = [json.loads(line) for line in (course / "results.jsonl").read_text().splitlines()]
    return "\n".join(json.dumps(_without_times(record)) for record in records)


def _without_times(value):
    if isinstance(value, dict):
        return {key: _without_times(inner) for key, inner in value.items() if key not in ("graded", "seconds")}
    return [_without_times(inner) for inner in value] if isinstance(value, list) else value


def scores(course: Path) -> dict[str, tuple[float, bool]]:
    with Gradebook(f"sqlite:///{course / 'gradebook.db'}") as gradebook:
        submissions = gradebook.assignment_submissions(TINY)
        return {one.student.id: (one.score, one.needs_manual_grade) for one in submissions}


def require_sound(course: Path) -> None:
    """The gradebook is whole."""
    with contextlib.closing(sqlite3.connect(course / "gradebook.db")) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


def require_tidy(course: Path) -> None:
    """No file is left that only a running command needs."""
    tmp = course.parent / "tmp"
    left = [str(path.relative_to(tmp)) for path in tmp.rglob("*")] if tmp.exists() else []
    assert left == [], left
    assert list(course.glob("autograded/*/.viva-*")) == []
    assert not (course / "gradebook.db-journal").exists()
    assert {path.name for path in course.glob("results*")} <= {"results.jsonl"}


def until_dead(course: Path, seconds: float = 60) -> None:
    """Wait until the workers of killed commands are gone: they have given up the locks on their folders."""
    end = time.monotonic() + seconds
    for folder in (course.parent / "tmp").glob("viva-run-*"):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            while time.monotonic() < end:
                with contextlib.suppress(BlockingIOError):
                    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                time.sleep(0.1)
        finally:
            os.close(descriptor)


def grade_here(course: Path, *, workers: int = 2, backwards: bool = False) -> list[Ending]:
    """Grade without a new program, to save its start-up."""
    opened, config = load(course)
    submissions = opened.submissions([TINY])
    with contextlib.chdir(course):
        return list(autograde(opened, submissions[:: -1 if backwards else 1], config=config, workers=workers))


def refusal(course: Path, capsys: pytest.CaptureFixture[str]) -> str:
    """What `viva grade` says on stderr when it refuses; in this process, to save its start-up."""
    from viva.commands.grade import GradeCommand

    with contextlib.chdir(course), pytest.raises(SystemExit) as stop:
        command = GradeCommand()
        command.initialize([])
        command.start()
    assert stop.value.code == 2
    return capsys.readouterr().err


def in_private_mounts(course: Path, preparation: str) -> tuple[str, ...]:
    """The beginning of a command line that runs the rest in a mount namespace of its own, prepared by a shell."""
    if os.geteuid():
        pytest.skip("needs root, to mount something that only the test sees")
    if subprocess.run(["unshare", "--mount", "true"], capture_output=True, check=False).returncode:
        pytest.skip("this root may not make mount namespaces")
    return ("unshare", "--mount", "sh", "-c", f'cd / && {preparation} && cd {course} && exec "$@"', "sh")
