from __future__ import annotations

import csv
import json
import re
import shutil
from datetime import datetime

import pytest
from nbgrader.api import Gradebook

from tests.conftest import SHORT, hand_in
from viva.commands.grade import GradeCommand
from viva.course.grades.export import COLUMNS, SCORES

pytestmark = pytest.mark.xdist_group("export")


@pytest.fixture(scope="module")
def graded(released, tmp_path_factory):
    """A course where anna handed in late, and bo nothing."""
    root = shutil.copytree(released, tmp_path_factory.mktemp("export") / "course")
    hand_in(root, "anna", answer="right/einsum")
    (root / "submitted" / "anna" / SHORT / "timestamp.txt").write_text("2026-09-15 12:00:00 UTC")
    with Gradebook(f"sqlite:///{root / 'gradebook.db'}") as gradebook:
        gradebook.update_or_create_assignment(SHORT, duedate=datetime(2026, 9, 14, 23, 59))
        gradebook.update_or_create_student("bo", last_name='O"Neil, von "Komma"', first_name="Ä\nnewline")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(root)
        command = GradeCommand()
        command.initialize([SHORT])
        command.start()
    return root


@pytest.fixture
def course(graded, tmp_path):
    return shutil.copytree(graded, tmp_path / "course")


@pytest.fixture
def rows(course, viva):
    result = viva("export", "--to=out.csv", SHORT)
    assert result.status == 0
    with (course / "out.csv").open(newline="", encoding="utf-8") as file:
        return {row["student_id"]: row for row in csv.DictReader(file)}, result


def test_names_with_commas_quotes_and_newlines_come_back_whole(rows):
    table, _ = rows
    assert tuple(table["bo"]) == COLUMNS
    assert (table["bo"]["last_name"], table["bo"]["first_name"]) == ('O"Neil, von "Komma"', "Ä\nnewline")


def test_a_name_that_a_student_chose_is_no_formula_in_a_spreadsheet(course, viva):
    with Gradebook(f"sqlite:///{course / 'gradebook.db'}") as gradebook:
        gradebook.update_or_create_student("bo", last_name="=HYPERLINK(1)", first_name="\t+1", email="@sum")
    assert viva("export", "--to=out.csv", SHORT).status == 0
    with (course / "out.csv").open(newline="", encoding="utf-8") as file:
        (row,) = [row for row in csv.DictReader(file) if row["student_id"] == "bo"]
    assert [row[key] for key in ("last_name", "first_name", "email")] == ["'=HYPERLINK(1)", "'\t+1", "'@sum"]


def test_a_late_submission_shows_its_score_its_penalty_and_their_difference(rows):
    row = rows[0]["anna"]
    raw, penalty = float(row["raw_score"]), float(row["late_submission_penalty"])
    assert raw == float(row["max_code_score"]) == float(row["code_score"])
    assert penalty == pytest.approx(raw * 0.1)
    assert float(row["score"]) == pytest.approx(raw - penalty)
    assert float(row["max_score"]) == float(row["max_code_score"]) + float(row["max_written_score"])


def test_who_handed_nothing_in_has_no_score_and_a_dash_in_the_table(rows):
    table, result = rows
    assert [table["bo"][key] for key in (*SCORES, "timestamp", "reason")] == [""] * (len(SCORES) + 2)
    assert (table["bo"]["status"], table["bo"]["max_score"]) == ("not handed in", "25.0")
    assert cells(result, "bo") == ["bo", 'O"Neil, von "Komma", Ä newline', "-", "0"]


def cells(result, student: str) -> list[str]:
    """The row of a student in the table of the class."""
    (line,) = [line for line in result.out.splitlines() if line.startswith(f"│ {student} ")]
    return [cell.strip() for cell in re.split("[│┃]", line) if cell.strip()]


def test_refused_not_graded_excused_and_zero_are_told_apart_in_csv_table_and_json(course, viva):
    (course / "submitted" / "refused" / SHORT).mkdir(parents=True)
    hand_in(course, "waits", answer="right/einsum")
    hand_in(course, "ill", answer="right/einsum")
    (course / "excused.csv").write_text(f'assignment,student_id,reason\n{SHORT},ill,"ill, until May"\n{SHORT},zoe,\n')
    with Gradebook(f"sqlite:///{course / 'gradebook.db'}") as gradebook:
        for grade in gradebook.find_submission_notebook("scaled_attention", SHORT, "anna").grades:
            grade.manual_score, grade.needs_manual_grade = 0, False
        gradebook.db.commit()
    result = viva("export", SHORT)
    assert result.status == 0
    with (course / "grades.csv").open(newline="", encoding="utf-8") as file:
        found = {row["student_id"]: (row["status"], row["score"], row["reason"]) for row in csv.DictReader(file)}
    refusal = "no scaled_attention.ipynb was submitted (found: nothing)"
    assert found == {
        "anna": ("graded", "0.0", ""),
        "bo": ("not handed in", "", ""),
        "ill": ("excused", "", "ill, until May"),
        "refused": ("refused", "", refusal),
        "waits": ("not graded", "", ""),
        "zoe": ("excused", "", ""),
    }
    table = {student: cells(result, student)[1:] for student in found}
    assert table == {
        "anna": ["0*", "0"],
        "bo": ['O"Neil, von "Komma", Ä newline', "-", "0"],
        "ill": ["excused", "0 of 0"],
        "refused": ["refused", "0"],
        "waits": ["not graded", "0"],
        "zoe": ["excused", "0 of 0"],
    }
    rows = json.loads(viva("export", "--json", SHORT).out)["scores"]
    assert {row["student_id"]: (row["status"], row["score"]) for row in rows} == {
        student: (status, float(score) if score else None) for student, (status, score, _) in found.items()
    }
    assert len(json.loads(viva("export", "--json", "--student=refused", SHORT).out)["scores"]) == 1
    assert viva("export", "--student=nobody", SHORT).status == 2


def test_a_later_refused_hand_in_is_told_beside_the_score_that_stands(course, viva):
    (path,) = (course / "submitted" / "anna" / SHORT).glob("*.ipynb")
    path.write_text("Dear teacher, my computer broke.")
    (course / "submitted" / "anna" / SHORT / "timestamp.txt").write_text("2026-09-16 12:00:00 UTC")
    (row,) = json.loads(viva("export", "--json", "--student=anna", SHORT).out)["scores"]
    assert (row["status"], row["score"] > 0) == ("graded", True)
    assert row["reason"].startswith("submitted again, and refused: the file 'scaled_attention.ipynb' is not a notebook")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("student,reason\nbo,ill\n", "The first line of"),
        ("", "excused.csv is empty"),
        (f"assignment,student_id\n{SHORT},\n", "Line 2 of"),
        ("assignment;student_id\nps9;bo\n", "which is not an assignment"),
        ("\udcff", "The first line of"),
    ],
)
def test_a_list_of_excuses_that_makes_no_sense_is_refused_and_nothing_is_written(course, viva, text, said):
    (course / "excused.csv").write_bytes(text.encode(errors="surrogateescape"))
    result = viva("export", SHORT)
    assert (result.status, said in result.err) == (2, True)
    assert not (course / "grades.csv").exists()


def test_a_list_of_excuses_may_be_a_spreadsheets(course, viva):
    (course / "excused.csv").write_bytes(f"\ufeffassignment;student_id;reason\r\n{SHORT};bo;krank\r\n".encode())
    rows = json.loads(viva("export", "--json", "--student=bo", SHORT).out)["scores"]
    assert [(row["status"], row["reason"]) for row in rows] == [("excused", "krank")]


def test_nbgraders_own_export_command_can_use_it(course, rows, monkeypatch):
    from nbgrader.apps import ExportApp

    monkeypatch.chdir(course)
    app = ExportApp()
    app.initialize(["--exporter=viva.course.grades.export.CsvExport", "--to=stock.csv"])
    app.start()
    with (course / "stock.csv").open(newline="", encoding="utf-8") as file:
        assert {row["student_id"] for row in csv.DictReader(file)} == {"anna", "bo"}
