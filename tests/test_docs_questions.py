"""The docs are short, and nothing that a person needs was lost: each question is answered, on exactly one page."""

from __future__ import annotations

import runpy
import tomllib

import pytest

from tests.conftest import PROJECT

COUNTING = runpy.run_path(str(PROJECT / "docs" / "count.py"))
QUESTIONS = tomllib.loads((PROJECT / "tests" / "docs_questions.toml").read_text(encoding="utf-8"))
PAGES = {name: " ".join(text.split()) for name, text in COUNTING["pages"]().items()}
"""The text of each page that a person reads, with one space between two words."""
ASKED = [(page, question, words) for page, answers in QUESTIONS.items() for question, words in answers.items()]
MOST, OF_A_PAGE = 24_000, 1_500
"""Words of all pages, and of one page."""


@pytest.mark.parametrize(("page", "question", "words"), ASKED, ids=[question for _, question, _ in ASKED])
def test_a_question_is_answered_on_exactly_one_page(page, question, words):
    assert [name for name, text in PAGES.items() if words in text] == [page], f"{question} {words}"


def test_the_list_of_questions_is_long_enough_to_hold_the_pages():
    assert len(ASKED) >= 120


def test_the_pages_stay_short():
    counts = {name: COUNTING["count"](text) for name, text in PAGES.items()}
    assert sum(counts.values()) <= MOST
    assert [name for name, words in counts.items() if words > OF_A_PAGE] == []
