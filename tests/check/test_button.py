"""The button "Check" in the real JupyterLab and Notebook 7, in a real browser."""

from __future__ import annotations

import json
import os
import re
import sys
from pathlib import Path
from urllib.parse import urlsplit

import nbformat
import pytest
from playwright.sync_api import Page, expect

from tests.browser import CONTRAST, barriers
from tests.conftest import PROJECT, SHORT
from tests.flow.jupyter import served
from tests.flow.test_known_answers import notebooks
from viva.doors import wheel
from viva_audit.answers import fill_in, read_answer

pytestmark = [pytest.mark.xdist_group("browser"), pytest.mark.slow, pytest.mark.timeout(600)]

NAME = "scaled_attention.ipynb"
PLACES = {"lab": "lab/tree", "notebook": "notebooks"}
WAITING = """import os, time
while not os.path.exists("go"):
    time.sleep(0.1)"""
LAUNCH = "from ipykernel.kernelapp import launch_new_instance; launch_new_instance()"
KERNELS = {
    "bare": ("python", "import sys; sys.modules['viva_check'] = None; "),
    "other": ("julia", ""),
}
"""By name, what a kernel says that it runs, and what it does first."""


def student_notebook(folder: Path, answer: str = "wrong/softmax_along_rows", kernel: str = "python3") -> Path:
    blueprint, release = notebooks(SHORT)
    notebook = fill_in(read_answer(PROJECT / "answers" / SHORT / f"{answer}.py"), release, blueprint)
    notebook.metadata["kernelspec"] = {"name": kernel, "display_name": kernel, "language": "python"}
    folder.mkdir()
    nbformat.write(notebook, folder / NAME)
    return folder / NAME


@pytest.fixture(scope="module")
def desk(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("student") / "desk"


@pytest.fixture(scope="module")
def server(desk):
    """The address and the token of a server with the button as it lies in the project, and two odd kernels."""
    data = desk.parent / "data"
    for name, (language, first) in KERNELS.items():
        (data / "kernels" / name).mkdir(parents=True)
        about = {"argv": [sys.executable, "-c", first + LAUNCH, "-f", "{connection_file}"], "language": language}
        (data / "kernels" / name / "kernel.json").write_text(json.dumps(about | {"display_name": name}))
    desk.mkdir()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JUPYTERLAB_WORKSPACES_DIR", str(data / "workspaces"))  # JupyterLab opens again what was open
        patch.setenv("JUPYTER_PATH", os.pathsep.join(map(str, (PROJECT / "student" / "share" / "jupyter", data))))
        with served(desk) as address:
            yield urlsplit(address)


@pytest.fixture
def opened(browser, server, desk, request):
    pages = []

    def open_notebook(path: Path, place: str) -> Page:
        page = browser.new_context(viewport={"width": 1300, "height": 800}).new_page()
        pages.append(page)
        at = f"{PLACES[place]}/{path.relative_to(desk)}"
        page.goto(f"{server.scheme}://{server.netloc}/{at}?reset&{server.query}")  # nothing of the test before
        expect(page.locator(".jp-CodeCell").first).to_be_visible()
        return page

    yield open_notebook
    for page in pages:
        page.context.close()


def press(page: Page) -> None:
    page.locator(".jp-NotebookPanel-toolbar").get_by_role("button", name="Check", exact=True).click()


def panel(page: Page):
    return page.get_by_role("region", name="Check")


def said(page: Page, sentence: str | re.Pattern) -> None:
    expect(panel(page).get_by_role("status")).to_contain_text(sentence, timeout=120_000)


def write(page: Page, name: str, source: str) -> None:
    place = page.locator(".jp-CodeCell").filter(has_text=f"def {name}(").first
    place.scroll_into_view_if_needed()
    place.locator(".cm-content").click()
    page.keyboard.press("Control+a")
    page.keyboard.insert_text(source)


@pytest.mark.parametrize("place", PLACES)
def test_the_button_shows_what_fails_leads_to_the_cell_and_then_passes(opened, desk, place):
    path = student_notebook(desk / place)
    cells = json.loads(path.read_text())["cells"]
    page = opened(path, place)
    press(page)
    said(page, re.compile(r"\d of 18 visible checks pass"))
    failed = panel(page).get_by_role("listitem").filter(has_text="failed")
    assert failed.count() > 2
    expect(panel(page)).to_contain_text("Along which direction does equation (5) sum?")
    link = panel(page).get_by_role("button", name="Cell test_scaled_attention", exact=True)
    link.focus()
    page.keyboard.press("Enter")
    active = page.locator(".jp-Cell.jp-mod-active")
    expect(active).to_contain_text("scaled_dot_product_self_attention")
    expect(active).to_be_in_viewport()
    assert page.evaluate("document.activeElement.closest('.jp-Notebook') !== null")
    for name, section in read_answer(PROJECT / "answers" / SHORT / "right/einsum.py").sections.items():
        if section.type == "code":
            write(page, name, section.source)
    press(page)
    said(page, "18 of 18 visible checks pass")
    now = json.loads(path.read_text())["cells"]
    assert [cell["cell_type"] for cell in now] == [cell["cell_type"] for cell in cells], "no cell was added"
    assert not [cell for cell in now if cell.get("outputs") or cell.get("execution_count")]


def test_an_error_and_a_feedback_page_are_links_and_no_text_becomes_markup(opened, desk, home):
    path = student_notebook(desk / "strange")
    notebook = nbformat.read(path, as_version=4)
    (answer,) = [cell for cell in notebook.cells if cell.id == "self_attention"]
    answer.source = "def self_attention(*inputs):\n    raise RuntimeError('<img src=x alt=RAN>')"
    nbformat.write(notebook, path)
    page_of_feedback = path.parent / "feedback" / "2026-10-19 12:00:00.000000 UTC" / f"{path.stem}.html"
    page_of_feedback.parent.mkdir(parents=True)
    page_of_feedback.write_text("<title>Feedback on A &lt;b&gt;: 3 of 30 points</title><h1>the page itself</h1>")
    settings = home / ".jupyter/lab/user-settings/@jupyterlab/apputils-extension/themes.jupyterlab-settings"
    settings.parent.mkdir(parents=True, exist_ok=True)
    settings.write_text('{"theme": "JupyterLab Dark"}')
    page = opened(path, "lab")
    theme = page.locator("body[data-jp-theme-name]")
    for _ in range(5):  # JupyterLab takes its usual theme where another is not there within a second and a half
        theme.wait_for(state="attached")
        if theme.get_attribute("data-jp-theme-name") == "JupyterLab Dark":
            break
        page.reload()
    press(page)
    said(page, "of 18 visible checks pass")
    expect(panel(page)).to_contain_text("<img src=x alt=RAN>")
    assert panel(page).locator("img, b").count() == 0
    panel(page).get_by_role("button", name="Go to self_attention", exact=True).first.click()
    expect(page.locator(".jp-Cell.jp-mod-active")).to_contain_text("raise RuntimeError")
    expect(page.locator("body")).to_have_attribute("data-jp-theme-name", "JupyterLab Dark")
    assert page.evaluate(CONTRAST.replace("'body *'", "'#nbviva-check *'")) == []
    assert barriers(page, "#nbviva-check") == []
    panel(page).get_by_role("button", name="Feedback on A <b>: 3 of 30 points").click()
    expect(page.frame_locator("iframe.jp-HTMLViewer-iframe, .jp-HTMLViewer iframe").first.locator("h1")).to_have_text(
        "the page itself"
    )


@pytest.mark.parametrize("kernel", KERNELS)
def test_a_kernel_that_cannot_check_gets_a_sentence(opened, desk, kernel):
    page = opened(student_notebook(desk / kernel, kernel=kernel), "notebook" if kernel == "bare" else "lab")
    press(page)
    sentences = {
        "bare": "This kernel does not have Viva. Put the wheel from your instructor beside this notebook and run this "
        f"in a cell: %pip install {wheel('nbviva-check')}. Then press Check.",
        "other": "The kernel of this notebook runs julia. Only Python can be checked.",
    }
    said(page, sentences[kernel])


def test_a_busy_kernel_is_waited_for_and_a_lost_one_is_named(opened, desk):
    path = student_notebook(desk / "busy")
    notebook = nbformat.read(path, as_version=4)
    notebook.cells.insert(0, nbformat.v4.new_code_cell(WAITING, id="wait"))
    nbformat.write(notebook, path)
    page = opened(path, "lab")

    def run_the_first_cell() -> None:
        expect(page.get_by_text("| Idle")).to_be_visible()
        page.locator(".jp-CodeCell .cm-content").first.click()
        page.keyboard.press("Control+Enter")
        expect(page.get_by_text("| Busy")).to_be_visible()

    def choose(item: str) -> None:
        page.get_by_role("menuitem", name="Kernel", exact=True).click()
        page.get_by_role("menuitem", name=item).click()

    run_the_first_cell()
    press(page)
    said(page, "The kernel is busy. The check begins when it is free.")
    (path.parent / "go").touch()
    said(page, "of 18 visible checks pass")
    (path.parent / "go").unlink()
    run_the_first_cell()
    press(page)
    said(page, "The kernel is busy.")
    choose("Shut Down Kernel")
    said(page, "The check did not finish, because the kernel ended or was restarted. Press Check again.")
    press(page)
    said(page, "This notebook has no kernel.")


def test_the_environment_of_make_setup_has_the_button():
    place = Path("share", "jupyter", "labextensions", "nbviva-check")
    assert (Path(sys.prefix) / place).resolve() == PROJECT / "student" / place, "run: make setup"
