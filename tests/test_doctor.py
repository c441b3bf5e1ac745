from __future__ import annotations

import shutil

from tests.conftest import load
from viva.doctor import examine


def test_a_healthy_course_has_nothing_missing(course, viva):
    result = viva("doctor")
    assert result.status == 0
    assert "MISSING" not in result.out


def test_a_missing_program_is_named_with_its_remedy(course, viva, monkeypatch):
    monkeypatch.setenv("PATH", "/nonexistent")
    opened, config = load(course)
    sick = {diagnosis.what: diagnosis for diagnosis in examine(opened, config) if not diagnosis.healthy}
    assert sick["alembic on the path"].remedy == "pip install alembic"
    assert not sick["a browser for the tests of formgrader"].needed


def test_a_folder_that_is_no_course_and_an_exchange_that_cannot_be_written_are_found(course, viva):
    shutil.rmtree(course / "source")
    opened, config = load(course)
    config.Exchange.root = "/nonexistent"
    sick = [diagnosis for diagnosis in examine(opened, config) if not diagnosis.healthy]
    assert any("is not a course" in diagnosis.remedy for diagnosis in sick)
    assert any("mkdir -p /nonexistent" in diagnosis.remedy for diagnosis in sick)


def test_an_assignment_that_was_not_released_is_optional(course, viva):
    (course / "gradebook.db").unlink()
    result = viva("doctor")
    assert result.status == 0
    assert "viva release ps1_general_attention" in result.out
