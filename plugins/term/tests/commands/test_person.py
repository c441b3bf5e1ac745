"""`viva roster --forget`, `--restore` and `--export` on a graded course with everything that Viva keeps."""

from __future__ import annotations

import json
import re
import shutil
import sqlite3
import zipfile
from contextlib import closing
from datetime import datetime
from pathlib import Path

import pytest
from nbgrader.api import Gradebook

from tests.conftest import load
from tests.course.regrade.test_regrading import TINY
from viva.course.gradebook.results import Results
from viva.record import SubmissionRecord
from viva_term.archives.ledger import Ledger, Row

NAME, EMAIL, BOOK = "Anna Quimby", "a.quimby@x.edu", "tiny"
ROSTER = f"""id,first_name,last_name,email,login,section
anna,Anna,Quimby,{EMAIL},aquimby,A
anna2,Annabel,Quim,anna2@x.edu,,A
bo,Bo,King,bo@x.edu,,B
"""
STUDENTS = ("anna", "anna2", "bo")


@pytest.fixture
def course(founded, tmp_path) -> Path:
    """A released course with one tiny assignment."""
    shutil.copytree(founded, tmp_path / "course")
    return tmp_path / "course"


def contents(root: Path, without: tuple[str, ...] = ()) -> dict[str, bytes]:
    """Every file of a course but its gradebooks, by path."""
    paths = [path for path in root.rglob("*") if path.is_file() and not path.is_symlink()]
    names = {str(path.relative_to(root)): path for path in paths if not path.name.startswith("gradebook.db")}
    return {name: path.read_bytes() for name, path in names.items() if not name.startswith(without)}


def rows(path: Path) -> list[str]:
    with closing(sqlite3.connect(path)) as book:
        return sorted(line for line in book.iterdump() if line.startswith("INSERT"))


def files_with(root: Path, *needles: str) -> set[str]:
    """The files whose name or bytes hold one of these texts, in any case; also in the members of a zip."""
    matches = set()
    for path in root.rglob("*"):
        texts = [str(path.relative_to(root)).encode()]
        if path.is_file():
            texts.append(path.read_bytes())
            if zipfile.is_zipfile(path):
                with zipfile.ZipFile(path) as archive:
                    texts += [part for name in archive.namelist() for part in (name.encode(), archive.read(name))]
        if any(
            needle.lower().encode() in re.sub(rb"anna2|annabel", b"", text.lower())
            for needle in needles
            for text in texts
        ):
            matches.add(str(path.relative_to(root)))
    return matches


@pytest.fixture(scope="module")
def template(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("template") / "course"


@pytest.fixture
def full(template, course, viva) -> Path:
    """A course in which each thing that Viva keeps is there, of three students."""
    if not template.exists():
        shutil.copytree(filled(course, viva), template)
    shutil.rmtree(course)
    shutil.copytree(template, course)
    return course


def filled(course: Path, viva) -> Path:
    for text, student in zip(("", f"# with {NAME}\n", ""), STUDENTS, strict=True):
        path = course / "submitted" / student / TINY / f"{BOOK}.ipynb"
        path.parent.mkdir(parents=True)
        notebook = json.loads((course / "release" / TINY / path.name).read_text())
        notebook["cells"].append({"cell_type": "markdown", "metadata": {}, "source": [text], "id": "own"})
        path.write_text(json.dumps(notebook))
    (course / "list.csv").write_text(ROSTER)
    assert viva("roster", "list.csv").status == 0
    assert viva("grade", TINY).status == 0
    with Gradebook(f"sqlite:///{course / 'gradebook.db'}") as book:
        for student in STUDENTS:
            submission = book.find_submission(TINY, student)
            submission.timestamp = datetime(2026, 10, 1, 12, 0, 0, 5)
            submission.notebooks[0].grades[0].manual_score = 1.25
            submission.notebooks[0].comments[
                0
            ].manual_comment = f"well done, {student}, {EMAIL if student == 'anna' else ''}"
        book.db.commit()
    assert viva("feedback", TINY).status == 0
    assert viva("report", TINY).status == 0
    for form in ("csv", "xlsx", "json"):
        assert viva("export", f"--as={form}" if form != "csv" else "--json", TINY).status == 0
    loaded = load(course)[0]
    ledger = Ledger(loaded, TINY)
    for student in STUDENTS:
        ledger.rows[student] = [Row(student, 1, "yes", sender=student)]
        for folder in (f"attempts/{TINY}/{student}/1", f"variants/{TINY}/{student}", f"report/log/{student}"):
            (course / folder).mkdir(parents=True)
            (course / folder / "x.txt").write_text(student)
    ledger.write()
    waiting = course / "unmatched" / TINY
    (waiting / "quimby_9" / "1").mkdir(parents=True)
    (waiting / "quimby_9" / "1" / "x.ipynb").write_text("{}")
    head = "folder,sender,name,lms,login,email,anonymous,source,time,in_utc,archive,sha256,others,reason,student,moment"
    row = f"quimby_9/1,quimby_9,Anna Quimby,,,{EMAIL},,x.ipynb,,,m.zip,00,[],,anna,"
    waiting.with_suffix(".csv").write_text(f"{head}\n{row}\n")
    for name, head, value in (
        ("extensions.csv", "assignment,student_id,until,reason", "2026-12-01 12:00,ill"),
        ("excused.csv", "assignment,student_id,reason", "ill"),
    ):
        (course / name).write_text(f"{head}\n" + "".join(f"{TINY},{name},{value}\n" for name in STUDENTS))
    (course / "matches.csv").write_text("sender,student_id\nquimby_9,anna\nX,bo\n")
    (course / "same.csv").write_text("id,student_id,moved\namoss,anna,\n")
    with (course / "regrades.jsonl").open("w") as log:
        log.write(json.dumps({"event": "begun", "before": {name: {"score": 1} for name in STUDENTS}}) + "\n")
        log.writelines(json.dumps({"event": "changed", "student": name}) + "\n" for name in STUDENTS)
    (course / "watch.json").write_text(json.dumps({"students": {TINY: {name: {} for name in STUDENTS}}}))
    with zipfile.ZipFile(course / "notes.xlsx", "w") as workbook:  # an instructor's own: it is listed and stays
        workbook.writestr("xl/sharedStrings.xml", f"<t>talk to {NAME}</t>")
    (course / "viva.log").write_text("".join(f"graded {name}\n" for name in STUDENTS))
    shutil.copy(course / "gradebook.db", course / "gradebook.db.2026-11-01")
    with zipfile.ZipFile(course / "moodle.zip", "w") as archive:
        for name in (NAME, "Annabel Quim", "Bo King"):
            archive.writestr(f"{name}_12_assignsubmission_file_/x.ipynb", "{}")
        archive.writestr("grades.csv", ROSTER)
    Results.of(loaded.directory).add([SubmissionRecord("gone", "anna", graded="now", key="k")])
    return course


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_all_of_a_student_goes_and_nothing_of_others_and_all_comes_back(full, viva):
    before, book = contents(full), rows(full / "gradebook.db")
    tried = viva("roster", "--forget", "anna", "--dry-run")
    assert (tried.status, tried.err) == (0, "")
    assert "Nothing was written." in tried.out
    assert (contents(full), rows(full / "gradebook.db")) == (before, book)

    done = viva("roster", "--forget", "anna")
    assert (done.status, done.err) == (0, "")
    mentions = f"submitted/anna2/{TINY}/{BOOK}.ipynb"
    assert mentions in done.out.replace("\n", "") and "viva roster --restore anna" in done.out
    now = contents(full, (".forgotten",))
    others = ("submitted/bo", "submitted/anna2", "feedback/anna2", "autograded/anna2", "source", "attempts/tiny/bo")
    assert {name for name in now if name.startswith(others)} == {name for name in before if name.startswith(others)}
    assert not any("anna/" in name or "quimby" in name for name in now)
    for name, data in now.items():
        if name.startswith(("submitted", "autograded", "feedback", "attempts/ps", "variants", "source", "release")):
            assert data == before[name]
    assert rows(full / "gradebook.db") == [row for row in rows(full / "gradebook.db") if row in book]
    assert sum("'bo'" in row or "'anna2'" in row for row in rows(full / "gradebook.db")) == sum(
        "'bo'" in row or "'anna2'" in row for row in book
    )
    assert (full / "results.jsonl").read_text().count('"student":"anna"') == 0
    assert (full / "results.jsonl").read_text().count('"student":"anna2"') == 1
    assert viva("roster", "--forget", "nobody").status == 2

    back = viva("roster", "--restore", "anna")
    assert (back.status, back.err) == (0, "")
    assert contents(full) == before
    assert rows(full / "gradebook.db") == book
    assert rows(full / "gradebook.db.2026-11-01") == book
    assert not (full / ".forgotten").exists()


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_after_now_the_course_folder_has_neither_id_nor_name_nor_address(full, viva):
    def all_rows(student: str) -> list[dict]:
        return [row for row in json.loads(viva("export", "--json").out)["scores"] if row["student_id"] != student]

    scores = all_rows("anna")
    assert files_with(full, "anna") and files_with(full, "amoss", EMAIL, NAME)
    assert viva("roster", "--export", "anna").status == 0
    assert viva("roster", "--forget", "anna").status == 0
    erased = viva("roster", "--forget", "anna", "--now")
    assert (erased.status, erased.err) == (0, "")
    assert "cannot be restored" in erased.out
    (full / "list.csv").unlink(missing_ok=True)
    others = {f"{step}/anna2/{TINY}/{BOOK}.{kind}" for step, kind in
              (("submitted", "ipynb"), ("autograded", "ipynb"), ("feedback", "html"))}  # fmt: skip
    assert files_with(full, "amoss", EMAIL, "aquimby", "quimby_9") == set()
    assert files_with(full, NAME) == others | {"notes.xlsx"}
    left = {name for name in files_with(full, "anna") if not name.startswith(("source", "release", "answers"))}
    assert {
        name for name in left if name.split("/")[0] not in ("submitted", "autograded", "feedback", "notes.xlsx")
    } == set()
    assert all_rows("anna") == scores
    with zipfile.ZipFile(full / "moodle.zip") as archive:
        assert len(archive.namelist()) == 3 and b"bo@x.edu" in archive.read("grades.csv")
    assert viva("grade", TINY).status == 0
    assert viva("report", TINY).status == 0
    again = viva("roster", "--restore", "anna")
    assert (again.status, "No student is waiting to be erased." in again.err) == (2, True)


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_the_zip_has_all_of_one_student_and_nothing_of_others(full, viva):
    done = viva("roster", "--export", "amoss")
    assert (done.status, done.err) == (0, "")
    path = full / "anna-data.zip"
    assert path.stat().st_mode & 0o777 == 0o600
    with zipfile.ZipFile(path) as archive:
        files = {name: archive.read(name).decode("utf-8", "replace") for name in archive.namelist()}
    assert {name.removeprefix("data/") for name in files} >= {
        f"submitted/anna/{TINY}/{BOOK}.ipynb",
        f"feedback/anna/{TINY}/{BOOK}.html",
        f"attempts/{TINY}/anna/1/x.txt",
        f"unmatched/{TINY}/quimby_9/1/x.ipynb",
        "gradebook.json",
        "roster.csv",
        "extensions.csv",
        f"with hidden tests/autograded/anna/{TINY}/{BOOK}.ipynb",
        "with hidden tests/results.jsonl",
    }
    assert not any("anna2" in text or "bo@x.edu" in text for text in files.values())
    book = json.loads(files["data/gradebook.json"])
    assert book["student"][0]["email"] == EMAIL
    assert {row["manual_score"] for row in book["grade"]} >= {1.25}
    hidden = "BEGIN HIDDEN TESTS"
    assert any(hidden in text for name, text in files.items() if name.startswith("with hidden"))
    assert not any(hidden in text for name, text in files.items() if name.startswith("data/"))


def test_what_cannot_be_done_is_said_and_nothing_is_written(course, viva):
    for arguments, sentence in (
        (["--forget"], "Name one student: viva roster --forget ID."),
        (["--forget", "--export", "x"], "are different requests"),
        (["--forget", "nobody"], "There is no student 'nobody'"),
        (["--restore", "nobody"], "No student is waiting to be erased."),
    ):
        result = viva("roster", *arguments)
        assert (result.status, sentence in result.err) == (2, True)
    assert not (course / ".forgotten").exists()


def test_nothing_is_done_while_the_watcher_works(course, viva):
    import fcntl

    (course / "list.csv").write_text(ROSTER)
    assert viva("roster", "list.csv").status == 0
    with (course / "watch.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        result = viva("roster", "--forget", "anna")
    assert (result.status, "Stop it, then run this command again." in result.err) == (2, True)
    assert "anna," in (course / "roster.csv").read_text()
