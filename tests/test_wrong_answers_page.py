"""The page of the docs that shows the known mistakes of an assignment. CI builds the site without them (FAST=1)."""

from __future__ import annotations

import re
import shutil

import pytest

from docs import generate
from tests.conftest import PROJECT
from viva_audit.answers import read_answers

SOURCE = "ps1_general_attention"


@pytest.mark.slow
def test_each_wrong_answer_is_shown_with_its_lines_and_the_checks_that_it_loses(tmp_path, monkeypatch):
    monkeypatch.delenv("FAST", raising=False)
    monkeypatch.setattr(generate, "PROJECT", tmp_path)
    for folder in ("source", "release"):
        shutil.copytree(PROJECT / folder / SOURCE, tmp_path / folder / SOURCE)
    (tmp_path / "answers" / SOURCE / "wrong").mkdir(parents=True)
    for path in sorted((PROJECT / "answers" / SOURCE / "wrong").glob("*.py"))[:5]:
        shutil.copy(path, tmp_path / "answers" / SOURCE / "wrong")
    page = generate.wrong_answers(SOURCE, tmp_path / "page.md")
    wrong = read_answers(tmp_path / "answers" / SOURCE)
    parts = re.split(r"^## ", page, flags=re.MULTILINE)[1:]
    assert [part.partition("\n")[0] for part in parts] == [answer.name.replace("_", " ") for answer in wrong]
    for answer, part in zip(wrong, parts, strict=True):
        assert answer.summary in part
        assert re.search(r"^- `\w+`, .+: \*.+\*$", part, re.MULTILINE), part  # a check that is lost, with its reason


def test_a_page_is_not_graded_again_where_fast_is_set_and_stays_as_it_is(tmp_path, monkeypatch):
    monkeypatch.setenv("FAST", "1")
    assert "Not graded: FAST=1 was set." in generate.wrong_answers(SOURCE, tmp_path / "page.md")
    (tmp_path / "page.md").write_text("% made from 0\n\n# ps8\n")
    assert generate.wrong_answers(SOURCE, tmp_path / "page.md") == "% made from 0\n\n# ps8\n"
