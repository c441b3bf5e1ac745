"""What viva grade and viva regrade say of a class."""

from __future__ import annotations

import json
import shutil
import subprocess

import nbformat
import pytest
from nbgrader.api import Gradebook

from tests.conftest import BIN, SHORT, hand_in

TOLD = "scaled_attention.ipynb: the test cell"


def test_a_regrade_tells_nobody_that_the_corrected_test_was_another_when_they_handed_in(course, viva):
    hand_in(course, "ada", answer="right/einsum")
    assert viva("grade", SHORT).status == 0
    (path,) = (course / "source" / SHORT).glob("*.ipynb")
    notebook = nbformat.read(path, as_version=4)
    (cell,) = (cell for cell in notebook.cells if cell.id == "test_self_attention")
    before, check, rest = cell.source.partition("### CHECK 1: the given example\n")
    assert check, "students see this line, and what follows it"
    cell.source = f'{before}{check}assert False, "A stricter check."\n{rest}'
    nbformat.write(notebook, path)

    tried = viva("regrade", SHORT, "--what-if", "--no-audit")
    assert tried.status == 0
    assert "test_self_attention" in tried.out and "1: ada" in tried.out
    assert TOLD not in tried.out + tried.err

    told = viva("regrade", SHORT, "--what-if", "--no-audit", "--json")
    (submission,) = json.loads(told.out)["submissions"]
    assert any(TOLD in note for note in submission["notes"]), "a program reads everything"


def test_what_lies_astray_is_told_in_a_sentence_for_all_of_one_name(course, viva):
    notebook = course / "release" / SHORT / "scaled_attention.ipynb"
    for student in ("ada", "bo", "cy"):
        (course / "submitted" / student / "ps3").mkdir(parents=True)
    shutil.copy(notebook, course / "submitted" / "bo")
    shutil.copy(notebook, course / "submitted" / "ada.ipynb")
    result = viva("grade")
    submitted = course / "submitted"
    assert (
        f"Skipped, because there is no assignment with this name: {submitted}/ada/ps3 and 2 more with the same name."
    ) in result.out
    assert (
        f"Not graded, because these files are not in the folder of a submission: {submitted}/ada.ipynb, "
        f"{submitted}/bo/scaled_attention.ipynb. "
        f"Move each into {submitted}/<student>/<assignment>."
    ) in result.out


def test_a_value_that_is_none_is_told_in_whole_sentences(course, viva):
    result = viva("grade", "--workers=-1")
    assert result.status == 2 and "-1 was specified. See 'viva grade --help'." in result.err


def test_a_fault_that_is_everybodys_is_told_once(course, viva):
    students = ("ada", "bo", "cy", "di", "ed")
    for student in students:
        hand_in(course, student, answer="right/einsum")
    (source,) = (course / "source" / SHORT).glob("*.ipynb")
    source.write_text("{")
    result = viva("grade", SHORT)
    said = result.out + result.err
    assert result.status == 1 and f"{SHORT}, 5 times: ada, bo, cy, di, ed: " in said
    assert said.count(f"{SHORT}, ") == 1


def test_files_of_thirty_students_that_are_damaged_at_different_lines_are_one_sentence(course, viva):
    notebook = (course / "release" / SHORT / "scaled_attention.ipynb").read_text(encoding="utf-8")
    for number in range(30):
        folder = course / "submitted" / f"s{number:02}" / SHORT
        folder.mkdir(parents=True)
        (folder / "scaled_attention.ipynb").write_text("\n" * number + notebook[:40], encoding="utf-8")
    result = viva("grade", SHORT)
    said = [line for line in (result.out + result.err).splitlines() if line.startswith(f"{SHORT}, ")]
    assert result.status == 0 and len(said) == 1, said
    assert said[0].startswith(f"{SHORT}, 30 times: s00, s01, ") and "s19 and 10 more. For example, s00: " in said[0]


def test_a_file_that_the_configuration_reads_counts_in_a_run_with_nothing_to_grade(course):
    """A quick answer knew the state of all files but this one: the old penalty stayed."""
    hand_in(course, "ada", answer="right/einsum")
    (course / "submitted" / "ada" / SHORT / "timestamp.txt").write_text("2026-10-06 12:00:00 UTC")
    rules = course / "conf" / "rules.json"
    rules.parent.mkdir()
    with (course / "nbgrader_config.py").open("a") as file:
        file.write(
            f"import json\nc.LatePolicy.per_day = json.load(open({str(rules)!r}))['per_day']\n"
            f"c.LatePolicy.assignments = {{{SHORT!r}: {{'due': '2026-10-05 12:00'}}}}\n"
        )

    def penalty(per_day: float) -> float:
        rules.write_text(json.dumps({"per_day": per_day}))
        for _ in range(2):  # the second run has nothing to do
            subprocess.run([BIN / "viva", "grade", SHORT], cwd=course, capture_output=True, check=True)
        with Gradebook(f"sqlite:///{course / 'gradebook.db'}") as book:
            submission = book.find_submission(SHORT, "ada")
            return submission.late_submission_penalty / submission.score

    assert (penalty(0.2), penalty(1.0)) == (pytest.approx(0.2), pytest.approx(1.0))
