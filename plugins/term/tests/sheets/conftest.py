"""A course with a real gradebook, made once and copied for each test."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from plugins.term.tests.sheets import classroom


@pytest.fixture(scope="session")
def founded(tmp_path_factory) -> Path:
    return classroom.found(tmp_path_factory.mktemp("sheets") / "course")


@pytest.fixture
def course(founded, tmp_path) -> Path:
    return shutil.copytree(founded, tmp_path / "course")
