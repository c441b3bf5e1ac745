"""A grader's evening in the browser: from the report to the first answer that waits, and on to the student's page."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.conftest import BIN, SHORT, hand_in, load
from tests.flow.jupyter import logged_in, served
from tests.flow.test_formgrader import NOTEBOOK, TASK

pytestmark = [pytest.mark.xdist_group("browser"), pytest.mark.slow]

COMMENT = "The first part is right. What do the encodings change?"


@pytest.fixture(scope="module")
def graded(released, tmp_path_factory) -> Path:
    """A course with two students, graded but for what a person grades."""
    root = tmp_path_factory.mktemp("evening") / "course"
    shutil.copytree(released, root)
    hand_in(root, "ada", answer="right/einsum")
    hand_in(root, "grace", answer="right/loops")
    viva(root, "grade", SHORT)
    return root


def viva(root: Path, *step: str) -> None:
    subprocess.run([BIN / "viva", *step], cwd=root, check=True, stdout=subprocess.DEVNULL)


@pytest.fixture
def page(browser, graded) -> Iterator[Page]:
    with served(graded) as address, logged_in(browser, address) as page:
        yield page


def test_a_score_given_on_the_reports_word_outlives_a_regrade_and_reaches_the_student(graded, page):
    viva(graded, "report", SHORT, f"--server={page.server}")
    page.goto((graded / "report" / "index.html").as_uri())
    link = page.locator(f"a[href^='{page.server}/formgrader/viva/first/']").first
    expect(link).to_be_visible()
    page.goto(link.get_attribute("href"))

    score = page.locator(f"#{TASK}")
    expect(score).to_be_focused()
    expect(score).to_have_class(re.compile("needs_manual_grade"))  # until then formgrader may write over what is typed
    page.wait_for_load_state("networkidle")
    page.keyboard.type("4.5")
    with page.expect_response(lambda answer: "/api/grade/" in answer.url):
        page.keyboard.press("Tab")
    page.keyboard.type(COMMENT)
    with page.expect_response(lambda answer: "/api/comment/" in answer.url):
        page.keyboard.press("Tab")

    (student,) = by_hand(graded)
    viva(graded, "regrade", SHORT, "--no-audit")
    assert by_hand(graded) == {student: (4.5, COMMENT)}

    viva(graded, "feedback", SHORT)
    page.goto((graded / "feedback" / student / SHORT / f"{NOTEBOOK}.html").as_uri())
    expect(page.get_by_text(COMMENT).first).to_be_visible()
    (other,) = {"ada", "grace"} - {student}
    page.goto((graded / "feedback" / other / SHORT / f"{NOTEBOOK}.html").as_uri())
    expect(page.get_by_text(COMMENT)).to_have_count(0)


def by_hand(root: Path) -> dict[str, tuple[float, str]]:
    """By student, the score and the comment that a person gave to the written question."""
    found = {}
    with load(root)[0].gradebook() as gradebook:
        for student in ("ada", "grace"):
            grade = gradebook.find_grade(TASK, NOTEBOOK, SHORT, student)
            if grade.manual_score is not None:
                comment = gradebook.find_comment(TASK, NOTEBOOK, SHORT, student)
                found[student] = grade.manual_score, comment.manual_comment
    return found
