"""A grader comments once for answers that are alike, in a real browser."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from plugins.diagnosis.tests.course import NAME
from tests.browser import barriers
from tests.conftest import BIN, load
from tests.flow.jupyter import logged_in, served

pytestmark = [pytest.mark.xdist_group("diagnosis"), pytest.mark.slow, pytest.mark.timeout(900)]
ZERO = "* -1: Say why the numbers lie around zero. [zero]"
RUBRIC = f"""[[item]]
key = "zero"
points = -1
text = "{ZERO.removeprefix("* -1: ").removesuffix(" [zero]")}"
cell = "why"
"""


@pytest.fixture(scope="module")
def course(means, tmp_path_factory) -> Path:
    root = tmp_path_factory.mktemp("alike") / "course"
    shutil.copytree(means, root)
    (root / "rubrics").mkdir()
    (root / "rubrics" / f"{NAME}.toml").write_text(RUBRIC)
    subprocess.run([BIN / "viva", "diagnose", NAME, "--no-mutants"], cwd=root, check=True, capture_output=True)
    return root


@pytest.fixture
def page(course, browser) -> Iterator[Page]:
    with served(course) as address, logged_in(browser, address) as page:
        yield page


def open_answer(page: Page, root: Path, student: str) -> None:
    with load(root)[0].gradebook() as gradebook:
        key = gradebook.find_submission_notebook("means", NAME, student).id
    page.goto(f"{page.server}/formgrader/submissions/{key}/")
    page.wait_for_load_state("networkidle")


def saved(root: Path, student: str, cell: str = "why") -> tuple[str | None, float | None]:
    with load(root)[0].gradebook() as gradebook:
        comment = gradebook.find_comment(cell, "means", NAME, student).manual_comment
        score = gradebook.find_grade(cell, "means", NAME, student).manual_score if cell == "why" else None
        return comment, score


def group(page: Page, cell: str):
    return page.locator(f".nbgrader_cell:has(#{cell}-comment) .viva-group")


def test_a_rubric_item_goes_to_a_group_without_whom_the_grader_takes_out_and_is_taken_back_in_one_step(course, page):
    open_answer(page, course, "anna")
    page.locator("#why").focus()
    page.keyboard.press("Alt+1")
    expect(page.locator("#why-comment")).to_have_value(ZERO)
    alike = group(page, "why")
    expect(alike.locator("summary")).to_have_text("Answers like this one: 2")
    alike.locator("summary").click()
    expect(alike.locator("pre").first).to_contain_text("lie around zero")
    alike.get_by_role("checkbox").nth(1).uncheck()
    alike.get_by_role("button", name="Give the comment to 1 answer").click()
    expect(alike.get_by_role("status")).to_contain_text("1 answer got the comment.")
    assert saved(course, "anna") == saved(course, "carl") == (ZERO, 1.0)
    assert saved(course, "fay") == saved(course, "dora") == saved(course, "bo") == (None, None)
    alike.get_by_role("button", name="Take it back").click()
    expect(alike.get_by_role("status")).to_have_text("Removed from 1 answer.")
    assert saved(course, "carl") == (None, None)
    assert saved(course, "anna") == (ZERO, 1.0)


def test_answers_of_code_that_make_the_same_mistake_get_one_comment(course, page):
    open_answer(page, course, "bo")
    expect(page.locator(".viva-added").first).to_contain_text("The same in 1 other answer.")
    alike = group(page, "centred")
    alike.locator("summary").click()
    alike.get_by_role("button", name="Give the comment").click()
    expect(alike.get_by_role("status")).to_have_text("Nothing was written. Write the comment first.")
    page.locator("#centred-comment").fill("Read again what a mean is.")
    alike.get_by_role("button", name="Give the comment").click()
    expect(alike.get_by_role("status")).to_contain_text("1 answer got the comment.")
    assert saved(course, "fay", "centred")[0] == "Read again what a mean is."
    assert saved(course, "dora", "centred")[0] is None


def test_the_server_gives_a_comment_to_nobody_outside_of_the_group(course, page):
    open_answer(page, course, "anna")
    page.locator("#why-comment").fill("Only for some.")
    page.locator("#why").focus()
    with load(course)[0].gradebook() as gradebook:
        outside = gradebook.find_submission_notebook("means", NAME, "emil").id
    page.wait_for_function("() => !unsaved.size")
    answer = page.evaluate(
        """async to => {
            const url = `${base_url}/viva/group/${submission_id}`;
            return (await request(url, "POST", {cell: "why", to})).json();
        }""",
        [outside],
    )
    assert answer == {"result": []}
    assert saved(course, "anna")[0] == "Only for some."
    assert saved(course, "emil") == (None, None)


def test_axe_finds_no_barrier_in_what_viva_adds_to_formgraders_page_and_in_its_lists(course, page):
    open_answer(page, course, "anna")
    page.locator("#why").focus()
    page.locator("#why").fill("7")
    page.keyboard.press("Tab")
    # The page may also say that another grader, the one of the test before, has the answer open.
    expect(page.locator(".viva-told").filter(has_text="Not saved")).to_be_visible()
    group(page, "why").locator("summary").click()
    parts = [".viva-queue", ".viva-group", ".viva-items", ".viva-added", ".viva-told", ".viva-question-left"]
    assert [barrier for part in parts for barrier in barriers(page, part)] == []
    page.goto(f"{page.server}/formgrader/viva/")
    assert barriers(page) == []
