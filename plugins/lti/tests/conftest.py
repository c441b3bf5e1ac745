"""A course with a real gradebook and a learning system on the loopback, in which it is registered."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from plugins.lti.tests import platform
from plugins.term.tests.sheets import classroom
from viva_lti import key
from viva_term.lms.rosterfile import Entry

PEOPLE = ("anna", "bo", "cy")
SCORES = {"anna": (22.5, 0), "bo": (10.0, 0), "cy": (7.25, 1)}


def member(number: int, first: str, **more: object) -> dict:
    return {
        "user_id": f"u-{number}",
        "name": f"{first.title()} Lee",
        "given_name": first.title(),
        "family_name": "Lee",
        "email": f"{first}@x.edu",
        "roles": [platform.LEARNER],
    } | more


@pytest.fixture(scope="session")
def founded(tmp_path_factory) -> Path:
    root = classroom.found(tmp_path_factory.mktemp("lti") / "course")
    classroom.enter(root, *(Entry(name, name.title(), "Lee", f"{name}@x.edu") for name in PEOPLE))
    classroom.grade_all(root, SCORES)
    return root


@pytest.fixture(scope="session")
def pair(tmp_path_factory) -> Path:
    """A folder with a key, which takes a while to make."""
    folder = tmp_path_factory.mktemp("keys")
    key.made(folder / "any.pem")
    return folder


@pytest.fixture
def course(founded, tmp_path) -> Path:
    return shutil.copytree(founded, tmp_path / "course")


@pytest.fixture
def system():
    with platform.running() as running:
        running.members = [member(number, name) for number, name in enumerate(PEOPLE)]
        yield running


@pytest.fixture
def keys(pair, tmp_path, system, monkeypatch) -> Path:
    """The user's folder of settings, with the key for the system."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    path = key.path_of(system.url, key.folder(), tmp_path / "course")
    path.parent.mkdir(parents=True)
    shutil.copy(pair / "any.pem", path)
    return path.parent


@pytest.fixture
def registered(course, system, keys, viva):
    """The course, known to the system."""
    printed = viva("lti", "register", "other", system.url, "--json")
    system.tool_keys["keys"] = json.loads(json.loads(printed.out)["jwks"])["keys"]
    done = viva("lti", "register", *system.options())
    assert done.status == 0, done.text
    system.requests.clear()
    return course
