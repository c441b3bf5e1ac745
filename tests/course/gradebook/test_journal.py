"""A change that was stopped: finished by who comes next, step by step, or announced where it takes long."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.conftest import PROJECT, load
from viva.course.gradebook import journal
from viva.course.gradebook.journal import Intent, Step
from viva.verdict import CourseError


@pytest.fixture
def course(tmp_path):
    shutil.copy(PROJECT / "nbgrader_config.py", tmp_path)
    return load(tmp_path)[0]


@pytest.fixture
def steps(course, monkeypatch):
    """A kind of change: three files that are written, of which the second may fail."""
    broken, done = [], []

    def write(name: str) -> int:
        if name in broken:
            raise CourseError(f"{name} cannot be written.")
        done.append(name)
        return int(name == "one")

    def of(course, about) -> list[Step]:
        return [Step(name, lambda name=name: write(name)) for name in ("one", "two", "three")]

    monkeypatch.setattr(journal.changes, "ask", lambda kind, *, course, about: of(course, about))
    return of, broken, done


INTENT = Intent("kind", "viva change anna", {"student": "anna"})


def test_a_change_is_done_once_and_leaves_nothing(course, steps):
    of, _, done = steps
    assert journal.carry_out(course, INTENT, of(course, {})) == 1
    assert done == ["one", "two", "three"] and not (course.root / journal.FOLDER).exists()
    assert journal.finish(course, done.append) == [] and len(done) == 3


def test_what_was_stopped_goes_on_behind_the_last_step_that_is_written_down(course, steps):
    of, broken, done = steps
    broken.append("two")
    with pytest.raises(CourseError):
        journal.carry_out(course, INTENT, of(course, {}))
    (path,) = (course.root / journal.FOLDER).iterdir()
    with path.open("ab") as file:
        file.write(b'{"done":"tw')  # half a line counts as none
    assert journal.pending(course) == [INTENT]
    broken.clear()
    said: list[str] = []
    assert journal.finish(course, said.append) == [INTENT]
    assert done == ["one", "two", "three"] and "It was finished now." in said[0]
    assert journal.pending(course) == []


def test_a_change_that_takes_long_is_announced_until_its_command_ends_it(course):
    intent, said = Intent("regrade", "viva regrade ps1", {"assignment": "ps1"}, waits=True), []
    journal.begin(course, intent)
    for _ in range(2):
        assert journal.finish(course, said.append) == []
    assert said == ["'viva regrade ps1' was stopped before its end. Run it again to finish it."] * 2
    journal.passed(course, intent, "a step that nobody reads")
    assert journal.pending(course) == [intent]
    journal.end(course, intent)
    assert journal.finish(course, said.append) == [] and len(said) == 2


def test_a_journal_that_is_damaged_is_named(course):
    path = Path(course.root, journal.FOLDER, "x.jsonl")
    path.parent.mkdir()
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(CourseError, match=r"x.jsonl is damaged"):
        journal.finish(course, print)
