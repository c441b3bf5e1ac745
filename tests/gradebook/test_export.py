from __future__ import annotations

import csv
import shutil
from datetime import datetime

import pytest
from nbgrader.api import Gradebook

from tests.conftest import SHORT, hand_in
from viva.commands.grade import GradeCommand
from viva.gradebook.export import COLUMNS

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


def test_a_late_submission_shows_its_score_its_penalty_and_their_difference(rows):
    row = rows[0]["anna"]
    raw, penalty = float(row["raw_score"]), float(row["late_submission_penalty"])
    assert raw == float(row["max_code_score"]) == float(row["code_score"])
    assert penalty == pytest.approx(raw * 0.1)
    assert float(row["score"]) == pytest.approx(raw - penalty)
    assert float(row["max_score"]) == float(row["max_code_score"]) + float(row["max_written_score"])


def test_who_handed_nothing_in_has_a_score_of_zero_and_a_dash_in_the_table(rows):
    table, result = rows
    assert (table["bo"]["score"], table["bo"]["timestamp"]) == ("0.0", "")
    line = next(line for line in result.out.splitlines() if " bo " in line)
    assert " - " in line


def test_nbgraders_own_export_command_can_use_it(course, rows, monkeypatch):
    from nbgrader.apps import ExportApp

    monkeypatch.chdir(course)
    app = ExportApp()
    app.initialize(["--exporter=viva.gradebook.export.CsvExport", "--to=stock.csv"])
    app.start()
    with (course / "stock.csv").open(newline="", encoding="utf-8") as file:
        assert {row["student_id"] for row in csv.DictReader(file)} == {"anna", "bo"}
