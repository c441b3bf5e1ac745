"""Bubblewrap in place of Landlock: the probes of the sandbox once more, and a class graded without Landlock."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import nbformat
import pytest

from tests.conftest import SHORT, hand_in, load
from tests.sandbox import test_confinement
from tests.sandbox.test_confinement import (
    NOBODY,
    PROBE,
    SYSTEM_PYTHON,
    behind,
    failing,
    got_through,
    needs_system_python,
    ordinary,
    run_each,
)
from tests.sandbox.test_protection import LACK
from tests.sandbox_probe import ATTACKS, WORKS
from tests.test_attacks import children
from viva.sandbox import bubblewrap
from viva.sandbox.protection import protection

pytestmark = [pytest.mark.xdist_group("sandbox"), pytest.mark.usefixtures("processes")]
world = test_confinement.world


@pytest.fixture(autouse=True, scope="module")
def works():
    fault = next(layer.fault for layer in protection(all_layers=True).layers if layer.name == "bubblewrap")
    if fault:
        (pytest.fail if os.environ.get("VIVA_NOTHING_SKIPPED") else pytest.skip)(f"bubblewrap: {fault}")


COMMAND = """
import json, sys
sys.path.insert(0, sys.argv[1])
from viva.sandbox import bubblewrap
from viva.sandbox.landlock import readable_by_default
print(json.dumps(bubblewrap.command([*readable_by_default(), *sys.argv[3:]], sys.argv[2])))
"""
"""Prints the command with which an interpreter is started in bubblewrap."""


def run_boxed(world, *sandboxes, python=sys.executable, **job):
    """Run probes in forks of a process that was started in bubblewrap, as a fork server is."""
    folder = Path(world["scratch"])
    asked = [python, "-c", COMMAND, str(PROBE.parents[1]), str(folder), str(PROBE), world["data"]]
    around = json.loads(subprocess.run(asked, capture_output=True, check=True).stdout)
    places = {"scratch": bubblewrap.PLACE, "neighbour": f"{bubblewrap.PLACE}/neighbour"}
    (folder / "neighbour").mkdir(exist_ok=True)
    (folder / "neighbour").chmod(0o777), folder.chmod(0o777)
    return run_each({**world, **places}, sandboxes, before=around, python=python, **job)


@pytest.mark.slow
def test_every_attack_is_stopped(world):
    sandboxes = {"candidate": behind(ordinary(small_tmp=True), abi=0, boxed=True)}
    sandboxes["examiner"] = behind(ordinary(small_tmp=True), abi=0, boxed=True, examiner=True)
    outcomes = run_boxed(world, *sandboxes.values())
    assert [got_through(found, own_root=True) for found, _ in outcomes] == [{}, {}]
    print(f"\nthe wall in bubblewrap costs {outcomes[0][1]:.1f} ms a fork of a small process")


@pytest.mark.slow
def test_what_takes_its_time_is_stopped(world):
    slow = behind([name for name, probe in ATTACKS.items() if probe.slow], abi=0, boxed=True)
    ((outcomes, _),) = run_boxed(world, slow)
    assert got_through(outcomes, own_root=True) == {}


@pytest.mark.slow
def test_ordinary_work_goes_on(world):
    ((outcomes, _),) = run_boxed(world, behind(WORKS, abi=0, boxed=True), small=False, load=test_confinement.LIBRARIES)
    assert failing(outcomes) == {}


def test_a_normal_user_is_sandboxed_in_too(world):
    needs_system_python()
    sandboxes = behind(ordinary(small_tmp=True), abi=0, boxed=True), behind(["stand_as_it_should"], abi=0, boxed=True)
    attacks, state = run_boxed(world, *sandboxes, python=SYSTEM_PYTHON, user=NOBODY, change={"uid": NOBODY})
    assert got_through(attacks[0], own_root=True) == {} and failing(state[0]) == {}


def test_outside_of_bubblewrap_its_sandbox_does_not_rise(world):
    (outcomes,) = run_each(world, [behind(["compute"], abi=0, boxed=True)])
    assert "step 'bubblewrap'" in outcomes[0]["compute"]


LOOK = """
import os
found = []
for place in ("..", "/viva", "/viva/home", "/", "/proc", "/home", {root!r}):
    try:
        found.append((place, os.listdir(place)))
    except OSError:
        pass
for folder in ("..", "/tmp", os.path.dirname(os.__file__), {root!r}):
    try:
        open(os.path.join(folder, "planted"), "w")
        found.append(folder)
    except OSError:
        pass
print("FOUND", found)
"""


@pytest.mark.slow
def test_without_landlock_a_class_is_graded_in_bubblewrap_and_nothing_is_left(course, tmp_path):
    hand_in(course, "honest", answer="right/loops")
    path = hand_in(course, "reader", answer="right/loops")
    notebook = nbformat.read(path, as_version=4)
    notebook.cells.insert(1, nbformat.v4.new_code_cell(LOOK.format(root=str(course))))
    nbformat.write(notebook, path)
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    grade = "import os, runpy\nos.chdir(sys.argv[1])\nsys.argv[1:] = ['grade', '--workers=2']\n"
    program = f"{LACK}lack('landlock_create_ruleset')\n{grade}runpy.run_module('viva', run_name='__main__')"
    told = subprocess.run(
        [sys.executable, "-c", program, str(course)],
        capture_output=True,
        text=True,
        timeout=120,
        env=os.environ | {"TMPDIR": str(temporary)},
    )
    assert told.returncode == 0, told.stdout + told.stderr
    with load(course)[0].gradebook() as gradebook:
        scores = {one.student_id: one.score for one in gradebook.assignment_submissions(SHORT)}
    assert scores["honest"] == scores["reader"] > 0
    seen = nbformat.read(course / "autograded" / "reader" / SHORT / path.name, as_version=4).cells[1].outputs
    assert "FOUND []" in str(seen)
    assert list(temporary.iterdir()) == []
    assert not [line for line in processes() if str(temporary) in line]


def processes() -> list[str]:
    return subprocess.run(["ps", "-e", "-o", "args"], capture_output=True, text=True, check=True).stdout.splitlines()


WAITING = f"""{LACK}
lack("landlock_create_ruleset")
import time
from viva.engine.parent import Role, begin
from viva.sandbox.protection import IN_BUBBLEWRAP, protection
from viva.engine.session import Session
from viva.sandbox.confinement import Sandbox
assert protection().level == IN_BUBBLEWRAP
parents = begin([Role("candidate", Sandbox.for_candidate(), 90), Role("examiner", Sandbox.for_examiner(), 91)])
with Session(*parents) as session:
    print(session.candidate(10, do="run", source="6 * 7")["outputs"][0]["data"]["text/plain"], flush=True)
    time.sleep(60)
"""


def test_what_runs_in_bubblewrap_ends_with_the_grader_however_that_ends(tmp_path):
    grader = subprocess.Popen(
        [sys.executable, "-c", WAITING],
        stdout=subprocess.PIPE,
        text=True,
        cwd=PROBE.parents[1],
        env=os.environ | {"TMPDIR": str(tmp_path)},
    )
    with grader:
        assert grader.stdout.readline() == "42\n"
        below = children(grader.pid)
        assert len(below) == 8  # for each role bwrap, its first process inside, the fork server and a fork
        grader.kill()
    deadline = time.monotonic() + 10
    while (left := [pid for pid in below if test_confinement.lives(Path(f"/proc/{pid}/status"))]) and (
        time.monotonic() < deadline
    ):
        time.sleep(0.02)
    assert left == []
