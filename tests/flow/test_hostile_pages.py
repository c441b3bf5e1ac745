"""A hostile submission in formgrader and in its feedback: nothing runs, leaves, or covers what the grader needs."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from urllib.parse import urlsplit

import nbformat
import pytest
from nbconvert.exporters import HTMLExporter
from nbformat.v4 import new_notebook
from nbgrader.server_extensions.formgrader import handlers
from playwright.sync_api import Page, expect
from traitlets.config import Config

from tests import hostile
from tests.conftest import BIN, SHORT, hand_in, load
from tests.flow.test_formgrader import MATHJAX, NOTEBOOK, TASK, browser, served
from viva.gradebook.results import Results

__all__ = ["browser"]
pytestmark = [pytest.mark.xdist_group("browser"), pytest.mark.slow]

STUDENT = "mallory"


def hand_in_hostile(root: Path) -> None:
    """A right notebook, with every hostile thing in a cell or an output of its own."""
    path = hand_in(root, STUDENT, answer="right/einsum")
    notebook = nbformat.read(path, as_version=4)
    notebook.cells[3:3] = hostile.notebook_cells()
    for cell in notebook.cells:
        if cell.id == "why_equivariant_answer":
            cell.source = "\n\n".join([*hostile.MARKDOWN.values(), hostile.HTML["handler"]])
    notebook.metadata.title = f"</title><script>{hostile.run('title')}</script>"
    notebook.metadata.widgets = {"application/vnd.jupyter.widget-state+json": {"state": {"m": {}}}}
    nbformat.write(notebook, path)


@pytest.fixture(scope="module")
def graded(released, browser, tmp_path_factory) -> Path:
    root = tmp_path_factory.mktemp("hostile") / "course"
    shutil.copytree(released, root)
    hand_in_hostile(root)
    for step in ("grade", "feedback"):
        subprocess.run([BIN / "viva", step, SHORT], cwd=root, check=True, stdout=subprocess.DEVNULL)
    return root


@pytest.fixture(scope="module")
def address(graded):
    with served(graded) as printed:
        yield printed


@pytest.fixture
def watched(browser):
    """A page without a network, and what it asked for, said and opened."""
    context = browser.new_context(viewport={"width": 1400, "height": 1000})
    page = context.new_page()
    page.seen = []

    def keep_in(route):
        if "mathjax" in route.request.url:
            route.fulfill(content_type="text/javascript", body=MATHJAX)
        else:
            page.seen.append(route.request.url)
            route.abort()

    context.route(lambda url: url.startswith("http") and urlsplit(url).hostname != "localhost", keep_in)
    page.on("dialog", lambda dialog: (page.seen.append(f"dialog {dialog.message}"), dialog.dismiss()))
    context.on("page", lambda opened: page.seen.append(f"opened {opened.url}"))
    yield page
    context.close()


def ran(page: Page) -> list[str]:
    return page.evaluate("window.ran || []")


def click_links(page: Page) -> None:
    """Click what a student wrote and calls itself a solution, wherever it would lead."""
    page.evaluate("document.querySelectorAll('.cell a').forEach(a => a.textContent == 'solution' && a.click())")


OUTSIDE = """() => {
  const far = [];
  for (const cell of document.querySelectorAll('.cell')) {
    const box = cell.getBoundingClientRect();
    for (const inner of cell.querySelectorAll('*')) {
      const own = inner.getBoundingClientRect(), style = getComputedStyle(inner);
      if (!own.width || !own.height) continue;
      const away = own.top < box.top - 2 || own.bottom > box.bottom + 2;
      if (style.position == 'fixed' || style.position == 'sticky' || away) far.push(inner.outerHTML.slice(0, 200));
    }
  }
  return far;
}"""
"""The elements of cells that are above or below their cell, or stay where they are when the page moves."""

COVERED = """() => [...document.querySelectorAll('.score, .comment, .scoring-buttons button')].filter(field => {
  if (!field.offsetParent) return false;
  field.scrollIntoView({block: 'center'});
  const box = field.getBoundingClientRect();
  return document.elementFromPoint(box.left + box.width / 2, box.top + box.height / 2) !== field;
}).map(field => field.id || field.className)"""
"""The fields and buttons of formgrader that something else lies on."""


def test_formgraders_page_of_the_same_cells_runs_their_scripts_unless_the_step_stands_before_it(watched, tmp_path):
    config = Config()
    config.HTMLExporter.template_name = "formgrade"
    config.HTMLExporter.extra_template_basedirs = [handlers.template_path]
    for steps in ([], ["viva.sanitize.Sanitize"]):
        config.HTMLExporter.preprocessors = steps
        notebook = new_notebook(cells=hostile.notebook_cells(), metadata={"title": "</title><script>"})
        if not steps:  # what nbconvert refuses to show or warns of, and what leaves the page
            refused = ("attachment:", "widget-view", "vegalite", "http-equiv")
            notebook.cells = [cell for cell in notebook.cells if not any(word in cell.source for word in refused)]
        resources = {"base_url": "", "index": 0, "total": 1}
        page, _ = HTMLExporter(config=config).from_notebook_node(notebook, resources=resources)
        (tmp_path / "page.html").write_text(page, encoding="utf-8")
        watched.seen.clear()
        watched.goto((tmp_path / "page.html").as_uri())
        if steps:
            assert (ran(watched), watched.seen) == ([], [])
        else:
            assert {"script", "handler", "width", "markdown", "mermaid"} <= set(ran(watched))
            assert f"{hostile.ELSEWHERE}script" in watched.seen


def test_in_formgrader_nothing_of_a_submission_runs_leaves_or_covers_a_field(graded, address, watched):
    watched.goto(address)
    with load(graded)[0].gradebook() as gradebook:
        submission = gradebook.find_submission_notebook(NOTEBOOK, SHORT, STUDENT).id
    ours = "{0.scheme}://{0.netloc}".format(urlsplit(address))
    watched.goto(f"{ours}/formgrader/submissions/{submission}/?index=0")
    score = watched.locator(f"#{TASK}")
    expect(score).to_be_visible()
    click_links(watched)
    expect(score).to_be_visible()
    assert urlsplit(watched.url).path == f"/formgrader/submissions/{submission}/"
    assert ran(watched) == []
    assert watched.seen == []
    assert watched.evaluate(OUTSIDE) == []
    assert watched.evaluate(COVERED) == []
    assert watched.locator("iframe").count() == 0
    with watched.expect_response(lambda answer: "/api/grade/" in answer.url):
        score.fill("2")
        score.blur()


def test_in_the_feedback_nothing_of_a_submission_runs_or_leaves(graded, watched):
    pages = list((graded / "feedback" / STUDENT / SHORT).glob("*.html"))
    assert pages
    for page in pages:
        watched.goto(page.as_uri())
        click_links(watched)
        assert urlsplit(watched.url).path == page.as_posix()
        assert ran(watched) == []
        assert [address for address in watched.seen if not urlsplit(address).path.endswith(".js")] == []


def test_the_results_say_what_was_taken_out_of_which_cell(graded):
    record = Results.of(load(graded)[0].directory).read()[SHORT, STUDENT]
    notes = "\n".join(record["sanitized"][NOTEBOOK])
    for what in ("<script>", "onerror", "application/javascript", "style of <div>", "<iframe>", r"\require"):
        assert what in notes
    assert sum(len(note) for note in record["sanitized"][NOTEBOOK]) < 40_000
