"""The answers of a class as Dolos and JPlag read them: each student's code, and the released code as a template."""

from __future__ import annotations

import csv
import io
import json
import shutil
import zipfile

import pytest

from tests.conftest import load
from tests.course.regrade.test_regrading import TINY
from viva.course.gradebook.results import Results
from viva.pages import report
from viva.record import SubmissionRecord


@pytest.fixture
def course(founded, tmp_path):
    root = tmp_path / "course"
    shutil.copytree(founded, root)
    for student, answer in (("anna", "# by anna\ndef double(x):\n    return 2 * x"), ("bo", "double = None")):
        notebook = json.loads((root / "release" / TINY / "tiny.ipynb").read_text())
        next(cell for cell in notebook["cells"] if cell["id"] == "double")["source"] = answer
        for step in ("submitted", "autograded"):
            folder = root / step / student / TINY
            folder.mkdir(parents=True)
            (folder / "tiny.ipynb").write_text(json.dumps(notebook))
            (folder / "timestamp.txt").write_text("2026-09-14 10:00:00 UTC")
    return root


def members(path) -> dict[str, str]:
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name).decode() for name in archive.namelist()}


@pytest.mark.slow
def test_each_students_code_is_a_file_and_the_released_code_a_template(course, viva):
    done = viva("report", "--for=dolos", TINY)
    assert (done.status, done.err) == (0, "")
    path = course / "report" / f"{TINY}-tiny-dolos.zip"
    files = members(path)
    rows = list(csv.DictReader(io.StringIO(files.pop("info.csv"))))
    assert {row["filename"] for row in rows} == set(files) == {f"{name}/tiny.py" for name in ("anna", "bo", "released")}
    assert [row["filename"] for row in rows if row["ignored"] == "true"] == ["released/tiny.py"]
    assert rows[0]["created_at"] == "2026-09-14 10:00:00+00:00"
    assert "return 2 * x" in files["anna/tiny.py"] and "return 2 * x" not in files["released/tiny.py"]
    assert "assert" not in files["anna/tiny.py"]
    before = path.read_bytes()
    assert viva("report", "--for=dolos", TINY).status == 0
    assert path.read_bytes() == before


@pytest.mark.slow
def test_an_anonymous_zip_names_nobody(course):
    Results(course / "results.jsonl").add([SubmissionRecord(TINY, "anna", graded="now", key="k")])
    (path,) = report.write_code(load(course)[0], [TINY], anonymous=True)
    assert not any("anna" in text for pair in members(path).items() for text in pair)


def test_another_program_is_refused(course, viva):
    result = viva("report", "--for=moss", TINY)
    assert (result.status, "JPlag reads the same files." in result.err) == (2, True)
