"""A course of its own for each test, with the real notebooks and the real nbgrader."""

from __future__ import annotations

import contextlib
import fcntl
import functools
import itertools
import json
import os
import shutil
import signal
import subprocess
import sys
import tomllib
import zlib
from collections import Counter
from collections.abc import Generator
from dataclasses import dataclass
from importlib.metadata import distribution, distributions
from pathlib import Path
from typing import NoReturn

import nbformat
import pytest
from hypothesis import settings
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from traitlets.config import Config
from traitlets.utils.importstring import import_item

PROJECT = Path(__file__).parents[1]
BIN = Path(sys.executable).parent
SHORT = "ps3_scaled_attention"
"""The assignment that tests use when any will do."""
LATER = frozenset({"slow", "thorough", "cluster", "extra"})
PATHS = tomllib.loads((PROJECT / "tests" / "paths.toml").read_text(encoding="utf-8"))
PARTS = 10
"""The thorough tests take turns in so many parts, which take equally long."""
SECONDS = json.loads((PROJECT / "bench" / "durations.json").read_text(encoding="utf-8"))
"""What a row of each test took when `python -m bench.durations` last wrote it down."""
SHORT_ROW = 0.1
"""Seconds, about: a row that was not written down."""
LONG = 5
"""Seconds: a proof that takes longer, with all its rows, is thorough, so that its rows take turns in CI."""
POINTS = "tests/engine/", "tests/submission/"
"""What decides about points is proven whole each time."""

os.environ["PATH"] = f"{BIN}{os.pathsep}{os.environ['PATH']}"
os.environ["OPENBLAS_NUM_THREADS"] = "1"
# What a shell starts in the background ignores Ctrl-C, and so would all that tests start.
signal.signal(signal.SIGINT, signal.default_int_handler)

# The same commit has the same result, here and in CI; to look for more: pytest --hypothesis-profile=search
settings.register_profile("search", deadline=None)
settings.register_profile("same", deadline=None, derandomize=True, database=None)
settings.load_profile("same")


@pytest.hookimpl(tryfirst=True)  # before pytest chooses by markers
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Give the tests the markers by which `make` chooses. What takes long comes first, so that nobody waits for it."""
    commands = {place: command for command, place in PATHS["commands"].items()}
    rows = Counter(map(_test, items))
    seconds = {test: SECONDS.get(test, 0) * count for test, count in rows.items()}
    for item in items:
        test, row = _test(item), _row(item)
        marks = {mark.name for mark in item.iter_markers()}
        command = commands.get(row) or commands.get(test)
        if command:
            item.add_marker(pytest.mark.path(command))
        if "processes" not in item.fixturenames and not marks & LATER:
            item.add_marker("quick")
        elif seconds[test] > LONG and not command and not test.startswith(POINTS) and test not in PATHS["landings"]:
            item.add_marker("thorough")
    if turn := os.environ.get("VIVA_PART", ""):
        for item in _of_part(int(turn) % PARTS, [item for item in items if item.get_closest_marker("thorough")]):
            item.add_marker("part")
    items.sort(key=lambda item: -seconds[_test(item)])


def _of_part(part: int, items: list[pytest.Item]) -> list[pytest.Item]:
    """What has its turn: in the order of their names' hashes, so that the rows of a test spread over the parts."""
    items = sorted(items, key=lambda item: zlib.crc32(_row(item).encode()))
    seconds = [SECONDS.get(_test(item), SHORT_ROW) for item in items]
    ends = list(itertools.accumulate(seconds))
    middles = [end - own / 2 for end, own in zip(ends, seconds, strict=True)]
    return [item for item, middle in zip(items, middles, strict=True) if int(PARTS * middle / ends[-1]) == part]


def _row(item: pytest.Item) -> str:
    return item.nodeid.partition("@")[0]


def _test(item: pytest.Item) -> str:
    return _row(item).partition("[")[0]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """A quick test, and what it is set up with, starts no process."""
    if item.get_closest_marker("quick") is None:
        return (yield)
    with pytest.MonkeyPatch.context() as patch:
        for module, name in ((os, "fork"), (os, "posix_spawn"), (subprocess, "_fork_exec")):
            patch.setattr(module, name, _refuse)
        return (yield)


def _refuse(*_: object, **__: object) -> NoReturn:
    pytest.fail("This test starts a process, so it is no quick one: let it, or its fixture, ask for 'processes'.")


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip a test whose extra is not installed."""
    for mark in item.iter_markers("extra"):
        for extra in mark.args:
            if not _is_installed(extra):
                lacking(f"The extra '{extra}' is not installed. Install it: .venv/bin/pip install -e '.[{extra}]'")


@functools.cache
def _is_installed(extra: str) -> bool:
    requirements = map(Requirement, distribution("nbviva").requires or [])
    brought = [one.name for one in requirements if one.marker and f'extra == "{extra}"' in str(one.marker)]
    known = {canonicalize_name(found.name) for found in distributions()}
    return {canonicalize_name(name) for name in brought} <= known


@pytest.fixture(scope="session")
def processes() -> None:
    """For tests and fixtures that start a grader, a course, a database, a browser or a process of their own."""


@pytest.fixture(scope="session", autouse=True)
def schema() -> None:
    """A new gradebook starts no program to learn its version, whichever test makes the first one."""
    from viva.course import database

    database.look_up()


@pytest.fixture(scope="session", autouse=True)
def home(tmp_path_factory):
    """No test reads or writes the user's own Jupyter settings, exchange or caches."""
    folder = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(folder))
        for name in ("JUPYTER_DATA_DIR", "JUPYTER_CONFIG_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR", "XDG_DATA_HOME"):
            patch.delenv(name, raising=False)
        yield folder


def lacking(sentence: str) -> NoReturn:
    """Skip a test for what the machine lacks, or fail it where nothing may be skipped."""
    (pytest.fail if os.environ.get("VIVA_NOTHING_SKIPPED") else pytest.skip)(sentence)


@pytest.fixture(scope="module")
def browser(processes):
    from playwright.sync_api import expect, sync_playwright

    from tests.browser import CHROMIUM
    from viva.commands.doctor import find_browser

    path = find_browser()
    if path is None:
        lacking("There is no browser to look at pages with. Install one: sudo apt-get install chromium")
    expect.set_options(timeout=60_000)  # a busy machine
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=path, args=CHROMIUM)
        yield chromium
        chromium.close()


@pytest.fixture(scope="session")
def postgres(processes):
    """A PostgreSQL server of the tests' own."""
    from tests.postgres import programs, server

    if programs() is None:
        lacking("There is no PostgreSQL server here. Install one: sudo apt-get install postgresql")
    with server() as running:
        yield running


@dataclass
class Result:
    """What a `viva` command did."""

    status: int
    out: str
    err: str

    @property
    def text(self) -> str:
        return self.out + self.err


@pytest.fixture
def viva(course, capsys, monkeypatch):
    """Run a `viva` subcommand in the course, inside this process."""
    from viva import cli

    commands = {name: import_item(place) for name, (place, _) in cli.subcommands().items()}
    monkeypatch.setenv("COLUMNS", "200")

    def run(name: str, *arguments: str) -> Result:
        monkeypatch.chdir(course)
        command = commands[name]()
        try:
            command.initialize(list(arguments))
            command.start()
            status = 0
        except SystemExit as stop:
            status = stop.code or 0
        captured = capsys.readouterr()
        return Result(status, captured.out, captured.err)

    return run


@pytest.fixture(scope="session")
def released(processes, tmp_path_factory, worker_id) -> Path:
    """A course that was released: the project's own, with a gradebook. All processes of a test run share it."""
    mine = tmp_path_factory.getbasetemp()
    root = (mine if worker_id == "master" else mine.parent) / "released"
    with root.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not root.is_dir():
            _release(root.with_suffix(".part")).rename(root)
    return root


def _release(root: Path) -> Path:
    """Enter the assignments into a gradebook; what students get is the committed release/, which a test holds equal."""
    from viva.course.releasing.release import generate

    for name in ("source", "answers"):
        shutil.copytree(PROJECT / name, root / name, ignore=shutil.ignore_patterns(".ipynb_checkpoints"))
    shutil.copy(PROJECT / "nbgrader_config.py", root)
    course, config = load(root)
    with contextlib.chdir(root):
        for assignment in course.assignments():
            generate(course, assignment, config)
    shutil.copytree(PROJECT / "release", root / "release", dirs_exist_ok=True)
    return root


@pytest.fixture
def course(released, tmp_path) -> Path:
    """A released course for one test to work in."""
    root = tmp_path / "course"
    shutil.copytree(released, root, ignore=lambda folder, names: ["answers"] if folder == str(released) else [])
    (root / "answers").mkdir()
    for folder in (released / "answers").iterdir():  # four hundred files, only read
        (root / "answers" / folder.name).symlink_to(folder)
    return root


def load(root: Path):
    """The Course at ``root`` with its configuration."""
    from nbgrader.coursedir import CourseDirectory
    from traitlets.config.loader import PyFileConfigLoader

    from viva.course.course import Course

    config = Config(PyFileConfigLoader("nbgrader_config.py", path=str(root)).load_config())
    config.CourseDirectory.root = str(root)
    return Course(CourseDirectory(config=config)), config


def hand_in(root: Path, student: str, assignment: str = SHORT, answer: str | None = None, **change) -> Path:
    """Hand in a known answer (the release as it is when None); ``change`` maps cell ids to new sources."""
    from viva.engine.blueprint import read_blueprint
    from viva_audit.answers import fill_in, read_answer

    (source,) = (root / "source" / assignment).glob("*.ipynb")
    notebook = nbformat.read(root / "release" / assignment / source.name, as_version=4)
    if answer:
        path = root / "answers" / assignment / f"{answer}.py"
        notebook = fill_in(read_answer(path), notebook, read_blueprint(source))
    for cell in notebook.cells:
        cell.source = change.pop(cell.id, cell.source)
    assert not change, f"no such cells: {change}"
    folder = root / "submitted" / student / assignment
    folder.mkdir(parents=True)
    nbformat.write(notebook, folder / source.name)
    return folder / source.name


@pytest.fixture(scope="session")
def founded(processes, tmp_path_factory) -> Path:
    """A released course with one tiny assignment, for bundles."""
    from plugins.gradescope.tests.conftest import found_course

    root = tmp_path_factory.mktemp("founded") / "course"
    found_course(root)
    return root


@pytest.fixture(scope="session")
def grader(processes):
    """Two fork servers, in the sandbox that this machine can raise."""
    from viva.engine.grading import Grader
    from viva.sandbox.confinement import Sandbox

    grader = Grader(30.0, (Sandbox.for_candidate(), Sandbox.for_examiner()))
    yield grader
    grader.close()


@pytest.fixture(scope="session")
def examination(grader):
    """What the grader knows about an assignment of this course, by the assignment's name."""
    from viva.engine.rehearsal import rehearse

    @functools.cache
    def examination(assignment: str):
        (source,) = (PROJECT / "source" / assignment).glob("*.ipynb")
        return rehearse(source, grader, source.parent)

    return examination
