from __future__ import annotations

import json

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook

from viva.course import Submission
from viva.submission import inspect

NOTEBOOK = nbformat.writes(new_notebook(cells=[new_code_cell("1")]))


@pytest.fixture
def submit(tmp_path):
    def submit(**files):
        for name, content in files.items():
            path = tmp_path / name.replace("__", ".")
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return inspect(Submission("ps1", "anna", tmp_path), {"nb"})

    return submit


def test_a_notebook_with_a_timestamp_has_nothing_to_report(submit):
    finding = submit(nb__ipynb=NOTEBOOK, timestamp__txt="2026-09-14 10:00:00.000000 UTC")
    assert (finding.problem, finding.notes) == ("", ())


@pytest.mark.parametrize(
    ("files", "problem"),
    [
        ({}, "no nb.ipynb was handed in (found: nothing)"),
        ({"essay__pdf": "%PDF", "timestamp__txt": ""}, "no nb.ipynb was handed in (found: essay.pdf)"),
        ({"nb__ipynb": '{"cells": ['}, "no JSON from line 1, column 12 on"),
        ({"nb__ipynb": ""}, "no JSON from line 1, column 1 on"),
        ({"nb__ipynb": b"\xff\xfe{\x00"}, "no JSON from line 1"),
        ({"nb__ipynb": b"\x80abc"}, "is not a text file"),
        ({"nb__ipynb": "[" * 100_000}, "nested too deeply"),
        ({"nb__ipynb": "[]"}, "has no cells of notebook format 4"),
        ({"nb__ipynb": '{"nbformat": 4}'}, "has no cells of notebook format 4"),
        ({"nb__ipynb": '{"nbformat": 9, "cells": []}'}, "has no cells of notebook format 4"),
        ({"nb__ipynb": NOTEBOOK, "timestamp__txt": "last night"}, "timestamp.txt does not hold a date"),
    ],
)
def test_what_cannot_be_graded_is_explained_with_what_was_found(submit, files, problem):
    assert problem in submit(**files).problem


def test_many_stray_files_are_named_in_short(submit):
    finding = submit(**{f"page{number}__png": "" for number in range(9)})
    assert finding.problem.endswith("(found: page0.png, page1.png, page2.png, page3.png, page4.png and 4 more)")


def test_a_second_notebook_is_a_note_not_a_problem(submit):
    finding = submit(nb__ipynb=NOTEBOOK, copy__ipynb=NOTEBOOK)
    assert (finding.problem, finding.notes) == ("", ("also handed in, not graded: copy.ipynb",))


def test_notebook_format_3_is_a_note_not_a_problem(submit):
    old = json.dumps({"nbformat": 3, "nbformat_minor": 0, "metadata": {}, "worksheets": []})
    finding = submit(nb__ipynb=old)
    assert (finding.problem, finding.notes) == ("", ("nb.ipynb is of notebook format 3 and was upgraded",))


def test_a_link_is_not_followed(tmp_path):
    (tmp_path / "secret").write_text(NOTEBOOK)
    folder = tmp_path / "submission"
    folder.mkdir()
    (folder / "nb.ipynb").symlink_to(tmp_path / "secret")
    assert inspect(Submission("ps1", "anna", folder), {"nb"}).problem == "nb.ipynb is a link, not a file"
