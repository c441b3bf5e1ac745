"""A course with a real gradebook and a learning system on the loopback, in which it is registered."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from plugins.lti.tests import platform, recorded
from plugins.term.tests.sheets import classroom
from viva_lti import canvascourse, key
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
def founded(processes, tmp_path_factory) -> Path:
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
def system(processes):
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


@pytest.fixture
def there(processes):
    """A Canvas with a course."""
    with recorded.running() as running:
        running.lists = {
            "users": [recorded.user(1, "anna"), recorded.user(2, "bo", section=32), recorded.user(3, "cy")],
            "sections": [{"id": 31, "name": "Monday", "course_id": 12}, {"id": 32, "name": "Friday", "course_id": 12}],
            "groups": [],
            "enrollments": [],
            "assignments": [recorded.assignment(4711, classroom.PS.upper()), recorded.assignment(4712, "Essay")],
            "assignments/4711/submissions": [
                recorded.submission(1, "2026-09-14T09:30:00Z"),
                recorded.submission(2, "2026-09-14T14:30:00+02:00"),
                recorded.submission(3, None),
                recorded.submission(8, "2026-09-14T09:30:00Z"),
            ],
        }
        yield running


@pytest.fixture
def joined(course, there, viva, tmp_path, monkeypatch):
    """The course, known to Canvas."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.delenv(canvascourse.VARIABLE, raising=False)
    monkeypatch.setattr(canvascourse, "PAUSE", 0.0)
    (tmp_path / "token.txt").write_text(recorded.TOKEN + "\n")
    address = f"{there.url}/courses/12/assignments?x=1"
    result = viva("canvas", "register", address, f"--token-file={tmp_path / 'token.txt'}")
    assert (result.status, result.err) == (0, ""), result.err
    assert "'Attention' has 3 students" in result.out and recorded.TOKEN not in result.text
    there.requests.clear()
    return course
