"""The check inside a notebook, in a real kernel."""

from __future__ import annotations

import os
import re
import shutil

import nbformat
import pytest
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_notebook

from tests.conftest import PROJECT, SHORT, hand_in
from tests.flow.test_known_answers import notebooks
from viva_audit.answers import fill_in, read_answer
from viva_check.notebook import Report, _checked, check_for_panel, last_feedback

ASKING = "%load_ext viva\n%viva_check"


@pytest.fixture
def mine(tmp_path):
    """A student's notebook with a right and a wrong answer, and a cell that asks for the check; it lies alone."""
    blueprint, release = notebooks(SHORT)
    answer = read_answer(PROJECT / "answers" / SHORT / "wrong/three_results.py")
    notebook = fill_in(answer, release, blueprint)
    notebook.cells.insert(1, new_code_cell(ASKING, id="asking"))
    path = tmp_path / "mine.ipynb"
    nbformat.write(notebook, path)
    return path


def outputs(folder, source, **environment):
    """What a cell of a notebook shows whose kernel works in a folder."""
    notebook = new_notebook(cells=[new_code_cell(source)])
    client = NotebookClient(
        notebook, kernel_name="python3", allow_errors=True, timeout=250, resources={"metadata": {"path": str(folder)}}
    )
    client.execute(env=os.environ | environment)
    return notebook.cells[0].outputs


@pytest.mark.slow
def test_the_magic_shows_each_verdict_and_hint_as_a_table_and_as_text(mine):
    (shown,) = outputs(mine.parent, ASKING)
    html, text = shown.data["text/html"], shown.data["text/plain"]
    assert html.count("<tr>") == 1 + 18 and html.count("passed</b>") < 18
    rows = re.findall(r"^  (passed|failed|error)  +[\d.]+  (.+)$", text, re.MULTILINE)
    assert len(rows) == 18 and {state for state, _ in rows} <= {"failed", "passed"}
    assert [state for state, _ in rows].count("failed") > 7
    assert "have hidden lines, too" in text and "have hidden lines, too" in html
    assert "Checked as it was saved at " in text and "changed since" not in text


@pytest.mark.slow
def test_a_notebook_that_was_not_saved_is_said_to_be_older(mine):
    (shown,) = outputs(mine.parent, "import viva\nviva.check()")
    assert shown.output_type == "execute_result"
    assert "It was changed since; save it, then check again." in shown.data["text/plain"]


@pytest.mark.slow
def test_of_several_notebooks_the_servers_and_vs_codes_word_or_a_name_says_which(mine):
    other = shutil.copy(mine, mine.with_name("other.ipynb"))
    (shown,) = outputs(mine.parent, ASKING)
    assert shown.text == "The name of this notebook is unknown. Name it, as in: %viva_check scaled_attention.ipynb\n"
    (shown,) = outputs(mine.parent, ASKING, JPY_SESSION_NAME=str(other))
    assert shown.data["text/plain"].splitlines()[0].strip() and "Checked as" in shown.data["text/plain"]
    (shown,) = outputs(mine.parent, f"__vsc_ipynb_file__ = {str(other)!r}\n{ASKING}")
    assert "Checked as" in shown.data["text/plain"]
    (shown,) = outputs(mine.parent, "%load_ext viva\n%viva_check there_is_none.ipynb")
    assert shown.text == "The file there_is_none.ipynb does not exist.\n"


@pytest.mark.slow
def test_the_check_imports_no_module_from_the_folder_of_the_notebook(mine, monkeypatch):
    for name in ("viva", "json", "signal", "numpy", "rich", "sitecustomize"):
        mine.with_name(f"{name}.py").write_text("open('RAN', 'w').close()\nraise SystemExit(3)\n")
    monkeypatch.chdir(mine.parent)
    assert len(_checked(mine).checks) == 18 and not mine.with_name("RAN").exists()


@pytest.mark.slow
@pytest.mark.parametrize("portable", ["0", "1"])
def test_a_notebook_that_asks_for_its_own_check_is_checked_once(mine, portable):
    notebook = nbformat.read(mine, as_version=4)
    notebook.cells.insert(2, new_code_cell("import viva\nviva.check()", id="again"))
    nbformat.write(notebook, mine)
    (shown,) = outputs(mine.parent, ASKING, VIVA_PORTABLE=portable)
    assert "have hidden lines, too" in shown.data["text/plain"]


def test_what_a_check_says_is_text_and_no_markup():
    row = {
        "heading": "<b>",
        "state": "failed",
        "word": "failed",
        "points": 1,
        "title": "<script>",
        "lines": ["<img src=x>"],
    }
    html = Report("<i>", [], ["<u>"], ["<p>"], [row])._repr_html_()
    assert not [tag for tag in ("<script", "<img", "<u>", "<i>", "<p>") if tag in html]


@pytest.mark.usefixtures("processes")
def test_the_button_checks_the_file_that_was_saved_just_now_and_no_older_one(mine, monkeypatch):
    monkeypatch.setenv("JPY_SESSION_NAME", str(mine))
    older = check_for_panel(mine.name, mine.stat().st_mtime + 60).document
    assert older["sentence"].startswith("The saved file mine.ipynb is not in the folder of the kernel, ")
    mine.write_text("no notebook")
    assert (
        check_for_panel(mine.name, mine.stat().st_mtime).document["sentence"].startswith("mine.ipynb is not a notebook")
    )


@pytest.mark.slow
def test_the_newest_fetched_page_has_the_score_in_its_title(course, viva, tmp_path):
    hand_in(course, "anna", answer="right/loops")
    for command in ("grade", "feedback"):
        assert viva(command, SHORT).status == 0
    (page,) = (course / "feedback" / "anna" / SHORT).glob("*.html")
    notebook = tmp_path / f"{page.stem}.ipynb"
    assert last_feedback(notebook) is None
    for time, text in {"2026-10-19 12:00:00 UTC": page.read_text(), "2026-10-12 12:00:00 UTC": "<p>older"}.items():
        (tmp_path / "feedback" / time).mkdir(parents=True)
        (tmp_path / "feedback" / time / page.name).write_text(text)
    newest = last_feedback(notebook)
    assert newest["path"] == f"feedback/2026-10-19 12:00:00 UTC/{page.name}"
    assert re.fullmatch(r"Feedback on .+: \d+ of 25 points", newest["title"]), newest
