"""The docs are short, and nothing that a person needs was lost: each question is answered, on exactly one page."""

from __future__ import annotations

import tomllib

import pytest

from tests.conftest import PROJECT

QUESTIONS = tomllib.loads((PROJECT / "tests" / "docs_questions.toml").read_text(encoding="utf-8"))
PAGES = {
    str(path.relative_to(PROJECT)): " ".join(path.read_text(encoding="utf-8").split())
    for pattern in ("docs/*.md", "viva/*/README.md", "plugins/*/*/README.md")
    for path in sorted(PROJECT.glob(pattern))
}
"""The text of each page that a person reads, without generated ones, with one space between two words."""
ASKED = [(page, question, words) for page, answers in QUESTIONS.items() for question, words in answers.items()]


@pytest.mark.parametrize(("page", "question", "words"), ASKED, ids=[question for _, question, _ in ASKED])
def test_a_question_is_answered_on_exactly_one_page(page, question, words):
    assert [name for name, text in PAGES.items() if words in text] == [page], f"{question} {words}"


def test_the_list_of_questions_is_long_enough_to_hold_the_pages():
    assert len(ASKED) >= 120
