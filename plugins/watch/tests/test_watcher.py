"""What arrives is graded, and its student reads what the course says; nothing is lost when the watcher is killed."""

from __future__ import annotations

import contextlib
import json
import os
import pwd
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec
import nbformat
import psutil
import pytest
from nbgrader.utils import get_username

from tests.conftest import load
from tests.faults import STUB, TINY, make_course, recorded, require_sound, scores
from tests.oral import thinned
from viva import wording
from viva.record import SubmissionRecord
from viva.verdict import CourseError
from viva_watch import watcher
from viva_watch.memory import Memory
from viva_watch.watcher import Renewal, Watcher

pytestmark = pytest.mark.usefixtures("processes")

RIGHT = "return 2 * x"
DEADLY = "return 2 if x == 1 else __import__('os')._exit(3)"
"""Passes what its student can see, and ends its process where a hidden line calls it."""
ENDLESS = "while True: pass"
BOMB = "import os\n    while True:\n        os.fork()"
NOW = datetime(2026, 10, 1, tzinfo=UTC)
DUE = NOW + timedelta(days=1)
HOUR = timedelta(hours=1)
NOON = NOW + 12 * HOUR


@pytest.fixture(scope="module")
def released_tiny(tmp_path_factory) -> Path:
    return make_course(tmp_path_factory.mktemp("watched") / "course")


@pytest.fixture
def root(released_tiny, tmp_path) -> Path:
    return Path(shutil.copytree(released_tiny, tmp_path / "course"))


def submit(root: Path, student: str, answer: str = RIGHT, **files: str) -> Path:
    text = (root / "release" / TINY / "tiny.ipynb").read_text()
    assert STUB in text
    folder = root / "submitted" / student / TINY
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "tiny.ipynb").write_text(text.replace(STUB, answer))
    for name, content in files.items():
        (folder / f"{name}.txt").write_text(content)
    return folder


class Watched:
    """A watcher of a course whose clock the test sets, and what it wrote."""

    def __init__(self, root: Path, **settings: object) -> None:
        self.root, self.lines, self.reports, self.now = root, [], [], NOW
        course, config = load(root)
        config.LatePolicy.assignments = {TINY: {"due": f"{DUE:%Y-%m-%d %H:%M}"}}
        for name, value in settings.items():
            config.Watch[name] = value
        self.watcher = Watcher(
            course,
            config,
            [TINY],
            workers=2,
            report=self.reports.append,
            configured=[root / "nbgrader_config.py"],
            write=self.lines.append,
        )
        self.watcher.clock = lambda: self.now
        self.watcher.arrivals.settle = self.watcher.inbox.settle = 0.0

    def go(self) -> None:
        """Do all that is to be done now."""
        with contextlib.chdir(self.root):
            while self.watcher.step():
                pass

    def events(self, event: str) -> list[dict]:
        return [line for line in map(json.loads, self.lines) if line["event"] == event]

    def page(self, student: str) -> str:
        return (self.root / "feedback" / student / TINY / "tiny.html").read_text()


def in_gradebook(root: Path) -> int:
    with contextlib.closing(sqlite3.connect(root / "gradebook.db")) as book:
        return book.execute("SELECT count(*) FROM submitted_assignment").fetchone()[0]


def test_hidden_lines_are_not_run_before_the_due_date_and_everything_is_graded_then(root):
    watched = Watched(root, before="visible")
    submit(root, "ada", DEADLY)
    watched.go()
    (graded,) = watched.events("graded")
    assert graded["verdicts"] == {"passed": 1} and graded["shows"] == "visible"
    page = watched.page("ada")
    assert "1 of 1 check passed" in page and "3 points" not in page and "double(0)" not in page
    assert in_gradebook(root) == 0 and not recorded(root) and not (root / "autograded").exists()

    watched.go()
    assert len(watched.events("graded")) == 1, "the same is not done again"
    watched.now = DUE
    watched.go()
    assert watched.events("graded")[-1]["verdicts"] == {"passed": 1, "killed": 1}
    assert scores(root) == {"ada": (1, False)} and "1 of 2 checks passed" in watched.page("ada")
    assert watched.reports == [[TINY]]
    watched.go()
    assert watched.reports == [[TINY]] and watched.watcher.next is None


def test_students_may_read_their_score_alone(root):
    watched = Watched(root, before="score")
    submit(root, "ada", "return x + 1")
    watched.go()
    page = watched.page("ada")
    assert "<strong>1</strong> of 3 points" in page
    assert "of one" not in page and "double" not in page and "checks passed" not in page
    watched.now = DUE
    watched.go()
    assert "of one" in watched.page("ada")


def test_feedback_goes_to_so_many_attempts_and_the_last_is_graded_when_it_is_due(root):
    watched = Watched(root, attempts=1)
    submit(root, "ada", "return x + 1")
    watched.go()
    before = watched.page("ada")
    submit(root, "ada")
    watched.go()
    assert watched.page("ada") == before and scores(root) == {"ada": (1, False)}
    watched.now = DUE
    watched.go()
    assert scores(root) == {"ada": (3, False)} and watched.page("ada") != before


def test_a_new_watcher_goes_on_where_the_old_one_was(root):
    first = Watched(root, attempts=1)
    submit(root, "ada")
    first.go()
    second = Watched(root, attempts=1)
    second.go()
    assert not second.events("graded")
    (root / "watch.json").unlink()
    third = Watched(root)
    third.go()
    assert third.events("graded")[0]["status"] == "unchanged"


def test_a_file_that_cannot_be_written_does_not_end_the_watcher(root):
    watched, looks = Watched(root), []
    submit(root, "ada")
    (root / "watch.json").mkdir()  # as a full disk would, this refuses the file

    def twice() -> bool:
        looks.append(1)
        if len(looks) == 2:
            (root / "watch.json").rmdir()
        return len(looks) > 3

    watched.watcher._wait = lambda: None
    with contextlib.chdir(root):
        watched.watcher.run(until=twice)
    reasons = {failed["reason"] for failed in watched.events("failed")}
    place = root / "watch.json"
    assert reasons == {f"The watcher could not read or write a file: Is a directory ({place}). It tries again."}
    assert len(watched.events("graded")) == 1 and (root / "watch.json").is_file()


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_an_endless_loop_keeps_one_worker_from_its_work_and_delays_nobody_else(root, monkeypatch):
    """Those who wait are graded meanwhile, who comes meanwhile too, and who comes a second time."""
    monkeypatch.setattr(watcher, "OPEN", 3600.0)
    watched = Watched(root)
    watched.watcher.config.Execute.timeout = 6  # the loop has six times as much
    for number in range(3):
        submit(root, f"student{number}")
    submit(root, "loop", ENDLESS)

    def write(line: str) -> None:
        watched.lines.append(line)
        if len(watched.lines) == 1:
            submit(root, "came", "return x + 1")
            submit(root, "student0", "return x + 1")

    watched.watcher.write = write
    watched.go()
    order = [line["student"] for line in watched.events("graded")]
    assert sorted(order) == ["came", "loop", "student0", "student0", "student1", "student2"]
    assert order[-1] == "loop" and watched.watcher.done == 1
    assert scores(root) == {f"student{number}": (3, False) for number in range(1, 3)} | {
        "student0": (1, False),
        "came": (1, False),
        "loop": (0, False),
    }
    assert "1 of 2 checks passed" in watched.page("came")
    require_sound(root)


def test_a_release_counts_from_the_next_attempt_on(root):
    from viva.course.releasing.release import release

    watched = Watched(root)
    submit(root, "ada")
    watched.go()
    assert scores(root)["ada"] == (3, False)
    path = root / "source" / TINY / "tiny.ipynb"
    notebook = nbformat.read(path, as_version=4)
    notebook.cells[1].source = notebook.cells[1].source.replace("double(1) == 2", "double(1) == 3")
    nbformat.write(notebook, path)
    course, config = load(root)
    with contextlib.chdir(root):
        release(course, TINY, config=config)
    submit(root, "bert")
    watched.go()
    assert scores(root)["bert"] == (2, False)


def test_the_clock_of_a_trial_goes_on_after_a_kill(root):
    first = Watched(root, begins="2026-10-01 00:00", speed=1000.0)
    first.go()
    second = Watched(root, begins="2026-10-01 00:00", speed=1000.0)
    assert second.watcher.memory.trial == first.watcher.memory.trial
    third = Watched(root, begins="2026-10-02 00:00", speed=1000.0)
    assert third.watcher.memory.trial != first.watcher.memory.trial


def test_what_cannot_be_graded_has_a_page_that_says_why(root):
    watched = Watched(root, before="visible")
    folder = root / "submitted" / "ada" / TINY
    folder.mkdir(parents=True)
    (folder / "tiny.ipynb").write_text("no notebook")
    watched.go()
    assert watched.watcher.memory.last[-1].what == "refused"
    assert watched.events("graded")[0]["status"] == "refused" and "could not be graded" in watched.page("ada")


def test_an_assignment_that_was_not_released_is_told_and_tried_later(root):
    shutil.rmtree(root / "release")
    submit_from = make_text(root)
    (root / "gradebook.db").unlink()
    watched = Watched(root)
    folder = root / "submitted" / "ada" / TINY
    folder.mkdir(parents=True)
    (folder / "tiny.ipynb").write_text(submit_from)
    watched.go()
    watched.go()
    (failed,) = watched.events("failed")
    assert "viva release" in failed["reason"] and not watched.events("graded")
    assert Memory.read(root).errors[0].assignment == TINY


def make_text(root: Path) -> str:
    return (root / "source" / TINY / "tiny.ipynb").read_text()


def test_one_watcher_works_on_a_course_and_a_new_configuration_begins_it_anew(root):
    watched = Watched(root)

    def until() -> bool:
        with pytest.raises(CourseError, match="Another 'viva watch'"):
            Watched(root).watcher.run()
        config = root / "nbgrader_config.py"
        config.write_text(config.read_text() + "c.Watch.before = ")
        assert not watched.watcher._is_changed(), "half a file is waited for"
        config.write_text(config.read_text() + "'score'\n")
        watched.watcher.policy.every = 0.1
        return False

    with contextlib.chdir(root), pytest.raises(Renewal):
        watched.watcher.run(until)
    assert "cannot be read" in watched.events("failed")[0]["reason"]


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"assignments": {"other": {}}}, "not an assignment of the course"),
        ({"assignments": {TINY: {"before": "all"}}}, "an invalid 'before'"),
        ({"assignments": {TINY: {"until": "x"}}}, "Write it as"),
        ({"assignments": {TINY: {"attempts": -1}}}, "not a number of attempts"),
        ({"apart": "soon"}, "is not a time span"),
    ],
)
def test_a_setting_that_is_none_is_refused_with_a_sentence(root, settings, told):
    with pytest.raises(CourseError, match=told):
        Watched(root, **settings)


@pytest.mark.slow
def test_the_status_is_told_at_a_terminal_and_on_a_page(root, monkeypatch, capsys):
    from viva_watch import status
    from viva_watch.watchcommand import WatchCommand

    watched = Watched(root)
    watched.watcher.tell = lambda known: status.write(root, known)
    submit(root, "ada")
    watched.go()
    monkeypatch.chdir(root)
    command = WatchCommand()
    command.initialize(["--status", "--json"])
    command.start()
    printed = capsys.readouterr()
    document = json.loads(printed.out)
    assert document["graded"] == 1 and not document["watched"] and document["last"][0]["student"] == "ada"
    assert "No watcher is running" in printed.err and "ada" in (root / "report" / "watch.html").read_text()
    command._report([TINY])
    assert TINY in (root / "report" / "index.html").read_text()


def start(root: Path, log: Path) -> subprocess.Popen:
    with log.open("ab") as output:
        return subprocess.Popen(
            [sys.executable, "-m", "viva", "watch"], cwd=root, stdout=output, stderr=output, start_new_session=True
        )


def wait_until(what, process: subprocess.Popen, seconds: float = 150) -> None:
    end = time.monotonic() + seconds
    while not what():
        assert process.poll() is None and time.monotonic() < end
        time.sleep(0.1)


@pytest.mark.timeout(1500)
@pytest.mark.parametrize("many", thinned([80, 200]))
def test_many_in_the_last_minute_are_graded_in_turn_whatever_is_among_them(root, many):
    """Endless loops and a fork bomb, behind the sandbox, and a student who tries again and again."""
    watched = Watched(root, before="full")
    watched.watcher.config.Execute.timeout = 2
    for answer in ("return x + 1", "return x + 2"):
        submit(root, "eager", answer)
        watched.go()
    loops = {"loop1": ENDLESS, "bomb": BOMB, "loop2": ENDLESS}
    for number in range(many):
        submit(root, f"student{number:03}", RIGHT if number % 2 else "return x + 1")
    for student, answer in loops.items():
        submit(root, student, answer)
    submit(root, "eager")
    watched.lines.clear()
    watched.now = DUE - timedelta(seconds=30)
    watched.go()
    order = [line["student"] for line in watched.events("graded")]
    assert len(order) == len(set(order)) == many + 4 and not watched.events("failed")
    first = order.index("eager") // 50
    assert all(order.index(f"student{number:03}") // 50 <= first for number in range(many))
    earned = {student: score for student, (score, _) in scores(root).items()}
    assert earned == {f"student{number:03}": 3 if number % 2 else 1 for number in range(many)} | {
        "eager": 3,
        "loop1": 0,
        "loop2": 0,
        "bomb": 0,
    }
    submit(root, "loop1", "while 1: pass")
    submit(root, "student001", "return 2 * x  # again")
    watched.lines.clear()
    watched.go()
    assert [line["student"] for line in watched.events("graded")] == ["student001", "loop1"], "what hangs comes last"


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_a_watcher_that_is_killed_at_any_moment_loses_nothing_and_other_commands_have_their_turn(root, tmp_path):
    """Submissions arrive one by one, a loop and a bomb of memory among them; the watcher is killed five times."""
    config, log = root / "nbgrader_config.py", tmp_path / "log"
    config.write_text(config.read_text() + "c.Watch.settle = 0.2\nc.Watch.every = 1\nc.Execute.timeout = 2\n")
    answers = [RIGHT, "return x + 1", "while True: pass", "return [0] * 10**11", RIGHT, RIGHT, RIGHT, RIGHT]
    moments, process = random.Random(41), start(root, log)
    for number, answer in enumerate(answers):
        submit(root, f"student{number}", answer)
        if number < 5:
            time.sleep(moments.uniform(0.5, 8))
            os.kill(process.pid, signal.SIGKILL)
            process.wait()
            process = start(root, log)
    pages = [root / "feedback" / f"student{number}" / TINY / "tiny.html" for number in range(len(answers))]
    try:
        wait_until(lambda: all(page.is_file() for page in pages), process)
        submit(root, "late")
        done = subprocess.run([sys.executable, "-m", "viva", "grade"], cwd=root, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
        wait_until((root / "feedback" / "late" / TINY / "tiny.html").is_file, process)
        wait_until(lambda: not Memory.read(root).waiting, process)
    finally:
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 128 + signal.SIGTERM
    require_sound(root)
    earned = scores(root)
    assert [earned[f"student{number}"][0] for number in range(len(answers))] == [3, 1, 0, 0, 3, 3, 3, 3]
    assert earned["late"][0] == 3 and len(recorded(root)) == len(answers) + 1
    assert {json.loads(line)["event"] for line in log.read_text().splitlines() if line.startswith("{")} >= {
        "started",
        "graded",
    }


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_a_week_in_half_a_minute_with_kills_at_random_loses_nothing_and_takes_no_more_memory(root, tmp_path):
    """Ten students submit fifty times, before and after the deadline; the watcher is killed four times."""
    config, log, moments = root / "nbgrader_config.py", tmp_path / "log", random.Random(7)
    settings = {
        "Watch.begins": "2026-10-01 00:00",
        "Watch.speed": 20_000.0,
        "Watch.settle": 0.2,
        "Watch.every": 1.0,
        "Watch.attempts": 3,
        "Watch.apart": "2 hours",
        "LatePolicy.assignments": {TINY: {"due": "2026-10-06 00:00"}},
        "Execute.timeout": 2,
    }
    config.write_text(config.read_text() + "".join(f"c.{name} = {value!r}\n" for name, value in settings.items()))
    worth = {RIGHT: 3, "return x + 1": 1, "return [x]": 0, ENDLESS: 0}
    last: dict[str, str] = {}
    process, sizes = start(root, log), []

    def is_graded() -> bool:
        earned = {student: score for student, (score, _) in scores(root).items()}
        return earned == {student: worth[answer] for student, answer in last.items()}

    for number in range(50):
        student = f"student{moments.randrange(10)}"
        last[student] = moments.choice([RIGHT, RIGHT, "return x + 1", "return [x]"]) if number != 44 else ENDLESS
        submit(root, student, f"{last[student]}  # {number}")
        time.sleep(moments.uniform(0, 1))
        if number in (5, 14, 15, 30):
            os.kill(process.pid, signal.SIGKILL)
            process.wait()
            process = start(root, log)
    try:
        wait_until(lambda: is_graded() and TINY in Memory.read(root).reported, process, 300)
        for number in range(8):
            sizes.append(psutil.Process(process.pid).memory_info().rss)
            last[f"student{number}"] = RIGHT if last[f"student{number}"] != RIGHT else "return x + 1"
            submit(root, f"student{number}", last[f"student{number}"])
            wait_until(is_graded, process)
    finally:
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 128 + signal.SIGTERM
    require_sound(root)
    assert len(recorded(root)) == len(last) == 10
    assert max(sizes) < 1.2 * sizes[0]


class Exchange:
    """An exchange into which its student puts folders by hand, as nbgrader would."""

    def __init__(self, root: Path, folder: Path) -> None:
        self.root, self.inbound = root, folder / "viva" / "inbound"
        self.inbound.mkdir(parents=True)
        config = root / "nbgrader_config.py"
        config.write_text(config.read_text() + f"c.Exchange.root = {str(folder)!r}\n")

    def put(self, claimed: datetime, answer: str | None, student: str = get_username()) -> Path:
        """A submission of a time; without an answer an empty folder."""
        folder = self.inbound / f"{student}+{TINY}+{claimed:%Y-%m-%d %H:%M:%S.%f} UTC+{claimed:%d%H%M%S}"
        folder.mkdir()
        if answer is not None:
            text = (self.root / "release" / TINY / "tiny.ipynb").read_text()
            (folder / "tiny.ipynb").write_text(text.replace(STUB, answer))
            (folder / "timestamp.txt").write_text(f"{claimed:%Y-%m-%d %H:%M:%S.%f} UTC")
        return folder

    def collected(self) -> str:
        return (self.root / "submitted" / get_username() / TINY / "timestamp.txt").read_text()


@pytest.fixture
def exchange(root, tmp_path) -> Exchange:
    return Exchange(root, tmp_path / "exchange")


def test_an_empty_folder_in_the_exchange_stops_nobody_and_is_told(root, exchange):
    watched = Watched(root, collect=True)
    exchange.put(NOON - HOUR, None)
    exchange.put(NOON, RIGHT)
    exchange.put(NOON + HOUR, None)
    forged = exchange.put(NOON + 2 * HOUR, None)
    if os.geteuid() == 0:  # who else may give a folder away?
        os.chown(forged, pwd.getpwnam("nobody").pw_uid, -1)
    watched.go()
    assert scores(root)[get_username()][0] == 3
    passed = Memory.read(root).passed
    assert len(passed) == len(watched.events("passed_over")) == 3
    reasons = " ".join(told.what for told in passed.values())
    assert "it is empty, so the student's upload was interrupted" in reasons
    assert os.geteuid() or "but another user owns it" in reasons
    watched.go()
    assert len(watched.events("passed_over")) == 3, "each is told once"
    for folder in exchange.inbound.iterdir():
        shutil.rmtree(folder)
    watched.go()
    assert not Memory.read(root).passed


def test_a_time_before_the_due_date_is_not_believed_after_a_full_page(root, exchange):
    watched = Watched(root, collect=True)
    exchange.put(DUE - HOUR, "return x + 1")
    watched.now = DUE
    watched.go()
    assert exchange.collected().startswith(f"{DUE - HOUR:%Y-%m-%d %H:%M:%S}"), "nobody had looked before"
    assert scores(root)[get_username()][0] == 1
    watched.now = DUE + HOUR
    watched.go()
    watched.now += HOUR
    exchange.put(DUE - timedelta(minutes=1), RIGHT)
    watched.go()
    assert exchange.collected() > f"{DUE + HOUR:%Y-%m-%d %H:%M:%S}"
    assert "claims to be submitted at 2026-10-01 23:59:00 UTC, but it was not in the exchange" in str(
        recorded_facts(root)
    )
    (told,) = Memory.read(root).dated_back
    assert told.student == get_username() and "the time that counts is 2026-10-02 0" in told.what

    (root / "submitted" / get_username() / TINY / "timestamp.txt").write_text("2026-10-01 23:59:00 UTC")
    again = Watched(root, collect=True)
    again.now = watched.now + HOUR
    again.go()
    assert exchange.collected() == "2026-10-01 23:59:00 UTC", "a grader who believes the student has the last word"


def recorded_facts(root: Path) -> list[str]:
    """What is told of the newest record's notebook."""
    lines = (root / "results.jsonl").read_bytes().splitlines()
    return wording.sentences(msgspec.json.decode(lines[-1], type=SubmissionRecord).notebooks["tiny"].integrity)


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # nbgrader leaves a file open
def test_what_is_submitted_to_the_exchange_comes_back_as_feedback(root, tmp_path):
    """With nbgrader's own commands for the student, who is the user that runs the tests."""
    exchange, desk = tmp_path / "exchange", tmp_path / "desk"
    exchange.mkdir(mode=0o777)
    exchange.chmod(0o777)
    desk.mkdir()
    config = root / "nbgrader_config.py"
    settings = f"c.Exchange.root = {str(exchange)!r}\nc.Watch.collect = c.Watch.release = True\n"
    config.write_text(config.read_text() + settings)
    (desk / "nbgrader_config.py").write_text(
        f"c = get_config()\nc.CourseDirectory.course_id = 'viva'\nc.Exchange.root = {str(exchange)!r}\n"
    )

    def run(place: Path, *words: str) -> None:
        done = subprocess.run([sys.executable, "-m", *words], cwd=place, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr

    run(root, "nbgrader", "release_assignment", TINY)
    run(desk, "nbgrader", "fetch_assignment", TINY)
    page = desk / TINY / "tiny.ipynb"
    watched = Watched(root, collect=True, release=True)
    for answer, told in (("return x + 1", "1 of 2"), (RIGHT, "2 of 2")):
        page.write_text((root / "release" / TINY / "tiny.ipynb").read_text().replace(STUB, answer))
        run(desk, "nbgrader", "submit", TINY)
        watched.go()
        assert told in watched.page(get_username())
        run(desk, "nbgrader", "fetch_feedback", TINY)
        newest = max((desk / TINY / "feedback").glob("*/tiny.html"), key=lambda path: path.parent.name)
        assert f"{told} checks passed" in newest.read_text()
    assert not watched.events("failed") and len(watched.events("collected")) == 2

    feedback = exchange / "viva" / "feedback"
    feedback.rename(exchange / "away")
    feedback.write_text("the exchange takes no more")
    page.write_text(page.read_text() + "\n")
    run(desk, "nbgrader", "submit", TINY)
    watched.go()
    assert "exchange could not be used" in watched.events("failed")[0]["reason"]
    feedback.unlink()
    (exchange / "away").rename(feedback)
    released = len(list(feedback.iterdir()))
    watched.go()
    assert len(list(feedback.iterdir())) == released, "it is not tried all the time"
    watched.watcher.refused.clear()
    watched.go()
    assert len(list(feedback.iterdir())) == released + 1, "and not forgotten"
