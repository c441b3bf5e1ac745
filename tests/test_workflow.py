"""The workflow for GitHub: it is what GitHub reads, and its commands do in a course what they say."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from plugins.gradescope.tests.conftest import found_course
from tests.conftest import BIN, PROJECT
from tests.course.regrade.test_regrading import TINY
from viva import doors
from viva.commands.founding import add_repository, plan

WORKFLOW = yaml.safe_load((PROJECT / "viva" / "commands" / "audit.yml").read_text(encoding="utf-8"))
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
    wheels = [f"wheels/{doors.wheel(name)}" for name in ("nbviva", "nbviva-audit")]
    assert WORKFLOW["env"]["VIVA"].split() == wheels
    assert "pip install --disable-pip-version-check $VIVA" in RUN[INSTALL]


@pytest.mark.slow
def test_a_release_that_is_not_what_the_source_compiles_to_is_refused(course):
    done = run(COMPARE, course)
    assert done.returncode == 0, done.stdout + done.stderr
    path = course / "source" / TINY / "tiny.ipynb"
    path.write_text(path.read_text().replace("Doubling", "Twice as much"))
    done = run(COMPARE, course)
    assert done.returncode == 1
    assert f"{TINY}: release/ does not match source/: tiny.ipynb is different." in done.stderr
    assert subprocess.run(["git", "diff", "--quiet", "--", "release"], cwd=course).returncode == 0, "it changes nothing"
    shutil.rmtree(course / "release")
    done = run(COMPARE, course)
    assert done.returncode == 0 and "nothing to compare" in done.stdout


@pytest.mark.slow
def test_a_course_on_git_is_audited_in_a_clone_of_a_bare_repository(tmp_path):
    def viva_command(*words: str) -> subprocess.CompletedProcess:
        return subprocess.run([BIN / "viva", *words], cwd=mine, capture_output=True, text=True, check=False)

    mine, bare, theirs = (tmp_path / name for name in ("mine", "course.git", "theirs"))
    subprocess.run([BIN / "viva", "init", mine, "--git"], check=True, capture_output=True)
    assert viva_command("release").returncode == 0
    for step, text in {"submitted": "an answer", "autograded": "a grade"}.items():
        (mine / step / "ada" / "ps1").mkdir(parents=True)
        (mine / step / "ada" / "ps1" / "ps1.ipynb").write_text(text)
    git(tmp_path, "init", "--bare", "--initial-branch=main", str(bare))
    git(mine, "init", "--initial-branch=main")
    git(mine, "add", ".")
    git(mine, "commit", "-m", "The course")
    git(mine, "push", str(bare), "main")
    git(tmp_path, "clone", str(bare), str(theirs))
    names = {str(path.relative_to(theirs)) for path in theirs.rglob("*") if path.is_file() and ".git/" not in str(path)}
    assert ".github/workflows/audit.yml" in names and "release/ps1/ps1.ipynb" in names
    assert not [name for name in names if "ada" in name or name.startswith(("gradebook", ".contracts", "results"))]
    for step in (AUDIT, COMPARE):
        done = run(step, theirs)
        assert done.returncode == 0, done.stdout + done.stderr
    source = theirs / "source" / "ps1" / "ps1.ipynb"
    source.write_text(source.read_text().replace("centre", "middle"))
    assert run(COMPARE, theirs).returncode == 1


def test_a_course_that_is_there_gets_what_git_needs_and_keeps_its_own_lines(tmp_path):
    (tmp_path / "source").mkdir()
    (tmp_path / ".gitignore").write_text("*.tmp\ngradebook.db*\n")
    first = add_repository(plan(tmp_path, git=True))
    assert tmp_path / ".github" / "workflows" / "audit.yml" in first
    lines = (tmp_path / ".gitignore").read_text().splitlines()
    assert lines[:2] == ["*.tmp", "gradebook.db*"] and lines.count("gradebook.db*") == 1 and "results.jsonl*" in lines
    assert add_repository(plan(tmp_path, git=True)) == []


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
