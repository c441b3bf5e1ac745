"""The workflow for GitHub: it is what GitHub reads, and its commands do in a course what they say."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

import viva
from plugins.gradescope.tests.conftest import found_course
from tests.conftest import BIN, PROJECT
from tests.course.regrade.test_regrading import TINY

WORKFLOW = yaml.safe_load((PROJECT / "docs" / "workflows" / "audit.yml").read_text(encoding="utf-8"))
STEPS = WORKFLOW["jobs"]["audit"]["steps"]
RUN = {step["name"]: step["run"] for step in STEPS if "run" in step}
INSTALL, DOCTOR, AUDIT, COMPARE = RUN


def run(name: str, course: Path) -> subprocess.CompletedProcess:
    """As GitHub runs a step on Linux, where no shell is named."""
    command = ["bash", "-e", "-c", RUN[name]]
    environment = os.environ | {"PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}"} | WORKFLOW["env"]
    return subprocess.run(command, cwd=course, env=environment, capture_output=True, text=True, check=False)


def git(course: Path, *words: str) -> None:
    author = ["-c", "user.name=Test", "-c", "user.email=test@example.edu"]
    subprocess.run(["git", *author, *words], cwd=course, check=True, capture_output=True)


@pytest.fixture
def course(tmp_path):
    found_course(tmp_path / "course")
    (tmp_path / "course" / ".gitignore").write_text("gradebook.db*\nreport/\n")
    git(tmp_path / "course", "init", "--initial-branch=main")
    git(tmp_path / "course", "add", ".")
    git(tmp_path / "course", "commit", "-m", "The course")
    return tmp_path / "course"


@pytest.mark.usefixtures("processes")
def test_it_has_what_github_asks_for():
    triggers = WORKFLOW[True]  # YAML 1.1 reads the word `on` as a truth, and GitHub does not
    assert {"push", "pull_request"} <= triggers.keys()
    assert WORKFLOW["permissions"] == {"contents": "read"}
    assert all(("uses" in step) != ("run" in step) for step in STEPS)
    assert all(re.fullmatch(r"actions/[a-z-]+@v\d+", step["uses"]) for step in STEPS if "uses" in step)
    assert [step["with"]["path"] for step in STEPS if "upload" in step.get("uses", "")] == ["report/audit/"]
    for text in RUN.values():
        subprocess.run(["bash", "-n"], input=text.encode(), check=True)


def test_it_installs_the_wheel_that_make_wheel_writes():
    assert WORKFLOW["env"]["VIVA"] == f"wheels/nbviva-{viva.__version__}-py3-none-any.whl"
    assert 'pip install --disable-pip-version-check "$VIVA"' in RUN[INSTALL]


@pytest.mark.slow
def test_a_release_that_is_not_what_the_source_compiles_to_is_refused(course):
    done = run(COMPARE, course)
    assert done.returncode == 0, done.stdout + done.stderr
    path = course / "source" / TINY / "tiny.ipynb"
    path.write_text(path.read_text().replace("Doubling", "Twice as much"))
    done = run(COMPARE, course)
    assert done.returncode == 1 and "release/ is not what source/ compiles to" in done.stdout
    assert "tiny.ipynb" in done.stdout
    git(course, "rm", "-r", "--cached", "release")
    done = run(COMPARE, course)
    assert done.returncode == 0 and "nothing to compare" in done.stdout


@pytest.mark.slow
def test_an_assignment_with_an_error_fails_and_the_page_is_kept(course):
    assert run(DOCTOR, course).returncode == 0
    path = course / "source" / TINY / "tiny.ipynb"
    text = path.read_text()
    for strong in ("double(-1) == -2", "double(3) == 6", "double(0) == 0"):
        text = text.replace(strong, "double(2) == 4")
    path.write_text(text.replace("unexpected == 9422.5", "unexpected"))
    done = run(AUDIT, course)
    assert done.returncode == 1 and f"{TINY} cannot be released: " in done.stdout
    assert "Error: A wrong version of 'double' passes every check" in done.stdout
    assert (course / "report" / "audit" / f"{TINY}.html").is_file()
    shutil.rmtree(course / "source" / TINY)
    subprocess.run([BIN / "viva", "new", "ps9_mine"], cwd=course, check=True, capture_output=True)
    done = run(AUDIT, course)
    assert done.returncode == 0, done.stdout + done.stderr
    assert (course / "report" / "audit" / "ps9_mine.html").is_file()
