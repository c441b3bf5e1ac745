"""The whole flow with the gradebook on a PostgreSQL server, and two graders who type while a class is graded."""

from __future__ import annotations

import json
import shutil
import subprocess
import threading
import time
import urllib.error
import urllib.request
from datetime import timedelta
from pathlib import Path
from random import Random
from urllib.parse import parse_qs, urlsplit

import psycopg
import pytest
from nbgrader.api import Gradebook
from sqlalchemy.exc import DBAPIError

from tests.conftest import BIN, SHORT, hand_in, load
from tests.flow.jupyter import served
from viva import cli
from viva.course.regrade.trialcopy import copy_rows

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("postgres")]

STUDENTS = [f"student{number}" for number in range(6)]
TASK = "why_equivariant"


@pytest.fixture(scope="module")
def rooted(released, postgres, tmp_path_factory) -> tuple[Path, str]:
    """A course for the tests of this module that put up with what the others submit and type."""
    return on_a_server(released, postgres, tmp_path_factory, "flow")


@pytest.fixture
def untouched(released, postgres, tmp_path_factory) -> tuple[Path, str]:
    """A course in which nobody did anything yet."""
    return on_a_server(released, postgres, tmp_path_factory, "untouched")


def on_a_server(released, postgres, tmp_path_factory, name: str) -> tuple[Path, str]:
    """A released course with its gradebook on a server, six submissions, the last two a day late; and its address."""
    root, url = tmp_path_factory.mktemp(f"postgres_{name}") / "course", postgres.create(name)
    shutil.copytree(released, root)
    with load(root)[0].gradebook() as old, Gradebook(url, "viva") as new:
        copy_rows(old, new)
        new.update_or_create_assignment(SHORT, duedate="2026-10-12 23:59:00 UTC")
        due = new.find_assignment(SHORT).duedate
    (root / "gradebook.db").unlink()
    config = root / "nbgrader_config.py"
    text = config.read_text()
    named = 'c.CourseDirectory.course_id = "viva"\n'
    assert named in text
    config.write_text(text.replace(named, f'{named}c.CourseDirectory.db_url = "{url}"\n'))
    for number, student in enumerate(STUDENTS):
        folder = hand_in(root, student, answer="right/einsum").parent
        (folder / "timestamp.txt").write_text(f"{due + timedelta(hours=23 * (number > 3))} UTC")
    return root, url


def viva(root: Path, *step: str) -> subprocess.CompletedProcess:
    return subprocess.run([BIN / "viva", *step], cwd=root, check=True, capture_output=True, text=True)


def scores(url: str) -> dict[str, tuple[float, float | None]]:
    with Gradebook(url, "viva") as book:
        found = {student: book.find_submission(SHORT, student) for student in STUDENTS}
        return {name: (one.score, round(one.late_submission_penalty, 6)) for name, one in found.items()}


def test_a_class_is_graded_handed_back_and_regraded_on_a_server(untouched):
    root, url = untouched
    viva(root, "grade", SHORT)
    assert scores(url) == {name: (20, 2.0 * (name in STUDENTS[4:])) for name in STUDENTS}
    assert not (root / "gradebook.db").exists()
    assert f"{len(STUDENTS)} notebooks for a grader to read" in viva(root).stdout
    unchanged = viva(root, "grade", SHORT, "--json")
    assert {one["status"] for one in json.loads(unchanged.stdout)["submissions"]} == {"unchanged"}, unchanged.stdout
    viva(root, "feedback", SHORT)
    assert len(list(root.glob(f"feedback/*/{SHORT}/*.html"))) == len(STUDENTS)
    assert "to write" not in viva(root).stdout
    viva(root, "report", SHORT)
    assert len(json.loads(viva(root, "export", SHORT, "--json").stdout)["scores"]) == len(STUDENTS)
    assert "No score changes." in viva(root, "regrade", SHORT, "--what-if", "--no-audit").stdout
    viva(root, "regrade", SHORT, "--no-audit")
    assert f"{len(STUDENTS)} feedback pages to write" in viva(root).stdout
    assert scores(url) == {name: (20, 2.0 * (name in STUDENTS[4:])) for name in STUDENTS}
    assert (
        "ok        gradebook postgresql+psycopg://"
        in subprocess.run([BIN / "viva", "doctor"], cwd=root, capture_output=True, text=True).stdout
    )


class Grader(threading.Thread):
    """Somebody who types scores and comments into formgrader."""

    def __init__(self, address: str, places: list[tuple[str, str]], end: float) -> None:
        super().__init__()
        parts = urlsplit(address)
        self.base, self.token = f"{parts.scheme}://{parts.netloc}/formgrader/api", parse_qs(parts.query)["token"][0]
        self.places, self.end, self.typed, self.faults = places, end, 0, []

    def run(self) -> None:
        try:
            while time.monotonic() < self.end:
                for grade, comment in self.places:
                    self.put(f"grade/{grade}", manual_score=1 + self.typed % 3, extra_credit=0)
                    self.put(f"comment/{comment}", manual_comment=f"typed {self.typed}")
                self.typed += 1
            for grade, comment in self.places:
                self.put(f"grade/{grade}", manual_score=5, extra_credit=0)
                self.put(f"comment/{comment}", manual_comment="the last word")
        except Exception as error:
            self.faults.append(error)

    def put(self, path: str, **body: object) -> None:
        headers = {"Authorization": f"token {self.token}", "Content-Type": "application/json"}
        data = json.dumps(body).encode()
        request = urllib.request.Request(f"{self.base}/{path}", data, headers, method="PUT")
        with urllib.request.urlopen(request, timeout=60) as answer:
            assert answer.status == 200


def test_two_graders_in_formgrader_lose_nothing_while_a_class_is_graded_again_and_again(rooted):
    root, url = rooted
    viva(root, "grade", SHORT)
    places = {}
    with Gradebook(url, "viva") as book:
        for student in STUDENTS:
            (notebook,) = book.find_submission(SHORT, student).notebooks
            grade = next(one for one in notebook.grades if one.name == TASK)
            comment = next(one for one in notebook.comments if one.name == TASK)
            places[student] = grade.id, comment.id
    with served(root) as address:
        end = time.monotonic() + 15
        graders = [Grader(address, [places[one] for one in STUDENTS[half::2]], end) for half in (0, 1)]
        for grader in graders:
            grader.start()
        while time.monotonic() < end:
            viva(root, "grade", SHORT, "--force")
        for grader in graders:
            grader.join()
    assert [grader.faults for grader in graders] == [[], []] and min(grader.typed for grader in graders) > 3
    assert scores(url) == {name: (25, 2.5 * (name in STUDENTS[4:])) for name in STUDENTS}
    with Gradebook(url, "viva") as book:
        for student in STUDENTS:
            (notebook,) = book.find_submission(SHORT, student).notebooks
            assert next(one.comment for one in notebook.comments if one.name == TASK) == "the last word"


def test_what_another_grader_is_saving_is_waited_for_and_not_overwritten(rooted):
    root, url = rooted
    viva(root, "grade", SHORT)
    with Gradebook(url, "viva") as book, served(root) as address:
        (notebook,) = book.find_submission(SHORT, STUDENTS[0]).notebooks
        grade = next(one for one in notebook.grades if one.name == TASK)
        comment = next(one for one in notebook.comments if one.name == TASK)
        before, grader = grade.manual_score, Grader(address, [], 0)
        grader.put(f"comment/{comment.id}", manual_comment="Go\0od.")  # which a PostgreSQL text cannot hold
        grade.manual_score = 1.5
        book.db.flush()  # the row is locked from now on
        told = []

        def save() -> None:
            try:
                grader.put(f"grade/{grade_id}", manual_score=2, extra_credit=None, seen={"manual_score": before})
            except urllib.error.HTTPError as error:
                with error:
                    told.append((error.code, json.loads(error.read())["row"]["manual_score"]))

        grade_id = grade.id
        thread = threading.Thread(target=save)
        thread.start()
        thread.join(1)
        assert thread.is_alive() and not told
        book.db.commit()
        thread.join(60)
        assert told == [(409, 1.5)]
        assert book.find_comment(TASK, notebook.name, SHORT, STUDENTS[0]).manual_comment == "Good."


COMMANDS = {
    "collect": ("collect", "hw", f"--assignment={SHORT}", "--no-times"),
    "demo": ("demo", SHORT, "--students=2"),
    "package": ("package", "gradescope", SHORT),
    "export a sheet": ("export", SHORT, "--to=sheet.csv"),
    "what-if": ("regrade", SHORT, "--what-if", "--no-audit"),
    "release": ("release", SHORT, "--no-audit"),
    "grade": ("grade", SHORT, "--force"),
    "feedback": ("feedback", SHORT, "--force"),
    "report": ("report", SHORT),
    "export": ("export", SHORT),
    "deadlines": ("deadlines",),
    "extend": ("extend", STUDENTS[0], SHORT, "--until=2026-10-20 23:59"),
    "roster": ("roster", "list.csv"),
    "regrade": ("regrade", SHORT, "--no-audit"),
    "doctor": ("doctor",),
    "rubric": ("rubric", SHORT, "--yes"),
}
OFFLINE = {
    "init": ("init",),
    "new": ("new", "ps99_new"),
    "adopt": ("adopt", f"source/{SHORT}/scaled_attention.ipynb", "--as=ps98_adopted"),
    "audit": ("audit", "ps99_new"),
    "check": ("check", f"release/{SHORT}/scaled_attention.ipynb"),
    "completion": ("completion", "bash"),
}
"""Commands that ask no gradebook."""


def test_every_command_is_cut_or_asks_no_gradebook():
    """But for those of plug-ins that have tests of their own for it, or need another server."""
    assert {words[0] for words in COMMANDS.values()} | OFFLINE.keys() | {"watch", "lti", "canvas", "diagnose"} == set(
        cli.subcommands()
    )


def test_commands_that_ask_no_gradebook_work_while_its_server_is_away(rooted, postgres, tmp_path):
    root = shutil.copytree(rooted[0], tmp_path / "course")
    postgres.stop()
    try:
        for command in OFFLINE.values():
            done = subprocess.run([BIN / "viva", *command], cwd=root, capture_output=True, text=True)
            assert done.returncode in (0, 1) and "gradebook" not in done.stderr, (command, done.stderr)
    finally:
        postgres.start()


class Cutter(threading.Thread):
    """Ends every connection of a database some times, each a random moment after one was there."""

    END = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE datname = %s"

    def __init__(self, postgres, url: str, seed: str) -> None:
        super().__init__()
        self.address = f"host={postgres.folder} user=viva dbname=postgres"
        self.database = url.partition("@/")[2].partition("?")[0]
        self.dice, self.over, self.cut = Random(seed), threading.Event(), 0

    def run(self) -> None:
        known = self.END.replace("pg_terminate_backend(pid)", "pid")
        with psycopg.connect(self.address, autocommit=True) as connection:
            for _ in range(3):
                while not connection.execute(known, [self.database]).fetchone()[0]:
                    if self.over.wait(0.005):
                        return
                self.over.wait(self.dice.choice((0, 0.05, 0.2, 1)) * self.dice.random())
                self.cut += connection.execute(self.END, [self.database]).fetchone()[0]
                if self.over.wait(self.dice.uniform(0, 2)):
                    return


@pytest.mark.parametrize("name", COMMANDS)
def test_connections_that_are_cut_at_random_cost_no_command_anything(rooted, postgres, name):
    """Each command is run until three connections were cut, at most five times."""
    root, url = rooted
    (root / "list.csv").write_text(
        "id,last_name,first_name,email,lms_user_id\n" + "".join(f"{one},A,B,,\n" for one in STUDENTS)
    )
    (root / "rubrics").mkdir(exist_ok=True)
    (root / "rubrics" / f"{SHORT}.toml").write_text('[[item]]\nkey = "mask"\npoints = -1\ntext = "No mask."\n')
    if not (root / "hw").exists():
        shutil.copytree(root / "submitted" / STUDENTS[0] / SHORT, root / "hw" / STUDENTS[0])
    viva(root, "grade", SHORT)
    before, cut = scores(url), 0
    for seed in range(5):
        if cut >= 3:
            break
        cutter = Cutter(postgres, url, f"{name} {seed}")
        cutter.start()
        try:
            done = subprocess.run([BIN / "viva", *COMMANDS[name]], cwd=root, capture_output=True, text=True)
        finally:
            cutter.over.set()
            cutter.join()
        cut += cutter.cut
        assert "Traceback" not in done.stdout + done.stderr and "OperationalError" not in done.stdout + done.stderr
        assert done.returncode == 0 or (name == "doctor" and "MISSING   gradebook" not in done.stdout), done.stderr
    assert cut, "no connection was ever there"
    if name == "feedback":
        assert {page.parts[-3] for page in root.glob(f"feedback/*/{SHORT}/*.html")} >= set(STUDENTS)
    assert {one: score for one, (score, _) in scores(url).items()} == {one: score for one, (score, _) in before.items()}


@pytest.mark.parametrize("seed", range(2))
def test_joining_two_students_loses_nothing_where_connections_are_cut(rooted, postgres, seed):
    root, url = rooted
    old, new = f"leaver{seed}", f"comer{seed}"
    hand_in(root, new, answer="right/einsum")
    (root / "list.csv").write_text(f"id,last_name,first_name,email,lms_user_id\n{old},A,B,,\n{new},A,B,,\n")
    viva(root, "roster", "list.csv")
    viva(root, "grade", SHORT)
    cutter = Cutter(postgres, url, f"joining {seed}")
    cutter.start()
    try:
        viva(root, "roster", "--same", old, new)
    finally:
        cutter.over.set()
        cutter.join()
    assert cutter.cut
    with Gradebook(url, "viva") as book:
        assert new not in {one.id for one in book.students}
        assert book.find_submission(SHORT, old).score == 20
    assert (root / "submitted" / old / SHORT).is_dir() and not (root / "submitted" / new).exists()
    viva(root, "roster", "--same", old, new)


@pytest.mark.parametrize("name", ["grade", "report", "extend"])  # all commands wait in one function
def test_a_server_that_starts_after_a_command_is_waited_for(rooted, postgres, name):
    root, _ = rooted
    viva(root, "grade", SHORT)
    postgres.stop()
    try:
        command = [BIN / "viva", *COMMANDS[name]]
        running = subprocess.Popen(command, cwd=root, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        said = running.stderr.readline()
    finally:
        postgres.start()
    out, err = running.communicate()
    assert "cannot be reached. Trying again for 20 seconds; press Ctrl-C to stop." in said
    assert running.returncode == 0 or (name == "doctor" and "MISSING   gradebook" not in out), said + err


def test_a_server_that_is_not_there_is_said_to_be_so_and_nothing_is_lost(rooted, postgres):
    root, url = rooted
    viva(root, "grade", SHORT)
    before = scores(url)
    postgres.stop()
    try:
        for command in (("grade", SHORT), ("doctor",)):  # each tries for 20 seconds
            found = subprocess.run([BIN / "viva", *command], cwd=root, capture_output=True, text=True)
            said = found.stdout + found.stderr
            assert found.returncode in (1, 2) and "cannot be reached" in said and "Traceback" not in said, said
        with pytest.raises(DBAPIError):
            scores(url)
    finally:
        postgres.start()
    viva(root, "grade", SHORT)
    assert scores(url) == before
