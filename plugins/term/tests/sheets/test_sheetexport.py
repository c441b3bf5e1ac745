"""What all exports to learning systems have in common, and nbgrader's own command that runs them."""

from __future__ import annotations

import json
import zipfile
from io import BytesIO

import pytest
from nbgrader.apps import ExportApp
from traitlets.utils.importstring import import_item

from plugins.term.tests.sheets.classroom import PS, enter, grade, page, planned, refused
from tests.conftest import load
from viva.course.grades.sheetplan import SHEETS
from viva.verdict import CourseError
from viva_term.lms.rosterfile import Entry
from viva_term.sheets.canvas import CanvasExport
from viva_term.sheets.sheetexport import SheetExport

HEAD = f"Student,ID,SIS Login ID,Section,{PS} (11)\n"
ROWS = '"Lee, Anna",103,alee,Monday,\n'


@pytest.fixture
def taught(course):
    enter(course, Entry("alee", "Anna", "Lee", "", "103", "alee", "Monday"))
    grade(course, "alee", 3.0)
    (course / "gradebook.csv").write_text(HEAD + ROWS)
    return course


def stock(course, monkeypatch, *arguments: str) -> None:
    """nbgrader's own command."""
    monkeypatch.chdir(course)
    app = ExportApp()
    app.initialize(list(arguments))
    app.start()


PLACES = {name: entry.value.replace(":", ".") for name, entry in SHEETS.entries().items()}
SYSTEMS = {name: place for name, place in PLACES.items() if issubclass(import_item(place), SheetExport)}
TABLES = {name: PLACES[name] for name in PLACES.keys() - SYSTEMS.keys()} | {
    "csv": "viva.course.grades.export.CsvExport"
}


def test_every_kind_is_named_by_its_plugin():
    assert set(SYSTEMS) == {"brightspace", "canvas", "gradescope", "moodle"}
    for key, place in SYSTEMS.items():
        exporter = import_item(place)
        assert exporter.key == key and exporter.title
    assert {import_item(place).name for place in TABLES.values()} == {"grades.csv", "grades.json", "grades.xlsx"}


def test_nbgraders_own_export_command_can_use_each(taught, monkeypatch):
    options = [f"--assignment={PS}", "--SheetExport.into=gradebook.csv"]
    stock(taught, monkeypatch, f"--exporter={SYSTEMS['canvas']}", *options)
    assert (taught / f"{PS}-canvas.csv").read_text() == (HEAD + ROWS).replace("Monday,\n", "Monday,3\n")
    for key in ("brightspace", "gradescope"):
        stock(taught, monkeypatch, f"--exporter={SYSTEMS[key]}", f"--assignment={PS}", f"--to={key}.csv")
        assert len((taught / f"{key}.csv").read_text().splitlines()) == 2
    for key, place in TABLES.items():
        stock(taught, monkeypatch, f"--exporter={place}")
        assert (taught / f"grades.{key}").stat().st_size > 100
    assert json.loads((taught / "grades.json").read_text())[0]["score"] == 3.0


def test_nbgraders_own_export_command_gets_a_sentence_and_no_traceback(taught, monkeypatch, caplog):
    for options in ([], [f"--assignment={PS}"], ["--assignment=ps99"]):
        with pytest.raises(SystemExit):
            stock(taught, monkeypatch, f"--exporter={SYSTEMS['moodle']}", *options)
    assert not list(taught.glob("*-moodle.csv"))


def test_the_sheet_that_was_named_is_never_overwritten_unless_asked_for(taught):
    own = taught / f"{PS}-canvas.csv"
    own.write_text(HEAD + ROWS)
    assert "would overwrite" in refused(taught, CanvasExport, into=str(own))
    assert own.read_text() == HEAD + ROWS
    assert planned(taught, CanvasExport, into=str(own), to=str(own))[0].path == own


def test_a_sheet_that_is_no_file_is_said(taught):
    assert "The file none.csv does not exist" in refused(taught, CanvasExport, into="none.csv")
    assert "is a folder" in refused(taught, CanvasExport, into=str(taught))


def test_who_handed_in_again_is_said_beside_the_score_that_stands(taught):
    folder = taught / "submitted" / "alee" / PS
    folder.mkdir(parents=True)
    (folder / "essay.txt").write_text("my computer broke")
    plan, data = planned(taught, CanvasExport)
    assert data.endswith(b"Monday,3\n")
    assert any(sentence.startswith("Submitted again since grading: 1.") for sentence in plan.warnings)


def test_an_assignment_that_was_not_released_is_said(taught):
    course = load(taught)[0]
    with course.gradebook() as gradebook, pytest.raises(CourseError, match="ps99 is not in the gradebook"):
        CanvasExport().plan(course, gradebook, "ps99")


def test_a_page_of_an_excused_student_stays_here(taught):
    page(taught, "alee")
    (taught / "excused.csv").write_text(f"assignment,student_id\n{PS},alee\n")
    (taught / "submissions.zip").write_bytes(_zip("leeanna_103_1_book.ipynb"))
    said = refused(taught, CanvasExport, feedback=True, archive=str(taught / "submissions.zip"))
    assert "No page of" in said


def _zip(name: str) -> bytes:
    file = BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr(name, b"")
    return file.getvalue()
