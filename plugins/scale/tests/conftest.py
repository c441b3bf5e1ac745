"""Tiny courses that were handed in, and what they come to where they are graded on this machine."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from plugins.scale.tests.cluster import Dask
from plugins.scale.tests.gate import PACE, Gate, stand_before
from tests.faults import grade_here, hand_in_tiny, make_course

HERE, MANY = 6, 40


@pytest.fixture(scope="session")
def released_tiny(processes, tmp_path_factory) -> Path:
    course = make_course(tmp_path_factory.mktemp("tiny") / "course")
    stand_before(course)
    return course


def graded(released: Path, folder: Path, count: int) -> tuple[Path, Path]:
    fresh, done = folder / "fresh", folder / "graded"
    shutil.copytree(released, fresh)
    hand_in_tiny(fresh, count)
    (fresh / "submitted" / "student0000" / "tiny" / "notes.txt").write_text("my notes")
    shutil.copytree(fresh, done)
    grade_here(done)
    return fresh, done


@pytest.fixture(scope="session")
def few(released_tiny, tmp_path_factory) -> tuple[Path, Path]:
    """A course that was handed in, and the same graded by this machine."""
    return graded(released_tiny, tmp_path_factory.mktemp("few"), HERE)


@pytest.fixture(scope="session")
def many(released_tiny, tmp_path_factory) -> tuple[Path, Path]:
    return graded(released_tiny, tmp_path_factory.mktemp("many"), MANY)


@pytest.fixture
def course(few, tmp_path) -> Path:
    return shutil.copytree(few[0], tmp_path / "course")


@pytest.fixture
def crowded(many, tmp_path, monkeypatch) -> Path:
    """A course whose batch lasts long enough to be disturbed: about ten seconds of two workers' time."""
    monkeypatch.setenv(PACE, "0.25")
    return shutil.copytree(many[0], tmp_path / "course")


@pytest.fixture
def gate(tmp_path) -> Gate:
    return Gate(tmp_path / "gate")


@pytest.fixture
def dask(processes, tmp_path):
    with Dask(tmp_path / "dask") as cluster:
        yield cluster
