"""The check speaks the language of the course, which the released notebook names."""

from __future__ import annotations

import contextlib
import copy
import re
import runpy

import pytest

from tests.check.test_causes import CHAIN, ONE_CAUSE, add, changed, check, delete
from tests.check.test_selfcheck import filled
from tests.conftest import PROJECT
from viva import language, wording
from viva.engine.grading import Grader
from viva.record import Note
from viva.submission.studentcopy import describe, language_for, open_copy
from viva_check import selfcheck
from viva_check.checkcommand import CheckCommand
from viva_check.notebook import Report

OTHERS = [tag for tag in language.BUILTIN if tag != "en"]


@pytest.fixture(scope="module")
def own_grader():
    with contextlib.closing(Grader(libraries=("numpy", "matplotlib.pyplot"))) as grader:
        yield grader


def released(tag: str):
    notebook = copy.deepcopy(filled(CHAIN, "right/loops")[0])
    notebook.metadata.viva.check["language"] = tag
    return notebook


def test_a_release_names_the_language_of_its_course_unless_it_is_english():
    notebook = filled(CHAIN, "right/loops")[0]
    known = open_copy(copy.deepcopy(notebook)).examination
    assert "language" not in describe(notebook, known, 30.0)
    assert describe(notebook, known, 30.0, language=language.named("fr"))["language"] == "fr"


@pytest.mark.parametrize("tag", ["xx", 3, None, ["de"], "../de"])
def test_a_language_that_is_not_installed_is_english(tag):
    assert language_for(released(tag)).is_english


def test_every_cause_has_a_remedy_and_both_are_said_in_every_language():
    kinds = {key.removeprefix("lost.") for key in language.required() if key.startswith("lost.")}
    assert kinds == selfcheck.REMEDIES.keys()
    for tag in language.BUILTIN:
        for kind in kinds:
            what, _, remedy = selfcheck._lines(
                Note(kind, cells=("f",), numbers=(3,), names=("a", "b", "c"), amount=2), language.named(tag)
            )
            assert what and remedy and "{" not in what + remedy


def words_of(lines: list[str]) -> set[str]:
    return {line.strip() for line in lines if re.search(r"[a-z]{3}", line)}


@pytest.mark.parametrize("tag", OTHERS)
@pytest.mark.usefixtures("processes")
def test_no_english_line_is_left_in_a_check_in_another_language(tag, own_grader, tmp_path, capsys):
    def change(notebook):
        ONE_CAUSE["a syntax error"][0](notebook)
        delete("attention_map", "test_matrices")(notebook)
        add("general_attention", "open('/etc/nothing')")(notebook)

    said = {}
    for spoken in ("en", tag):
        path = changed(released(spoken), change, tmp_path)
        opened, tried = check(path, own_grader)
        CheckCommand()._print(path, opened, tried)
        rows = [vars(row) for row in selfcheck.rows(tried, opened.language)]
        report = Report("mine", [], opened.remarks, [], rows, opened.language)
        said[spoken] = capsys.readouterr().out.splitlines(), report._repr_html_(), opened, tried
    (english, _, _, _), (other, html, opened, tried) = said["en"], said[tag]
    headings = {row.heading for row in selfcheck.rows(tried, opened.language)}
    own = {"query_4 = times(word_4, W_Q", "open('/etc/nothing')"}
    titles = {one.title for one in tried}
    left = words_of(english) & words_of(other) - headings - own - titles
    assert left == set()
    assert f"<div lang='{language.named(tag).html}'>" in html
    assert language.named(tag).text("state.not_checked") in "\n".join(other)


def test_the_button_has_the_sentences_of_the_files_of_words():
    script = runpy.run_path(str(PROJECT / "student" / "button_words.py"))
    text = script["SCRIPT"].read_text(encoding="utf-8")
    assert script["with_words"](text) == text, "run: .venv/bin/python student/button_words.py"
    used = set(re.findall(r"\bwords\.(\w+)", text)) - {"html", "point", "py"}
    assert used == {key.removeprefix("button.") for key in language.ENGLISH.pages if key.startswith("button.")}


def test_a_language_that_lacks_a_sentence_of_the_check_says_it_in_english():
    spoken = language.read("tlh", '[lost]\ncell_killed = "{the_cell} Heghpu"')
    assert spoken.text("check.as_above") == "as above"
    assert (
        wording.sentence(Note("cell_unfinished", cells=("f",)), wording.STUDENT, spoken)
        == "the cell 'f' did not finish"
    )
