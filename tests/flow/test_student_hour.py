"""A student's hour in the real JupyterLab: an answer is typed, validated, found wrong, mended, and found right."""

from __future__ import annotations

import shutil
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.conftest import PROJECT, SHORT
from tests.flow.jupyter import served
from viva_audit.answers import read_answer

pytestmark = [pytest.mark.xdist_group("browser"), pytest.mark.slow]

NOTEBOOK = "scaled_attention.ipynb"


def code(known: str) -> dict[str, str]:
    """By cell, what a known answer writes."""
    sections = read_answer(PROJECT / "answers" / SHORT / f"{known}.py").sections
    return {name: section.source for name, section in sections.items() if section.type == "code"}


@pytest.fixture(scope="module")
def desk(tmp_path_factory) -> Path:
    """A student's folder: the released assignment and nothing else."""
    folder = tmp_path_factory.mktemp("student") / "desk"
    shutil.copytree(PROJECT / "release" / SHORT, folder / SHORT)
    return folder


@pytest.fixture
def notebook(browser, desk) -> Page:
    with served(desk) as address:  # a screen so high that JupyterLab keeps every cell on the page
        at = urlsplit(address)
        page = browser.new_context(viewport={"width": 1400, "height": 16_000}).new_page()
        page.goto(f"{at.scheme}://{at.netloc}/lab/tree/{SHORT}/{NOTEBOOK}?{at.query}")
        expect(page.locator(".jp-CodeCell").first).to_be_visible(timeout=60_000)
        yield page
        page.context.close()


def cell(page: Page, name: str) -> Locator:
    return page.locator(".jp-CodeCell").filter(has_text=f"def {name}(").first


def write(page: Page, name: str, source: str) -> None:
    """Replace the text of an answer cell, as someone would who pastes it."""
    place = cell(page, name)
    place.scroll_into_view_if_needed()
    place.locator(".cm-content").click()
    page.keyboard.press("Control+a")
    page.keyboard.insert_text(source)


def run_all(page: Page) -> None:
    page.get_by_role("menuitem", name="Run", exact=True).click()
    page.get_by_role("menuitem", name="Run All Cells", exact=True).click()
    expect(page.get_by_text("| Idle")).to_be_visible(timeout=60_000)


def validate(page: Page) -> str:
    """What nbgrader's button says."""
    page.get_by_role("button", name="Validate").first.click()
    dialog = page.locator(".jp-Dialog").filter(has_text="Validation")
    expect(dialog).to_be_visible(timeout=120_000)
    text = dialog.inner_text()
    dialog.get_by_role("button").last.click()
    return text


def test_a_wrong_answer_gets_a_hint_and_a_mended_one_passes(notebook):
    for name, source in code("wrong/softmax_along_rows").items():
        write(notebook, name, source)
    run_all(notebook)
    hint = "Along which direction does equation (5) sum?"
    expect(notebook.locator(".jp-OutputArea-output").filter(has_text=hint).first).to_be_attached(timeout=60_000)
    said = validate(notebook)
    assert "failed" in said and hint in said
    for name, source in code("right/einsum").items():
        write(notebook, name, source)
    run_all(notebook)
    assert "Success" in validate(notebook)
