"""What the writer saves is what nbgrader itself would have written; what humans gave stays theirs."""

from __future__ import annotations

import contextlib
import shutil
import sqlite3
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_markdown_cell, new_notebook
from nbgrader.api import Gradebook, MissingEntry
from nbgrader.converters import Autograde, GenerateAssignment
from nbgrader.coursedir import CourseDirectory
from sqlalchemy import create_engine, text
from sqlalchemy.exc import DBAPIError

from tests import handmade
from tests.conftest import PROJECT, load
from viva.course.database import trouble, with_retries
from viva.course.examining import fingerprint
from viva.course.gradebook.recording import Draft, Expected, Graded, Writer
from viva.course.grading.batch import autograde

pytestmark = pytest.mark.xdist_group("record")

STUDENT = "anna"


def notebook(answer: str = "x = 1", written: str = "YOUR ANSWER HERE", task: str = "", late: bool = False):
    checks = "### CHECK 1: x is a number\nassert x == x + 0\n### CHECK 2: x is one\nassert x == 1"
    cells = [
        handmade.answer("answer", answer),
        handmade.graded("tests", checks, 3),
        handmade.graded("partial", "x / 2", 1),
        handmade.text("written", written, grade=True, solution=True, points=2),
        handmade.text("task", "A task.", task=True, locked=True, points=4),
        new_markdown_cell(task, id="below"),
    ]
    return new_notebook(cells=cells, metadata=handmade.PYTHON)


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> Path:
    """A course with an assignment of two notebooks, released."""
    root = tmp_path_factory.mktemp("two")
    text = (PROJECT / "nbgrader_config.py").read_text()
    (root / "nbgrader_config.py").write_text(text.replace("c.IncludeHeaderFooter.header", "header"))
    (root / "source" / "a1").mkdir(parents=True)
    for name in ("one", "two"):
        nbformat.write(
            notebook("### BEGIN SOLUTION\nx = 1\n### END SOLUTION"), root / "source" / "a1" / f"{name}.ipynb"
        )
    _, config = load(root)
    config.CourseDirectory.assignment_id = "a1"
    GenerateAssignment(coursedir=CourseDirectory(config=config), config=config).start()
    return root


@pytest.fixture
def root(made, tmp_path) -> Path:
    return shutil.copytree(made, tmp_path / "course")


def hand_in(root: Path, student: str = STUDENT, when: str = "", **notebooks) -> None:
    folder = root / "submitted" / student / "a1"
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in notebooks.items():
        released = nbformat.read(root / "release" / "a1" / f"{name}.ipynb", 4)
        for cell, given in zip(released.cells, content.cells, strict=True):
            if not cell.metadata.get("nbgrader", {}).get("locked"):
                cell.source = given.source
        nbformat.write(released, folder / f"{name}.ipynb")
    if when:
        (folder / "timestamp.txt").write_text(when)


def by_viva(root: Path) -> None:
    course, config = load(root)
    config.Autograde.force = True
    for outcome in autograde(course, course.submissions(["a1"]), config=config):
        assert not outcome.log, outcome


def by_nbgrader(root: Path) -> None:
    _, config = load(root)
    config.CourseDirectory.assignment_id = "a1"
    Autograde(coursedir=CourseDirectory(config=config), config=config).start()


def book(root: Path) -> Gradebook:
    return Gradebook(f"sqlite:///{root / 'gradebook.db'}")


def rows(root: Path) -> dict:
    """All that a gradebook says of the submissions."""
    found = {}
    with book(root) as gradebook:
        for submission in gradebook.assignment_submissions("a1"):
            for part in submission.notebooks:
                place = submission.student.id, part.name
                found[place] = part.score, part.late_submission_penalty, part.needs_manual_grade
                for grade in part.grades:
                    values = grade.auto_score, grade.manual_score, grade.extra_credit, grade.score
                    found[*place, grade.name] = *values, bool(grade.needs_manual_grade), grade.cell.max_score
                for comment in part.comments:
                    found[*place, comment.name, "comment"] = comment.auto_comment, comment.manual_comment
    return found


@pytest.mark.slow
def test_a_batch_writes_what_nbgraders_own_autograder_writes(root, tmp_path):
    hand_in(root, "right", one=notebook("x = 1", "an answer", "done"), two=notebook())
    hand_in(root, "wrong", one=notebook("x = 2"), two=notebook("x = ", task="done"))
    hand_in(root, "broken", one=notebook("import os\nos._exit(1)"), two=notebook("raise ValueError"))
    hand_in(root, "nothing", one=notebook("pass"), two=notebook("x = 'text'", "an answer"))
    other = shutil.copytree(root, tmp_path / "other")
    by_viva(root)
    by_nbgrader(other)
    assert rows(root) == rows(other)
    assert rows(root)["right", "one", "tests"][0] == 3
    assert rows(root)["right", "one", "partial"][0] == 0.5
    assert rows(root)["wrong", "one", "tests"][0] == 1
    assert rows(root)["broken", "one"][0] == 0
    assert rows(root)["right", "one", "written"][4] and not rows(root)["right", "two", "written"][4]


@pytest.mark.slow
def test_a_notebook_that_was_not_handed_in_earns_nothing_and_waits_for_nobody(root):
    hand_in(root, one=notebook("x = 1", "an answer", "done"))
    by_viva(root)
    found = rows(root)
    assert found[STUDENT, "one"][0] == 3.5
    assert found[STUDENT, "two"][0] == 0 and not found[STUDENT, "two"][2]
    grades = [value for place, value in found.items() if place[:2] == (STUDENT, "two") and len(place) == 3]
    assert len(grades) == 4 and {grade[0] for grade in grades} == {0}


@pytest.mark.usefixtures("processes")
def test_what_a_human_gave_stays(root):
    hand_in(root, one=notebook("x = 2", "an answer", "done"), two=notebook())
    by_viva(root)
    with book(root) as gradebook:
        for name, points in (("tests", 2.5), ("written", 1.5), ("task", 3.5)):
            grade = gradebook.find_grade(name, "one", "a1", STUDENT)
            grade.manual_score, grade.needs_manual_grade = points, False
            grade.extra_credit = 0.25
        gradebook.find_comment("written", "one", "a1", STUDENT).manual_comment = "well said"
        gradebook.db.commit()
    before = rows(root)
    hand_in(root, one=notebook("x = 1", "another answer", "done"), two=notebook())
    by_viva(root)
    after = rows(root)
    for name in ("tests", "written", "task"):
        assert after[STUDENT, "one", name][1:4] == before[STUDENT, "one", name][1:4]
    assert after[STUDENT, "one", "written", "comment"] == (None, "well said")
    assert after[STUDENT, "one", "tests"][0] == 3 and before[STUDENT, "one", "tests"][0] == 1
    assert [after[STUDENT, "one", name][4] for name in ("tests", "written", "task")] == [True, True, False]


@pytest.mark.slow
def test_the_same_input_gives_the_same_book(root):
    hand_in(root, one=notebook("x = 1", "an answer"), two=notebook("x = 3"))
    by_viva(root)
    before = rows(root)
    by_viva(root)
    assert rows(root) == before


@pytest.fixture
def writer(root):
    _, config = load(root)
    writer = Writer(CourseDirectory(config=config), config)
    yield writer
    writer.close()


def graded(student: str = STUDENT) -> Graded:
    scores = {name: {"tests": (3.0, False), "written": (None, True)} for name in ("one", "two")}
    return Graded("a1", student, None, scores, {"one": {"written": "seen"}, "two": {}})


def test_nothing_is_written_before_the_commit_and_nothing_after_a_rollback(root, writer):
    writer.save(graded("anna"))
    writer.rollback()
    writer.save(graded("ben"))
    assert rows(root) == {}
    writer.commit()
    assert {place[0] for place in rows(root)} == {"ben"}
    assert rows(root)["ben", "one", "written", "comment"] == ("seen", None)
    assert rows(root)["ben", "one", "partial"][0] == 0


def asked(path: Path) -> int:
    """How many students a gradebook has, asked without any waiting of SQLite's own."""
    engine = create_engine(f"sqlite:///{path}", connect_args={"timeout": 0})
    try:
        with engine.connect() as connection:
            return connection.execute(text("SELECT count(*) FROM student")).scalar()
    finally:
        engine.dispose()


def test_who_only_reads_waits_for_another_program_too(root, monkeypatch):
    tried = []
    with contextlib.closing(sqlite3.connect(root / "gradebook.db", isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")

        def ask() -> int:
            tried.append(1)
            if len(tried) == 3:
                other.execute("ROLLBACK")
            return asked(root / "gradebook.db")

        assert with_retries(ask) == 0 and len(tried) == 3
        other.execute("BEGIN EXCLUSIVE")
        monkeypatch.setattr("viva.course.database.RETRY_SECONDS", 0.0)
        with pytest.raises(DBAPIError, match="is locked"):
            with_retries(lambda: asked(root / "gradebook.db"))


@pytest.mark.parametrize("whole", [True, False])
def test_of_a_damaged_gradebook_is_said_how_to_come_out_of_it(root, whole):
    path = root / "gradebook.db"
    path.write_bytes(b"no database\n" * 500 if whole else path.read_bytes()[:5000])
    with pytest.raises(DBAPIError) as error:
        asked(path)
    assert "is damaged" in trouble(error.value, f"sqlite:///{path}")
    assert "then run 'viva grade --force'" in trouble(error.value, f"sqlite:///{path}")


def test_an_unknown_assignment_is_said_to_be(writer):
    unknown = graded()
    unknown.assignment = "a9"
    with pytest.raises(MissingEntry):
        writer.save(unknown)


def test_nobody_is_graded_again_because_the_gradebooks_rows_come_in_another_order(root):
    """PostgreSQL chooses it: once a class was graded again, though nothing had changed."""

    def ground_of() -> bytes:
        with book(root) as gradebook:
            expected = Expected.of(gradebook, "a1")
        return fingerprint.ground(root / "source" / "a1", root / "source" / "a1", root / "release" / "a1", "", expected)

    before = ground_of()
    with contextlib.closing(sqlite3.connect(root / "gradebook.db")) as file, file:
        for table in ("base_cell", "source_cell", "grade_cells", "solution_cells", "task_cells", "notebook"):
            rows = file.execute(f"SELECT * FROM {table}").fetchall()
            file.execute(f"DELETE FROM {table}")
            file.executemany(f"INSERT INTO {table} VALUES ({', '.join('?' * len(rows[0]))})", rows[::-1])
    assert ground_of() == before
    with contextlib.closing(sqlite3.connect(root / "gradebook.db")) as file, file:
        file.execute("UPDATE source_cell SET source = source || ' ' WHERE name = 'tests'")
    assert ground_of() != before


def test_a_draft_knows_the_cells_and_remembers_what_the_steps_say(root):
    with book(root) as gradebook:
        expected = Expected.of(gradebook, "a1")
        with pytest.raises(MissingEntry):
            Expected.of(gradebook, "a9")
    assert set(expected.locked("one")) == {"tests", "partial"}
    draft = Draft(expected)
    assert draft.find_source_cell("tests", "one", "a1").checksum
    assert draft.find_graded_cell("task", "one", "a1").max_score == 4
    for find in (draft.find_source_cell, draft.find_graded_cell):
        with pytest.raises(MissingEntry):
            find("other", "one", "a1")
    with pytest.raises(MissingEntry):
        draft.find_notebook("three", "a1")
    with draft as gradebook:
        gradebook.find_grade("tests", "one", "a1", STUDENT).auto_score = 2
        gradebook.find_comment("written", "one", "a1", STUDENT).auto_comment = "No response."
    assert draft.scores() == {"tests": (2, False)}
    assert draft.remarks() == {"written": "No response."}
