"""A change that was killed at any of its steps is finished by the next command, and nothing tells that it was killed.

The table is made of the steps that the journal writes down: a new step is killed without a test of its own.
"""

from __future__ import annotations

import shutil
import sqlite3
import zipfile
from contextlib import closing
from pathlib import Path

import pytest
from nbgrader.api import Gradebook

from plugins.term.tests.sheets import classroom
from tests.conftest import load
from tests.faults import kill_at
from viva.course.gradebook import journal
from viva.course.gradebook.results import Results
from viva.record import SubmissionRecord
from viva.verdict import CourseError
from viva_term.archives.ledger import Ledger, Row
from viva_term.lms.rosterfile import Entry

PS = classroom.PS
PEOPLE = (
    Entry("anna", "Anna", "Quimby", "aq@x.edu", "4711", "aquimby"),
    Entry("bo", "Bo", "King", "bo@x.edu", "4712"),
)
NEXT = ("roster", "--numbers=canvas")
"""Any command that takes the course's lock."""
CHANGES = {
    "forget": ((), ("roster", "--forget", "anna")),
    "restore": ((("roster", "--forget", "anna"),), ("roster", "--restore", "anna")),
    "erase": ((("roster", "--forget", "anna"),), ("roster", "--forget", "anna", "--now")),
    "same": ((), ("roster", "--same", "bo", "anna")),
    "roster": ((), ("roster", "list.csv", "--from=canvas")),
}
"""By the kind of a change, the commands before it, and the one that is killed."""


@pytest.fixture(scope="module")
def filled(tmp_path_factory) -> Path:
    """A course with one of each that a change concerns."""
    root = classroom.found(tmp_path_factory.mktemp("killed") / "course")
    classroom.enter(root, *PEOPLE)
    classroom.grade_all(root, {"anna": (22.5, 0)})
    classroom.page(root, "anna")
    for step in ("submitted", "autograded"):
        (root / step / "anna" / PS).mkdir(parents=True)
        (root / step / "anna" / PS / "book.ipynb").write_text("{}")
    course = load(root)[0]
    ledger = Ledger(course, PS)
    ledger.rows["anna"] = [Row("anna", 1, "yes", sender="quimby_9", archive="all.zip")]
    ledger.write()
    (root / "extensions.csv").write_text(f"assignment,student_id,until,reason\n{PS},anna,2026-12-01 12:00,ill\n")
    Results.of(course.directory).add([SubmissionRecord(PS, "anna", graded="now", key="k")])
    shutil.copy(root / "gradebook.db", root / "gradebook.db.old")
    with zipfile.ZipFile(root / "all.zip", "w") as archive:
        archive.writestr("Anna Quimby_12_assignsubmission_file_/x.ipynb", "{}")
        archive.writestr("Bo King_13_assignsubmission_file_/x.ipynb", "{}")
        archive.writestr("quimby_9_77_y.ipynb", "{}")  # only attempts/ knows whose it is
        archive.writestr("41-7 - M. Oss - Oct 1, 2026 1000 AM/z.ipynb", "{}")  # and here only matches.csv
    (root / "matches.csv").write_text("sender,student_id\n41-7 - M. Oss,anna\nTeam 3,anna\nTeam 3,bo\n")
    (root / "report").mkdir()
    (root / "report" / "index.html").write_text("<p>Anna Quimby</p>")
    people = '"Quimby, Anna",61000,anna,aquimby,01', '"New, Cy",61001,cy,cnew,01'
    (root / "list.csv").write_text("\n".join(["Student,ID,SIS User ID,SIS Login ID,Section", *people, ""]))
    return root


@pytest.fixture
def course(filled, tmp_path) -> Path:
    return shutil.copytree(filled, tmp_path / "course")


def state(root: Path) -> dict[str, object]:
    """Every file of a course, and the rows of its gradebooks."""
    found: dict[str, object] = {}
    for path in sorted(root.rglob("*")):
        name = str(path.relative_to(root))
        if ".db" in path.suffixes and not name.endswith((".lock", "-wal", "-shm")):
            with closing(sqlite3.connect(path)) as book:
                found[name] = sorted(line for line in book.iterdump() if line.startswith("INSERT"))
        elif path.is_file() and not name.endswith(".lock"):
            found[name] = path.read_bytes()
    return found


def found_in(name: str, data: object) -> list[str]:
    text = repr((name, data)).lower()
    return [needle for needle in ("quimby", "m. oss") if needle in text]


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("kind", CHANGES)
def test_a_change_that_is_killed_at_a_step_is_finished_by_the_next_command(course, viva, monkeypatch, kind):
    before, command = CHANGES[kind]
    for words in before:
        assert viva(*words).status == 0
    start, names, note = shutil.copytree(course, course.parent / "start"), [], journal.note
    with monkeypatch.context() as patch:
        patch.setattr(journal, "note", lambda path, name, lost=0: names.append(name) or note(path, name, lost))
        assert viva(*command).status == 0
    assert viva(*NEXT).status == 0
    whole = state(course)
    assert len(names) == len(set(names)) > 2 and not (course / journal.FOLDER).exists()
    for moment in [("", "intended"), *((name, when) for name in names for when in ("acted", "noted"))]:
        shutil.rmtree(course)
        shutil.copytree(start, course)
        kill_at(moment, lambda: viva(*command))
        result = viva(*NEXT)
        assert (result.status, "was stopped before its end. It was finished now." in result.out) == (0, True), moment
        assert state(course) == whole, moment
    if kind == "erase":
        assert [name for name, data in whole.items() if {"quimby", "m. oss"} & set(found_in(name, data))] == []


def test_the_same_command_again_after_it_was_stopped_says_that_it_is_done(course, viva, monkeypatch):
    def stop(path: Path, name: str, lost: int = 0) -> None:
        raise CourseError("Stopped.")

    assert viva("roster", "--forget", "anna").status == 0
    with monkeypatch.context() as patch:
        patch.setattr(journal, "note", stop)
        assert viva("roster", "--restore", "anna").status == 2
    dry = viva("roster", "--forget", "anna", "--dry-run")
    assert "'viva roster --restore anna' was stopped before its end" in dry.err
    result = viva("roster", "--restore", "anna")
    assert (result.status, "is in the course again" in result.out) == (0, True), result.text
    with Gradebook(f"sqlite:///{course / 'gradebook.db'}") as book:
        assert book.find_submission(PS, "anna").score == 22.5


def test_a_change_of_a_package_that_is_not_installed_stops_every_command_with_a_sentence(course, viva):
    intent = journal.Intent("strange", "viva strange anna", {"student": "anna"})
    journal.begin(load(course)[0], intent)
    result = viva(*NEXT)
    assert (result.status, "'viva strange anna' was stopped before its end" in result.err) == (2, True)
