"""`viva check` in an ordinary kernel says what it says with two processes, word for word."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace

import nbformat
import pytest

from tests.conftest import BIN, PROJECT, SHORT
from tests.flow.test_known_answers import ANSWERS, notebooks
from viva.engine.grading import Grader
from viva.verdict import Verdict
from viva_audit.answers import fill_in, read_answer
from viva_check import selfcheck
from viva_check.kernel import KernelGrader

pytestmark = pytest.mark.usefixtures("processes")


@pytest.fixture(scope="module")
def forks():
    grader = Grader(libraries=("numpy", "matplotlib.pyplot"))
    yield grader
    grader.close()


EMPTY_PART = "is empty in one of its parts"


def tried(notebook, folder, grader):
    path = folder / "mine.ipynb"
    nbformat.write(notebook, path)
    copy = selfcheck.open_bytes(path.read_bytes(), path)
    found, faults = selfcheck.practise(copy, grader, folder)
    assert not faults
    return found


def answered(assignment, answer):
    blueprint, release = notebooks(assignment)
    return fill_in(answer, release, blueprint)


def known(name):
    return answered(SHORT, read_answer(PROJECT / "answers" / SHORT / f"{name}.py"))


@pytest.mark.parametrize(
    ("assignment", "answer"), ANSWERS[::20], ids=[f"{name}-{answer.name}" for name, answer in ANSWERS[::20]]
)
def test_verdicts_and_hints_are_those_of_two_processes_for_known_answers(assignment, answer, forks, tmp_path):
    notebook = answered(assignment, answer)
    portable, split = tried(notebook, tmp_path, KernelGrader()), tried(notebook, tmp_path, forks)
    for place, check in enumerate(split):
        if EMPTY_PART in check.hint:  # one process knows no expected types: there the test's own sentence stands
            portable[place] = replace(portable[place], hint=check.hint)
    assert portable == split


def small(*cells, seconds=None):
    """A notebook of answers and tests by turns, which no course has released."""
    made = []
    for place, source in enumerate(cells):
        test = place % 2 == 1
        about = {"grade_id": f"cell_{place}", "grade": test, "locked": test, "solution": not test, "task": False}
        about |= {"schema_version": 3, "cell_type": "code"} | ({"points": 1} if test else {})
        made.append(nbformat.v4.new_code_cell(source, id=f"cell_{place}", metadata={"nbgrader": about}))
    viva = {"viva": {"seconds": seconds}} if seconds else {}
    return nbformat.v4.new_notebook(
        cells=made, metadata={"kernelspec": {"name": "python3", "display_name": "x"}} | viva
    )


ODD = {
    "a process that ends": ["import os\nos._exit(3)", "assert x == 1", "y = 2", "assert y == 2"],
    "an endless loop": ["x = 1\nwhile True:\n    pass", "assert x == 1", "y = 2", "assert y == 2"],
    "an endless test": ["x = 1\ndef f():\n    while True:\n        pass", "f()", "y = 2", "assert y == 2"],
    "two endless functions": [*["def f():\n    while True:\n        pass", "f()"] * 2, "y = 2", "assert y == 2"],
    "no Python": ["x = = 1", "assert x == 1", "y = 2", "assert y == 2, 'two'"],
    "an assertion of one's own": ["def f():\n    assert 1 == 2, 'mine'", "f()"],
    "magics": ["%matplotlib inline\nx = 1", "%%time\nassert x == 1"],
    "an await": ["import asyncio\nawait asyncio.sleep(0)\nx = 1", "assert x == 1"],
    "a failing beginning": ["x = 1", "y = x.z\n### CHECK 0.5: one\nassert x\n### CHECK 0.5: two\nassert x"],
}


@pytest.mark.parametrize("case", [pytest.param(name, marks=[pytest.mark.slow] * (name != "no Python")) for name in ODD])
def test_odd_answers_come_to_the_same_words(case, forks, tmp_path):
    notebook = small(*ODD[case], seconds=2)
    found, expected = (tried(notebook, tmp_path, grader) for grader in (KernelGrader(), forks))
    assert [(one.state, one.hint) for one in found] == [(one.state, one.hint) for one in expected]


def test_partial_credit_counts_in_a_kernel(tmp_path):
    notebook = small("def f():\n    return 1", "0.5 if f() == 1 else 1")
    about = {"given": [], "inside": [], "owned": {"cell_0": ["f"]}, "kinds": {}, "cells": {}, "seconds": 30}
    notebook.metadata.viva = {"check": about | {"credit": ["cell_1"]}}
    (one,) = tried(notebook, tmp_path, KernelGrader())
    assert one.state == Verdict.PARTLY


ELSEWHERE = """
import asyncio, multiprocessing, os, signal, subprocess, sys, tempfile, IPython, jupyter_client, nbclient, numpy, rich
import zmq, tornado.ioloop, psutil

for name in ("fcntl", "resource", "termios", "pty", "pwd", "grp"):
    sys.modules[name] = None  # importing it is an ImportError
sys.modules["nbgrader"] = None  # nor is it in the small distribution
gone = "fork forkpty sched_getaffinity sched_setaffinity geteuid memfd_create mkfifo register_at_fork uname waitid"
for name in (*gone.split(), "O_NOFOLLOW", "O_DIRECTORY", "O_CLOEXEC", "WNOHANG", "killpg", "setsid"):
    vars(os).pop(name, None)
for name in "SIGHUP SIGALRM SIGVTALRM SIGPROF SIGXCPU SIGPIPE pthread_sigmask sigtimedwait setitimer".split():
    vars(signal).pop(name, None)
sys.platform = "darwin"  # jupyter_client would look for the DLLs of Windows
sys.argv = ["viva", "check", *sys.argv[1:]]
from viva.__main__ import main
main()
"""


@pytest.mark.slow
def test_the_check_needs_nothing_that_only_linux_has(tmp_path):
    nbformat.write(known("wrong/three_results"), tmp_path / "mine.ipynb")
    done = subprocess.run(
        [sys.executable, "-c", ELSEWHERE, "mine.ipynb"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (1, "")
    here = subprocess.run(
        [BIN / "viva", "check", "mine.ipynb"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.stdout == here.stdout and "have hidden lines, too" in done.stdout


@pytest.mark.slow
def test_a_variable_or_an_option_asks_for_the_ordinary_kernel(tmp_path):
    nbformat.write(small("import sys\nx = 'ipykernel' in sys.modules", "assert x"), tmp_path / "mine.ipynb")
    states = []
    for more, value in (([], "0"), ([], "1"), (["--portable"], "")):
        done = subprocess.run(
            [BIN / "viva", "check", "mine.ipynb", "--json", *more], cwd=tmp_path, capture_output=True, text=True,
            check=False, env=os.environ | {"VIVA_PORTABLE": value},
        )  # fmt: skip
        states.append(json.loads(done.stdout)["checks"][0]["state"])
    assert states == ["failed", "passed", "passed"]
